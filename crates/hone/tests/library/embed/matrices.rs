//! Choices of the motif matrices and their rows: co-occurrence weights, codes instead of factors.

use hone::graph::{Graph, GraphBuilder, builtin};
use hone::{Error, Hone, Silent};

use super::{chorded_ring, config, paper, run, texts};

/// P of path3 co-occurrences as the paper would have it, entry by entry: W = A² off the diagonal where nodes are not
/// adjacent, and the counts of edges elsewhere.
#[test]
fn co_occurrence_matrices_are_factored() {
    let graph = chorded_ring(24, false);
    let n = graph.nodes();
    let settings = [
        ("motifs", "[\"path3\"]"),
        ("pairs", "occurrences"),
        ("steps", "1"),
        ("local.dim", "4"),
        ("global.output", "local"),
    ];
    let found = run(config(&settings), &graph);
    let adjacent = |i: usize, j: usize| graph.has_edge(i as u32, j as u32);
    let common = |i: usize, j: usize| (0..n).filter(|&c| adjacent(i, c) && adjacent(j, c)).count();
    let weight = |i: usize, j: usize| match (i == j, adjacent(i, j)) {
        (true, _) => 0.0,
        (_, false) => common(i, j) as f64,
        // Paths over either end, less those closed to a triangle.
        (_, true) => {
            (graph.degree(i as u32) + graph.degree(j as u32) - 2 - 2 * common(i, j)) as f64
        }
    };
    let w: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| weight(i, j)).collect())
        .collect();
    let p: Vec<Vec<f64>> = w
        .iter()
        .map(|row| {
            let sum: f64 = row.iter().sum();
            row.iter()
                .map(|x| if sum > 0.0 { x / sum } else { 0.0 })
                .collect()
        })
        .collect();
    let facts = &found.report.local[0];
    assert_eq!(
        facts.nonzeros,
        w.iter().flatten().filter(|&&x| x > 0.0).count()
    );
    for (c, sigma) in facts.singular_values.iter().enumerate() {
        let u: Vec<f64> = (0..n)
            .map(|i| f64::from(found.embedding.vectors.row(i)[c]))
            .collect();
        let v: Vec<f64> = (0..n)
            .map(|j| (0..n).map(|i| p[i][j] * u[i]).sum())
            .collect();
        for i in 0..n {
            let image: f64 = (0..n).map(|j| p[i][j] * v[j]).sum();
            assert!(
                (image - sigma * sigma * u[i]).abs() < 2e-3,
                "column {c}, row {i}"
            );
        }
    }
}

#[test]
fn co_occurrences_embed_every_model_on_directed_graphs_too() {
    for directed in [false, true] {
        let graph = chorded_ring(40, directed);
        for settings in [
            &[("psi", "l-norm"), ("steps", "2")][..],
            &[("model", "tucker")],
            &[("structure.enabled", "true"), ("structure.depth", "0")],
            &[("local.solver.method", "als")],
        ] {
            let base = [
                ("motifs", "graphlets"),
                ("pairs", "occurrences"),
                ("global.dim", "8"),
                ("local.dim", "3"),
            ];
            let found = run(config(&[&base[..], settings].concat()), &graph);
            assert!(
                found
                    .embedding
                    .vectors
                    .as_slice()
                    .iter()
                    .all(|x| x.is_finite()),
                "{settings:?}"
            );
            assert!(
                found.embedding.vectors.row(0).iter().any(|&x| x != 0.0),
                "{settings:?}"
            );
        }
    }
}

#[test]
fn what_co_occurrences_cannot_be_of_is_refused() {
    let cases: [(&[(&str, &str)], &str); 4] = [
        (
            &[("motifs", "all")],
            "use motifs = \"graphlets\", or a list with path4 instead",
        ),
        (&[("motifs", "[\"tailed-far\"]")], "tailed-triangle"),
        (&[("motifs", "graphlets"), ("sample", "cap=4")], "sample"),
        (
            &[("motifs", "graphlets"), ("weights", "true")],
            "weights = false",
        ),
    ];
    for (settings, said) in cases {
        let layers = settings.iter().fold(paper(), |layers, (key, value)| {
            layers.set(key, value).unwrap()
        });
        let error = layers
            .set("pairs", "occurrences")
            .unwrap()
            .build()
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(said) && error.contains("pairs"),
            "{settings:?}: {error}"
        );
    }
}

/// All pairs of leaves of a star share a path: far more than the edges, and refused before they are made.
#[test]
fn too_many_pairs_are_refused_in_time() {
    let leaves = 300_000;
    let star = GraphBuilder::undirected(leaves + 1)
        .edges((1..=leaves as u32).map(|i| (0, i)).collect())
        .build()
        .unwrap();
    let settings = [
        ("motifs", "[\"path3\"]"),
        ("steps", "1"),
        ("local.dim", "2"),
        ("global.output", "local"),
    ];
    let limited = |extra: &[(&str, &str)]| {
        let hone = Hone::new(config(&[&settings[..], extra].concat())).unwrap();
        hone.memory_limit(8 << 30).embed(&star, &Silent)
    };
    assert!(limited(&[]).is_ok());
    let Err(Error::Memory { need, remedy, .. }) = limited(&[("pairs", "occurrences")]) else {
        panic!("does not fit")
    };
    assert!(
        need > 8 * (leaves as u64).pow(2) && remedy.to_string().contains("pairs = \"edges\""),
        "{need}: {remedy}"
    );
}

/// Walks that meet are counted once where the bound alone would not fit.
#[test]
fn pairs_are_counted_where_their_bound_does_not_fit() {
    let n = 3000u32;
    let edges = (0..n)
        .flat_map(|i| (1..=20).map(move |k| (i, (i + k) % n)))
        .collect();
    let ring: Graph = GraphBuilder::undirected(n as usize)
        .edges(edges)
        .build()
        .unwrap();
    let settings = [
        ("motifs", "[\"path3\"]"),
        ("pairs", "occurrences"),
        ("steps", "1"),
        ("local.dim", "2"),
    ];
    let all = [&settings[..], &[("global.output", "local")]].concat();
    let plan = |limit: Option<u64>| {
        let hone = Hone::new(config(&all)).unwrap();
        limit
            .map_or(hone.clone(), |limit| hone.memory_limit(limit))
            .embed(&ring, &Silent)
    };
    let free = plan(None).unwrap();
    let Err(Error::Memory { need, .. }) = plan(Some(1)) else {
        panic!("a byte is enough")
    };
    // 80 nodes are within two edges of each, while 1600 walks lead there.
    assert_eq!(free.report.local[0].nonzeros, 80 * n as usize);
    // The least that is enough: with less than the bound takes, pairs are counted.
    let tight = (12..32)
        .find_map(|part| plan(Some(need + (part << 22))).ok())
        .expect("some limit is enough");
    assert!(tight.embedding == free.embedding);
}

/// Rows that a network cannot read are counted with the delta of pairs: hubs of K(2, 3) share three 4-cycles, while none of
/// their edges is in more than two.
#[test]
fn codes_of_pairs_are_refused_by_the_pairs_there_are() {
    let books = 17_000;
    let book = |k: u32| {
        [5 * k, 5 * k + 1]
            .into_iter()
            .flat_map(move |hub| (2..5).map(move |leaf| (hub, 5 * k + leaf)))
    };
    let graph = GraphBuilder::undirected(5 * books)
        .edges((0..books as u32).flat_map(book).collect())
        .build()
        .unwrap();
    let embed = |delta| {
        let settings = [
            ("motifs", "[\"cycle4\"]"),
            ("pairs", "occurrences"),
            ("delta", delta),
            ("local.solver.method", "autoencoder"),
            ("local.dim", "2"),
            ("steps", "1"),
            ("global.dim", "2"),
        ];
        Hone::new(config(&settings)).unwrap().embed(&graph, &Silent)
    };
    let error = embed("3").unwrap_err().to_string();
    assert!(
        error.contains("34000 numbers") && error.contains("(local embeddings)"),
        "{error}"
    );
    // Without any pair there is nothing that is too large.
    assert_eq!(embed("4").unwrap().report.local[0].nonzeros, 0);
}

/// The plan holds the Gram matrix that a network starts from, and its decomposition.
#[test]
fn the_plan_of_a_network_counts_its_start() {
    let graph = chorded_ring(1400, false);
    let base = [
        ("motifs", "[\"edge\"]"),
        ("steps", "1"),
        ("local.dim", "2"),
        ("global.dim", "2"),
    ];
    let network = [
        ("local.solver.method", "autoencoder"),
        ("local.solver.epochs", "1"),
    ];
    let beyond = |start: &str| {
        let all = [&base[..], &network, &[("local.solver.start", start)]].concat();
        let plan = run(config(&all), &graph).report.plan.unwrap();
        plan.local - plan.resident
    };
    assert!(beyond("svd") > beyond("random") + 6 * 8 * 1400 * 1400);
}

/// U is the code of the rows of S; nodes without the motif have none.
#[test]
fn codes_of_motif_matrices_are_local_embeddings() {
    let graph = builtin("karate").unwrap();
    let base = [
        ("local.solver.method", "autoencoder"),
        ("local.solver.epochs", "20"),
        ("local.dim", "4"),
        ("motifs", "[\"edge\", \"clique4\"]"),
        ("steps", "2"),
        ("global.output", "local"),
    ];
    let found = run(config(&base), &graph);
    let y = &found.embedding.vectors;
    assert_eq!(y.cols(), 16);
    for j in 0..16 {
        let square: f64 = (0..34).map(|i| f64::from(y.get(i, j)).powi(2)).sum();
        assert!((square - 1.0).abs() < 1e-5, "column {j}: {square}");
    }
    let clique = |i: usize| &y.row(i)[4..8];
    assert!(clique(9).iter().all(|&x| x == 0.0) && clique(0).iter().all(|&x| x != 0.0));
    for facts in &found.report.local {
        let loss = facts.loss.as_ref().unwrap();
        assert!(
            loss.measure.contains("held out") && loss.values.len() == facts.iterations + 1,
            "{loss:?}"
        );
        assert!(loss.values.iter().all(|x| x.is_finite()));
    }
    let notes = texts(&found.report.notes).join("; ");
    assert!(!notes.contains("local.solver.iterations"), "{notes}");
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    };
    assert!((1..4).all(|threads| {
        pool(threads)
            .install(|| run(config(&base), &graph))
            .embedding
            == found.embedding
    }));
}

/// A graph of more nodes than a network can read rows of is refused, by name, before any is embedded.
#[test]
fn codes_of_large_motif_matrices_are_refused() {
    let graph = chorded_ring(40_000, false);
    let settings = [
        ("local.solver.method", "autoencoder"),
        ("motifs", "[\"edge\"]"),
        ("global.dim", "8"),
    ];
    let error = Hone::new(config(&settings))
        .unwrap()
        .embed(&graph, &Silent)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("local.solver.method") && error.contains("global.solver.method"),
        "{error}"
    );
}

/// Two cliques and a path between them: the edges that hang on triangles are a matching, and no walk of two steps along
/// them leads to another node.
fn barbell(weighted: bool) -> Graph {
    let clique = |first: u32| (0..5).flat_map(move |i| (0..i).map(move |j| (first + i, first + j)));
    let mut edges: Vec<(u32, u32)> = clique(0).chain(clique(5)).collect();
    edges.extend([(4, 10), (10, 11), (11, 12), (12, 5)]);
    let weights = (0..edges.len())
        .map(|i| 0.3 + 0.7 * (i % 7) as f32)
        .collect();
    let builder = GraphBuilder::undirected(13).edges(edges);
    match weighted {
        true => builder.weights(weights).build().unwrap(),
        false => builder.build().unwrap(),
    }
}

/// A Laplacian of two steps that is zero has rank zero, whatever the rounding of its terms, and adds no columns.
#[test]
fn laplacians_that_are_zero_add_nothing() {
    for (psi, weighted) in [
        ("l-norm", false),
        ("l-rw", false),
        ("l", true),
        ("l-norm", true),
        ("l-rw", true),
    ] {
        let settings = [
            ("psi", psi),
            ("motifs", "[\"tailed-tail\"]"),
            ("steps", "2"),
            ("global.dim", "8"),
        ];
        for solver in ["svd", "als"] {
            let more = [("local.solver.method", solver), ("global.output", "local")];
            let found = run(config(&[&settings[..], &more].concat()), &barbell(weighted));
            let [one, two] = &found.report.local[..] else {
                panic!("two steps")
            };
            assert!(one.rank > 0, "{psi}: {one:?}");
            assert_eq!(two.rank, 0, "{psi}: {two:?}");
            assert!(
                two.converged && two.singular_values.iter().all(|&sigma| sigma == 0.0),
                "{psi}: {two:?}"
            );
            let width = found.embedding.vectors.cols() / 2;
            let rows = 0..found.embedding.vectors.rows();
            assert!(rows.into_iter().all(|i| {
                found.embedding.vectors.row(i)[width..]
                    .iter()
                    .all(|&x| x == 0.0)
            }));
        }
        for model in ["cp", "tucker"] {
            let joint = [("model", model), ("motifs", "all"), ("global.dim", "16")];
            let found = run(
                config(&[&settings[..], &joint].concat()),
                &barbell(weighted),
            );
            let facts = found.report.joint.unwrap();
            let slice = facts
                .slices
                .iter()
                .find(|slice| slice.motif == "tailed-tail" && slice.step == 2)
                .unwrap();
            assert_eq!(
                (slice.norm.frobenius, slice.norm.factor),
                (0.0, 0.0),
                "{model}, {psi}"
            );
            let losses = &facts.descent.losses;
            assert!(
                losses.iter().all(|loss| (-1e-9..1.001).contains(loss)),
                "{model}, {psi}: {losses:?}"
            );
            assert_eq!(facts.residual, losses[losses.len() - 1].max(0.0));
        }
    }
}

/// XXᵀ of the vectors of karate, whose nodes have other numbers and whose edges have this weight.
fn products(settings: &[(&str, &str)], weight: f32, turn: u32) -> (Vec<Vec<f64>>, Vec<String>) {
    let graph = builtin("karate").unwrap();
    let n = graph.nodes() as u32;
    let number = |i: u32| (i * 5 + turn) % n;
    let number: Vec<u32> = (0..n)
        .map(|i| if turn == 0 { i } else { number(i) })
        .collect();
    let after = |i: usize| {
        graph
            .pattern()
            .row(i)
            .iter()
            .filter(move |&&j| j as usize > i)
    };
    let edges: Vec<(u32, u32)> = (0..graph.nodes())
        .flat_map(|i| after(i).map(move |&j| (i, j as usize)))
        .map(|(i, j)| (number[i], number[j]))
        .collect();
    let weights = vec![weight; edges.len()];
    let graph = GraphBuilder::undirected(n as usize)
        .edges(edges)
        .weights(weights)
        .build()
        .unwrap();
    let found = run(config(settings), &graph);
    let row = |i: &u32| found.embedding.vectors.row(*i as usize);
    let product = |a: &[f32], b: &[f32]| {
        a.iter()
            .zip(b)
            .map(|(&a, &b)| f64::from(a) * f64::from(b))
            .sum()
    };
    let products = number
        .iter()
        .map(|i| number.iter().map(|j| product(row(i), row(j))).collect());
    (products.collect(), texts(&found.report.notes))
}

/// Other units of weights and other numbers of nodes give the same vectors, up to a rotation; where the columns end within a
/// multiple singular value, which vectors of it are kept is arbitrary, and a note says so.
#[test]
fn units_and_numbers_change_nothing_without_a_note() {
    let mut noted = 0;
    for psi in ["w", "p", "l", "l-norm", "l-rw", "a-norm"] {
        for dim in 2..20 {
            let dim = dim.to_string();
            let settings = [
                ("psi", psi),
                ("motifs", "[\"edge\"]"),
                ("steps", "1"),
                ("local.dim", &dim),
                ("global.dim", &dim),
            ];
            let (euros, notes) = products(&settings, 1.0, 0);
            let said = notes.iter().any(|note| {
                note.to_string()
                    .contains("some vectors of a multiple singular value")
            });
            noted += usize::from(said);
            for (weight, turn) in [(100.0, 0), (0.37, 0), (1.0, 3)] {
                let cents = products(&settings, weight, turn).0;
                let pairs = euros.iter().flatten().zip(cents.iter().flatten());
                let off = pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
                assert!(
                    off < 1e-3 || said,
                    "{psi}, {dim} columns, weight {weight}: {off}; {notes:?}"
                );
            }
        }
    }
    assert!(noted > 3 && noted < 60, "{noted}");
}
