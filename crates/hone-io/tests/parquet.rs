//! Parquet: a column of vectors, as other writers have it too, and graphs in folders of files.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use hone_base::memory::Allowance;
use hone_base::{Result, Silent};
use hone_io::graph::{self, NodeIds, ReadOptions};
use hone_io::output::Existing;
use hone_io::store::{Embedding, Format};
use hone_linalg::dense::Block;
use parquet::data_type::{ByteArrayType, DoubleType, FloatType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

type Group<'a> = SerializedRowGroupWriter<'a, File>;
type Write<'a> = dyn Fn(&mut Group<'_>) + 'a;

/// Writes a file of a schema, a row group after the other.
fn file(path: &Path, schema: &str, groups: &[&Write<'_>]) {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let out = File::create(path).expect("created");
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(out, schema, properties).expect("begun");
    for write in groups {
        let mut group = writer.next_row_group().expect("a group");
        write(&mut group);
        group.close().expect("closed");
    }
    writer.close().expect("finished");
}

fn integers(group: &mut Group<'_>, values: &[i64], levels: Option<&[i16]>) {
    let mut column = group.next_column().expect("open").expect("a column");
    let typed = column.typed::<Int64Type>();
    typed.write_batch(values, levels, None).expect("written");
    column.close().expect("closed");
}

fn texts(group: &mut Group<'_>, values: &[&str]) {
    let mut column = group.next_column().expect("open").expect("a column");
    let values: Vec<_> = values.iter().map(|&text| text.into()).collect();
    let typed = column.typed::<ByteArrayType>();
    typed.write_batch(&values, None, None).expect("written");
    column.close().expect("closed");
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn sample(rows: usize, cols: usize) -> Embedding {
    let values = (0..rows * cols).map(|at| at as f32 / 8.0 - 3.0).collect();
    let names = (0..cols).map(|j| format!("structure_{j}")).collect();
    let ids = (0..rows).map(|i| format!("n{i}")).collect::<Vec<_>>();
    let vectors = Block::from_vec(rows, cols, values);
    Embedding::with_columns(NodeIds::from_texts(&ids), vectors, names)
}

#[test]
fn vectors_are_one_column_of_lists() {
    let folder = folder();
    let path = folder.path().join("v.parquet");
    // Several row groups: 2²² values each.
    let embedding = sample(70_000, 64);
    embedding
        .write_as(&path, Format::ParquetVector, Existing::Refuse)
        .expect("written");
    let reader = SerializedFileReader::new(File::open(&path).expect("there")).expect("sound");
    let metadata = reader.metadata().file_metadata();
    let expected = "message table { REQUIRED BYTE_ARRAY id (STRING); REQUIRED group vector (LIST) { REPEATED group list { \
                    REQUIRED FLOAT element; } } }";
    let expected = parse_message_type(expected).expect("a schema");
    assert_eq!(*metadata.schema(), expected);
    assert_eq!(reader.num_row_groups(), 2);
    let row = reader.into_iter().nth(1).expect("rows").expect("sound");
    let row = row.to_string();
    assert!(
        row.contains("id: \"n1\"") && row.contains("vector: [5"),
        "{row}"
    );
    // The extension alone says how it is read.
    assert!(Embedding::read(&path).expect("sound") == embedding);
}

#[test]
fn vectors_without_rows_or_columns_survive() {
    for (rows, cols) in [(0, 3), (4, 0), (1, 1)] {
        let folder = folder();
        let path = folder.path().join("v.parquet");
        let embedding = sample(rows, cols);
        embedding
            .write_as(&path, Format::ParquetVector, Existing::Refuse)
            .expect("written");
        let back = Embedding::read(&path).expect("sound");
        assert_eq!((back.vectors.rows(), back.vectors.cols()), (rows, cols));
        assert_eq!(back.columns, embedding.columns);
    }
}

/// Values, their levels of definition and of repetition, and what is said.
type Case = (&'static [f64], &'static [i16], &'static [i16], &'static str);

/// Lists as pyarrow, DuckDB and Polars write them: everything may be null.
const LISTS: &str = "message schema { optional int64 id; optional group embedding (LIST) { repeated group list { optional \
                     double item; } } }";

/// Writes lists with these levels after ids from 0.
fn lists(
    path: &Path,
    schema: &str,
    rows: usize,
    values: &[f64],
    defined: &[i16],
    repeated: &[i16],
) {
    file(
        path,
        schema,
        &[&|group| {
            let ids: Vec<i64> = (0..rows as i64).collect();
            integers(group, &ids, Some(&vec![1; rows]));
            let mut column = group.next_column().expect("open").expect("a column");
            column
                .typed::<DoubleType>()
                .write_batch(values, Some(defined), Some(repeated))
                .expect("written");
            column.close().expect("closed");
        }],
    );
}

#[test]
fn lists_of_others_are_read_or_refused_with_their_row() {
    let folder = folder();
    let path = folder.path().join("v.parquet");
    lists(
        &path,
        LISTS,
        2,
        &[1.0, 2.0, 3.0, 4.0],
        &[3; 4],
        &[0, 1, 0, 1],
    );
    let read = Embedding::read(&path).expect("sound");
    assert_eq!(read.vectors.as_slice(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(read.columns, ["z0", "z1"]);
    let cases: [Case; 4] = [
        (
            &[1.0, 2.0, 3.0],
            &[3; 3],
            &[0, 1, 0],
            "row 1, in row group 0, has 1 values where 2 are expected in column `embedding`",
        ),
        (
            &[1.0, 2.0, 3.0],
            &[3, 3, 3, 2],
            &[0, 1, 0, 1],
            "row 1, in row group 0, has a null among the values",
        ),
        (
            &[1.0, 2.0],
            &[3, 3, 0],
            &[0, 1, 0],
            "row 1, in row group 0, has no vector",
        ),
        (
            &[1.0, 2.0],
            &[3, 3, 1],
            &[0, 1, 0],
            "row 1, in row group 0, has 0 values where 2 are expected",
        ),
    ];
    for (values, defined, repeated, expected) in cases {
        lists(&path, LISTS, 2, values, defined, repeated);
        let error = Embedding::read(&path).expect_err("wrong").to_string();
        assert!(error.contains(expected), "{error}");
    }
    // Lists of lists are none.
    let nested = "message schema { optional int64 id; optional group embedding (LIST) { repeated group list { optional group \
                  element (LIST) { repeated group list { optional double element; } } } } }";
    lists(&path, nested, 1, &[1.0], &[5], &[0]);
    let error = Embedding::read(&path).expect_err("nested").to_string();
    assert!(error.contains("has lists"), "{error}");
}

#[test]
fn a_folder_has_as_many_rows_per_file_as_it_should() {
    for format in [Format::Parquet, Format::ParquetVector] {
        let folder = folder();
        let path = folder.path().join("vectors/");
        let embedding = sample(10, 3);
        let mut batch = hone_io::output::Batch::new(Existing::Refuse);
        let alone = hone_base::communicator::SingleProcess;
        embedding
            .add_parts(&mut batch, &path, Some(format), 4, &alone)
            .expect("written");
        batch.commit().expect("in place");
        let part = |at: usize| path.join(format!("part-0000{at}.parquet"));
        let rows: Vec<usize> = (0..3)
            .map(|at| Embedding::read(part(at)).expect("a part").ids.len())
            .collect();
        assert_eq!(rows, [4, 4, 2]);
        assert!(!part(3).exists());
        assert_eq!(Embedding::read(&path).expect("sound"), embedding);
        let bare = path.components().as_path();
        assert_eq!(Embedding::read(bare).expect("sound"), embedding);
        for (name, rows, expected) in [
            (
                "v.parquet",
                4,
                "v.parquet is one file; end its name with `/`",
            ),
            ("v/", 0, "a file needs at least one row"),
        ] {
            let error = Embedding::check_parts(name, rows).expect_err("refused");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

const EDGES: &str =
    "message edges { required int64 src; required int64 dst; required float weight; }";

/// Writes edges of integers, a row group for each list.
fn edges(path: &Path, groups: &[&[(i64, i64)]]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let writes: Vec<Box<Write<'_>>> = groups
        .iter()
        .map(|&pairs| {
            let write = move |group: &mut Group<'_>| {
                let (from, to): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
                integers(group, &from, None);
                integers(group, &to, None);
                let mut column = group.next_column().expect("open").expect("a column");
                let weights = vec![0.5; pairs.len()];
                column
                    .typed::<FloatType>()
                    .write_batch(&weights, None, None)
                    .expect("written");
                column.close().expect("closed");
            };
            Box::new(write) as Box<Write<'_>>
        })
        .collect();
    let writes: Vec<&Write<'_>> = writes.iter().map(|write| &**write).collect();
    file(path, EDGES, &writes);
}

fn read(path: &Path) -> Result<graph::Graph> {
    graph::read(path, &ReadOptions::default(), &Silent)
}

fn refused(path: &Path) -> String {
    read(path).expect_err("it should be refused").to_string()
}

#[test]
fn a_folder_is_read_as_one_table() {
    let folder = folder();
    let data = folder.path().join("edges");
    edges(
        &data.join("year=2024/a.parquet"),
        &[&[(1, 2), (2, 3)], &[(3, 4)]],
    );
    edges(
        &data.join("year=2025/month=1/b.snappy.parquet"),
        &[&[(4, 5)]],
    );
    edges(&data.join("c.pq"), &[&[(5, 1)], &[]]);
    for beside in [
        "_SUCCESS",
        ".c.pq.crc",
        "_metadata",
        "_tmp/x.txt",
        ".hidden/y.parquet",
    ] {
        let path = data.join(beside);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, "not Parquet").expect("written");
    }
    // The same edges in one file, the oracle.
    let one = folder.path().join("one.parquet");
    edges(&one, &[&[(5, 1), (1, 2), (2, 3), (3, 4), (4, 5)]]);
    let [whole, parts] = [read(&one), read(&data)].map(|read| read.expect("sound"));
    assert_eq!(parts.fingerprint(), whole.fingerprint());
    let reading = graph::reading(&parts).expect("a file");
    assert_eq!(reading.format, graph::InputFormat::Parquet);
    let sizes = graph::sizes(&data, &ReadOptions::default(), &Silent).expect("sound");
    assert_eq!(sizes.expect("a file").edges, 5);
}

#[test]
fn wrong_folders_are_refused_by_name() {
    let folder = folder();
    let data = folder.path().join("edges");
    fs::create_dir(&data).expect("made");
    fs::write(data.join("_SUCCESS"), "").expect("written");
    assert!(refused(&data).contains("there is no .parquet file in this folder"));
    edges(&data.join("a.parquet"), &[&[(1, 2)]]);
    fs::write(data.join("notes.txt"), "1 2").expect("written");
    let error = refused(&data);
    assert!(
        error.contains("notes.txt: this is no .parquet file"),
        "{error}"
    );
    fs::remove_file(data.join("notes.txt")).expect("removed");

    let other = data.join("b.parquet");
    let schema = "message edges { required int64 src; required binary dst (STRING); required float weight; }";
    file(&other, schema, &[]);
    let error = refused(&data);
    let names = error.contains("b.parquet: its columns differ from those of")
        && error.contains("a.parquet: column 1");
    assert!(
        names && error.contains("is `dst` of text here and `dst` of integers there"),
        "{error}"
    );
    file(
        &other,
        "message edges { required int64 src; required int64 dst; }",
        &[],
    );
    let error = refused(&data);
    assert!(
        error.contains("is nothing here and `weight` of floats there"),
        "{error}"
    );

    fs::write(&other, "").expect("written");
    let error = refused(&data);
    assert!(
        error.contains("b.parquet") && error.contains("too few"),
        "{error}"
    );
    let error = graph::read(
        &data,
        &ReadOptions {
            format: Some(graph::InputFormat::Edges),
            ..ReadOptions::default()
        },
        &Silent,
    );
    let error = error.expect_err("a folder").to_string();
    assert!(error.contains("cannot be read as edges"), "{error}");
}

#[test]
fn errors_name_the_file_and_the_row_group() {
    let folder = folder();
    let data = folder.path().join("edges");
    let schema = "message edges { optional int64 src; required int64 dst; }";
    fs::create_dir(&data).expect("made");
    let row = |group: &mut Group<'_>| {
        integers(group, &[1, 2], Some(&[1, 1]));
        integers(group, &[2, 3], None);
    };
    let null = |group: &mut Group<'_>| {
        integers(group, &[7], Some(&[1, 0]));
        integers(group, &[8, 9], None);
    };
    file(&data.join("a.parquet"), schema, &[&row]);
    file(&data.join("b.parquet"), schema, &[&row, &null]);
    let error = refused(&data);
    assert!(
        error.contains("b.parquet: row 3 has no value in column `src`, in row group 1"),
        "{error}"
    );
}

#[test]
fn ids_of_two_types_are_refused() {
    let folder = folder();
    let path = folder.path().join("e.parquet");
    let schema = "message edges { required int64 user; required binary item (STRING); }";
    file(
        &path,
        schema,
        &[&|group| {
            integers(group, &[1, 2], None);
            texts(group, &["1", "x"]);
        }],
    );
    let error = refused(&path);
    assert!(
        error.contains("ids of two types: column `user` has integers, column `item` has text"),
        "{error}"
    );
    let two_kinds = ReadOptions {
        bipartite: Some(true),
        ..ReadOptions::default()
    };
    let graph = graph::read(&path, &two_kinds, &Silent).expect("two kinds of nodes");
    assert_eq!(graph.nodes(), 4);
}

#[test]
fn a_lying_list_takes_no_memory() {
    let folder = folder();
    let path = folder.path().join("v.parquet");
    // One vector of very many equal values, in a few bytes.
    let count = 8_000_000;
    let (values, defined) = (vec![0.5; count], vec![3; count]);
    let mut repeated = vec![1; count];
    repeated[0] = 0;
    lists(&path, LISTS, 1, &values, &defined, &repeated);
    drop((values, defined, repeated));
    assert!(fs::metadata(&path).expect("written").len() < 1 << 20);
    let limit = hone_base::memory::resident().expect("known") + (16 << 20);
    let error = Embedding::read_within(&path, None, Allowance::new(Some(limit)));
    let error = error.expect_err("too large").to_string();
    assert!(
        error.contains("needs more than") || error.contains("memory"),
        "{error}"
    );
}
