//! Reading graphs through the real binary: every format there and back, notes, and bad input.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, ends_with, is_empty, starts_with};

mod messages;
mod second;
mod tables;

fn hone() -> Command {
    Command::cargo_bin("hone").expect("the binary of this package")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Nodes and edges as `hone info` sees them.
fn size(arguments: &[&str], dir: &Path) -> (u64, u64) {
    let run = hone()
        .current_dir(dir)
        .arg("info")
        .args(arguments)
        .arg("--json")
        .assert()
        .success();
    let json: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    (
        json["nodes"].as_u64().expect("a number"),
        json["edges"].as_u64().expect("a number"),
    )
}

#[test]
fn every_format_there_and_back() {
    let dir = folder();
    for name in [
        "a.tsv",
        "a.csv",
        "a.txt",
        "a.mtx",
        "a.graph",
        "a.parquet",
        "a.tsv.gz",
        "a.csv.zst",
        "a.mtx.gz",
    ] {
        let arguments = [
            "generate", "er", "--nodes", "60", "--degree", "20", "-o", name,
        ];
        hone()
            .current_dir(dir.path())
            .args(arguments)
            .assert()
            .success();
        assert_eq!(
            size(&[name], dir.path()),
            size(&["a.tsv"], dir.path()),
            "{name}"
        );
    }
    assert_eq!(size(&["a.mtx"], dir.path()).0, 60);
}

#[test]
fn standard_input_and_what_was_dropped() {
    let list = "1 2 0.5\n2 1 0.5\n3 3 1\n2 3 1\n";
    let run = hone()
        .args(["info", "-"])
        .write_stdin(list)
        .assert()
        .success();
    let note = "note: dropped 1 self-loop, 4 weights (--weighted keeps and uses weights)\nnote: merged 1 duplicate edge\n";
    let read = "read: standard input: spaces between columns, no header, edges from column 0 to column 1 (first edge 1 → 2), \
                column 2 not used; --source, --target and --weight decide otherwise\n";
    run.stdout(contains("nodes               3\nedges               2\n"))
        .stderr(format!("{read}{note}"));
    let quiet = hone()
        .args(["info", "-", "--quiet"])
        .write_stdin(list)
        .assert()
        .success();
    quiet
        .stdout(contains("self-loops dropped  1\nduplicates merged   1\n"))
        .stderr(is_empty());
    let summed = hone()
        .args(["info", "-", "--weighted"])
        .write_stdin(list)
        .assert()
        .success();
    summed.stderr(starts_with("read: standard input").and(ends_with(
        "\nnote: dropped 1 self-loop\nnote: merged 1 duplicate edge; weights are summed\n",
    )));
    let kept = hone()
        .args(["info", "-", "--weighted", "--directed"])
        .write_stdin(list)
        .assert()
        .success();
    kept.stdout(contains("edges               3\n").and(contains("weighted            yes\n")));
}

#[test]
fn columns_delimiters_and_node_lists() {
    let dir = folder();
    fs::write(dir.path().join("a.csv"), "when;from;to\n1;x;y\n2;y;z\n").expect("writable");
    fs::write(dir.path().join("nodes.txt"), "z\ny\nx\nw\n").expect("writable");
    let named = [
        "a.csv",
        "--delimiter",
        ";",
        "--source",
        "from",
        "--target",
        "to",
        "--node-list",
        "nodes.txt",
    ];
    assert_eq!(size(&named, dir.path()), (4, 2));
    let numbered = ["a.csv", "--header", "--source", "1", "--target", "2"];
    assert_eq!(size(&numbered, dir.path()), (3, 2));
    fs::write(dir.path().join("b.csv"), "x\ty\n").expect("writable");
    assert_eq!(
        size(&["b.csv", "--delimiter", "tab", "--no-header"], dir.path()),
        (2, 1)
    );
    let wrong = hone()
        .current_dir(dir.path())
        .args(["info", "a.csv", "--delimiter", "ab"])
        .assert()
        .code(2);
    wrong.stderr(contains("delimiter: `ab` is not one ASCII character"));
}

/// Ids in the order of the vectors that `hone embed` makes, and what it notes about reading.
fn nodes_and_notes(
    content: &str,
    name: &str,
    arguments: &[&str],
    dir: &Path,
) -> (Vec<String>, Vec<String>) {
    fs::write(dir.join(name), content).expect("writable");
    let all = [
        &[
            "count",
            name,
            "--per",
            "node",
            "-o",
            "counts.npy",
            "--force",
        ],
        arguments,
    ]
    .concat();
    let run = hone().current_dir(dir).args(all).assert().success();
    let notes = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    let ids = fs::read_to_string(dir.join("counts.ids.txt")).expect("ids beside the counts");
    let notes = notes.lines().filter(|line| line.starts_with("note: "));
    let notes = notes.map(str::to_owned).collect();
    (ids.lines().map(str::to_owned).collect(), notes)
}

/// The line that says how a file was read.
fn how_it_is_read(content: &str, name: &str, arguments: &[&str], dir: &Path) -> String {
    fs::write(dir.join(name), content).expect("writable");
    let mut command = hone();
    let run = command
        .current_dir(dir)
        .args(["info", name])
        .args(arguments);
    let said = run.assert().success().get_output().stderr.clone();
    let said = String::from_utf8(said).expect("UTF-8");
    let mut lines = said.lines().filter(|line| line.starts_with("read: "));
    let line = lines.next().expect("a line").to_owned();
    assert_eq!(lines.next(), None, "{said}");
    line
}

/// What a file is refused for.
fn refusal(content: &str, name: &str, arguments: &[&str], dir: &Path) -> String {
    fs::write(dir.join(name), content).expect("writable");
    let mut command = hone();
    let run = command
        .current_dir(dir)
        .args(["info", name])
        .args(arguments);
    let said = run.assert().code(2).get_output().stderr.clone();
    String::from_utf8(said).expect("UTF-8")
}

#[test]
fn headers_of_text_ids_are_no_nodes() {
    let dir = folder();
    for header in ["follower,followee", "u,v", "source,target", "tweet,tag"] {
        let content = format!("{header}\nann,bob\nbob,cid\n");
        let (ids, notes) = nodes_and_notes(&content, "a.csv", &[], dir.path());
        assert_eq!(
            (ids.join(" "), notes.len()),
            ("ann bob cid".into(), 0),
            "{header}"
        );
        let said = how_it_is_read(&content, "a.csv", &[], dir.path());
        assert!(
            said.contains("commas between columns, a header, edges from"),
            "{said}"
        );
        let (ids, _) = nodes_and_notes(&content, "a.csv", &["--no-header"], dir.path());
        assert_eq!(ids.len(), 5);
    }
    // Where nothing tells names from ids, there is no header.
    for edges in [
        "node1,node2\nnode3,node4\n",
        "x,y\na,b\n",
        "ann,bob\ncid,dee\n",
    ] {
        let said = how_it_is_read(edges, "a.csv", &[], dir.path());
        assert!(said.contains("no header"), "{said}");
        let (ids, _) = nodes_and_notes(edges, "a.csv", &[], dir.path());
        assert_eq!(ids.len(), 4);
        let (ids, _) = nodes_and_notes(edges, "a.csv", &["--header"], dir.path());
        assert_eq!(ids.len(), 2);
    }
    let (ids, _) = nodes_and_notes("u,v\nv,w\n", "a.csv", &[], dir.path());
    assert_eq!(ids, ["u", "v", "w"]);
    // Text above numbers is a header, and the record of the run says so.
    let content = "wer,wen,n\nann,bob,1\nbob,cid,2\n";
    let (ids, _) = nodes_and_notes(content, "a.csv", &[], dir.path());
    assert_eq!(ids.len(), 3);
    let record = fs::read_to_string(dir.path().join("counts.npy.run.json")).expect("a record");
    let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(record["graph"]["reading"]["notes"][0]["what"], "reading");
    assert_eq!(record["graph"]["reading"]["columns"]["delimiter"], "commas");
    assert_eq!(record["graph"]["reading"]["columns"]["header"], true);
}

#[test]
fn nothing_that_begins_like_a_comment_vanishes_in_silence() {
    let dir = folder();
    let content = "t1,rust\n#rust,t2\n#go,t1\n";
    let said = refusal(content, "a.csv", &[], dir.path());
    let error = "a.csv, line 2: a line that begins with # below the first line of data: `#rust,t2` (--comment '#' skips such \
                 lines, --comment none reads them as data)";
    assert!(said.contains(error), "{said}");
    let (ids, notes) = nodes_and_notes(content, "a.csv", &["--comment", "#"], dir.path());
    assert_eq!((ids.len(), notes.len()), (2, 0));
    let (ids, notes) = nodes_and_notes(content, "a.csv", &["--comment", "none"], dir.path());
    assert_eq!(ids, ["t1", "rust", "\"#rust\"", "t2", "\"#go\""]);
    assert_eq!(notes.len(), 0);
    // Missing values would be a false hub.
    let (ids, notes) =
        nodes_and_notes("source,target\n1,2\n2,NA\n3,NA\n", "a.csv", &[], dir.path());
    assert!(
        ids.len() == 4 && notes.len() == 1 && notes[0].contains("`NA` is the id of a node"),
        "{ids:?} {notes:?}"
    );
    let said = how_it_is_read("#rust,t2\nt1,rust\n", "a.csv", &[], dir.path());
    assert!(
        said.contains("1 line of comments, ") && said.contains("--comment"),
        "{said}"
    );
    hone()
        .args(["info", "-", "--comment", "ab"])
        .write_stdin("1 2\n")
        .assert()
        .code(2)
        .stderr(contains("--comment"));
}

#[test]
fn delimiters_and_surplus_columns() {
    let dir = folder();
    for separator in ["|", ";", ",", "\t"] {
        let content = format!("Ann Lee{separator}Bob Ray\nBob Ray{separator}Cid Day\n");
        let (ids, notes) = nodes_and_notes(&content, "a.txt", &[], dir.path());
        assert_eq!(
            (ids, notes.len()),
            (
                vec!["Ann Lee".into(), "Bob Ray".into(), "Cid Day".into()],
                0
            ),
            "{separator}"
        );
    }
    let said = how_it_is_read("ann|bob|x|y\nbob|cid|x|y\n", "a.txt", &[], dir.path());
    assert!(
        said.contains("edges from column 0 to column 1 (first edge ann → bob), column 2 and column 3 not used;"),
        "{said}"
    );
    fs::write(dir.path().join("ragged.csv"), "a|b\nb|c\nc|d|e\n").expect("writable");
    let ragged = hone()
        .current_dir(dir.path())
        .args(["info", "ragged.csv"])
        .assert()
        .code(2);
    ragged.stderr(contains(
        "ragged.csv, line 3: 3 columns where 2 are expected",
    ));
    fs::write(dir.path().join("comma.csv"), "a;b;0,5\nb;c;1,5\n").expect("writable");
    let comma = hone()
        .current_dir(dir.path())
        .args(["info", "comma.csv", "--weighted"])
        .assert()
        .code(2);
    comma.stderr(contains("comma.csv, line 1").and(contains("decimal")));
}

#[test]
fn lists_that_are_written_are_read_as_node_lists() {
    let dir = folder();
    let content = "source,target\n\"#a\",Ann Lee\nAnn Lee,id\nid,\"say \"\"hi\"\"\"\n\"\"\"q\"\"\",\"x,y\"\n\"  b \",\"#a\"\n";
    fs::write(dir.path().join("a.csv"), content).expect("writable");
    let embed = [
        "embed",
        "a.csv",
        "-o",
        "z.npy",
        "--preset",
        "hone-p",
        "--dim",
        "2",
        "--local-dim",
        "1",
        "--steps",
        "1",
    ];
    hone()
        .current_dir(dir.path())
        .args(embed)
        .assert()
        .success();
    let embedded =
        fs::read_to_string(dir.path().join("z.ids.txt")).expect("ids beside the vectors");
    let (ids, notes) = nodes_and_notes(content, "a.csv", &["--node-list", "z.ids.txt"], dir.path());
    assert_eq!((ids.join("\n") + "\n", notes.len()), (embedded, 0));
    assert_eq!(ids.len(), 7);
    // In another order, which is kept.
    let turned: Vec<&str> = ids.iter().rev().map(String::as_str).collect();
    fs::write(dir.path().join("nodes.txt"), turned.join("\n")).expect("writable");
    assert_eq!(
        nodes_and_notes(content, "a.csv", &["--node-list", "nodes.txt"], dir.path()).0,
        turned
    );
    fs::write(
        dir.path().join("nodes.txt"),
        format!("id\n{}", turned.join("\n")),
    )
    .expect("writable");
    let (again, notes) =
        nodes_and_notes(content, "a.csv", &["--node-list", "nodes.txt"], dir.path());
    assert!(
        again == turned && notes.len() == 1 && notes[0].contains("`id`, is read as a header"),
        "{notes:?}"
    );
}

#[test]
fn users_and_items_with_the_same_numbers() {
    let dir = folder();
    let ratings = "userId,movieId,rating\n1,1,4.5\n1,2,3\n2,1,5\n3,7,2\n";
    let (ids, _) = nodes_and_notes(ratings, "r.csv", &["--weighted"], dir.path());
    assert_eq!(ids, ["1", "2", "3", "7"]);
    let said = how_it_is_read(ratings, "r.csv", &["--weighted"], dir.path());
    assert!(
        said.contains("edges from `userId` to `movieId` (first edge 1 → 1), weights in `rating`;")
            && said.contains("and --bipartite decide otherwise"),
        "{said}"
    );
    let (ids, _) = nodes_and_notes(ratings, "r.csv", &["--weighted", "--bipartite"], dir.path());
    assert_eq!(
        ids,
        [
            "userId:1",
            "movieId:1",
            "movieId:2",
            "userId:2",
            "userId:3",
            "movieId:7"
        ]
    );
    assert_eq!(size(&["r.csv", "--bipartite"], dir.path()), (6, 4));
    let said = how_it_is_read(ratings, "r.csv", &["--no-bipartite"], dir.path());
    assert!(!said.contains("--bipartite"), "{said}");
    // A list of nodes has the names with their kinds; a record keeps the choice.
    fs::write(
        dir.path().join("nodes.txt"),
        "movieId:1\nmovieId:2\nmovieId:7\nuserId:1\nuserId:2\nuserId:3\nuserId:9\n",
    )
    .expect("writable");
    let listed = ["--weighted", "--bipartite", "--node-list", "nodes.txt"];
    assert_eq!(
        nodes_and_notes(ratings, "r.csv", &listed, dir.path())
            .0
            .len(),
        7
    );
    let again = [
        "count",
        "--config",
        "counts.npy.run.json",
        "--per",
        "node",
        "-o",
        "again.npy",
    ];
    hone()
        .current_dir(dir.path())
        .args(again)
        .assert()
        .success();
    let ids = |name: &str| fs::read_to_string(dir.path().join(name)).expect("ids");
    assert_eq!(ids("counts.ids.txt"), ids("again.ids.txt"));
    hone()
        .args(["info", "builtin:karate", "--bipartite"])
        .assert()
        .code(2)
        .stderr(contains("bipartite"));
    hone()
        .args(["info", "-", "--bipartite"])
        .write_stdin("1 1\n1 2\n")
        .assert()
        .success()
        .stdout(contains("edges               2"));
}

#[test]
fn movielens_and_other_symbols() {
    let dir = folder();
    let ratings = "1::1193::5::978300760\n1::661::3::978302109\n2::1::4::978301968\n";
    let (ids, _) = nodes_and_notes(ratings, "ratings.dat", &["--weighted"], dir.path());
    assert_eq!(ids, ["1", "2", "661", "1193"]);
    let said = how_it_is_read(ratings, "ratings.dat", &["--weighted"], dir.path());
    assert!(
        said.contains("`::` between columns")
            && said.contains("weights in column 2, column 3 not used;"),
        "{said}"
    );
    assert_eq!(
        size(
            &["ratings.dat", "--delimiter", "::", "--bipartite"],
            dir.path()
        ),
        (5, 3)
    );
    let arrows = ["--delimiter", "->"];
    assert_eq!(
        nodes_and_notes("Ann Lee -> Bob\nBob -> Cid\n", "a.txt", &arrows, dir.path()).0,
        ["Ann Lee", "Bob", "Cid"]
    );
}

#[test]
fn blanks_between_ids_and_a_tab_before_the_weight() {
    let dir = folder();
    // Two integers between spaces are ids, whatever follows.
    for content in [
        "1 2\t0.5\n2 3\t1.5\n",
        "1 2 {'a': 1, 'b': 2}\n2 3 {'a': 1, 'b': 2}\n",
    ] {
        let (ids, _) = nodes_and_notes(content, "a.txt", &[], dir.path());
        assert_eq!(ids, ["1", "2", "3"], "{content}");
    }
    let said = how_it_is_read("Ann Lee\t3\nBob Ray\t1\n", "a.txt", &[], dir.path());
    assert!(
        said.contains("tabs between columns") && said.contains("(first edge Ann Lee → 3)"),
        "{said}"
    );
}

#[test]
fn times_are_no_weights() {
    let dir = folder();
    let content = "1 2 978300760\n1 3 978302109\n2 3 978301968\n";
    fs::write(dir.path().join("a.txt"), content).expect("writable");
    let refused = hone()
        .current_dir(dir.path())
        .args(["info", "a.txt", "--weighted"])
        .assert()
        .code(2);
    refused.stderr(
        contains("a.txt, line 1")
            .and(contains("column 3 (position 2) looks like times or dates"))
            .and(contains("--weight")),
    );
    let said = how_it_is_read(content, "a.txt", &[], dir.path());
    assert!(said.contains("column 2 not used"), "{said}");
    let chosen = hone()
        .current_dir(dir.path())
        .args(["info", "a.txt", "--weight", "2"])
        .assert()
        .success();
    chosen.stdout(contains("weighted            yes"));
    for (is_time, numbers) in [
        (true, ["20240131", "20240131", "20240131"]),
        (true, ["1700000000000", "1700000000000", "1700000000001"]),
        (false, ["5", "7", "9"]),
        (false, ["100000000", "100000000", "100000000"]),
        (false, ["978300760.5", "978302109", "978301968"]),
    ] {
        let [a, b, c] = numbers;
        let lines = format!("1 2 {a}\n1 3 {b}\n2 3 {c}\n");
        fs::write(dir.path().join("b.txt"), lines).expect("writable");
        let read = hone()
            .current_dir(dir.path())
            .args(["info", "b.txt", "--weighted"])
            .assert();
        assert!(read.get_output().status.success() != is_time, "{numbers:?}");
    }
}

#[test]
fn weights_that_are_named_and_dropped() {
    let dir = folder();
    fs::write(dir.path().join("a.csv"), "source,target,w\n1,2,5\n2,3,1\n").expect("writable");
    for command in ["info", "count"] {
        let both = hone()
            .current_dir(dir.path())
            .args([command, "a.csv", "--weight", "w", "--no-weighted"])
            .assert()
            .code(2);
        both.stderr(
            contains("--no-weighted: --weight names").and(contains("leave one of the two out")),
        );
    }
}

#[test]
fn node_lists_whose_first_line_may_be_an_id() {
    let dir = folder();
    for (first, edge) in [("#c", "\"#c\",ann"), ("ID", "ID,ann")] {
        fs::write(dir.path().join("nodes.txt"), format!("{first}\nann\nbob\n")).expect("writable");
        fs::write(
            dir.path().join("a.csv"),
            format!("source,target\nann,bob\n{edge}\n"),
        )
        .expect("writable");
        let refused = hone()
            .current_dir(dir.path())
            .args(["info", "a.csv", "--node-list", "nodes.txt"])
            .assert()
            .code(2);
        refused.stderr(contains(format!("quote it there: \"{first}\"")));
        fs::write(
            dir.path().join("nodes.txt"),
            format!("\"{first}\"\nann\nbob\n"),
        )
        .expect("writable");
        assert_eq!(
            size(&["a.csv", "--node-list", "nodes.txt"], dir.path()),
            (3, 2),
            "the remedy works"
        );
    }
    fs::write(dir.path().join("nodes.txt"), "id\nann\nbob\n").expect("writable");
    let (_, notes) = nodes_and_notes(
        "ann,bob\n",
        "b.csv",
        &["--node-list", "nodes.txt"],
        dir.path(),
    );
    assert!(
        notes.len() == 1 && notes[0].contains("put it in quotes (\"id\")"),
        "{notes:?}"
    );
    fs::write(dir.path().join("nodes.txt"), "#a\n#b\n").expect("writable");
    let none = hone()
        .current_dir(dir.path())
        .args(["info", "b.csv", "--node-list", "nodes.txt"])
        .assert()
        .code(2);
    none.stderr(contains("in quotes where it begins with # or %"));
}

/// Exit code 2, nothing on standard output, one line on standard error that names the file.
fn refused(arguments: &[&str], dir: &Path, name: &str) {
    let run = hone().current_dir(dir).arg("info").args(arguments).assert();
    let output = run.get_output();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
    assert!(output.stdout.is_empty(), "{name}");
    assert!(
        stderr.starts_with("error: ") && stderr.lines().count() == 1 && stderr.contains(name),
        "{name}: {stderr}"
    );
}

#[test]
fn missing_files_and_folders() {
    let dir = folder();
    refused(&["nowhere.tsv"], dir.path(), "nowhere.tsv");
    refused(&["."], dir.path(), ".");
    refused(
        &["karate"],
        dir.path(),
        "the built-in graph is `builtin:karate`",
    );
    fs::write(dir.path().join("a.tsv"), "1\t2\n").expect("writable");
    refused(
        &["a.tsv", "--node-list", "nowhere.txt"],
        dir.path(),
        "nowhere.txt",
    );
}

#[test]
fn every_mangled_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hone/tests/mangled");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("the library's mangled files") {
        let name = entry
            .expect("readable")
            .file_name()
            .to_string_lossy()
            .into_owned();
        let weighted: &[&str] = if name.starts_with("weighted-") {
            &["--weighted"]
        } else {
            &[]
        };
        refused(&[&[name.as_str()], weighted].concat(), &folder, &name);
        count += 1;
    }
    assert!(count >= 40, "only {count} mangled files");
}

#[test]
fn first_lines_unlike_the_others_are_named() {
    let dir = folder();
    let sizes = "4 3\n0 1\n1 2\n2 3\n";
    for (name, content, nodes, how) in [
        ("a.csv", "10,20\na,b\nb,c\n", 5, "no header"),
        ("a.csv", "von,nach\na,b\nb,c\n", 3, "a header"),
        (
            "a.txt",
            sizes,
            5,
            "no header, edges from column 0 to column 1 (first edge 4 → 3)",
        ),
    ] {
        let (ids, _) = nodes_and_notes(content, name, &[], dir.path());
        let said = how_it_is_read(content, name, &[], dir.path());
        assert!(
            ids.len() == nodes && said.contains(how),
            "{content}: {ids:?} {said}"
        );
    }
    for (content, options, nodes) in [
        (sizes, &["--header"][..], 4),
        (sizes, &["--no-header"], 5),
        ("// hi\na b\nb c\n", &["--comment", "/"], 3),
        ("10 20\na b\nb c\n", &["--header"], 3),
    ] {
        let (ids, notes) = nodes_and_notes(content, "a.txt", options, dir.path());
        assert!(
            ids.len() == nodes && notes.is_empty(),
            "{content} {options:?}: {ids:?} {notes:?}"
        );
    }
    let comment = "a.csv, line 1: this line does not have the 2 columns of all lines below: `// hi` (if it is a comment, \
                   --comment / skips it";
    for (name, content, error) in [
        ("a.csv", "// hi\na,b\nb,c\n", comment),
        (
            "a.txt",
            "exported by x today\na b\nb c\n",
            "line 1: this line does not have the 2 columns",
        ),
        (
            "a.txt",
            "a b\nb c # twice\nc d\n",
            "line 2: 4 columns where 2 are expected: `b c # twice` (a comment needs",
        ),
        (
            "a.txt",
            "a -> b\nb -> c\n",
            "line 1: column 1 has signs between ids",
        ),
    ] {
        fs::write(dir.path().join(name), content).expect("writable");
        let run = hone()
            .current_dir(dir.path())
            .args(["info", name])
            .assert()
            .code(2);
        run.stderr(contains(error));
    }
    for options in [
        &["--source", "0", "--target", "2"][..],
        &["--delimiter", "->", "--no-header"],
    ] {
        let (ids, _) = nodes_and_notes("a -> b\nb -> c\n", "a.txt", options, dir.path());
        assert_eq!(ids, ["a", "b", "c"]);
    }
}
