//! Small compressed files that become large: line feeds, comments, long lines, many columns, many names.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use predicates::prelude::*;
use predicates::str::contains;

use super::{folder, hone, named_need, under};

/// Writes pieces, each so many times, compressed.
fn packed(path: PathBuf, pieces: &[(&[u8], usize)]) -> PathBuf {
    let mut out = GzEncoder::new(File::create(&path).expect("writable"), Compression::fast());
    for (piece, times) in pieces {
        (0..*times).for_each(|_| out.write_all(piece).expect("writable"));
    }
    out.finish().expect("writable");
    path
}

/// `hone info` within 56 MiB, in an address space that leaves room for code and stacks, not for more.
fn info(path: &Path) -> assert_cmd::assert::Assert {
    let args = ["-q", "info", "--memory", "56M"].map(str::to_owned);
    under(
        178 << 10,
        &[&args[..], &[path.display().to_string()]].concat(),
    )
}

#[test]
fn lines_that_say_nothing_take_no_memory() {
    let folder = folder();
    let (mega, notes) = (vec![b'\n'; 1 << 20], b"# note\n".repeat(1 << 17));
    // Comments stand before the first edge.
    for (name, flood, first) in [
        ("feeds", &mega, &b"0 1\n"[..]),
        ("feeds", &mega, b""),
        ("comments", &notes, b""),
    ] {
        let path = folder.path().join(format!("{name}{}.txt.gz", first.len()));
        let path = packed(path, &[(first, 1), (flood, 80), (b"1 2\n2 3\n", 1)]);
        info(&path).success().stdout(contains(if first.is_empty() {
            "edges               2"
        } else {
            "edges               3"
        }));
    }
}

#[test]
fn long_lines_and_many_columns_are_refused_within_the_budget() {
    let folder = folder();
    let (long, blanks) = (vec![b'a'; 1 << 20], vec![b' '; 1 << 20]);
    let wide = b"2 ".repeat(1 << 19);
    for (name, pieces, said) in [
        ("one", vec![(&long[..], 40)], "a line of more than 16 MiB"),
        (
            "names",
            vec![
                (b"0 1\n", 1),
                (&long, 15),
                (b" b\n0 ", 1),
                (&long, 15),
                (b"c\n", 1),
            ],
            "needs more than",
        ),
        (
            "columns",
            vec![(b"0 1\n", 1), (&wide, 10), (b"\n", 1)],
            "more than 65536 columns",
        ),
        (
            "first",
            vec![(&wide, 10), (b"\n0 1\n", 1)],
            "more than 65536 columns",
        ),
    ] {
        let path = packed(folder.path().join(format!("{name}.txt.gz")), &pieces);
        info(&path).code(2).stderr(contains(said));
    }
    for (name, pieces) in [
        (
            "blanks",
            vec![(&b"0 1"[..], 1), (&blanks, 4), (b"\n1 2\n", 1)],
        ),
        (
            "suspects",
            vec![
                (b"#a", 1),
                (&long, 10),
                (b"\n#b", 1),
                (&long, 10),
                (b"\n0 1\n1 2\n", 1),
            ],
        ),
    ] {
        let path = packed(folder.path().join(format!("{name}.txt.gz")), &pieces);
        info(&path)
            .success()
            .stdout(contains("edges               2"));
    }
}

/// A header that promises many nodes, and line feeds for them: what the work would take is foreseen without a graph of that size.
#[test]
fn many_nodes_without_edges_are_refused_within_the_budget() {
    let folder = folder();
    let feeds = vec![b'\n'; 1 << 20];
    let path = packed(
        folder.path().join("m.graph.gz"),
        &[(b"62914560 1\n", 1), (&feeds, 60)],
    );
    let out = folder.path().join("z.npy").display().to_string();
    let args = ["-q", "embed", "--memory", "48M", "-o", &out].map(str::to_owned);
    let refused = under(
        500 << 10,
        &[&args[..], &[path.display().to_string()]].concat(),
    );
    refused
        .code(2)
        .stderr(contains("with the work that follows").or(contains("needs more than")));
}

/// Names of nodes, in an edge list and in a node list: a refusal within the budget, and one that names enough.
#[test]
fn many_names_keep_to_the_budget() {
    let folder = folder();
    let lines: String = (0..600_000).map(|i| format!("n{i} m{i}\n")).collect();
    let edges = packed(folder.path().join("names.txt.gz"), &[(lines.as_bytes(), 1)]);
    let refused = info(&edges)
        .code(2)
        .stderr(contains("needs more than").and(contains("only 56 MiB")));
    let need = named_need(&String::from_utf8_lossy(&refused.get_output().stderr));
    hone()
        .args(["-q", "info", "--memory", &need])
        .arg(&edges)
        .assert()
        .success();
    let list: String = (0..2_000_000).map(|i| format!("n{i}\n")).collect();
    let list = packed(folder.path().join("list.txt.gz"), &[(list.as_bytes(), 1)]);
    let few = packed(folder.path().join("few.txt.gz"), &[(b"n0 n1\n", 1)]);
    let args = ["-q", "info", "--memory", "56M", "--node-list"].map(str::to_owned);
    let paths = [list, few].map(|path| path.display().to_string());
    under(178 << 10, &[&args[..], &paths[..]].concat())
        .code(2)
        .stderr(contains("list.txt.gz needs more than"));
}
