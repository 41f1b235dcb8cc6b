//! A real device against the laws of a space and against the host. Without a device the tests say so and pass.

#![allow(clippy::unwrap_used)]

#[path = "cuda/counts.rs"]
mod counts;
#[allow(dead_code, reason = "a device has bits of its own")]
#[path = "../../hone/tests/library/laws.rs"]
mod laws;
#[path = "../../hone/tests/library/skip.rs"]
mod skip;

use hone::config::Layers;
use hone::dense::Panels;
use hone::engine::{Cpu, Engine, Largest};
use hone::factor::svd::{Iterations, Svd};
use hone::factor::{Factors, Solver, Task};
use hone::graph::{Generator, Graph};
use hone::matrix::{MotifMatrix, Psi};
use hone::motif::{Motif, Weighting, count};
use hone::operator::Operator;
use hone::random::Key;
use hone::space::Space;
use hone::{Config, Error, Hone, Silent};
use hone_gpu::{Cuda, Device};

/// The first device, if there is one.
fn cuda() -> Option<Cuda> {
    match Cuda::open(0) {
        Ok(cuda) => Some(cuda),
        Err(error) => {
            assert!(matches!(error, Error::Device { .. }), "{error:?}");
            assert!(std::env::var_os("HONE_NEEDS_GPU").is_none(), "{error}");
            skip::skip(&error.to_string());
            None
        }
    }
}

fn er() -> Graph {
    Generator::Er {
        nodes: 4000,
        degree: 10.0,
    }
    .graph(3, &Silent)
    .unwrap()
}

/// Skewed degrees: some rows are longer than a warp takes.
fn rmat() -> Graph {
    let quadrants = [0.57, 0.19, 0.19, 0.05];
    Generator::Rmat {
        nodes: 16_384,
        degree: 16.0,
        quadrants,
    }
    .graph(5, &Silent)
    .unwrap()
}

#[test]
fn a_device_keeps_the_laws() {
    if let Some(cuda) = cuda() {
        laws::check(&cuda);
    }
}

/// W_t of a motif under Ψ, k steps.
fn operator(graph: &Graph, motif: Motif, psi: Psi, k: usize) -> Operator {
    let counts = count(graph, &Silent).unwrap();
    let w = counts
        .motif_graph(graph, motif, Weighting::default())
        .unwrap();
    MotifMatrix {
        psi,
        ..MotifMatrix::default()
    }
    .operator(&Operator::symmetric("W", w.matrix), k)
    .unwrap()
}

fn factored(engine: &dyn Engine, s: &Operator, options: Svd) -> Factors<Panels> {
    let task = Task {
        rank: 16,
        right: true,
        key: Key::new(1),
        progress: &Silent,
        aside: None,
    };
    engine.factor(&Solver::Svd(options), s, &task).unwrap()
}

/// ‖S v − σ u‖ of each triplet.
fn off(s: &Operator, found: Factors<Panels>) -> Vec<f64> {
    let (u, v) = (found.u.into_block(), found.v.unwrap().into_block());
    let image = s.apply(&v);
    let at =
        |i: usize, j: usize| f64::from(image.get(i, j)) - found.sigma[j] * f64::from(u.get(i, j));
    (0..u.cols())
        .map(|j| (0..u.rows()).map(|i| at(i, j).powi(2)).sum::<f64>().sqrt())
        .collect()
}

/// Singular values as on the host, and vectors that belong to them: iterated to convergence, few iterations, filtered.
#[test]
fn decompositions_are_those_of_the_host() {
    let Some(cuda) = cuda() else { return };
    for (name, graph) in [("er", er()), ("rmat", rmat())] {
        let edge: Motif = "edge".parse().unwrap();
        for (psi, k) in [
            (Psi::W, 1),
            (Psi::P, 2),
            (Psi::L, 1),
            (Psi::LNorm, 2),
            (Psi::LRw, 1),
        ] {
            let s = operator(&graph, edge, psi, k);
            let plain = Svd {
                iterations: Iterations::AtMost(300),
                ..Svd::default()
            };
            let few = Svd {
                iterations: Iterations::AtMost(2),
                ..Svd::default()
            };
            for (how, options) in [
                ("many", plain),
                ("few", few),
                ("filtered", Svd { filter: 12, ..few }),
            ] {
                let what = format!("{name}, {psi:?}, {k} steps, {how}");
                let (host, device) = (factored(&Cpu, &s, options), factored(&cuda, &s, options));
                // A filter ends short of convergence, and amplifies rounding on the way.
                let allowed = if how == "filtered" { 1e-3 } else { 1e-4 };
                for (j, (a, b)) in host.sigma.iter().zip(&device.sigma).enumerate() {
                    assert!(
                        (a - b).abs() <= allowed * a,
                        "{what}: σ{j} is {a} on the host, {b} on the device"
                    );
                }
                let again = factored(&cuda, &s, options);
                assert_eq!(device.sigma, again.sigma, "{what}: another run");
                assert!(
                    device.u.clone().into_block() == again.u.into_block(),
                    "{what}: another run"
                );
                let most = device.sigma[0];
                // Vectors that are made orthonormal once more are a little off, on the host too.
                for (j, (length, there)) in
                    off(&s, device).into_iter().zip(off(&s, host)).enumerate()
                {
                    let allowed = (1e-4 * most).max(2.0 * there);
                    assert!(
                        length <= allowed,
                        "{what}: S v − σ u of {j} is {length} of {most}, on the host {there}"
                    );
                }
            }
        }
    }
}

fn config(preset: &str, motifs: &str) -> Config {
    Layers::new()
        .preset(preset)
        .unwrap()
        .set("motifs", motifs)
        .unwrap()
        .build()
        .unwrap()
}

/// How much of the space of b lies in that of a: the mean squared cosine of their principal angles.
fn overlap(a: &hone::dense::Block, b: &hone::dense::Block) -> f64 {
    let (mut a, mut b) = (a.clone(), b.clone());
    let kept = [
        hone::dense::orthonormalize(&mut a),
        hone::dense::orthonormalize(&mut b),
    ];
    let rank = kept[1].iter().filter(|&&kept| kept).count();
    a.cross(&b).as_slice().iter().map(|x| x * x).sum::<f64>() / rank as f64
}

/// Whole embeddings: the same bits in two runs, and no farther from the host than the host with another seed, where random
/// graphs leave the last directions of each motif to chance.
#[test]
fn embeddings_are_those_of_the_host() {
    if cuda().is_none() {
        return;
    }
    for (graph, preset) in [
        (er(), "hone-p"),
        (rmat(), "hone-p"),
        (er(), "hone"),
        (rmat(), "hone-l-norm"),
    ] {
        let config = config(preset, "edge,triangle,path4");
        let run = |device: Device, seed: u64| {
            let config = Config {
                seed,
                ..config.clone()
            };
            let hone = device
                .open(&config)
                .unwrap()
                .place(Hone::new(config).unwrap());
            hone.embed(&graph, &Silent).unwrap()
        };
        let (host, other) = (run(Device::Cpu, 1), run(Device::Cpu, 2));
        let (device, again) = (run(Device::Auto, 1), run(Device::Cuda(0), 1));
        assert!(
            device.report.engine.starts_with("cuda:0 ("),
            "{}",
            device.report.engine
        );
        assert!(
            device.embedding.vectors == again.embedding.vectors,
            "{preset}: another run has other bits"
        );
        let found = overlap(&host.embedding.vectors, &device.embedding.vectors);
        let chance = overlap(&host.embedding.vectors, &other.embedding.vectors);
        println!(
            "{preset} of {} nodes: overlap {found}, with another seed {chance}",
            graph.nodes()
        );
        assert!(
            found > chance - 0.002 && found > 0.9,
            "{preset}: overlap {found}, with another seed {chance}"
        );
    }
}

#[test]
fn what_a_device_lacks_is_refused_by_name() {
    if cuda().is_none() {
        return;
    }
    for (setting, value) in [
        ("local.solver.method", "als"),
        ("global.solver.method", "nmf"),
        ("model", "cp"),
    ] {
        let config = Layers::new()
            .preset("hone-p")
            .unwrap()
            .set(setting, value)
            .unwrap()
            .build()
            .unwrap();
        let error = Device::Cuda(0).open(&config).unwrap_err().to_string();
        assert!(
            error.contains(value) && error.contains("cuda:0 (") && error.contains("cpu"),
            "{error}"
        );
        let opened = Device::Auto.open(&config).unwrap();
        assert!(opened.note.is_some_and(|note| note.contains(value)));
    }
    let error = Cuda::open(10_000).unwrap_err().to_string();
    assert!(
        error.contains("cuda:10000") && error.contains("no such device"),
        "{error}"
    );
}

/// Panels that wait in the memory of this process change no bit.
#[test]
fn short_memory_gives_the_same_bits() {
    let (Some(cuda), Some(tight)) = (cuda(), cuda().map(Cuda::always_tight)) else {
        return;
    };
    for (preset, graph) in [("hone", er()), ("hone-l-norm", rmat())] {
        // Few iterations work on panels one by one.
        let layers = Layers::new()
            .preset(preset)
            .unwrap()
            .set("motifs", "edge,triangle")
            .unwrap();
        let config = layers
            .set("local.solver.iterations", "2")
            .unwrap()
            .build()
            .unwrap();
        let run = |engine: &Cuda| {
            Hone::new(config.clone())
                .unwrap()
                .on(engine.clone())
                .embed(&graph, &Silent)
                .unwrap()
                .embedding
                .vectors
        };
        assert!(run(&cuda) == run(&tight), "{preset}");
    }
}

/// Models and folders of factors get U in the memory of this process, and the log window is made on the device.
#[test]
fn models_and_factors_are_those_of_any_run() {
    let Some(cuda) = cuda() else { return };
    let small = Generator::RingOfCliques {
        cliques: 30,
        size: 5,
    }
    .graph(1, &Silent)
    .unwrap();
    for (graph, engine) in [(er(), cuda.clone()), (small, cuda.always_tight())] {
        let hone = || {
            Hone::new(config("hone", "edge"))
                .unwrap()
                .on(engine.clone())
        };
        let plain = hone().embed(&graph, &Silent).unwrap().embedding.vectors;
        let (fitted, _) = hone().fit(&graph, &Silent).unwrap();
        let folder = std::env::temp_dir().join(format!("hone-cuda-factors-{}", std::process::id()));
        let written = hone()
            .factors(&folder, hone::output::Existing::Replace)
            .embed(&graph, &Silent)
            .unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        for other in [fitted.embedding.vectors, written.embedding.vectors] {
            assert!(overlap(&plain, &other) > 0.999, "{} nodes", graph.nodes());
        }
    }
}

/// Too much is refused before the work, or is an error of the call that fails; the device can be used afterwards.
#[test]
fn memory_that_is_not_there_is_an_error() {
    let Some(cuda) = cuda() else { return };
    let largest = Largest {
        rows: 4_000_000_000,
        nonzeros: 40_000_000_000,
        columns: 200,
        least_columns: 100,
    };
    let error = cuda.plan(&largest).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    for part in ["the work on cuda:0", "TiB", "device cpu"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(
        cuda.plan(&Largest {
            rows: 1000,
            nonzeros: 10_000,
            columns: 100,
            least_columns: 50
        })
        .is_ok()
    );
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| cuda.zeros(1 << 38, 32)));
    assert!(failed.is_err());
    let free = cuda.free_memory().unwrap();
    let s = operator(&er(), "edge".parse().unwrap(), Psi::W, 1);
    assert!(factored(&cuda, &s, Svd::default()).sigma[0] > 1.0);
    drop(s);
    assert!(
        cuda.free_memory().unwrap() + (256 << 20) > free,
        "memory is lost"
    );
}
