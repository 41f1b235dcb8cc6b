//! Motif counts against brute force, their identities, and known totals.

mod oracle;

mod around;
mod coefficients;
mod compare;
mod estimates;
mod laws;
mod named;
mod names;
mod pairs;
mod sets;
mod significance;
mod sums;
mod triads;
mod update;
mod weights;
