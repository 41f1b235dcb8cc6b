//! Models of directed graphs: both sides of new nodes, checked against dense matrices; graphs that do not belong.

use hone::config::Layers;
use hone::dense::Block;
use hone::graph::{Graph, GraphBuilder};
use hone::output::Existing;
use hone::random::Key;
use hone::store::factors::Folder;
use hone::{Hone, Like, Model, Run, Silent};
use rand_xoshiro::rand_core::Rng;

const SETTINGS: [(&str, &str); 2] = [("global.dim", "20"), ("features.form.components.dim", "2")];

fn hone(settings: &[(&str, &str)]) -> Hone {
    let layers = Layers::new().preset("hone").unwrap();
    let all = SETTINGS.iter().chain(settings);
    Hone::new(
        all.fold(layers, |layers, (key, value)| {
            layers.set(key, value).unwrap()
        })
        .build()
        .unwrap(),
    )
    .unwrap()
}

/// Arcs within and between three groups, some of them mutual.
fn arcs(n: u32, seed: u64) -> Vec<(u32, u32)> {
    let mut rng = Key::new(seed).rng();
    let mut below = |most: u64| (rng.next_u64() % most) as u32;
    let mut arcs = Vec::new();
    for i in 0..n {
        for _ in 0..4 {
            let j = if below(10) < 8 {
                below(u64::from(n / 3)) * 3 + i % 3
            } else {
                below(u64::from(n))
            };
            arcs.push((i, j % n));
            if below(4) == 0 {
                arcs.push((j % n, i));
            }
        }
    }
    arcs.retain(|(i, j)| i != j);
    arcs
}

fn graph(nodes: usize, arcs: Vec<(u32, u32)>) -> Graph {
    GraphBuilder::directed(nodes).edges(arcs).build().unwrap()
}

fn like(model: &Model, graph: &Graph) -> Run {
    model.embed(graph, &Like::default(), &Silent).unwrap()
}

fn apart(a: &[f32], b: &[f64]) -> f64 {
    let size = b.iter().map(|x| x * x).sum::<f64>().sqrt();
    a.iter()
        .zip(b)
        .map(|(&a, b)| (f64::from(a) - b).powi(2))
        .sum::<f64>()
        .sqrt()
        / size
}

type Dense = Vec<Vec<f64>>;

fn times(a: &Dense, b: &Dense) -> Dense {
    let cols = b.first().map_or(0, Vec::len);
    a.iter()
        .map(|row| {
            (0..cols)
                .map(|j| row.iter().zip(b).map(|(x, b)| x * b[j]).sum())
                .collect()
        })
        .collect()
}

fn turned(a: &Dense) -> Dense {
    (0..a[0].len())
        .map(|j| a.iter().map(|row| row[j]).collect())
        .collect()
}

/// A of all nodes: between nodes of the fit as it was, with arcs of new nodes beside it; no walk of the fit leads to new ones.
fn matrix(old: &Graph, new: &Graph) -> Dense {
    let n = old.nodes();
    let arc = |graph: &Graph, i: usize, j: usize| {
        f64::from(u8::from(graph.neighbors(i as u32).contains(&(j as u32))))
    };
    let w = |graph: &Graph, i: usize, j: usize| arc(graph, i, j) + 0.5 * arc(graph, j, i);
    let degree = |graph: &Graph, i: usize| {
        (0..graph.nodes())
            .map(|j| w(graph, i, j) + w(graph, j, i))
            .sum::<f64>()
    };
    let degrees: Vec<f64> = (0..new.nodes())
        .map(|i| degree(if i < n { old } else { new }, i))
        .collect();
    let some = degrees[..n].iter().filter(|d| **d > 0.0);
    let tau = 0.5 * some.clone().sum::<f64>() / some.count() as f64;
    let root = |i: usize| {
        if degrees[i] > 0.0 {
            (degrees[i] + tau).sqrt().recip()
        } else {
            0.0
        }
    };
    let of = |i: usize, j: usize| {
        if i < n && j < n {
            w(old, i, j)
        } else {
            w(new, i, j)
        }
    };
    let row = |i: usize| {
        (0..new.nodes())
            .map(|j| root(i) * of(i, j) * root(j))
            .collect()
    };
    (0..new.nodes()).map(row).collect()
}

/// Rows of A^K of new nodes that leave them at the first step, on the side of sources.
fn first_steps(a: &Dense, n: usize, steps: usize, node: usize) -> Vec<f64> {
    let mut s = a[node][..n].to_vec();
    for _ in 1..steps {
        s = (0..n)
            .map(|j| (0..n).map(|i| s[i] * a[i][j]).sum())
            .collect();
    }
    s
}

/// Proximity columns from the rows of both sides, by the factors as they were written.
fn finish(folder: &Folder, [source, target]: [&[f64]; 2], vectors: &Block) -> Vec<f64> {
    let local = &folder.manifest.local[0];
    let (u, v) = (
        folder.read(&local.u).unwrap(),
        folder.read(local.v.as_ref().unwrap()).unwrap(),
    );
    let largest = f64::from(folder.read(&local.sigma).unwrap().as_slice()[0]);
    let side = |s: &[f64], factors: &Block| {
        let mut y: Vec<f64> = (0..factors.cols())
            .map(|j| {
                s.iter()
                    .enumerate()
                    .map(|(i, s)| s * f64::from(factors.get(i, j)))
                    .sum::<f64>()
                    / largest
            })
            .collect();
        let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        y.iter_mut().for_each(|y| *y /= length.max(1e-30).sqrt());
        y
    };
    let y = [side(source, &v), side(target, &u)].concat();
    let global = folder.manifest.global.as_ref().unwrap();
    let (z, h) = (
        folder.read(&global.z).unwrap(),
        folder.read(global.h.as_ref().unwrap()).unwrap(),
    );
    let at = (0..z.rows())
        .max_by(|&a, &b| z.get(a, 0).abs().total_cmp(&z.get(b, 0).abs()))
        .unwrap();
    let scale = f64::from(vectors.get(at, 0)) / f64::from(z.get(at, 0));
    (0..z.cols())
        .map(|j| {
            (0..y.len())
                .map(|i| y[i] * f64::from(h.get(j, i)))
                .sum::<f64>()
                * scale
        })
        .collect()
}

#[test]
fn the_graph_of_the_fit_has_its_own_vectors() {
    let graph = graph(91, arcs(90, 1));
    let plain = hone(&[]).embed(&graph, &Silent).unwrap().embedding;
    let (run, model) = hone(&[]).fit(&graph, &Silent).unwrap();
    assert_eq!(run.embedding, plain, "a model changes no bit");
    let mut bytes = Vec::new();
    model.write_to(&mut bytes).unwrap();
    let read = Model::from_bytes(&bytes, "m.hone").unwrap();
    assert_eq!(read, model, "what is read is what was written");
    assert_eq!(like(&read, &graph).embedding, plain);
}

/// New nodes with arcs to the fit, from it, and both; nodes of the fit stay where they are.
#[test]
fn new_nodes_have_the_factors_of_their_arcs() {
    let n = 120usize;
    let place = tempfile::tempdir().unwrap();
    let old = graph(n, arcs(n as u32, 3));
    let (run, model) = hone(&[])
        .factors(place.path().join("f"), Existing::Refuse)
        .fit(&old, &Silent)
        .unwrap();
    let folder = Folder::open(place.path().join("f")).unwrap();
    let more = [
        (120, 4),
        (120, 7),
        (9, 121),
        (12, 121),
        (122, 5),
        (5, 122),
        (122, 8),
        (50, 122),
    ];
    let new = graph(n + 4, [arcs(n as u32, 3), more.to_vec()].concat());
    let placed = like(&model, &new);
    let (a, steps) = (matrix(&old, &new), folder.manifest.local[0].step);
    let back = turned(&a);
    for node in n..n + 3 {
        let sides = [
            first_steps(&a, n, steps, node),
            first_steps(&back, n, steps, node),
        ];
        let expected = finish(&folder, [&sides[0], &sides[1]], &run.embedding.vectors);
        let found = &placed.embedding.vectors.row(node)[..18];
        assert!(
            apart(found, &expected) < 2e-3,
            "node {node}: {found:?}, {expected:?}"
        );
    }
    assert!(
        placed.embedding.vectors.row(n + 3)[..18]
            .iter()
            .all(|&x| x == 0.0),
        "nothing is known of it"
    );
    for i in 0..n {
        assert_eq!(
            run.embedding.vectors.row(i)[..18],
            placed.embedding.vectors.row(i)[..18],
            "node {i}"
        );
    }
    let facts = placed.report.like.unwrap();
    assert_eq!(
        (facts.shared, facts.new, facts.kept, facts.views.len()),
        (n, 4, n, 2)
    );
}

/// The walks of a new node that only knows another new node, with what stands for shorter walks (least squares, by Gauss).
#[test]
fn nodes_behind_new_nodes_are_placed_too() {
    let n = 90usize;
    let place = tempfile::tempdir().unwrap();
    let old = graph(n, arcs(n as u32, 5));
    let settings = [("steps", "2"), ("local.dim", "5")];
    let (run, model) = hone(&settings)
        .factors(place.path().join("f"), Existing::Refuse)
        .fit(&old, &Silent)
        .unwrap();
    let folder = Folder::open(place.path().join("f")).unwrap();
    let new = graph(
        n + 2,
        [arcs(n as u32, 5), vec![(90, 1), (90, 4), (7, 90), (91, 90)]].concat(),
    );
    let a = matrix(&old, &new);
    let read = |name: &hone::store::factors::ArrayEntry| {
        let block = folder.read(name).unwrap();
        (0..block.rows())
            .map(|i| block.row(i).iter().map(|&x| f64::from(x)).collect())
            .collect::<Dense>()
    };
    let local = &folder.manifest.local[0];
    let sides = [
        (a.clone(), read(local.v.as_ref().unwrap())),
        (turned(&a), read(&local.u)),
    ];
    let rows: Vec<Vec<f64>> = sides
        .iter()
        .map(|(a, factors)| {
            // y = A_nn A_ns X R, X = A V; as a row of S it is y V⁺ = y Vᵀ, V being orthonormal.
            let within: Dense = a[..n].iter().map(|row| row[..n].to_vec()).collect();
            let x = times(&within, factors);
            let r = solved(&times(&turned(&x), &x), &times(&turned(&x), factors));
            let walk = times(&vec![a[90][..n].to_vec()], &x);
            let y: Vec<f64> = times(&walk, &r)[0].iter().map(|y| y * a[91][90]).collect();
            times(&vec![y], &turned(factors))[0].clone()
        })
        .collect();
    let expected = finish(&folder, [&rows[0], &rows[1]], &run.embedding.vectors);
    let placed = like(&model, &new).embedding;
    let found = &placed.vectors.row(91)[..expected.len()];
    assert!(apart(found, &expected) < 5e-3, "{found:?}, {expected:?}");
}

/// G⁻¹ B, by elimination.
fn solved(g: &Dense, b: &Dense) -> Dense {
    let n = g.len();
    let mut rows: Dense = g
        .iter()
        .zip(b)
        .map(|(g, b)| [g.as_slice(), b].concat())
        .collect();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()))
            .unwrap();
        rows.swap(k, pivot);
        let own = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k] / own[k];
            assert!(i < n && factor.is_finite());
            row.iter_mut()
                .zip(&own)
                .for_each(|(x, own)| *x -= factor * own);
        }
    }
    (0..n)
        .map(|k| rows[k][n..].iter().map(|x| x / rows[k][k]).collect())
        .collect()
}

#[test]
fn arcs_that_change_move_their_ends_alone() {
    let n = 300usize;
    let all = arcs(n as u32, 7);
    let (run, model) = hone(&[]).fit(&graph(n, all.clone()), &Silent).unwrap();
    let (a, b) = (
        0u32,
        (1..300)
            .find(|&j| !all.contains(&(0, j)) && !all.contains(&(j, 0)))
            .unwrap(),
    );
    let placed = like(&model, &graph(n, [all.clone(), vec![(a, b)]].concat()));
    for i in 0..n as u32 {
        let (then, now) = (
            &run.embedding.vectors.row(i as usize)[..18],
            &placed.embedding.vectors.row(i as usize)[..18],
        );
        assert_eq!(then != now, i == a || i == b, "node {i}");
    }
    assert_eq!(placed.report.like.unwrap().views[0].changed, 2);
    // The same arc the other way is another graph.
    let (i, j) = *all.iter().find(|(i, j)| !all.contains(&(*j, *i))).unwrap();
    let turned = all
        .iter()
        .map(|&arc| if arc == (i, j) { (j, i) } else { arc })
        .collect();
    assert_eq!(
        like(&model, &graph(n, turned)).report.like.unwrap().views[0].changed,
        2
    );
}

#[test]
fn graphs_and_settings_that_do_not_belong_are_refused() {
    let n = 240u32;
    let all = arcs(n, 9);
    let directed = graph(n as usize, all.clone());
    let (_, model) = hone(&[]).fit(&directed, &Silent).unwrap();
    let placed = |graph: &Graph| model.embed(graph, &Like::default(), &Silent).map(|_| ());
    let error = |graph: &Graph| placed(graph).expect_err("other").to_string();
    assert!(
        error(&directed.underlying()).contains("of a directed graph, but this one is undirected")
    );
    // Nodes of other groups under the same ids.
    let other = |i: &u32| i % (n / 3) * 3 + i / (n / 3);
    let strangers = graph(
        n as usize,
        arcs(n, 77)
            .iter()
            .map(|(i, j)| (other(i), other(j)))
            .collect(),
    );
    assert!(
        error(&strangers).contains("not those of the same nodes"),
        "{}",
        error(&strangers)
    );
    for (key, value) in [("direction", "source"), ("laziness", "0.2")] {
        let error = hone(&[(key, value)])
            .fit(&directed, &Silent)
            .map(|_| ())
            .expect_err("refused")
            .to_string();
        assert!(
            error.starts_with(key) && error.contains("directed graph"),
            "{error}"
        );
    }
    let out = hone(&[("degree", "out")])
        .fit(&directed, &Silent)
        .map(|_| ())
        .expect_err("out-degrees")
        .to_string();
    assert!(
        out.starts_with("degree") && out.contains("leave this setting out"),
        "{out}"
    );
    assert!(
        hone(&[("direction", "keep"), ("laziness", "0")])
            .fit(&directed, &Silent)
            .is_ok()
    );
    let (_, plain) = hone(&[("direction", "ignore")])
        .fit(&directed, &Silent)
        .unwrap();
    assert!(
        plain
            .embed(&directed.underlying(), &Like::default(), &Silent)
            .is_ok()
    );
}
