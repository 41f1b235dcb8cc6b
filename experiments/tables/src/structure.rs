//! Structural equivalence: nodes that a symmetry of the graph exchanges should be near each other.
//!
//! On graphs whose symmetries are known (barbell, ring of cliques, a graph and its mirror image) we
//! measure the root mean square distance between equivalent nodes over that between any two nodes:
//! 0 is perfect, 1 is chance. Features built from counts alone must give 0 up to rounding. Factors
//! of a matrix need not: an eigenvector of a symmetric graph may be antisymmetric, and within a
//! multiple eigenvalue its choice is arbitrary. What theory promises for a simple eigenvalue is
//! equality up to sign, so the same measure is also taken on absolute values.

use std::ops::Range;

use hone::dense::Block;
use hone::graph::{Graph, GraphBuilder, ReadOptions, builtin, read};
use hone::{Error, Result, Silent};
use hone_eval::cache::{Cache, graph_key};
use hone_eval::method::Method;
use hone_eval::report::{Best, Report, Style, Table};
use hone_eval::split::TrainGraph;
use hone_eval::stats::Summary;
use serde::{Deserialize, Serialize};

use crate::runtime::single;
use crate::{Log, OutputArgs};

/// Structural equivalence: distance between nodes that a symmetry maps to each other (0 is perfect).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The graph whose mirror image is the third test; the others are a barbell and a ring of cliques.
    #[arg(value_name = "INPUT", default_value = "builtin:karate")]
    input: String,
    /// Methods, separated by commas (see `hone list methods`), with options after a colon; may be repeated.
    #[arg(
        long,
        value_name = "NAMES",
        default_value = "hone,hone-w,hone-p,node2vec,grarep,degree"
    )]
    methods: Vec<String>,
    /// Number of random seeds.
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let methods = Method::parse_list(&args.methods, false)?;
    let base = match args.input.strip_prefix("builtin:") {
        Some(name) => builtin(name)?,
        None => read(&args.input, &ReadOptions::default(), &Log)?,
    };
    let tables = tables(&base, &methods, 1..1 + args.seeds, &Cache::none())?;
    args.output.write(&Report {
        title: "Structural equivalence".into(),
        tables,
        ..Report::default()
    })
}

/// Distances of vectors as they are, and of their absolute values.
pub(crate) fn tables(
    base: &Graph,
    methods: &[Method],
    seeds: Range<u64>,
    cache: &Cache,
) -> Result<Vec<Table>> {
    let graphs = symmetric_graphs(base)?;
    let mut plain = Table::new(
        "Distance between equivalent nodes over that between any nodes",
        graphs.iter().map(|g| g.name.to_string()).collect(),
    );
    (plain.best, plain.style) = (Best::Lowest, Style::Decimals(4));
    plain.rows = methods
        .iter()
        .map(|m| (m.name.clone(), Vec::new()))
        .collect();
    let mut absolute = Table {
        title: format!("{}, of absolute values", plain.title),
        ..plain.clone()
    };
    for graph in &graphs {
        for (m, method) in methods.iter().enumerate() {
            let of_seed = |seed| structure(graph, method, seed, cache);
            let cells = seeds.clone().map(of_seed).collect::<Result<Vec<_>>>()?;
            let summary = |value: fn(&StructureCell) -> f64| {
                Summary::of(&cells.iter().map(value).collect::<Vec<_>>())
            };
            plain.rows[m].1.push(summary(|cell| cell.plain));
            absolute.rows[m].1.push(summary(|cell| cell.absolute));
        }
    }
    Ok(vec![plain, absolute])
}

/// A graph and, for every node, the number of its class of equivalent nodes.
#[derive(Debug, Clone)]
struct Symmetric {
    /// What it is.
    name: &'static str,
    /// The graph.
    graph: Graph,
    /// Class of each node.
    class: Vec<u32>,
}

/// How far apart equivalent nodes are, relative to all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct StructureCell {
    /// On the vectors as they are.
    plain: f64,
    /// On absolute values.
    absolute: f64,
}

/// The graphs of the experiment; the mirror image is that of `base`, joined by an edge from the
/// first node to its image.
fn symmetric_graphs(base: &Graph) -> Result<Vec<Symmetric>> {
    Ok(vec![
        barbell(10, 7)?,
        ring_of_cliques(8, 6)?,
        mirrored(base)?,
    ])
}

/// Two cliques of `size` nodes, their first nodes joined by a path of `path` nodes.
fn barbell(size: u32, path: u32) -> Result<Symmetric> {
    let mut edges = clique(0, size);
    edges.extend(clique(size, size));
    let chain: Vec<u32> = [vec![0], (2 * size..2 * size + path).collect(), vec![size]].concat();
    edges.extend(chain.windows(2).map(|w| (w[0], w[1])));
    let class = (0..2 * size + path).map(|i| match i {
        i if i < 2 * size => u32::from(i % size != 0),
        i => 2 + (i - 2 * size).min(2 * size + path - 1 - i),
    });
    Ok(Symmetric {
        name: "barbell",
        class: class.collect(),
        graph: build(2 * size + path, edges)?,
    })
}

/// Cliques in a ring, node 1 of each joined to node 0 of the next.
fn ring_of_cliques(cliques: u32, size: u32) -> Result<Symmetric> {
    let mut edges: Vec<(u32, u32)> = (0..cliques).flat_map(|k| clique(k * size, size)).collect();
    edges.extend((0..cliques).map(|k| (k * size + 1, (k + 1) % cliques * size)));
    let class = (0..cliques * size)
        .map(|i| u32::from(i % size > 1))
        .collect();
    Ok(Symmetric {
        name: "ring of cliques",
        class,
        graph: build(cliques * size, edges)?,
    })
}

fn mirrored(base: &Graph) -> Result<Symmetric> {
    let n = base.nodes() as u32;
    if n == 0 {
        return Err(Error::config("graph", "the mirrored graph has no nodes"));
    }
    let mut edges = vec![(0, n)];
    for u in 0..n {
        edges.extend(
            base.neighbors(u)
                .iter()
                .filter(|&&v| u < v)
                .flat_map(|&v| [(u, v), (u + n, v + n)]),
        );
    }
    Ok(Symmetric {
        name: "mirrored",
        class: (0..2 * n).map(|i| i % n).collect(),
        graph: build(2 * n, edges)?,
    })
}

fn clique(first: u32, size: u32) -> Vec<(u32, u32)> {
    (first..first + size)
        .flat_map(|u| (u + 1..first + size).map(move |v| (u, v)))
        .collect()
}

fn build(nodes: u32, edges: Vec<(u32, u32)>) -> Result<Graph> {
    GraphBuilder::undirected(nodes as usize)
        .edges(edges)
        .build()
}

/// One method on one graph under one seed.
fn structure(
    symmetric: &Symmetric,
    method: &Method,
    seed: u64,
    cache: &Cache,
) -> Result<StructureCell> {
    let (name, embedder) = (graph_key(&symmetric.graph), single(method)?);
    cache.cell(&("structure", name, embedder, seed), || {
        let train = TrainGraph::whole(symmetric.graph.clone());
        let z = embedder.embed(&train, seed, &Silent)?.block;
        let mut absolute = z.clone();
        absolute
            .as_mut_slice()
            .iter_mut()
            .for_each(|v| *v = v.abs());
        Ok(StructureCell {
            plain: spread(&z, &symmetric.class),
            absolute: spread(&absolute, &symmetric.class),
        })
    })
}

/// Root mean square distance to the class mean over that to the mean of all.
fn spread(z: &Block, class: &[u32]) -> f64 {
    let within = square_distance_to_mean(z, class);
    let all = square_distance_to_mean(z, &vec![0; class.len()]);
    if all > 0.0 {
        (within / all).sqrt()
    } else {
        0.0
    }
}

fn square_distance_to_mean(z: &Block, class: &[u32]) -> f64 {
    let classes = class.iter().max().map_or(0, |&c| c as usize + 1);
    let mut mean = vec![vec![0.0f64; z.cols()]; classes];
    let mut size = vec![0.0f64; classes];
    for (i, &c) in class.iter().enumerate() {
        size[c as usize] += 1.0;
        mean[c as usize]
            .iter_mut()
            .zip(z.row(i))
            .for_each(|(m, &v)| *m += f64::from(v));
    }
    let part = |(i, &c): (usize, &u32)| {
        let mean = &mean[c as usize];
        z.row(i)
            .iter()
            .zip(mean)
            .map(|(&v, m)| (f64::from(v) - m / size[c as usize]).powi(2))
            .sum::<f64>()
    };
    class.iter().enumerate().map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Graph {
        build(6, vec![(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5)]).expect("in range")
    }

    #[test]
    fn classes_are_symmetries_of_the_graphs() {
        for symmetric in symmetric_graphs(&base()).expect("built") {
            let degrees = |class: u32| -> Vec<usize> {
                let of = (0..symmetric.graph.nodes() as u32)
                    .filter(|&i| symmetric.class[i as usize] == class);
                of.map(|i| symmetric.graph.degree(i)).collect()
            };
            for class in &symmetric.class {
                let of = degrees(*class);
                assert!(
                    !of.is_empty() && of.iter().all(|d| *d == of[0]),
                    "{} {class}",
                    symmetric.name
                );
            }
        }
    }

    #[test]
    fn counted_features_are_equal_and_random_ones_are_not() {
        let methods: Vec<Method> = ["degree", "random:dim=8"]
            .iter()
            .map(|m| Method::parse(m).expect("known"))
            .collect();
        for symmetric in symmetric_graphs(&base()).expect("built") {
            let cell = |m: usize| {
                structure(&symmetric, &methods[m], 1, &Cache::none())
                    .expect("run")
                    .plain
            };
            assert!(cell(0) < 1e-5, "{}: {}", symmetric.name, cell(0));
            assert!(cell(1) > 0.4, "{}: {}", symmetric.name, cell(1));
        }
    }
}
