//! Options and settings: the library names settings (`global.dim`), the command its options (`--dim`).
//!
//! A command lists which option gives which setting. From that list options are laid over presets and files, options
//! without effect are noted, and messages of the library are worded: `key = value`, a dotted key, and the option `name`
//! become options. A setting that has no option is given with `--set`, where a command has it.

use std::path::Path;

use hone::Error;
use hone::config::{Config, Layers, Unused};
use hone::report::Report;

use crate::context::Context;

/// A setting and the option that gives it.
pub(crate) type Known = (&'static str, &'static str);

/// A setting, the option that gives it, and the value that it was given.
pub(crate) type Flag = (&'static str, &'static str, Option<String>);

/// Settings and the options that give them.
pub(crate) fn known(flags: &[Flag]) -> impl Iterator<Item = Known> {
    flags.iter().map(|(setting, option, _)| (*setting, *option))
}

/// Stands among the options of a command that has `--set` for all other settings.
pub(crate) const OTHERS: Known = ("", "--set");

/// Settings of readers and the options that give them.
const READING: &[Known] = &[
    ("bipartite", "--bipartite"),
    ("comment", "--comment"),
    ("delimiter", "--delimiter"),
    ("directed", "--directed"),
    ("format", "--input-format"),
    ("header", "--header"),
    ("nodes", "--nodes"),
    ("source", "--source"),
    ("target", "--target"),
    ("weight", "--weight"),
    ("weighted", "--weighted"),
    ("weights", "--weighted"),
];

/// What errors of every command may mention.
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
    ("(the split of seed ", "(hone eval split INPUT --seed "),
];

/// Lays options and then single settings on top of `layers`. An option and a `--set` of the same setting must not
/// contradict each other: one of them would be ignored silently.
pub(crate) fn lay(mut layers: Layers, flags: &[Flag], set: &[String]) -> Result<Layers, Error> {
    let pairs = set.iter().map(|text| pair(text));
    let pairs: Vec<(&str, &str)> = pairs.collect::<Result<_, _>>()?;
    for (key, option, value) in flags {
        let Some(value) = value else { continue };
        let other = pairs.iter().rfind(|(set, _)| set == key);
        if let Some((_, other)) = other.filter(|(_, other)| differ(key, value, other)) {
            let message = format!(
                "{option} gives {value}, and --set {key}={other} something else; leave one of them out"
            );
            return Err(Error::config(*key, message));
        }
        layers = layers.set(key, value)?;
    }
    layers.set_all(pairs)
}

/// Cuts KEY=VALUE.
fn pair(setting: &str) -> Result<(&str, &str), Error> {
    let cut = setting.split_once('=');
    let cut = cut.map(|(key, value)| (key.trim(), value.trim()));
    cut.ok_or_else(|| {
        let message = format!("`{setting}` is not KEY=VALUE, such as local.dim=8");
        Error::config("--set", message)
    })
}

/// Whether two values of a setting mean different things; `edge,triangle` and `["edge", "triangle"]` do not.
fn differ(key: &str, a: &str, b: &str) -> bool {
    let with = |value: &str| -> Option<Config> { Layers::new().set(key, value).ok()?.build().ok() };
    let same = a == b || with(a).zip(with(b)).is_some_and(|(a, b)| a == b);
    !same
}

/// Notes options without effect, each with the reason.
pub(crate) fn note_idle(idle: &[(String, String)], context: &Context) {
    let what = match idle {
        [] => return,
        [_] => "this option has",
        _ => "these options have",
    };
    let listed = idle.iter().map(|(option, why)| format!("{option} ({why})"));
    let listed = listed.collect::<Vec<_>>().join(", ");
    context.note(format_args!("note: {what} no effect here: {listed}"));
}

/// Those of the options and single settings that were given which `idle` lists. An option of several settings has an
/// effect if one of them has.
pub(crate) fn idle_of(flags: &[Flag], set: &[String], idle: &[Unused]) -> Vec<(String, String)> {
    let why = |key: &str| {
        let is_member = |(group, _): &&Unused| {
            let rest = key.strip_prefix(&**group);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        idle.iter().find(is_member).map(|(_, why)| why.clone())
    };
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    for (key, option, _) in flags.iter().filter(|(.., value)| value.is_some()) {
        match found.iter_mut().find(|(seen, _)| seen == option) {
            Some((_, before)) => *before = before.take().and(why(key)),
            None => found.push((option.to_string(), why(key))),
        }
    }
    let single = set.iter().filter_map(|setting| pair(setting).ok());
    found.extend(single.map(|(key, value)| (format!("--set {key}={value}"), why(key))));
    let found = found.into_iter();
    found
        .filter_map(|(option, why)| Some((option, why?)))
        .collect()
}

/// The option that gives a setting: one of the command, else one of every command that reads a graph.
fn option(setting: &str, options: &[Known]) -> Option<&'static str> {
    let known = options.iter().chain(READING);
    let mut known = known.filter(|known| !known.0.is_empty());
    known.find(|known| known.0 == setting).map(|known| known.1)
}

/// A message in terms of options that every command has.
pub(crate) fn in_options(text: &str) -> String {
    let replaced = |text: String, known: &Known| text.replace(known.0, known.1);
    COMMON.iter().fold(text.to_owned(), replaced)
}

/// A result whose error is in terms of a command with these options.
pub(crate) fn in_words_of(done: anyhow::Result<()>, options: &[Known]) -> anyhow::Result<()> {
    done.map_err(|error| match error.downcast::<Error>() {
        Ok(error) => translated(error, options).into(),
        Err(other) => other,
    })
}

/// An error in terms of a command with these options: the field and the remedy.
fn translated(mut error: Error, options: &[Known]) -> Error {
    let word = |text: &mut String| *text = worded(text, options);
    match &mut error {
        // Of an option already, and in the words of the command.
        Error::Config { field, .. } if field.starts_with("--") => {}
        Error::Config { field, message } => {
            word(message);
            // It may begin with the name of one of several graphs.
            let at = field.rfind(": ").map_or(0, |at| at + 2);
            let setting = &field[at..];
            // Of one motif, or whatever else an option gives several values.
            let group = setting.split_once('.').map_or("", |(group, _)| group);
            if let Some(option) = option(setting, options).or_else(|| option(group, options)) {
                let named = match option.trim_start_matches('-') == setting {
                    true => option.to_owned(),
                    false => format!("{option} ({setting})"),
                };
                field.replace_range(at.., &named);
            }
        }
        Error::Memory { remedy, .. } => word(remedy),
        // A file of settings has settings, not options.
        Error::Input { path, .. } if is_of_settings(path) => {}
        Error::Input {
            message, remedy, ..
        } => [message, remedy].into_iter().for_each(word),
        Error::Numeric { message, .. } => word(message),
        _ => {}
    }
    error
}

fn is_of_settings(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension == "toml" || extension == "json")
}

/// An error about what an option gave.
pub(crate) fn of_option(error: Error, option: &str) -> Error {
    match error {
        Error::Config { message, .. } => Error::config(option, message),
        other => other,
    }
}

/// Prints the warnings and notes of a report.
pub(crate) fn note_report(report: &Report, options: &[Known], context: &Context) {
    for (kind, texts) in [("warning", &report.warnings), ("note", &report.notes)] {
        for text in texts {
            context.note(format_args!("{kind}: {}", worded(text, options)));
        }
    }
}

/// A text in terms of a command with these options.
fn worded(text: &str, options: &[Known]) -> String {
    let in_name = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let (mut out, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches(['.', '-']);
        rest = &rest[name.len()..];
        let own = option(name, options);
        let is_given = out.ends_with("--set ");
        if let Some((value, after)) = rest.strip_prefix(" = ").and_then(value)
            && let Some(given) = with_value(name, &value, own, options)
        {
            rest = after;
            if out.ends_with('`') && after.starts_with('`') {
                out.pop();
                rest = &after[1..];
            }
            // "set x = 1" is "use --set x=1".
            if out.ends_with(" set ") {
                out.truncate(out.len() - "set ".len());
                out.push_str("use ");
            }
            out.push_str(&given);
        } else if let Some((before, is)) = named(&out, name, own) {
            out.truncate(before);
            out.push_str(is);
            rest = rest.strip_prefix('`').unwrap_or(rest);
        } else {
            // Names without a dot are ordinary words.
            let own = own.filter(|_| name.contains('.') && !is_given);
            out.push_str(own.unwrap_or(name));
        }
    }
    out + rest
}

/// What a text that ends before a name says of it, "the option `" or "the setting `": where that begins, and the option that it
/// is. A setting may have none.
fn named<'a>(text: &str, name: &'a str, own: Option<&'a str>) -> Option<(usize, &'a str)> {
    let before = |end| Some(text.strip_suffix(end)?.len());
    let option = || Some((before("the option `")?, own.unwrap_or(name)));
    option().or_else(|| Some((before("the setting `")?, own?)))
}

/// How a setting is given a value: with its own option, else with `--set` where others may be.
fn with_value(name: &str, value: &str, own: Option<&str>, options: &[Known]) -> Option<String> {
    let others = || options.contains(&OTHERS) && is_setting(name);
    match (own.filter(|own| !own.starts_with("--no-")), value) {
        (Some(option), "true") => Some(option.to_owned()),
        // A flag cannot say no.
        (Some(_), "false") if others() => Some(format!("--set {name}=false")),
        (Some(option), _) => Some(format!("{option} {value}")),
        (None, _) => others().then(|| format!("--set {name}={value}")),
    }
}

/// Whether a name is that of a setting, or looks like one inside of a group.
fn is_setting(name: &str) -> bool {
    let first = name.split('.').next().unwrap_or_default();
    let config = serde_json::to_value(Config::default()).unwrap_or_default();
    let found = config.get(first);
    found.is_some_and(|value| value.is_object() == name.contains('.'))
}

/// The value at the beginning of a text, as a shell takes it, and what comes after it.
fn value(text: &str) -> Option<(String, &str)> {
    if let Some(rest) = text.strip_prefix('"') {
        let (value, rest) = rest.split_once('"')?;
        return Some((value.to_owned(), rest));
    }
    if text.starts_with('{') {
        let mut open = 0;
        let end = text.find(|c| {
            open += i32::from(c == '{') - i32::from(c == '}');
            open == 0
        })?;
        return Some((format!("'{}'", &text[..=end]), &text[end + 1..]));
    }
    let stop = |c: char| c.is_whitespace() || ",;)`:".contains(c);
    let end = text.find(stop).unwrap_or(text.len());
    let value = text[..end].trim_end_matches('.');
    (!value.is_empty()).then(|| (value.to_owned(), &text[value.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &[Known] = &[
        ("global.dim", "--dim"),
        ("steps", "--steps"),
        ("comment", "--comment"),
        ("local.solver.method", "--solver"),
        ("global.solver.method", "--solver"),
        ("pairs", "--pairs"),
        OTHERS,
    ];

    #[test]
    fn settings_become_options() {
        for (field, message, expected) in [
            (
                "global.dim",
                "0 of global.dim",
                "--dim (global.dim): 0 of --dim",
            ),
            ("steps", "17", "--steps: 17"),
            (
                "--set",
                "such as global.dim=8",
                "--set: such as global.dim=8",
            ),
            ("psi", "q", "psi: q"),
            (
                "steps.triangle",
                "add it to the option `steps`",
                "--steps (steps.triangle): add it to --steps",
            ),
        ] {
            let error = translated(Error::config(field, message), OPTIONS);
            assert_eq!(error.to_string(), expected);
        }
        for (text, expected) in [
            (
                "lower global.dim, or local.dim.",
                "lower --dim, or local.dim.",
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
                "reduce to features.form = { components = {} }, or",
                "reduce to --set features.form='{ components = {} }', or",
            ),
            (
                "--set global.dim=32 says something else",
                "--set global.dim=32 says something else",
            ),
            ("--steps auto chose 3", "--steps auto chose 3"),
        ] {
            assert_eq!(worded(text, OPTIONS), expected);
        }
        let alone = "use direction = \"ignore\"";
        assert_eq!(worded(alone, &[("steps", "--steps")]), alone);
        assert_eq!(
            in_options("a.npy exists; overwrite = true replaces it"),
            "a.npy exists; --force replaces it"
        );
    }
}
