//! Every embedding format gives back what was written, and wrong files are refused.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use hone::Error;
use hone::dense::Block;
use hone::graph::{NodeIds, ReadOptions};
use hone::memory::Allowance;
use hone::output::Existing;
use hone::store::{Embedding, Format};
use proptest::prelude::*;

const FORMATS: [&str; 10] = [
    "a.tsv",
    "a.csv",
    "a.tsv.gz",
    "a.csv.zst",
    "a.npy",
    "a.npz",
    "a.parquet",
    "a.w2v",
    "a.w2v.gz",
    "a.safetensors",
];
/// A folder of parts.
const PARTS: &str = "a.parquet/";

fn sample(ids: NodeIds, cols: usize) -> Embedding {
    let values = (0..ids.len() * cols)
        .map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0 * 10f32.powi((i % 21) as i32 - 10));
    let vectors = Block::from_vec(ids.len(), cols, values.collect());
    Embedding::new(ids, vectors)
}

fn round_trip(embedding: &Embedding, name: &str) -> Embedding {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    embedding.write(&path, Existing::Refuse).unwrap();
    let back = Embedding::read(&path).unwrap();
    let stray = fs::read_dir(folder.path()).unwrap().count();
    let files = if name.ends_with(".npy") {
        3
    } else {
        1 + usize::from(name.contains(".w2v"))
    };
    assert_eq!(stray, files, "{name}: nothing else is left behind");
    back
}

#[test]
fn every_format_gives_back_the_same_vectors_and_ids() {
    let texts = NodeIds::from_texts(&["ada", "grace", "émilie", "007"]);
    for ids in [
        NodeIds::Sequential(5),
        NodeIds::from_integers(vec![7, -3, 10_000_000_000]),
        texts,
    ] {
        let embedding = sample(ids, 3);
        for name in FORMATS.into_iter().chain([PARTS]) {
            assert_eq!(round_trip(&embedding, name), embedding, "{name}");
        }
    }
}

#[test]
fn every_format_gives_back_the_names_of_columns() {
    let names = [
        "z0",
        "edge.k1.0",
        "city=New\nYork",
        "a\\b\r",
        " blank ",
        "émilie",
    ]
    .map(str::to_owned);
    let plain = sample(NodeIds::Sequential(4), names.len());
    let embedding = Embedding::with_columns(plain.ids, plain.vectors, names.to_vec());
    for name in FORMATS.into_iter().chain([PARTS]) {
        assert_eq!(
            round_trip(&embedding, name).columns,
            embedding.columns,
            "{name}"
        );
    }
}

#[test]
fn names_of_other_columns_are_refused() {
    for name in ["a.npy", "a.w2v"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        sample(NodeIds::Sequential(4), 3)
            .write(&path, Existing::Refuse)
            .unwrap();
        fs::write(folder.path().join(format!("{name}.columns.txt")), "a\nb\n").unwrap();
        let error = Embedding::read(&path).unwrap_err().to_string();
        assert!(
            error.contains("2 names for 3 columns") && error.contains("columns.txt"),
            "{error}"
        );
        fs::remove_file(folder.path().join(format!("{name}.columns.txt"))).unwrap();
        assert_eq!(Embedding::read(&path).unwrap().columns, ["z0", "z1", "z2"]);
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
    let embedding = sample(
        NodeIds::from_texts(&["a b", "c\td", "e\"f", "g,h", "i\nj"]),
        2,
    );
    for name in ["a.tsv", "a.csv", "a.npz", "a.npy", "a.parquet"] {
        assert_eq!(round_trip(&embedding, name), embedding, "{name}");
    }
    for name in ["a.w2v", "a.safetensors"] {
        let folder = tempfile::tempdir().unwrap();
        let error = embedding
            .write(folder.path().join(name), Existing::Refuse)
            .unwrap_err();
        assert!(matches!(error, Error::Input { .. }), "{name}: {error}");
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            0,
            "{name}: nothing is left behind"
        );
    }
}

#[test]
fn existing_files_are_kept_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tsv");
    fs::write(&path, "mine").unwrap();
    let embedding = sample(NodeIds::Sequential(2), 1);
    assert!(matches!(
        embedding.write(&path, Existing::Refuse),
        Err(Error::Exists { .. })
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    embedding.write(&path, Existing::Replace).unwrap();
    assert_eq!(Embedding::read(&path).unwrap(), embedding);
}

#[test]
fn formats_are_known_by_extension() {
    assert_eq!(Format::of("x/y.TSV").unwrap(), Format::Tsv);
    assert_eq!(Format::of("y.csv.gz").unwrap(), Format::Csv);
    assert_eq!(Format::of("-").unwrap(), Format::Tsv);
    for wrong in ["y", "y.xyz", "y.npy.gz", "y.gz"] {
        assert!(
            matches!(Format::of(wrong), Err(Error::Input { .. })),
            "{wrong}"
        );
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
        let error = Embedding::read(&path).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), format in 0usize..10) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FORMATS[format]);
        fs::write(&path, bytes).unwrap();
        let _ = Embedding::read(&path);
    }
}

/// Whatever a byte becomes, reading ends with a value or with an error that names the file and a remedy.
#[test]
fn damaged_files_never_make_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let embedding = sample(NodeIds::from_texts(&["ada", "grace", "émilie"]), 2);
    for name in ["a.parquet", "a.npz", "a.npy", "a.safetensors", "a.tsv.gz"] {
        let path = folder.path().join(name);
        embedding.write(&path, Existing::Refuse).unwrap();
        let whole = fs::read(&path).unwrap();
        // Parquet says everything several times.
        for at in (0..whole.len()).step_by(if name == "a.parquet" { 3 } else { 1 }) {
            let mut bytes = whole.clone();
            bytes[at] ^= [0x01, 0xff][at % 2];
            fs::write(&path, bytes).unwrap();
            if let Err(error) = Embedding::read(&path) {
                let shown = error.to_string();
                assert!(
                    error.is_input() && shown.contains("a."),
                    "{name}, byte {at}: {shown}"
                );
                assert!(
                    shown.ends_with(')') || shown.contains("memory_limit"),
                    "{name}, byte {at}: no remedy in {shown}"
                );
            }
            fs::write(&path, &whole[..at]).unwrap();
            assert!(
                Embedding::read(&path).is_err_and(|error| error.is_input()),
                "{name} cut to {at}"
            );
        }
    }
}

/// What `numpy.savez_compressed` writes.
#[test]
fn compressed_archives_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (stored, packed) = (folder.path().join("a.npz"), folder.path().join("b.npz"));
    let embedding = sample(NodeIds::from_texts(&["ada", "grace"]), 3);
    embedding.write(&stored, Existing::Refuse).unwrap();
    let mut from = zip::ZipArchive::new(fs::File::open(&stored).unwrap()).unwrap();
    let mut to = zip::ZipWriter::new(fs::File::create(&packed).unwrap());
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    for i in 0..from.len() {
        let mut member = from.by_index(i).unwrap();
        to.start_file(member.name().unwrap().into_owned(), options)
            .unwrap();
        std::io::copy(&mut member, &mut to).unwrap();
    }
    to.finish().unwrap();
    assert_eq!(Embedding::read(&packed).unwrap(), embedding);
}

/// Files of a few kilobytes that would take hundreds of megabytes.
#[test]
#[cfg(target_os = "linux")]
fn what_expands_beyond_its_allowance_is_refused() {
    use std::io::{Read, Write, repeat};
    let folder = tempfile::tempdir().unwrap();
    let allowance = || Allowance::new(Some(hone::memory::resident().unwrap() + (48 << 20)));
    let packed = |name: &str, head: &str, byte: u8| {
        let path = folder.path().join(name);
        let mut encoder = zstd::Encoder::new(fs::File::create(&path).unwrap(), 1).unwrap();
        encoder.write_all(head.as_bytes()).unwrap();
        std::io::copy(&mut repeat(byte).take(200 << 20), &mut encoder).unwrap();
        encoder.finish().unwrap();
        path
    };
    let line = packed("b.csv.zst", "id,z0\n", b'7');
    let error = Embedding::read_within(&line, None, allowance())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 2: a record of more than 16 MiB"),
        "{error}"
    );
    let nodes = packed("nodes.zst", "1\n", b'\n');
    let metis = packed("a.graph.zst", "", b'\n');
    let plain = folder.path().join("edges");
    fs::write(&plain, "1 2\n").unwrap();
    let limit = || Some(hone::memory::resident().unwrap() + (48 << 20));
    let read = |input: &Path, nodes: Option<&Path>| {
        let options = ReadOptions {
            nodes: nodes.map(Path::to_path_buf),
            memory: limit(),
            ..ReadOptions::default()
        };
        hone::graph::read(input, &options, &hone::Silent)
    };
    for error in [
        read(&metis, None).unwrap_err(),
        read(&plain, Some(&nodes)).unwrap_err(),
    ] {
        assert!(
            matches!(error, Error::Memory { .. }) && error.to_string().contains("reading"),
            "{error}"
        );
    }
    let npy = packed("a.npy.zst", "", 0);
    let mut head = Vec::new();
    head.extend(b"\x93NUMPY\x01\x00");
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 52000000), }\n";
    head.extend((text.len() as u16).to_le_bytes());
    head.extend(text.bytes());
    let mut encoder = zstd::Encoder::new(fs::File::create(&npy).unwrap(), 1).unwrap();
    encoder.write_all(&head).unwrap();
    std::io::copy(&mut repeat(0).take(208_000_000), &mut encoder).unwrap();
    encoder.finish().unwrap();
    let table = hone::attributes::Table::default();
    let ids = NodeIds::Sequential(1);
    let error = hone::attributes::read(&npy, &table, &ids, limit(), &hone::Silent).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
}

/// Millions of equal values are a few hundred bytes of Parquet.
#[test]
#[cfg(target_os = "linux")]
fn tables_are_measured_before_they_are_decoded() {
    use parquet::data_type::Int64Type;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = parquet::schema::parser::parse_message_type(
        "message m { required int64 id; required int64 x; }",
    );
    let file = fs::File::create(&path).unwrap();
    let mut writer = parquet::file::writer::SerializedFileWriter::new(
        file,
        schema.unwrap().into(),
        Default::default(),
    )
    .unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        for _ in 0..40 {
            column
                .typed::<Int64Type>()
                .write_batch(&[7; 1 << 16], None, None)
                .unwrap();
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 50_000, "few bytes");
    let limit = Some(hone::memory::resident().unwrap() + (32 << 20));
    let table = hone::attributes::Table::default();
    let error =
        hone::attributes::read(&path, &table, &NodeIds::Sequential(9), limit, &hone::Silent);
    let error = error.unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    assert!(
        Embedding::read_within(&path, None, Allowance::new(limit))
            .is_err_and(|e| matches!(e, Error::Memory { .. }))
    );
}

#[test]
fn folders_of_other_parts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet/");
    let embedding = sample(NodeIds::Sequential(5), 3);
    let mut batch = hone::output::Batch::new(Existing::Refuse);
    embedding.add_to(&mut batch, &path, None).unwrap();
    hone::record::add_to(&mut batch, &path, &serde_json::json!({ "version": "1" })).unwrap();
    batch.commit().unwrap();
    assert!(folder.path().join("a.parquet.run.json").is_file());
    assert_eq!(Embedding::read(&path).unwrap(), embedding);
    // Renamed together.
    let moved = folder.path().join("b.parquet");
    fs::rename(&path, &moved).unwrap();
    fs::rename(
        folder.path().join("a.parquet.run.json"),
        folder.path().join("b.parquet.run.json"),
    )
    .unwrap();
    assert_eq!(Embedding::read(&moved).unwrap(), embedding);
    // A part of another run joins.
    let other = sample(NodeIds::from_integers(vec![7, 8]), 3);
    other
        .write(moved.join("part-00001.parquet"), Existing::Refuse)
        .unwrap();
    let error = Embedding::read(&moved).unwrap_err().to_string();
    assert!(
        error.contains("part-00001.parquet is not listed"),
        "{error}"
    );
    fs::remove_file(folder.path().join("b.parquet.run.json")).unwrap();
    assert_eq!(Embedding::read(&moved).unwrap().vectors.rows(), 7);
    // Other columns, other ids.
    sample(NodeIds::from_integers(vec![9]), 2)
        .write(moved.join("part-00002.parquet"), Existing::Refuse)
        .unwrap();
    let error = Embedding::read(&moved).unwrap_err().to_string();
    assert!(
        error.contains("part-00002.parquet") && error.contains("other columns"),
        "{error}"
    );
    sample(NodeIds::from_texts(&["x"]), 3)
        .write(moved.join("part-00002.parquet"), Existing::Replace)
        .unwrap();
    let error = Embedding::read(&moved).unwrap_err().to_string();
    assert!(
        error.contains("integers in some parts and of text in others"),
        "{error}"
    );
}
