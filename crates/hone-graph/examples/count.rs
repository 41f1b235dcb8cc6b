//! Counts the motifs of an edge list: two integers per line, from standard input; karate without one.
//! `cargo run --release -p hone-embed-graph --example count < edges.txt`

use std::io::{IsTerminal, Read, stdin};

use hone_graph::motif::{self, Graphlet, Orbit};
use hone_graph::{GraphBuilder, NodeIds, Silent, builtin};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    if !stdin().is_terminal() {
        stdin().read_to_string(&mut text)?;
    }
    let mut numbers = Vec::new();
    for line in text.lines() {
        let ends: Vec<i64> = line
            .split_whitespace()
            .take(2)
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        if let [u, v] = ends[..] {
            numbers.push((u, v));
        }
    }
    let graph = if numbers.is_empty() {
        builtin("karate")?
    } else {
        let (ids, edges) = NodeIds::number_integers(numbers.len(), |at| numbers[at])?;
        GraphBuilder::undirected(0).ids(ids).edges(edges).build()?
    };
    let counts = motif::count(&graph, &Silent)?;
    println!("{} nodes, {} edges", graph.nodes(), graph.edges());
    let totals = counts.totals();
    for graphlet in Graphlet::ALL {
        let total = totals.graphlets[graphlet.index()];
        println!("{:<16}{total:>12}", graphlet.name());
    }
    let edges = (0..graph.nodes() as u32).flat_map(|u| {
        let graph = &graph;
        graph.neighbors(u).iter().map(move |&v| (u, v))
    });
    let triangles = |&(u, v): &(u32, u32)| counts.edge(u, v).map(|c| c[Orbit::Triangle.index()]);
    if let Some((u, v)) = edges.filter(|(u, v)| u < v).max_by_key(triangles) {
        println!(
            "{}–{} is in {} triangles",
            graph.ids().get(u),
            graph.ids().get(v),
            triangles(&(u, v)).unwrap_or(0)
        );
    }
    Ok(())
}
