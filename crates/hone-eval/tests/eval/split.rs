//! Splits that cannot leak, and their files.

use std::fs;

use hone::Error;
use hone::graph::{Graph, GraphBuilder, GraphFacts, NodeIds};
use hone::output::Existing;
use hone_eval::split::{self, LabeledPairs, LinkSplit, Negatives, Removal};
use proptest::prelude::*;
use rustc_hash::FxHashSet;

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
        prop_assert_eq!(split.pairs.labels.len(), 2 * removed);
        let distinct: FxHashSet<_> = split.pairs.pairs.iter().collect();
        prop_assert_eq!(distinct.len(), split.pairs.labels.len());
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
    assert_eq!(rest.labels.len(), 40);
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
    assert_eq!(split.pairs.labels.len(), 16);
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
            error.contains("every arc has its reverse") && error.contains("negatives = \"random\""),
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
        split(&ring, Negatives::Random)
            .expect("splits")
            .pairs
            .labels
            .len(),
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
    let pairs = LabeledPairs {
        pairs: [[(0, 1); 30].as_slice(), &[(2, 3); 50]].concat(),
        labels: [[true; 30].as_slice(), &[false; 50]].concat(),
    };
    let (part, rest) = pairs.divide(0.1, 5);
    assert_eq!((part.labels.len(), rest.labels.len()), (8, 72));
    assert_eq!(part.labels.iter().filter(|&&l| l).count(), 3);
}

#[test]
fn a_refused_split_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deep = folder.path().join("a/b");
    let write = |first: &str, existing| {
        let ids = NodeIds::from_texts(&[first, "c", "d", "e", "f", "g"]);
        let ring = (0..6).map(|i| (i, (i + 1) % 6)).collect();
        let graph = GraphBuilder::undirected(0).ids(ids).edges(ring).build();
        let (graph, removal) = (graph.expect("in range"), Removal::default());
        let split = LinkSplit::of(graph.clone(), &removal).expect("a ring splits");
        split::write(&split, &GraphFacts::of(&graph), &removal, &deep, existing)
    };
    let files = || fs::read_dir(&deep).expect("listed").count();
    assert!(write("a\nb", Existing::Refuse).is_err());
    assert!(!folder.path().join("a").exists());
    fs::create_dir_all(&deep).expect("made");
    fs::write(deep.join("split.json"), "mine").expect("written");
    let refused = write("a", Existing::Refuse);
    assert!(matches!(refused, Err(Error::Exists { .. })));
    assert_eq!(files(), 1, "no file but the one that was there");
    write("a", Existing::Replace).expect("replaced");
    assert_eq!(files(), 4);
}
