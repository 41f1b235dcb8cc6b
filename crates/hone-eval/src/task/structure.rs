//! Structural equivalence: nodes that a symmetry of the graph exchanges should be near each other.
//!
//! On graphs whose symmetries are known (barbell, ring of cliques, a graph and its mirror image) we
//! measure the root mean square distance between equivalent nodes over that between any two nodes:
//! 0 is perfect, 1 is chance. Features built from counts alone must give 0 up to rounding. Factors
//! of a matrix need not: an eigenvector of a symmetric graph may be antisymmetric, and within a
//! multiple eigenvalue its choice is arbitrary. What theory promises for a simple eigenvalue is
//! equality up to sign, so the same measure is also taken on absolute values.

use hone::dense::Block;
use hone::graph::{Graph, GraphBuilder};
use hone::{Error, Result};
use serde::{Deserialize, Serialize};

use super::{Setting, Within};
use crate::cache::graph_key;
use crate::method::Method;
use crate::split::TrainGraph;

/// A graph and, for every node, the number of its class of equivalent nodes.
#[derive(Debug, Clone)]
pub struct Symmetric {
    /// What it is.
    pub name: &'static str,
    /// The graph.
    pub graph: Graph,
    /// Class of each node.
    pub class: Vec<u32>,
}

/// How far apart equivalent nodes are, relative to all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StructureCell {
    /// On the vectors as they are.
    pub plain: f64,
    /// On absolute values.
    pub absolute: f64,
}

/// The graphs of the experiment; the mirror image is that of `base`, joined by an edge from the
/// first node to its image.
pub fn symmetric_graphs(base: &Graph) -> Result<Vec<Symmetric>> {
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

/// All methods on one graph under one seed.
pub fn structure(
    symmetric: &Symmetric,
    methods: &[Method],
    seed: u64,
    setting: Setting<'_>,
) -> Result<Vec<StructureCell>> {
    let name = graph_key(&symmetric.graph);
    let train = TrainGraph::whole(symmetric.graph.clone());
    let run = |method: &Method| {
        let embedder = method.single()?;
        let cache = setting.cache_for(method, || Ok(symmetric.graph.clone()), seed)?;
        cache.cell(&("structure", &name, embedder, seed), || {
            let z = embedder
                .embed(&train, seed, &Within(setting.progress))?
                .block;
            setting.keep(method, &method.candidates()[0], seed, &symmetric.graph, &z)?;
            let mut absolute = z.clone();
            absolute
                .as_mut_slice()
                .iter_mut()
                .for_each(|v| *v = v.abs());
            let plain = spread(&z, &symmetric.class);
            Ok(StructureCell {
                plain,
                absolute: spread(&absolute, &symmetric.class),
            })
        })
    };
    methods.iter().map(run).collect()
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
    use crate::cache::Cache;
    use hone::Silent;

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
            let cells = structure(
                &symmetric,
                &methods,
                1,
                Setting::new(&Cache::none(), &Silent),
            )
            .expect("run");
            assert!(cells[0].plain < 1e-5, "{}: {:?}", symmetric.name, cells[0]);
            assert!(cells[1].plain > 0.4, "{}: {:?}", symmetric.name, cells[1]);
        }
    }
}
