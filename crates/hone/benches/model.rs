//! Placing new nodes in the space of a model, against embedding the graph that they are in.
//!
//! `cargo bench -p hone-embed --bench model` adds 10⁴ nodes of ten edges to an Erdős–Rényi graph of 10⁶ nodes and 5·10⁶
//! edges; `-- 100000` makes a graph of so many nodes, and a hundredth as many new ones. CPU seconds of all threads (Linux only), with the stages of
//! either run: by a model in memory, which has the motif counts of the fit, and by one as it comes from a file; with rows for all
//! nodes, and for new ones alone.

use std::path::Path;

use hone::graph::{Generator, Graph, GraphBuilder};
use hone::{Config, Hone, Like, Model, Run, Silent};

fn main() -> hone::Result<()> {
    let nodes = std::env::args()
        .skip(1)
        .find_map(|word| word.parse().ok())
        .unwrap_or(1_000_000u64);
    let graph = Generator::Er {
        nodes,
        degree: 10.0,
    }
    .graph(1, &Silent)?;
    let larger = with_new_nodes(&graph, nodes as u32 / 100)?;
    let cpu = cpu_seconds();
    let (fit, model) = Hone::new(Config::default())?.fit(&graph, &Silent)?;
    tell("fit", &fit, cpu_seconds() - cpu);
    drop(fit);
    let cpu = cpu_seconds();
    let whole = Hone::new(Config::default())?.embed(&larger, &Silent)?;
    let all = cpu_seconds() - cpu;
    tell("embed", &whole, all);
    drop(whole);
    let mut bytes = Vec::new();
    model
        .write_to(&mut bytes)
        .map_err(|error| hone::Error::io("m.hone", error))?;
    let read = Model::from_bytes(&bytes, Path::new("m.hone"))?;
    drop(bytes);
    for _ in 0..3 {
        for (name, model, new_only) in [
            ("place", &model, false),
            ("place, from a file", &read, false),
            ("new nodes", &model, true),
            ("new, from a file", &read, true),
        ] {
            let cpu = cpu_seconds();
            let placed = model.embed(
                &larger,
                &Like {
                    new_only,
                    ..Like::default()
                },
                &Silent,
            )?;
            let spent = cpu_seconds() - cpu;
            tell(name, &placed, spent);
            println!("  {:.3} of embedding", spent / all);
        }
    }
    Ok(())
}

/// The graph with so many nodes behind it, of ten edges each.
fn with_new_nodes(graph: &Graph, count: u32) -> hone::Result<Graph> {
    let n = graph.nodes() as u32;
    let old = (0..n).flat_map(|i| {
        graph
            .neighbors(i)
            .iter()
            .filter(move |&&j| j > i)
            .map(move |&j| (i, j))
    });
    let other = |k: u32, at: u32| (u64::from(k * 10 + at) * 2_654_435_761 % u64::from(n)) as u32;
    let new = (0..count).flat_map(|k| (0..10).map(move |at| (n + k, other(k, at))));
    GraphBuilder::undirected((n + count) as usize)
        .edges(old.chain(new).collect::<Vec<_>>())
        .build()
}

fn tell(name: &str, run: &Run, spent: f64) {
    let stage = |stage: &hone::report::Stage| match stage.processor_seconds {
        Some(seconds) => format!("{} {seconds:.2}", stage.name),
        None => stage.name.clone(),
    };
    let stages: Vec<String> = run.report.stages.iter().map(stage).collect();
    println!("{name:<20} {spent:>7.2} CPU s: {}", stages.join(", "));
}

/// CPU seconds of the process so far; 0 where the system does not say.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks = |i: usize| {
        fields
            .get(i)
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / 100.0
}
