//! Motif counts against brute force, their identities, and known totals.

#[path = "common/skip.rs"]
mod skip;

#[path = "motif/oracle.rs"]
mod oracle;

#[path = "motif/estimates.rs"]
mod estimates;
#[path = "motif/laws.rs"]
mod laws;
#[path = "motif/named.rs"]
mod named;
#[path = "motif/pairs.rs"]
mod pairs;
#[path = "motif/sets.rs"]
mod sets;
#[path = "motif/triads.rs"]
mod triads;
#[path = "motif/update.rs"]
mod update;
#[path = "motif/weights.rs"]
mod weights;
