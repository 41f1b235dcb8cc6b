//! The smallest program: a graph in, vectors out. `docs/start.md` shows it.

use hone::{Config, Hone, Result, Silent, graph};

fn main() -> Result<()> {
    let graph = graph::builtin("karate")?;
    let run = Hone::new(Config::default().with_dim(64))?.embed(&graph, &Silent)?;
    println!("{:?}", run.embedding.vectors.row(0));
    Ok(())
}
