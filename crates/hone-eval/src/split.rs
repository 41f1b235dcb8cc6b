//! Link-prediction splits that cannot leak.
//!
//! [`LinkSplit::of`] consumes the whole graph and returns two things: a [`TrainGraph`], the only input that embedding
//! methods accept, and [`LabeledPairs`], the removed edges with as many sampled non-edges. No [`TrainGraph`] with
//! removed edges can be made from a split. Nodes keep their number and order, so a node that lost all its edges stays,
//! isolated.
//!
//! Time and memory are linear in the edges, also for graphs so dense that non-edges are rare.

mod labeled_pairs;
mod negatives;

use hone::graph::{Graph, GraphBuilder};
use hone::{Error, Result};
use rustc_hash::FxHashSet;

pub use self::labeled_pairs::LabeledPairs;
pub use self::negatives::Negatives;
use crate::random::Stream;

/// The graph a method may learn from.
#[derive(Debug, Clone)]
pub struct TrainGraph(Graph);

impl TrainGraph {
    /// The whole graph, for tasks in which edges are not hidden (node labels, roles, run time).
    pub fn whole(graph: Graph) -> Self {
        TrainGraph(graph)
    }

    /// The graph to learn from.
    pub fn graph(&self) -> &Graph {
        &self.0
    }
}

/// A graph with part of its edges removed, and the pairs to be classified.
#[derive(Debug, Clone)]
pub struct LinkSplit {
    /// What is left: the only thing methods may see.
    pub train: TrainGraph,
    /// Removed edges and as many non-edges.
    pub pairs: LabeledPairs,
    /// Remaining edges and as many further non-edges, when requested.
    pub remaining: Option<LabeledPairs>,
}

/// Which edges a [`LinkSplit`] removes, and the negatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Removal {
    /// The share of edges that is removed, at random.
    pub share: f64,
    /// Whether edges that stay get as many further non-edges.
    pub remaining: bool,
    /// The pairs without an edge. Reversed arcs are those of one-way arcs alone; with them arcs and non-arcs of a class are
    /// as many as there are one-way arcs among the removed (or remaining) ones, and mutual arcs are left out.
    pub negatives: Negatives,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for Removal {
    fn default() -> Self {
        Removal {
            share: 0.5,
            remaining: false,
            negatives: Negatives::Random,
            seed: 0,
        }
    }
}

impl LinkSplit {
    /// Removes edges at random and finds as many pairs without one.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the whole graph must not stay with the caller"
    )]
    pub fn of(graph: Graph, removal: &Removal) -> Result<Self> {
        let Removal {
            share,
            remaining,
            negatives,
            seed,
        } = *removal;
        negatives.check(&graph)?;
        let (mut edges, weights) = edges_of(&graph);
        let removed = check_share(&graph, share)?;
        let mut order: Vec<u32> = (0..edges.len() as u32).collect();
        Stream::new(seed, "remove edges", 0).shuffle(&mut order);
        let (gone, kept) = order.split_at(removed);
        let wanted = if remaining { edges.len() } else { removed };
        let non_edges = sample_non_edges(&graph, wanted, seed)?;
        let take = |which: &[u32]| -> Vec<(u32, u32)> {
            which.iter().map(|&e| edges[e as usize]).collect()
        };
        let (gone, kept_edges) = (take(gone), take(kept));
        let label =
            |arcs: &[(u32, u32)], random: &[(u32, u32)]| negatives.pairs(&graph, arcs, random);
        let pairs = label(&gone, &non_edges[..removed])?;
        let remaining = remaining
            .then(|| label(&kept_edges, &non_edges[removed..]))
            .transpose()?;
        let kept_weights =
            weights.map(|w| kept.iter().map(|&e| w[e as usize]).collect::<Vec<f32>>());
        edges = kept_edges;
        let builder = if graph.is_directed() {
            GraphBuilder::directed(graph.nodes())
        } else {
            GraphBuilder::undirected(graph.nodes())
        };
        let mut builder = builder.ids(graph.ids().clone()).edges(edges);
        if let Some(weights) = kept_weights {
            builder = builder.weights(weights);
        }
        Ok(LinkSplit {
            train: TrainGraph(builder.build()?),
            pairs,
            remaining,
        })
    }
}

fn check_share(graph: &Graph, share: f64) -> Result<usize> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::config(
            "removed",
            format!("the share of removed edges is {share}, not between 0 and 1"),
        ));
    }
    let removed = (share * graph.edges() as f64).round() as usize;
    if removed == 0 || removed == graph.edges() {
        let (edges, way) = (
            graph.edges(),
            if removed == 0 { "larger" } else { "smaller" },
        );
        let remedy = if edges < 2 {
            "give a larger graph".to_owned()
        } else {
            format!("give a {way} share")
        };
        let message =
            format!("{share} of {edges} edges leaves nothing to learn or to test; {remedy}");
        return Err(Error::config("removed", message));
    }
    Ok(removed)
}

/// Every edge once (the smaller node first when undirected), with its weight.
fn edges_of(graph: &Graph) -> (Vec<(u32, u32)>, Option<Vec<f32>>) {
    let mut edges = Vec::with_capacity(graph.edges());
    let mut weights = graph.weights().map(|_| Vec::with_capacity(graph.edges()));
    for u in 0..graph.nodes() as u32 {
        let start = graph.pattern().range(u as usize).start;
        for (k, &v) in graph.neighbors(u).iter().enumerate() {
            if graph.is_directed() || u < v {
                edges.push((u, v));
                if let (Some(out), Some(w)) = (&mut weights, graph.weights()) {
                    out.push(w[start + k]);
                }
            }
        }
    }
    (edges, weights)
}

/// `count` distinct pairs without an edge, in random order.
fn sample_non_edges(graph: &Graph, count: usize, seed: u64) -> Result<Vec<(u32, u32)>> {
    let n = graph.nodes();
    let ordered = n as u128 * (n as u128).saturating_sub(1);
    let all = if graph.is_directed() {
        ordered
    } else {
        ordered / 2
    };
    let free = all - graph.edges() as u128;
    if count as u128 > free {
        let message = format!(
            "the split needs {count} pairs without an edge, but the graph has only {free}; remove fewer edges"
        );
        return Err(Error::config("removed", message));
    }
    let mut stream = Stream::new(seed, "non-edges", 0);
    if free < 2 * count as u128 {
        // So dense that listing all non-edges is linear in the edges.
        let mut pairs: Vec<(u32, u32)> = non_edges(graph).collect();
        stream.shuffle(&mut pairs);
        pairs.truncate(count);
        return Ok(pairs);
    }
    let mut seen = FxHashSet::default();
    let mut pairs = Vec::with_capacity(count);
    while pairs.len() < count {
        let (mut u, mut v) = (stream.below(n) as u32, stream.below(n) as u32);
        if !graph.is_directed() && u > v {
            (u, v) = (v, u);
        }
        if u != v && graph.neighbors(u).binary_search(&v).is_err() && seen.insert((u, v)) {
            pairs.push((u, v));
        }
    }
    Ok(pairs)
}

fn non_edges(graph: &Graph) -> impl Iterator<Item = (u32, u32)> + '_ {
    let n = graph.nodes() as u32;
    let first = |u| if graph.is_directed() { 0 } else { u + 1 };
    let free = |&(u, v): &(u32, u32)| u != v && graph.neighbors(u).binary_search(&v).is_err();
    (0..n)
        .flat_map(move |u| (first(u)..n).map(move |v| (u, v)))
        .filter(free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(n: usize, edges: Vec<(u32, u32)>, directed: bool) -> Graph {
        let builder = if directed {
            GraphBuilder::directed(n)
        } else {
            GraphBuilder::undirected(n)
        };
        builder.edges(edges).build().expect("edges are in range")
    }

    proptest! {
        #[test]
        fn nothing_leaks(edges in prop::collection::vec((0u32..12, 0u32..12), 4..60), directed: bool, seed: u64) {
            let whole = graph(12, edges, directed);
            prop_assume!(whole.edges() >= 3);
            let Ok(split) = LinkSplit::of(whole.clone(), &Removal { share: 0.5, seed, ..Removal::default() }) else {
                return Ok(());
            };
            let train = split.train.graph();
            prop_assert_eq!(train.nodes(), 12);
            let removed = split.pairs.labels.iter().filter(|&&l| l).count();
            prop_assert_eq!(train.edges() + removed, whole.edges());
            prop_assert_eq!(split.pairs.len(), 2 * removed);
            let distinct: FxHashSet<_> = split.pairs.pairs.iter().collect();
            prop_assert_eq!(distinct.len(), split.pairs.len());
            for (&(u, v), &edge) in split.pairs.pairs.iter().zip(&split.pairs.labels) {
                prop_assert!(u != v && !train.neighbors(u).contains(&v));
                prop_assert_eq!(whole.neighbors(u).contains(&v), edge);
                prop_assert!(directed || (u < v && !train.neighbors(v).contains(&u)));
            }
        }
    }

    #[test]
    fn seeds_repeat_and_differ() {
        let ring: Vec<(u32, u32)> = (0..40).map(|i| (i, (i + 1) % 40)).collect();
        let split = |seed| {
            LinkSplit::of(
                graph(40, ring.clone(), false),
                &Removal {
                    share: 0.5,
                    remaining: true,
                    seed,
                    ..Removal::default()
                },
            )
            .expect("a ring splits")
        };
        assert_eq!(split(1).pairs, split(1).pairs);
        assert_ne!(split(1).pairs, split(2).pairs);
        let (split, rest) = (split(1), split(1).remaining.expect("asked for"));
        assert_eq!(rest.len(), 40);
        for (pair, &edge) in rest.pairs.iter().zip(&rest.labels) {
            assert_eq!(
                split.train.graph().neighbors(pair.0).contains(&pair.1),
                edge
            );
            assert!(!split.pairs.pairs.contains(pair));
        }
    }

    #[test]
    fn dense_graphs_list_their_non_edges() {
        let edges: Vec<(u32, u32)> = (0..9)
            .flat_map(|u| (u + 1..9).map(move |v| (u, v)))
            .skip(20)
            .collect();
        let split = LinkSplit::of(
            graph(9, edges, false),
            &Removal {
                share: 0.5,
                seed: 3,
                ..Removal::default()
            },
        )
        .expect("20 non-edges suffice");
        assert_eq!(split.pairs.len(), 16);
        let complete: Vec<(u32, u32)> = (0..5)
            .flat_map(|u| (u + 1..5).map(move |v| (u, v)))
            .collect();
        let error = LinkSplit::of(
            graph(5, complete, false),
            &Removal {
                share: 0.5,
                seed: 3,
                ..Removal::default()
            },
        )
        .expect_err("no non-edge");
        assert!(error.to_string().contains("only 0"), "{error}");
    }

    /// Reversed arcs are never arcs, no arc that stays tells its own direction, and of the negatives exactly none, half or all
    /// are arcs turned around.
    #[test]
    fn reversed_arcs_are_no_arcs() {
        let edges: Vec<(u32, u32)> = (0..300u32)
            .map(|i| (i * 7 % 40, (i * i + 3 * i + 1) % 40))
            .collect();
        let whole = graph(40, edges, true);
        for negatives in [Negatives::Reversed, Negatives::Mixed, Negatives::Random] {
            let split = LinkSplit::of(
                whole.clone(),
                &Removal {
                    share: 0.5,
                    remaining: true,
                    negatives,
                    seed: 3,
                },
            )
            .expect("splits");
            for (labelled, there) in [
                (&split.pairs, false),
                (split.remaining.as_ref().expect("asked for"), true),
            ] {
                let arcs: Vec<_> = labelled
                    .pairs
                    .iter()
                    .zip(&labelled.labels)
                    .filter(|l| *l.1)
                    .map(|l| *l.0)
                    .collect();
                let others: Vec<_> = labelled
                    .pairs
                    .iter()
                    .zip(&labelled.labels)
                    .filter(|l| !*l.1)
                    .map(|l| *l.0)
                    .collect();
                assert!(
                    arcs.iter()
                        .all(|&(u, v)| split.train.graph().neighbors(u).contains(&v) == there)
                );
                assert!(
                    others
                        .iter()
                        .all(|&(u, v)| u != v && !whole.neighbors(u).contains(&v))
                );
                let turned = |&(u, v): &(u32, u32)| arcs.contains(&(v, u));
                // Arcs that are turned around come first, in their order; a random pair may be one of them by chance.
                let reversed = others
                    .iter()
                    .zip(&arcs)
                    .take_while(|&(other, arc)| *other == (arc.1, arc.0))
                    .count();
                let by_chance = others[reversed..]
                    .iter()
                    .filter(|pair| turned(pair))
                    .count();
                let expected = match negatives {
                    Negatives::Reversed => arcs.len(),
                    Negatives::Mixed => arcs.len().div_ceil(2),
                    Negatives::Random => 0,
                };
                assert_eq!(reversed, expected, "{negatives:?} of {}", arcs.len());
                assert!(
                    4 * by_chance < arcs.len(),
                    "{negatives:?}: {by_chance} of {}",
                    arcs.len()
                );
                let distinct: FxHashSet<_> = others.iter().collect();
                assert_eq!(
                    (distinct.len(), others.len()),
                    (others.len(), arcs.len()),
                    "{negatives:?}"
                );
            }
        }
        let plain = graph(4, vec![(0, 1), (1, 2), (2, 3)], false);
        assert!(
            LinkSplit::of(
                plain,
                &Removal {
                    share: 0.5,
                    remaining: false,
                    negatives: Negatives::Reversed,
                    seed: 1
                }
            )
            .is_err()
        );
    }

    /// Arcs that all have their reverse cannot be turned around; the message says so, and random pairs work.
    #[test]
    fn mutual_arcs_cannot_be_turned_around() {
        let ring: Vec<(u32, u32)> = (0..40)
            .flat_map(|i| [(i, (i + 1) % 40), ((i + 1) % 40, i)])
            .collect();
        let split = |edges: &[(u32, u32)], negatives| {
            LinkSplit::of(
                graph(41, edges.to_vec(), true),
                &Removal {
                    share: 0.1,
                    remaining: false,
                    negatives,
                    seed: 1,
                },
            )
        };
        for negatives in [Negatives::Reversed, Negatives::Mixed] {
            let error = split(&ring, negatives)
                .expect_err("nothing to turn around")
                .to_string();
            assert!(
                error.contains("every arc has its reverse")
                    && error.contains("negatives = \"random\""),
                "{error}"
            );
            // One arc in 81 is not among the removed ones of this seed.
            let error = split(&[&ring[..], &[(0, 40)]].concat(), negatives)
                .expect_err("none is removed")
                .to_string();
            assert!(
                error.contains("every removed arc has its reverse"),
                "{error}"
            );
        }
        assert_eq!(
            split(&ring, Negatives::Random).expect("splits").pairs.len(),
            16
        );
    }

    #[test]
    fn bad_shares_are_refused() {
        for share in [0.0, 1.0, -0.1, f64::NAN, 0.01] {
            assert!(
                LinkSplit::of(
                    graph(4, vec![(0, 1), (1, 2)], false),
                    &Removal {
                        share,
                        seed: 1,
                        ..Removal::default()
                    }
                )
                .is_err()
            );
        }
    }

    #[test]
    fn weights_stay_with_their_edges() {
        let edges: Vec<(u32, u32)> = (0..10).map(|i| (i, i + 1)).collect();
        let weights = (0..10).map(|i| i as f32 + 1.0).collect();
        let whole = GraphBuilder::undirected(11)
            .edges(edges)
            .weights(weights)
            .build()
            .expect("in range");
        let split = LinkSplit::of(
            whole,
            &Removal {
                share: 0.5,
                seed: 9,
                ..Removal::default()
            },
        )
        .expect("splits");
        let train = split.train.graph();
        let weights = train.weights().expect("kept");
        for u in 0..11usize {
            for p in train.pattern().range(u) {
                assert_eq!(
                    weights[p],
                    (train.pattern().columns()[p] as usize).min(u) as f32 + 1.0
                );
            }
        }
    }

    #[test]
    fn division_keeps_the_classes() {
        let pairs = LabeledPairs::new(&[(0, 1); 30], &[(2, 3); 50]);
        let (part, rest) = pairs.divide(0.1, 5);
        assert_eq!((part.len(), rest.len()), (8, 72));
        assert_eq!(part.labels.iter().filter(|&&l| l).count(), 3);
    }
}
