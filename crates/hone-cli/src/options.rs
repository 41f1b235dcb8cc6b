//! The library names settings (`global.dim`), the command its options (`--dim`): translation of messages from
//! one to the other.
//!
//! Three forms are understood: a setting with a value (`direction = "ignore"`, also in backticks), an option by name (the
//! option `weight`), and a dotted name alone. A setting that has no option is given with `--set`, where a command has it.

use hone::Error;

/// A setting and the option that gives it.
pub(crate) type Known = (&'static str, &'static str);

/// Stands among the options of a command that has `--set` for all other settings.
pub(crate) const OTHERS: Known = ("", "--set");

/// What errors of every command may mention; `…` stands for a number.
const COMMON: &[Known] = &[
    ("overwrite = true", "--force"),
    ("resume = true", "--resume"),
    ("structure-only = true", "--structure-only"),
    ("(temp_dir)", "(--temp-dir)"),
    ("the memory limit", "--memory"),
    ("attributes.table.id", "--attribute-id"),
    (
        "exact counts by edge of this graph",
        "exact counts that `hone count GRAPH --by edge` wrote for this graph",
    ),
    (
        "(the split of seed …)",
        "(`hone eval split INPUT --seed … -o DIR`)",
    ),
];

/// Groups of settings, which have no value.
const GROUPS: [&str; 6] = [
    "local.solver",
    "local.log-window",
    "global.solver",
    "attributes.table",
    "features.diffusion",
    "features.form",
];

/// A message in terms of options that every command has.
pub(crate) fn in_options(text: &str) -> String {
    COMMON
        .iter()
        .fold(text.to_owned(), |text, (setting, option)| {
            match setting.split_once('…') {
                Some(around) => {
                    let worded = with_number(&text, around).map(|(before, number, after)| {
                        [before, &option.replace('…', number), after].concat()
                    });
                    worded.unwrap_or(text)
                }
                None => text.replace(setting, option),
            }
        })
}

/// What stands before a number between two texts, the number, and what comes after; the first there is.
fn with_number<'a>(
    text: &'a str,
    (left, right): (&str, &str),
) -> Option<(&'a str, &'a str, &'a str)> {
    let (before, rest) = text.split_once(left)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .filter(|&end| end > 0)?;
    Some((before, &rest[..end], rest[end..].strip_prefix(right)?))
}

/// An error in terms of a command with these options: the field and the remedy.
pub(crate) fn translated(error: Error, options: &[Known]) -> Error {
    match error {
        // Of an option already, and in the words of the command.
        Error::Config { field, message } if field.starts_with("--") => {
            Error::Config { field, message }
        }
        Error::Config { field, message } => {
            let message = in_group(
                &message,
                options,
                field.rsplit_once('.').map_or("", |(group, _)| group),
            );
            let field = match option(&field, options) {
                Some(option) if option.trim_start_matches('-') == field => option.to_owned(),
                Some(option) => format!("{option} ({field})"),
                // Of one motif, or whatever else an option gives several values.
                None => match field
                    .split_once('.')
                    .and_then(|(group, _)| option(group, options))
                {
                    Some(option) => format!("{option} ({field})"),
                    None => field,
                },
            };
            Error::Config { field, message }
        }
        Error::Memory {
            stage,
            need,
            least,
            limit,
            remedy,
        } => Error::Memory {
            stage,
            need,
            least,
            limit,
            remedy: worded(&remedy, options),
        },
        Error::Input {
            path,
            line,
            text,
            message,
            remedy,
        } => {
            let (message, remedy) = (worded(&message, options), worded(&remedy, options));
            Error::Input {
                path,
                line,
                text,
                message,
                remedy,
            }
        }
        Error::Numeric { stage, message } => Error::Numeric {
            stage,
            message: worded(&message, options),
        },
        other => other,
    }
}

/// A text in terms of a command with these options; names without a dot are ordinary words, and stay if they have no
/// value.
pub(crate) fn worded(text: &str, options: &[Known]) -> String {
    in_group(text, options, "")
}

/// The same for a text about a group of settings, whose members may stand without its name.
fn in_group(text: &str, options: &[Known], group: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(is_name_character) {
        let (before, name) = rest.split_at(at);
        out.push_str(before);
        let length = name
            .find(|c: char| !is_name_character(c))
            .unwrap_or(name.len());
        let end = name[..length].trim_end_matches(['.', '-']).len();
        let (name, behind) = name.split_at(end);
        let taken = if out.ends_with("--set ") {
            None
        } else {
            translate(name, behind, &mut out, options, group)
        };
        rest = taken.unwrap_or_else(|| {
            out.push_str(name);
            // What is no name by itself is passed over.
            let skipped = length - end;
            out.push_str(&behind[..skipped]);
            &behind[skipped..]
        });
    }
    out + rest
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Writes a name in the words of the command, with the value behind it if there is one; what comes after both, unless the
/// name stays as it is.
fn translate<'a>(
    name: &str,
    behind: &'a str,
    out: &mut String,
    options: &[Known],
    group: &str,
) -> Option<&'a str> {
    let own = option(name, options);
    for (before, after) in [("the option `", Some(name)), ("the setting `", None)] {
        if out.ends_with(before)
            && let Some(word) = own.or(after)
        {
            out.truncate(out.len() - before.len());
            out.push_str(word);
            return behind.strip_prefix('`');
        }
    }
    let others = options.contains(&OTHERS);
    if let Some((value, after)) = behind.strip_prefix(" = ").and_then(value) {
        let given = with_value(name, &value, own, if others { Some(group) } else { None })?;
        let quoted = out
            .ends_with('`')
            .then(|| after.strip_prefix('`'))
            .flatten();
        if quoted.is_some() {
            out.pop();
        }
        // "set x = 1" is "use --set x=1".
        if out.ends_with(" set ") {
            out.truncate(out.len() - "set ".len());
            out.push_str("use ");
        }
        out.push_str(&given);
        return Some(quoted.unwrap_or(after));
    }
    let dotted = name.contains('.');
    match own {
        Some(option) if dotted => out.push_str(option),
        // In backticks it is a name, not advice.
        None if others
            && dotted
            && is_setting(name)
            && !GROUPS.contains(&name)
            && !out.ends_with('`') =>
        {
            out.push_str(&format!("--set {name}=…"));
        }
        _ => return None,
    }
    Some(behind)
}

/// How a setting is given a value: with its own option, else with `--set` where others may be, which may be members of a
/// group.
fn with_value(name: &str, value: &str, own: Option<&str>, others: Option<&str>) -> Option<String> {
    if let Some(option) = own.filter(|option| !option.starts_with("--no-")) {
        match value {
            "true" => return Some(option.to_owned()),
            // A flag cannot say no.
            "false" if others.is_some() && is_setting(name) => {
                return Some(format!("--set {name}=false"));
            }
            _ => {}
        }
        return Some(format!("{option} {value}"));
    }
    let group = others?;
    if is_setting(name) {
        return Some(format!("--set {name}={value}"));
    }
    let is_member = !group.is_empty() && name.starts_with(|c: char| c.is_ascii_lowercase());
    is_member.then(|| format!("--set {group}.{name}={value}"))
}

/// The option that gives a setting.
fn option(setting: &str, options: &[Known]) -> Option<&'static str> {
    options
        .iter()
        .find(|(known, _)| *known == setting && !setting.is_empty())
        .map(|(_, option)| *option)
}

/// Whether a name is that of a setting, or looks like one inside of a group.
fn is_setting(name: &str) -> bool {
    let first = name.split('.').next().unwrap_or_default();
    let config = serde_json::to_value(hone::Config::default()).unwrap_or_default();
    config
        .get(first)
        .is_some_and(|value| value.is_object() == name.contains('.'))
}

/// The value at the beginning of a text, as a shell takes it, and what comes after it.
fn value(text: &str) -> Option<(String, &str)> {
    if let Some(rest) = text.strip_prefix('"') {
        let (value, rest) = rest.split_once('"')?;
        return Some((value.to_owned(), rest));
    }
    if text.starts_with('{') {
        let mut open = 0;
        let end = text.char_indices().find_map(|(i, c)| {
            open += i32::from(c == '{') - i32::from(c == '}');
            (open == 0).then_some(i + 1)
        })?;
        return Some((format!("'{}'", &text[..end]), &text[end..]));
    }
    let stop = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')' | '`' | ':');
    let end = text.find(stop).unwrap_or(text.len());
    let end = text[..end].trim_end_matches('.').len();
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &[Known] = &[
        ("global.dim", "--dim"),
        ("steps", "--steps"),
        ("comment", "--comment"),
        OTHERS,
    ];

    #[test]
    fn settings_become_options() {
        let dim = translated(
            Error::config("global.dim", "0 of global.dim; fewer steps"),
            OPTIONS,
        )
        .to_string();
        assert_eq!(dim, "--dim (global.dim): 0 of --dim; fewer steps");
        assert_eq!(
            translated(Error::config("steps", "17"), OPTIONS).to_string(),
            "--steps: 17"
        );
        let set = translated(Error::config("--set", "such as global.dim=8"), OPTIONS).to_string();
        assert_eq!(set, "--set: such as global.dim=8");
        assert_eq!(
            translated(Error::config("psi", "q"), OPTIONS).to_string(),
            "psi: q"
        );
        let delta = Error::config(
            "steps.triangle",
            "add it to the setting `steps`, or to the setting `psi`",
        );
        let expected = "--steps (steps.triangle): add it to --steps, or to the setting `psi`";
        assert_eq!(translated(delta, OPTIONS).to_string(), expected);
        assert_eq!(
            in_options("a.npy exists; overwrite = true replaces it"),
            "a.npy exists; --force replaces it"
        );
        let split = in_options("embed it (the split of seed 12) and (the split of seeds)");
        assert_eq!(
            split,
            "embed it (`hone eval split INPUT --seed 12 -o DIR`) and (the split of seeds)"
        );
    }

    #[test]
    fn every_form_of_a_setting() {
        for (text, expected) in [
            (
                "lower global.dim, or local.dim.",
                "lower --dim, or --set local.dim=….",
            ),
            (
                "both ways (direction = \"ignore\"); use steps = 2.",
                "both ways (--set direction=ignore); use --steps 2.",
            ),
            ("`comment = none` reads them", "--comment none reads them"),
            (
                "name it with the option `comment`, or fix it",
                "name it with --comment, or fix it",
            ),
            (
                "local.solver plays no part; z.npy exists",
                "local.solver plays no part; z.npy exists",
            ),
            (
                "reduce to features.form = { components = {} }, or",
                "reduce to --set features.form='{ components = {} }', or",
            ),
            (
                "--set global.dim=32 says something else",
                "--set global.dim=32 says something else",
            ),
            ("--steps auto chose 3", "--steps auto chose 3"),
            (
                "this is now called `local.dim`",
                "this is now called `local.dim`",
            ),
        ] {
            assert_eq!(worded(text, OPTIONS), expected);
        }
        let error = Error::config(
            "local.solver.loss",
            "there are zeros; set entries = \"observed\"",
        );
        let text = translated(error, OPTIONS).to_string();
        assert_eq!(
            text,
            "local.solver.loss: there are zeros; use --set local.solver.entries=observed"
        );
        assert_eq!(
            worded("use direction = \"ignore\"", &[("steps", "--steps")]),
            "use direction = \"ignore\""
        );
    }
}
