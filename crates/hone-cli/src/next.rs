//! Parts of commands that messages recommend, written such that a shell reads them as they are meant.

use std::fmt::Write;

use hone::graph::{Column, ReadOptions};

/// A word of a command, in quotes where a shell would take it apart.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:,=+@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// A graph or another file without an option before it.
pub(crate) fn file(path: &str) -> String {
    match path {
        _ if hone::output::is_stream(path.as_ref()) => "GRAPH".to_owned(),
        _ if path.starts_with('-') => word(&format!("./{path}")),
        _ => word(path),
    }
}

/// The options that read a graph in this way, each with a space in front.
pub(crate) fn reading(options: &ReadOptions) -> String {
    let ReadOptions {
        format,
        directed,
        weighted,
        delimiter,
        comment,
        header,
        source,
        target,
        weight,
        bipartite,
        nodes,
        ..
    } = options;
    let answer = |yes: bool| if yes { "yes" } else { "no" };
    let column = |column: &Option<Column>| {
        column.as_ref().map(|column| match column {
            Column::Position(position) => position.to_string(),
            Column::Name(name) => name.clone(),
        })
    };
    let values = [
        (
            "--input-format",
            format.map(|format| format.name().to_owned()),
        ),
        ("--delimiter", delimiter.clone()),
        ("--comment", comment.map(String::from)),
        ("--header", header.map(|yes| answer(yes).to_owned())),
        ("--source", column(source)),
        ("--target", column(target)),
        ("--weight", column(weight)),
        (
            "--nodes",
            nodes.as_ref().map(|path| path.display().to_string()),
        ),
    ];
    let mut out = String::new();
    for (name, given) in [
        ("--directed", *directed),
        ("--weighted", *weighted && weight.is_none()),
    ] {
        out.push_str(&if given {
            format!(" {name}")
        } else {
            String::new()
        });
    }
    if let Some(yes) = bipartite {
        let _ = write!(out, " --bipartite={}", answer(*yes));
    }
    for (name, value) in values {
        if let Some(value) = value {
            let between = if value.starts_with('-') { '=' } else { ' ' };
            let _ = write!(out, " {name}{between}{}", word(&value));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A shell gives back every word as it was.
    #[test]
    #[cfg(unix)]
    fn words_survive_a_shell() {
        for text in [
            "best.toml",
            "my best.toml",
            "it's",
            "~x",
            "a$b`c`\"\\",
            "",
            "*",
            "ä/ö.tsv",
            "a;b",
            "#x",
        ] {
            let run = Command::new("sh")
                .arg("-c")
                .arg(format!("printf %s {}", word(text)))
                .output()
                .expect("a shell");
            assert_eq!(String::from_utf8(run.stdout).expect("text"), text);
        }
    }
}
