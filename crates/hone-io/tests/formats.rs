//! Formats through the public interface: text embeddings, folders of parts, attributes, records.

use std::fs;
use std::path::Path;

use hone_base::memory::Allowance;
use hone_base::{Error, Result, Silent};
use hone_io::attributes::{self, Shown};
use hone_io::columnar::{decoded, is_decoding, may_begin};
use hone_io::graph::NodeIds;
use hone_io::output::parts::{self, part_name};
use hone_io::output::{Existing, plain};
use hone_io::record::locate;
use hone_io::store::{Embedding, Format};

fn read_text(text: &str, format: Format) -> Result<Embedding> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), text).expect("written");
    Embedding::read_within(file.path(), Some(format), Allowance::new(None))
}

#[test]
fn quotes_open_at_the_beginning_of_a_field_only() {
    let text = "id\tz0\n\"a\"\"b\nc\td\"\t1\n5\" disk\t2\n\n\"\"\t3\n";
    let read = read_text(text, Format::Tsv).expect("well formed");
    let ids: Vec<String> = read.ids.iter().map(|id| id.to_string()).collect();
    assert_eq!(ids, ["a\"b\nc\td", "5\" disk", ""]);
    assert_eq!(read.vectors.as_slice(), [1.0, 2.0, 3.0]);
}

#[test]
fn a_quote_that_stays_open_is_reported_where_it_opens() {
    let mut text = String::from("id\tz0\na\t1\n\"b\t2\n");
    (0..10_000).for_each(|i| text.push_str(&format!("n{i}\t0.5\n")));
    let error = read_text(&text, Format::Tsv)
        .expect_err("it never ends")
        .to_string();
    assert!(
        error.contains("line 3: a quoted field does not end"),
        "{error}"
    );
}

#[test]
fn a_first_line_of_numbers_is_a_row_and_other_separators_are_named() {
    for (text, rows, columns) in [
        ("a\t1\t2\nb\t3\t4\n", 2, "z0 z1"),
        ("7\t0.5\n", 1, "z0"),
        ("id\t1\t2\nb\t3\t4\n", 1, "1 2"),
        ("\t0\t1\nb\t3\t4\n", 1, "0 1"),
        ("name\t0\t1\nb\t3\t4\n", 1, "0 1"),
        ("id\tx\nb\t3\n", 1, "x"),
    ] {
        let read = read_text(text, Format::Tsv).expect("well formed");
        assert_eq!(
            (read.ids.len(), read.columns.join(" ").as_str()),
            (rows, columns),
            "{text}"
        );
    }
    for text in ["a 1 2\nb 3 4\n", "id,x,y\na,1,2\n"] {
        let error = read_text(text, Format::Tsv)
            .expect_err("no tabs")
            .to_string();
        assert!(
            error.contains("only one column: this format has tabs between columns"),
            "{error}"
        );
    }
}

#[test]
fn word2vec_has_as_many_rows_as_it_says() {
    assert_eq!(
        read_text("2 1\na 1\n\"b 2 \n", Format::Word2vec)
            .expect("well formed")
            .ids
            .len(),
        2
    );
    for (text, part) in [
        ("3 1\na 1\nb 2\n", "promises 3 rows, but there are 2"),
        ("1 9999999999\n", "expected the"),
    ] {
        let error = read_text(text, Format::Word2vec)
            .expect_err("wrong")
            .to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_name_that_ends_with_a_slash_is_a_folder() {
    for (name, folder) in [
        ("z.parquet/", true),
        ("a/z.parquet//", true),
        ("z.parquet", false),
        ("", false),
    ] {
        assert_eq!(parts::is_folder(Path::new(name)), folder, "{name}");
    }
    for (name, part) in [
        ("part-00012.parquet", true),
        ("part-.parquet", false),
        ("part-1.csv", false),
    ] {
        assert_eq!(parts::is_part(name), part, "{name}");
    }
    assert!(parts::is_part(&part_name(3)) && part_name(3) < part_name(20));
}

#[test]
fn only_folders_of_parts_are_replaced() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("z.parquet");
    let check =
        |existing| parts::check_target(Path::new(&format!("{}/", folder.display())), existing);
    assert!(check(Existing::Refuse).is_ok(), "there is none");
    fs::create_dir(&folder).expect("made");
    fs::write(folder.join(part_name(0)), "").expect("written");
    assert!(matches!(check(Existing::Refuse), Err(Error::Exists { .. })));
    assert!(check(Existing::Replace).is_ok());
    fs::write(folder.join("mine.txt"), "").expect("written");
    let error = check(Existing::Replace)
        .expect_err("it holds something else")
        .to_string();
    assert!(error.contains("mine.txt"), "{error}");
    fs::remove_dir_all(&folder).expect("removed");
    fs::write(&folder, "").expect("written");
    let error = check(Existing::Replace)
        .expect_err("it is a file")
        .to_string();
    assert!(error.contains("is not a folder"), "{error}");
}

#[test]
fn parts_come_in_the_order_of_their_names() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for name in [
        "part-00010.parquet",
        "part-00002.parquet",
        "_metadata.parquet",
        ".x.parquet",
        "note.txt",
    ] {
        fs::write(place.path().join(name), "").expect("written");
    }
    let found = parts::files(place.path()).expect("there are some");
    let names: Vec<_> = found
        .iter()
        .filter_map(|file| file.file_name()?.to_str())
        .collect();
    assert_eq!(names, ["part-00002.parquet", "part-00010.parquet"]);
    let empty = place.path().join("empty");
    fs::create_dir(&empty).expect("made");
    assert!(parts::files(&empty).is_err_and(|error| error.is_input()));
}

#[test]
fn nothing_is_filled_and_mixtures_are_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("people.csv");
    fs::write(&file, "id,age,when\na,30,2021\nb,,May\nx,1,1\n").expect("written");
    let ids = NodeIds::from_texts(&["b", "a", "c"]);
    let (found, notes) = attributes::shown(&file, &ids, None, &Silent).expect("read");
    let word = |column: usize, node: usize| match &found[column] {
        Shown::Words { words, of, .. } => of[node].map(|at| words[at as usize].clone()),
        Shown::Numbers { .. } => panic!("text has words"),
    };
    assert_eq!(
        [word(0, 0), word(0, 1), word(0, 2)],
        [None, Some("30".into()), None]
    );
    assert_eq!(
        [word(1, 0), word(1, 1)],
        [Some("May".into()), Some("2021".into())]
    );
    assert!(
        notes[0].starts_with("1 of 3 nodes") && notes[1].contains("`x`"),
        "{notes:?}"
    );
}

#[test]
fn inputs_are_found_from_any_folder() {
    for (path, short) in [
        ("a/../b", "b"),
        ("../a", "../a"),
        ("./a/./b/..", "a"),
        ("../../a", "../../a"),
    ] {
        assert_eq!(plain(Path::new(path)), Path::new(short), "{path}");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir_all(folder.path().join("out")).expect("made");
    fs::write(folder.path().join("g.tsv"), "a b\n").expect("written");
    let record = folder.path().join("out/z.npy.run.json");
    let found = locate(&record, Some(Path::new("..")), "g.tsv").expect("there");
    assert_eq!(Path::new(&found), folder.path().join("g.tsv"));
    let lost = locate(&record, None, "g.tsv")
        .expect_err("not beside the record")
        .to_string();
    assert!(
        lost.contains("neither in") && lost.contains("out") && lost.contains("this folder"),
        "{lost}"
    );
    for kept in ["-", "/no/such/file"] {
        assert_eq!(locate(&record, None, kept).expect("as it is"), kept);
    }
}

#[test]
fn a_panic_of_the_decoder_is_an_error_and_the_host_is_asked() {
    assert_eq!(decoded(|| Ok(3)), Ok(3));
    assert!(!is_decoding() && decoded(|| Ok(is_decoding())) == Ok(true));
    let failed = decoded(|| -> parquet::errors::Result<u8> { panic!("part of the test") });
    assert!(failed.is_err() && !is_decoding());
}

#[test]
fn streams_begin_with_a_page_or_a_footer() {
    // A page of kind 0, with 9 bytes and 5 bytes; a footer of version 1 and a schema of one element without children.
    let page = b"PAR1\x15\0\x15\x12\x15\x0a\0";
    let footer = b"PAR1\x15\x02\x19\x1c\x48\x01t\0\0";
    assert!(may_begin(page) && may_begin(footer));
    for wrong in [
        &page[..8],
        b"PAR1\t2\n",
        b"PAR1",
        b"",
        &[b"PAR1\x15", &[0; 99][..]].concat(),
    ] {
        assert!(!may_begin(wrong), "{wrong:?}");
    }
}
