//! Headers above an index, headers of further files, indices and node lists without a header: what is sure is done, what is
//! not is noted.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use super::{folder, hone, nodes_and_notes};

#[test]
fn a_header_above_an_index_is_what_r_writes() {
    let dir = folder();
    let quoted = "\"from\" \"to\"\n\"1\" \"a\" \"b\"\n\"2\" \"b\" \"c\"\n\"3\" \"c\" \"a\"\n";
    let weighted = "from\tto\tweight\n1\ta\tb\t2\n2\tb\tc\t3\n3\tc\ta\t1\n";
    for (name, content) in [
        ("r.txt", quoted.to_owned()),
        ("r.txt", quoted.replace('"', "")),
        ("r.csv", quoted.replace(' ', ",")),
        ("r.tsv", quoted.replace(' ', "\t")),
        ("r.tsv", weighted.to_owned()),
        (
            "r.csv",
            "from,to\n1,a,b\n2,b,c\nfrom,to\n1,c,a\n".to_owned(),
        ),
        (
            "r.csv",
            "\"from\",\"to\"\n\"ann\",\"a\",\"b\"\n\"bob\",\"b\",\"c\"\n\"cid\",\"c\",\"a\"\n"
                .to_owned(),
        ),
        (
            "r.txt",
            "\"x\" \"y\"\n\"4\" \"a\" \"b\"\n\"7\" \"b\" \"c\"\n\"9\" \"c\" \"a\"\n".to_owned(),
        ),
    ] {
        let (ids, notes) = nodes_and_notes(&content, name, &[], dir.path());
        assert_eq!(ids, ["a", "b", "c"], "{content}");
        assert!(
            notes.iter().any(|note| note.contains("columns 1 and 2 of")),
            "{content}: {notes:?}"
        );
    }
    // An index that could be something else is a guess.
    let (ids, notes) = nodes_and_notes("von nach\n3 a b\n7 b c\n9 c a\n", "r.txt", &[], dir.path());
    assert!(
        ids == ["a", "b", "c"] && notes.iter().any(|note| note.contains("--header no")),
        "{ids:?} {notes:?}"
    );
    // A column of weights without a name is none.
    for content in [
        "from to\na b 0.5\nb c 1.5\n",
        "from to\na b 5\nb c 2\n",
        "ann bob\nbob cid 2\ncid dee 3\n",
    ] {
        fs::write(dir.path().join("r.txt"), content).expect("writable");
        let run = hone()
            .current_dir(dir.path())
            .args(["info", "r.txt"])
            .assert()
            .code(2);
        run.stderr(contains("line 1").and(contains("--header yes reads it so")));
    }
    let (ids, _) = nodes_and_notes(
        "ann bob\nr1 a 2\nr2 b 3\n",
        "r.txt",
        &["--header", "yes"],
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
fn an_index_without_a_header_is_noted() {
    let dir = folder();
    for (name, content) in [
        ("a.csv", "0,a,b\n1,c,d\n2,a,d\n3,b,c\n"),
        ("a.txt", "1 5 6\n2 6 7\n3 7 5\n4 5 7\n"),
        ("a.tsv", "0\t105\t106\tx\n1\t106\t107\ty\n2\t107\t105\tx\n"),
    ] {
        let (_, notes) = nodes_and_notes(content, name, &[], dir.path());
        let note = "numbers the lines, as an index does, and is read as ids; --source 1 and --target 2 read columns 2 and 3";
        assert!(
            notes.iter().any(|said| said.contains(note)),
            "{content}: {notes:?}"
        );
        let chosen = ["--source", "1", "--target", "2"];
        let (_, notes) = nodes_and_notes(content, name, &chosen, dir.path());
        assert!(
            !notes.iter().any(|said| said.contains("index")),
            "{content}: {notes:?}"
        );
    }
    // Weights beside ids that rise.
    for content in [
        "0 1 1\n1 2 1\n2 3 1\n3 0 1\n",
        "0 1 0.5\n1 2 0.25\n2 0 1\n",
        "0 9 20\n1 8 30\n2 7 40\n",
        "1 2 x\n2 3 y\n",
    ] {
        let (_, notes) = nodes_and_notes(content, "a.txt", &[], dir.path());
        assert!(
            !notes.iter().any(|said| said.contains("index")),
            "{content}: {notes:?}"
        );
    }
}

#[test]
fn headers_of_further_files() {
    let dir = folder();
    // Names among numbers, and the header with other blanks or capitals, are headers.
    for (content, left) in [
        (
            "source,target\n1,2\nfrom,to\n2,3\n",
            "1 line of a.csv is a further header, `from,to`, and is left out",
        ),
        (
            "1,2\n2,3\nsource,target\n3,1\n",
            "`source,target`, and is left out; --header no reads it",
        ),
        (
            "source,target\na,b\n Source , Target\nb,c\n",
            "`Source , Target`, and is left out",
        ),
        (
            "user,item\n1,2\nUSER,ITEM\n2,3\nUser, Item\n",
            "2 lines of a.csv are further headers, such as `USER,ITEM`",
        ),
    ] {
        let (ids, notes) = nodes_and_notes(content, "a.csv", &[], dir.path());
        assert_eq!(ids.len(), 3, "{content}: {ids:?}");
        assert!(
            notes.iter().any(|said| said.contains(left)),
            "{content}: {notes:?}"
        );
    }
    // Among words they could be ids.
    let (ids, notes) = nodes_and_notes(
        "source,target\na,b\nb,c\nfrom,to\n",
        "a.csv",
        &[],
        dir.path(),
    );
    assert_eq!(ids, ["a", "b", "c", "from", "to"]);
    let note = "`from – to` is read as an edge of a.csv, though these are names of columns";
    assert!(notes.iter().any(|said| said.contains(note)), "{notes:?}");
    let (ids, notes) = nodes_and_notes(
        "1,2\n2,3\nfrom,to\n",
        "a.csv",
        &["--header", "no"],
        dir.path(),
    );
    assert!(ids.len() == 5 && notes.is_empty(), "{ids:?} {notes:?}");
}

#[test]
fn few_lines_below_a_first_line_are_noted() {
    let dir = folder();
    for content in [
        "knoten,nachbar\nann,bob\nbob,cid\n",
        "wer,wen\nann,bob\nbob,cid\ncid,ann\n",
        "knoten,nachbar\nn1,n2\nn2,n3\n",
    ] {
        let (_, notes) = nodes_and_notes(content, "a.csv", &[], dir.path());
        assert!(
            notes
                .iter()
                .any(|said| said.contains("--header yes reads it as a header")),
            "{content}: {notes:?}"
        );
    }
}

#[test]
fn the_first_line_of_a_node_list_may_be_a_header() {
    let dir = folder();
    fs::write(dir.path().join("g.csv"), "a,b\nb,c\n").expect("writable");
    for (list, noted) in [
        ("person\na\nb\nc\n", true),
        ("Company Name\na\nb\nc\n", true),
        ("\"person\"\na\nb\nc\n", false),
        ("zoe\na\nb\nc\n", false),
    ] {
        fs::write(dir.path().join("nodes.txt"), list).expect("writable");
        let run = hone()
            .current_dir(dir.path())
            .args(["info", "g.csv", "--nodes", "nodes.txt"])
            .assert()
            .success();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        let note = "is read as a node, though no edge has it: remove it if it is a header";
        assert_eq!(said.contains(note), noted, "{list}: {said}");
    }
    fs::write(dir.path().join("g.csv"), "a,b\nb,person\n").expect("writable");
    fs::write(dir.path().join("nodes.txt"), "person\na\nb\n").expect("writable");
    let run = hone()
        .current_dir(dir.path())
        .args(["info", "g.csv", "--nodes", "nodes.txt"])
        .assert()
        .success();
    run.stderr(contains("no edge has it").not());
}

#[test]
fn columns_of_two_kinds_are_noted() {
    let dir = folder();
    for names in [
        "nurse,patient",
        "company_id,investor_id",
        "plant,pollinator",
        "student,course",
        "Doctors,Hospitals",
    ] {
        let (_, notes) = nodes_and_notes(
            &format!("{names}\n1,2\n2,3\n3,1\n"),
            "a.csv",
            &[],
            dir.path(),
        );
        let noted = notes.iter().any(|said| {
            said.contains("3 ids occur in both columns") && said.contains("--bipartite")
        });
        assert!(noted, "{names}: {notes:?}");
    }
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
        .args(["info", "g.csv", "--nodes", "nodes.txt"])
        .assert()
        .code(2);
    run.stderr(contains("nodes.txt, line 3").and(contains("a backslash before a quote")));
}
