//! Directed graphs: source and target factors, rows of nodes that no arc leaves, the default, features of arcs.

use std::collections::BTreeSet;

use hone::config::Layers;
use hone::features::Structure;
use hone::graph::{Graph, GraphBuilder};
use hone::memory::Allowance;
use hone::motif::triad::Occurrence;
use hone::motif::{Motif, MotifSet, Sample};
use hone::output::Existing;
use hone::store::factors::Folder;
use hone::{Config, Hone, Silent};

use super::{config, paper, run, texts};

/// Arcs from larger to smaller numbers, a tree with chords: no arc leaves node 0, and none enters the last ones.
fn downward(n: u32) -> Graph {
    let tree = (1..n).map(|i| (i, i / 2));
    let chords = (3..n).filter(|i| i % 3 == 0).map(|i| (i, (i * 5 + 1) % i));
    GraphBuilder::directed(n as usize + 1)
        .edges(tree.chain(chords).collect())
        .build()
        .unwrap()
}

fn zero_rows(vectors: &hone::dense::Block) -> Vec<usize> {
    (0..vectors.rows())
        .filter(|&i| vectors.row(i).iter().all(|&x| x == 0.0))
        .collect()
}

/// The target factors are those of the same decomposition: Sᵀ u = σ v, column by column.
#[test]
fn source_and_target_factors_belong_together() {
    let graph = downward(40);
    let settings = [
        ("motifs", "[\"edge\"]"),
        ("psi", "p"),
        ("steps", "1"),
        ("local.dim", "6"),
    ];
    let y = run(
        config(&[&settings[..], &[("global.output", "local")]].concat()),
        &graph,
    );
    let columns = &y.embedding.columns;
    assert_eq!(
        (columns.len(), columns[0].as_str(), columns[6].as_str()),
        (12, "edge_k1_0", "edge-target_k1_0")
    );
    let facts = &y.report.local[0];
    for j in 0..6 {
        let mut back = vec![0f64; graph.nodes()];
        for i in 0..graph.nodes() as u32 {
            for &t in graph.neighbors(i) {
                back[t as usize] +=
                    f64::from(y.embedding.vectors.get(i as usize, j)) / graph.degree(i) as f64;
            }
        }
        for (i, back) in back.iter().enumerate() {
            let v = facts.singular_values[j] * f64::from(y.embedding.vectors.get(i, 6 + j));
            assert!(
                (v - back).abs() < 1e-4,
                "column {j}, node {i}: {v} and {back}"
            );
        }
    }
    let source = run(
        config(
            &[
                &settings[..],
                &[("global.output", "local"), ("direction", "source")],
            ]
            .concat(),
        ),
        &graph,
    );
    assert_eq!(source.embedding.columns, columns[..6]);
    let names: Vec<(String, f64)> = y.report.motif_importance();
    assert_eq!(names.len(), 1, "both sides are of one motif: {names:?}");
}

/// Only a node without an arc has a zero row.
#[test]
fn nodes_that_no_arc_leaves_are_placed() {
    let graph = downward(60);
    for settings in [
        &[("motifs", "[\"edge\"]")][..],
        &[("motifs", "[\"edge\"]"), ("psi", "w")],
        &[
            ("motifs", "[\"edge\"]"),
            ("psi", "a-norm"),
            ("degree", "total"),
        ],
        &[("motifs", "\"triads\"")],
        &[
            ("motifs", "\"triad-orbits\""),
            ("occurrence", "subgraph"),
            ("steps", "1"),
        ],
    ] {
        let found = run(
            config(&[settings, &[("global.dim", "64"), ("local.dim", "40")]].concat()),
            &graph,
        );
        assert_eq!(zero_rows(&found.embedding.vectors), [60], "{settings:?}");
        let warnings = texts(&found.report.warnings).join("\n");
        assert!(
            warnings.contains("1 of 61 nodes has a vector of zeros: 1 without an edge"),
            "{warnings}"
        );
    }
    let source = config(&[
        ("motifs", "[\"edge\"]"),
        ("direction", "source"),
        ("global.dim", "64"),
    ]);
    assert!(zero_rows(&run(source, &graph).embedding.vectors).contains(&0));
}

/// Rows without an entry are zero, not rounding noise, however the matrix is decomposed, and are counted with what can be done.
#[test]
fn rows_without_entries_are_zero_and_the_reason_is_said() {
    for n in [40, 400] {
        let graph = downward(n);
        let sinks: Vec<usize> = (0..=n as usize)
            .filter(|&i| graph.degree(i as u32) == 0)
            .collect();
        let edge = [
            ("motifs", "[\"edge\"]"),
            ("steps", "1"),
            ("global.dim", "16"),
        ];
        for (settings, remedy) in [
            (
                &[("psi", "l-norm")][..],
                "without an outgoing arc, hence of degree 0 (degree = \"total\"",
            ),
            (
                &[("direction", "source")],
                "(direction = \"keep\" places them",
            ),
            (
                &[
                    ("local.solver.method", "autoencoder"),
                    ("local.solver.epochs", "1"),
                ],
                "has only source factors",
            ),
        ] {
            let found = run(config(&[&edge[..], settings].concat()), &graph);
            let warnings = texts(&found.report.warnings).join("\n");
            let zero = zero_rows(&found.embedding.vectors);
            assert!(
                sinks.iter().all(|sink| zero.contains(sink)),
                "{settings:?}, {n} nodes: {zero:?}"
            );
            assert!(
                warnings.contains(remedy) && warnings.contains("1 without an edge"),
                "{warnings}"
            );
        }
        let total = run(
            config(
                &[
                    &edge[..],
                    &[("psi", "l-norm"), ("degree", "total"), ("local.dim", "64")],
                ]
                .concat(),
            ),
            &graph,
        );
        assert_eq!(zero_rows(&total.embedding.vectors), [n as usize]);
    }
}

/// Small components and ends of long paths are outside the leading directions; their nodes have proximity all the same.
#[test]
fn every_node_with_an_edge_has_proximity() {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for clique in 0..12 {
        let nodes = 10 * clique..10 * clique + 10;
        edges.extend(
            nodes
                .clone()
                .flat_map(|i| nodes.clone().filter(move |&j| i != j).map(move |j| (i, j))),
        );
        edges.push((10 * clique, (10 * clique + 10) % 120));
    }
    edges.extend((120..150).map(|i| (i - 1, i)));
    edges.extend((150..250).step_by(2).map(|i| (i, i + 1)));
    // A node without an edge, and an edge of weight 0.
    let (alone, idle, n) = (250, [251, 252], 253);
    let weights = |i: u32| [1e-3, 1.0, 40.0][i as usize % 3];
    for (directed, weighted) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut edges = edges.clone();
        edges.retain(|(i, j)| directed || i < j);
        let mut values: Vec<f32> = edges.iter().map(|&(i, _)| weights(i)).collect();
        if weighted {
            edges.push((idle[0], idle[1]));
            values.push(0.0);
        }
        let mut builder = match directed {
            true => GraphBuilder::directed(n),
            false => GraphBuilder::undirected(n),
        };
        if weighted {
            builder = builder.weights(values);
        }
        let graph = builder.edges(edges).build().unwrap();
        let found = run(Config::default().with_dim(24), &graph);
        let z = found.embedding.vectors.columns(0..21);
        let context = format!(
            "directed {directed}, weighted {weighted}: {:?}",
            found.report
        );
        assert_eq!(
            zero_rows(&z),
            [alone, idle[0] as usize, idle[1] as usize],
            "{context}"
        );
        assert!(
            found
                .report
                .notes
                .iter()
                .any(|note| note.to_string().contains("outside the leading directions")),
            "{context}"
        );
        // Nodes of a small component are most similar to each other.
        let row = |i: usize| z.row(i).iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let cosine = |i: usize, j: usize| {
            let (a, b) = (row(i), row(j));
            product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
        };
        let together = (150..250)
            .step_by(2)
            .filter(|&i| cosine(i, i + 1) > 0.999)
            .count();
        assert!(together > 30, "{together} of 50 pairs: {context}");
    }
}

/// Nodes that the factors of a motif matrix leave out are not said to be without the motif; weights of 0 count as none.
#[test]
fn the_reasons_of_zero_rows_are_true() {
    let pairs = GraphBuilder::directed(60)
        .edges((0..30).map(|i| (2 * i, 2 * i + 1)).collect())
        .build()
        .unwrap();
    let edge = [
        ("motifs", "[\"edge\"]"),
        ("steps", "1"),
        ("local.dim", "16"),
        ("global.dim", "32"),
    ];
    let warnings = texts(&run(config(&edge), &pairs).report.warnings).join("\n");
    assert!(
        warnings
            .contains("28 not covered by the leading factors of each motif matrix (local.dim = "),
        "{warnings}"
    );
    let arcs = vec![(0, 1), (1, 2), (2, 0), (2, 1)];
    let idle = GraphBuilder::directed(3)
        .edges(arcs)
        .weights(vec![0.0, 1.0, 1.0, 1.0])
        .build()
        .unwrap();
    for (settings, why) in [
        (
            &[("psi", "l-norm")][..],
            "1 without an outgoing arc, hence of degree 0",
        ),
        (
            &[("direction", "source")],
            "1 without an outgoing arc (direction = \"keep\"",
        ),
    ] {
        let report = run(config(&[&edge[..], settings].concat()), &idle).report;
        let warnings = texts(&report.warnings).join("\n");
        assert!(warnings.contains(why), "{settings:?}: {warnings}");
    }
}

/// 120 trees of two to six nodes with arcs in either direction: far more directions than columns.
fn trees() -> Graph {
    let (mut arcs, mut first) = (Vec::new(), 0);
    for tree in 0..120u32 {
        let nodes = 2 + tree % 5;
        for child in 1..nodes {
            let parent = (tree * 7 + child * 3) % child;
            let (a, b) = (first + parent, first + child);
            arcs.push(if (tree + child) % 3 == 0 {
                (b, a)
            } else {
                (a, b)
            });
        }
        first += nodes;
    }
    GraphBuilder::directed(first as usize)
        .edges(arcs)
        .build()
        .unwrap()
}

/// A node outside all leading directions has zeros, not what rounding leaves of sums that cancel, and is counted.
#[test]
fn rows_of_rounding_are_zeros() {
    let graph = trees();
    let underlying = graph.underlying();
    let of_preset = |name: &str, settings: &[(&str, &str)]| {
        let layers = Layers::new().preset(name).unwrap();
        let layers = settings.iter().fold(layers, |layers, (key, value)| {
            layers.set(key, value).unwrap()
        });
        layers
            .set("structure.enabled", "false")
            .unwrap()
            .build()
            .unwrap()
    };
    let configs = [
        of_preset("hone", &[]),
        of_preset("hone", &[("local.dim", "200")]),
        of_preset("hone-p", &[]),
        of_preset("hone-w", &[("global.dim", "4")]),
    ];
    for (number, config) in configs.into_iter().enumerate() {
        for graph in [&graph, &underlying] {
            let found = run(config.clone(), graph);
            let z = &found.embedding.vectors;
            let length = |i: usize| z.row(i).iter().map(|x| x * x).sum::<f32>().sqrt();
            let most = (0..z.rows()).map(length).fold(0.0, f32::max);
            let zero = zero_rows(z);
            // Factors of the paper's presets are iterated to a residual, which leaves more than rounding.
            let least = if number < 2 {
                1e-4 * most
            } else {
                f32::MIN_POSITIVE
            };
            let tiny: Vec<usize> = (0..z.rows()).filter(|&i| length(i) < least).collect();
            assert_eq!(tiny, zero, "{number}");
            let told = found
                .report
                .warnings
                .iter()
                .any(|text| text.to_string().starts_with(&format!("{} of ", zero.len())));
            assert_eq!(
                told,
                !zero.is_empty(),
                "{number}: {} in {:?}",
                zero.len(),
                found.report.warnings
            );
            let short = (0..z.rows())
                .filter(|&i| length(i) > 0.0 && length(i) < 1e-4 * most)
                .count();
            let told = found
                .report
                .notes
                .iter()
                .any(|text| text.to_string().contains("poorly represented"));
            assert!(
                told || short == 0,
                "{number}: {short} in {:?}",
                found.report.notes
            );
        }
    }
}

/// Where rows have nearly one length, being shorter than the typical one says nothing.
#[test]
fn rows_of_equal_length_are_not_taken_for_rounding() {
    let graph = hone::graph::builtin("karate").unwrap();
    for power in ["0.5", "0.8", "1", "2", "4"] {
        let layers = Layers::new()
            .preset("hone")
            .unwrap()
            .set("local.row-power", power)
            .unwrap();
        let found = run(
            layers
                .set("structure.enabled", "false")
                .unwrap()
                .build()
                .unwrap(),
            &graph,
        );
        assert_eq!(
            zero_rows(&found.embedding.vectors),
            [0usize; 0],
            "row-power {power}"
        );
        assert!(
            found.report.warnings.is_empty(),
            "{power}: {:?}",
            found.report.warnings
        );
    }
}

/// What `auto` decides can be decided otherwise, also by the value that an undirected graph would have.
#[test]
fn settings_that_are_made_stay_as_they_are() {
    let graph = downward(60);
    let with = |settings: &[(&str, &str)]| {
        let hone = Layers::new().preset("hone").unwrap();
        let layers = settings
            .iter()
            .fold(hone, |layers, (key, value)| layers.set(key, value).unwrap());
        run(layers.build().unwrap(), &graph)
    };
    let default = with(&[]);
    for setting in [
        ("reverse", "0"),
        ("degree", "out"),
        ("structure.motifs", "all"),
    ] {
        let found = with(&[setting]);
        assert!(
            found.embedding.vectors != default.embedding.vectors,
            "{setting:?}"
        );
        assert_eq!(
            run(found.report.config.clone(), &graph).embedding.vectors,
            found.embedding.vectors,
            "{setting:?}"
        );
    }
    let explicit = [
        ("direction", "keep"),
        ("reverse", "0.5"),
        ("degree", "total"),
        ("structure.motifs", "triads"),
    ];
    assert!(with(&explicit).embedding.vectors == default.embedding.vectors);
    assert!(
        with(&explicit[..1]).embedding.vectors == default.embedding.vectors,
        "keep leaves the others to the graph"
    );
    let window = with(&[("local.log-window.steps", "5")]);
    assert!(
        window.embedding.vectors == default.embedding.vectors,
        "arcs have no log window"
    );
    let notes = &window.report.notes;
    assert!(
        !notes
            .iter()
            .any(|note| note.to_string().contains("log-window")),
        "the default needs no note: {notes:?}"
    );
}

/// Arcs of weight 0 place nobody, and weights may be large or small.
#[test]
fn weights_count_by_their_ratios() {
    let plain = downward(300);
    let arcs: Vec<(u32, u32)> = (0..301)
        .flat_map(|i| plain.neighbors(i).iter().map(move |&j| (i, j)))
        .collect();
    let weighted = |scale: f32| {
        let of = |&(u, v): &(u32, u32)| {
            if u == 7 || v == 7 {
                0.0
            } else {
                scale * (1 + (u * 7 + v) % 5) as f32
            }
        };
        let weights = arcs.iter().map(of).collect();
        GraphBuilder::directed(301)
            .edges(arcs.clone())
            .weights(weights)
            .build()
            .unwrap()
    };
    for name in [
        "hone",
        "hone-w",
        "hone-p",
        "hone-l",
        "hone-l-norm",
        "hone-l-rw",
    ] {
        let config = || Layers::new().preset(name).unwrap().build().unwrap();
        let found = run(config(), &weighted(1.0));
        let warnings = texts(&found.report.warnings).join("\n");
        assert!(
            warnings.contains("1 with edges of weight 0 only"),
            "{name}: {warnings}"
        );
        for power in [100, -100] {
            let scaled = run(config(), &weighted(2f32.powi(power)));
            let pairs = scaled
                .embedding
                .vectors
                .as_slice()
                .iter()
                .zip(found.embedding.vectors.as_slice());
            let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off < 1e-3, "{name}, weights times 2^{power}: {off}");
        }
    }
}

/// One arc that outweighs all others is said, and what to do about it.
#[test]
fn a_heavy_arc_is_noted() {
    let plain = downward(100);
    let arcs: Vec<(u32, u32)> = (0..101)
        .flat_map(|i| plain.neighbors(i).iter().map(move |&j| (i, j)))
        .collect();
    for (heavy, told) in [(1e6, true), (1e3, false)] {
        let weights = (0..arcs.len())
            .map(|arc| {
                if arc == 5 {
                    heavy
                } else {
                    1.0 + (arc % 5) as f32
                }
            })
            .collect();
        let graph = GraphBuilder::directed(101)
            .edges(arcs.clone())
            .weights(weights)
            .build()
            .unwrap();
        let notes = run(Config::default(), &graph).report.notes;
        assert_eq!(
            notes
                .iter()
                .any(|note| note.to_string().contains("logarithms")),
            told,
            "{notes:?}"
        );
    }
}

/// The default keeps directions where there are any: a pure source is not a pure sink.
#[test]
fn the_default_tells_sources_from_sinks() {
    // Two stars, one of arcs to the leaves and one of arcs from them, and a path between.
    let out = (1..20u32).map(|i| (0, i));
    let into = (21..40u32).map(|i| (i, 20));
    let graph = GraphBuilder::directed(40)
        .edges(out.chain(into).chain([(5, 25)]).collect())
        .build()
        .unwrap();
    let found = run(Config::default(), &graph);
    let z = &found.embedding.vectors;
    assert_eq!((z.cols(), zero_rows(z)), (128, vec![]));
    let far = |a: usize, b: usize| {
        z.row(a)
            .iter()
            .zip(z.row(b))
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f32>()
            .sqrt()
    };
    assert!(far(0, 20) > 0.1, "the centres: {}", far(0, 20));
    assert!(
        far(1, 2) < 1e-3 && far(1, 30) > 0.1,
        "leaves: {} and {}",
        far(1, 2),
        far(1, 30)
    );
    let report = &found.report;
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.to_string().contains("direction = \"ignore\"")),
        "{:?}",
        report.notes
    );
    let structure = report.structure.as_ref().unwrap();
    assert!(
        structure.motifs.iter().any(|share| share.motif == "021D"),
        "{structure:?}"
    );
    // What the report says repeats the run.
    assert_eq!(run(report.config.clone(), &graph).embedding.vectors, *z);
    let ignored = Layers::new()
        .preset("hone")
        .unwrap()
        .set("direction", "ignore")
        .unwrap()
        .build()
        .unwrap();
    assert_eq!(
        run(ignored, &graph).embedding.vectors,
        run(Config::default(), &graph.underlying())
            .embedding
            .vectors
    );
}

#[test]
fn directed_runs_have_the_same_bits_anywhere() {
    let edges = (0..900u32)
        .map(|i| (i % 300, (i * i + 7 * i + 3) % 300))
        .filter(|(u, v)| u != v)
        .collect();
    let graph = GraphBuilder::directed(300).edges(edges).build().unwrap();
    for config in [
        Config::default(),
        config(&[
            ("motifs", "\"triads\""),
            ("local.dim", "4"),
            ("global.dim", "32"),
        ]),
    ] {
        let plain = run(config.clone(), &graph).embedding.vectors;
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            assert!(
                pool.install(|| run(config.clone(), &graph))
                    .embedding
                    .vectors
                    == plain,
                "{threads} threads"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        let hone = || Hone::new(config.clone()).unwrap();
        let first = hone()
            .checkpoint(folder.path())
            .embed(&graph, &Silent)
            .unwrap();
        let again = hone().resume(folder.path()).embed(&graph, &Silent).unwrap();
        assert!(
            first.embedding.vectors == plain && again.embedding.vectors == plain,
            "from a checkpoint"
        );
        let factors = folder.path().join("factors");
        let with = hone()
            .factors(&factors, Existing::Refuse)
            .embed(&graph, &Silent)
            .unwrap();
        assert!(with.embedding.vectors == plain, "with factors");
        let manifest = Folder::open(&factors).unwrap().manifest;
        assert!(manifest.local.iter().all(|entry| entry.v.is_some()));
    }
}

/// Degrees over arcs that leave and enter, and means over both neighbourhoods, by hand.
#[test]
fn features_of_arcs() {
    let graph = downward(50);
    let motifs: MotifSet = "triads".parse().unwrap();
    let counts = Sample::Exact
        .count_motifs(&graph, &motifs.motifs(), (0, Allowance::new(None)), &Silent)
        .expect("counted");
    let features = Structure {
        motifs,
        log: false,
        ..Structure::default()
    };
    let x = features.of(&counts).unwrap();
    assert_eq!((x.names.len(), features.columns()), (27 * 7, 27 * 7));
    assert_eq!(
        x.names.iter().collect::<BTreeSet<_>>().len(),
        x.names.len(),
        "names are distinct"
    );
    let at = |name: &str| {
        x.names
            .iter()
            .position(|own| own == name)
            .unwrap_or_else(|| panic!("{name}"))
    };
    let fan: Motif = "021U".parse().unwrap();
    let (mut out, mut into) = (vec![0.0; 51], vec![0.0; 51]);
    for i in 0..51u32 {
        counts
            .for_arcs(&graph, i, (&[fan], Occurrence::Induced), |j, weights| {
                out[i as usize] += weights[0] as f64;
                into[j as usize] += weights[0] as f64;
            })
            .unwrap();
    }
    for i in 0..51usize {
        let value = |name: &str| f64::from(x.block.get(i, at(name)));
        assert!(
            (value("021U_out_degree"), value("021U_in_degree")) == (out[i], into[i]),
            "node {i}"
        );
        let near: Vec<usize> = (0..51u32)
            .filter(|&j| graph.has_edge(j, i as u32))
            .map(|j| j as usize)
            .collect();
        let mean = near.iter().map(|&j| out[j]).sum::<f64>() / near.len().max(1) as f64;
        assert!(
            (value("mean_in_021U_out_degree") - mean).abs() < 1e-3 * (1.0 + mean),
            "node {i}"
        );
        let most = graph
            .neighbors(i as u32)
            .iter()
            .map(|&j| into[j as usize])
            .fold(0.0, f64::max);
        assert_eq!(value("max_out_021U_in_degree"), most, "node {i}");
    }
    let logs = Structure {
        log: true,
        ..features
    };
    let (held, streamed) = (logs.of(&counts).unwrap(), logs.streamed(&counts).unwrap());
    assert_eq!(held.names, streamed.names);
    let block = streamed.columns.to_block();
    let off = held
        .block
        .as_slice()
        .iter()
        .zip(block.as_slice())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    assert!(off < 1e-4, "{off}");
}

#[test]
fn choices_that_contradict_directions_are_refused() {
    let cases: [(&[(&str, &str)], &str); 4] = [
        (
            &[("motifs", "\"triads\""), ("direction", "ignore")],
            "direction",
        ),
        (&[("occurrence", "subgraph")], "occurrence"),
        (
            &[("motifs", "\"triads\""), ("pairs", "occurrences")],
            "pairs",
        ),
        (&[("reverse", "1.5")], "reverse"),
    ];
    for (settings, part) in cases {
        let layers = settings.iter().fold(paper(), |layers, (key, value)| {
            layers.set(key, value).unwrap()
        });
        let error = layers
            .build()
            .and_then(Hone::new)
            .expect_err("refused")
            .to_string();
        assert!(error.contains(part), "{error}");
    }
    let undirected = hone::graph::builtin("karate").unwrap();
    let error = Hone::new(config(&[("motifs", "\"triads\"")]))
        .unwrap()
        .embed(&undirected, &Silent)
        .expect_err("refused");
    assert!(error.to_string().contains("undirected"), "{error}");
}
