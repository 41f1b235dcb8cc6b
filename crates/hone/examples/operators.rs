//! The parts of the method by hand: counts, a motif graph, its transition matrix of two steps, and its factors:
//! `cargo run -p hone-embed --example operators`.

use hone::factor::Task;
use hone::factor::svd::{Svd, svd};
use hone::matrix::{MotifMatrix, Psi};
use hone::motif::{self, Weighting};
use hone::operator::Operator;
use hone::random::Key;
use hone::{Result, Silent, graph};

fn main() -> Result<()> {
    let graph = graph::builtin("karate")?;
    let counts = motif::count(&graph, &Silent)?;
    let triangles = counts.motif_graph(&graph, "triangle".parse()?, Weighting::default())?;
    let w = Operator::symmetric("W", triangles.matrix);
    let s = MotifMatrix {
        psi: Psi::P,
        ..MotifMatrix::default()
    }
    .operator(&w, 2)?;
    let found = svd(
        &s,
        &Svd::default(),
        &Task {
            rank: 4,
            right: false,
            key: Key::new(1),
            progress: &Silent,
            aside: None,
        },
    )?;
    println!("S = {}", s.formula());
    println!(
        "singular values {:.4?}, residual {:.1e}",
        found.sigma,
        found.info.residual.unwrap_or(0.0)
    );
    Ok(())
}
