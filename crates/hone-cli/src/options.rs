//! Options and settings: the library names settings (`global.dim`), the command its options (`--dim`).
//!
//! The id of an option is the setting that it gives. So [`Options`] finds the words of the command for a message of the library,
//! and a setting that has no option is given with `--set`, where a command has it. Options are laid over presets and files,
//! and those without effect are noted.

use clap::builder::StyledStr;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use hone::Error;
use hone::config::{Config, Layers, Unused, solver_settings};
use hone::manual::linked;
use hone::message::{Fields, Naming};

use crate::context::Context;
use crate::next::word;

/// A setting, the option that gives it, and its value.
pub(crate) type Flag = (String, String, String);

/// Settings that have no option of their own: they are given by one whose id is another, or does not depend on the command.
const OTHERS: [(&str, &str); 10] = [
    ("candidates", "candidate"),
    ("global.solver.method", "solver"),
    ("memory_limit", "memory"),
    ("methods", "candidate"),
    ("overwrite", "force"),
    ("structure.max", "aggregates"),
    ("structure.mean", "aggregates"),
    ("structure.sum", "aggregates"),
    ("time_limit", "time"),
    ("weights", "weighted"),
];

/// What the library names, and the command that does it.
const CALLS: [(&str, &str); 3] = [
    ("Counts::totals", "hone count --per total"),
    ("Model::embed", "hone place GRAPH -o OUT --model MODEL"),
    ("motif::catalogue", "hone list motifs"),
];

/// A message that has become text, such as that of a wrong value, with the command for what the library names.
pub(crate) fn with_commands(text: &str) -> String {
    CALLS.iter().fold(text.to_owned(), |text, (call, command)| {
        text.replace(&format!("`{call}`"), &format!("`{command}`"))
    })
}

/// The value that an option is given on the command line, `true` where it takes none.
fn given(arg: &Arg, matches: &ArgMatches) -> Option<String> {
    let id = arg.get_id().as_str();
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return None;
    }
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return matches.get_flag(id).then(|| "true".to_owned());
    }
    let value = matches.get_raw(id)?.next_back()?;
    Some(value.to_string_lossy().into_owned())
}

/// The settings that an option with this value gives, if its id is one; `--no-log` gives that of `--log`.
fn settings(command: &Command, arg: &Arg, value: &str) -> Vec<Flag> {
    let long = arg.get_long().unwrap_or_default();
    let positive = long.strip_prefix("no-");
    let mut all = command.get_arguments();
    let positive = positive.and_then(|name| all.find(|arg| arg.get_long() == Some(name)));
    let (id, value) = match positive {
        Some(positive) => (positive.get_id().as_str(), "false"),
        None => (arg.get_id().as_str(), value),
    };
    let option = format!("--{}", positive.and_then(Arg::get_long).unwrap_or(long));
    let flag = |setting: &str, value: &str| (setting.to_owned(), option.clone(), value.to_owned());
    // Quoted, so that any file name is text, not a TOML value.
    let quoted = || serde_json::Value::from(value).to_string();
    match id {
        "local.solver.method" => {
            let settings = solver_settings(value).iter();
            settings.map(|setting| flag(setting, value)).collect()
        }
        "attributes.file" => vec![flag(id, &quoted())],
        "attributes.table.id" if value.parse::<u32>().is_err() => vec![flag(id, &quoted())],
        _ if Config::has(id) => vec![flag(id, value)],
        _ => Vec::new(),
    }
}

/// `--no-weighted` for `--weighted`, and the other way round.
fn opposite(option: &str) -> String {
    match option.strip_prefix("--no-") {
        Some(name) => format!("--{name}"),
        None => format!("--no-{}", option.trim_start_matches('-')),
    }
}

/// The same command with an opposite for each option without a value, which takes it back; the last of the two counts.
pub(crate) fn with_opposites(mut command: Command) -> Command {
    let flags = command.get_arguments();
    let flags = flags.filter(|arg| matches!(arg.get_action(), ArgAction::SetTrue));
    let flags = flags.filter_map(|arg| Some((arg.clone(), arg.get_long()?.to_owned())));
    for (flag, long) in flags.collect::<Vec<_>>() {
        let no = opposite(&format!("--{long}"))[2..].to_owned();
        if command
            .get_arguments()
            .any(|arg| arg.get_long() == Some(&no))
        {
            continue;
        }
        let id = flag.get_id();
        let arg = Arg::new(no.clone()).long(no.clone()).hide(true);
        let arg = arg.action(ArgAction::SetTrue).global(flag.is_global_set());
        command = command
            .arg(arg.overrides_with(id))
            .mut_arg(id, |arg| arg.overrides_with(no));
    }
    let names = command
        .get_subcommands()
        .map(|inner| inner.get_name().to_owned());
    for name in names.collect::<Vec<_>>() {
        command = command.mut_subcommand(name, with_opposites);
    }
    command
}

/// The same command whose help names pages of the manual by their addresses.
pub(crate) fn with_addresses(mut command: Command) -> Command {
    let text = |text: &StyledStr| linked(&text.to_string()).into_owned();
    let about = command.get_about().map(text);
    let long_about = command.get_long_about().map(text);
    let after = command.get_after_help().map(text);
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(about) = long_about {
        command = command.long_about(about);
    }
    if let Some(after) = after {
        command = command.after_help(after);
    }
    let of_arg = |arg: Arg| {
        let (help, long) = (arg.get_help().map(text), arg.get_long_help().map(text));
        let arg = help.into_iter().fold(arg, Arg::help);
        long.into_iter().fold(arg, Arg::long_help)
    };
    command.mut_args(of_arg).mut_subcommands(with_addresses)
}

/// The options of the command that runs: the names that settings have in its messages.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    command: Command,
    json: bool,
    /// The options without a value that the command line gives, their names without dashes.
    said: Vec<String>,
    /// The settings that the command line gives.
    pub(crate) flags: Vec<Flag>,
}

impl Options {
    /// Those of the innermost command that was called.
    pub(crate) fn of(mut command: Command, matches: &ArgMatches) -> Self {
        command.build();
        let (mut command, mut matches) = (&command, matches);
        while let Some((name, inner)) = matches.subcommand() {
            let Some(called) = command.find_subcommand(name) else {
                break;
            };
            (command, matches) = (called, inner);
        }
        let said = command.get_arguments();
        let said = said.filter(|arg| matches!(arg.get_action(), ArgAction::SetTrue));
        let said = said.filter(|arg| given(arg, matches).is_some());
        let said = said
            .filter_map(|arg| Some(arg.get_long()?.to_owned()))
            .collect();
        let flags = command.get_arguments();
        let flags = flags.filter_map(|arg| Some((arg, given(arg, matches)?)));
        let flags = flags.flat_map(|(arg, value)| settings(command, arg, &value));
        Options {
            flags: flags.collect(),
            command: command.clone(),
            json: matches!(matches.try_get_one::<bool>("json"), Ok(Some(true))),
            said,
        }
    }

    /// Whether errors are told as JSON.
    pub(crate) fn want_json(&self) -> bool {
        self.json
    }

    /// What an option without a value says, or its opposite, if one of them is given.
    pub(crate) fn said(&self, option: &str) -> Option<bool> {
        let is_said = |name: &str| self.said.iter().any(|said| said == name);
        match (is_said(option), is_said(&format!("no-{option}"))) {
            (false, false) => None,
            (yes, _) => Some(yes),
        }
    }

    fn has(&self, option: &str) -> bool {
        let mut options = self.command.get_arguments().filter_map(Arg::get_long);
        options.any(|long| long == &option[2..])
    }

    /// The option that gives a setting.
    fn option(&self, name: &str) -> Option<(&Arg, String)> {
        let find = |is: &dyn Fn(&Arg) -> bool| self.command.get_arguments().find(|arg| is(arg));
        let long = |wanted: &str| find(&|arg: &Arg| arg.get_long() == Some(wanted));
        let other = || OTHERS.iter().find(|(setting, _)| *setting == name);
        let option = find(&|arg: &Arg| arg.get_id() == name)
            .or_else(|| long(&name.replace('_', "-")))
            .or_else(|| long(other()?.1))?;
        Some((option, format!("--{}", option.get_long()?)))
    }
}

impl Naming for Options {
    fn setting(&self, name: &str) -> String {
        match self.option(name) {
            Some((_, option)) => option,
            None => Fields.setting(name),
        }
    }

    fn set(&self, name: &str, value: &str) -> String {
        match (self.option(name), value) {
            _ if name == "split.seed" => format!("hone eval split INPUT --seed {value}"),
            (Some((_, option)), "true") => option,
            (Some((_, option)), "false") if self.has(&opposite(&option)) => opposite(&option),
            (Some((arg, option)), _) if arg.get_action().takes_values() => {
                format!("{option} {}", word(value))
            }
            _ if self
                .command
                .get_arguments()
                .any(|arg| arg.get_id() == "set") =>
            {
                format!("--set {name}={}", word(value))
            }
            _ => Fields.set(name, value),
        }
    }

    fn call(&self, name: &str) -> String {
        let found = CALLS.iter().find(|(call, _)| *call == name);
        format!("`{}`", found.map_or(name, |(_, command)| command))
    }

    /// The option, and the setting beside it where it has another name. Of a group, such as a number for each motif, the option
    /// of the whole.
    fn subject(&self, name: &str) -> String {
        let group = name.split_once('.').map_or("", |(group, _)| group);
        match self.option(name).or_else(|| self.option(group)) {
            Some((_, option)) if option.trim_start_matches('-') == name => option,
            Some((_, option)) => format!("{option} ({name})"),
            None => name.to_owned(),
        }
    }
}

/// Lays options and then single settings on top of `layers`. An option and a `--set` of the same setting must not
/// contradict each other: one of them would be ignored silently.
pub(crate) fn lay(mut layers: Layers, flags: &[Flag], set: &[String]) -> Result<Layers, Error> {
    let pairs = set.iter().map(|text| pair(text));
    let pairs: Vec<(&str, &str)> = pairs.collect::<Result<_, _>>()?;
    for (key, option, value) in flags {
        let other = pairs.iter().rfind(|(set, _)| set == key);
        if let Some((_, other)) = other.filter(|(_, other)| differ(key, value, other)) {
            let message = format!(
                "{option} gives {value}, and --set {key}={other} something else; leave one of them out"
            );
            return Err(Error::config(key, message));
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
    for (key, option, _) in flags {
        match found.iter_mut().find(|(seen, _)| seen == option) {
            Some((_, before)) => *before = before.take().and(why(key)),
            None => found.push((option.clone(), why(key))),
        }
    }
    let single = set.iter().filter_map(|setting| pair(setting).ok());
    found.extend(single.map(|(key, value)| (format!("--set {key}={value}"), why(key))));
    let found = found.into_iter();
    found
        .filter_map(|(option, why)| Some((option, why?)))
        .collect()
}

/// An error about what an option gave.
pub(crate) fn of_option(error: Error, option: &str) -> Error {
    match error {
        Error::Config { message, .. } => Error::config(option, message),
        other => other,
    }
}
