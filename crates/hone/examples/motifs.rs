//! How often each motif occurs, and which edge is in most triangles: `cargo run -p hone-embed --example motifs`.

use hone::motif::{self, Graphlet, Orbit, Weighting};
use hone::{Result, Silent, graph};

fn main() -> Result<()> {
    let graph = graph::builtin("karate")?;
    let counts = motif::count(&graph, &Silent)?;
    let totals = counts.totals();
    for graphlet in Graphlet::ALL {
        println!(
            "{:<16}{:>6}",
            graphlet.name(),
            totals.graphlets[graphlet.index()]
        );
    }
    let triangles = counts.motif_graph(&graph, "triangle".parse()?, Weighting::default())?;
    println!(
        "{} of {} edges are in a triangle",
        triangles.nnz / 2,
        graph.edges()
    );
    let edge = counts
        .edge(0, 1)
        .expect("the first two members are friends");
    println!(
        "the edge between the first two members is in {} triangles",
        edge[Orbit::Triangle.index()]
    );
    Ok(())
}
