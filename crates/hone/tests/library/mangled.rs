//! Files that are wrong: each must be an error that names the file, the line and what is wrong,
//! and no input whatever may make a reader panic, hang or reserve memory for a header's lies.
//!
//! The files lie in `tests/mangled`; those called `weighted-…` are wrong when weights are read.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hone::graph::{Graph, InputFormat, NodeIds, Orientation, ReadOptions, read};
use hone::output::{Batch, Existing};
use hone::store::table::{Column, Kind, Table};
use hone::{Error, Silent};
use proptest::prelude::*;

/// File, line of the error (0 for none), part of the message.
const EXPECTED: &[(&str, u64, &str)] = &[
    ("empty.txt", 0, "the file is empty"),
    ("blank.txt", 0, "only comments or blank lines"),
    ("comments.txt", 0, "only comments or blank lines"),
    ("header-only.csv", 0, "no edges after the header"),
    ("one-column.txt", 1, "only one column: `1`"),
    (
        "one-column-later.txt",
        3,
        "1 column where 2 are expected: `3`",
    ),
    (
        "three-then-two.txt",
        2,
        "2 columns where 3 are expected: `1 2`",
    ),
    (
        "two-then-three.csv",
        3,
        "3 columns where 2 are expected: `1,2,3`",
    ),
    ("empty-id.csv", 2, "an empty node id: `,c`"),
    ("empty-quoted-id.csv", 3, "an empty node id"),
    ("unclosed-quote.csv", 2, "a quoted field is not closed"),
    ("after-quote.csv", 2, "text after a closing quote"),
    ("nul-byte.txt", 2, "binary file"),
    ("nul-late.txt", 3, "binary file"),
    ("binary.txt", 1, "binary file"),
    ("latin1.txt", 1, "not valid UTF-8"),
    ("latin1-late.txt", 2, "not valid UTF-8"),
    ("utf16.txt", 0, "UTF-16"),
    ("old-mac.txt", 1, "carriage return"),
    ("old-mac.csv", 1, "carriage return"),
    ("xz.txt", 0, "compressed with xz"),
    ("bzip2.txt", 0, "compressed with bzip2"),
    ("zip.txt", 0, "a zip archive"),
    ("truncated.txt.gz", 0, "gzip data is truncated or damaged"),
    ("header-only.txt.gz", 0, "gzip data is truncated or damaged"),
    ("damaged.txt.gz", 0, "gzip data is truncated or damaged"),
    (
        "garbage-after.txt.gz",
        0,
        "gzip data is truncated or damaged",
    ),
    ("plain.txt.gz", 0, "not compressed data"),
    ("empty-inside.txt.gz", 0, "the file is empty"),
    ("truncated.txt.zst", 0, "zstd data is truncated or damaged"),
    ("magic-only.txt.zst", 0, "zstd data is truncated or damaged"),
    ("damaged.txt.zst", 0, "zstd data is truncated or damaged"),
    ("unsupported.gml", 0, "`.gml` files cannot be read"),
    ("unsupported.json", 0, "`.json` files cannot be read"),
    ("text.parquet", 0, "not a valid Parquet file"),
    ("empty.parquet", 0, "the file is empty"),
    ("magic-only.parquet", 0, "not a valid Parquet file"),
    ("lying-footer.parquet", 0, "not a valid Parquet file"),
    ("empty.mtx", 0, "the file is empty"),
    ("no-banner.mtx", 1, "not a Matrix Market banner"),
    ("banner-only.mtx", 2, "not a size line"),
    ("vector.mtx", 1, "not a Matrix Market banner"),
    ("array.mtx", 1, "only coordinate matrices"),
    ("complex.mtx", 1, "only pattern, real and integer"),
    ("skew.mtx", 1, "only general and symmetric"),
    ("hermitian.mtx", 1, "only pattern, real and integer"),
    ("rectangular.mtx", 2, "2 rows and 3 columns"),
    ("two-sizes.mtx", 2, "not a size line"),
    ("word-size.mtx", 2, "not a size line"),
    ("negative-size.mtx", 2, "not a size line"),
    ("truncated.mtx", 0, "promises 4 entries, but there are 2"),
    ("too-many.mtx", 0, "promises 1 entries, but there are 2"),
    ("index-zero.mtx", 4, "index 0 is not within 1..3"),
    ("index-beyond.mtx", 4, "index 4 is not within 1..3"),
    ("index-negative.mtx", 3, "`-1` is not an index"),
    ("index-word.mtx", 3, "`a` is not an index"),
    (
        "index-huge.mtx",
        3,
        "`99999999999999999999` is not an index",
    ),
    ("lying-nodes.mtx", 2, "4294967295 nodes but only 1 entries"),
    (
        "lying-entries.mtx",
        0,
        "promises 1000000000000000000 entries, but there are 1",
    ),
    (
        "lying-both.mtx",
        0,
        "promises 1000000000000000000 entries, but there are 1",
    ),
    ("beyond-u32.mtx", 2, "4294967296 nodes"),
    ("value-missing.mtx", 3, "2 columns where 3 are expected"),
    ("value-extra.mtx", 3, "3 columns where 2 are expected"),
    ("no-entries.mtx", 0, "no entries"),
    ("comments.graph", 0, "no header"),
    ("word-header.graph", 1, "not a METIS header"),
    ("short-header.graph", 1, "not a METIS header"),
    (
        "too-few-lines.graph",
        0,
        "promises 3 nodes, but there are lines for 1",
    ),
    ("too-many-lines.graph", 4, "beyond the 2 nodes"),
    ("one-sided.graph", 0, "between 1 and 2"),
    ("wrong-count.graph", 0, "promises 5 edges, but there are 2"),
    ("beyond.graph", 3, "not within 1..2: `3`"),
    ("zero.graph", 3, "not within 1..2: `0`"),
    ("word.graph", 3, "not a whole number: `x`"),
    ("bad-format.graph", 1, "three digits"),
    ("no-weight.graph", 3, "a neighbour without a weight"),
    ("lying-nodes.graph", 0, "promises 4294967295 nodes"),
    ("lying-constraints.graph", 2, "before the neighbours"),
    ("no-edges.graph", 0, "there are no edges"),
    ("weighted-negative.txt", 2, "a negative weight: `-0.5`"),
    ("weighted-nan.txt", 2, "not a number: `nan`"),
    ("weighted-infinite.txt", 1, "infinite"),
    (
        "weighted-overflow.txt",
        2,
        "infinite or beyond 32-bit floating point: `1e39`",
    ),
    (
        "weighted-underflow.txt",
        2,
        "below the range of 32-bit floating point: `1e-320`",
    ),
    ("weighted-word.csv", 3, "not a number: `heavy`"),
    ("weighted-empty.csv", 2, "not a number"),
    ("weighted-missing.txt", 1, "no weight among the 2 columns"),
    (
        "weighted-unnamed.csv",
        1,
        "none of the columns source, target, when, where is called weight",
    ),
    ("weighted-pattern.mtx", 1, "a pattern matrix has no weights"),
    ("weighted-negative.mtx", 3, "a negative weight"),
    ("weighted-none.graph", 1, "no edge weights"),
    ("weighted-negative.graph", 2, "a negative weight"),
];

fn mangled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mangled")
}

fn load(path: &Path, options: &ReadOptions) -> Result<Graph, Error> {
    read(path, options, &Silent)
}

#[test]
fn every_mangled_file_is_refused_with_its_place_and_reason() {
    for &(name, line, part) in EXPECTED {
        let options = ReadOptions {
            weighted: name.starts_with("weighted-"),
            ..ReadOptions::default()
        };
        let error = load(&mangled().join(name), &options).expect_err(name);
        let shown = error.to_string();
        assert!(
            error.is_input() && shown.contains(name) && shown.contains(part),
            "{name}: {shown}"
        );
        let Error::Input {
            line: found,
            remedy,
            ..
        } = &error
        else {
            panic!("{name}: {shown}")
        };
        assert_eq!(found.unwrap_or(0), line, "{name}: {shown}");
        assert!(!remedy.is_empty(), "{name}: no remedy in {shown}");
    }
}

#[test]
fn every_mangled_file_is_expected() {
    let files: BTreeSet<String> = std::fs::read_dir(mangled())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected: BTreeSet<String> = EXPECTED.iter().map(|e| e.0.to_string()).collect();
    assert_eq!(files, expected);
    assert!(files.len() >= 40);
}

#[test]
fn missing_unreadable_and_directory() {
    let folder = tempfile::tempdir().unwrap();
    let error = load(&folder.path().join("nothing.txt"), &ReadOptions::default()).unwrap_err();
    assert!(
        error.is_input() && error.to_string().contains("nothing.txt"),
        "{error}"
    );
    let error = load(folder.path(), &ReadOptions::default()).unwrap_err();
    assert!(
        error.is_input()
            && error
                .to_string()
                .contains("no .parquet file in this folder"),
        "{error}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join("closed.txt");
        std::fs::write(&path, "1 2\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser may read it all the same.
        if std::fs::File::open(&path).is_err() {
            assert!(load(&path, &ReadOptions::default()).unwrap_err().is_input());
        }
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "one,two,three\n1,2,3\n").unwrap();
    let base = ReadOptions::default;
    let cases = [
        (
            ReadOptions {
                source: Some("four".into()),
                ..base()
            },
            "no column `four`; the columns are one, two, three",
        ),
        (
            ReadOptions {
                target: Some("7".into()),
                ..base()
            },
            "no column 7, only 0 to 2",
        ),
        (
            ReadOptions {
                source: Some("1".into()),
                target: Some("1".into()),
                ..base()
            },
            "given twice",
        ),
        (
            ReadOptions {
                source: Some("one".into()),
                header: Some(false),
                ..base()
            },
            "header:",
        ),
        (
            ReadOptions {
                delimiter: Some("é".into()),
                ..base()
            },
            "delimiter:",
        ),
        (
            ReadOptions {
                delimiter: Some("\"".into()),
                ..base()
            },
            "delimiter:",
        ),
        (
            ReadOptions {
                delimiter: Some(";".into()),
                ..base()
            },
            "only one column",
        ),
        (
            ReadOptions {
                nodes: Some(folder.path().join("none")),
                ..base()
            },
            "none",
        ),
        (
            ReadOptions {
                format: Some(InputFormat::Metis),
                ..base()
            },
            "not a METIS header",
        ),
        (
            ReadOptions {
                format: Some(InputFormat::Parquet),
                ..base()
            },
            "not a valid Parquet",
        ),
    ];
    for (options, part) in cases {
        let error = load(&path, &options).expect_err(part);
        assert!(
            error.is_input() && error.to_string().contains(part),
            "{error}"
        );
    }
}

/// Sound files to be damaged, by format.
fn sound(format: InputFormat) -> Vec<Vec<u8>> {
    let parquet = || {
        let columns = [
            ("source", Kind::Integer),
            ("target", Kind::Text),
            ("weight", Kind::Float),
        ];
        let values = |rows: Range<usize>| {
            Ok(vec![
                Column::Integers(rows.clone().map(|i| i as i64).collect()),
                Column::Texts(rows.clone().map(|i| format!("n{i}")).collect()),
                Column::Floats(rows.map(|i| i as f32).collect()),
            ])
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sound.parquet");
        let mut batch = Batch::new(Existing::Refuse);
        Table::new(&NodeIds::Sequential(20), columns, 20, &values)
            .add_to(&mut batch, &path, &Silent)
            .unwrap();
        batch.commit().unwrap();
        std::fs::read(path).unwrap()
    };
    let text: &[&str] = match format {
        InputFormat::Edges => &[
            "source,target,weight\n1,2,0.5\n\"a\",3,1e3\n",
            "1 2\n3 4\r\n# c\n5 6\n",
            "a\tb\t1\nb\tc\t2\n",
        ],
        InputFormat::MatrixMarket => {
            &["%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 2\n2 1 0.5\n3 2 1\n"]
        }
        InputFormat::Metis => &[
            "3 2 011 2\n9 9 2 5\n9 9 1 5 3 7\n9 9 2 7\n",
            "3 2\n2\n1 3\n2\n",
        ],
        InputFormat::Parquet => return vec![parquet()],
        other => unreachable!("{other:?} has no samples"),
    };
    text.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// A sound file with some bytes changed, doubled or cut off, perhaps compressed (and then changed).
fn damaged(format: InputFormat) -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 0..6);
    (prop::sample::select(sound(format)), 0..3, changes).prop_map(
        |(mut bytes, packing, changes)| {
            bytes = match packing {
                1 => zstd::encode_all(&bytes[..], 1).unwrap(),
                _ => bytes,
            };
            for (at, byte, kind) in changes {
                if bytes.is_empty() {
                    break;
                }
                let at = at.index(bytes.len());
                match kind {
                    0 => bytes[at] = byte,
                    1 => bytes.truncate(at),
                    2 => bytes.insert(at, byte),
                    _ => bytes.extend_from_within(at..),
                }
            }
            bytes
        },
    )
}

/// Reads bytes with every combination of the options that matter; a graph that comes out is sound.
fn try_reading(bytes: &[u8], format: InputFormat) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    std::fs::write(&path, bytes).unwrap();
    for (directed, weighted) in [(false, false), (true, true)] {
        let options = ReadOptions {
            format: Some(format),
            directed,
            weighted,
            ..ReadOptions::default()
        };
        match load(&path, &options) {
            Ok(graph) => {
                let (pattern, weights) = (graph.pattern(), graph.weights().cloned());
                let (offsets, columns) = (pattern.offsets().to_vec(), pattern.indices().clone());
                let ids = graph.ids().clone();
                let same = Graph::from_arcs(offsets, columns, weights, Orientation::Detect, ids);
                let same = same.unwrap();
                assert!(same.dropped().is_empty() && (directed || !same.is_directed()));
                assert!(
                    graph.nodes() <= 1 << 21,
                    "{} nodes from {} bytes",
                    graph.nodes(),
                    bytes.len()
                );
            }
            Err(error) => assert!(error.to_string().contains("input"), "{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_break_a_reader(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        format in prop::sample::select(InputFormat::ALL.to_vec()),
    ) {
        try_reading(&bytes, format);
    }

    #[test]
    fn arbitrary_text_never_breaks_a_reader(
        text in "[0-9a-c,;\t\n\r\" #%.eE+-]{0,200}",
        format in prop::sample::select(InputFormat::ALL.to_vec()),
    ) {
        try_reading(text.as_bytes(), format);
    }

    #[test]
    fn damaged_files_never_break_a_reader(
        (format, bytes) in prop::sample::select(InputFormat::ALL.to_vec())
            .prop_flat_map(|format| (Just(format), damaged(format))),
    ) {
        try_reading(&bytes, format);
    }
}
