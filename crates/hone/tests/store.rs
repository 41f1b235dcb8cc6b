//! Every embedding format gives back what was written, and wrong files are refused.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use hone::Error;
use hone::dense::Block;
use hone::graph::NodeIds;
use hone::store::{Embedding, Format};
use proptest::prelude::*;

const FORMATS: [&str; 10] =
    ["a.tsv", "a.csv", "a.tsv.gz", "a.csv.zst", "a.npy", "a.npz", "a.parquet", "a.w2v", "a.w2v.gz", "a.safetensors"];

fn sample(ids: NodeIds, cols: usize) -> Embedding {
    let values = (0..ids.len() * cols).map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0 * 10f32.powi((i % 21) as i32 - 10));
    let vectors = Block::from_vec(ids.len(), cols, values.collect());
    Embedding::new(ids, vectors)
}

fn round_trip(embedding: &Embedding, name: &str) -> Embedding {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    embedding.write(&path, None, false).unwrap();
    let back = Embedding::read(&path, None).unwrap();
    let stray = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(stray, if name.ends_with(".npy") { 2 } else { 1 }, "{name}: nothing else is left behind");
    back
}

#[test]
fn every_format_gives_back_the_same_vectors_and_ids() {
    let texts = NodeIds::from_texts(&["ada", "grace", "émilie", "007"]);
    for ids in [NodeIds::Sequential(5), NodeIds::from_integers(vec![7, -3, 10_000_000_000]), texts] {
        let embedding = sample(ids, 3);
        for name in FORMATS {
            assert_eq!(round_trip(&embedding, name), embedding, "{name}");
        }
    }
}

#[test]
fn empty_embeddings_survive() {
    for name in FORMATS {
        let back = round_trip(&sample(NodeIds::Sequential(0), 4), name);
        assert_eq!((back.vectors.rows(), back.ids.len()), (0, 0), "{name}");
    }
}

#[test]
fn more_rows_than_a_chunk_and_a_row_group() {
    let embedding = sample(NodeIds::Sequential(140_000), 2);
    for name in ["a.tsv", "a.npy", "a.parquet"] {
        assert!(round_trip(&embedding, name) == embedding, "{name}");
    }
}

#[test]
fn awkward_ids_are_quoted_or_refused() {
    let embedding = sample(NodeIds::from_texts(&["a b", "c\td", "e\"f", "g,h", "i\nj"]), 2);
    for name in ["a.tsv", "a.csv", "a.npz", "a.npy", "a.parquet"] {
        assert_eq!(round_trip(&embedding, name), embedding, "{name}");
    }
    for name in ["a.w2v", "a.safetensors"] {
        let folder = tempfile::tempdir().unwrap();
        let error = embedding.write(&folder.path().join(name), None, false).unwrap_err();
        assert!(matches!(error, Error::Input { .. }), "{name}: {error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{name}: nothing is left behind");
    }
}

#[test]
fn existing_files_are_kept_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tsv");
    fs::write(&path, "mine").unwrap();
    let embedding = sample(NodeIds::Sequential(2), 1);
    assert!(matches!(embedding.write(&path, None, false), Err(Error::Exists { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    embedding.write(&path, None, true).unwrap();
    assert_eq!(Embedding::read(&path, None).unwrap(), embedding);
}

#[test]
fn formats_are_known_by_extension() {
    assert_eq!(Format::of(Path::new("x/y.TSV")).unwrap(), Format::Tsv);
    assert_eq!(Format::of(Path::new("y.csv.gz")).unwrap(), Format::Csv);
    assert_eq!(Format::of(Path::new("-")).unwrap(), Format::Tsv);
    for wrong in ["y", "y.xyz", "y.npy.gz", "y.gz"] {
        assert!(matches!(Format::of(Path::new(wrong)), Err(Error::Input { .. })), "{wrong}");
    }
}

#[test]
fn broken_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[u8]); 9] = [
        ("a.tsv", b""),
        ("b.tsv", b"id\tz0\n1\tx\n"),
        ("c.tsv", b"id\tz0\n1\t2\t3\n"),
        ("d.w2v", b"nonsense\n"),
        ("e.npy", b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n"),
        ("f.npy", b"not numpy at all"),
        ("g.npz", b"PK nothing"),
        ("h.parquet", b"PAR1PAR1"),
        ("i.safetensors", b"\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
    ];
    for (name, bytes) in cases {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let error = Embedding::read(&path, None).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), format in 0usize..10) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FORMATS[format]);
        fs::write(&path, bytes).unwrap();
        let _ = Embedding::read(&path, None);
    }
}
