//! From an edge list to vectors in a file: `cargo run -p hone-embed --example embed -- edges.tsv vectors.npy`.
//!
//! Without arguments it embeds a small graph that ships with the library.

use hone::graph::ReadOptions;
use hone::output::Existing;
use hone::{Config, Hone, Result, Silent, graph};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let graph = match arguments.next() {
        Some(path) => graph::read(path, &ReadOptions::default(), &Silent)?,
        None => graph::builtin("karate")?,
    };
    let run = Hone::new(Config::default().with_dim(64))?.embed(&graph, &Silent)?;
    println!(
        "{} nodes, {} columns",
        run.embedding.vectors.rows(),
        run.embedding.vectors.cols()
    );
    for note in &run.report.notes {
        println!("note: {note}");
    }
    if let Some(path) = arguments.next() {
        for file in run.embedding.write(path, Existing::Refuse)? {
            println!("wrote {}", file.display());
        }
    }
    Ok(())
}
