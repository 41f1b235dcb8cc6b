//! The rules by which delimiters, headers, columns, comments and node lists are made out where no option says what they are, and
//! the notes on them.

use proptest::prelude::*;

use super::*;
use hone::graph::{quoted, quoted_line};

/// What the owner of a file gets to know about it, in the words of the library.
fn notes(name: &str, content: &str, options: &ReadOptions) -> Vec<String> {
    let graph = text(name, content, options);
    let reading = hone::graph::reading(&graph).expect("it comes from a file");
    reading
        .notes
        .iter()
        .map(|note| note.text.to_string().replace(&reading.file, "FILE"))
        .collect()
}

#[test]
fn guesses_are_noted_with_the_option_that_decides() {
    let nothing: [&str; 0] = [];
    assert_eq!(
        notes("a.csv", "source,target\nann,bob\n", &default()),
        nothing
    );
    let text = "foo,bar,baz\nann,bob,1\n";
    let note = "the first line of FILE, `foo,bar,baz`, is read as a header; header = no reads it as an edge";
    assert_eq!(notes("a.csv", text, &default())[0], note);
    let said = ReadOptions {
        header: Some(true),
        ..default()
    };
    assert!(!notes("a.csv", text, &said).concat().contains("header"));
    let doubt = notes(
        "a.csv",
        "wer,wen\nann,bob\nbob,cid\ncid,dee\ndee,ann\n",
        &default(),
    );
    assert!(
        doubt.len() == 1 && doubt[0].ends_with("header = yes reads it as a header"),
        "{doubt:?}"
    );
    let surplus = "columns 0 and 1 of 4 are used in FILE; source, target and weight choose others (by name, or by \
                   position from 0)";
    assert_eq!(notes("a.txt", "0 1 x y\n1 2 x y\n", &default()), [surplus]);
    let chosen = ReadOptions {
        source: Some("0".into()),
        target: Some("3".into()),
        ..default()
    };
    assert_eq!(notes("a.txt", "0 1 x y\n1 2 x y\n", &chosen), nothing);
    let named = notes("a.csv", "id,from,to\n7,ann,bob\n", &default());
    assert!(
        named.len() == 1
            && named[0].starts_with("columns 1 and 2 of 3 are used in FILE (`from` and `to`);"),
        "{named:?}"
    );
    for silent in ["0 1 0.5\n", "0 1 {}\n1 2 {}\n", "0\t1\t\n1\t2\t\n"] {
        assert_eq!(notes("a.txt", silent, &default()), nothing, "{silent}");
    }
}

#[test]
fn lines_that_begin_like_comments() {
    let csv = "# head\nt1,rust\n#rust,t2\n%x,t1\n# the end, or so\n";
    let graph = text("a.csv", csv, &default());
    assert_eq!(shown(&graph), ["t1-rust"]);
    assert_eq!(
        notes("a.csv", csv, &default()),
        [
            "2 lines of FILE that begin like comments are skipped, such as `#rust,t2`; comment = none reads such lines as \
             data",
        ]
    );
    let hash = ReadOptions {
        comment: Some(Comment::Char('#')),
        ..default()
    };
    assert_eq!(shown(&text("a.csv", csv, &hash)), ["t1-rust", "t1-%x"]);
    assert_eq!(notes("a.csv", csv, &hash).len(), 0);
    let none = ReadOptions {
        comment: Some(Comment::None),
        ..default()
    };
    for (name, text) in [("a.csv", "#a,b\n%c,#a\n"), ("a.txt", "#a b\n%c #a\n")] {
        let graph = super::text(name, text, &none);
        assert_eq!(ids(&graph), ["#a", "b", "%c"]);
    }
    // Before the first edge such a line is a comment, but not in silence when it could be an edge.
    let leading = notes("a.csv", "#rust,t2\nt1,go\nt2,go\n", &default());
    assert!(
        leading.len() == 1
            && leading[0].contains("`#rust,t2`")
            && leading[0].contains("comment = none"),
        "{leading:?}"
    );
    let blanks = notes("a.txt", "a b\n#c d\n# c d\n# by me\nb c\n", &default());
    assert!(
        blanks.len() == 1 && blanks[0].contains("`#c d`"),
        "{blanks:?}"
    );
    for silent in [
        "#source,target\na,b\n",
        "# a,b\na,b\n",
        "#nodes\na,b\n",
        "## a,b\na,b\n",
        "\"#a\",b\n\"%b\",c\n",
    ] {
        assert_eq!(notes("a.csv", silent, &default()).len(), 0, "{silent}");
    }
    let folder = folder();
    let error = load(&put(&folder, "a.csv", "#a,b\n#b,c\n"), &default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("only comments") && error.contains("comment = none"),
        "{error}"
    );
}

#[test]
fn blanks_belong_to_delimited_ids() {
    for (name, content) in [
        ("a.txt", "Ann Lee|Bob Ray\nBob Ray|Cid Day\n"),
        ("a.csv", "Ann Lee;Bob Ray\nBob Ray;Cid Day\n"),
        ("a.txt", "Ann Lee,Bob Ray\nBob Ray , Cid Day\n"),
        ("a.txt", "Ann Lee\tBob Ray\nBob Ray\tCid Day\n"),
    ] {
        assert_eq!(
            ids(&text(name, content, &default())),
            ["Ann Lee", "Bob Ray", "Cid Day"],
            "{content}"
        );
    }
    let folder = folder();
    let weighted = ReadOptions {
        weighted: true,
        ..default()
    };
    let error = load(&put(&folder, "a.csv", "a;b;0,5\nb;c;1,5\n"), &weighted)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 1")
            && error.contains("decimal comma")
            && error.contains("decimal points"),
        "{error}"
    );
    let ragged = load(&put(&folder, "b.csv", "a|b\nb|c|d\n"), &default())
        .unwrap_err()
        .to_string();
    assert!(
        ragged.contains("b.csv, line 2: 3 columns where 2 are expected"),
        "{ragged}"
    );
}

#[test]
fn vectors_are_not_edges() {
    let folder = folder();
    let vectors = put(&folder, "z.tsv", "id\tz0\tz1\nann\t0.5\t1\nbob\t1.5\t2\n");
    let error = load(&vectors, &default()).unwrap_err().to_string();
    assert!(
        error.contains("`id`, `z0`, … are those of vectors"),
        "{error}"
    );
    let chosen = ReadOptions {
        source: Some("id".into()),
        target: Some("z1".into()),
        ..default()
    };
    assert_eq!(load(&vectors, &chosen).unwrap().nodes(), 4);
}

#[test]
fn options_that_say_nothing_are_refused() {
    let folder = folder();
    let mtx = put(
        &folder,
        "a.mtx",
        "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n",
    );
    let comment = || ReadOptions {
        comment: Some(Comment::None),
        ..default()
    };
    for options in [
        comment(),
        ReadOptions {
            delimiter: Some(",".into()),
            ..default()
        },
        ReadOptions {
            header: Some(true),
            ..default()
        },
    ] {
        let error = load(&mtx, &options).unwrap_err().to_string();
        assert!(error.contains("leave it out"), "{error}");
        assert!(read("builtin:karate", &options, &Silent).is_err());
    }
    let same = ReadOptions {
        delimiter: Some("%".into()),
        comment: Some(Comment::Char('%')),
        ..default()
    };
    assert!(
        load(&put(&folder, "a.txt", "a%b\n"), &same)
            .unwrap_err()
            .to_string()
            .starts_with("comment:")
    );
}

/// Leading lines are skipped in one pass: quadratic time would take hours here.
#[test]
fn many_leading_comments_and_blank_lines() {
    for filler in ["\n", "#\n", "% a comment of some length\n", "   \t\n"] {
        let content = filler.repeat((4 << 20) / filler.len()) + "0 1\n1 2\n";
        assert_eq!(text("a.txt", &content, &default()).edges(), 2);
        assert_eq!(
            text("a.txt.gz", gzip(content.as_bytes()), &default()).edges(),
            2
        );
    }
    let long = format!("# {}\n0 1\n1 2\n", "x".repeat(9 << 20));
    assert_eq!(text("a.txt", &long, &default()).edges(), 2);
    let folder = folder();
    let endless = put(&folder, "a.txt", "#".repeat(17 << 20));
    assert!(
        load(&endless, &default())
            .unwrap_err()
            .to_string()
            .contains("more than 16 MiB")
    );
}

/// Ids of every awkward kind; those with line breaks, and the empty one, cannot stand in an edge list.
fn awkward(breaks: bool) -> impl Strategy<Value = Vec<String>> {
    let special = if breaks {
        "[\\x20-\\x7e\\t\\n\\ré]{0,8}"
    } else {
        "[\\x20-\\x7e\\té]{1,8}"
    };
    let word = prop_oneof![
        special,
        Just("id".to_owned()),
        Just("Node".to_owned()),
        Just("id,label".to_owned()),
        Just("#x".to_owned()),
        Just("%".to_owned()),
        Just("\"q\"".to_owned()),
        Just(" padded ".to_owned()),
        Just("source".to_owned()),
        Just("target".to_owned()),
        "[0-9]{1,3}",
    ];
    proptest::collection::hash_set(word, 2..12).prop_map(|ids| ids.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Any ids written one per line are read back as a node list, in order.
    #[test]
    fn any_ids_make_a_node_list(ids in awkward(true)) {
        let folder = folder();
        let mut ids = ids;
        ids.extend(["ann of the edge".into(), "bob of the edge".into()]);
        let list: String = ids.iter().map(|id| format!("{}\n", quoted_line(id))).collect();
        let list = put(&folder, "nodes.txt", list);
        let parquet = table::write(
            "message m { required binary source (UTF8); required binary target (UTF8); }",
            &[table::Values::Text(&["ann of the edge"]), table::Values::Text(&["bob of the edge"])],
            None,
        );
        let edges = put(&folder, "a.parquet", parquet);
        let graph = load(&edges, &ReadOptions { nodes: Some(list), ..default() }).unwrap();
        prop_assert_eq!(graph.ids().iter().map(|id| id.to_string()).collect::<Vec<_>>(), ids);
        prop_assert_eq!(&hone::graph::reading(&graph).unwrap().notes, &[]);
    }

    /// Any ids, quoted, come back from an edge list with a header, whatever separates its columns.
    #[test]
    fn any_ids_make_an_edge_list(ids in awkward(false), separator in prop_oneof![Just('\t'), Just(',')]) {
        let folder = folder();
        let mut content = format!("source{separator}target\n");
        // The edge between two nodes that are called like the columns is the header once more, unless it is quoted.
        let field = |id: &String| if id == "source" { format!("\"{id}\"") } else { quoted(id, separator).into_owned() };
        for pair in ids.windows(2) {
            content += &format!("{}{separator}{}\n", field(&pair[0]), field(&pair[1]));
        }
        let edges = put(&folder, if separator == ',' { "a.csv" } else { "a.tsv" }, content);
        let graph = load(&edges, &default()).unwrap();
        let mut found: Vec<String> = graph.ids().iter().map(|id| id.to_string()).collect();
        let mut expected = ids.clone();
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(graph.edges(), ids.len() - 1);
    }
}

/// A first line of names with commas says what separates the columns, whatever ids hold.
#[test]
fn the_first_line_says_what_separates_columns() {
    let folder = folder();
    let edges = put(
        &folder,
        "a.csv",
        "source,target\n padded ,a\t\tb\na\t\tb,Node\n",
    );
    let graph = load(&edges, &default()).unwrap();
    let mut found: Vec<String> = graph.ids().iter().map(|id| id.to_string()).collect();
    found.sort();
    assert_eq!((graph.edges(), found.len()), (2, 3), "{found:?}");
    assert!(found.contains(&"a\t\tb".to_owned()), "{found:?}");
}
