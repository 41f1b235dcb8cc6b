//! Headers above an index, headers that come again, and quotes.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use super::{folder, hone, how_it_is_read, nodes_and_notes};

#[test]
fn a_header_above_an_index_is_what_r_writes() {
    let dir = folder();
    let quoted = "\"from\" \"to\"\n\"1\" \"a\" \"b\"\n\"2\" \"b\" \"c\"\n\"3\" \"c\" \"a\"\n";
    let weighted = "from\tto\tweight\n1\ta\tb\t2\n2\tb\tc\t3\n3\tc\ta\t1\n";
    for (name, content) in [
        ("r.txt", quoted.to_owned()),
        ("r.csv", quoted.replace(' ', ",")),
        ("r.tsv", weighted.to_owned()),
    ] {
        // It could be a header above a column of weights without a name.
        fs::write(dir.path().join(name), &content).expect("writable");
        let run = hone()
            .current_dir(dir.path())
            .args(["info", name])
            .assert()
            .code(2);
        run.stderr(contains("line 1").and(contains("--header reads it so")));
        let (ids, _) = nodes_and_notes(&content, name, &["--header"], dir.path());
        assert_eq!(ids, ["a", "b", "c"], "{content}");
        let said = how_it_is_read(&content, name, &["--header"], dir.path());
        assert!(
            said.contains("edges from `from` to `to` (first edge a → b), column 0"),
            "{said}"
        );
    }
    let (ids, _) = nodes_and_notes(
        "ann bob\nr1 a 2\nr2 b 3\n",
        "r.txt",
        &["--header"],
        dir.path(),
    );
    assert_eq!(ids, ["a", "2", "b", "3"]);
    // Attributes as R writes them.
    fs::write(dir.path().join("g.csv"), "a,b\nb,c\nc,a\n").expect("writable");
    fs::write(
        dir.path().join("x.txt"),
        "\"age\" \"city\"\n\"a\" 3 \"Rome\"\n\"b\" 4 \"Oslo\"\n\"c\" 5 \"Rome\"\n",
    )
    .expect("writable");
    let run = [
        "features",
        "g.csv",
        "--no-structure",
        "--attributes",
        "x.txt",
    ];
    let run = hone().current_dir(dir.path()).args(run).assert().success();
    run.stdout(contains("id\tage\tcity=Oslo\tcity=Rome\n").and(contains("a\t3.0\t0.0\t1.0\n")));
}

#[test]
fn backslashes_before_quotes_are_named() {
    let dir = folder();
    for content in [
        "\"a \\\"x\\\" b\",\"c\"\n\"d\",\"e\"\n",
        "\"d\",\"e\"\n\"a\\\"\",\"c\"\n",
        "\"d\",\"e\"\n\"a\\\", b\",\"c\"\n",
    ] {
        fs::write(dir.path().join("a.csv"), content).expect("writable");
        let run = hone()
            .current_dir(dir.path())
            .args(["info", "a.csv"])
            .assert()
            .code(2);
        run.stderr(
            contains("a.csv, line")
                .and(contains("a backslash before a quote"))
                .and(contains("write two quotes")),
        );
    }
    fs::write(dir.path().join("g.csv"), "a,b\n").expect("writable");
    fs::write(dir.path().join("nodes.txt"), "a\nb\n\"c \\\"x\\\" d\"\n").expect("writable");
    let run = hone()
        .current_dir(dir.path())
        .args(["info", "g.csv", "--node-list", "nodes.txt"])
        .assert()
        .code(2);
    run.stderr(contains("nodes.txt, line 3").and(contains("a backslash before a quote")));
}
