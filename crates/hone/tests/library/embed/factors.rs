//! The folder of factors: what it holds reproduces what it says, and it is written whole or not at all.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hone::dense::Block;
use hone::graph::{Graph, NodeIds, builtin};
use hone::output::Existing;
use hone::store::factors::{ArrayEntry, Folder};
use hone::{Error, Hone, Progress, Silent};

use super::{chorded_ring, config, run};

type Dense = Vec<Vec<f64>>;

fn written(settings: &[(&str, &str)], graph: &Graph, folder: &Path) -> (hone::Run, Folder) {
    let run = Hone::new(config(settings))
        .unwrap()
        .factors(folder, Existing::Refuse)
        .embed(graph, &Silent)
        .unwrap();
    (run, Folder::open(folder).unwrap())
}

fn dense(folder: &Folder, array: &ArrayEntry) -> Dense {
    let block = folder.read(array).unwrap();
    assert_eq!(
        array.shape.iter().product::<usize>(),
        block.rows() * block.cols()
    );
    (0..block.rows())
        .map(|i| block.row(i).iter().map(|&x| f64::from(x)).collect())
        .collect()
}

/// a diag(weights) bᵀ.
fn product(a: &Dense, weights: &[f64], b: &Dense) -> Dense {
    let entry = |x: &Vec<f64>, y: &Vec<f64>| {
        x.iter()
            .zip(y)
            .zip(weights)
            .map(|((x, y), w)| x * y * w)
            .sum()
    };
    a.iter()
        .map(|x| b.iter().map(|y| entry(x, y)).collect())
        .collect()
}

fn distance(a: &Dense, b: &Dense) -> f64 {
    let square = |(a, b): (&f64, &f64)| (a - b).powi(2);
    a.iter()
        .flatten()
        .zip(b.iter().flatten())
        .map(square)
        .sum::<f64>()
        .sqrt()
}

/// P of the edges, or of triangles, with the power asked for, all in f64.
fn transition(graph: &Graph, triangles: bool, step: usize) -> Dense {
    let n = graph.nodes();
    let adjacent = |i: usize, j: usize| graph.has_edge(i as u32, j as u32);
    let weight = |i: usize, j: usize| match (adjacent(i, j), triangles) {
        (false, _) => 0.0,
        (true, false) => 1.0,
        (true, true) => (0..n).filter(|&c| adjacent(i, c) && adjacent(j, c)).count() as f64,
    };
    let row = |i: usize| {
        let row: Vec<f64> = (0..n).map(|j| weight(i, j)).collect();
        let sum: f64 = row.iter().sum();
        row.into_iter()
            .map(|x| if sum > 0.0 { x / sum } else { 0.0 })
            .collect()
    };
    let p: Dense = (0..n).map(row).collect();
    let times = |a: &Dense| -> Dense {
        a.iter()
            .map(|a| {
                (0..n)
                    .map(|j| (0..n).map(|l| a[l] * p[l][j]).sum())
                    .collect()
            })
            .collect()
    };
    (1..step).fold(p.clone(), |power, _| times(&power))
}

#[test]
fn local_and_global_factors_reproduce_what_they_approximate() {
    let graph = builtin("karate").unwrap();
    let place = tempfile::tempdir().unwrap();
    let base = [
        ("motifs", "[\"edge\", \"triangle\"]"),
        ("steps", "2"),
        ("local.dim", "34"),
        ("global.dim", "30"),
    ];
    let precise = [
        ("local.solver.tolerance", "1e-6"),
        ("local.solver.iterations", "2000"),
    ];
    let settings = [&base[..], &precise].concat();
    let (found, folder) = written(&settings, &graph, &place.path().join("f"));
    assert!(
        found.embedding == run(config(&settings), &graph).embedding,
        "the same bits without factors"
    );
    let manifest = &folder.manifest;
    assert_eq!(folder.ids().unwrap(), graph.ids().clone());
    let order: Vec<_> = manifest
        .local
        .iter()
        .map(|entry| (entry.motif.as_str(), entry.step))
        .collect();
    assert_eq!(
        order,
        [("edge", 1), ("triangle", 1), ("edge", 2), ("triangle", 2)]
    );
    for (entry, facts) in manifest.local.iter().zip(&found.report.local) {
        assert_eq!(
            (&entry.formula, entry.scale, entry.rank),
            (&facts.formula, facts.scale, facts.rank)
        );
        let (u, v) = (
            dense(&folder, &entry.u),
            dense(&folder, entry.v.as_ref().unwrap()),
        );
        let sigma: Vec<f64> = dense(&folder, &entry.sigma).concat();
        assert!(
            sigma
                .iter()
                .zip(&facts.singular_values)
                .all(|(a, b)| (a - b).abs() < 1e-6)
        );
        let all: Vec<f64> = (0..34).map(f64::from).collect();
        let rows = entry
            .rows
            .as_ref()
            .map_or(all, |rows| dense(&folder, rows).concat());
        let truth = transition(&graph, entry.motif == "triangle", entry.step);
        let own: Dense = rows
            .iter()
            .map(|&i| {
                rows.iter()
                    .map(|&j| truth[i as usize][j as usize])
                    .collect()
            })
            .collect();
        let missed = distance(&product(&u, &sigma, &v), &own);
        assert!(missed < 2e-3, "{} {}: {missed}", entry.motif, entry.step);
        assert_eq!(entry.model, "S ≈ U·diag(sigma)·Vᵀ");
    }
    let y = run(
        config(&[&settings[..], &[("global.output", "local")]].concat()),
        &graph,
    )
    .embedding;
    let global = manifest.global.as_ref().unwrap();
    assert_eq!(global.columns, y.columns);
    let (z, h) = (
        dense(&folder, &global.z),
        dense(&folder, global.h.as_ref().unwrap()),
    );
    assert_eq!(
        (z.len(), z[0].len(), h.len(), h[0].len()),
        (34, 30, 30, y.vectors.cols())
    );
    let h: Dense = (0..h[0].len())
        .map(|j| h.iter().map(|row| row[j]).collect())
        .collect();
    let whole: Dense = (0..34)
        .map(|i| y.vectors.row(i).iter().map(|&x| f64::from(x)).collect())
        .collect();
    let size: f64 = whole.iter().flatten().map(|x| x * x).sum();
    let missed = distance(&product(&z, &[1.0; 30], &h), &whole).powi(2) / size;
    let told = found.report.global.unwrap().residual;
    assert!((missed - told).abs() < 1e-5, "{missed} {told}");
}

#[test]
fn every_solver_has_a_folder() {
    let graph = chorded_ring(30, true);
    for (name, _) in hone::factor::SOLVERS {
        let place = tempfile::tempdir().unwrap();
        let settings = [
            ("local.solver.method", *name),
            (
                "global.solver.method",
                if *name == "bregman" { "svd" } else { *name },
            ),
            ("motifs", "[\"edge\", \"clique4\"]"),
            ("local.dim", "3"),
            ("global.dim", "5"),
        ];
        let (_, folder) = written(&settings, &graph, &place.path().join("f"));
        let network = *name == "autoencoder";
        assert!(
            folder
                .manifest
                .local
                .iter()
                .all(|entry| entry.v.is_none() == network),
            "{name}"
        );
        let global = folder.manifest.global.as_ref().unwrap();
        assert_eq!(global.h.is_none(), network, "{name}");
        assert_eq!(
            global.model.contains("code"),
            network,
            "{name}: {}",
            global.model
        );
        let files = fs::read_dir(place.path().join("f")).unwrap().count();
        let rows: std::collections::BTreeSet<_> = folder
            .manifest
            .local
            .iter()
            .filter_map(|entry| entry.rows.as_ref().map(|rows| &rows.file))
            .collect();
        let arrays = folder.manifest.local.len() * if network { 2 } else { 3 } + rows.len() + 2
            - usize::from(network);
        assert_eq!(files, arrays + 2, "{name}: arrays, ids and the manifest");
    }
}

/// With more columns than the graph has nodes, too.
#[test]
fn joint_factors_make_up_the_slices() {
    let graph = builtin("karate").unwrap();
    for (model, dim) in [
        ("tucker", "30"),
        ("tucker", "40"),
        ("cp", "30"),
        ("cp", "40"),
    ] {
        let place = tempfile::tempdir().unwrap();
        let base = [
            ("model", model),
            ("motifs", "[\"edge\", \"triangle\"]"),
            ("steps", "2"),
            ("global.dim", dim),
        ];
        let (found, folder) = written(&base, &graph, &place.path().join("f"));
        assert!(folder.manifest.local.is_empty() && folder.manifest.global.is_none());
        let joint = folder.manifest.joint.as_ref().unwrap();
        let (mut missed, mut size) = (0.0, 0.0);
        for (slice, modelled) in joint.slices.iter().zip(rebuilt(&folder)) {
            let truth = transition(&graph, slice.motif == "triangle", slice.step);
            let truth: Dense = truth
                .iter()
                .map(|row| row.iter().map(|x| x * slice.factor).collect())
                .collect();
            missed += distance(&modelled, &truth).powi(2);
            size += truth.iter().flatten().map(|x| x * x).sum::<f64>();
        }
        let told = found.report.joint.unwrap().residual;
        assert!(
            (missed / size - told).abs() < 1e-3,
            "{model} {dim}: {} {told}",
            missed / size
        );
    }
}

/// Slices as the manifest rebuilds them.
fn rebuilt(folder: &Folder) -> Vec<Dense> {
    let joint = folder.manifest.joint.as_ref().unwrap();
    let [left, right, motifs] =
        [&joint.left, &joint.right, &joint.motifs].map(|array| dense(folder, array));
    let weights = dense(folder, &joint.weights).concat();
    let core = joint
        .core
        .as_ref()
        .map(|core| (core.shape[1], dense(folder, core).concat()));
    let of = |row: &Vec<f64>| match &core {
        None => product(
            &left,
            &weights
                .iter()
                .zip(row)
                .map(|(w, m)| w * m)
                .collect::<Vec<_>>(),
            &right,
        ),
        Some((d, core)) => {
            let middle = |a: usize, b: usize| {
                row.iter()
                    .zip(0..)
                    .map(|(m, r)| m * core[(r * d + a) * d + b])
                    .sum::<f64>()
            };
            let across = |x: &Vec<f64>| {
                (0..*d)
                    .map(|b| (0..*d).map(|a| x[a] * middle(a, b)).sum())
                    .collect()
            };
            product(&left.iter().map(across).collect(), &vec![1.0; *d], &right)
        }
    };
    motifs.iter().map(of).collect()
}

/// Edge weights beyond 2⁴⁰ are scaled; the slices are S times `factor` all the same, and the residual is theirs.
#[test]
fn joint_factors_of_scaled_matrices_make_up_the_slices() {
    let plain = builtin("karate").unwrap();
    let edges: Vec<(u32, u32)> = (0..34)
        .flat_map(|u| {
            plain
                .neighbors(u)
                .iter()
                .map(move |&v| (u, v))
                .filter(|(u, v)| u < v)
        })
        .collect();
    let weight = |u: u32, v: u32| 2f32.powi(45) * (1 + (u + v) % 3) as f32;
    let weights = edges.iter().map(|&(u, v)| weight(u, v)).collect();
    let graph = hone::graph::GraphBuilder::undirected(34)
        .edges(edges)
        .weights(weights)
        .build()
        .unwrap();
    let common = |i: u32, j: u32| {
        (0..34)
            .filter(|&c| graph.has_edge(i, c) && graph.has_edge(j, c))
            .count() as f64
    };
    let entry = |i: u32, j: u32, triangles: bool| match (graph.has_edge(i, j), triangles) {
        (false, _) => 0.0,
        (true, false) => f64::from(weight(i, j)),
        (true, true) => f64::from(weight(i, j)) * common(i, j),
    };
    let w = |triangles| -> Dense {
        (0..34)
            .map(|i| (0..34).map(|j| entry(i, j, triangles)).collect())
            .collect()
    };
    let square = |a: &Dense| -> Dense {
        let row = |i: usize| {
            (0..34)
                .map(|j| (0..34).map(|l| a[i][l] * a[l][j]).sum())
                .collect()
        };
        (0..34).map(row).collect()
    };
    for (model, slices, steps) in [
        ("tucker", "frobenius", 2),
        ("cp", "frobenius", 2),
        ("tucker", "spectral", 2),
        ("tucker", "none", 1),
    ] {
        let place = tempfile::tempdir().unwrap();
        let steps_text = steps.to_string();
        let base = [
            ("model", model),
            ("motifs", "[\"edge\", \"triangle\"]"),
            ("psi", "w"),
            ("global.dim", "12"),
        ];
        let more = [
            ("joint.slices", slices),
            ("steps", steps_text.as_str()),
            ("weights", "true"),
        ];
        let (found, folder) = written(
            &[&base[..], &more].concat(),
            &graph,
            &place.path().join("f"),
        );
        let (joint, report) = (
            folder.manifest.joint.as_ref().unwrap(),
            found.report.joint.unwrap(),
        );
        assert!(
            report.slices.iter().all(|slice| slice.scale != 1.0),
            "{model} {slices}: nothing was scaled"
        );
        let (mut missed, mut size) = (0.0, 0.0);
        for ((slice, modelled), facts) in joint
            .slices
            .iter()
            .zip(rebuilt(&folder))
            .zip(&report.slices)
        {
            let one = w(slice.motif == "triangle");
            let truth = if slice.step == 2 { square(&one) } else { one };
            let norm = truth.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
            assert!(
                (facts.norm.frobenius / norm - 1.0).abs() < 1e-5,
                "{model} {slices}: {} {norm}",
                facts.norm.frobenius
            );
            let truth: Dense = truth
                .iter()
                .map(|row| row.iter().map(|x| x * slice.factor).collect())
                .collect();
            missed += distance(&modelled, &truth).powi(2);
            size += truth.iter().flatten().map(|x| x * x).sum::<f64>();
            if slices == "frobenius" {
                assert!(
                    (slice.factor * norm - 1.0).abs() < 1e-5,
                    "{model}: {} {norm}",
                    slice.factor
                );
            }
        }
        let told = report.residual;
        assert!(
            (missed / size - told).abs() < 1e-3 && told < 0.5,
            "{model} {slices}: {} {told}",
            missed / size
        );
    }
}

#[test]
fn only_steps_that_are_kept_are_in_the_folder() {
    let place = tempfile::tempdir().unwrap();
    let settings = [
        ("steps", "auto"),
        ("psi", "w"),
        ("motifs", "[\"edge\"]"),
        ("local.dim", "3"),
        ("global.dim", "2"),
    ];
    let (found, folder) = written(&settings, &chorded_ring(40, false), &place.path().join("f"));
    let kept = found.report.automatic_steps.unwrap().steps;
    assert_eq!(folder.manifest.local.len(), kept);
    assert!(!place.path().join("f/edge.k4.U.npy").exists() && kept < 4);
}

#[test]
fn a_folder_in_the_way_is_refused_or_replaced() {
    let graph = builtin("karate").unwrap();
    let place = tempfile::tempdir().unwrap();
    let target = place.path().join("f");
    let embed = |replace| {
        let hone = Hone::new(config(&[("motifs", "[\"edge\"]"), ("global.dim", "4")])).unwrap();
        hone.factors(&target, Existing::replaced_if(replace))
            .embed(&graph, &Silent)
    };
    embed(false).unwrap();
    assert!(matches!(embed(false), Err(Error::Exists { .. })));
    fs::write(target.join("mine.npy"), "old").unwrap();
    assert!(
        embed(true)
            .unwrap_err()
            .to_string()
            .contains("holds mine.npy, which its manifest.json does not list")
    );
    assert_eq!(fs::read(target.join("mine.npy")).unwrap(), b"old");
    fs::remove_file(target.join("mine.npy")).unwrap();
    embed(true).unwrap();
    assert!(Folder::open(&target).is_ok());
    fs::remove_dir_all(&target).unwrap();
    fs::create_dir(&target).unwrap();
    fs::write(target.join("diary.txt"), "dear").unwrap();
    assert!(
        embed(true)
            .unwrap_err()
            .to_string()
            .contains("something else")
    );
    assert!(target.join("diary.txt").exists());
    assert_eq!(
        fs::read_dir(place.path()).unwrap().count(),
        1,
        "nothing else is left behind"
    );
}

/// Stops when the global stage begins.
#[derive(Default)]
struct Stop(AtomicBool);

impl Progress for Stop {
    fn stage(&self, name: &str, _total: u64) {
        self.0
            .fetch_or(name == "global embedding", Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_run_that_fails_leaves_no_folder() {
    let graph = builtin("karate").unwrap();
    let place = tempfile::tempdir().unwrap();
    let hone = Hone::new(config(&[("motifs", "[\"edge\"]"), ("global.dim", "4")])).unwrap();
    let failed = hone
        .factors(place.path().join("f"), Existing::Refuse)
        .embed(&graph, &Stop::default());
    assert!(matches!(failed, Err(Error::Interrupted)));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    let absent = Hone::new(config(&[]))
        .unwrap()
        .factors(place.path().join("no/f"), Existing::Refuse)
        .embed(&graph, &Silent);
    assert!(
        absent
            .unwrap_err()
            .to_string()
            .contains("there is no folder")
    );
}

/// Text ids of any content come back, and a checkpoint does not keep factors from being computed.
#[test]
fn ids_and_checkpoints_go_with_factors() {
    let place = tempfile::tempdir().unwrap();
    let plain = builtin("karate").unwrap();
    let names: Vec<String> = (0..34).map(|i| format!("node {i}\n")).collect();
    let graph = plain.with_ids(NodeIds::from_texts(&names)).unwrap();
    let settings = [("motifs", "[\"edge\", \"clique4\"]"), ("global.dim", "4")];
    let embed = |resume: bool, factors: &str| {
        let (hone, folder) = (
            Hone::new(config(&settings)).unwrap(),
            place.path().join("c"),
        );
        let hone = if resume {
            hone.resume(folder)
        } else {
            hone.checkpoint(folder)
        };
        hone.factors(place.path().join(factors), Existing::Refuse)
            .embed(&graph, &Silent)
            .unwrap()
    };
    let (first, again) = (embed(false, "a"), embed(true, "b"));
    assert!(first.embedding == again.embedding);
    let [a, b] = ["a", "b"].map(|name| Folder::open(place.path().join(name)).unwrap());
    assert_eq!(a.manifest, b.manifest);
    assert_eq!(a.ids().unwrap(), graph.ids().clone());
    let read = |folder: &Folder| -> Vec<Block> {
        folder
            .manifest
            .local
            .iter()
            .map(|entry| folder.read(&entry.u).unwrap())
            .collect()
    };
    assert!(read(&a) == read(&b));
    // One file of another run.
    let name = &a.manifest.local[0].sigma.file;
    let mut bytes = fs::read(place.path().join("b").join(name)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(place.path().join("a").join(name), bytes).unwrap();
    let error = a.read(&a.manifest.local[0].sigma).unwrap_err().to_string();
    assert!(
        error.contains("not as manifest.json says") && error.contains("different content"),
        "{error}"
    );
}
