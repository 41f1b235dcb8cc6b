//! Estimates: exact below the cap, unbiased above it, as close as they say, the same for any threads.

use hone_graph::Silent;
use hone_graph::motif::{Counts, Motif, Orbit, Sample, Weighting, count};
use hone_graph::{Generator, Graph};
use proptest::prelude::*;

use super::oracle::{directed, random_edges, rng, undirected};

/// t, P, C, K, Q, R of every slot, from the definitions.
fn primitives(graph: &Graph) -> Vec<[f64; 6]> {
    let n = graph.nodes();
    let mut a = vec![vec![0u64; n]; n];
    for u in 0..n {
        graph
            .pattern()
            .row(u)
            .iter()
            .for_each(|&v| a[u][v as usize] = 1);
    }
    let degree = |u: usize| a[u].iter().sum::<u64>();
    let common = |u: usize, v: usize| {
        (0..n)
            .filter(|&w| a[u][w] * a[v][w] == 1)
            .collect::<Vec<_>>()
    };
    let t = |u: usize, v: usize| common(u, v).len() as u64;
    let mut all = Vec::new();
    for u in 0..n {
        for v in graph.pattern().row(u).iter().map(|&v| v as usize) {
            let shared = common(u, v);
            let cycles: u64 = (0..n)
                .filter(|&w| w != u && a[v][w] == 1)
                .map(|w| {
                    (0..n)
                        .filter(|&x| x != v && x != w && a[w][x] * a[x][u] == 1)
                        .count() as u64
                })
                .sum();
            let pairs: u64 = shared
                .iter()
                .flat_map(|&w| shared.iter().map(move |&x| (w, x)))
                .map(|(w, x)| a[w][x])
                .sum();
            let q: u64 = shared.iter().map(|&w| degree(w)).sum();
            let r: u64 = shared.iter().map(|&w| t(u, w) + t(v, w)).sum();
            let t = shared.len() as u64;
            all.push([t, t * t.saturating_sub(1) / 2, cycles, pairs / 2, q, r].map(|x| x as f64));
        }
    }
    all
}

fn estimated(counts: &Counts) -> Vec<[f64; 6]> {
    let slots = counts.estimates().expect("estimates").iter();
    slots.map(|slot| slot.map(f64::from)).collect()
}

/// Two hubs, a dense core and a sparse fringe.
fn hubs() -> Graph {
    let mut edges = random_edges(&mut rng(5), 40, 0.12);
    edges.extend((1..40).map(|v| (0, v)));
    edges.extend((2..40).step_by(2).map(|v| (1, v)));
    edges.extend((2..14).flat_map(|u| {
        (u + 1..14)
            .filter(move |v| (u + v) % 3 != 0)
            .map(move |v| (u, v))
    }));
    undirected(40, &edges)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn are_exact_when_no_node_has_more_neighbours_than_the_cap(seed in 0u64..1000, n in 0usize..30, density in 0.0..0.9) {
        let edges = random_edges(&mut rng(seed), n, density);
        for graph in [undirected(n, &edges), directed(n, &edges)] {
            let exact = count(&graph, &Silent).expect("counts");
            for cap in [30, 64, 65, 200] {
                let estimate = Sample::Cap(cap).count(&graph, seed, &Silent).expect("estimates");
                for i in 0..n as u32 {
                    prop_assert_eq!(exact.row(i).collect::<Vec<_>>(), estimate.row(i).collect::<Vec<_>>());
                }
                prop_assert_eq!(exact.totals(), estimate.totals());
                prop_assert_eq!(exact.node_orbits().expect("small"), estimate.node_orbits().expect("small"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    /// Samples of more than 64 members take more than one word of bits.
    #[test]
    fn are_exact_for_large_samples_too(seed in 0u64..1000, n in 130usize..210, density in 0.3..0.95) {
        let graph = undirected(n, &random_edges(&mut rng(seed), n, density));
        let exact = count(&graph, &Silent).expect("counts");
        let largest = (0..n as u32).map(|i| graph.degree(i)).max().unwrap_or(0);
        for cap in [64, 65, 128, 129, 192, 210].into_iter().filter(|&cap| cap >= largest) {
            let estimate = Sample::Cap(cap).count(&graph, seed, &Silent).expect("estimates");
            for i in 0..n as u32 {
                prop_assert_eq!(exact.row(i).collect::<Vec<_>>(), estimate.row(i).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn are_unbiased() {
    let graph = hubs();
    let truth = primitives(&graph);
    for cap in [4, 7, 12] {
        let rounds = 3000;
        let mut sums = vec![[[0.0f64; 2]; 6]; truth.len()];
        for seed in 0..rounds {
            let counts = Sample::Cap(cap)
                .count(&graph, seed, &Silent)
                .expect("estimates");
            for (sum, found) in sums.iter_mut().zip(estimated(&counts)) {
                for (sum, x) in sum.iter_mut().zip(found) {
                    sum[0] += x;
                    sum[1] += x * x;
                }
            }
        }
        let (mut squares, mut seen) = (0.0, 0.0);
        for (slot, (sum, truth)) in sums.iter().zip(&truth).enumerate() {
            for (which, ([sum, square], truth)) in sum.iter().zip(truth).enumerate() {
                let mean = sum / rounds as f64;
                let error =
                    ((square / rounds as f64 - mean * mean).max(0.0) / rounds as f64).sqrt();
                if error < 1e-6 * (1.0 + truth) {
                    // Never sampled, or hit in no round: rare hits of rare cliques are judged by the sum below.
                    assert!(
                        (mean - truth).abs() < 1e-3 * (1.0 + truth) || mean == 0.0,
                        "slot {slot} {which}"
                    );
                    continue;
                }
                let z = (mean - truth) / error;
                assert!(
                    z.abs() < 6.5,
                    "cap {cap}, slot {slot}, primitive {which}: mean {mean}, truth {truth}, z {z}"
                );
                squares += z * z;
                seen += 1.0;
            }
        }
        // Were each off by a standard error, the mean square would be 2.
        assert!(
            seen > 500.0 && squares / seen < 1.5,
            "cap {cap}: mean z² {} of {seen}",
            squares / seen
        );
    }
}

#[test]
fn sums_are_unbiased_too() {
    // Sums over all edges are judged more sharply than single edges. Samples of 80 take two words of bits.
    let dense = undirected(120, &random_edges(&mut rng(9), 120, 0.85));
    for (graph, cap, rounds) in [(hubs(), 6, 4000), (dense, 80, 60)] {
        check_sums(&graph, cap, rounds);
    }
}

fn check_sums(graph: &Graph, cap: usize, rounds: u64) {
    let truth = primitives(graph);
    let total = |all: &[[f64; 6]], which: usize| all.iter().map(|x| x[which]).sum::<f64>();
    let found: Vec<_> = (0..rounds)
        .map(|seed| {
            let all = estimated(
                &Sample::Cap(cap)
                    .count(graph, 77 + seed, &Silent)
                    .expect("estimates"),
            );
            [0, 1, 2, 3, 4, 5].map(|which| total(&all, which))
        })
        .collect();
    for which in 0..6 {
        let sums: Vec<f64> = found.iter().map(|sums| sums[which]).collect();
        let mean = sums.iter().sum::<f64>() / rounds as f64;
        let variance = sums.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / rounds as f64;
        let (truth, error) = (total(&truth, which), (variance / rounds as f64).sqrt());
        assert!(
            (mean - truth).abs() < 4.5 * error,
            "primitive {which}: mean {mean} ± {error}, truth {truth}"
        );
        assert!(
            error < 0.02 * truth,
            "primitive {which}: a bias of 10 % would be seen"
        );
    }
}

/// Row sums of all motif graphs.
fn degrees(graph: &Graph, counts: &Counts) -> Vec<Vec<f64>> {
    let weights = |orbit| {
        let w = counts
            .motif_graph(graph, Motif::Orbit(orbit), Weighting::default())
            .expect("weights");
        let mut sums = vec![0.0; graph.nodes()];
        for row in 0..w.matrix.rows() {
            let node = w.nodes.as_ref().map_or(row, |nodes| nodes[row] as usize);
            sums[node] = w
                .matrix
                .row(row)
                .1
                .iter()
                .map(|&x| f64::from(x))
                .sum::<f64>();
        }
        sums
    };
    Orbit::ALL.iter().map(|&orbit| weights(orbit)).collect()
}

#[test]
fn motif_degrees_keep_the_error_asked_for() {
    let graph = Generator::Rmat {
        nodes: 1 << 10,
        degree: 24.0,
        quadrants: [0.57, 0.19, 0.19, 0.05],
    };
    let graph = graph.graph(3, &Silent).expect("a graph");
    let exact = degrees(&graph, &count(&graph, &Silent).expect("counts"));
    let (error, confidence) = (0.1, 0.8);
    let (mut shares, mut caps) = (vec![0.0; Orbit::COUNT], Vec::new());
    let rounds = 12;
    for seed in 0..rounds {
        let counts = Sample::Target { error, confidence }
            .count(&graph, seed, &Silent)
            .expect("estimates");
        let sampled = counts
            .sampled()
            .expect("the graph has larger hubs than the cap")
            .clone();
        assert!(
            sampled.within.iter().all(|&share| share >= confidence),
            "{sampled:?}"
        );
        caps.push(sampled.cap);
        for ((share, exact), found) in shares.iter_mut().zip(&exact).zip(degrees(&graph, &counts)) {
            let with: Vec<_> = exact
                .iter()
                .zip(found)
                .filter(|(exact, _)| **exact > 0.0)
                .collect();
            let close = with
                .iter()
                .filter(|(exact, found)| (found - **exact).abs() <= error * **exact)
                .count();
            *share += close as f64 / with.len().max(1) as f64 / rounds as f64;
        }
    }
    assert!(
        caps.iter().all(|&cap| cap < 512),
        "{caps:?}: nothing was sampled"
    );
    for (orbit, share) in Orbit::ALL.iter().zip(&shares) {
        assert!(
            *share >= confidence - 0.05,
            "{}: {share} of the motif degrees within {error}",
            orbit.name()
        );
    }
}

/// A clique of 70 nodes, but for a perfect matching.
fn nearly_a_clique() -> Graph {
    let edges = (0..70u32).flat_map(|u| {
        (u + 1..70)
            .filter(move |v| u / 2 != v / 2)
            .map(move |v| (u, v))
    });
    undirected(70, &edges.collect::<Vec<_>>())
}

#[test]
fn totals_are_unbiased() {
    // In the dense graph counts of single edges are cut off at zero by the hundred.
    let dense = undirected(60, &random_edges(&mut rng(9), 60, 0.8));
    for (graph, cap) in [(hubs(), 6), (dense, 12)] {
        let truth = count(&graph, &Silent).expect("counts").totals();
        let rounds = 1500;
        let (mut sums, mut squares) = ([0.0; Orbit::COUNT], [0.0; Orbit::COUNT]);
        for seed in 0..rounds {
            let totals = Sample::Cap(cap)
                .count(&graph, seed, &Silent)
                .expect("estimates")
                .totals();
            for (orbit, &total) in totals.orbits.iter().enumerate() {
                sums[orbit] += total as f64;
                squares[orbit] += (total as f64).powi(2);
            }
        }
        for (orbit, &truth) in Orbit::ALL
            .iter()
            .zip(&truth.orbits)
            .filter(|(_, truth)| **truth > 0)
        {
            let mean = sums[orbit.index()] / rounds as f64;
            let variance = squares[orbit.index()] / rounds as f64 - mean * mean;
            // Rounding to whole numbers is no bias.
            let error = (variance.max(0.0) / rounds as f64).sqrt() + 0.5;
            assert!(
                (mean - truth as f64).abs() < 4.5 * error,
                "{orbit}: mean {mean} ± {error}, truth {truth}"
            );
            assert!(
                error < 0.05 * truth as f64,
                "{orbit}: a bias of a quarter would be seen"
            );
        }
    }
}

#[test]
fn edges_have_no_more_than_they_can() {
    let graph = nearly_a_clique();
    let counts = Sample::Cap(8).count(&graph, 3, &Silent).expect("estimates");
    let slots = counts.estimates().expect("estimates");
    let mut complete = 0;
    for u in 0..70 {
        let row = counts.pattern().range(u as usize);
        for ((v, found), slot) in counts.row(u).zip(row) {
            let [x, y] = [u, v].map(|node| graph.degree(node) as f64 - 1.0);
            let t = f64::from(slots[slot][0]).min(x.min(y));
            let (a, b) = (x - t, y - t);
            let pairs = |n: f64| (n * (n - 1.0) / 2.0).max(0.0);
            let most = [
                ([Orbit::Path4Mid, Orbit::Cycle4], a * b),
                ([Orbit::Star4, Orbit::TailedTail], pairs(a) + pairs(b)),
                ([Orbit::TailedNear, Orbit::DiamondRim], t * (a + b)),
                ([Orbit::DiamondChord, Orbit::Clique4], pairs(t)),
                ([Orbit::Path4End, Orbit::Path3], 70.0 * (a + b)),
            ];
            for (orbits, most) in most {
                for orbit in orbits {
                    assert!(
                        found[orbit.index()] as f64 <= most + 0.5,
                        "{u} {v} {orbit}: {found:?}"
                    );
                }
            }
            complete += usize::from(a == 0.0 && b == 0.0);
        }
    }
    assert!(complete > 100, "in {complete} cases the bounds are zero");
}

#[test]
fn stars_and_trees_are_exact_at_any_cap() {
    // No triangles nor cycles: nothing to sample, and no end that could have fewer than no further neighbours.
    let star: Vec<_> = (1..50u32).map(|leaf| (0, leaf)).collect();
    let caterpillar: Vec<_> = (1..60u32)
        .map(|v| (if v < 30 { v - 1 } else { v % 7 }, v))
        .collect();
    for (n, edges) in [(50, star), (60, caterpillar), (2, vec![(0, 1)])] {
        let graph = undirected(n, &edges);
        let (exact, estimate) = (
            count(&graph, &Silent).expect("counts"),
            Sample::Cap(4).count(&graph, 1, &Silent),
        );
        let estimate = estimate.expect("estimates");
        for i in 0..n as u32 {
            assert_eq!(
                exact.row(i).collect::<Vec<_>>(),
                estimate.row(i).collect::<Vec<_>>()
            );
        }
        assert_eq!(exact.totals(), estimate.totals());
        assert_eq!(
            exact.node_orbits().expect("small"),
            estimate.node_orbits().expect("small")
        );
    }
}

/// Halves and thirds of sums over edges are not cut off: the mean over many seeds is the exact count.
#[test]
fn node_orbits_are_unbiased() {
    let model = Generator::Ba {
        nodes: 120,
        degree: 16.0,
    };
    let graph = model.graph(1, &Silent).expect("a graph");
    let exact = count(&graph, &Silent).expect("counts");
    let truth = exact.node_orbits().expect("small");
    let rounds = 400;
    // Of each node and orbit: the sum, the sum of squares, and the least estimate.
    let mut sums = vec![[[0.0f64, 0.0, f64::INFINITY]; 15]; truth.len()];
    for seed in 0..rounds {
        let counts = Sample::Cap(16)
            .count(&graph, seed, &Silent)
            .expect("estimates");
        let found = counts.node_orbits().expect("small");
        for (sums, found) in sums.iter_mut().flatten().zip(found.iter().flatten()) {
            let found = *found as f64;
            *sums = [sums[0] + found, sums[1] + found * found, sums[2].min(found)];
        }
    }
    let (mut compared, mut squares) = (0, 0.0);
    for (i, (sums, truth)) in sums.iter().zip(&truth).enumerate() {
        for (orbit, (&[sum, square, least], &truth)) in sums.iter().zip(truth).enumerate() {
            let (mean, truth) = (sum / rounds as f64, truth as f64);
            let error = ((square / rounds as f64 - mean * mean).max(0.0) / rounds as f64).sqrt();
            if error == 0.0 {
                assert_eq!(mean, truth, "orbit {orbit} of node {i} never varies");
            } else if least > 0.0 {
                // Negative estimates are set to zero, which does raise the mean.
                let z = (mean - truth) / error;
                assert!(
                    z.abs() < 6.0,
                    "orbit {orbit} of node {i}: {mean}, not {truth} ({z})"
                );
                (compared, squares) = (compared + 1, squares + z * z);
            }
        }
    }
    assert!(compared > 500, "{compared} are compared");
    let square = squares / f64::from(compared);
    assert!(square < 1.5, "the mean square of z is {square}");
}

#[test]
fn a_target_sees_what_holding_hides() {
    // Estimates from few neighbours agree on too many paths, for edges cannot have fewer than none.
    let graph = undirected(70, &random_edges(&mut rng(9), 70, 1.0));
    let exact = degrees(&graph, &count(&graph, &Silent).expect("counts"));
    let share = |sample: Sample, seed: u64| {
        let found = degrees(
            &graph,
            &sample.count(&graph, seed, &Silent).expect("estimates"),
        );
        let close = |(exact, found): (&Vec<f64>, Vec<f64>)| {
            exact
                .iter()
                .zip(found)
                .filter(|(exact, found)| (found - **exact).abs() <= 0.3 * **exact)
                .count()
        };
        exact.iter().zip(found).map(close).min().expect("13 orbits")
    };
    let target = Sample::Target {
        error: 0.3,
        confidence: 0.8,
    };
    for seed in 0..5 {
        assert!(
            share(Sample::Cap(16), seed) < 30,
            "a cap of 16 is far too low"
        );
        assert!(share(target, seed) >= 50);
    }
    // Where few neighbours tell enough, the target does not count exactly.
    let even = undirected(120, &random_edges(&mut rng(9), 120, 0.3));
    assert!(
        target
            .count(&even, 1, &Silent)
            .expect("estimates")
            .sampled()
            .is_some()
    );
}

#[test]
fn depend_on_the_seed_and_not_on_the_threads() {
    // Large enough for many stretches of rows, several parts of the samples and of the sums.
    let graph = Generator::Rmat {
        nodes: 10_000,
        degree: 16.0,
        quadrants: [0.57, 0.19, 0.19, 0.05],
    };
    let graph = graph.graph(3, &Silent).expect("a graph");
    for cap in [5, 100] {
        let run = |seed: u64, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            estimated(
                &pool
                    .install(|| Sample::Cap(cap).count(&graph, seed, &Silent))
                    .expect("estimates"),
            )
        };
        let one = run(1, 1);
        assert!(one == run(1, 2) && one == run(1, 7), "cap {cap}");
        assert!(one != run(2, 1), "cap {cap}");
    }
    let sums = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        let target = Sample::Target {
            error: 0.3,
            confidence: 0.5,
        };
        let counts = pool
            .install(|| target.count(&graph, 1, &Silent))
            .expect("estimates");
        let sampled = counts.sampled().expect("an estimate will do").clone();
        (
            pool.install(|| counts.totals()),
            counts.node_orbits().expect("small"),
            sampled,
        )
    };
    assert!(sums(1) == sums(2) && sums(1) == sums(7));
}

#[test]
fn read_back_as_written_and_refuse_nonsense() {
    for sample in [
        Sample::Exact,
        Sample::Cap(64),
        Sample::Target {
            error: 0.1,
            confidence: 0.9,
        },
    ] {
        assert_eq!(
            sample.to_string().parse::<Sample>().expect("reads back"),
            sample
        );
    }
    let number: Sample = serde_json::from_str("64").expect("a cap");
    assert_eq!(number, Sample::Cap(64));
    assert_eq!("128".parse::<Sample>().expect("a cap"), Sample::Cap(128));
    for wrong in [
        "",
        "cap=0",
        "cap=3",
        "cap=1e9",
        "error=0",
        "error=2",
        "confidence=0.9",
        "error=0.1,confidence=1",
        "most",
    ] {
        let error = wrong.parse::<Sample>().expect_err(wrong).to_string();
        assert!(
            error.contains("sample") && error.contains("cap=64"),
            "{wrong}: {error}"
        );
    }
}

/// Orbit counts of each position of an undirected graph from estimated primitives, by the formulas, whatever they give.
fn raw(graph: &Graph, counts: &Counts) -> Vec<[f64; 13]> {
    let (pattern, slots) = (graph.pattern(), estimated(counts));
    let d = |i: usize| pattern.row(i).len() as f64;
    let s = |i: usize| {
        pattern
            .row(i)
            .iter()
            .map(|&j| d(j as usize) - 1.0)
            .sum::<f64>()
    };
    let triangles = |i: usize| pattern.range(i).map(|at| slots[at][0]).sum::<f64>() / 2.0;
    let mut all = Vec::new();
    for u in 0..graph.nodes() {
        for (&v, at) in pattern.row(u).iter().zip(pattern.range(u)) {
            let (v, [t, p, c, k, q, r]) = (v as usize, slots[at]);
            let (x, y) = (d(u) - 1.0, d(v) - 1.0);
            let rim = r - 2.0 * t - 4.0 * k;
            let far = q - 2.0 * t - 2.0 * k - rim;
            let tail = triangles(u) + triangles(v) - 2.0 * t - 2.0 * k - rim;
            let cycle = c - 2.0 * k - rim;
            let (square, stars) = (2.0 * p + t, x * (x - 1.0) / 2.0 + y * (y - 1.0) / 2.0);
            all.push([
                1.0,
                x + y - 2.0 * t,
                t,
                s(u) + s(v) - x - y - 2.0 * (q - t) - 2.0 * tail - rim - 2.0 * cycle,
                x * y - t * (x + y) + square - cycle,
                stars - t * (x + y) + 2.0 * (p + t) - tail,
                cycle,
                tail,
                t * (x + y) - 2.0 * square - rim,
                far,
                p - k,
                rim,
                k,
            ]);
        }
    }
    all
}

/// Squared errors of all edges in several estimates, orbit by orbit: raw counts, clamped at zero, clamped to the possible range.
fn errors(graph: &Graph, cap: usize) -> [[f64; 13]; 3] {
    let exact = count(graph, &Silent).expect("counts");
    let of_edges = |counts: &Counts, motif: Motif| {
        let weighting = Weighting {
            delta: 0,
            ..Weighting::default()
        };
        let w = counts.motif_graph(graph, motif, weighting);
        let (w, n) = (w.expect("weights"), graph.nodes());
        let nodes = w.nodes.unwrap_or_else(|| (0..n as u32).collect());
        let mut values = vec![0.0; graph.pattern().nnz()];
        for (at, &i) in nodes.iter().enumerate() {
            let (columns, weights) = w.matrix.row(at);
            for (&j, &weight) in columns.iter().zip(weights) {
                let row = graph.neighbors(i);
                let place = row.binary_search(&nodes[j as usize]).expect("an edge");
                values[graph.pattern().range(i as usize).start + place] = f64::from(weight);
            }
        }
        values
    };
    let mut errors = [[0.0; 13]; 3];
    for seed in 0..20 {
        let sample = Sample::Cap(cap);
        let counts = sample.count(graph, seed, &Silent).expect("estimates");
        let raw = raw(graph, &counts);
        for orbit in Orbit::ALL {
            let motif = Motif::Orbit(orbit);
            let (truth, held) = (of_edges(&exact, motif), of_edges(&counts, motif));
            for ((truth, held), raw) in truth.iter().zip(held).zip(&raw) {
                let raw = raw[orbit.index()];
                for (errors, found) in errors.iter_mut().zip([raw, raw.max(0.0), held]) {
                    errors[orbit.index()] += (found - truth).powi(2);
                }
            }
        }
    }
    errors
}

#[test]
fn clamping_helps_where_graphs_are_dense_and_hardly_harms_elsewhere() {
    let rmat = Generator::Rmat {
        nodes: 1 << 9,
        degree: 20.0,
        quadrants: [0.57, 0.19, 0.19, 0.05],
    };
    let cliques = Generator::RingOfCliques {
        cliques: 3,
        size: 40,
    };
    let dense = Generator::Er {
        nodes: 90,
        degree: 70.0,
    };
    for model in [rmat, dense, cliques] {
        let graph = model.graph(7, &Silent).expect("a graph");
        for cap in [8, 16] {
            let [raw, cut, held] = errors(&graph, cap).map(|errors| errors.map(f64::sqrt));
            for (at, orbit) in Orbit::ALL.into_iter().enumerate() {
                let least = cut[at].min(raw[at]);
                assert!(held[at] <= 1.02 * least, "{model:?} {cap} {orbit}");
            }
            if matches!(model, Generator::RingOfCliques { .. }) {
                let [mid, cycle] = [Orbit::Path4Mid, Orbit::Cycle4].map(Orbit::index);
                assert!(held[mid] < 0.1 * cut[mid] && held[cycle] < 0.1 * cut[cycle]);
            }
        }
    }
}
