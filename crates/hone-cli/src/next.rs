//! Parts of commands that messages recommend, written such that a shell reads them as they are meant.

use hone::graph::ReadOptions;
use serde_json::Value;

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

/// The options that read a graph in this way, each with a space in front: they are called as the settings are.
pub(crate) fn reading(options: &ReadOptions) -> String {
    let mut options = options.clone();
    // A column of weights says this too.
    options.weighted &= options.weight.is_none();
    let settings = serde_json::to_value(options).unwrap_or_default();
    let mut out = String::new();
    for (setting, value) in settings.as_object().into_iter().flatten() {
        let (name, value) = match (setting.as_str(), value) {
            (_, Value::Null) | ("directed" | "weighted", Value::Bool(false)) => continue,
            ("directed" | "weighted", _) => (setting.as_str(), String::new()),
            ("bipartite" | "header", Value::Bool(false)) => {
                out += &format!(" --no-{setting}");
                continue;
            }
            ("bipartite" | "header", _) => (setting.as_str(), String::new()),
            (_, Value::String(text)) => {
                let between = if text.starts_with('-') { '=' } else { ' ' };
                let name = match setting.as_str() {
                    "format" => "input-format",
                    "nodes" => "node-list",
                    other => other,
                };
                (name, format!("{between}{}", word(text)))
            }
            (_, position) => (setting.as_str(), format!(" {position}")),
        };
        out += &format!(" --{name}{value}");
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
