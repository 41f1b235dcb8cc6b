//! The rules by which delimiters, headers, columns, comments and node lists are made out where no option says what they are, and
//! the line that says so.

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

/// The error of a file, in the words of the library.
fn refusal(name: &str, content: &str, options: &ReadOptions) -> String {
    let folder = folder();
    let refused = load(&put(&folder, name, content), options);
    refused.expect_err(content).to_string()
}

#[test]
fn one_line_says_what_was_decided() {
    for (name, content, said) in [
        (
            "a.csv",
            "source,target\nann,bob\n",
            "commas between columns, a header, edges from `source` to `target` (first edge ann → bob); header = false decides otherwise",
        ),
        (
            "a.txt",
            "# by me\n% and you\n0 1\n1 2\n",
            "2 lines of comments, spaces between columns, no header, edges from column 0 to column 1 (first edge 0 → 1); `comment` decides otherwise",
        ),
    ] {
        assert_eq!(
            notes(name, content, &default()),
            [format!("FILE: {said}")],
            "{content}"
        );
    }
    let some = |content: &str, options: &ReadOptions| notes("a.csv", content, options).concat();
    let said = some(
        "id,from,to,when\n7,ann,bob,May\n8,bob,cid,June\n",
        &default(),
    );
    assert!(
        said.contains(
            "edges from `from` to `to` (first edge ann → bob), `id` and `when` not used;"
        ),
        "{said}"
    );
    let weighted = ReadOptions {
        weighted: true,
        ..default()
    };
    let said = some("who,whom,load\n7,8,1\n", &weighted);
    assert!(said.contains("weights in `load`"), "{said}");
    // What an option has decided is not said to be open.
    let chosen = ReadOptions {
        delimiter: Some(",".into()),
        comment: Some("none".into()),
        header: Some(false),
        source: Some("0".into()),
        target: Some("1".into()),
        bipartite: Some(false),
        ..default()
    };
    assert_eq!(
        some("0,1,x,y,z,w\n1,2,x,y,z,w\n", &chosen),
        "FILE: commas between columns, no header, edges from column 0 to column 1 (first edge 0 → 1), 4 columns not used; `weight` decides \
         otherwise"
    );
}

/// The ends are the columns of a usual pair, wherever they stand.
#[test]
fn a_pair_of_names_is_the_ends() {
    let ends = |header: &str| {
        let columns = header.split(',').count();
        let row = |first: u32| (first..).take(columns).map(|id| id.to_string());
        let rows = [row(10), row(20)].map(|row| row.collect::<Vec<_>>().join(","));
        let content = format!("{header}\n{}\n", rows.join("\n"));
        let graph = text("a.csv", &content, &default());
        let reading = hone::graph::reading(&graph).expect("a file");
        let columns = reading.columns.as_ref().expect("a table");
        (columns.source, columns.target)
    };
    for (header, pair) in [
        ("tx_id,date,from,to,amount", (2, 3)),
        ("date,from,to,amount", (1, 2)),
        ("to,from,amount,date", (1, 0)),
        ("amount,Payee,Payer", (2, 1)),
        ("when,sender_id,RECEIVER_ID", (1, 2)),
        ("n,FromNodeId,ToNodeId", (1, 2)),
        ("relation,head,tail", (1, 2)),
        ("n,node_1,node_2", (1, 2)),
        (":TYPE,:START_ID,:END_ID", (1, 2)),
        // The first pair of the table; times are no ends.
        ("from,to,target,source", (3, 2)),
        ("who,whom,start,end", (0, 1)),
        // Not a pair.
        ("date,from,amount", (0, 1)),
        ("id,who,whom", (1, 2)),
    ] {
        assert_eq!(ends(header), pair, "{header}");
    }
    let options = ReadOptions {
        target: Some("date".into()),
        ..default()
    };
    let said = notes("a.csv", "date,from,to\n1,2,3\n4,5,6\n", &options).concat();
    assert!(said.contains("edges from `from` to `date`"), "{said}");
}

#[test]
fn a_header_has_no_number_and_no_id_that_comes_again() {
    let headed = |content: &str| {
        let graph = text("a.csv", content, &default());
        let reading = hone::graph::reading(&graph).expect("a file");
        reading.columns.as_ref().and_then(|columns| columns.header)
    };
    for (content, header) in [
        // Numbers below text.
        ("foo,bar\n1,2\n3,4\n", true),
        ("foo,bar,baz\nann,bob,1\ncid,dee,\n", true),
        (",who,whom\n0,a,b\n", true),
        // All ids come again, those of the first line do not.
        ("wer,wen\nann,bob\nbob,cid\n", true),
        // The names of the options.
        ("source,target\nann,bob\n", true),
        ("Target,x,SOURCE\nann,7,target\n", true),
        // Numbers, and ids that come again.
        ("10,20\na,b\nb,c\n", false),
        ("ann,bob,1\nbob,cid,2\n", false),
        ("ann,bob\nbob,cid\n", false),
        ("4 3\n0 1\n1 2\n2 3\n", false),
        ("ann,bob\n", false),
        ("ann,bob\nann,bob\n", false),
    ] {
        assert_eq!(headed(content), Some(header), "{content}");
    }
    // Where nothing tells names from ids, there is no header.
    for undecided in [
        "ann,bob\ncid,dee\n",
        "node1,node2\nnode3,node4\n",
        "x,y\na,b\n",
    ] {
        assert_eq!(headed(undecided), Some(false), "{undecided}");
        let options = ReadOptions {
            header: Some(true),
            ..default()
        };
        assert_eq!(text("a.csv", undecided, &options).edges(), 1);
    }
}

#[test]
fn comments_stand_before_the_first_edge() {
    let csv = "# head\nt1,rust\n#rust,t2\n%x,t1\n# the end, or so\n";
    let error = refusal("a.csv", csv, &default());
    assert!(
        error.contains(
            "a.csv, line 3: a line that begins with # below the first line of data: `#rust,t2`"
        ) && error
            .contains("comment = \"#\" skips such lines, comment = \"none\" reads them as data"),
        "{error}"
    );
    let hash = ReadOptions {
        comment: Some("#".into()),
        ..default()
    };
    assert_eq!(shown(&text("a.csv", csv, &hash)), ["t1-rust", "t1-%x"]);
    let none = ReadOptions {
        comment: Some("none".into()),
        ..default()
    };
    for (name, text) in [("a.csv", "#a,b\n%c,#a\n"), ("a.txt", "#a b\n%c #a\n")] {
        let graph = super::text(name, text, &none);
        assert_eq!(ids(&graph), ["#a", "b", "%c"]);
    }
    for comment in ["ab", "", "x", "\""] {
        let options = ReadOptions {
            comment: Some(comment.into()),
            ..default()
        };
        assert!(refusal("a.csv", csv, &options).starts_with("comment: "));
    }
    // A quoted id is no comment, and no id but the first is looked at.
    let quoted = text("a.csv", "\"#a\",b\n\"%b\",#c\nb,#a\n", &default());
    assert_eq!(ids(&quoted), ["#a", "b", "%b", "#c"]);
    let error = refusal("a.csv", "#a,b\n#b,c\n", &default());
    assert!(
        error.contains("only comments") && error.contains("comment = \"none\""),
        "{error}"
    );
    let folder = folder();
    let listed = ReadOptions {
        nodes: Some(put(&folder, "nodes.txt", "# all\nann\n#b\n")),
        ..default()
    };
    let error = refusal("a.csv", "ann,bob\n", &listed);
    assert!(
        error.contains("nodes.txt, line 3") && error.contains("comment = \"none\""),
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
        comment: Some("none".into()),
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
        comment: Some("%".into()),
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
        prop_assert_eq!(hone::graph::reading(&graph).unwrap().notes.len(), 1);
    }

    /// Any ids, quoted, come back from an edge list with a header, whatever separates its columns.
    #[test]
    fn any_ids_make_an_edge_list(ids in awkward(false), separator in prop_oneof![Just('\t'), Just(',')]) {
        let folder = folder();
        // Between tabs a backslash may be that of a database, and is refused with the remedy.
        let separator = if ids.iter().any(|id| id.contains('\\')) { ',' } else { separator };
        prop_assume!(!ids.iter().any(|id| id == "\\N"));
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
