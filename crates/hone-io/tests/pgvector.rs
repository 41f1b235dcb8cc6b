//! Vectors for PostgreSQL: bytes as the manual of COPY and the source of pgvector have them, and edges from COPY text.

use std::fs;
use std::path::Path;

use hone_base::memory::Allowance;
use hone_base::{Result, Silent};
use hone_io::graph::{self, NodeIds, ReadOptions};
use hone_io::output::Existing;
use hone_io::store::{Embedding, Format};
use hone_linalg::dense::Block;
use proptest::prelude::*;

fn embedding(ids: NodeIds, values: &[f32]) -> Embedding {
    let cols = values.len() / ids.len();
    let vectors = Block::from_vec(ids.len(), cols, values.to_vec());
    Embedding::new(ids, vectors)
}

/// The bytes of a file in a format.
fn written(embedding: &Embedding, format: Format) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors");
    embedding.write_as(&path, format, Existing::Refuse)?;
    Ok(fs::read(path).expect("written"))
}

fn read(bytes: &[u8], format: Format) -> Result<Embedding> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), bytes).expect("written");
    Embedding::read_within(file.path(), Some(format), Allowance::new(None))
}

fn refused(bytes: &[u8], format: Format) -> String {
    let read = read(bytes, format);
    read.expect_err("it should be refused").to_string()
}

/// What COPY binary begins with: signature, flags, no further header.
const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

#[test]
fn text_is_that_of_copy() {
    let ids = NodeIds::from_texts(&["ann", "C:\\new", "a\tb\r\n", "\\N"]);
    let values = [1.0, -0.5, 1e-9, 0.0, 2.5e7, 3.0, -1e-38, 7.0];
    let text = written(&embedding(ids, &values), Format::Pgvector).expect("finite");
    let expected = "ann\t[1.0,-0.5]\nC:\\\\new\t[1e-9,0.0]\na\\tb\\r\\n\t[25000000.0,3.0]\n\\\\N\t[-1e-38,7.0]\n";
    assert_eq!(String::from_utf8(text).expect("UTF-8"), expected);
    let ids = NodeIds::from_integers(vec![-3, i64::MAX]);
    let text = written(&embedding(ids, &[0.25, 4.0]), Format::Pgvector).expect("finite");
    assert_eq!(text, b"-3\t[0.25]\n9223372036854775807\t[4.0]\n");
}

#[test]
fn binary_is_that_of_copy() {
    let texts = embedding(NodeIds::from_texts(&["é"]), &[1.0, -2.5]);
    let expected = [
        HEAD,
        b"\0\x02",
        b"\0\0\0\x02\xc3\xa9",
        b"\0\0\0\x0c\0\x02\0\0\x3f\x80\0\0\xc0\x20\0\0",
        b"\xff\xff",
    ]
    .concat();
    assert_eq!(written(&texts, Format::Pgcopy).expect("finite"), expected);
    let integers = embedding(NodeIds::from_integers(vec![-2, 300]), &[1.0, 65504.0]);
    let expected = [
        HEAD,
        b"\0\x02\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xfe\0\0\0\x06\0\x01\0\0\x3c\0",
        b"\0\x02\0\0\0\x08\0\0\0\0\0\0\x01\x2c\0\0\0\x06\0\x01\0\0\x7b\xff",
        b"\xff\xff",
    ]
    .concat();
    let halves = written(&integers, Format::PgcopyHalf).expect("they fit");
    assert_eq!(halves, expected);
    assert_eq!(
        read(&halves, Format::Pgcopy).expect("well formed"),
        integers
    );
}

#[test]
fn what_the_database_would_refuse_is_refused() {
    let ids = || NodeIds::from_texts(&["ann", "bob"]);
    let formats = [Format::Pgvector, Format::Pgcopy, Format::PgcopyHalf];
    for (values, format, expected) in [
        (
            [1.0, f32::NAN],
            Format::Pgvector,
            "node `bob` has the value NaN",
        ),
        (
            [f32::INFINITY, 1.0],
            Format::Pgcopy,
            "node `ann` has the value inf",
        ),
        (
            [1.0, 65520.0],
            Format::PgcopyHalf,
            "which a halfvec cannot hold (choose pgcopy",
        ),
    ] {
        let error = written(&embedding(ids(), &values), format).expect_err("refused");
        assert!(error.to_string().contains(expected), "{error}");
    }
    for format in formats {
        let wide = embedding(NodeIds::Sequential(1), &vec![0.5; 16_001]);
        let error = written(&wide, format).expect_err("too many").to_string();
        assert!(error.contains("1 to 16000 columns, not 16001"), "{error}");
        let zero = embedding(NodeIds::from_texts(&["a\0"]), &[1.0]);
        let error = written(&zero, format).expect_err("a zero byte").to_string();
        assert!(error.contains("\"a\\0\" has a zero byte"), "{error}");
    }
}

#[test]
fn wrong_text_is_refused_with_its_line() {
    for (text, expected) in [
        (
            "a\t[1,2]\n\\N\t[1,2]\n",
            "line 2: a null (\\N) in place of the id",
        ),
        ("a\t\\N\n", "line 1: a null (\\N) in place of the vector"),
        ("a\t[1,2]\nb\t[1]\n", "line 2: expected 2 values, found 1"),
        ("a\t[1,x]\n", "`x` is not a number"),
        ("a\t[]\n", "`` is not a number"),
        ("a\t{1:2}/3\n", "no vector, such as [1,2.5]"),
        ("a\tb\t[1]\n", "found 3 fields"),
        (
            "a\t[1]\na\t[2]\n",
            "node `a` has two vectors, in lines 1 and 2",
        ),
        ("", "the file is empty"),
    ] {
        let error = refused(text.as_bytes(), Format::Pgvector);
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    let read = read(b"a\\tb\t[1, 2]\r\n\\\\\t[3,4]\n\\.\n", Format::Pgvector).expect("well formed");
    let expected = NodeIds::from_texts(&["a\tb", "\\"]);
    assert_eq!(
        (read.ids, read.columns),
        (expected, vec!["z0".into(), "z1".into()])
    );
}

#[test]
fn wrong_binary_data_is_refused_with_its_row() {
    let good = b"\0\x02\0\0\0\x01a\0\0\0\x08\0\x01\0\0\x3f\x80\0\0";
    let of = |rows: &[u8]| [HEAD, rows, b"\xff\xff"].concat();
    let (flags, more) = (
        b"PGCOPY\n\xff\r\n\0\0\x01\0\0\0\0\0\0".to_vec(),
        b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\x02ab\xff\xff".to_vec(),
    );
    let null = [&good[..], b"\0\x02\xff\xff\xff\xff"].concat();
    let long = [&good[..], b"\0\x02\x7f\xff\xff\xff"].concat();
    let uneven = [
        &good[..],
        b"\0\x02\0\0\0\x01b\0\0\0\x0c\0\x02\0\0\x3f\x80\0\0\x3f\x80\0\0",
    ]
    .concat();
    let array = b"\0\x02\0\0\0\x01a\0\0\0\x08\0\x05\0\0\0\0\0\0";
    for (bytes, expected) in [
        (
            b"a\t[1,2,3,4,5]\n".to_vec(),
            "it does not begin with PGCOPY",
        ),
        (flags, "flags that are not known"),
        (of(b"\0\x03"), "row 0, from 0: 3 fields"),
        (of(&null), "row 1, from 0: a null in place of the id"),
        (of(&long), "bytes are too many for the id"),
        (of(&uneven), "row 1, from 0: expected 1 values, found 2"),
        (of(array), "row 0, from 0: the second field is no vector"),
        (
            [HEAD, good].concat(),
            "row 1, from 0: the data is truncated",
        ),
        (
            [HEAD, &good[..9]].concat(),
            "row 0, from 0: the data is truncated",
        ),
    ] {
        let error = refused(&bytes, Format::Pgcopy);
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // A header of unknown extensions is skipped.
    assert_eq!(read(&more, Format::Pgcopy).expect("no rows").ids.len(), 0);
}

#[test]
fn integers_of_any_width_are_ids() {
    let row = |id: &[u8]| {
        let length = (id.len() as u32).to_be_bytes();
        [b"\0\x02", &length[..], id, b"\0\0\0\x06\0\x01\0\0\x3c\0"].concat()
    };
    for (ids, expected) in [
        ([&[0, 1][..], &[0xff, 0xfe]], Ok(vec![1, -2])),
        ([&[0, 0, 1, 0], &[0x61; 4]], Ok(vec![256, 0x6161_6161])),
        ([&[0x61; 8], &[0x62; 8]], Err(["aaaaaaaa", "bbbbbbbb"])),
    ] {
        let bytes = [HEAD, &row(ids[0]), &row(ids[1]), b"\xff\xff"].concat();
        let expected = match expected {
            Ok(integers) => NodeIds::from_integers(integers),
            Err(texts) => NodeIds::from_texts(&texts),
        };
        assert_eq!(read(&bytes, Format::Pgcopy).expect("ids").ids, expected);
    }
    let mixed = [HEAD, &row(&[0, 1]), &row(b"abc"), b"\xff\xff"].concat();
    let error = refused(&mixed, Format::Pgcopy);
    assert!(error.contains("neither text nor integers"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_forms_come_back(
        ids in prop::collection::btree_set("[^\0]{0,12}", 1..9),
        bits in prop::collection::vec(any::<u32>(), 1..4),
    ) {
        let ids: Vec<String> = ids.into_iter().map(|id| format!("é{id}")).collect();
        let row: Vec<f32> = bits.into_iter().map(f32::from_bits).map(|value| {
            if value.is_finite() { value } else { 0.5 }
        }).collect();
        let values = row.repeat(ids.len());
        let before = embedding(NodeIds::from_texts(&ids), &values);
        for format in [Format::Pgvector, Format::Pgcopy] {
            let bytes = written(&before, format).expect("it fits");
            let after = read(&bytes, format).expect("well formed");
            prop_assert_eq!(&after.ids, &before.ids);
            let bits = |of: &Embedding| of.vectors.as_slice().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&after), bits(&before));
        }
    }

    /// Rounding to 16 bits as the IEEE 754 standard has it, computed in 64 bits: to the nearest multiple of the last place,
    /// halves to even.
    #[test]
    fn halves_are_rounded_to_nearest(value in prop_oneof![-65519f32..65519.0, -1e-4f32..1e-4]) {
        let before = embedding(NodeIds::Sequential(1), &[value]);
        let bytes = written(&before, Format::PgcopyHalf).expect("it fits");
        let after = read(&bytes, Format::PgcopyHalf).expect("well formed");
        let exponent = if value == 0.0 { -14 } else { f64::from(value).abs().log2().floor().max(-14.0) as i32 };
        let unit = 2f64.powi(exponent - 10);
        let expected = (f64::from(value) / unit).round_ties_even() * unit;
        prop_assert_eq!(f64::from(after.vectors.as_slice()[0]), expected);
    }
}

fn edges(text: &str, options: &ReadOptions) -> Result<Vec<(String, String)>> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), text).expect("written");
    let graph = graph::read(Path::new(file.path()), options, &Silent)?;
    let name = |i: u32| graph.ids().get(i).to_string();
    let pattern = graph.pattern();
    let nodes = 0..graph.nodes() as u32;
    let pairs = nodes.flat_map(|u| pattern.row(u as usize).iter().map(move |&v| (u, v)));
    Ok(pairs
        .filter(|(u, v)| u < v)
        .map(|(u, v)| (name(u), name(v)))
        .collect())
}

fn copy() -> ReadOptions {
    ReadOptions {
        delimiter: Some("copy".into()),
        ..ReadOptions::default()
    }
}

#[test]
fn copy_text_is_decoded_when_it_is_named() {
    let text = "C:\\\\new\ta\\tb\n#x\t\"q\n blank \\x41\tC:\\\\new\n\\.\n";
    let read = edges(text, &copy()).expect("well formed");
    let pair = |u: &str, v: &str| (u.to_owned(), v.to_owned());
    // Nodes are in the order of their appearance.
    let expected = vec![
        pair("C:\\new", "a\tb"),
        pair("C:\\new", " blank A"),
        pair("#x", "\"q"),
    ];
    assert_eq!(read, expected);
    // The first line is an edge, whatever it looks like.
    let named = edges("source\ttarget\na\tb\n", &copy()).expect("two edges");
    assert_eq!(named.len(), 2);
    let plain = edges("1\t2\n2\t3\n", &copy()).expect("integers");
    assert_eq!(plain, [pair("1", "2"), pair("2", "3")]);
}

#[test]
fn nulls_and_backslashes_in_doubt_are_refused_with_their_line() {
    let default = ReadOptions::default();
    let tabs = ReadOptions {
        delimiter: Some("tab".into()),
        ..ReadOptions::default()
    };
    for (text, options) in [
        ("a\tb\n\\N\tb\n", &default),
        ("1\t2\n2\t\\N\n", &default),
        ("a\tb\nb\t\\N\n", &copy()),
        ("a\tb\nb\t\\N\n", &tabs),
    ] {
        let error = edges(text, options).expect_err("a null").to_string();
        assert!(
            error.contains("line 2: a null (\\N) in place of a node id"),
            "{error}"
        );
    }
    let weighted = ReadOptions {
        weighted: true,
        ..copy()
    };
    let error = edges("a\tb\t1\nb\tc\t\\N\n", &weighted).expect_err("a null");
    let error = error.to_string();
    assert!(
        error.contains("line 2: a null (\\N) in place of a weight"),
        "{error}"
    );
    let text = "a\tb\nC:\\temp\tb\n";
    let error = edges(text, &default).expect_err("in doubt").to_string();
    assert!(
        error.contains("line 2: a backslash in a node id"),
        "{error}"
    );
    assert!(
        error.contains("delimiter = \"copy\" decodes the text of COPY"),
        "{error}"
    );
    let kept = edges(text, &tabs).expect("as it is");
    assert_eq!(kept[1].1, "C:\\temp");
    let quoted = edges("a\tb\n\"C:\\temp\"\tb\n", &default).expect("quoted");
    assert_eq!(quoted[1].1, "C:\\temp");
}
