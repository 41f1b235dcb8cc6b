//! Baselines against their definitions, slowly and on small graphs.

use faer::Mat;
use hone::Silent;
use hone::dense::Block;
use hone::dense::kernels::symmetric_eigen;
use hone::graph::{Graph, GraphBuilder, builtin};
use hone_eval::baseline::{
    Baseline, Degree, FastRp, GraphWave, Heuristic, Hope, Line, NetMf, Order, ProNe, RolX,
    Spectral, Values,
};

#[test]
fn degree_features_of_a_clique_with_a_tail() {
    // 0 1 2 3 a clique, 3-4-5 a tail, 6 alone.
    let edges = vec![
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 2),
        (1, 3),
        (2, 3),
        (3, 4),
        (4, 5),
    ];
    for directed in [false, true] {
        let builder = if directed {
            GraphBuilder::directed(7)
        } else {
            GraphBuilder::undirected(7)
        };
        let graph = builder.edges(edges.clone()).build().expect("in range");
        let x = Degree::default()
            .embed(&graph, 1, &Silent)
            .expect("no reason to fail");
        let near = |i: usize, j: usize, value: f64| {
            assert!((f64::from(x.row(i)[j]) - value).abs() < 1e-6, "{i} {j}");
        };
        near(3, 0, 5f64.ln());
        near(3, 1, 4f64.ln());
        near(3, 2, 0.5);
        for (node, core) in [(0, 3.0), (3, 3.0), (4, 1.0), (5, 1.0), (6, 0.0)] {
            near(node, 3, f64::ln_1p(core));
        }
        near(4, 4, (5f64.ln() + 2f64.ln()) / 2.0);
        near(4, 5, 5f64.ln());
        near(4, 6, 4f64.ln() / 2.0);
        near(4, 7, 6f64.ln());
        assert!(x.row(6).iter().all(|&v| v == 0.0));
        let log_degree = Degree { columns: 1 }.embed(&graph, 1, &Silent);
        let log_degree = log_degree.expect("in range");
        assert_eq!((log_degree.cols(), log_degree.row(3)[0]), (1, x.row(3)[0]));
    }
}

#[test]
fn scores_of_pairs_on_a_small_graph() {
    // 0-1, 0-2, 1-2, 1-3, 2-3; 4 alone.
    let edges = vec![(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)];
    let graph = GraphBuilder::undirected(5)
        .edges(edges)
        .build()
        .expect("in range");
    let pairs = [(0, 3), (0, 4), (3, 0)];
    let score = |h: Heuristic| h.scores(&graph, &pairs).expect("no reason to fail");
    assert_eq!(score(Heuristic::CommonNeighbors), [2.0, 0.0, 2.0]);
    assert_eq!(score(Heuristic::PreferentialAttachment), [4.0, 0.0, 4.0]);
    assert_eq!(score(Heuristic::Jaccard), [1.0, 0.0, 1.0]);
    assert!((score(Heuristic::AdamicAdar)[0] - 2.0 / 3f64.ln()).abs() < 1e-12);
    assert!((score(Heuristic::LogDegree)[0] - 2.0 * 3f64.ln()).abs() < 1e-12);
    let ties = Heuristic::LogDegree
        .scores(&graph, &[(0, 1), (1, 0), (3, 2)])
        .expect("no reason to fail");
    assert!(ties[0] == ties[1] && ties[1] == ties[2], "{ties:?}");
    // Walks from 0 to 3: none of length 1, two of 2, two of 3 (0-1-2-3, 0-2-1-3), ten of 4.
    let katz = score(Heuristic::Katz);
    assert!((katz[0] - (2e-4 + 2e-6 + 10e-8)).abs() < 1e-12, "{katz:?}");
    assert_eq!((katz[0], katz[1]), (katz[2], 0.0));
}

/// All directions of a small graph give the proximity itself back: sums of powers, entry by entry.
#[test]
fn halves_of_hope_multiply_to_the_truncated_katz_proximity() {
    let edges = vec![(0, 1), (1, 2), (2, 3), (0, 2), (3, 1), (4, 0)];
    let n = 5;
    let graph = GraphBuilder::directed(n)
        .edges(edges.clone())
        .build()
        .expect("a graph");
    let options = Hope {
        dim: 10,
        steps: 3,
        decay: 0.5,
    };
    let z = options.embed(&graph, 1, &Silent).expect("vectors");
    let mut power = vec![vec![0f64; n]; n];
    (0..n).for_each(|i| power[i][i] = 1.0);
    let mut walks = Vec::new();
    for _ in 0..3 {
        let mut next = vec![vec![0f64; n]; n];
        for &(u, v) in &edges {
            (0..n).for_each(|i| next[i][v as usize] += power[i][u as usize]);
        }
        power = next;
        walks.push(power.clone());
    }
    let product = |i: usize, j: usize| {
        (0..5)
            .map(|k| f64::from(z.get(i, k) * z.get(j, 5 + k)))
            .sum::<f64>()
    };
    // β follows from an entry that walks of one step alone reach: 4 → 0.
    let beta = 3.0 * product(4, 0);
    assert!(beta > 0.1 && beta < 0.5, "{beta}");
    for i in 0..n {
        for j in 0..n {
            let expected: f64 = (0..3)
                .map(|l| beta.powi(l as i32 + 1) * walks[l][i][j])
                .sum::<f64>()
                / 3.0;
            assert!(
                (product(i, j) - expected).abs() < 1e-4,
                "{i} → {j}: {} and {expected}",
                product(i, j)
            );
        }
    }
}
/// A common factor of all weights changes nothing, not one bit where it is a power of two; steps whose powers would
/// leave the range of f32 do not vanish.
#[test]
fn a_common_factor_changes_nothing_of_hope() {
    let edges: Vec<(u32, u32)> = (1..200u32)
        .flat_map(|i| [(i, i / 2), (i, i * i % 199), (i / 3, i)])
        .collect();
    let vectors = |factor: f64, options: &Hope| {
        let weights = (0..edges.len())
            .map(|i| (factor * (1.0 + (i % 5) as f64)) as f32)
            .collect();
        let graph = GraphBuilder::directed(200)
            .edges(edges.clone())
            .weights(weights)
            .build()
            .expect("a graph");
        options.embed(&graph, 1, &Silent).expect("vectors")
    };
    for steps in [4, 16] {
        let options = Hope {
            dim: 9,
            steps,
            decay: 0.5,
        };
        let plain = vectors(1.0, &options);
        let size = |z: &Block| z.as_slice().iter().map(|v| f64::from(v * v)).sum::<f64>();
        assert!(size(&plain) > 1e-3, "{}", size(&plain));
        assert!(
            (0..200).all(|i| plain.get(i, 4) == 0.0),
            "the column in the middle"
        );
        for factor in [2f64.powi(100), 2f64.powi(-100)] {
            assert_eq!(vectors(factor, &options), plain, "{factor}");
        }
        let other = vectors(1e8, &options);
        let apart = plain
            .as_slice()
            .iter()
            .zip(other.as_slice())
            .map(|(a, b)| f64::from(a - b).powi(2))
            .sum::<f64>();
        assert!(apart < 1e-4 * size(&plain), "{apart}");
    }
}

/// exp(−sL) by Taylor's series of (−sL / 2¹⁰), squared ten times.
fn heat_kernel(graph: &Graph, s: f64) -> Vec<Vec<f64>> {
    let n = graph.nodes();
    let times = |a: &Vec<Vec<f64>>, b: &Vec<Vec<f64>>| -> Vec<Vec<f64>> {
        (0..n)
            .map(|i| {
                (0..n)
                    .map(|j| (0..n).map(|k| a[i][k] * b[k][j]).sum())
                    .collect()
            })
            .collect()
    };
    let degree = |i: usize| graph.degree(i as u32) as f64;
    let entry = |i: usize, j: usize| {
        let edge = graph.neighbors(i as u32).contains(&(j as u32));
        let own = if i == j && degree(i) > 0.0 { 1.0 } else { 0.0 };
        let shared = if edge {
            1.0 / (degree(i) * degree(j)).sqrt()
        } else {
            0.0
        };
        -s / 1024.0 * (own - shared)
    };
    let small: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect();
    let mut sum: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let mut term = sum.clone();
    for k in 1..10 {
        term = times(&term, &small);
        term.iter_mut().flatten().for_each(|x| *x /= f64::from(k));
        sum.iter_mut()
            .flatten()
            .zip(term.iter().flatten())
            .for_each(|(s, t)| *s += t);
    }
    (0..10).for_each(|_| sum = times(&sum, &sum));
    sum
}

#[test]
fn vectors_of_graphwave_are_characteristic_functions_of_the_heat_kernel() {
    let graph = builtin("karate").expect("built in");
    let options = GraphWave {
        points: 4,
        longest: 30.0,
        ..GraphWave::default()
    };
    let found = options.embed(&graph, 1, &Silent).expect("small");
    let n = graph.nodes();
    for (k, s) in [-(0.95f64.ln()), -(0.80f64.ln())]
        .map(|left| left * (n as f64 / 2.0).sqrt())
        .into_iter()
        .enumerate()
    {
        let kernel = heat_kernel(&graph, s);
        for a in [0, 7, 33] {
            for (p, t) in [0.0, 10.0, 20.0, 30.0].into_iter().enumerate() {
                let column: Vec<f64> = (0..n).map(|i| kernel[i][a]).collect();
                let real = column.iter().map(|x| (t * x).cos()).sum::<f64>() / n as f64;
                let imaginary = column.iter().map(|x| (t * x).sin()).sum::<f64>() / n as f64;
                let at = 2 * (k * 4 + p);
                let ours = [found.get(a, at), found.get(a, at + 1)].map(f64::from);
                assert!(
                    (ours[0] - real).abs() < 1e-5 && (ours[1] - imaginary).abs() < 1e-5,
                    "{a} {s} {t}"
                );
            }
        }
    }
}

#[test]
fn nodes_that_a_symmetry_exchanges_are_equal_and_isolated_ones_are_values() {
    // A path of five nodes and one alone.
    let graph = GraphBuilder::undirected(6)
        .edges(vec![(0, 1), (1, 2), (2, 3), (3, 4)])
        .build()
        .expect("in range");
    let found = GraphWave::default()
        .embed(&graph, 1, &Silent)
        .expect("small");
    for (a, b) in [(0, 4), (1, 3)] {
        assert!(
            found
                .row(a)
                .iter()
                .zip(found.row(b))
                .all(|(x, y)| (x - y).abs() < 1e-6)
        );
    }
    assert!(
        found
            .row(0)
            .iter()
            .zip(found.row(2))
            .any(|(x, y)| (x - y).abs() > 1e-3)
    );
    assert!(found.as_slice().iter().all(|x| x.is_finite()));
}

type Dense = Vec<Vec<f64>>;

fn times(a: &Dense, b: &Dense) -> Dense {
    let entry = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, other)| x * other[j]).sum();
    a.iter()
        .map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect())
        .collect()
}

fn transposed(a: &Dense) -> Dense {
    (0..a[0].len())
        .map(|j| a.iter().map(|row| row[j]).collect())
        .collect()
}

fn adjacency(graph: &Graph) -> Dense {
    let n = graph.nodes();
    let entry =
        |i: usize, j: usize| f64::from(u8::from(graph.neighbors(i as u32).contains(&(j as u32))));
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}

/// ProNE by its definition in dense matrices: U √Σ of the logarithms with rows of length one, the exponential by Taylor's series, and
/// U √Σ of what passes the filter, compared by products of rows, which no rotation changes.
#[test]
fn prone_filters_the_factors_of_logarithms() {
    let graph = builtin("karate").expect("built in");
    let (n, a) = (graph.nodes(), adjacency(&graph));
    let matrix = |entry: &dyn Fn(usize, usize) -> f64| -> Dense {
        (0..n)
            .map(|i| (0..n).map(|j| entry(i, j)).collect())
            .collect()
    };
    // U Σ Uᵀ of X is the root of X Xᵀ; rows of length one make its diagonal one.
    let factored = |x: &Dense| {
        let root = square_root(&times(x, &transposed(x)));
        matrix(&|i, j| root[i][j] / (root[i][i] * root[j][j]).sqrt())
    };
    let degree: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
    let often = |j: usize| (0..n).map(|i| a[i][j] / degree[i]).sum::<f64>().powf(0.75);
    let total: f64 = (0..n).map(often).sum();
    let gram = factored(&matrix(&|i, j| match a[i][j] > 0.0 {
        true => (1.0 / degree[i]).ln() - (often(j) / total).ln(),
        false => 0.0,
    }));
    let options = ProNe {
        dim: n,
        order: 20,
        ..ProNe::default()
    };
    let identity = |i: usize, j: usize| f64::from(u8::from(i == j));
    let with_loops = matrix(&|i, j| a[i][j] + identity(i, j));
    let shifted =
        matrix(&|i, j| identity(i, j) * (1.0 - options.mu) - with_loops[i][j] / (degree[i] + 1.0));
    let square = times(&shifted, &shifted);
    let exponent = matrix(&|i, j| -options.theta * (0.5 * square[i][j] - identity(i, j)));
    let (mut term, mut sum) = (matrix(&identity), matrix(&identity));
    for k in 1..60 {
        term = times(&exponent, &term);
        term.iter_mut().flatten().for_each(|x| *x /= f64::from(k));
        let both = sum.iter_mut().flatten().zip(term.iter().flatten());
        both.for_each(|(s, t)| *s += t);
    }
    let rest = matrix(&|i, j| identity(i, j) - sum[i][j]);
    let passed = times(&with_loops, &rest);
    let root = square_root(&times(&times(&passed, &gram), &transposed(&passed)));
    let found = options.embed(&graph, 1, &Silent).expect("small");
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let expected = root[i][j] / (root[i][i] * root[j][j]).sqrt();
        let rows = found.row(i).iter().zip(found.row(j));
        let ours: f64 = rows.map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
        assert!(
            (ours - expected).abs() < 0.02,
            "({i}, {j}): {ours} not {expected}"
        );
    }
}

/// The root of a symmetric matrix without negative eigenvalues.
fn square_root(a: &Dense) -> Dense {
    let n = a.len();
    let matrix = Mat::from_fn(n, n, |i, j| a[i][j]);
    let (values, vectors) = symmetric_eigen(matrix.as_ref()).expect("small");
    let roots: Vec<f64> = values.iter().map(|value| value.max(0.0).sqrt()).collect();
    let entry = |i: usize, j: usize| {
        let term = |k: usize| vectors[(i, k)] * roots[k] * vectors[(j, k)];
        (0..n).map(term).sum::<f64>()
    };
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}

/// Two groups without an edge between them: vectors of a group end up alike, by either proximity.
#[test]
fn line_tells_groups_apart() {
    let within =
        |first: u32| (first..first + 20).flat_map(move |u| (first..u).map(move |v| (v, u)));
    let edges = within(0).chain(within(20)).collect();
    let graph = GraphBuilder::undirected(40).edges(edges).build();
    let graph = graph.expect("in range");
    for order in [Order::First, Order::Second] {
        let options = Line {
            dim: 8,
            order,
            samples: Some(100_000),
            negatives: 3,
            learning_rate: 0.1,
        };
        let z = options.embed(&graph, 5, &Silent).expect("not cancelled");
        let product = |i: usize, j: usize| {
            let both = z.row(i).iter().zip(z.row(j));
            both.map(|(x, y)| x * y).sum::<f32>()
        };
        let cosine = |i: usize, j: usize| product(i, j) / (product(i, i) * product(j, j)).sqrt();
        let mean =
            |mate: fn(usize) -> usize| (0..40).map(|i| cosine(i, mate(i))).sum::<f32>() / 40.0;
        let own = mean(|i| i / 20 * 20 + (i + 1) % 20);
        let other = mean(|i| (i + 20) % 40);
        assert!(own > 0.5 && other < 0.3, "{order:?}: {own} {other}");
    }
}

/// The leaves of a star have the same roles, its centre others.
#[test]
fn roles_of_rolx_are_shared_by_symmetric_nodes() {
    let star = GraphBuilder::undirected(8).edges((1..7).map(|i| (0, i)).collect());
    let star = star.build().expect("in range");
    for values in [Values::Bins, Values::Logs] {
        let options = RolX {
            values,
            ..RolX::default()
        };
        let roles = options.embed(&star, 1, &Silent).expect("small");
        for leaf in 2..7 {
            let mut both = roles.row(leaf).iter().zip(roles.row(1));
            assert!(both.all(|(x, y)| (x - y).abs() < 1e-5), "{leaf}");
        }
        assert_ne!(roles.row(0), roles.row(1));
        assert!(roles.as_slice().iter().all(|&x| x >= 0.0));
    }
}

/// M by its definition, entry by entry: probabilities of walks, summed over all of them.
fn by_walks(graph: &Graph, window: usize, negatives: f64) -> Vec<Vec<f64>> {
    let n = graph.nodes();
    let volume: f64 = (0..n as u32).map(|i| graph.degree(i) as f64).sum();
    let row = |start: usize| {
        let mut now = vec![0.0; n];
        now[start] = 1.0;
        let mut seen = vec![0.0; n];
        for _ in 0..window {
            let mut next = vec![0.0; n];
            for (i, share) in now.iter().enumerate() {
                let around = graph.neighbors(i as u32);
                let share = share / around.len() as f64;
                around.iter().for_each(|&j| next[j as usize] += share);
            }
            seen.iter_mut().zip(&next).for_each(|(s, p)| *s += p);
            now = next;
        }
        let entry = |(j, p): (usize, f64)| {
            volume * p / (negatives * window as f64 * graph.degree(j as u32) as f64)
        };
        seen.into_iter().enumerate().map(entry).collect()
    };
    (0..n).map(row).collect()
}

#[test]
fn products_of_vectors_repeat_the_logarithm_of_the_window_matrix() {
    let graph = builtin("karate").expect("built in");
    let n = graph.nodes();
    let options = NetMf {
        window: 4,
        negatives: 2,
        dim: n,
        ..NetMf::default()
    };
    let vectors = options.embed(&graph, 1, &Silent).expect("fits");
    let mut logs = by_walks(&graph, 4, 2.0);
    logs.iter_mut().flatten().for_each(|m| *m = m.max(1.0).ln());
    // Squared lengths of the columns of U √Σ are Σ: with weights Σ, products of rows are those of the rows of X.
    let value = |i: usize, k: usize| f64::from(vectors.get(i, k));
    let sigma = |k: usize| (0..n).map(|i| value(i, k).powi(2)).sum::<f64>();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let ours: f64 = (0..n).map(|k| value(i, k) * value(j, k) * sigma(k)).sum();
        let exact: f64 = logs[i].iter().zip(&logs[j]).map(|(a, b)| a * b).sum();
        assert!((ours - exact).abs() < 1e-3, "({i}, {j}): {ours} {exact}");
    }
}

/// The approximation with all eigenpairs leaves out what is negative of the window, and nothing else: it is exact where the
/// window has no negative eigenvalue, as of bipartite cliques, whose walks have the eigenvalues −1, 0 and 1.
#[test]
fn the_approximation_lacks_what_is_negative() {
    let clique = |first: u32| (0..3).flat_map(move |u| (3..8).map(move |v| (first + u, first + v)));
    let edges = clique(0).chain(clique(8)).collect();
    let bipartite = GraphBuilder::undirected(16).edges(edges).build();
    let bipartite = bipartite.expect("in range");
    let karate = builtin("karate").expect("built in");
    for (graph, is_exact) in [(bipartite, true), (karate, false)] {
        let n = graph.nodes();
        let products = |exact| {
            let options = NetMf {
                window: 4,
                rank: n,
                dim: n,
                exact,
                ..NetMf::default()
            };
            let z = options.embed(&graph, 1, &Silent).expect("fits");
            let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            let product = |(i, j)| z.row(i).iter().zip(z.row(j)).map(|(x, y)| x * y).sum();
            pairs.map(product).collect::<Vec<f32>>()
        };
        let (exact, found) = (products(n), products(0));
        let gaps = exact.iter().zip(found).map(|(a, b)| (a - b).abs());
        let (gap, most) = (
            gaps.fold(0.0, f32::max),
            exact.iter().copied().fold(0.0, f32::max),
        );
        assert!(most > 0.1 && (gap < 1e-3) == is_exact, "{gap} of {most}");
    }
}

/// After one step a vector is the unit mean of the random vectors of the neighbours, which the leaves of a star show; further steps
/// are powers of D⁻¹A, here as dense products.
#[test]
fn fastrp_is_a_sum_of_powers_of_transition_probabilities() {
    let n = 40usize;
    let star = GraphBuilder::undirected(n).edges((1..n as u32).map(|i| (0, i)).collect());
    let star = star.build().expect("in range");
    let embed = |graph: &Graph, steps, degree_power| {
        let options = FastRp {
            dim: 64,
            steps,
            degree_power,
        };
        options.embed(graph, 5, &Silent).expect("in range")
    };
    let centre = embed(&star, 1, 0.0);
    assert!(
        (2..n).all(|i| centre.row(i) == centre.row(1)),
        "leaves have one neighbour"
    );
    let size = centre.row(1).iter().fold(0f32, |most, x| most.max(x.abs()));
    let plain = |x: &f32| *x == 0.0 || (x.abs() - size).abs() < 1e-6;
    let zeros = centre.row(1).iter().filter(|x| **x == 0.0).count();
    assert!(
        centre.row(1).iter().all(plain) && (30..56).contains(&zeros),
        "{zeros} of 64"
    );

    let karate = builtin("karate").expect("there");
    let n = karate.nodes();
    for (steps, degree_power) in [(2, 0.0), (3, 0.0), (4, -0.5)] {
        let found = embed(&karate, steps, degree_power);
        // The random vector of a node is what a pendant node beside it has after one step.
        let random: Vec<Vec<f64>> = (0..n as u32)
            .map(|u| {
                let edges =
                    (0..n as u32).flat_map(|v| karate.neighbors(v).iter().map(move |&w| (v, w)));
                let edges = edges
                    .filter(|(v, w)| v < w)
                    .chain([(u, n as u32)])
                    .collect();
                let more = GraphBuilder::undirected(n + 1)
                    .edges(edges)
                    .build()
                    .expect("in range");
                embed(&more, 1, 0.0)
                    .row(n)
                    .iter()
                    .map(|&x| f64::from(x))
                    .collect()
            })
            .collect();
        let degree = |i: usize| karate.degree(i as u32) as f64;
        // Its entries have one size, which a factor of all vectors may change.
        let mut now: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let factor = degree(i).powf(degree_power);
                random[i]
                    .iter()
                    .map(|x| if *x == 0.0 { 0.0 } else { x.signum() * factor })
                    .collect()
            })
            .collect();
        let mut sum = vec![vec![0.0; 64]; n];
        for step in 1..=steps {
            now = (0..n)
                .map(|i| {
                    (0..64)
                        .map(|k| {
                            karate
                                .neighbors(i as u32)
                                .iter()
                                .map(|&j| now[j as usize][k])
                                .sum::<f64>()
                                / degree(i)
                        })
                        .collect()
                })
                .collect();
            for i in (0..n).filter(|_| step > 1) {
                let length = now[i].iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
                (0..64).for_each(|k| sum[i][k] += now[i][k] / length);
            }
        }
        for i in 0..n {
            assert!(
                (0..64).all(|k| (sum[i][k] - f64::from(found.get(i, k))).abs() < 1e-5),
                "{steps} steps, node {i}"
            );
        }
    }
}

/// The eigenvalues of D^-½ A D^-½ of a path of n nodes are cos(π k / (n − 1)), few nodes or many; vectors are orthonormal.
#[test]
fn spectral_vectors_of_a_path_have_the_known_spectrum() {
    for n in [30usize, 900] {
        let edges: Vec<(u32, u32)> = (1..n as u32).map(|i| (i - 1, i)).collect();
        let path = GraphBuilder::undirected(n).edges(edges).build();
        let path = path.expect("in range");
        let options = Spectral {
            dim: 8,
            ..Spectral::default()
        };
        let found = options.embed(&path, 1, &Silent).expect("solvable");
        let value = |i: usize, k: usize| f64::from(found.get(i, k));
        let root = |i: usize| (path.degree(i as u32) as f64).sqrt();
        for k in 0..8 {
            let edge = |i: usize| 2.0 * value(i - 1, k) * value(i, k) / (root(i - 1) * root(i));
            let (form, exact) = (
                (1..n).map(edge).sum::<f64>(),
                (std::f64::consts::PI * k as f64 / (n as f64 - 1.0)).cos(),
            );
            assert!((form - exact).abs() < 5e-6, "{n}: {form} not {exact}");
            for j in 0..=k {
                let product: f64 = (0..n).map(|i| value(i, j) * value(i, k)).sum();
                assert!((product - f64::from(u8::from(j == k))).abs() < 1e-5);
            }
        }
    }
}

/// 500 disjoint edges: eigenvalue 1 five hundred times. Vectors are equal at both ends of an edge, and orthonormal.
#[test]
fn multiple_eigenvalues_are_found_as_they_are() {
    let edges = (0..500).map(|i| (2 * i, 2 * i + 1)).collect();
    let graph = GraphBuilder::undirected(1000).edges(edges).build();
    let options = Spectral {
        dim: 20,
        ..Spectral::default()
    };
    let found = options.embed(&graph.expect("in range"), 1, &Silent);
    let found = found.expect("solvable");
    for j in 0..20 {
        assert!((0..500).all(|i| (found.get(2 * i, j) - found.get(2 * i + 1, j)).abs() < 1e-5));
        for k in 0..=j {
            let product = (0..1000).map(|i| f64::from(found.get(i, j) * found.get(i, k)));
            let expected = f64::from(u8::from(j == k));
            assert!((product.sum::<f64>() - expected).abs() < 1e-4, "{j} {k}");
        }
    }
}
