//! The solvers, through their public interface, against slow definitions and dense decompositions.

mod autoencoder;
mod components;
mod dense;
mod kernels;
mod log_window;
mod matrix;
mod norm;
mod svd;

use hone_linalg::Silent;
use hone_linalg::dense::{Block, Small};
use hone_linalg::factor::Task;
use hone_linalg::random::Key;

/// A task of that rank which asks for both factors.
fn task(rank: usize, seed: u64) -> Task<'static> {
    Task {
        rank,
        right: true,
        key: Key::new(seed),
        progress: &Silent,
        aside: None,
    }
}

/// The block in f64.
fn wide(block: &Block) -> Small {
    Small::from(block)
}
