//! Motif counts against brute force, their identities, and known totals.

mod oracle;

mod around;
mod estimates;
mod laws;
mod named;
mod pairs;
mod sets;
mod sums;
mod triads;
mod update;
mod weights;
