//! Motif graphs of more than 65 536 nodes, of which each process has its own rows.

use std::fs;
use std::path::Path;

use hone::Silent;
use hone::engine::Engine;
use hone::graph::{Generator, Graph, GraphBuilder};
use hone::motif::{Motif, MotifGraph, Weighting, count};
use hone::sparse::Diagonal;
use hone_mpi::{Ranks, World};

use super::{INSIDE, alone, folder, inside, same_by_all};

const NODES: usize = 70_000;

/// Sparse, and the same with weights.
fn graphs() -> [Graph; 2] {
    let plain = Generator::Er {
        nodes: NODES as u64,
        degree: 4.0,
    }
    .graph(5, &Silent)
    .unwrap();
    let edges = (0..NODES as u32).flat_map(|u| plain.neighbors(u).iter().map(move |&v| (u, v)));
    let edges: Vec<(u32, u32)> = edges.filter(|(u, v)| u < v).collect();
    let weights = edges
        .iter()
        .map(|(u, v)| (1 + (u + v) % 5) as f32 / 3.0)
        .collect();
    [
        plain,
        GraphBuilder::undirected(NODES)
            .edges(edges)
            .weights(weights)
            .build()
            .unwrap(),
    ]
}

/// Sums, products and values of a divided matrix are those of the whole one.
fn check_rows(whole: &MotifGraph, divided: &MotifGraph) {
    assert!(whole.matrix.remote_values().is_none() && divided.matrix.remote_values().is_some());
    assert_eq!(
        (whole.nnz, whole.below_delta, whole.scale),
        (divided.nnz, divided.below_delta, divided.scale)
    );
    assert!((whole.total - divided.total).abs() <= 1e-9 * whole.total);
    let [a, b] = [&whole.matrix, &divided.matrix];
    let x: Vec<f64> = (0..NODES).map(|i| 1.0 / (1 + i) as f64).collect();
    assert_eq!(
        (a.row_sums(), a.times_vector(&x)),
        (b.row_sums(), b.times_vector(&x))
    );
    assert!((a.squares() - b.squares()).abs() <= 1e-9 * a.squares());
    let [left, right] = [3, 4].map(|m| {
        Diagonal::new(
            "d",
            (0..NODES).map(|i| (1 + i % m) as f32).collect::<Vec<f32>>(),
        )
    });
    assert_eq!(
        a.scaled_by(0.3, &left, &right).values(),
        b.scaled_by(0.3, &left, &right).values()
    );
    assert_eq!(a.values(), b.values());
}

#[test]
fn rows_of_a_motif_graph_are_those_of_the_whole() {
    if std::env::var_os(INSIDE).is_some() {
        let universe = mpi::initialize().expect("MPI is started once");
        let ranks = Ranks::new(World::of_job());
        for graph in graphs() {
            let counts = count(&graph, &Silent).unwrap();
            for (motif, delta, shared) in [
                ("edge", 1, true),
                ("path3", 1, true),
                ("star4", 3, true),
                ("triangle", 1, false),
                ("triangle", 9, false),
            ] {
                let motif: Motif = motif.parse().unwrap();
                let weighting = Weighting {
                    delta,
                    use_weights: true,
                    ..Weighting::default()
                };
                let whole = counts.motif_graph(&graph, motif, weighting).unwrap();
                let own = ranks.own(NODES);
                let divided = ranks
                    .motif_graph(&counts, &graph, motif, weighting, &own)
                    .unwrap();
                if shared {
                    check_rows(&whole, &divided);
                } else {
                    assert_eq!(
                        (whole.nodes, whole.matrix.values()),
                        (divided.nodes, divided.matrix.values())
                    );
                }
            }
        }
        return drop(universe);
    }
    for processes in [2, 3] {
        inside(
            processes,
            "divided::rows_of_a_motif_graph_are_those_of_the_whole",
            Path::new("."),
        );
    }
}

#[test]
fn large_graphs_have_the_bits_of_one_process() {
    let folder = folder();
    let folder = folder.path();
    alone(
        folder,
        &[
            "-q",
            "generate",
            "er",
            "--nodes",
            "70000",
            "--degree",
            "4",
            "--seed",
            "4",
            "-o",
            "large.tsv",
        ],
    );
    let lines = fs::read_to_string(folder.join("large.tsv")).unwrap();
    let edges = lines.lines().filter(|line| !line.starts_with('#')).zip(0..);
    let weighted: Vec<String> = edges
        .map(|(line, at)| format!("{line}\t{}.25", at % 7))
        .collect();
    fs::write(folder.join("weighted.tsv"), weighted.join("\n")).unwrap();
    let cases: [&[&str]; 5] = [
        &["large.tsv", "--preset", "hone"],
        &[
            "large.tsv",
            "--preset",
            "hone",
            "--set",
            "local.norm=l1",
            "--set",
            "local.log-window.steps=0",
        ],
        &[
            "large.tsv",
            "--preset",
            "hone-p",
            "--motifs",
            "path3,triangle",
            "--steps",
            "2",
        ],
        &[
            "large.tsv",
            "--preset",
            "hone-l",
            "--motifs",
            "edge,path3",
            "--steps",
            "2",
        ],
        &[
            "weighted.tsv",
            "--weighted",
            "--preset",
            "hone-l-norm",
            "--motifs",
            "star4",
            "--set",
            "delta=2",
        ],
    ];
    for (at, case) in cases.into_iter().enumerate() {
        let few = ["--dim", "8", "--set", "local.solver.iterations=1"];
        same_by_all(
            folder,
            2 + at % 2,
            &[&["embed"], case, &few].concat(),
            "npy",
        );
    }
}
