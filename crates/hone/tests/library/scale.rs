//! Runs under a memory budget and runs from checkpoints give the bits of a plain run, or a clear refusal.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use hone::attributes::Attributes;
use hone::config::Layers;
use hone::dense::Block;
use hone::graph::{Generator, Graph, GraphBuilder, NodeIds};
use hone::random::Key;
use hone::{Config, Error, Hone, Progress, Run, Shortage, Silent};

fn graph(nodes: usize, seed: u64) -> Graph {
    let model = Generator::Rmat {
        nodes: nodes as u64,
        degree: 6.0,
        quadrants: [0.45, 0.22, 0.22, 0.11],
    };
    model.graph(seed, &Silent).unwrap()
}

/// Few iterations: what is tested does not depend on them.
fn config(preset: &str, settings: &[(&str, &str)]) -> Config {
    let layers = Layers::new()
        .preset(preset)
        .unwrap()
        .set("local.solver.iterations", "2")
        .unwrap();
    settings
        .iter()
        .fold(layers, |layers, (key, value)| {
            layers.set(key, value).unwrap()
        })
        .build()
        .unwrap()
}

fn bits(run: &Run) -> (Vec<String>, Vec<u32>) {
    (
        run.embedding.columns.clone(),
        run.embedding
            .vectors
            .as_slice()
            .iter()
            .map(|value| value.to_bits())
            .collect(),
    )
}

fn embed(hone: &Hone, graph: &Graph) -> Result<Run, Error> {
    hone.embed(graph, &Silent)
}

/// The limit that a refusal names is enough, whether it comes before or after counting.
fn check_refusals(hone: &Hone, graph: &Graph, what: &str) {
    let limited = |limit: u64| embed(&hone.clone().memory_limit(limit), graph);
    let Err(Error::Memory { need, .. }) = limited(1) else {
        panic!("{what}: a byte is enough")
    };
    limited(need).unwrap();
    if let Err(Error::Memory { need, .. }) = limited(need - need / 8) {
        limited(need).unwrap();
    }
}

#[test]
fn a_refusal_names_a_limit_that_is_enough() {
    for (nodes, preset) in [
        (100, "hone"),
        (5_000, "hone-p"),
        (8_000, "hone-l+x"),
        (8_000, "hone"),
    ] {
        let hone = Hone::new(config(preset, &[("motifs", "[\"edge\", \"triangle\"]")])).unwrap();
        check_refusals(
            &hone,
            &graph(nodes, 5),
            &format!("{preset} of {nodes} nodes"),
        );
    }
}

/// So it is for W_t of pairs, whose number is bounded before motifs are counted, and for networks that read their rows.
#[test]
fn a_refusal_names_a_limit_that_is_enough_for_pairs_and_networks() {
    let pairs = ("pairs", "occurrences");
    let [far, near] = [
        "[\"path3\", \"path4\", \"triangle\"]",
        "[\"path3\", \"diamond\"]",
    ]
    .map(|motifs| ("motifs", motifs));
    let network = [
        ("local.solver.method", "autoencoder"),
        ("local.solver.epochs", "1"),
        ("steps", "1"),
        near,
    ];
    let few = ("global.dim", "8");
    type Settings<'a> = &'a [(&'a str, &'a str)];
    let cases: [(usize, bool, Settings); 5] = [
        (250, false, &[pairs, far, few]),
        (800, false, &[pairs, near, few]),
        (800, true, &[pairs, near, few]),
        (
            800,
            false,
            &[
                pairs,
                near,
                few,
                ("model", "tucker"),
                ("joint.iterations", "1"),
            ],
        ),
        (
            300,
            false,
            &[network[0], network[1], network[2], network[3], few],
        ),
    ];
    for (nodes, directed, settings) in cases {
        let mut graph = graph(nodes, 5);
        if directed {
            let arcs =
                (0..nodes as u32).flat_map(|u| graph.neighbors(u).iter().map(move |&v| (u, v)));
            let some = arcs.filter(|(u, v)| (u + v) % 3 != 0 || u < v).collect();
            graph = GraphBuilder::directed(nodes).edges(some).build().unwrap();
        }
        let layers = settings.iter().fold(
            Layers::new().preset("hone-p").unwrap(),
            |layers, (key, value)| layers.set(key, value).unwrap(),
        );
        let hone = Hone::new(layers.build().unwrap()).unwrap();
        check_refusals(&hone, &graph, &format!("{nodes} nodes, {settings:?}"));
    }
}

/// Presets, attributes that join before and after, Y itself, automatic steps: all with parts in files.
#[test]
fn parts_in_files_change_no_bit() {
    // Smaller parts are not worth a file.
    let graph = graph(6_000, 1);
    let few = ("motifs", "[\"edge\", \"path3\", \"triangle\", \"clique4\"]");
    let small = ("global.dim", "4");
    let cases = [
        config("hone-p", &[few]),
        config(
            "hone",
            &[few, ("local.dim", "96"), ("local.log-window.steps", "0")],
        ),
        config("hone-l-norm+x", &[few, ("structure.depth", "0")]),
        config(
            "hone-p+x",
            &[few, ("structure.depth", "0"), ("features.combine", "after")],
        ),
        config("hone-w", &[few, ("global.output", "local")]),
        config("hone-p", &[few, ("steps", "auto"), ("global.dim", "16")]),
        config(
            "hone-p",
            &[
                few,
                small,
                ("global.solver.method", "autoencoder"),
                ("global.solver.epochs", "1"),
            ],
        ),
        config(
            "hone-p",
            &[
                few,
                small,
                ("global.solver.method", "als"),
                ("global.solver.iterations", "2"),
            ],
        ),
    ];
    for config in cases {
        let hone = Hone::new(config.clone()).unwrap();
        let free = embed(&hone, &graph).unwrap();
        assert_eq!(free.report.plan.unwrap().spilled, 0);
        let tight = embed(&hone.as_if_short(Shortage::Parts), &graph).unwrap();
        assert!(tight.report.plan.unwrap().spilled > 0);
        assert!(bits(&free) == bits(&tight), "{}", config.to_toml());
        assert_eq!(free.report.importance, tight.report.importance);
    }
}

/// Where memory is shorter still, factors wait in files while others are computed.
#[test]
fn factors_that_wait_in_files_change_no_bit() {
    let graph = graph(500, 7);
    let cases: [&[(&str, &str)]; 5] = [
        &[],
        &[("local.log-window.steps", "0")],
        &[("motifs", "[\"edge\", \"triangle\"]"), ("local.dim", "60")],
        &[("global.output", "local")],
        &[("features.combine", "before")],
    ];
    for settings in cases {
        let hone = Hone::new(config("hone", settings)).unwrap();
        let free = embed(&hone, &graph).unwrap();
        let short = embed(&hone.as_if_short(Shortage::Factors), &graph).unwrap();
        let [free_plan, short_plan] = [&free, &short].map(|run| run.report.plan.unwrap());
        assert!(!free_plan.aside && short_plan.aside, "{settings:?}");
        assert!(bits(&free) == bits(&short), "{settings:?}");
    }
}

#[test]
fn a_folder_without_room_for_files_is_named() {
    let graph = graph(6_000, 1);
    for (preset, shortage) in [("hone-p", Shortage::Parts), ("hone", Shortage::Factors)] {
        let hone = Hone::new(config(preset, &[]))
            .unwrap()
            .as_if_short(shortage)
            .temp_dir("/no/such/folder");
        let Err(error) = embed(&hone, &graph) else {
            panic!("{preset}: no file is needed")
        };
        let text = error.to_string();
        assert!(
            text.contains("/no/such/folder") && text.contains("temp_dir") && error.is_input(),
            "{text}"
        );
    }
}

/// Stops the run when so many local embeddings are done.
struct StopAfter(usize, AtomicUsize);

impl Progress for StopAfter {
    fn stage(&self, name: &str, _total: u64) {
        // Counting has a stage of its own, with units of its own.
        self.1.store(
            if name == "local embeddings" {
                0
            } else {
                usize::MAX / 2
            },
            Ordering::Relaxed,
        );
    }
    fn advance(&self, done: u64) {
        self.1.fetch_add(done as usize, Ordering::Relaxed);
    }
    fn cancelled(&self) -> bool {
        (self.0..usize::MAX / 4).contains(&self.1.load(Ordering::Relaxed))
    }
}

/// A run that is stopped after some parts; the folder of its checkpoint.
fn interrupted(hone: &Hone, graph: &Graph, parts: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let begun = hone.clone().checkpoint(folder.path());
    let stopped = begun.embed(graph, &StopAfter(parts, AtomicUsize::new(usize::MAX / 2)));
    assert!(matches!(stopped, Err(Error::Interrupted)));
    folder
}

fn parts(folder: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut parts: Vec<PathBuf> = names
        .filter(|path| path.extension().is_some_and(|e| e == "part"))
        .collect();
    parts.sort();
    parts
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_bits() {
    let graph = graph(300, 2);
    let few = ("motifs", "[\"edge\", \"path3\", \"triangle\"]");
    let cases = [
        config("hone-p", &[few, ("global.dim", "32")]),
        config(
            "hone-p+x",
            &[few, ("structure.depth", "0"), ("global.dim", "32")],
        ),
        config("hone-w", &[few, ("sample", "8"), ("global.dim", "32")]),
        config(
            "hone",
            &[
                few,
                ("first-step", "1"),
                ("global.dim", "32"),
                ("local.log-window.steps", "2"),
            ],
        ),
    ];
    for config in cases {
        let hone = Hone::new(config).unwrap();
        let plain = embed(&hone, &graph).unwrap();
        for done in [0, 1, 4] {
            let folder = interrupted(&hone, &graph, done);
            assert!(folder.path().join("counts").exists() && parts(folder.path()).len() >= done);
            let resumed = embed(&hone.clone().resume(folder.path()), &graph).unwrap();
            assert!(bits(&plain) == bits(&resumed), "stopped after {done}");
            assert_eq!(plain.report.notes, resumed.report.notes);
            assert_eq!(
                plain.report.sampled.is_some(),
                resumed.report.sampled.is_some()
            );
            // Once more, with nothing left to do.
            let again = embed(&hone.clone().resume(folder.path()), &graph).unwrap();
            assert!(bits(&plain) == bits(&again));
        }
    }
}

#[test]
fn a_budget_and_a_checkpoint_go_together() {
    let graph = graph(6_000, 3);
    let few = ("motifs", "[\"edge\", \"path3\", \"star4\"]");
    let hone = Hone::new(config("hone-p", &[few, ("global.dim", "32")])).unwrap();
    let plain = embed(&hone, &graph).unwrap();
    let folder = interrupted(&hone, &graph, 3);
    let resumed = embed(
        &hone.resume(folder.path()).as_if_short(Shortage::Parts),
        &graph,
    )
    .unwrap();
    assert!(resumed.report.plan.unwrap().spilled > 0);
    assert!(bits(&plain) == bits(&resumed));
}

#[test]
fn damaged_files_are_refused_by_name_and_made_anew_when_deleted() {
    let graph = graph(500, 4);
    let hone = Hone::new(config("hone-p", &[("global.dim", "16")])).unwrap();
    let plain = embed(&hone, &graph).unwrap();
    let folder = interrupted(&hone, &graph, 4);
    let resume = || embed(&hone.clone().resume(folder.path()), &graph);
    let mut files = parts(folder.path());
    assert_eq!(files.len(), 4);
    files.push(folder.path().join("counts"));
    for file in files {
        let whole = fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        for wrong in [&flipped[..], &whole[..whole.len() - 1]] {
            fs::write(&file, wrong).unwrap();
            let error = resume().unwrap_err();
            let (text, name) = (
                error.to_string(),
                file.file_name().unwrap().to_str().unwrap(),
            );
            assert!(
                text.contains(name) && text.contains("damaged") && text.contains("delete"),
                "{text}"
            );
            assert!(error.is_input());
        }
        fs::remove_file(&file).unwrap();
        fs::write(
            folder.path().join(".hone-left.part"),
            "of a write that was cut short",
        )
        .unwrap();
        assert!(
            bits(&plain) == bits(&resume().unwrap()),
            "{}",
            file.display()
        );
        assert!(!folder.path().join(".hone-left.part").exists());
    }
}

/// Files of the right length and checksum that hold something else.
#[test]
fn crafted_checkpoints_are_refused() {
    let graph = graph(300, 5);
    let hone = Hone::new(config(
        "hone-p",
        &[("motifs", "[\"edge\", \"clique4\"]"), ("global.dim", "4")],
    ))
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    embed(&hone.clone().checkpoint(folder.path()), &graph).unwrap();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let (manifest, part, counts) = (read("manifest.json"), read("edge.k1.part"), read("counts"));
    let crafted = |name: &str, bytes: Vec<u8>| {
        let mut json: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        json["files"][name] =
            serde_json::json!({ "bytes": bytes.len(), "crc32": crc32fast::hash(&bytes) });
        fs::write(folder.path().join("manifest.json"), json.to_string()).unwrap();
        fs::write(folder.path().join(name), bytes).unwrap();
        let error = embed(&hone.clone().resume(folder.path()), &graph).unwrap_err();
        fs::write(folder.path().join("edge.k1.part"), &part).unwrap();
        fs::write(folder.path().join("counts"), &counts).unwrap();
        assert!(
            error.is_input() && error.to_string().contains("the next run creates it again"),
            "{error}"
        );
    };
    for other in ["edge.k2.part", "clique4.k1.part"] {
        crafted("edge.k1.part", read(other));
    }
    // Half as many rows of twice as many columns.
    let end = part.iter().position(|&byte| byte == b'\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_slice(&part[..end]).unwrap();
    for (key, factor) in [("rows", 0.5), ("width", 2.0)] {
        header[key] = ((header[key].as_f64().unwrap() * factor) as u32).into();
    }
    crafted(
        "edge.k1.part",
        [header.to_string().as_bytes(), &part[end..]].concat(),
    );
    // A count that is said to be listed elsewhere, and is not; something after the end.
    let place = 9 + (0..).find(|&i| counts[10 + i] < 255).unwrap();
    let mut lost = counts.clone();
    lost[1 + place] = 255;
    crafted("counts", lost);
    crafted("counts", [counts.clone(), vec![0]].concat());
    crafted("counts", counts[..counts.len() / 2].to_vec());
}

#[test]
fn foreign_checkpoints_are_refused_with_the_difference() {
    let (mine, other) = (graph(300, 5), graph(300, 6));
    let few = ("global.dim", "16");
    let hone = Hone::new(config("hone-p", &[few])).unwrap();
    let folder = interrupted(&hone, &mine, 2);
    let refusal = |hone: &Hone, graph: &Graph, resume: bool| {
        let hone = hone.clone();
        let hone = if resume {
            hone.resume(folder.path())
        } else {
            hone.checkpoint(folder.path())
        };
        let error = embed(&hone, graph).unwrap_err();
        assert!(error.is_input(), "{error}");
        error.to_string()
    };
    let text = refusal(&hone, &mine, false);
    assert!(
        text.contains("not empty") && text.contains("resume = true"),
        "{text}"
    );
    let smaller = Hone::new(config("hone-p", &[few, ("local.dim", "8")])).unwrap();
    let text = refusal(&smaller, &mine, true);
    assert!(text.contains("local.dim is 16 there and 8 here"), "{text}");
    let text = refusal(&hone, &other, true);
    assert!(text.contains("another graph"), "{text}");
    let names = vec!["age".to_owned()];
    let block = Block::random(300, 1, Key::new(1));
    let own = Attributes::numbers(names, &block).unwrap();
    let attributed = hone.clone().with_attributes(own);
    let text = refusal(&attributed, &mine, true);
    assert!(text.contains("other attributes"), "{text}");
    let lock = fs::File::open(folder.path().join("lock")).unwrap();
    lock.lock().unwrap();
    let text = refusal(&hone, &mine, true);
    assert!(text.contains("another run"), "{text}");
    drop(lock);
    let manifest = folder.path().join("manifest.json");
    let whole = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, whole.replace(env!("CARGO_PKG_VERSION"), "0.0.9")).unwrap();
    let text = refusal(&hone, &mine, true);
    assert!(text.contains("version 0.0.9"), "{text}");
    fs::write(&manifest, &whole[..whole.len() / 2]).unwrap();
    let text = refusal(&hone, &mine, true);
    assert!(
        text.contains("manifest.json") && text.contains("delete"),
        "{text}"
    );
    fs::remove_file(&manifest).unwrap();
    let text = refusal(&hone, &mine, true);
    assert!(text.contains("no checkpoint here"), "{text}");
}

#[test]
fn fingerprints_tell_graphs_apart() {
    let edges = vec![(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)];
    let turned = vec![(3, 2), (2, 1), (1, 0), (0, 3), (3, 1)];
    let undirected = |edges: &[(u32, u32)]| GraphBuilder::undirected(4).edges(edges.to_vec());
    let named = |ids: NodeIds| undirected(&edges).ids(ids).build().unwrap();
    let names = |names: [&str; 4]| named(NodeIds::from_texts(&names));
    let some = [
        graph(300, 5),
        graph(300, 6),
        graph(301, 5),
        undirected(&edges).build().unwrap(),
        undirected(&turned).build().unwrap(),
        undirected(&edges[1..]).build().unwrap(),
        GraphBuilder::undirected(5)
            .edges(edges.clone())
            .build()
            .unwrap(),
        GraphBuilder::directed(4)
            .edges(edges.clone())
            .build()
            .unwrap(),
        undirected(&edges).weights(vec![1.0; 5]).build().unwrap(),
        undirected(&edges)
            .weights(vec![1.0, 1.0, 2.0, 1.0, 1.0])
            .build()
            .unwrap(),
        named(NodeIds::from_integers(vec![0, 1, 2, 4])),
        names(["a", "b", "c", "d"]),
        names(["a", "b", "d", "c"]),
        names(["ab", "c", "d", "e"]),
        names(["a", "bc", "d", "e"]),
    ];
    let marks: Vec<String> = some.iter().map(Graph::fingerprint).collect();
    for (at, mark) in marks.iter().enumerate() {
        assert!(
            mark.len() == 32 && !marks[..at].contains(mark),
            "graph {at} of {marks:?}"
        );
    }
    // The content counts, not how it is held, nor how many threads look at it.
    assert_eq!(marks[0], graph(300, 5).fingerprint());
    assert_eq!(
        marks[3],
        named(NodeIds::Integers(vec![0, 1, 2, 3])).fingerprint()
    );
    let large = graph(200_000, 1);
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert_eq!(large.fingerprint(), alone.install(|| large.fingerprint()));
}
