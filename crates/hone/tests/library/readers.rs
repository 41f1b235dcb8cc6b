//! Every reader against small golden expectations, and the parallel path against a naive one.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hone::graph::{Column, Dropped, Graph, InputFormat, NodeIds, ReadOptions, read};
use hone::{Error, Silent};
use tempfile::TempDir;

mod blocks;
mod changed;
mod divided;
mod rules;
use crate::peers;
use crate::skip;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn put(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn load(path: &Path, options: &ReadOptions) -> Result<Graph, Error> {
    read(path, options, &Silent)
}

fn text(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> Graph {
    let folder = folder();
    let path = put(&folder, name, content);
    load(&path, options).unwrap_or_else(|error| panic!("{error}"))
}

fn default() -> ReadOptions {
    ReadOptions::default()
}

/// Edges by id, `u-v` or `u-v:w`, each once, in node order.
fn shown(graph: &Graph) -> Vec<String> {
    let mut out = Vec::new();
    for i in 0..graph.nodes() as u32 {
        for (p, &j) in graph.pattern().range(i as usize).zip(graph.neighbors(i)) {
            if graph.is_directed() || i < j {
                let weight = graph
                    .weights()
                    .map_or(String::new(), |w| format!(":{}", w[p]));
                out.push(format!(
                    "{}-{}{weight}",
                    graph.ids().get(i),
                    graph.ids().get(j)
                ));
            }
        }
    }
    out
}

fn ids(graph: &Graph) -> Vec<String> {
    graph.ids().iter().map(|id| id.to_string()).collect()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn edge_lists_of_many_tastes() {
    let cases: [(&str, &str); 21] = [
        ("plain.edges", "0 1\n1 2\n"),
        ("no-end.edges", "0 1\n1 2"),
        ("crlf.edges", "0 1\r\n1 2\r\n"),
        ("blanks.txt", "\n  0   1 \n\n 1\t2\n\n"),
        ("tabs.tsv", "0\t1\n1\t2\n"),
        ("commas.csv", "0,1\n1,2\n"),
        ("spaced.csv", "0 , 1\n1, 2\n"),
        ("semicolons.csv", "0;1\n1;2\n"),
        ("comments.txt", "# a\n   % b\n\n# c\n0 1\n\n1 2\n"),
        ("header.csv", "source,target\n0,1\n1,2\n"),
        ("header-own.tsv", "left\tright\n0\t1\n1\t2\n"),
        ("header-crlf.csv", "source,target\r\n0,1\r\n1,2\r\n"),
        ("swapped.csv", "target,when,source\n1,x,0\n2,y,1\n"),
        (
            "quoted.csv",
            "\"source\",\"target\"\n\"0\",\"1\"\n\"1\",\"2\"\n",
        ),
        ("bom.csv", "\u{feff}0,1\n1,2\n"),
        ("bom-header.csv", "\u{feff}source,target\n0,1\n1,2\n"),
        ("extra.txt", "0 1 {} x\n1 2 {} y\n"),
        (
            "snap.txt",
            "# Nodes: 3\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n",
        ),
        ("mixed.txt", "0 1\t5\n1 2\t5\n"),
        ("none", "0 1\n1 2\n"),
        ("upper.CSV", "0,1\n1,2\n"),
    ];
    for (name, content) in cases {
        let graph = text(name, content, &default());
        assert_eq!(shown(&graph), ["0-1", "1-2"], "{name}");
        assert_eq!(graph.ids(), &NodeIds::Sequential(3), "{name}");
        assert_eq!(
            graph.dropped().weights,
            if name == "mixed.txt" { 2 } else { 0 },
            "{name}"
        );
    }
}

#[test]
fn integers_ascend_and_text_comes_as_it_appears() {
    let graph = text("a.txt", "30 10\n10 20\n", &default());
    assert_eq!(graph.ids(), &NodeIds::Integers(vec![10, 20, 30]));
    assert_eq!(shown(&graph), ["10-20", "10-30"]);
    let graph = text(
        "a.txt",
        "-5 9223372036854775807\n4294967296 0\n",
        &default(),
    );
    assert_eq!(
        ids(&graph),
        ["-5", "0", "4294967296", "9223372036854775807"]
    );
    assert_eq!(
        text("a.txt", "4294967295 4000000000\n", &default()).ids(),
        &NodeIds::Integers(vec![4_000_000_000, 4_294_967_295])
    );
    for (content, expected) in [
        ("b a\na c\n", vec!["b", "a", "c"]),
        ("3 2\n2 x\n", vec!["3", "2", "x"]),
        ("007 7\n", vec!["007", "7"]),
        ("+7 7\n", vec!["+7", "7"]),
        (
            "18446744073709551615 1\n",
            vec!["18446744073709551615", "1"],
        ),
        ("ü \"ß ç\"\n", vec!["ü", "ß ç"]),
        ("1.0 1\n", vec!["1.0", "1"]),
    ] {
        assert_eq!(
            ids(&text("a.txt", content, &default())),
            expected,
            "{content}"
        );
    }
    assert_eq!(
        ids(&text("a.csv", "\"a, \"\"b\"\"\",c d\n", &default())),
        ["a, \"b\"", "c d"]
    );
}

#[test]
fn an_edge_is_never_taken_for_a_header() {
    for content in [
        "u v\nv w\n",
        "a b\nb c\n",
        "a b\n",
        "1 b\n2 3\n",
        "a 1\n2 3\n",
    ] {
        let graph = text("a.txt", content, &default());
        assert_eq!(graph.edges(), content.lines().count(), "{content}");
    }
    let graph = text(
        "a.txt",
        "a b\n1 2\n",
        &ReadOptions {
            header: Some(false),
            ..default()
        },
    );
    assert_eq!(ids(&graph), ["a", "b", "1", "2"]);
    let graph = text(
        "a.txt",
        "1 2\n3 4\n",
        &ReadOptions {
            header: Some(true),
            ..default()
        },
    );
    assert_eq!(ids(&graph), ["3", "4"]);
}

#[test]
fn weights_are_kept_when_asked_for_and_counted_when_not() {
    let weighted = ReadOptions {
        weighted: true,
        ..default()
    };
    for (name, content) in [
        ("a.txt", "0 1 0.5\n1 2 3\n"),
        ("a.csv", "source,target,weight\n0,1,0.5\n1,2,3e0\n"),
        ("a.csv", "weight,source,target\n0.5,0,1\n3,1,2\n"),
        ("a.csv", "a,b,c\n0,1,.5\n1,2,+3\n"),
        ("a.txt", "0 1 5e-1 1999\n1 2 3.0 2000\n"),
    ] {
        let graph = text(name, content, &weighted);
        assert_eq!(shown(&graph), ["0-1:0.5", "1-2:3"], "{content}");
        assert!(graph.dropped().is_empty());
        let graph = text(name, content, &default());
        assert_eq!(
            (graph.weights().is_none(), graph.dropped().weights),
            (true, 2),
            "{content}"
        );
    }
    let graph = text("a.txt", "0 1 -1\n1 2 nan\n", &default());
    assert_eq!((graph.edges(), graph.dropped().weights), (2, 2));
    let graph = text("a.txt", "0 1 2\n1 0 3\n1 1 9\n", &weighted);
    assert_eq!(
        (shown(&graph), graph.dropped()),
        (
            vec!["0-1:5".into()],
            Dropped {
                self_loops: 1,
                duplicates: 1,
                weights: 0
            }
        )
    );
}

#[test]
fn columns_by_name_and_position() {
    let content = "time,who,whom,how\n1,a,b,0.5\n2,b,c,2\n";
    let options = ReadOptions {
        source: Some("who".into()),
        target: Some("WHOM".into()),
        weight: Some("how".into()),
        ..default()
    };
    assert_eq!(
        shown(&text("a.csv", content, &options)),
        ["a-b:0.5", "b-c:2"]
    );
    let options = ReadOptions {
        source: Some("1".into()),
        target: Some(Column::Position(2)),
        header: Some(true),
        ..default()
    };
    assert_eq!(shown(&text("a.csv", content, &options)), ["a-b", "b-c"]);
    let options = ReadOptions {
        delimiter: Some("|".into()),
        ..default()
    };
    assert_eq!(ids(&text("a.txt", "a b|c,d\n", &options)), ["a b", "c,d"]);
    let options = ReadOptions {
        delimiter: Some(" ".into()),
        ..default()
    };
    assert_eq!(ids(&text("a.txt", "a,b  c,d\n", &options)), ["a,b", "c,d"]);
}

#[test]
fn directed_keeps_both_arcs() {
    let graph = text(
        "a.txt",
        "0 1\n1 0\n2 1\n",
        &ReadOptions {
            directed: true,
            ..default()
        },
    );
    assert_eq!(shown(&graph), ["0-1", "1-0", "2-1"]);
    assert_eq!(
        text("a.txt", "0 1\n1 0\n2 1\n", &default())
            .dropped()
            .duplicates,
        1
    );
}

#[test]
fn a_node_list_fixes_the_order_and_adds_nodes() {
    let folder = folder();
    let edges = put(&folder, "a.txt", "3 1\n1 2\n");
    let with = |list: &str| {
        let list = put(&folder, "nodes.txt", list);
        load(
            &edges,
            &ReadOptions {
                nodes: Some(list),
                ..default()
            },
        )
    };
    let graph = with("2\n9\n1\n3\n").unwrap();
    assert_eq!(graph.ids(), &NodeIds::Integers(vec![2, 9, 1, 3]));
    assert_eq!((graph.degree(1), graph.neighbors(2)), (0, &[0, 3][..]));
    let graph = with("# all\nid\tlabel\n0\tx\n1\ty\n2\tz\n3\t\n").unwrap();
    assert_eq!(graph.ids(), &NodeIds::Sequential(4));
    assert_eq!(
        ids(&with("\"1\"\nx y\n2\n3").unwrap()),
        ["1", "x y", "2", "3"]
    );
    assert_eq!(
        ids(&with("label;ID\nx;1\ny;2\nz;3\n").unwrap()),
        ["1", "2", "3"]
    );
    assert_eq!(
        ids(&with("1\n2\n3\n\"id\"\n\"#x\"\n\"a\nb\"\n\"\"\n").unwrap()),
        ["1", "2", "3", "id", "#x", "a\nb", ""]
    );
    let error = with("1\n2\n3\n\"open\n4\n").unwrap_err().to_string();
    assert!(
        error.contains("nodes.txt, line 4") && error.contains("does not end"),
        "{error}"
    );
    let error = with("1\n\"2\" x\n").unwrap_err().to_string();
    assert!(
        error.contains("nodes.txt, line 2") && error.contains("closing quote"),
        "{error}"
    );
    let error = with("1\n2\n").unwrap_err().to_string();
    assert!(
        error.contains("a.txt, line 1") && error.contains("`3`"),
        "{error}"
    );
    let error = with("1\n2\n1\n").unwrap_err().to_string();
    assert!(
        error.contains("nodes.txt, line 3") && error.contains("twice"),
        "{error}"
    );
    assert!(
        with("# none\n")
            .unwrap_err()
            .to_string()
            .contains("no nodes")
    );
}

#[test]
fn matrix_market() {
    let weighted = ReadOptions {
        weighted: true,
        ..default()
    };
    let directed = ReadOptions {
        directed: true,
        ..default()
    };
    let symmetric =
        "%%MatrixMarket matrix coordinate pattern symmetric\n% c\n\n4 4 3\n2 1\n3 2\n3 3\n";
    let graph = text("a.mtx", symmetric, &default());
    assert_eq!(
        (shown(&graph), graph.ids()),
        (
            vec!["1-2".into(), "2-3".into()],
            &NodeIds::Integers(vec![1, 2, 3, 4])
        )
    );
    assert_eq!(
        graph.dropped(),
        Dropped {
            self_loops: 1,
            ..Dropped::default()
        }
    );
    let graph = text("a.mtx", symmetric, &directed);
    assert_eq!(
        (shown(&graph), graph.dropped().self_loops),
        (
            vec!["1-2".into(), "2-1".into(), "2-3".into(), "3-2".into()],
            1
        )
    );
    let general = "%%matrixmarket MATRIX coordinate real general\r\n3 3 3\r\n1 2 0.5\r\n2 1 1.5\r\n3 1 1e0\r\n";
    assert_eq!(
        shown(&text(
            "a.mtx",
            general,
            &ReadOptions {
                weighted: true,
                ..directed.clone()
            }
        )),
        ["1-2:0.5", "2-1:1.5", "3-1:1"]
    );
    assert_eq!(
        shown(&text("a.mtx", general, &weighted)),
        ["1-2:2", "1-3:1"]
    );
    let graph = text("a.mtx", general, &directed);
    assert_eq!((graph.edges(), graph.dropped().weights), (3, 3));
    let integer = "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 7\n";
    assert_eq!(
        shown(&text("by-content.txt", integer, &weighted)),
        ["1-2:7"]
    );
    assert_eq!(
        shown(&text(
            "a.mtx",
            integer,
            &ReadOptions {
                weighted: true,
                directed: true,
                ..default()
            }
        )),
        ["1-2:7", "2-1:7"]
    );
}

#[test]
fn metis() {
    let graph = text("a.graph", "% c\n4 3\n2 3\n1 3\n% d\n1 2\n\n", &default());
    assert_eq!(
        (shown(&graph), graph.nodes()),
        (vec!["1-2".into(), "1-3".into(), "2-3".into()], 4)
    );
    let weights = "3 2 011 2\n9 9 2 5\n9 9 1 5 3 7\n9 9 2 7\n";
    let graph = text(
        "a.graph",
        weights,
        &ReadOptions {
            weighted: true,
            ..default()
        },
    );
    assert_eq!(shown(&graph), ["1-2:5", "2-3:7"]);
    assert_eq!(text("a.graph", weights, &default()).dropped().weights, 2);
    let graph = text(
        "a.graph",
        "2 1\n2\n1\n",
        &ReadOptions {
            directed: true,
            ..default()
        },
    );
    assert_eq!(shown(&graph), ["1-2", "2-1"]);
    let graph = text(
        "a.x",
        "2 1\n2\n1\n",
        &ReadOptions {
            format: Some(InputFormat::Metis),
            ..default()
        },
    );
    assert_eq!(shown(&graph), ["1-2"]);
}

mod table {
    //! Parquet files as other tools write them: nullable columns, several types and row groups.

    use super::*;
    use parquet::data_type::{ByteArrayType, DoubleType, Int32Type, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    pub(super) enum Values<'a> {
        Int(&'a [i32]),
        Long(&'a [i64]),
        Text(&'a [&'a str]),
        Double(&'a [f64]),
    }

    /// Writes two row groups with the same rows; `levels` says which are there in every column.
    pub(super) fn write(schema: &str, columns: &[Values], levels: Option<&[i16]>) -> Vec<u8> {
        write_groups(schema, &[columns, columns], levels)
    }

    /// Writes row groups, each with its columns.
    pub(super) fn write_groups(
        schema: &str,
        groups: &[&[Values]],
        levels: Option<&[i16]>,
    ) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::default()))
                .unwrap();
        for columns in groups {
            let mut group = writer.next_row_group().unwrap();
            for values in *columns {
                let mut column = group.next_column().unwrap().unwrap();
                match values {
                    Values::Int(v) => column
                        .typed::<Int32Type>()
                        .write_batch(v, levels, None)
                        .unwrap(),
                    Values::Long(v) => column
                        .typed::<Int64Type>()
                        .write_batch(v, levels, None)
                        .unwrap(),
                    Values::Double(v) => column
                        .typed::<DoubleType>()
                        .write_batch(v, levels, None)
                        .unwrap(),
                    Values::Text(v) => {
                        let v: Vec<_> = v.iter().map(|&t| t.into()).collect();
                        column
                            .typed::<ByteArrayType>()
                            .write_batch(&v, levels, None)
                            .unwrap()
                    }
                };
                column.close().unwrap();
            }
            group.close().unwrap();
        }
        writer.into_inner().unwrap()
    }
}

#[test]
fn parquet_tables() {
    use table::{Values, write};
    let required =
        "message m { required int32 source; required int64 target; required double weight; }";
    let ints = write(
        required,
        &[
            Values::Int(&[0, 1]),
            Values::Long(&[1, 2]),
            Values::Double(&[0.5, 2.0]),
        ],
        None,
    );
    let graph = text("a.parquet", &ints, &default());
    assert_eq!(
        (
            shown(&graph),
            graph.dropped().duplicates,
            graph.dropped().weights
        ),
        (vec!["0-1".into(), "1-2".into()], 2, 4)
    );
    let graph = text(
        "by-content",
        &ints,
        &ReadOptions {
            weighted: true,
            ..default()
        },
    );
    assert_eq!(shown(&graph), ["0-1:1", "1-2:4"]);
    let columns = ReadOptions {
        source: Some("target".into()),
        target: Some("0".into()),
        directed: true,
        ..default()
    };
    assert_eq!(shown(&text("a.parquet", &ints, &columns)), ["1-0", "2-1"]);
    let unsigned =
        "message m { required int32 a (INTEGER(32,false)); required int32 b (UINT_32); }";
    let bytes = write(
        unsigned,
        &[Values::Int(&[-1, 5]), Values::Int(&[5, -2])],
        None,
    );
    assert_eq!(
        ids(&text("a.parquet", bytes, &default())),
        ["5", "4294967294", "4294967295"]
    );
    let strings =
        "message m { optional binary u (UTF8); optional binary v (STRING); optional int64 t; }";
    let columns = [
        Values::Text(&["b", "a"]),
        Values::Text(&["a", "c"]),
        Values::Long(&[7, 8]),
    ];
    let named = write(strings, &columns, Some(&[1, 1]));
    assert_eq!(ids(&text("a.parquet", &named, &default())), ["b", "a", "c"]);
    let folder = folder();
    let list = put(&folder, "nodes.txt", "a\nb\nc\nd\n");
    assert_eq!(
        ids(&text(
            "a.parquet",
            &named,
            &ReadOptions {
                nodes: Some(list),
                ..default()
            }
        )),
        ["a", "b", "c", "d"]
    );
    let columns = [
        Values::Text(&["b"]),
        Values::Text(&["a"]),
        Values::Long(&[7]),
    ];
    let path = put(
        &folder,
        "null.parquet",
        write(strings, &columns, Some(&[1, 0])),
    );
    let error = load(&path, &default()).unwrap_err().to_string();
    assert!(error.contains("row 1 has no value in column"), "{error}");
    let path = put(&folder, "ints.parquet", &ints);
    let error = load(
        &path,
        &ReadOptions {
            source: Some("who".into()),
            ..default()
        },
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.contains("no column `who`") && error.contains("source, target, weight"),
        "{error}"
    );
}

#[test]
fn built_in_graphs_are_inputs_too() {
    let graph = read("builtin:karate", &default(), &Silent).unwrap();
    assert_eq!((graph.nodes(), graph.edges()), (34, 78));
    assert!(read("builtin:nothing", &default(), &Silent).is_err());
    let error = read(
        "builtin:karate",
        &ReadOptions {
            directed: true,
            ..default()
        },
        &Silent,
    )
    .unwrap_err();
    assert!(error.to_string().starts_with("directed:"), "{error}");
}

#[test]
fn options_are_one_plain_document() {
    let options: ReadOptions = toml::from_str(
        "format = \"mtx\"\ndirected = true\nsource = 1\ntarget = \"to\"\ndelimiter = \";\"\ncomment = \"none\"",
    )
    .unwrap();
    assert_eq!(options.comment.as_deref(), Some("none"));
    assert_eq!(options.format, Some(InputFormat::MatrixMarket));
    assert_eq!(
        (options.source, options.target),
        (Some(Column::Position(1)), Some(Column::Name("to".into())))
    );
    assert!(toml::from_str::<ReadOptions>("colour = 1").is_err());
    for format in InputFormat::ALL {
        assert_eq!(format.to_string().parse::<InputFormat>().unwrap(), format);
    }
    assert!(
        "gml"
            .parse::<InputFormat>()
            .unwrap_err()
            .to_string()
            .contains("edges, mtx, parquet, metis")
    );
}

#[test]
fn the_collection_beside_the_workspace_reads_as_documented() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        skip::skip(&format!("{} is not there", data.display()));
        return;
    }
    for (name, n, m) in [
        ("karate", 34, 78),
        ("soc-hamsterster", 2426, 16630),
        ("email-Enron", 36692, 183831),
    ] {
        let graph = load(&data.join(format!("{name}.edges")), &default()).unwrap();
        assert_eq!((graph.nodes(), graph.edges()), (n, m), "{name}");
        assert!(graph.dropped().is_empty());
    }
}
