//! Files of attributes: every format against what outside tools wrote or a naive reading, and bad files
//! refused by file, line and field.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use hone::attributes::{self, Loaded, Missing, Table};
use hone::config::Auto;
use hone::graph::{Column, NodeIds};
use hone::{Error, Silent};
use proptest::prelude::*;

fn people() -> NodeIds {
    NodeIds::from_texts(&["ann", "bob", "cid", "dan"])
}

fn read(path: &Path, table: &Table, ids: &NodeIds) -> Result<Loaded, Error> {
    attributes::read(path, table, ids, None, &Silent)
}

fn read_text(name: &str, text: impl AsRef<[u8]>, table: &Table) -> Result<Loaded, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    read(&path, table, &people())
}

fn rows(loaded: &Loaded) -> Vec<Vec<f32>> {
    let block = loaded.attributes.block();
    (0..block.rows()).map(|i| block.row(i).to_vec()).collect()
}

fn data(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

#[test]
fn a_table_of_pandas_with_nulls_booleans_and_an_unknown_row() {
    let loaded = read(&data("pandas.parquet"), &Table::default(), &people()).unwrap();
    assert_eq!(
        loaded.attributes.names(),
        ["age", "city=Rome", "member", "rank"]
    );
    let mean = (30.5 + 1.0) / 2.0;
    let third = 2.0 / 3.0;
    let expected = [
        [mean, 0.0, 0.0, 3.0],
        [1.0, 1.0, 1.0, 1.0],
        [30.5, 1.0, 1.0, 4.0],
        [mean, 0.0, third, 8.0 / 3.0],
    ];
    for (found, expected) in rows(&loaded).iter().zip(expected) {
        found
            .iter()
            .zip(expected)
            .for_each(|(f, e): (&f32, f32)| assert!((f - e).abs() < 1e-6, "{found:?}"));
    }
    let facts = &loaded.facts;
    assert_eq!(
        (
            facts.rows,
            facts.absent_nodes,
            facts.unknown_ids,
            facts.missing_values
        ),
        (4, 1, 1, 2)
    );
    assert!(
        facts.by_id && facts.format == "parquet" && facts.columns == 4 && facts.features == 4,
        "{facts:?}"
    );
    let table = Table {
        categorical: vec!["rank".into()],
        columns: vec!["rank".into()],
        ..Table::default()
    };
    let loaded = read(&data("pandas.parquet"), &table, &people()).unwrap();
    assert_eq!(
        loaded.attributes.names(),
        ["rank=1", "rank=3", "rank=4"],
        "zed, who is no node, has the category 2"
    );
}

#[test]
fn matrices_of_scipy_sklearn_and_numpy() {
    let z = vec![
        vec![0.0, 1.5, 0.0],
        vec![2.0, 0.0, 0.0],
        vec![0.0, 0.0, 0.0],
        vec![0.0, -4.0, 3.25],
    ];
    for name in ["scipy-coordinate.mtx", "scipy-array.mtx", "sklearn.svm"] {
        let loaded = read(&data(name), &Table::default(), &people()).unwrap();
        assert_eq!(rows(&loaded), z, "{name}");
        let first = usize::from(name == "sklearn.svm");
        let names = [first, first + 1, first + 2].map(|j| format!("x{j}"));
        assert_eq!(loaded.attributes.names(), names, "{name}");
        assert!(
            !loaded.facts.by_id && loaded.facts.notes.is_empty(),
            "{name}"
        );
    }
    let mut x = z.clone();
    x[1][1] = (1.5 - 4.0) / 3.0;
    for name in ["numpy-f8.npy", "numpy-f4-fortran.npy"] {
        let loaded = read(&data(name), &Table::default(), &people()).unwrap();
        assert_eq!(
            (rows(&loaded), loaded.facts.missing_values),
            (x.clone(), 1),
            "{name}"
        );
        let some = Table {
            columns: vec!["x2".into()],
            ..Table::default()
        };
        assert_eq!(
            rows(&read(&data(name), &some, &people()).unwrap())[3],
            [3.25],
            "{name}"
        );
    }
    let integers = read(&data("numpy-i8.npy"), &Table::default(), &people()).unwrap();
    assert_eq!(rows(&integers)[3], [6.0, 7.0]);
}

#[test]
fn arrays_with_ids_beside_them_are_matched_by_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    fs::copy(data("numpy-i8.npy"), &path).unwrap();
    fs::write(folder.path().join("x.ids.txt"), "zed\ndan\nbob\nann\n").unwrap();
    let loaded = read(&path, &Table::default(), &people()).unwrap();
    assert_eq!(
        rows(&loaded),
        [[6.0, 7.0], [4.0, 5.0], [4.0, 5.0], [2.0, 3.0]],
        "cid gets the mean"
    );
    assert_eq!(
        (loaded.facts.unknown_ids, loaded.facts.absent_nodes),
        (1, 1)
    );
}

#[test]
fn tables_in_every_dress() {
    let expected = [
        [1.0, 0.0, 1.0],
        [2.5, 1.0, 0.0],
        [4.0, 0.0, 1.0],
        [2.5, 0.0, 0.0],
    ];
    let cases: [(&str, &str); 9] = [
        ("a.csv", "id,x1,x2\nann,1,u\ncid,4,u\nbob,,t\n"),
        (
            "a.csv",
            "\u{feff}id,x1,x2\r\nann,1,u\r\ncid,4,u\r\nbob,NaN,t\r\n",
        ),
        ("a.csv", "x1,x2,Node\n1,u,ann\n4,u,cid\nna,t,bob"),
        ("a.tsv", "id\tx1\tx2\nann\t1\tu\ncid\t4\tu\nbob\t?\tt\n"),
        ("a.csv", "id;x1;x2\nann;1e0;u\ncid;4.0;u\nbob;null;t\n"),
        ("a.txt", "# people\n\nann 1 u\ncid +4 u\nbob NA t\n"),
        ("a", "bob,N/A,t\ncid,4,u\nann,1,u\n"),
        (
            "a.csv",
            "\"id\",\"x1\",\"x2\"\n\"ann\",\"1\",\"u\"\n\"cid\", 4 ,\"u\"\n\"bob\",\"\",\"t\"\n",
        ),
        ("a.csv", ",x1,x2\nann,1,u\nzed,7,w\ncid,4,u\nbob,,t\n"),
    ];
    for (name, text) in cases {
        let loaded =
            read_text(name, text, &Table::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(rows(&loaded), expected, "{text}");
        assert_eq!(loaded.attributes.names(), ["x1", "x2=t", "x2=u"], "{text}");
        assert_eq!(loaded.facts.missing_values, 1, "{text}");
    }
    let quoted = "id,city\nann,\"Rome, the \"\"old\"\" one\"\nbob,Oslo\n";
    let loaded = read_text("a.csv", quoted, &Table::default()).unwrap();
    assert_eq!(
        loaded.attributes.names(),
        ["city=Oslo", "city=Rome, the \"old\" one"]
    );
}

#[test]
fn compressed_tables_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv.gz");
    let mut out = flate2::write::GzEncoder::new(
        fs::File::create(&path).unwrap(),
        flate2::Compression::fast(),
    );
    out.write_all(b"id,a\nbob,5\n").unwrap();
    out.finish().unwrap();
    let loaded = read(
        &path,
        &Table {
            missing: Missing::Zero,
            ..Table::default()
        },
        &people(),
    )
    .unwrap();
    assert_eq!(rows(&loaded), [[0.0], [5.0], [0.0], [0.0]]);
}

#[test]
fn columns_without_a_value_are_left_out_and_told() {
    let loaded = read_text(
        "a.csv",
        "id,a,b,c\nann,,1,\nbob,NA,2,\nzed,3,3,\n",
        &Table::default(),
    )
    .unwrap();
    assert_eq!(loaded.attributes.names(), ["b"]);
    let told = "2 columns have no value and are left out: a, c";
    let facts = loaded.facts;
    assert!(
        facts.notes.iter().any(|note| note.contains(told)),
        "{facts:?}"
    );
    assert_eq!(facts.missing_values, 4);
}

#[test]
fn the_most_frequent_categories_keep_a_column() {
    let table = Table {
        categories: 2,
        ..Table::default()
    };
    let text = "id,c\nann,z\nbob,m\ncid,z\ndan,k\nzed,q\nzod,q\nzid,q\n";
    let loaded = read_text("a.csv", text, &table).unwrap();
    assert_eq!(
        loaded.attributes.names(),
        ["c=k", "c=z", "c=(other)"],
        "k before m of equals; q is no node's"
    );
    assert_eq!(
        rows(&loaded),
        [
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0]
        ]
    );
    assert!(
        loaded
            .facts
            .notes
            .iter()
            .any(|note| note.contains("3 categories")),
        "{:?}",
        loaded.facts.notes
    );
}

/// (name, content, parts of the message).
const BAD: [(&str, &str, &[&str]); 38] = [
    ("a.csv", "", &["empty", "attribute"]),
    ("a.csv", "# nothing\n\n", &["only comments"]),
    ("a.csv", "id\nann\n", &["line 1", "only one column"]),
    ("a.csv", "id,a\n", &["no rows"]),
    (
        "a.csv",
        "id,a,b\nann,1,2\nbob,1\n",
        &["line 3", "2 fields where 3", "commas"],
    ),
    (
        "a.csv",
        "id,a\nann,1\n# x\n\nbob,2\nann,3\n",
        &["line 6", "`ann`", "on line 2"],
    ),
    (
        "a.csv",
        "id,a\nann,1\nbob,1O\n",
        &["line 3", "`a`", "`1O`", "categorical"],
    ),
    (
        "a.csv",
        "id,a\nann,x\nbob,1\n",
        &["line 3", "`a`", "number", "categorical"],
    ),
    ("a.csv", "id,a\nann,-inf\n", &["line 2", "`a`", "infinite"]),
    ("a.csv", "id,a\nann,1e39\n", &["line 2", "32-bit"]),
    (
        "a.csv",
        "id,a,a\nann,1,2\n",
        &["line 1", "two columns", "`a`"],
    ),
    ("a.csv", "id,a\n,1\n", &["line 2", "without an id"]),
    (
        "a.csv",
        "id,a\nx,1\ny,2\n",
        &["none of its ids", "`x`", "`ann`", "attributes.table.id"],
    ),
    ("a.csv", "id,a\nann,\nbob,NA\n", &["no column has a value"]),
    ("a.csv", "id,a\n\"ann,1\n", &["line 2", "not closed"]),
    ("a.csv", "id,a\n\"ann\"x,1\n", &["line 2", "closing quote"]),
    (
        "a.csv",
        "id,a\rann,1\rbob,2\r",
        &["line 1", "carriage returns"],
    ),
    ("a.csv", "id,a\nann,\u{0}1\n", &["line 2", "NUL"]),
    ("a.json", "{}", &[".json", "convert"]),
    ("a.gz", "id,a\n", &["not compressed"]),
    ("a.npy", "id,a\nann,1\n", &["not a NumPy array"]),
    ("a.npz", "id,a\nann,1\n", &["a.npz"]),
    ("a.parquet", "id,a\nann,1\n", &["Parquet"]),
    ("a.parquet", "", &["empty"]),
    ("a.mtx", "4 3 1\n1 1 2\n", &["line 1", "banner"]),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 2\n",
        &["3 rows", "4 nodes", "id column"],
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 3 2\n1 1 2\n",
        &["promises 2", "are 1"],
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 3 1\n5 1 2\n",
        &["line 3", "row `5`", "1..4"],
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 3 1\n1 0 2\n",
        &["line 3", "column `0`"],
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 3 1\n1 1 x\n",
        &["line 3", "`x`", "number"],
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 3 1\n1 1 nan\n",
        &["line 3", "not a number"],
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate complex general\n4 3 1\n1 1 1 1\n",
        &["line 1", "complex"],
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix array real general\n4 2\n1\n2\n",
        &["promises 8", "are 2"],
    ),
    ("a.svm", "1 1:1\n0 2:2\n", &["2 rows", "4 nodes"]),
    ("a.svm", "1 1:1\n0 2:x\n", &["line 2", "`x`"]),
    ("a.svm", "1 3:1 2:2\n", &["line 1", "ascend"]),
    ("a.svm", "1:1\n", &["line 1", "label"]),
    ("a.svm", "0\n0\n0\n0\n", &["no line has a value"]),
];

#[test]
fn bad_files_are_refused_with_place_and_remedy() {
    for (name, text, parts) in BAD {
        let error = read_text(name, text, &Table::default())
            .map(|_| ())
            .expect_err(text);
        assert!(error.is_input(), "{text}: {error}");
        let message = error.to_string();
        for part in parts.iter().chain(&[name]) {
            assert!(
                message.contains(part),
                "{text:?} should name {part:?}: {message}"
            );
        }
    }
    let latin = read_text("a.csv", b"id,a\nann,\xe9\n", &Table::default()).unwrap_err();
    assert!(
        latin.to_string().contains("line 2") && latin.to_string().contains("UTF-8"),
        "{latin}"
    );
}

#[test]
fn settings_that_do_not_fit_the_file_are_refused() {
    let text = "id,a\nann,1\nbob,\n";
    let cases: [(Table, &str); 7] = [
        (
            Table {
                id: Auto::Given("name".into()),
                ..Table::default()
            },
            "there is no column `name`",
        ),
        (
            Table {
                id: Auto::Given(Column::Position(9)),
                ..Table::default()
            },
            "there is no column 9",
        ),
        (
            Table {
                columns: vec!["b".into()],
                ..Table::default()
            },
            "the columns are id, a",
        ),
        (
            Table {
                columns: vec!["id".into()],
                ..Table::default()
            },
            "not an attribute",
        ),
        (
            Table {
                categorical: vec!["b".into()],
                ..Table::default()
            },
            "no column `b`",
        ),
        (
            Table {
                categories: 0,
                ..Table::default()
            },
            "attributes.table.categories",
        ),
        (
            Table {
                missing: Missing::Refuse,
                ..Table::default()
            },
            "`cid`",
        ),
    ];
    for (table, part) in cases {
        let error = read_text("a.csv", text, &table).unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    let table = Table {
        missing: Missing::Refuse,
        ..Table::default()
    };
    let full = "id,a\nann,1\nbob,\ncid,2\ndan,3\n";
    let error = read_text("a.csv", full, &table).unwrap_err().to_string();
    assert!(error.contains("`a` has no value on line 3"), "{error}");
    let number = Table {
        categorical: vec!["x0".into()],
        ..Table::default()
    };
    let error = read(&data("numpy-i8.npy"), &number, &people())
        .unwrap_err()
        .to_string();
    assert!(error.contains("not categories"), "{error}");
    let limit = attributes::read(
        data("numpy-i8.npy"),
        &Table::default(),
        &people(),
        Some(8),
        &Silent,
    );
    assert!(matches!(limit, Err(Error::Memory { .. })), "{limit:?}");
}

/// Several blocks of a large file: nothing is lost between them, and lines are counted through.
#[test]
fn large_tables_are_read_whole_and_faults_found_on_their_line() {
    let n = 150_000usize;
    let ids = NodeIds::Sequential(n);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.csv");
    let line = |i: usize| {
        format!(
            "{i},{},{}\n",
            (i * 31 % 1000) as f32 / 8.0,
            ["red", "green", "blue"][i % 3]
        )
    };
    let mut text = String::from("id,value,colour\n");
    (0..n).rev().for_each(|i| text.push_str(&line(i)));
    fs::write(&path, &text).unwrap();
    let loaded = read(&path, &Table::default(), &ids).unwrap();
    assert_eq!(
        loaded.attributes.names(),
        ["value", "colour=blue", "colour=green", "colour=red"]
    );
    let block = loaded.attributes.block();
    for i in 0..n {
        let one = |c: usize| f32::from(u8::from(i % 3 == c));
        let expected = [(i * 31 % 1000) as f32 / 8.0, one(2), one(1), one(0)];
        assert_eq!(block.row(i), expected, "node {i}");
    }
    for (fault, part) in [
        ("3,x,red\n", "`value`"),
        ("3,1,red\n", "on line 149998"),
        ("0,1\n", "2 fields"),
    ] {
        fs::write(&path, text.clone() + fault).unwrap();
        let error = read(&path, &Table::default(), &ids)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(&format!("line {}", n + 2)) && error.contains(part),
            "{error}"
        );
    }
}

/// What a table of (id, number, word) says about nodes 0..n, naively.
fn naive(n: usize, table: &[(usize, Option<i32>, Option<u8>)]) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut number = vec![f64::NAN; n];
    let mut word = vec![None; n];
    for &(id, x, w) in table.iter().filter(|row| row.0 < n) {
        number[id] = x.map_or(f64::NAN, f64::from);
        word[id] = w;
    }
    let known: Vec<f64> = number.iter().copied().filter(|x| !x.is_nan()).collect();
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let words: BTreeMap<u8, ()> = word.iter().flatten().map(|&w| (w, ())).collect();
    let mut names: Vec<String> = if known.is_empty() {
        vec![]
    } else {
        vec!["x".into()]
    };
    names.extend(words.keys().map(|w| format!("w={}", char::from(b'a' + w))));
    let row = |i: usize| {
        let x = if number[i].is_nan() { mean } else { number[i] };
        let own = word[i];
        let hot = words
            .keys()
            .map(move |&w| f64::from(u8::from(own == Some(w))));
        known
            .first()
            .map(|_| x)
            .into_iter()
            .chain(hot)
            .collect::<Vec<f64>>()
    };
    (names, (0..n).map(row).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn tables_agree_with_a_naive_reading(
        values in proptest::collection::vec((proptest::option::of(-50..50i32), proptest::option::of(0..5u8)), 1..30),
        n in 1usize..25,
        shift in 0usize..30,
        crlf in any::<bool>(),
    ) {
        // Distinct ids in some order, a few of them no nodes.
        let length = values.len();
        let table: Vec<_> = values.iter().enumerate().map(|(i, &(x, w))| ((i + shift) % length, x, w)).collect();
        let end = if crlf { "\r\n" } else { "\n" };
        let mut text = format!("id,x,w{end}");
        for &(id, x, w) in &table {
            let x = x.map_or(String::new(), |x| x.to_string());
            let w = w.map_or(String::new(), |w| char::from(b'a' + w).to_string());
            text += &format!("{id},{x},{w}{end}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, text).unwrap();
        let (names, expected) = naive(n, &table);
        let loaded = read(&path, &Table::default(), &NodeIds::Sequential(n));
        if names.is_empty() {
            prop_assert!(loaded.is_err());
            return Ok(());
        }
        let loaded = loaded.unwrap();
        prop_assert_eq!(&loaded.attributes.names(), &names);
        for (found, expected) in rows(&loaded).iter().zip(&expected) {
            for (f, e) in found.iter().zip(expected) {
                prop_assert!((f64::from(*f) - e).abs() < 1e-4, "{:?} {:?}", found, expected);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), kind in 0usize..8) {
        let names = ["a.csv", "a.tsv", "a.npy", "a.npz", "a.parquet", "a.mtx", "a.svm", "a.safetensors"];
        let _ = read_text(names[kind], bytes, &Table::default());
    }

    #[test]
    fn mangled_files_never_panic(file in 0usize..6, at in 0usize..4000, byte in any::<u8>(), cut in any::<bool>()) {
        let names = ["pandas.parquet", "scipy-coordinate.mtx", "scipy-array.mtx", "sklearn.svm", "numpy-f8.npy",
            "numpy-f4-fortran.npy"];
        let mut bytes = fs::read(data(names[file])).unwrap();
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        let _ = read_text(names[file], bytes, &Table::default());
    }
}
