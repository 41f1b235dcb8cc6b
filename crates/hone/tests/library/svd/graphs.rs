//! Local embeddings of random graphs, end to end, against matrices built densely from the definitions.
//!
//! Nothing is compared column by column, so that equal singular values, across the cut too, are no matter: the columns
//! of U must be orthonormal, singular vectors of S with the values reported, and leave nothing larger behind.

use hone::config::Layers;
use hone::graph::{Generator, Graph, GraphBuilder};
use hone::motif::{Counts, Motif, Weighting, count};
use hone::report::LocalFacts;
use hone::{Config, Hone, Silent};
use rayon::prelude::*;

use crate::naive::definition::explicit;
use crate::naive::{Matrix, Numbers, singular_values, transpose, zeros};

/// What the command line would be given.
fn config(settings: &[(&str, String)]) -> Config {
    let set =
        |layers: Layers, (key, value): &(&str, String)| layers.set(key, value).expect("a setting");
    settings
        .iter()
        .fold(Layers::new().preset("hone-p").expect("known"), set)
        .build()
        .expect("in range")
}

/// W_t from the counts of its edges.
fn weights(graph: &Graph, counts: &Counts, motif: Motif) -> Matrix {
    let found = counts
        .motif_graph(graph, motif, Weighting::default())
        .expect("finite");
    let node = |k: usize| found.nodes.as_ref().map_or(k, |nodes| nodes[k] as usize);
    let mut w = zeros(graph.nodes(), graph.nodes());
    for i in 0..found.matrix.rows() {
        let (columns, values) = found.matrix.row(i);
        columns
            .iter()
            .zip(values)
            .for_each(|(&j, &x)| w[node(i)][node(j as usize)] = f64::from(x));
    }
    w
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A S, row by row.
fn image(s: &Matrix, x: &[f64]) -> Vec<f64> {
    s.iter().map(|row| dot(row, x)).collect()
}

/// The largest singular value by power iteration: never more than it is.
fn norm(s: &Matrix) -> f64 {
    let (t, mut numbers) = (transpose(s), Numbers(5));
    let mut x: Vec<f64> = s.iter().map(|_| numbers.next() - 0.5).collect();
    let mut found = 0.0;
    for _ in 0..30 {
        let size = length(&x).max(1e-300);
        x.iter_mut().for_each(|x| *x /= size);
        let y = image(s, &x);
        found = length(&y);
        x = image(&t, &y);
    }
    found
}

/// Everything that columns of U (as rows here) promise about S.
fn check(s: &Matrix, u: &Matrix, facts: &LocalFacts, what: &str) {
    let t = transpose(s);
    let b: Matrix = u.iter().map(|u| image(&t, u)).collect();
    let (rank, sigma) = (facts.rank, &facts.singular_values);
    let most = b
        .first()
        .map_or(0.0, |b| length(b))
        .max(norm(s))
        .max(1e-300);
    let factor = 1.0 / facts.scale;
    for i in 0..u.len() {
        for j in 0..=i {
            let expected = f64::from(u8::from(i == j && i < rank));
            assert!(
                (dot(&u[i], &u[j]) - expected).abs() < 1e-5,
                "{what}: UᵀU ({i}, {j}) = {}",
                dot(&u[i], &u[j])
            );
        }
    }
    for j in 0..rank {
        let value = factor * sigma[j];
        let off = (length(&b[j]) - value).abs();
        assert!(
            off < 1e-5 * most,
            "{what}: σ{j} = {value}, not {}",
            length(&b[j])
        );
        let back = image(s, &b[j]);
        let off: Vec<f64> = back
            .iter()
            .zip(&u[j])
            .map(|(x, u)| x - value * value * u)
            .collect();
        // U is stored in f32, and multiplied twice here.
        let allowed = 2e-4 * value * value + 5e-6 * most * value + 2e-7 * most * most;
        assert!(
            length(&off) < allowed,
            "{what}: column {j} is no singular vector, {} of {allowed}",
            length(&off)
        );
    }
    let mut left = s.clone();
    for (u, b) in u.iter().zip(&b).take(rank) {
        left.iter_mut()
            .zip(u)
            .for_each(|(row, u)| row.iter_mut().zip(b).for_each(|(x, b)| *x -= u * b));
    }
    let last = if rank == sigma.len() {
        sigma.last().map_or(0.0, |last| factor * last)
    } else {
        0.0
    };
    assert!(
        norm(&left) <= last * 1.001 + 1e-5 * most,
        "{what}: {} is left behind {last}",
        norm(&left)
    );
    if s.len() <= 32 {
        let exact = singular_values(s);
        for (j, value) in sigma.iter().enumerate().take(exact.len()) {
            assert!(
                (factor * value - exact[j]).abs() < 1e-5 * most,
                "{what}: σ{j} {} {}",
                factor * value,
                exact[j]
            );
        }
    }
    truthful(s, &left, facts, what);
}

/// Residual, loss and whether the tolerance is met do not contradict one another, or the matrix.
fn truthful(s: &Matrix, left: &Matrix, facts: &LocalFacts, what: &str) {
    let residual = facts.residual.expect("measured");
    assert_eq!(facts.converged, residual <= 1e-4, "{what}: {facts:?}");
    // Vectors of 32 bits are singular vectors but for rounding, which is relative to the largest value.
    let of_rank = facts
        .rank
        .checked_sub(1)
        .map(|last| facts.singular_values[last]);
    let ratio = of_rank.map_or(1.0, |least| facts.singular_values[0] / least);
    assert!(residual <= 2e-4 + 1e-7 * ratio, "{what}: {facts:?}");
    let square = |m: &Matrix| m.iter().flatten().map(|x| x * x).sum::<f64>();
    if let Some(loss) = &facts.loss {
        let truth = if square(s) > 0.0 {
            square(left) / square(s)
        } else {
            0.0
        };
        assert!(
            (loss.values[0] - truth).abs() < 1e-5,
            "{what}: loss {} {truth}",
            loss.values[0]
        );
    }
}

/// A random graph; arcs of a directed one go both ways sometimes.
fn random_graph(case: u64, nodes: u64, directed: bool, numbers: &mut Numbers) -> Graph {
    let degree = (1.0 + numbers.next() * 8.0).min(nodes as f64 - 1.0);
    let model = match case % 4 {
        0 => Generator::Er { nodes, degree },
        1 => Generator::Rmat {
            nodes,
            degree,
            quadrants: [0.57, 0.19, 0.19, 0.05],
        },
        2 => Generator::Sbm {
            nodes,
            degree,
            communities: 1 + nodes / 40,
            mixing: 0.2,
        },
        _ => Generator::Ba { nodes, degree },
    };
    let drawn = model
        .graph(case, &Silent)
        .or_else(|_| Generator::Er { nodes, degree }.graph(case, &Silent));
    let graph = drawn.expect("a graph");
    if !directed {
        return graph;
    }
    let mut arcs = Vec::new();
    for u in 0..graph.nodes() as u32 {
        for &v in graph.neighbors(u).iter().filter(|&&v| u < v) {
            let draw = numbers.next();
            arcs.extend((draw < 0.6).then_some((u, v)));
            arcs.extend((draw >= 0.4).then_some((v, u)));
        }
    }
    GraphBuilder::directed(graph.nodes())
        .edges(arcs)
        .build()
        .expect("a graph")
}

fn pick<T: Copy>(from: &[T], numbers: &mut Numbers) -> T {
    from[(numbers.next() * from.len() as f64) as usize]
}

/// One graph with choices drawn at random.
fn one(case: u64) {
    let mut numbers = Numbers(case * 77 + 1);
    let (least, most) = match case % 24 {
        0 => (257, 500),
        1..=3 => (100, 256),
        _ => (5, 60),
    };
    let nodes = least + (numbers.next() * (most - least + 1) as f64) as u64;
    let directed = numbers.next() < 0.4;
    let graph = random_graph(case, nodes, directed, &mut numbers);
    let k = 1 + (numbers.next() * 6.0) as usize;
    let word = |word: &str| word.to_owned();
    let mut settings = vec![
        (
            "psi",
            word(pick(&["w", "p", "l", "l-norm", "l-rw"], &mut numbers)),
        ),
        (
            "order",
            word(pick(
                &["auto", "psi-of-power", "power-of-psi"],
                &mut numbers,
            )),
        ),
        ("degree", word(pick(&["out", "in", "total"], &mut numbers))),
        ("steps", k.to_string()),
        ("local.dim", pick(&[3, 16, 40], &mut numbers).to_string()),
        (
            "accumulate",
            word(pick(
                &["none", "none", "mean", "{ decay = 0.3 }"],
                &mut numbers,
            )),
        ),
        ("global.output", word("local")),
        ("seed", case.to_string()),
    ];
    if nodes > 60 {
        // The oracle takes its time.
        settings.push(("first-step", word("last")));
    }
    let config = config(&settings);
    let run = Hone::new(config.clone())
        .expect("in range")
        .embed(&graph, &Silent)
        .expect("finite");
    let (counts, y) = (
        count(&graph, &Silent).expect("counts"),
        &run.embedding.vectors,
    );
    for motif in config.motifs.motifs() {
        let w = weights(&graph, &counts, motif);
        for facts in run
            .report
            .local
            .iter()
            .filter(|facts| facts.motif == motif.name())
        {
            let s = explicit(&w, &config.matrix(), facts.step, directed);
            let prefix = format!("{}_k{}_", motif.name(), facts.step);
            let own = run
                .embedding
                .columns
                .iter()
                .enumerate()
                .filter(|(_, name)| name.starts_with(&prefix));
            let column = |j: usize| (0..y.rows()).map(|i| f64::from(y.get(i, j))).collect();
            let u: Matrix = own.map(|(j, _)| column(j)).collect();
            assert_eq!(u.len(), facts.singular_values.len());
            check(
                &s,
                &u,
                facts,
                &format!("case {case}, {nodes} nodes, {motif}, {settings:?}"),
            );
        }
    }
}

#[test]
fn local_embeddings_of_random_graphs_are_singular_vectors() {
    (0..54u32)
        .into_par_iter()
        .with_max_len(1)
        .for_each(|case| one(u64::from(case)));
}
