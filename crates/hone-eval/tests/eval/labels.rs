//! Files of labels: what they may look like, and slips.

use std::fs;

use hone::Result;
use hone::graph::{GraphBuilder, LONGEST_LINE};
use hone::memory::Allowance;
use hone_eval::labels::NodeLabels;

fn read(text: &str) -> Result<NodeLabels> {
    read_as("x.labels", text)
}

fn read_as(name: &str, text: &str) -> Result<NodeLabels> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join(name);
    fs::write(&path, text).expect("written");
    NodeLabels::read(
        &path,
        &GraphBuilder::undirected(4)
            .edges(vec![(0, 1)])
            .build()
            .expect("in range"),
    )
}

#[test]
fn labels_are_sorted_and_matched() {
    let labels = read("# head\n3\t10,2\r\n\n0 2\n9\tx\n").expect("well formed");
    assert_eq!(
        labels.names,
        ["2", "10"],
        "x is a label of a node that is not there"
    );
    assert_eq!(
        (labels.nodes.clone(), labels.of.clone(), labels.unknown),
        (vec![0, 3], vec![vec![0], vec![0, 1]], 1)
    );
    assert!(labels.is_multi());
}

#[test]
fn ids_may_be_quoted_or_begin_like_comments() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("x.labels");
    fs::write(&path, "# head\n#a b\tx\n# a note\n\"b \"\"c\"\"\"\ty\n").expect("written");
    let ids = hone::graph::NodeIds::from_texts(&["#a b", "b \"c\""]);
    let graph = GraphBuilder::undirected(2)
        .edges(vec![(0, 1)])
        .ids(ids)
        .build()
        .expect("in range");
    let labels = NodeLabels::read(&path, &graph).expect("well formed");
    assert_eq!(
        (labels.nodes, labels.of, labels.unknown),
        (vec![0, 1], vec![vec![0], vec![1]], 0)
    );
}

#[test]
fn tables_may_have_a_header_and_commas() {
    let expected = read("0\ta b\n1\tc,d\n").expect("well formed");
    for (name, text) in [
        ("x.tsv", "node\tlabel\n0\ta b\n1\tc,d\n"),
        ("x.csv", "id,topic\n0,a b\n1,c,d\n"),
        ("x.csv", "\u{feff}id;topic\n0;a b\n1;c;d\n"),
        ("x.CSV", "\"id\",\"topic\"\n\"0\" ,\"a b\"\r\n1,\"c\",d\n"),
        ("x.csv", "0\ta b\n1\tc,d\n"),
        ("x.txt", "0, a b\n1, c, d\n"),
        ("x.tsv", "id\trole\tmembership\n0\ta b\t0.9\n1\tc,d\t0.8\n"),
    ] {
        assert_eq!(
            read_as(name, text).expect("well formed"),
            expected,
            "{text}"
        );
    }
    let quoted =
        read_as("x.csv", "0,\"Physics, Applied\"\n1,\"the \"\"a\"\"\"\n").expect("well formed");
    assert_eq!(quoted.names, ["Physics, Applied", "the \"a\""]);
    let odd = read("0\t\"a\n1\tb\n").expect("quotes mean nothing between tabs");
    assert_eq!(odd.names, ["\"a", "b"]);
}

#[test]
fn what_cannot_be_labels_is_refused() {
    for (name, text, part) in [
        (
            "x.csv",
            "id,topic,year\n0,a,1990\n1,b,1991\n",
            "line 1: labels are read from one column",
        ),
        (
            "x.tsv",
            "0\ta\t1990\n1\tb\t1991\n",
            "line 1: labels are read from one column",
        ),
        (
            "x.csv",
            "0,\"a\n1,b\n",
            "line 1: a quote that is not closed",
        ),
        (
            "x.csv",
            "0,\"a\"b\n1,b\n",
            "line 1: a quote that is not closed, or text behind one",
        ),
        ("x.csv", "0,\n1,b\n", "line 1: no label after the node"),
    ] {
        let error = read_as(name, text).expect_err("no labels").to_string();
        assert!(error.contains(part), "{error}");
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("x.tsv");
    fs::write(
        &path,
        (0..20)
            .map(|i| format!("{i}\t{}\n", i + 100))
            .collect::<String>(),
    )
    .expect("written");
    let graph = GraphBuilder::undirected(20)
        .edges(vec![(0, 1)])
        .build()
        .expect("in range");
    let error = NodeLabels::read(&path, &graph)
        .expect_err("no two alike")
        .to_string();
    assert!(error.contains("its 20 labels are all different"), "{error}");
    // A node called like a column is a node where the graph has it.
    fs::write(&path, "name\tx\nb\ty\nname\tz\n").expect("written");
    let ids = hone::graph::NodeIds::from_texts(&["name", "b"]);
    let graph = GraphBuilder::undirected(2)
        .edges(vec![(0, 1)])
        .ids(ids)
        .build()
        .expect("in range");
    let error = NodeLabels::read(&path, &graph)
        .expect_err("twice")
        .to_string();
    assert!(
        error.contains("line 3: this node was labelled before"),
        "{error}"
    );
}

#[test]
fn memory_and_the_length_of_lines_are_bounded() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("x.labels");
    let long = "a".repeat(LONGEST_LINE);
    fs::write(&path, format!("0\tx\n1\t{long}\n")).expect("written");
    let graph = GraphBuilder::undirected(4).edges(vec![(0, 1)]).build();
    let graph = graph.expect("in range");
    let message = |allowance| {
        let read = NodeLabels::read_within(&path, &graph, allowance);
        read.expect_err("too much").to_string()
    };
    let long = message(Allowance::new(None));
    assert!(
        long.contains("line 2: a line of more than 16 MiB"),
        "{long}"
    );
    if cfg!(target_os = "linux") {
        let little = message(Allowance::new(Some(300 << 20)));
        assert!(little.contains("x.labels needs more than"), "{little}");
    }
}

#[test]
fn errors_name_the_line() {
    for (text, part) in [
        ("1\ta\n2\n", "line 2: no label"),
        ("1\ta,,b\n", "line 1: an empty label"),
        ("1\ta\n1\tb\n", "line 2: this node was labelled before"),
        ("\n#\n", "no labels in it"),
        ("77\ta\n", "none of its nodes"),
        ("1\ta\n2\ta\n77\tb\n", "have the label a"),
    ] {
        let error = read(text).expect_err("malformed").to_string();
        assert!(error.contains(part), "{error}");
    }
}
