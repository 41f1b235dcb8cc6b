//! What can be requested of a generator: parameters in range, and a graph that fits the machine.

use crate::error::{Error, Result};
use crate::memory;

pub(super) fn check_degree(degree: f64, n: u64) -> Result<()> {
    let most = n - 1;
    if !(0.0..=most as f64).contains(&degree) {
        let message =
            format!("a mean degree of {degree} among {n} nodes; it can be from 0 to {most}");
        return Err(Error::config("degree", message));
    }
    Ok(())
}

pub(super) fn check_quadrants(quadrants: [f64; 4]) -> Result<()> {
    let sum: f64 = quadrants.iter().sum();
    if !quadrants.iter().all(|p| (0.0..=1.0).contains(p)) || (sum - 1.0).abs() > 1e-6 {
        let message =
            format!("{quadrants:?}; give four probabilities that add up to 1 (here: {sum})");
        return Err(Error::config("quadrants", message));
    }
    Ok(())
}

pub(super) fn check_communities(n: u64, communities: u64, degree: f64, mixing: f64) -> Result<()> {
    if communities == 0 || communities > n {
        let message = format!("{communities} communities of {n} nodes; there can be from 1 to {n}");
        return Err(Error::config("communities", message));
    }
    if !(0.0..=1.0).contains(&mixing) {
        return Err(Error::config(
            "mixing",
            format!("{mixing} is not a share; give a number from 0 to 1"),
        ));
    }
    let [inner, outer] = block_probabilities(n, communities, degree, mixing);
    if inner > 1.0 || outer > 1.0 {
        let place = if inner > 1.0 {
            "inside its community"
        } else {
            "outside its community"
        };
        let message = format!(
            "{degree} with mixing {mixing}: a node does not have that many others {place} (communities have {:.1} nodes); \
             change degree, mixing or communities",
            n as f64 / communities as f64
        );
        return Err(Error::config("degree", message));
    }
    Ok(())
}

/// Fails when the machine is known to have less memory than this free.
pub(super) fn expect_room(bytes: f64) -> Result<()> {
    match memory::available() {
        Some(limit) if bytes > limit as f64 => Err(too_large(bytes, limit)),
        _ => Ok(()),
    }
}

pub(super) fn too_large(bytes: f64, limit: u64) -> Error {
    let remedy = "give fewer nodes or a smaller degree".to_owned();
    Error::Memory {
        stage: "generating this graph".to_owned(),
        need: bytes as u64,
        least: false,
        limit,
        remedy,
    }
}

/// Probability of an edge within a community, and between two; more than 1 when impossible.
pub(super) fn block_probabilities(n: u64, communities: u64, degree: f64, mixing: f64) -> [f64; 2] {
    let size = n as f64 / communities as f64;
    let over = |edges: f64, others: f64| {
        if edges == 0.0 {
            0.0
        } else {
            edges / others.max(0.0)
        }
    };
    [
        over(degree * (1.0 - mixing), size - 1.0),
        over(degree * mixing, n as f64 - size),
    ]
}
