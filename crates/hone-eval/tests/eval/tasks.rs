//! The tasks end to end on small planted graphs, through the public API.

#![allow(clippy::unwrap_used)]

use std::fs;

use hone::Silent;
use hone::graph::{Graph, GraphBuilder, GraphFacts};
use hone::output::Existing;
use hone_eval::baseline::{
    Baseline, GraRep, GraphWave, Line, NetMf, Node2Vec, Order, ProNe, RolX, Spectral,
};
use hone_eval::cache::Cache;
use hone_eval::experiment::{Bench, Named};
use hone_eval::labels::NodeLabels;
use hone_eval::method::Method;
use hone_eval::random::Stream;
use hone_eval::split::{LinkSplit, Removal, TrainGraph};
use hone_eval::task::{LinkCell, LinkConfig, NodesConfig, Protocol, Setting, link, nodes};
use hone_eval::tune::{Goal, TuneOptions};
use hone_eval::vectors::Save;

/// Four groups of `size` nodes, dense inside and sparse between, and one node without edges.
fn planted(size: u32) -> Graph {
    let mut stream = Stream::new(3, "planted", 0);
    let n = 4 * size;
    let mut edges = Vec::new();
    for u in 0..n {
        for v in u + 1..n {
            let chance = if u / size == v / size {
                8.0 / f64::from(size)
            } else {
                0.5 / f64::from(size)
            };
            if stream.unit() < chance {
                edges.push((u, v));
            }
        }
    }
    GraphBuilder::undirected(n as usize + 1)
        .edges(edges)
        .build()
        .unwrap()
}

fn methods(names: &[&str]) -> Vec<Method> {
    names.iter().map(|n| Method::parse(n).unwrap()).collect()
}

fn auc(names: &[&str], config: &LinkConfig) -> Vec<f64> {
    let cells = link(
        &planted(40),
        &methods(names),
        config,
        1,
        Setting::new(&Cache::none(), &Silent),
    )
    .unwrap();
    let auc = |cell: hone::Result<LinkCell>| cell.unwrap().validated().unwrap().auc;
    cells.into_iter().map(auc).collect()
}

#[test]
fn groups_are_predicted_by_proximity_and_not_by_chance() {
    let config = LinkConfig {
        operators: vec!["hadamard".parse().unwrap()],
        ..LinkConfig::default()
    };
    let names = [
        "spectral:dim=4",
        "node2vec:dim=16",
        "grarep:dim=8",
        "common-neighbors",
        "random:dim=16",
    ];
    let found = auc(&names, &config);
    assert!(found[0] > 0.75, "spectral {found:?}");
    assert!(found[1] > 0.6, "node2vec {found:?}");
    assert!(found[2] > 0.7, "GraRep {found:?}");
    assert!(found[3] > 0.55, "common neighbours {found:?}");
    assert!((found[4] - 0.5).abs() < 0.08, "random {found:?}");
}

#[test]
fn protocols_differ_and_all_work() {
    for protocol in [Protocol::Select10, Protocol::Cv, Protocol::TrainGraph] {
        let operators = vec!["hadamard".parse().unwrap(), "mean+l1".parse().unwrap()];
        let found = auc(
            &["spectral:dim=4|8"],
            &LinkConfig {
                protocol,
                operators,
                ..LinkConfig::default()
            },
        );
        assert!(found[0] > 0.7, "{protocol:?}: {found:?}");
    }
}

/// Whatever the number of threads, the same bits.
#[test]
fn vectors_do_not_depend_on_threads() {
    let graph = planted(60);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let walks = Node2Vec {
                dim: 12,
                walks: 2,
                length: 20,
                p: 0.5,
                q: 2.0,
                ..Node2Vec::default()
            };
            let line = |order| Line {
                dim: 10,
                order,
                samples: Some(20_000),
                ..Line::default()
            };
            vec![
                walks.embed(&graph, 7, &Silent).unwrap(),
                line(Order::Second).embed(&graph, 7, &Silent).unwrap(),
                line(Order::Both).embed(&graph, 7, &Silent).unwrap(),
                GraRep {
                    dim: 9,
                    steps: 2,
                    ..GraRep::default()
                }
                .embed(&graph, 7, &Silent)
                .unwrap(),
                Spectral {
                    dim: 5,
                    ..Spectral::default()
                }
                .embed(&graph, 7, &Silent)
                .unwrap(),
                NetMf {
                    dim: 9,
                    exact: 0,
                    rank: 20,
                    ..NetMf::default()
                }
                .embed(&graph, 7, &Silent)
                .unwrap(),
                ProNe {
                    dim: 9,
                    ..ProNe::default()
                }
                .embed(&graph, 7, &Silent)
                .unwrap(),
                RolX {
                    dim: 6,
                    ..RolX::default()
                }
                .embed(&graph, 7, &Silent)
                .unwrap(),
                GraphWave::default().embed(&graph, 7, &Silent).unwrap(),
            ]
        })
    };
    let one = run(1);
    assert_eq!(one, run(4));
    assert!(
        one.iter()
            .all(|z| z.rows() == 241 && z.as_slice().iter().all(|v| v.is_finite()))
    );
}

#[test]
fn graphs_without_edges_and_memory_limits_are_values() {
    let empty = GraphBuilder::undirected(5).build().unwrap();
    for name in [
        "node2vec",
        "line",
        "line-both",
        "grarep",
        "netmf",
        "prone",
        "fastrp",
        "spectral",
        "rolx",
        "graphwave",
        "degree",
        "random",
    ] {
        let candidates = Method::parse(name).unwrap().candidates;
        let z = candidates[0]
            .1
            .embed(&TrainGraph::whole(empty.clone()), 1, &Silent)
            .unwrap();
        assert_eq!(z.block.rows(), 5, "{name}");
    }
    let small = GraRep {
        memory: 1000,
        ..GraRep::default()
    }
    .embed(&planted(20), 1, &Silent);
    assert!(
        small
            .unwrap_err()
            .to_string()
            .contains("GraRep needs about")
    );
    let small = NetMf {
        memory: 1000,
        ..NetMf::default()
    }
    .embed(&planted(20), 1, &Silent);
    assert!(small.unwrap_err().to_string().contains("NetMF needs about"));
    for name in [
        "random", "node2vec", "line", "grarep", "netmf", "prone", "rolx", "spectral", "fastrp",
    ] {
        for dim in ["0", "4000000000000"] {
            let refused = Method::parse(&format!("{name}:dim={dim}"))
                .unwrap_err()
                .to_string();
            assert!(
                refused.contains("must be from 1 to 65536"),
                "{name}, {dim}: {refused}"
            );
        }
    }
}

/// Labels that the same nodes have share a model: doubling every label changes no decision.
#[test]
fn doubled_labels_change_no_decision() {
    let graph = planted(30);
    let folder = tempfile::tempdir().unwrap();
    let scores = |text: String| {
        let path = folder.path().join("labels");
        fs::write(&path, text).unwrap();
        let labels = NodeLabels::read(&path, &graph).unwrap();
        let config = NodesConfig {
            shares: vec![0.3, 0.7],
            ..NodesConfig::classification()
        };
        let cells = nodes(
            &graph,
            &labels,
            &methods(&["random:dim=4"]),
            &config,
            1,
            Setting::new(&Cache::none(), &Silent),
        );
        cells.unwrap()[0]
            .as_ref()
            .unwrap()
            .scores
            .iter()
            .map(|s| (s.micro_f1, s.macro_f1, s.accuracy))
            .collect::<Vec<_>>()
    };
    let once = scores((0..120).map(|i| format!("{i}\tg{}\n", i / 30)).collect());
    let twice = scores(
        (0..120)
            .map(|i| format!("{i}\tg{0},h{0}\n", i / 30))
            .collect(),
    );
    for (a, b) in once.iter().zip(&twice) {
        assert_eq!((a.0, a.2), (b.0, b.2));
        assert!(
            (a.1 - b.1).abs() < 1e-12,
            "a mean over twice as many labels: {once:?} {twice:?}"
        );
    }
    assert!(
        once.iter().all(|score| score.0 < 0.9),
        "some decisions are wrong: {once:?}"
    );
}

/// A file of roles begins with the names of its columns, which a node may have as well.
#[test]
fn files_of_roles_are_labels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("roles.tsv");
    let read = |ids: &[&str], text: &str| {
        fs::write(&path, text).unwrap();
        let ids = hone::graph::NodeIds::from_texts(ids);
        let graph = GraphBuilder::undirected(0)
            .ids(ids)
            .edges(vec![(0, 1), (1, 2)])
            .build()
            .unwrap();
        NodeLabels::read(&path, &graph)
            .map(|labels| (labels.names, labels.nodes.len(), labels.unknown))
    };
    let hubs = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let text = "id\trole\na\thub\nid\tend\nc\tend\n";
    assert_eq!(
        read(&["a", "id", "c"], text).unwrap(),
        (hubs(&["end", "hub"]), 3, 0)
    );
    assert_eq!(
        read(&["a", "b", "c"], "id\trole\na\thub\nb\tend\n").unwrap(),
        (hubs(&["end", "hub"]), 2, 0)
    );
    assert_eq!(
        read(&["a", "id", "c"], "id\trole\na\thub\n").unwrap(),
        (hubs(&["hub", "role"]), 2, 0)
    );
    assert!(read(&["a", "id", "c"], "id\trole\nid\thub\nid\tend\n").is_err());
}

#[test]
fn labels_are_learnt() {
    let graph = planted(30);
    let folder = tempfile::tempdir().unwrap();
    let single: String = (0..120)
        .map(|i| format!("{i}\tgroup{}\n", i / 30))
        .collect();
    let multi: String = (0..120)
        .map(|i| format!("{i}\t{}{}\n", i / 30, if i % 30 < 5 { ",all" } else { "" }))
        .collect();
    for (text, several) in [(single, false), (multi, true)] {
        let path = folder.path().join("labels");
        fs::write(&path, text).unwrap();
        let labels = NodeLabels::read(&path, &graph).unwrap();
        assert_eq!(labels.is_multi(), several);
        let config = NodesConfig {
            shares: vec![0.5, 0.8],
            cluster: true,
            ..NodesConfig::classification()
        };
        let run = |names: &[&str]| {
            nodes(
                &graph,
                &labels,
                &methods(names),
                &config,
                1,
                Setting::new(&Cache::none(), &Silent),
            )
            .and_then(|cells| cells.into_iter().collect::<hone::Result<Vec<_>>>())
        };
        let cells = run(&["spectral:dim=4", "random:dim=4"]).unwrap();
        assert!(
            cells[0].scores.iter().all(|s| s.micro_f1 > 0.8),
            "{cells:?}"
        );
        assert!(
            cells[1].scores.iter().all(|s| s.micro_f1 < 0.6),
            "{cells:?}"
        );
        assert!(cells[0].nmi.unwrap() > cells[1].nmi.unwrap());
        let chosen = run(&["spectral:dim=1|4"]).unwrap();
        assert_eq!(
            chosen[0].scores, cells[0].scores,
            "one column is not enough for four groups"
        );
        assert!(run(&["katz"]).is_err());
    }
}

#[test]
fn vectors_of_a_file_belong_to_its_ids() {
    let graph = GraphBuilder::undirected(4)
        .edges(vec![(0, 1), (1, 2)])
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("z.tsv");
    let text = format!("file:{}", path.display());
    assert!(
        Method::parse(&text)
            .unwrap_err()
            .to_string()
            .contains("no such file")
    );
    fs::write(&path, "").unwrap();
    let method = Method::parse(&text).unwrap();
    let embed = |rows: &str| {
        fs::write(&path, format!("id\tz0\n{rows}")).unwrap();
        method.candidates[0]
            .1
            .embed(&TrainGraph::whole(graph.clone()), 1, &Silent)
    };
    let exact = embed("2\t7\n0\t5\n3\t1\n1\t6\n").unwrap();
    assert_eq!(
        (exact.block.as_slice(), exact.notes.len()),
        (&[5.0, 6.0, 7.0, 1.0][..], 0)
    );
    let loose = embed("2\t7\n0\t5\n1\t6\n9\t1\n").unwrap();
    assert_eq!(loose.block.as_slice(), [5.0, 6.0, 7.0, 0.0]);
    assert!(
        loose.notes[0].contains("1 of 4 nodes have no vector (`3`)"),
        "{:?}",
        loose.notes
    );
    assert!(
        loose.notes[1].contains("1 of 4 rows are of nodes that the graph does not have (`9`)"),
        "{:?}",
        loose.notes
    );
    for (rows, part) in [
        ("0\t5\n1\t6\n0\t7\n2\t7\n", "`0` has two vectors"),
        ("0\t5\n1\t6\n3\t1\n", "1 of 4 nodes have no vector (`2`)"),
        (
            "0\t5\n7\t6\n8\t1\n",
            "another graph: 3 of 4 nodes have no vector (`1`, `2`, `3`); 2 of 3 rows",
        ),
        (
            "0\t5\n1\t6\n2\t1\n3\t4\n4\t1\n5\t1\n6\t1\n7\t1\n8\t1\n9\t1\n",
            "6 of 10 rows are of nodes",
        ),
        ("0\tNaN\n1\t6\n2\t1\n3\t4\n", "not finite"),
    ] {
        let refused = embed(rows).unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
    }
}

/// What the record of a run shows about vectors that compete in link prediction.
#[test]
fn vectors_that_have_seen_the_removed_edges_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("z.tsv");
    let whole = planted(30);
    let split = |seed| {
        LinkSplit::of(
            whole.clone(),
            &Removal {
                seed,
                ..Removal::default()
            },
        )
        .unwrap()
        .train
    };
    let rows: String = (0..whole.nodes())
        .map(|i| format!("{i}\t{}\n", i % 7))
        .collect();
    fs::write(&path, format!("id\tz0\n{rows}")).unwrap();
    let judge = |made_from: Option<&Graph>| {
        let record = folder.path().join("z.tsv.run.json");
        match made_from {
            Some(graph) => fs::write(
                &record,
                serde_json::json!({"graph": GraphFacts::of(graph)}).to_string(),
            )
            .unwrap(),
            None => fs::remove_file(&record).unwrap(),
        }
        let method = Method::parse(&format!("file:{}", path.display())).unwrap();
        link(
            &whole,
            &[method],
            &LinkConfig::default(),
            2,
            Setting::new(&Cache::none(), &Silent),
        )
        .and_then(|cells| cells.into_iter().collect::<hone::Result<Vec<_>>>())
    };
    assert!(judge(Some(split(2).graph())).unwrap()[0].notes.is_empty());
    let refused = judge(Some(&whole)).unwrap_err().to_string();
    assert!(
        refused.contains("whole graph") && refused.contains("split.seed = 2"),
        "{refused}"
    );
    assert!(
        judge(Some(split(1).graph()))
            .unwrap_err()
            .to_string()
            .contains("another split")
    );
    assert!(judge(Some(&planted(20))).unwrap()[0].notes[0].contains("another graph (81 nodes"));
    assert!(judge(None).unwrap()[0].notes[0].contains("nothing says"));
}

#[test]
fn vectors_are_kept_and_compete_again() {
    let folder = tempfile::tempdir().unwrap();
    let (cells, kept) = (folder.path().join("cells"), folder.path().join("kept"));
    let graphs = [Named {
        name: "a/b".into(),
        graph: planted(20),
    }];
    let run = |names: &[&str]| {
        let (cache, save) = (
            Cache::open(&cells).unwrap(),
            Save::open(&kept, Existing::Refuse).unwrap(),
        );
        let methods = methods(names);
        let bench = Bench {
            methods: &methods,
            seeds: 3..5,
            search_once: false,
            cache: &cache,
            save: Some(&save),
            progress: &Silent,
        };
        let report = bench.link_report(&graphs, &LinkConfig::default()).unwrap();
        (save.finish().unwrap(), report.tables[0].clone())
    };
    let names = ["spectral:dim=2|4", "degree", "katz"];
    let (count, table) = run(&names);
    assert_eq!(count, 2 * 3);
    fs::remove_file(kept.join("a_b/degree-3.npz")).unwrap();
    assert_eq!(
        run(&names),
        (6, table.clone()),
        "what is gone is made again, whatever the cache holds"
    );
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(kept.join("manifest.json")).unwrap()).unwrap();
    let files: Vec<&str> = manifest["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["file"].as_str().unwrap())
        .collect();
    assert!(
        files.contains(&"a_b/spectral-dim=4-4.npz") && files.contains(&"a_b/degree-3.npz"),
        "{files:?}"
    );
    let again = format!("file:{}/a_b/degree-{{seed}}.npz", kept.display());
    let (_, repeated) = run(&[&again]);
    assert_eq!(
        (&repeated.rows[0].1, repeated.notes.len()),
        (&table.rows[1].1, 0)
    );
}

#[test]
fn a_report_is_complete_and_repeats_from_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    let methods = methods(&["degree", "log-degree", "hone-p:global.dim=8,local.dim=4"]);
    let bench = Bench {
        methods: &methods,
        seeds: 1..3,
        search_once: false,
        cache: &cache,
        save: None,
        progress: &Silent,
    };
    let graphs = [40, 30].map(|size| Named {
        name: format!("planted-{size}"),
        graph: planted(size),
    });
    let config = LinkConfig {
        operators: vec!["mean".parse().unwrap(), "hadamard".parse().unwrap()],
        ..LinkConfig::default()
    };
    let report = bench.link_report(&graphs, &config).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2 * 2 * 3);
    assert_eq!(bench.link_report(&graphs, &config).unwrap(), report);
    let (text, html) = (report.text(false), report.html());
    for part in [
        "AUC, mean operator",
        "AUC, operator chosen by validation",
        "log-degree",
        "planted-30",
        "Mean gain",
    ] {
        assert!(
            text.contains(part) && html.contains(part),
            "{part} is missing"
        );
    }
    assert!(html.contains("<svg") && !html.contains("http:") && !html.contains("https:"));
    assert!(serde_json::from_str::<serde_json::Value>(&report.json()).is_ok());
    assert!(report.csv().lines().count() > 20 && report.markdown().contains("| degree |"));
}

#[test]
fn a_search_on_one_split_leaves_what_won_there() {
    let graphs = [Named {
        name: "planted".into(),
        graph: planted(20),
    }];
    let methods = methods(&["spectral:dim=1|2|3|4|5|6", "degree"]);
    let chosen = |search_once, seeds| {
        let bench = Bench {
            methods: &methods,
            seeds,
            search_once,
            cache: &Cache::none(),
            save: None,
            progress: &Silent,
        };
        let results = bench.link(&graphs, &LinkConfig::default()).unwrap();
        let of_spectral =
            |run: &serde_json::Value| run["results"][0]["candidate"].as_str().unwrap().to_string();
        results
            .runs()
            .iter()
            .filter(|run| run["method"] != "degree")
            .map(of_spectral)
            .collect::<Vec<_>>()
    };
    let winner = chosen(false, 8..9);
    let all = chosen(true, 9..15);
    assert_eq!(all, vec![winner[0].clone(); 6]);
    assert_ne!(
        all,
        chosen(false, 9..15),
        "other splits choose otherwise, or the test shows nothing"
    );
}

/// Two dimensions cannot tell four groups apart as well as sixteen; the same settings under another name are no better.
#[test]
fn tuning_takes_what_is_clearly_better_and_nothing_else() {
    let graph = planted(60);
    let labels: Vec<(u32, Vec<&str>)> = (0..240)
        .map(|i| (i, vec![["a", "b", "c", "d"][i as usize / 60]]))
        .collect();
    let labels = NodeLabels::new(&labels).unwrap();
    let options = |candidates: &[&str], by| TuneOptions {
        candidates: candidates.iter().map(|&text| text.to_owned()).collect(),
        goal: by,
        rounds: 4,
        ..TuneOptions::default()
    };
    let clear = options(&["hone:dim=2", "hone:dim=16"], Some(Goal::Labels));
    let clear = clear.run(&graph, Some(&labels), None, &Silent).unwrap();
    assert_eq!(
        (clear.goal, clear.rounds, clear.chosen),
        (Goal::Labels, 4, 1),
        "{:?}",
        clear.rows
    );
    assert_eq!(clear.config.global.dim, 16);
    let few = options(&["hone:dim=2", "hone:dim=16"], None);
    let links = few.run(&graph, None, None, &Silent).unwrap();
    assert_eq!((links.goal, links.best), (Goal::Links, 1));
    assert!(
        links
            .rows
            .iter()
            .all(|row| row.links.len() == 4 && row.labels.is_empty() && row.seconds > 0.0)
    );
    let alike = options(
        &["hone:dim=16", "hone:dim=16,local.solver.tolerance=0.00011"],
        Some(Goal::Labels),
    );
    let alike = alike.run(&graph, Some(&labels), None, &Silent).unwrap();
    assert_eq!((alike.goal, alike.chosen), (Goal::Labels, 0));
    assert!(
        alike
            .rows
            .iter()
            .all(|row| row.labels.len() == 4 && row.links.is_empty())
    );
    let none = few
        .run(
            &graph,
            Some(&labels),
            Some(std::time::Duration::ZERO),
            &Silent,
        )
        .unwrap();
    assert_eq!((none.goal, none.rounds, none.chosen), (Goal::Both, 0, 0));
    let once = TuneOptions { rounds: 1, ..few }
        .run(&graph, Some(&labels), None, &Silent)
        .unwrap();
    assert_eq!((once.goal, once.rounds, once.chosen), (Goal::Both, 1, 0));
    assert_eq!(
        once.rows[1].links[0], links.rows[1].links[0],
        "the first round is that of the longer run"
    );
}
