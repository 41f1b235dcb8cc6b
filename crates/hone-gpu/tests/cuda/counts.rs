//! Counts, W_t, features and products with Y of a device against those of this process.

use hone::Silent;
use hone::config::Scale;
use hone::dense::panels::Own;
use hone::dense::{Block, Columns, Group, Norm, Small};
use hone::engine::{Counting, Cpu, Engine, Local, Request, Shape, Window};
use hone::factor::svd::{Iterations, Svd};
use hone::factor::{Solver, Task};
use hone::features::Structure;
use hone::graph::{Generator, Graph, GraphBuilder};
use hone::memory::Allowance;
use hone::motif::{Counts, Motif, MotifSet, Sample, Weighting};
use hone::random::Key;
use hone::space::Host;

use super::{cuda, er, operator, rmat};

/// One hub, joined to all others, which have few edges among themselves: rows of every length that is sorted in its own way.
fn star() -> Graph {
    let nodes = 9000u32;
    let key = Key::new(5);
    let other = |i: u32| {
        (
            i,
            1 + (key.with("other", i.into()).bits() % u64::from(nodes - 1)) as u32,
        )
    };
    let edges = (1..nodes)
        .map(|i| (0, i))
        .chain((1..nodes).map(other).filter(|(a, b)| a != b))
        .collect();
    GraphBuilder::undirected(nodes as usize)
        .edges(edges)
        .build()
        .unwrap()
}

/// Local graphs of a few nodes, of some hundred in shared memory, and beyond.
fn cliques(size: usize) -> Graph {
    Generator::RingOfCliques {
        cliques: 3,
        size: size as u64,
    }
    .graph(1, &Silent)
    .unwrap()
}

fn graphs() -> Vec<(&'static str, Graph)> {
    let none = GraphBuilder::undirected(5).build().unwrap();
    let one = GraphBuilder::undirected(3)
        .edges(vec![(0, 2)])
        .build()
        .unwrap();
    vec![
        ("none", none),
        ("one edge", one),
        ("karate", hone::graph::builtin("karate").unwrap()),
        ("er", er()),
        ("rmat", rmat()),
        ("star", star()),
        ("cliques of 40", cliques(40)),
        ("cliques of 450", cliques(450)),
        (
            "ba",
            Generator::Ba {
                nodes: 3000,
                degree: 40.0,
            }
            .graph(2, &Silent)
            .unwrap(),
        ),
    ]
}

fn counted(engine: &dyn Engine, graph: &Graph) -> Counts {
    let motifs = MotifSet::default().motifs();
    let (sample, allowance) = (&Sample::Exact, Allowance::new(None));
    engine
        .count(
            graph,
            Counting {
                motifs: &motifs,
                sample,
                seed: 0,
                allowance,
                progress: &Silent,
            },
        )
        .unwrap()
}

#[test]
fn counts_are_those_of_the_host() {
    let Some(cuda) = cuda() else { return };
    for (name, graph) in graphs() {
        let (host, device) = (counted(&Cpu, &graph), counted(&cuda, &graph));
        assert_eq!(host.totals().orbits, device.totals().orbits, "{name}");
        for i in 0..graph.nodes() as u32 {
            assert!(host.row(i).eq(device.row(i)), "{name}: row {i}");
        }
        assert_eq!(host.bytes(), device.bytes(), "{name}: width of the columns");
        let mut files = [Vec::new(), Vec::new()];
        host.save(&mut files[0]).unwrap();
        device.save(&mut files[1]).unwrap();
        assert!(files[0] == files[1], "{name}: saved counts");
    }
}

/// The same matrix with the same facts, whether it shares the pattern or not, with delta and weights.
#[test]
fn motif_graphs_are_those_of_the_host() {
    let Some(cuda) = cuda() else { return };
    let weighted = |graph: &Graph| {
        let edges: Vec<(u32, u32)> = (0..graph.nodes() as u32)
            .flat_map(|i| {
                graph
                    .pattern()
                    .row(i as usize)
                    .iter()
                    .map(move |&j| (i, j))
                    .filter(|(i, j)| i < j)
            })
            .collect();
        let weights = edges
            .iter()
            .map(|&(i, j)| 0.5 + ((i * 7 + j * 3) % 11) as f32)
            .collect();
        GraphBuilder::undirected(graph.nodes())
            .edges(edges)
            .weights(weights)
            .build()
            .unwrap()
    };
    let graphs: Vec<(&str, Graph)> = graphs()
        .into_iter()
        .map(|(name, graph)| (name, weighted(&graph)))
        .collect();
    let motifs: Vec<Motif> = MotifSet::default()
        .motifs()
        .into_iter()
        .chain(["path4".parse().unwrap()])
        .collect();
    for (name, graph) in &graphs {
        let (host, device) = (counted(&Cpu, graph), counted(&cuda, graph));
        for (&motif, (delta, use_weights)) in motifs
            .iter()
            .flat_map(|motif| [(1, false), (3, false), (1, true)].map(|how| (motif, how)))
        {
            let what = format!("{name}, {motif}, delta {delta}, weights {use_weights}");
            let weighting = Weighting {
                delta,
                use_weights,
                ..Weighting::default()
            };
            let all = Own::all(graph.nodes());
            let a = Cpu
                .motif_graph(&host, graph, motif, weighting, &all)
                .unwrap();
            let b = cuda
                .motif_graph(&device, graph, motif, weighting, &all)
                .unwrap();
            assert_eq!(
                (&a.nodes, a.nnz, a.below_delta, a.scale),
                (&b.nodes, b.nnz, b.below_delta, b.scale),
                "{what}"
            );
            assert!(
                (a.total - b.total).abs() <= 1e-9 * a.total,
                "{what}: {} and {}",
                a.total,
                b.total
            );
            assert!(
                b.matrix.remote_values().is_some(),
                "{what}: made by this process"
            );
            assert_eq!(a.matrix.pattern(), b.matrix.pattern(), "{what}");
            let close = |a: &[f64], b: &[f64]| {
                a.iter()
                    .zip(b)
                    .all(|(a, b)| (a - b).abs() <= 1e-12 * a.abs())
            };
            assert!(
                close(&a.matrix.row_sums(), &b.matrix.row_sums()),
                "{what}: row sums"
            );
            let x: Vec<f64> = (0..a.matrix.cols()).map(|i| (i % 17) as f64).collect();
            assert!(
                close(&a.matrix.times_vector(&x), &b.matrix.times_vector(&x)),
                "{what}: products"
            );
            assert!(
                close(&[a.matrix.squares()], &[b.matrix.squares()]),
                "{what}: squares"
            );
            assert_eq!(a.matrix.values(), b.matrix.values(), "{what}");
        }
    }
}

#[test]
fn features_are_those_of_the_host() {
    let Some(cuda) = cuda() else { return };
    for (name, graph) in graphs() {
        let counts = counted(&cuda, &graph);
        for (sum, mean, max) in [
            (true, true, true),
            (false, true, false),
            (true, false, true),
        ] {
            let features = Structure {
                sum,
                mean,
                max,
                ..Structure::default()
            };
            let (host, device) = (
                Cpu.features(&features, &counts).unwrap(),
                cuda.features(&features, &counts).unwrap(),
            );
            assert_eq!(
                (&host.names, &host.origins),
                (&device.names, &device.origins),
                "{name}"
            );
            assert_eq!(device.columns.memory(), 0, "{name}: held by this process");
            let (a, b) = (host.columns.to_block(), device.columns.to_block());
            let off = a
                .as_slice()
                .iter()
                .zip(b.as_slice())
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            assert!(off < 1e-5, "{name}: {off}");
        }
    }
}

/// Columns of all rows and of few, kept by the device and by this process, scaled and not.
#[test]
fn products_with_columns_are_those_of_the_host() {
    let Some(cuda) = cuda() else { return };
    let graph = rmat();
    let (n, counts) = (graph.nodes(), counted(&cuda, &graph));
    let kept = cuda
        .features(&Structure::default(), &counts)
        .unwrap()
        .columns
        .into_groups();
    let some = |step: usize| (0..n as u32).step_by(step).collect::<Vec<u32>>();
    let partial = |step: usize, cols: usize| {
        let rows = some(step);
        let block = Block::random(rows.len(), cols, Key::new(step as u64));
        Group::partial(rows, block)
    };
    let mut groups = kept;
    groups.push(Group::full(Block::random(n, 70, Key::new(3))));
    groups.extend([
        partial(2, 5),
        partial(50, 9),
        partial(33, 40),
        Group::partial(vec![7], Block::zeros(1, 2)),
    ]);
    groups.push(partial(3, 4).scaled(2.5));
    let device = Columns::new(n, groups.clone());
    let here = |group: &Group| {
        let mut block = Block::zeros(group.stored_rows(), group.cols());
        hone::dense::Stored::read(group, 0..group.stored_rows(), block.as_mut_slice());
        Group::full(block).with_rows(group.rows().map(<[u32]>::to_vec))
    };
    let host = Columns::new(n, groups.iter().map(here).collect());
    let (a, b) = (
        Cpu.products(&host).unwrap(),
        cuda.products(&device).unwrap(),
    );
    for i in 0..a.rows() {
        for j in 0..a.cols() {
            let size = (a.get(i, i) * a.get(j, j)).sqrt();
            assert!(
                (a.get(i, j) - b.get(i, j)).abs() <= 1e-9 * size + 1e-12,
                "{i} {j}"
            );
        }
    }
    for width in [1, 16, 130] {
        let matrix = Small::from_fn(host.cols(), width, |i, j| {
            ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.5
        });
        let (a, b) = (
            Cpu.times(&host, &matrix).unwrap(),
            cuda.times(&device, &matrix).unwrap(),
        );
        let most = a
            .as_slice()
            .iter()
            .fold(0.0, |most: f32, x| most.max(x.abs()));
        let off = a
            .as_slice()
            .iter()
            .zip(b.as_slice())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(off <= 1e-5 * most, "{width} columns: {off} of {most}");
    }
}

/// Local embeddings stay on the device, and are what this process would make of the same factors.
#[test]
fn local_embeddings_are_shaped_there() {
    let Some(cuda) = cuda() else { return };
    let s = operator(
        &rmat(),
        "edge".parse().unwrap(),
        hone::matrix::Psi::ANorm,
        1,
    );
    let task = Task {
        rank: 40,
        right: true,
        key: Key::new(1),
        progress: &Silent,
        aside: None,
    };
    let solver = Solver::Svd(Svd {
        iterations: Iterations::AtMost(2),
        ..Svd::default()
    });
    let choices = [
        (Norm::L2, Scale::Unit, 0.0),
        (Norm::L2, Scale::Spectral, 0.5),
        (Norm::None, Scale::Sigma, 1.0),
        (Norm::L1, Scale::Unit, 0.0),
    ];
    let wanted = Window {
        s: &s,
        steps: 2,
        columns: 24,
        weight: None,
    };
    for (norm, scale, row_power) in choices {
        let shape = Shape {
            norm,
            scale,
            steps: 1,
            row_power,
        };
        let mut host = cuda.factor(&solver, &s, &task).unwrap();
        let view = wanted.spanned(&Host, host.u.as_mut_slice(), &task).unwrap();
        let request = Request {
            shape,
            window: Some(wanted),
            own_rows: false,
        };
        let Local { factors, window } = cuda.local(&solver, &s, &task, &request).unwrap();
        assert_eq!(host.sigma, factors.sigma);
        let (here, _) = shape.shaped_here(host, Some(view), None).unwrap();
        let sides = [
            (here.factors.u, factors.u),
            (here.factors.v.unwrap(), factors.v.unwrap()),
            (here.window.unwrap(), window.unwrap()),
        ];
        for ((host, device), bound) in sides.into_iter().zip([1e-5, 1e-5, 1e-3]) {
            // Other norms need rows in the memory of this process.
            let there = device.elsewhere().is_some() && device.memory() == 0;
            assert_eq!(there, norm != Norm::L1, "{shape:?}");
            same(&host, &device, bound, &format!("{shape:?}"));
        }
    }
}

/// Two groups of columns up to rounding.
fn same(host: &Group, device: &Group, bound: f32, what: &str) {
    let columns = |group: &Group| Columns::new(group.stored_rows(), vec![group.clone()]).to_block();
    let (a, b) = (columns(host), columns(device));
    let most = a
        .as_slice()
        .iter()
        .fold(0.0, |most: f32, x| most.max(x.abs()));
    let off = a
        .as_slice()
        .iter()
        .zip(b.as_slice())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    assert!(off <= bound * most, "{what}: {off} of {most}");
    for (a, b) in host
        .column_norms(Norm::L2)
        .into_iter()
        .zip(device.column_norms(Norm::L2))
    {
        assert!(
            (a - b).abs() <= f64::from(bound) * a,
            "{what}: a column has length {a} and {b}"
        );
    }
}
