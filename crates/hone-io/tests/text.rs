//! How lines of text are cut, what separates their columns, how ids are quoted, and how large files are.

use hone_base::Silent;
use hone_io::graph::read::lines::{Delimiter, detect, split};
use hone_io::graph::{ReadOptions, quoted, quoted_line, sizes};

fn lines(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

#[test]
fn what_separates_columns() {
    for (text, expected) in [
        ("a b\nb c", "spaces"),
        ("a\tb\nb\tc", "tabs"),
        ("Ann Lee\tBob Ray", "tabs"),
        ("Ann Lee|Bob Ray", "`|`"),
        ("Ann Lee;Bob Ray", "semicolons"),
        ("Ann Lee,Bob Ray", "commas"),
        ("1 , 2\n2, 3", "commas"),
        ("a,b\nc,d\ne", "commas"),
        (",source,target\n0,a,b\n1,b,c", "commas"),
        ("\"a,b\" c\n\"d,e\" f", "spaces"),
        // Several would do: the one that is rarest in text.
        ("Lee, Ann|Ray, Bob", "`|`"),
        ("a;b;0,5\nb;c;1\nc;d;2", "semicolons"),
        ("a;1,5;b\nb;2,5;c", "semicolons"),
        ("1\t2\tsome text\n2\t3\tmore of it here", "tabs"),
        ("a::b\tc::d", "tabs"),
        ("fe80::1,fe80::2", "commas"),
        // Those that do not split lines evenly are text.
        (
            "1::Toy Story (1995)::Animation|Comedy\n2::Jumanji (1995)::Adventure",
            "`::`",
        ),
        ("1::1193::5::978300760\n1::661::3::978302109", "`::`"),
        ("std::map std::set\nstd::set std::vec", "spaces"),
        ("a,b\nc,d|e\nf,g", "commas"),
        // Two integers are ids, whatever follows.
        ("0 1\t5\n1 2\t5", "spaces"),
        ("0\t1 5\n1\t2 5", "spaces"),
        ("0\t1\tann\n1\t2\tbob", "tabs"),
        ("source target\tweight\n0 1\t5", "spaces"),
        ("0 1 {'w': 3, 'y': 4}\n1 2 {'w': 5, 'y': 6}", "spaces"),
        ("1 2 0,5\n2 3 1,5", "spaces"),
        // A first line of another kind.
        ("// hi there\na,b\nb,c", "commas"),
        ("one", "spaces"),
    ] {
        assert_eq!(detect(&lines(text)).name(), expected, "{text}");
    }
}

#[test]
fn what_can_be_named() {
    for (text, name) in [
        (" ", "spaces"),
        ("space", "spaces"),
        ("\t", "tabs"),
        ("tab", "tabs"),
        ("::", "`::`"),
        ("->", "`->`"),
        ("x", "`x`"),
    ] {
        assert_eq!(
            Delimiter::named(text, "delimiter").expect("valid").name(),
            name
        );
    }
    for text in ["", "\"", "\n", "é", "ab", ": :", "\"\"", ":::::::::"] {
        assert!(Delimiter::named(text, "delimiter").is_err(), "{text}");
    }
}

fn fields(line: &str, delimiter: Delimiter) -> Result<Vec<String>, String> {
    let mut fields = Vec::new();
    split(line.as_bytes(), delimiter, &mut fields).map_err(|fault| fault.message)?;
    Ok(fields
        .iter()
        .map(|f| String::from_utf8(f.text().into_owned()).expect("ASCII"))
        .collect())
}

#[test]
fn blanks_and_bytes_and_quotes() {
    let (blanks, comma, tab) = (
        Delimiter::Blanks,
        Delimiter::Byte(b','),
        Delimiter::Byte(b'\t'),
    );
    let colons = Delimiter::named("::", "delimiter").expect("symbols");
    let cases: [(&str, Delimiter, &[&str]); 17] = [
        ("1 2", blanks, &["1", "2"]),
        ("  1 \t 2  ", blanks, &["1", "2"]),
        ("", blanks, &[]),
        ("", comma, &[""]),
        ("a , b c,", comma, &["a", "b c", ""]),
        ("a\tb c", tab, &["a", "b c"]),
        ("a\t\tb", tab, &["a", "", "b"]),
        ("\"a b\" c", blanks, &["a b", "c"]),
        ("\"a, b\" , \"c\"\"d\"", comma, &["a, b", "c\"d"]),
        ("\"\",x", comma, &["", "x"]),
        ("a\"b c", blanks, &["a\"b", "c"]),
        (",", comma, &["", ""]),
        ("1::1193::5", colons, &["1", "1193", "5"]),
        ("1 :: Toy Story: 2 ::", colons, &["1", "Toy Story: 2", ""]),
        ("\"a::b\"::c", colons, &["a::b", "c"]),
        ("a:::b", colons, &["a", ":b"]),
        ("", colons, &[""]),
    ];
    for (line, delimiter, expected) in cases {
        assert_eq!(fields(line, delimiter).expect(line), expected, "{line}");
    }
    assert!(fields("\"a b", blanks).is_err_and(|m| m.contains("not closed")));
    assert!(fields("\"a\"b c", blanks).is_err_and(|m| m.contains("after a closing")));
    for line in [
        "\"a \\\"b\\\" c\",d",
        "d,\"a\\\"\"",
        "\"a\\\"b\",\"c\\\"d\"",
    ] {
        assert!(
            fields(line, comma).is_err_and(|m| m.contains("a backslash before a quote")),
            "{line}"
        );
    }
    assert_eq!(fields("\"C:\\\",b", comma).expect("a path"), ["C:\\", "b"]);
}

#[test]
fn only_what_must_be_is_quoted() {
    for plain in ["a", "a b", "7", "é", "a#b", "50%", "a\"b", "Node", "name"] {
        assert_eq!(quoted_line(plain), plain);
    }
    for (id, quoted) in [
        ("#a", "\"#a\""),
        ("%", "\"%\""),
        (" a", "\" a\""),
        ("a\nb", "\"a\nb\""),
        ("\"a", "\"\"\"a\""),
    ] {
        assert_eq!(quoted_line(id), quoted);
    }
    for header in ["id", "ID", "id,label", "label\tid"] {
        assert_eq!(quoted_line(header), format!("\"{header}\""));
    }
    assert_eq!(quoted("", ','), "\"\"");
    assert_eq!(quoted("id", ','), "id");
}

#[test]
fn sizes_of_files_of_every_format() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let numbers: String = (0..3000)
        .map(|i| format!("{} {}\n", i % 700, (i * i + 1) % 700))
        .collect();
    let names = numbers.replace(' ', ",n").replace('\n', "x\n");
    let many: String = (0..300_000)
        .map(|i| format!("{} {}\n", 3 * i, 3 * i + 3))
        .collect();
    let mtx =
        "%%MatrixMarket matrix coordinate pattern symmetric\n% hi\n3 3 2\n2 1\n3 2\n".to_owned();
    let metis = "% hi\n3 2\n2\n1 3\n2\n".to_owned();
    let pairs = |text: &str| {
        text.split(['\n', ' ', ','])
            .filter(|id| !id.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let distinct = |text: &str| {
        let ids: std::collections::HashSet<String> = pairs(text);
        ids.len() as f64
    };
    for (name, text, nodes, edges) in [
        ("a.txt", &numbers, distinct(&numbers), 3000),
        ("a.csv", &names, distinct(&names), 3000),
        ("many.txt", &many, 300_001.0, 300_000),
        ("a.mtx", &mtx, 3.0, 2),
        ("a.graph", &metis, 3.0, 2),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("writable");
        let options = ReadOptions::default();
        let sizes = sizes(&path, &options, &Silent)
            .expect("sound")
            .expect("a file");
        assert_eq!(sizes.edges, edges, "{name}");
        assert!(
            (sizes.nodes as f64 / nodes - 1.0).abs() < 0.06,
            "{name}: {} of {nodes}",
            sizes.nodes
        );
    }
    assert_eq!(
        sizes("-", &ReadOptions::default(), &Silent).expect("nothing is read"),
        None
    );
}
