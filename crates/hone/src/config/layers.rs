//! [`Layers`]: presets, files and single settings, merged as tables before they become a [`Config`].

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{Config, preset};
use crate::error::{Error, Result};
use crate::message::{Message, message, setting};
use crate::record;
use crate::spelling;

/// Bytes of the record of a run at most; it names every column.
const LARGEST_RECORD: usize = 64 << 20;
/// Bytes of a file of settings at most. A table takes a hundred times its text.
const LARGEST_TABLE: usize = 512 << 10;
/// What a file of settings should be.
const EXPECTED: &str = "a TOML configuration or the record of a run is expected";

/// Settings in layers, later ones on top, before they become a [`Config`]. The default is below all of them.
///
/// ```
/// use hone::config::{Auto, Layers};
/// let config = Layers::new().preset("hone-l")?.set("steps", "3")?.set("local.dim", "8")?.build()?;
/// assert_eq!((config.steps, config.local_dim()), (Auto::Given(3), 8));
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Layers(Table);

impl Default for Layers {
    fn default() -> Self {
        Layers(table(&Config::default()))
    }
}

impl Layers {
    /// The default, [`Config::default`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Lays a preset on top, which gives every setting.
    pub fn preset(mut self, name: &str) -> Result<Self> {
        merge(&mut self.0, table(&Config::preset(name)?));
        Ok(self)
    }

    /// Lays a file on top: TOML, or the record of a run, whose `config` is taken.
    pub fn file(mut self, path: impl AsRef<Path>) -> Result<Self> {
        merge(&mut self.0, read_file(path.as_ref())?);
        Ok(self)
    }

    /// Lays a preset and then a file on top. A setting that tells the preset from others is refused if the file gives it
    /// another value: one of the two would be ignored silently.
    pub fn preset_and_file(self, name: &str, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut given = read_file(path)?;
        let (mut ours, mut theirs) = (table(&Config::preset(name)?), table(&Config::default()));
        merge(&mut theirs, given.clone());
        // Values as they are written after they were read.
        let mut theirs = table(&read_config(theirs)?);
        let distinctive = preset::variant(name)?.unwrap_or_else(preset::paper);
        for key in leaves("", &distinctive) {
            let values = find(&mut ours, &key).zip(find(&mut theirs, &key));
            let values = values.filter(|_| find(&mut given, &key).is_some());
            // What the preset leaves to a rule contradicts nothing, and neither do groups that differ inside.
            if let Some((ours, theirs)) = values
                && ours != theirs
                && ours.as_str() != Some("auto")
                && !(ours.is_table() && theirs.is_table())
            {
                let message = format!(
                    "`{name}` and {} contradict each other: {key} is {ours} in the preset and {theirs} in the file; leave \
                     one of the two out, and give what differs as single settings",
                    path.display()
                );
                return Err(Error::config("preset", message));
            }
        }
        let mut layers = self.preset(name)?;
        merge(&mut layers.0, given);
        Ok(layers)
    }

    /// Lays one setting on top: a dotted key and a TOML value (text may stand without quotes).
    pub fn set(self, key: &str, value: &str) -> Result<Self> {
        let parsed = format!("v = {value}").parse::<Table>();
        let parsed = parsed.ok().and_then(|mut table| table.remove("v"));
        self.set_value(key, parsed.unwrap_or_else(|| value.into()))
    }

    /// Lays settings on top, in order but for methods, which come first: one replaces the options of another.
    pub fn set_all<'a>(
        mut self,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self> {
        let (methods, others): (Vec<_>, Vec<_>) = settings
            .into_iter()
            .partition(|(key, _)| key.ends_with(".method"));
        for (key, value) in methods.into_iter().chain(others) {
            self = self.set(key, value)?;
        }
        Ok(self)
    }

    /// Lays one setting on top, its value as a TOML value. A record has numbers where a rule shares the columns: a new
    /// `global.dim` makes them rules again.
    pub fn set_value(mut self, key: &str, value: Value) -> Result<Self> {
        if key == "global.dim" {
            self.follow_rules();
        }
        let wrong = |part: &str| part.is_empty() || part.contains(char::is_whitespace);
        if key.split('.').any(wrong) {
            let message = "not a setting's name; write for instance local.dim=8";
            return Err(Error::config(key, message));
        }
        let mut parts: Vec<&str> = key.split('.').collect();
        let last = parts.pop().expect("split gives at least one part");
        let mut table = &mut self.0;
        for part in parts {
            let entry = table.entry(part).or_insert(Value::Boolean(false));
            // A word may stand for a group: form = "columns", or form.components.dim = 8.
            if !entry.is_table() {
                *entry = Value::Table(Table::new());
            }
            table = entry.as_table_mut().expect("made one above");
        }
        if last == "method" && table.get(last) != Some(&value) {
            table.clear();
        }
        merge(table, Table::from_iter([(last.to_owned(), value)]));
        Ok(self)
    }

    /// Numbers of columns become rules, if they are those of the rules.
    fn follow_rules(&mut self) {
        let mut rules = self.0.clone();
        for key in [
            "local.dim",
            "local.log-window.dim",
            "features.form.components.dim",
        ] {
            if let Some(value) = find(&mut rules, key) {
                *value = "auto".into();
            }
        }
        let resolved = |table: &Table| read_config(table.clone()).map(Config::resolved);
        if let (Ok(now), Ok(then)) = (resolved(&self.0), resolved(&rules))
            && now == then
        {
            self.0 = rules;
        }
    }

    /// The checked configuration.
    pub fn build(self) -> Result<Config> {
        let config = read_config(self.0)?;
        config.check()?;
        Ok(config)
    }
}

impl Config {
    /// Whether it has a setting, or a group of settings, of this dotted name.
    pub fn has(name: &str) -> bool {
        let mut all = table(&Config::default());
        let group = name
            .rsplit_once('.')
            .and_then(|(group, _)| find(&mut all, group));
        // A setting without a value is not among those of its group.
        group.is_some_and(|group| group.is_table()) || find(&mut all, name).is_some()
    }

    /// The configuration a preset's name stands for.
    pub fn preset(name: &str) -> Result<Self> {
        let mut settings = table(&Config::default());
        if let Some(variant) = preset::variant(name)? {
            merge(&mut settings, preset::paper());
            merge(&mut settings, variant);
        }
        read_config(settings)
    }
}

/// All settings of a configuration.
fn table(config: &Config) -> Table {
    Table::try_from(config).expect("a Config is a table of plain values")
}

/// The value at a dotted name.
fn find<'a>(table: &'a mut Table, key: &str) -> Option<&'a mut Value> {
    match key.split_once('.') {
        None => table.get_mut(key),
        Some((group, rest)) => find(table.get_mut(group)?.as_table_mut()?, rest),
    }
}

/// The dotted names of all values in a group, in order.
fn leaves(group: &str, table: &Table) -> Vec<String> {
    let names = table.iter().flat_map(|(key, value)| match value {
        Value::Table(inner) => leaves(&format!("{group}{key}."), inner),
        _ => vec![format!("{group}{key}")],
    });
    names.collect()
}

/// Lays `top` over `base`, table by table; a solver of another method replaces the whole solver.
fn merge(base: &mut Table, top: Table) {
    for (key, value) in top {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => {
                let method = above.get("method");
                if method.is_some() && below.get("method") != method {
                    *below = Table::new();
                }
                merge(below, above);
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// The settings of a file, which make a configuration on top of the default.
fn read_file(path: &Path) -> Result<Table> {
    let wrong = |message: &str| Error::input(path, message.trim_end(), EXPECTED);
    let at_most = |largest: usize, length: u64| match length > largest as u64 {
        true => Err(wrong(&format!(
            "a configuration has at most {} KiB",
            largest >> 10
        ))),
        false => Ok(()),
    };
    let io = |e| Error::io(path, e);
    let (file, mut bytes) = (File::open(path).map_err(io)?, Vec::new());
    // A stream has no length before it is read.
    at_most(LARGEST_RECORD, file.metadata().map_err(io)?.len())?;
    let mut start = file.take(LARGEST_RECORD as u64 + 1);
    start.read_to_end(&mut bytes).map_err(io)?;
    at_most(LARGEST_RECORD, bytes.len() as u64)?;
    let text = str::from_utf8(&bytes).map_err(|_| wrong("the file is not text"))?;
    let settings = match text.trim_start().starts_with('{') {
        true => match config_of_record(text, path).map_err(|message| wrong(&message))? {
            Some(config) => return Ok(table(&config)),
            None => {
                at_most(LARGEST_TABLE, text.len() as u64)?;
                serde_json::from_str(text).map_err(|e| wrong(&e.to_string()))?
            }
        },
        false => {
            at_most(LARGEST_TABLE, text.len() as u64)?;
            text.parse::<Table>().map_err(|e| wrong(&e.to_string()))?
        }
    };
    let mut whole = table(&Config::default());
    merge(&mut whole, settings.clone());
    match read_config(whole) {
        Ok(_) => Ok(settings),
        Err(e) => Err(Error::input(path, e.to_string(), "")),
    }
}

/// The configuration in the record of a run, if that is what the text is. A file of attributes is looked for where that run
/// had it.
fn config_of_record(text: &str, path: &Path) -> Result<Option<Config>, String> {
    #[derive(serde::Deserialize)]
    struct Record {
        folder: Option<PathBuf>,
        config: Option<Config>,
        by: Option<serde::de::IgnoredAny>,
        motifs: Option<serde::de::IgnoredAny>,
    }
    let mut record: Record = record::parse(text.as_bytes())?;
    if record.config.is_none() && record.by.is_some() && record.motifs.is_some() {
        return Err("it is the record of counts, which has no configuration".into());
    }
    if let Some(config) = &mut record.config
        && let Some(file) = &mut config.attributes.file
        && let Ok(found) = record::locate(path, record.folder.as_deref(), file)
    {
        *file = found;
    }
    Ok(record.config)
}

fn read_config(table: Table) -> Result<Config> {
    serde_path_to_error::deserialize(Value::Table(table)).map_err(|e| {
        let path = e.path().to_string();
        let error: &toml::de::Error = e.inner();
        let message = error.message().trim();
        let last = path.rsplit('.').next().unwrap_or_default();
        // Where a group is read as a whole, its members are not in the path.
        let unknown = message.starts_with(&format!("unknown field `{last}`"));
        match unknown.then(|| similar_names(&path)).flatten() {
            Some(names) => {
                let known = "there is no such setting; did you mean ";
                Error::config(path, message![known, names, "?"])
            }
            None => Error::config(
                if path == "." { "config" } else { &path },
                spelling::plain(message),
            ),
        }
    })
}

/// Settings that a misspelt name could be: those of its group, if there is one, else any by its last part or its whole name.
fn similar_names(wanted: &str) -> Option<Message> {
    let mut names = leaves("", &table(&Config::default()));
    let cut = |name: &str| -> (String, String) {
        let (group, last) = name.rsplit_once('.').unwrap_or(("", name));
        (group.to_owned(), last.to_owned())
    };
    let (group, last) = cut(wanted);
    let inside = !group.is_empty() && names.iter().any(|name| cut(name).0 == group);
    names.retain(|name| !inside || cut(name).0 == group);
    let ends: Vec<String> = names.iter().map(|name| cut(name).1).collect();
    let close = spelling::closest(&last, ends.iter().map(String::as_str));
    let mut found: Vec<&str> = names.iter().map(String::as_str).collect();
    match close.is_empty() && !inside {
        true => found = spelling::closest(wanted, found),
        false => found.retain(|name| close.contains(&cut(name).1.as_str())),
    }
    // Those of everyday use are in few groups.
    let groups = |name: &&str| name.matches('.').count();
    let fewest = found.iter().map(groups).min();
    found.retain(|name| Some(groups(name)) == fewest);
    match found[..] {
        [] => None,
        [one] => Some(setting(one)),
        [one, other, ..] => Some(message![setting(one), " or ", setting(other)]),
    }
}

/// The settings that choose a solver by its name for the whole method: those of both stages, or of the global one alone for a
/// solver that learns a code, which is meant for Y.
pub fn solver_settings(name: &str) -> &'static [&'static str] {
    match name {
        "autoencoder" => &["global.solver.method"],
        _ => &["local.solver.method", "global.solver.method"],
    }
}
