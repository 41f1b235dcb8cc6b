//! `hone embed --save-model`, `hone place` and `hone info MODEL`.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use super::{bytes, files, folder, hone};

fn fit(folder: &Path, graph: &str) {
    let out = folder.join("a.tsv");
    hone()
        .args(["-q", "embed", graph, "-o"])
        .arg(out)
        .arg("--save-model")
        .arg(folder.join("m.hone"))
        .assert()
        .success();
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).expect("written");
    text.lines()
        .skip(1)
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

/// A graph is read as that of the model was, unless an option says otherwise.
#[test]
fn a_graph_is_read_as_that_of_the_model() {
    let folder = folder();
    let arcs: String = (0..40)
        .map(|i| format!("{i} {} 2\n{i} {} 1\n", (i + 1) % 40, (i * 7 + 3) % 40))
        .collect();
    fs::write(folder.path().join("g.txt"), &arcs).expect("written");
    let run = |line: &str| {
        let mut run = hone();
        let line = line.split(' ').chain(["--model", "m.hone", "-o"]);
        run.current_dir(folder.path()).args(line);
        run
    };
    let mut fit = hone();
    let fit = fit.current_dir(folder.path()).args([
        "embed",
        "g.txt",
        "-o",
        "a.tsv",
        "--save-model",
        "m.hone",
        "--directed",
        "--weighted",
    ]);
    fit.assert().success();
    let placed = run("place g.txt").arg("b.tsv").assert().success();
    placed.stderr(contains(
        "note: read with --directed and --weighted, as the graph of the model was",
    ));
    let [fitted, placed] = ["a.tsv", "b.tsv"].map(|name| bytes(&folder.path().join(name)));
    assert_eq!(fitted, placed);
    let refused = run("place g.txt --no-directed").arg("c.tsv").assert();
    refused.code(2).stderr(contains("--directed"));
}

#[test]
fn the_same_graph_has_the_same_bytes_and_new_nodes_their_place() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let edges: String = (0..40)
        .map(|i| format!("{i}\t{}\n{i}\t{}\n", (i + 1) % 40, (i * 7 + 3) % 40))
        .collect();
    fs::write(at("g.tsv"), &edges).expect("written");
    fit(folder.path(), at("g.tsv").to_str().expect("a plain name"));
    let like = |graph: &Path, out: &str| {
        let mut run = hone();
        run.arg("place")
            .arg(graph)
            .arg("-o")
            .arg(at(out))
            .arg("--model")
            .arg(at("m.hone"));
        run
    };
    like(&at("g.tsv"), "b.tsv")
        .assert()
        .success()
        .stderr(contains("(40 with unchanged proximity columns), 0 new"));
    assert_eq!(bytes(&at("a.tsv")), bytes(&at("b.tsv")));
    fs::write(at("h.tsv"), format!("{edges}newcomer\t0\nnewcomer\t33\n")).expect("written");
    like(&at("h.tsv"), "c.tsv")
        .assert()
        .success()
        .stderr(contains("nodes: 40 in ").and(contains("1 new")));
    let (before, after) = (rows(&at("a.tsv")), rows(&at("c.tsv")));
    assert_eq!(after.len(), 41);
    for row in &before {
        let now = after
            .iter()
            .find(|now| now[0] == row[0])
            .expect("still there");
        assert_eq!(
            row[..113],
            now[..113],
            "node {} keeps its proximity",
            row[0]
        );
    }
    let report: serde_json::Value =
        serde_json::from_slice(&bytes(&at("c.tsv.run.json"))).expect("JSON");
    assert_eq!(
        (&report["like"]["new"], &report["like"]["same"]),
        (&1.into(), &false.into())
    );
    assert!(
        report["like"]["model"]
            .as_str()
            .is_some_and(|model| model.ends_with("m.hone"))
    );
    let again = hone()
        .args(["place", "-o"])
        .arg(at("d.tsv"))
        .arg("--config")
        .arg(at("c.tsv.run.json"))
        .assert();
    again.success();
    assert_eq!(bytes(&at("c.tsv")), bytes(&at("d.tsv")));
    let other = hone()
        .args(["embed", "--dim", "8", "-o"])
        .arg(at("e.tsv"))
        .arg("--config")
        .arg(at("c.tsv.run.json"))
        .assert();
    other.code(2).stderr(contains("the record of `hone place`"));
    fs::create_dir(at("other")).expect("made");
    fit(&at("other"), "builtin:karate");
    fs::rename(at("other/m.hone"), at("m.hone")).expect("moved");
    let again = hone()
        .args(["place", "-o"])
        .arg(at("e.tsv"))
        .arg("--config")
        .arg(at("c.tsv.run.json"))
        .assert();
    again
        .code(2)
        .stderr(contains("not the model of").and(contains("--changed allow")));
}

#[test]
fn new_nodes_alone_have_the_rows_they_have_among_all() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let edges: String = (0..40)
        .map(|i| format!("{i}\t{}\n{i}\t{}\n", (i + 1) % 40, (i * 7 + 3) % 40))
        .collect();
    fs::write(at("g.tsv"), &edges).expect("written");
    fs::write(
        at("h.tsv"),
        format!("{edges}newcomer\t0\nnewcomer\t33\nfriend\tnewcomer\n"),
    )
    .expect("written");
    fit(folder.path(), at("g.tsv").to_str().expect("a plain name"));
    let like = |graph: &str, out: &str, more: &[&str]| {
        let mut run = hone();
        run.arg("place")
            .arg(at(graph))
            .arg("-o")
            .arg(at(out))
            .arg("--model")
            .arg(at("m.hone"))
            .args(more);
        run
    };
    like("h.tsv", "all.tsv", &[]).assert().success();
    let told = contains("nodes: 40 in ").and(contains("2 new; only new nodes are written"));
    like("h.tsv", "new.tsv", &["--new-only"])
        .assert()
        .success()
        .stderr(told);
    let (all, new) = (rows(&at("all.tsv")), rows(&at("new.tsv")));
    assert_eq!(new.len(), 2);
    assert!(
        new.iter().all(|row| all.contains(row)) && new[0][0] == "newcomer" && new[1][0] == "friend"
    );
    let report: serde_json::Value =
        serde_json::from_slice(&bytes(&at("new.tsv.run.json"))).expect("JSON");
    assert_eq!(
        (&report["like"]["new_only"], &report["like"]["new"]),
        (&true.into(), &2.into())
    );
    let again = hone()
        .args(["place", "-o"])
        .arg(at("d.tsv"))
        .arg("--config")
        .arg(at("new.tsv.run.json"))
        .assert();
    again.success();
    assert_eq!(bytes(&at("new.tsv")), bytes(&at("d.tsv")));
    like("h.tsv", "new.npy", &["--new-only", "-q"])
        .assert()
        .success()
        .stderr("");
    let ids = fs::read_to_string(at("new.ids.txt")).expect("beside the vectors");
    assert_eq!(ids.lines().collect::<Vec<_>>(), ["newcomer", "friend"]);
    for out in ["none.tsv", "none.npy", "none.parquet", "none.w2v"] {
        like("g.tsv", out, &["--new-only"])
            .assert()
            .success()
            .stderr(contains("0 new").and(contains("has no rows")));
        assert!(at(out).exists());
    }
    assert!(rows(&at("none.tsv")).is_empty());
    hone()
        .args(["embed", "builtin:karate", "-o"])
        .arg(at("e.tsv"))
        .arg("--new-only")
        .assert()
        .code(2);
}

/// What is new is placed without the graph that the model was fitted to, and added to it where it is given.
#[test]
fn edges_of_new_nodes_are_added() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let edges: String = (0..40)
        .map(|i| format!("{i}\t{}\n{i}\t{}\n", (i + 1) % 40, (i * 7 + 3) % 40))
        .collect();
    let more = "newcomer\t0\nnewcomer\t33\nfriend\tnewcomer\n";
    fs::write(at("g.tsv"), &edges).expect("written");
    fs::write(at("more.tsv"), more).expect("written");
    fs::write(at("h.tsv"), format!("{edges}{more}")).expect("written");
    fit(folder.path(), at("g.tsv").to_str().expect("a plain name"));
    let place = |out: &str, args: &[&str]| {
        let mut run = hone();
        run.current_dir(&folder)
            .args(["place", "-o", out])
            .args(args);
        run
    };
    let model = ["--model", "m.hone"];
    place("all.tsv", &[&["h.tsv"], &model[..]].concat())
        .assert()
        .success();
    let both = ["g.tsv", "--add", "more.tsv"];
    place("both.tsv", &[&both, &model[..]].concat())
        .assert()
        .success();
    let (all, both) = (rows(&at("all.tsv")), rows(&at("both.tsv")));
    assert!(both.len() == 42 && all.iter().all(|row| both.contains(row)));
    let told = contains("2 in m.hone, 2 new; only new nodes are written").and(contains(
        "these are the proximity columns; the others take the whole graph",
    ));
    place("new.tsv", &[&["--add", "more.tsv"], &model[..]].concat())
        .assert()
        .success()
        .stderr(told);
    let new = rows(&at("new.tsv"));
    assert_eq!([&new[0][0], &new[1][0]], ["newcomer", "friend"]);
    for row in &new {
        let whole = all.iter().find(|whole| whole[0] == row[0]).expect("there");
        assert_eq!(row[..], whole[..113], "proximity alone");
    }
    // Records repeat both, and say which file it was.
    for (out, field, value) in [("both", "added", "more.tsv"), ("new", "added_only", "true")] {
        let report: serde_json::Value =
            serde_json::from_slice(&bytes(&at(&format!("{out}.tsv.run.json")))).expect("JSON");
        assert_eq!(report["like"][field].to_string().trim_matches('"'), value);
        let record = format!("{out}.tsv.run.json");
        place("again.tsv", &["--force", "--config", &record])
            .assert()
            .success();
        assert_eq!(bytes(&at("again.tsv")), bytes(&at(&format!("{out}.tsv"))));
    }
    fs::write(at("more.tsv"), "newcomer\t0\n").expect("written");
    for record in ["both.tsv.run.json", "new.tsv.run.json"] {
        let again = place("again.tsv", &["--force", "--config", record]).assert();
        again.code(2).stderr(contains("--changed allow"));
    }
    let structure = ["--add", "more.tsv", "--structure-only"];
    place("x.tsv", &[&structure, &model[..]].concat())
        .assert()
        .code(2)
        .stderr(contains(
            "--structure-only: motifs around new nodes take the whole graph",
        ));
    place("x.tsv", &model)
        .assert()
        .code(2)
        .stderr(contains("INPUT"));
    fs::write(at("few.tsv"), "newcomer\t0\n1\t39\n").expect("written");
    place("x.tsv", &[&["few.tsv"], &model[..]].concat())
        .assert()
        .code(2)
        .stderr(contains(
            "Give the whole graph, old and new edges; or what is new as --add",
        ));
}

/// A repeated run can take back what it left out.
#[test]
fn choices_of_a_record_can_be_taken_back() {
    let folder = folder();
    fit(folder.path(), "builtin:karate");
    let place = |out: &str, args: &[&str]| {
        let mut run = hone();
        run.current_dir(&folder)
            .args(["place", "-o", out])
            .args(args);
        run.assert().success();
        rows(&folder.path().join(out))
    };
    let karate = ["builtin:karate", "--model", "m.hone"];
    let few = place(
        "few.tsv",
        &[&karate[..], &["--structure-only", "--new-only"]].concat(),
    );
    assert!(few.is_empty());
    let back = ["--no-structure-only", "--no-new-only"];
    let all = place(
        "all.tsv",
        &[&["--config", "few.tsv.run.json"], &back[..]].concat(),
    );
    assert_eq!((all.len(), all[0].len()), (34, 129));
    let map = |out: &str, args: &[&str]| {
        let mut run = hone();
        run.current_dir(&folder).args(["map", "-o", out]).args(args);
        run.assert().success();
        let record = bytes(&folder.path().join(format!("{out}.run.json")));
        let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
        (
            record["style"]["names"].clone(),
            record["style"]["shapes"].clone(),
        )
    };
    let small = [
        "builtin:karate",
        "--layout",
        "pca",
        "--no-names",
        "--shapes",
    ];
    assert_eq!(map("a.svg", &small), (false.into(), true.into()));
    let again = ["--config", "a.svg.run.json"];
    assert_eq!(map("b.svg", &again), (false.into(), true.into()));
    let back = [&again[..], &["--names", "--no-shapes"]].concat();
    assert_eq!(map("c.svg", &back), (true.into(), false.into()));
}

#[test]
fn structure_alone_needs_no_shared_nodes() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fit(folder.path(), "builtin:karate");
    let like = |out: &str, more: &[&str]| {
        let mut run = hone();
        run.args(["place", "builtin:florentine", "-o"])
            .arg(at(out))
            .arg("--model")
            .arg(at("m.hone"))
            .args(more);
        run
    };
    like("x.tsv", &[])
        .assert()
        .success()
        .stderr(contains("proximity columns are zero; --structure-only"));
    like("y.tsv", &["--structure-only"])
        .assert()
        .success()
        .stderr(contains("structure 0–15"));
    assert_eq!(rows(&at("y.tsv"))[0].len(), 17);
    let lines = |name: &str, from: usize| {
        rows(&at(name))
            .iter()
            .map(|row| row[from..].to_vec())
            .collect::<Vec<_>>()
    };
    assert_eq!(lines("x.tsv", 113), lines("y.tsv", 1));
}

#[test]
fn what_a_model_is_can_be_seen() {
    let folder = folder();
    let model = folder.path().join("m.hone");
    fit(folder.path(), "builtin:karate");
    let shown = hone().arg("info").arg(&model).assert().success();
    shown.stdout(
        contains("112 proximity, 16 structure")
            .and(contains("edge, 3 steps"))
            .and(contains("34")),
    );
    let json = hone()
        .args(["info", "--json"])
        .arg(&model)
        .assert()
        .success();
    let facts: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!(
        (&facts["graph"]["nodes"], &facts["config"]["psi"]),
        (&34.into(), &"a-norm".into())
    );
}

/// Those too short to begin as a model does are told by their extension.
#[test]
fn models_that_are_cut_off_are_refused() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fit(folder.path(), "builtin:karate");
    let whole = bytes(&at("m.hone"));
    for length in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 400, whole.len() - 1] {
        fs::write(at("short.hone"), &whole[..length]).expect("written");
        let info = hone().arg("info").arg(at("short.hone")).assert().code(2);
        let mut place = hone();
        place
            .args(["place", "builtin:karate", "-o"])
            .arg(at("z.npy"));
        let place = place.arg("--model").arg(at("short.hone")).assert().code(2);
        for run in [info, place] {
            let run = run.stderr(contains("short.hone").and(contains("panicked").not()));
            if length < 8 {
                run.stderr(contains(format!("cut off: it has {length} bytes")));
            }
        }
    }
    assert!(!at("z.npy").exists());
}

/// Vectors are described in every format, text and Parquet by the record beside them.
#[test]
fn what_vectors_are_can_be_seen() {
    let folder = folder();
    let run = |args: &[&str]| {
        let mut run = hone();
        let done = run.current_dir(&folder).args(args).assert().success();
        String::from_utf8(done.get_output().stdout.clone()).expect("text")
    };
    for end in ["npy", "npz", "tsv", "csv", "parquet", "w2v", "safetensors"] {
        let name = format!("v.{end}");
        run(&["-q", "embed", "builtin:karate", "--dim", "24", "-o", &name]);
        let text = run(&["info", &name]);
        assert!(text.contains("vectors in") && text.contains(end), "{text}");
        assert!(text.contains("24: 21 proximity, 3 structure"), "{text}");
        let facts: serde_json::Value =
            serde_json::from_str(&run(&["info", "--json", &name])).expect("JSON");
        assert_eq!(
            (
                &facts["nodes"],
                &facts["columns"],
                &facts["zero_rows"],
                &facts["ids"][1]
            ),
            (&34.into(), &24.into(), &0.into(), &"1".into())
        );
        fs::remove_file(folder.path().join(format!("{name}.run.json"))).expect("there");
    }
    // Without a record text is a graph, as everywhere.
    fs::write(folder.path().join("g.tsv"), "a\tb\nb\tc\n").expect("written");
    assert!(run(&["info", "g.tsv"]).contains("edges"));
}

#[test]
fn models_are_refused_where_they_have_no_meaning() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let out = at("z.npy");
    let run = |command: &str, more: &[&str]| {
        let mut run = hone();
        run.args([command, "builtin:karate", "-o"])
            .arg(&out)
            .args(more);
        run
    };
    let embed = |more: &[&str]| run("embed", more);
    let place = |more: &[&str]| run("place", more);
    let paper = embed(&["--preset", "hone-p", "--save-model"])
        .arg(at("p.hone"))
        .assert()
        .code(2);
    paper.stderr(contains("psi").and(contains("a model needs")));
    embed(&["--structure-only"]).assert().code(2);
    assert_eq!(files(folder.path()), 0, "nothing is left behind");
    fit(folder.path(), "builtin:karate");
    place(&["--seed", "3", "--model"])
        .arg(at("m.hone"))
        .assert()
        .code(2)
        .stderr(contains("--seed"));
    place(&["--checkpoint", "c", "--model"])
        .arg(at("m.hone"))
        .assert()
        .code(2)
        .stderr(contains("--checkpoint"));
    place(&["--model"])
        .arg(at("a.tsv"))
        .assert()
        .code(2)
        .stderr(contains("not a model"));
    fs::write(at("v.npy"), b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4'}").expect("written");
    place(&["--model"])
        .arg(at("v.npy"))
        .assert()
        .code(2)
        .stderr(contains("not a model, or truncated (give"));
    let as_graph = hone()
        .arg("embed")
        .arg(at("m.hone"))
        .arg("-o")
        .arg(&out)
        .assert()
        .code(2);
    as_graph.stderr(contains("this is a model, by its extension").and(contains("give a graph")));
    let mut damaged = bytes(&at("m.hone"));
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    fs::write(at("m.hone"), damaged).expect("written");
    place(&["--model"])
        .arg(at("m.hone"))
        .assert()
        .code(2)
        .stderr(contains("damaged").and(contains("save it again")));
    assert!(!out.exists());
    let twice = hone()
        .args(["embed", "builtin:karate", "--save-model"])
        .arg(&out)
        .arg("-o")
        .arg(&out)
        .assert()
        .code(2);
    twice.stderr(contains("two outputs go to"));
}
