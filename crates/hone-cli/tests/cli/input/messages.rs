//! What the command says of bad input and odd choices: it names options, not settings of the library.

use std::fs;

use super::{folder, hone};

/// Names and forms that only a configuration file knows.
const SETTINGS: [&str; 9] = [
    " = ",
    "set comment",
    "name the delimiter",
    "the option `",
    "set sample",
    "attributes.table.id",
    " global.dim",
    " local.dim",
    "memory_limit",
];

#[test]
fn messages_name_options_and_no_settings() {
    let dir = folder();
    let files = [
        ("slash.csv", "// hi\na,b\nb,c\n"),
        ("hash.csv", "#a,b\n#c,d\n"),
        ("one.txt", "ab\ncd\n"),
        ("widths.csv", "a,b\nb,c\nc,d,e\n"),
        ("words.csv", "source,target,weight\na,b,much\n"),
        ("years.csv", "a,b,19990101\nb,c,20010101\n"),
        ("named.csv", "source,target,year,note\na,b,1999,x\n"),
        ("twice.csv", "a,b\nb,c\n"),
        ("x.gml", "graph [ ]\n"),
        ("bad.graph", "a b c\n"),
        ("people.csv", "name;age\nx;1\n"),
    ];
    for (name, content) in files {
        fs::write(dir.path().join(name), content).expect("writable");
    }
    let karate = "builtin:karate";
    let cases: [(&[&str], &str); 21] = [
        (&["info", "slash.csv"], "--comment / skips it"),
        (&["info", "hash.csv"], "--comment none reads them"),
        (&["info", "one.txt"], "--delimiter"),
        (&["info", "widths.csv"], "--delimiter"),
        (&["info", "words.csv", "--weighted"], "--weight"),
        (&["info", "years.csv", "--weighted"], "--weight"),
        (&["info", "named.csv", "--weighted"], "--weight"),
        (
            &["info", "twice.csv", "--no-header", "--source", "a"],
            "--header",
        ),
        (&["info", "x.gml"], "--input-format"),
        (&["info", "bad.graph"], "--input-format"),
        (
            &[
                "generate", "er", "--nodes", "9", "--degree", "2", "-o", "a.xyz",
            ],
            "--output-format",
        ),
        (&["embed", karate, "-o", "-", "--dim", "0"], "--dim"),
        (
            &["embed", karate, "-o", "-", "--local-dim", "0"],
            "--local-dim",
        ),
        (&["embed", karate, "-o", "-", "--steps", "99"], "--steps"),
        (&["embed", karate, "-o", "-", "--memory", "2M"], "--memory"),
        (
            &[
                "embed",
                karate,
                "-o",
                "-",
                "--pairs",
                "occurrences",
                "--sample",
                "8",
            ],
            "--sample exact",
        ),
        (
            &[
                "embed",
                karate,
                "-o",
                "-",
                "--pairs",
                "occurrences",
                "--motifs",
                "path4-end",
            ],
            "--motifs graphlets",
        ),
        (
            &["embed", karate, "-o", "-", "--attributes", "people.csv"],
            "--attribute-id",
        ),
        (&["features", karate, "--no-structure"], "--structure"),
        (&["features", karate, "--memory", "2M"], "--memory"),
        (&["count", karate, "--memory", "2M"], "--memory"),
    ];
    for (arguments, option) in cases {
        let run = hone()
            .current_dir(dir.path())
            .args(arguments)
            .assert()
            .code(2);
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        let error = said
            .lines()
            .find(|line| line.starts_with("error: "))
            .unwrap_or_default();
        // What a shell is given in quotes is a value.
        let error = error.split('\'').step_by(2).collect::<String>();
        assert!(error.contains(option), "{arguments:?}: {said}");
        let found = SETTINGS.iter().find(|form| error.contains(**form));
        assert!(found.is_none(), "{arguments:?}: {found:?} in {said}");
    }
}

#[test]
fn notes_name_options_and_no_settings() {
    let dir = folder();
    let arcs: String = (17..60)
        .map(|i| format!("{i}\t{}\n", (i * i + 1) % 17))
        .collect();
    fs::write(dir.path().join("d.tsv"), arcs).expect("writable");
    let cases: [(&[&str], &str); 4] = [
        (
            &["embed", "d.tsv", "--directed", "-o", "-", "--dim", "8"],
            "--set direction=ignore",
        ),
        (
            &[
                "embed",
                "d.tsv",
                "--directed",
                "-o",
                "-",
                "--dim",
                "8",
                "--set",
                "direction=source",
                "--set",
                "reverse=0",
            ],
            "--set direction=keep",
        ),
        (
            &["embed", "builtin:karate", "-o", "-", "--dim", "1"],
            "--dim 1 leaves no column for structure",
        ),
        (
            &[
                "embed",
                "builtin:karate",
                "-o",
                "-",
                "--preset",
                "hone-p",
                "--dim",
                "16",
                "--motifs",
                "edge",
                "--steps",
                "1",
                "--local-dim",
                "4",
            ],
            "--local-dim",
        ),
    ];
    for (arguments, option) in cases {
        let run = hone()
            .current_dir(dir.path())
            .args(arguments)
            .assert()
            .success();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(said.contains(option), "{arguments:?}: {said}");
        for note in said
            .lines()
            .filter(|line| line.starts_with("note: ") && !line.contains("K = "))
        {
            assert!(
                !SETTINGS.iter().any(|form| note.contains(form)),
                "{arguments:?}: {note}"
            );
        }
    }
}
