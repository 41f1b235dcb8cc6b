//! Tables with other columns than ids: weights, times, indices; and headers that come again.

use std::fs;
use std::path::Path;

use super::{folder, hone, nodes_and_notes, refusal, size};

/// The weights of all edges, in order, as `hone eval split` writes them, with what was said on the way.
fn weighted(content: &str, name: &str, options: &[&str], dir: &Path) -> (bool, String) {
    fs::write(dir.join(name), content).expect("writable");
    let run = hone()
        .current_dir(dir)
        .args(["info", name, "--no-motifs", "--weighted"])
        .args(options)
        .assert();
    let output = run.get_output();
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn columns_that_may_be_weights_are_named_and_others_are_refused() {
    let dir = folder();
    for name in ["amount", "volume", "x", "days"] {
        let content = format!("source,target,{name}\n1,2,5\n2,3,1.5\n3,1,2\n");
        let (read, said) = weighted(&content, "a.csv", &[], dir.path());
        let part = format!("weights in `{name}`; ");
        assert!(
            read && said.contains(&part) && said.contains("--weight "),
            "{said}"
        );
        let (read, said) = weighted(&content, "a.csv", &["--weight", name], dir.path());
        assert!(
            read && said.contains(&part) && !said.contains("--weight "),
            "what is chosen is not open: {said}"
        );
    }
    let (read, said) = weighted(
        "source,load,Weight,target\n1,7,5,2\n2,7,1.5,3\n",
        "a.csv",
        &[],
        dir.path(),
    );
    assert!(
        read && said.contains("weights in `Weight`, `load` not used"),
        "{said}"
    );
    // The one column that is left, where the other is an index.
    let (read, said) = weighted(
        "id,source,target,load\n1,a,b,5\n2,b,c,6\n",
        "a.csv",
        &[],
        dir.path(),
    );
    assert!(
        read && said.contains("weights in `load`, `id` not used"),
        "{said}"
    );
    let (read, said) = weighted(
        "source,target,load,cost\na,b,9,5\nb,c,8,6\n",
        "a.csv",
        &[],
        dir.path(),
    );
    assert!(
        !read && said.contains("none of the columns source, target, load, cost"),
        "{said}"
    );
    // Days and Unix times.
    for content in [
        "a b 20240131\nb c 19991231\n",
        "a b 978300760\nb c 978302109\n",
        "source target when\na b 978300760\nb c 978302109\n",
    ] {
        let (read, said) = weighted(content, "a.txt", &[], dir.path());
        assert!(
            !read && said.contains("looks like times or dates, not weights"),
            "{said}"
        );
    }
    assert!(weighted("a b 19995000.5\nb c 3\n", "a.txt", &[], dir.path()).0);
}

#[test]
fn headers_that_come_again_are_no_edges() {
    let dir = folder();
    let cases: [(&str, &str, usize, &str); 6] = [
        (
            "a.csv",
            "source,target\na,b\nsource,target\nb,c\n",
            3,
            "1 line of a.csv is a further header, `source,target`",
        ),
        (
            "a.csv",
            "parent,child\na,b\nparent,child\nb,c\n",
            3,
            "1 line of a.csv is a further header",
        ),
        (
            "a.csv",
            "foo,bar\n1,2\nfoo,bar\n2,3\nfoo,bar\n3,4\n",
            4,
            "2 lines of a.csv are further headers, `foo,bar`, and are left out",
        ),
        (
            "a.txt",
            "from to\n1 2\nfrom to\n2 3\n",
            3,
            "1 line of a.txt is a further header, `from to`",
        ),
        (
            "a.csv",
            "source,target,weight\n1,2,5\nsource,target,weight\n2,3,5\n",
            3,
            "1 line of a.csv is a further header",
        ),
        (
            "a.csv",
            "id,source,target\n0,a,b\n1,b,c\nid,source,target\n0,c,d\n",
            4,
            "1 line of a.csv is a further header",
        ),
    ];
    for (name, content, nodes, note) in cases {
        let (ids, notes) = nodes_and_notes(content, name, &[], dir.path());
        assert!(
            ids.len() == nodes && notes.iter().any(|said| said.contains(note)),
            "{content}: {ids:?} {notes:?}"
        );
    }
    let (ids, notes) = nodes_and_notes(
        "source,target\na,b\nsource,target\n",
        "a.csv",
        &["--no-header"],
        dir.path(),
    );
    assert!(
        ids.len() == 4 && !notes.iter().any(|said| said.contains("header")),
        "{ids:?} {notes:?}"
    );
    // Ids in quotes are ids, an edge twice is an edge twice, and numbers are no header.
    assert_eq!(
        nodes_and_notes("ann,bob\nbob,cid\nann,bob\n", "a.csv", &[], dir.path())
            .0
            .len(),
        3
    );
    assert_eq!(
        nodes_and_notes(
            "source,target\n\"source\",\"target\"\n",
            "a.csv",
            &[],
            dir.path()
        )
        .0
        .len(),
        2
    );
    let (ids, _) = nodes_and_notes("4 3\n0 1\n4 3\n", "a.txt", &["--header"], dir.path());
    assert_eq!(ids, ["0", "1", "3", "4"]);
    // Far behind the lines that are examined first.
    let long: String = (0..200_000).map(|i| format!("{i},{}\n", i + 1)).collect();
    let content = format!("u,v\n{long}u,v\n{long}");
    fs::write(dir.path().join("long.csv"), content).expect("writable");
    assert_eq!(
        size(&["long.csv", "--no-motifs"], dir.path()),
        (200_001, 200_000)
    );
}

#[test]
fn an_index_is_no_id() {
    let dir = folder();
    for header in [
        ",u,v",
        ",who,whom",
        "\"\",from,to",
        "Unnamed: 0,who,whom",
        "__index_level_0__,who,whom",
        "index,person,friend",
        "id,person,friend",
    ] {
        let content = format!("{header}\n0,a,b\n1,b,c\n2,c,a\n");
        let (ids, _) = nodes_and_notes(&content, "a.csv", &[], dir.path());
        assert_eq!(ids, ["a", "b", "c"], "{header}");
    }
    // Values that occur again are ids.
    let (ids, _) = nodes_and_notes(
        "id,friend,note\n7,a,x\n7,b,y\n9,a,z\n",
        "a.csv",
        &[],
        dir.path(),
    );
    assert_eq!(ids, ["7", "a", "b", "9"]);
}

#[test]
fn matrices_are_told_from_tables() {
    let dir = folder();
    let edges = ["--source", "0", "--target", "1"];
    for content in [
        "id,source,target\n0,1,2\n1,0,2\n2,2,0\n",
        "0,1,2\n1,0,3\n2,1,0\n",
        "1,2,5\n2,3,1\n5,1,4\n",
        "0,1\n1,0\n",
    ] {
        nodes_and_notes(content, "a.csv", &[], dir.path());
    }
    for content in [
        "0,1,0\n1,0,1\n0,1,0\n",
        "0,2,5\n2,0,1\n5,1,0\n",
        "0 1 1 0\n0 0 1 0\n1 0 0 1\n0 0 0 0\n",
        "x,y,z\n1,1,0\n1,0,1\n0,1,1\n",
    ] {
        let said = refusal(content, "a.csv", &[], dir.path());
        let why =
            "a.csv, line 1: this looks like an adjacency matrix: it has as many lines as columns";
        assert!(
            said.contains(why) && said.contains("as Matrix Market"),
            "{content}: {said}"
        );
        nodes_and_notes(content, "a.csv", &edges, dir.path());
    }
    for content in [
        ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n",
        ",0,1\n0,0,1\n1,1,0\n",
        "node\ta\tb\na\t\t0.5\nb\t0.5\t\n",
    ] {
        let said = refusal(content, "a.csv", &[], dir.path());
        let why =
            "line 1: this looks like an adjacency matrix: the first line repeats the first column";
        assert!(
            said.contains(why) && said.contains("--source 0 and --target 1 read them"),
            "{content}: {said}"
        );
    }
    // Of R, whose header does not name the first column.
    let said = refusal("a b\na 0 1\nb 1 0\n", "a.txt", &["--header"], dir.path());
    assert!(said.contains("an adjacency matrix"), "{said}");
    // Larger than what is looked at.
    let size = 400;
    let entry = |i: usize, j: usize| format!(",{}", u8::from((i + j) % 7 == 1));
    let row = |i: usize| (0..size).map(|j| entry(i, j)).collect::<String>();
    let plain: String = (0..size).map(|i| format!("{}\n", &row(i)[1..])).collect();
    let head: String = (0..size).map(|j| format!(",n{j}")).collect();
    let rows: String = (0..size).map(|i| format!("n{i}{}\n", row(i))).collect();
    for content in [plain, format!("{head}\n{rows}")] {
        let said = refusal(&content, "a.csv", &[], dir.path());
        assert!(said.contains("an adjacency matrix"), "{said}");
    }
}

#[test]
fn a_first_line_may_tell_the_delimiter() {
    let dir = folder();
    for (content, nodes) in [
        ("sep=;\na;b\nb;c\n", 3),
        ("sep=,\nsource,target\na,b\nb,c\n", 3),
        ("SEP=|\r\na|b\r\n", 2),
    ] {
        let (ids, notes) = nodes_and_notes(content, "a.csv", &[], dir.path());
        assert!(
            ids.len() == nodes && notes.is_empty(),
            "{content}: {ids:?} {notes:?}"
        );
    }
}
