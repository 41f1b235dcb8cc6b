//! The real binary: similar nodes, roles, layouts and maps.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn hone() -> Command {
    let mut command = Command::cargo_bin("hone").expect("the binary of this package");
    command.env_remove("NO_COLOR");
    command
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Vectors of the karate club.
fn vectors(folder: &Path) -> String {
    let path = folder.join("karate.npy").display().to_string();
    hone().args(["-q", "embed", "builtin:karate", "-o", &path]).assert().success();
    path
}

fn json(output: &[u8]) -> serde_json::Value {
    serde_json::from_slice(output).expect("JSON")
}

#[test]
fn similar_answers_lists_and_refuses() {
    let folder = folder();
    let vectors = vectors(folder.path());
    let lines = hone().args(["similar", &vectors, "--node", "33", "--top", "3"]).assert().success();
    lines.stdout(predicate::function(|text: &str| text.lines().count() == 4 && text.contains("33\t1\t32\t")));
    let two = hone().args(["similar", &vectors, "--node", "0", "--node", "33", "--json", "--by", "structure"]).assert();
    let two = json(&two.success().get_output().stdout);
    assert_eq!((two[1]["question"].as_str(), two[0]["nodes"].as_array().map(Vec::len)), (Some("33"), Some(10)));
    let both = ["--positive", "0", "--positive", "1", "--negative", "33"];
    hone().args(["similar", &vectors]).args(both).assert().success().stdout(contains("+0 +1 -33\t1\t"));
    let refused: [(&[&str], &str); 5] = [
        (&["--node", "333"], "--node: no node is called `333`; did you mean `33`"),
        (&[], "nothing is asked"),
        (&["--node", "0", "--all"], "give one of --node"),
        (&["--node", "0", "-o", "x.npz"], "no table is written with the extension `.npz`"),
        (&["--node", "0", "--by", "shape"], "shape"),
    ];
    for (args, text) in refused {
        hone().args(["similar", &vectors]).args(args).assert().code(2).stderr(contains(text));
    }
}

#[test]
fn similar_writes_the_neighbours_of_all_nodes() {
    let folder = folder();
    let vectors = vectors(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["knn.tsv", "knn.csv.gz", "knn.parquet", "knn.npy"] {
        hone().args(["-q", "similar", &vectors, "--all", "--top", "4", "-o", &path(name)]).assert().success();
        let record = json(&fs::read(path(&format!("{name}.run.json"))).expect("a record"));
        assert_eq!((record["top"].as_u64(), record["nodes"].as_u64()), (Some(4), Some(34)), "{name}");
    }
    assert_eq!(fs::read_to_string(path("knn.tsv")).expect("text").lines().count(), 1 + 34 * 4);
    hone().args(["similar", &vectors, "--all", "-o", &path("knn.tsv")]).assert().code(2).stderr(contains("--force"));
    let args = ["similar", &vectors, "--all", "--search", "approximate", "-o", &path("near.tsv")];
    hone().args(args).assert().success().stderr(contains("% of the true neighbours"));
    hone().args(["similar", &vectors, "--all", "-o", &vectors, "--force"]).assert().code(2).stderr(contains("input"));
}

#[test]
fn roles_print_write_and_explain() {
    let folder = folder();
    let path = folder.path().join("roles.tsv").display().to_string();
    let shown = hone().args(["roles", "builtin:karate", "-o", &path]).assert().success();
    shown.stdout(contains("role").and(contains("links between roles")));
    let table = fs::read_to_string(&path).expect("text");
    assert!(table.starts_with("id\trole\tmembership\t") && table.lines().count() == 35, "{table}");
    assert_eq!(json(&fs::read(format!("{path}.run.json")).expect("a record"))["command"], "roles");
    let three = hone().args(["roles", "builtin:karate", "--roles", "3", "--json", "--explain", "0"]).assert().success();
    let three = json(&three.get_output().stdout);
    assert_eq!(three["roles"].as_array().map(Vec::len), Some(3));
    assert_eq!(three["explanations"][0]["reasons"].as_array().map(Vec::len), Some(3));
    hone().args(["roles", "builtin:karate", "--explain", "5"]).assert().success().stdout(contains("5 is a"));
    for (args, text) in [
        (["--explain", "Zoe"], "--explain: no node is called `Zoe`"),
        (["--roles", "99"], "a number from 1 to 12"),
        (["-o", "roles.npy"], "do not fit an array"),
    ] {
        hone().args(["roles", "builtin:karate"]).args(args).assert().code(2).stderr(contains(text));
    }
}

#[test]
fn layouts_are_the_same_for_any_number_of_threads() {
    let folder = folder();
    let vectors = vectors(folder.path());
    let run = |threads: &str, name: &str| {
        let path = folder.path().join(name);
        let args = ["-q", "layout", &vectors, "-o", &path.display().to_string(), "--threads", threads];
        hone().args(args).assert().success();
        fs::read(path).expect("written")
    };
    let one = run("1", "one.tsv");
    assert!(one == run("2", "two.tsv") && one == run("7", "seven.tsv"));
    assert!(String::from_utf8(one).expect("text").starts_with("id\tx\ty\n0\t"));
    let pca = ["layout", &vectors, "--layout", "pca"];
    hone().args(pca).assert().success().stdout(predicate::function(|text: &str| text.lines().count() == 35));
}

#[test]
fn maps_and_pictures_are_written_together() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("labels.tsv"), (0..34).map(|i| format!("{i}\tclub {}\n", i % 2)).collect::<String>())
        .expect("written");
    let args = ["map", "builtin:karate", "--labels", &path("labels.tsv"), "--title", "<b>club</b>"];
    let files = ["-o", &path("map.html"), "--svg", &path("map.svg"), "--png", &path("map.png")];
    hone().args(args).args(files).assert().success().stderr(contains("wrote"));
    let page = fs::read_to_string(path("map.html")).expect("a page");
    assert!(page.contains("&lt;b&gt;club&lt;/b&gt;") && !page.contains("<b>club") && page.contains("club 1"));
    assert!(fs::read_to_string(path("map.svg")).expect("a picture").contains(">club 0</text>"));
    assert!(fs::read(path("map.png")).expect("a picture").starts_with(b"\x89PNG"));
    hone().args(["map", "builtin:karate"]).assert().code(2);
    // Vectors of another graph.
    let own = ["-q", "embed", "builtin:star", "-o", &path("star.npy")];
    hone().args(own).assert().success();
    let wrong = ["map", "builtin:karate", "-o", &path("other.html"), "--vectors", &path("star.npy")];
    hone().args(wrong).assert().code(2).stderr(contains("no vector of node"));
    assert!(!Path::new(&path("other.html")).exists());
}
