//! [`Layers`]: presets, files and single settings, merged as tables before they become a [`Config`].

use std::io::Read;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{Config, extent, moved, preset};
use crate::error::{Error, Result};
use crate::record;
use crate::spelling;

/// Bytes of the record of a run at most; they name every column.
const LARGEST_FILE: u64 = 64 << 20;

/// Bytes of a TOML file at most. A table takes a hundred times its text.
const LARGEST_TOML: usize = 512 << 10;

/// Values that a configuration in the record of a run may have.
const MOST_VALUES: usize = 20_000;

/// Settings in layers, later ones on top, before they become a [`Config`]. The default is below all of them.
///
/// ```
/// use hone::config::{Layers, Steps};
/// let config = Layers::new().preset("hone-l")?.set("steps", "3")?.set("local.dim", "8")?.build()?;
/// assert_eq!((config.steps, config.local_dim()), (Steps::Fixed(3), 8));
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
        let path = path.as_ref();
        merge(&mut self.0, read_file(path)?.0);
        Ok(self)
    }

    /// Lays a preset and then a file on top. A setting that both give, with different values, is refused: one of the
    /// two would be ignored silently.
    pub fn preset_and_file(self, name: &str, path: impl AsRef<Path>) -> Result<Self> {
        self.preset_and_file_at(name, path.as_ref())
    }

    fn preset_and_file_at(self, name: &str, path: &Path) -> Result<Self> {
        let (given, read) = read_file(path)?;
        // What tells the preset from others.
        let named = preset::variant(name)?.unwrap_or_else(preset::paper);
        let (ours, theirs) = (table(&Config::preset(name)?), table(&read));
        if let Some((key, ours, theirs)) = difference("", &named, &given, &ours, &theirs) {
            let message = format!(
                "`{name}` and {} contradict each other: {key} is {ours} in the preset and {theirs} in the file; leave one \
                 of the two out, and give what differs as single settings",
                path.display()
            );
            return Err(Error::config("preset", message));
        }
        let mut layers = self.preset(name)?;
        merge(&mut layers.0, given);
        Ok(layers)
    }

    /// Lays one setting on top: a dotted key and a TOML value (text may stand without quotes).
    pub fn set(self, key: &str, value: &str) -> Result<Self> {
        let parsed = format!("v = {value}")
            .parse::<Table>()
            .ok()
            .and_then(|mut table| table.remove("v"));
        self.set_value(
            key,
            parsed.unwrap_or_else(|| Value::String(value.to_owned())),
        )
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
        if key
            .split('.')
            .any(|part| part.is_empty() || part.contains(char::is_whitespace))
        {
            return Err(Error::config(
                key,
                "not a setting's name; write for instance local.dim=8",
            ));
        }
        if let Some(new) = moved::to(key) {
            return Err(Error::config(
                key,
                format!("this setting is now called `{new}`"),
            ));
        }
        let mut parts: Vec<&str> = key.split('.').collect();
        let last = parts.pop().expect("split gives at least one part");
        let mut table = &mut self.0;
        for part in parts {
            let entry = table
                .entry(part)
                .or_insert_with(|| Value::Table(Table::new()));
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

    /// Numbers that follow from `global.dim` by a rule become that rule.
    fn follow_rules(&mut self) {
        let Ok(config) = read_config(self.0.clone()) else {
            return;
        };
        let rule = config.clone().by_rule();
        let auto = || Value::String("auto".into());
        if rule.local.dim != config.local.dim {
            merge(
                &mut self.0,
                Table::from_iter([("local".to_owned(), group("dim", auto()))]),
            );
        }
        if rule.local.log_window.dim != config.local.log_window.dim {
            let window = group("log-window", group("dim", auto()));
            merge(
                &mut self.0,
                Table::from_iter([("local".to_owned(), window)]),
            );
        }
        if rule.features.form != config.features.form {
            let components = group("form", group("components", group("dim", auto())));
            merge(
                &mut self.0,
                Table::from_iter([("features".to_owned(), components)]),
            );
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
    /// The configuration a preset's name stands for.
    pub fn preset(name: &str) -> Result<Self> {
        let Some(variant) = preset::variant(name)? else {
            return Ok(Config::default());
        };
        let mut settings = table(&Config::default());
        merge(&mut settings, preset::paper());
        merge(&mut settings, variant);
        read_config(settings)
    }
}

/// All settings of a configuration.
fn table(config: &Config) -> Table {
    Table::try_from(config).expect("a Config is a table of plain values")
}

/// A group of one setting.
fn group(key: &str, value: Value) -> Value {
    Value::Table(Table::from_iter([(key.to_owned(), value)]))
}

/// The settings of a file, and the configuration that they make on top of the default.
fn read_file(path: &Path) -> Result<(Table, Config)> {
    let wrong = |message: String| {
        Error::input(
            path,
            message,
            "a TOML configuration or the record of a run is expected",
        )
    };
    let text =
        String::from_utf8(read_whole(path)?).map_err(|_| wrong("the file is not text".into()))?;
    let json = text.trim_start().starts_with('{');
    if !json && text.len() > LARGEST_TOML {
        return Err(wrong(format!(
            "a configuration has at most {} KiB",
            LARGEST_TOML >> 10
        )));
    }
    let settings = if json {
        table_of_json(&text, path)
    } else {
        text.parse::<Table>().map_err(|e| e.to_string())
    };
    let settings = settings.map_err(|message| wrong(message.trim_end().to_owned()))?;
    let mut whole = table(&Config::default());
    merge(&mut whole, settings.clone());
    let config = read_config(whole).map_err(|e| Error::input(path, e.to_string(), ""))?;
    Ok((settings, config))
}

/// A file that is no larger than a configuration can be.
fn read_whole(path: &Path) -> Result<Vec<u8>> {
    let (mut bytes, wrong) = (Vec::new(), |e| Error::io(path, e));
    let file = std::fs::File::open(path).map_err(wrong)?;
    // A stream has no length before it is read.
    let length = file.metadata().map_err(wrong)?.len();
    if length <= LARGEST_FILE {
        file.take(LARGEST_FILE + 1)
            .read_to_end(&mut bytes)
            .map_err(wrong)?;
    }
    if length.max(bytes.len() as u64) > LARGEST_FILE {
        let message = format!("a configuration has at most {} MiB", LARGEST_FILE >> 20);
        return Err(Error::input(
            path,
            message,
            "a TOML configuration or the record of a run is expected",
        ));
    }
    Ok(bytes)
}

/// The first setting that tells a preset from others, that a file gives, and whose values differ in the configurations of both.
/// What the preset leaves to a rule ("auto") contradicts nothing.
fn difference(
    path: &str,
    named: &Table,
    given: &Table,
    ours: &Table,
    theirs: &Table,
) -> Option<(String, Value, Value)> {
    named.iter().find_map(|(key, value)| {
        let (given, ours, theirs) = (given.get(key)?, ours.get(key)?, theirs.get(key)?);
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match (given, ours, theirs) {
            (Value::Table(given), Value::Table(ours), Value::Table(theirs)) => {
                difference(&path, value.as_table().unwrap_or(ours), given, ours, theirs)
            }
            _ if ours == theirs || ours.as_str() == Some("auto") => None,
            _ => Some((path, ours.clone(), theirs.clone())),
        }
    })
}

fn read_config(table: Table) -> Result<Config> {
    let read: Result<Config, _> = serde_path_to_error::deserialize(Value::Table(table));
    read.map_err(|e| {
        let path = e.path().to_string();
        let message = e.inner().message().trim();
        let last = path.rsplit('.').next().unwrap_or_default();
        // Where a group is read as a whole, its members are not in the path.
        let unknown = message.starts_with(&format!("unknown field `{last}`"));
        match unknown.then(|| elsewhere(&path)).flatten() {
            Some(names) => Error::config(
                path,
                format!("there is no such setting; did you mean {names}?"),
            ),
            None => Error::config(
                if path == "." { "config" } else { &path },
                spelling::plain(message),
            ),
        }
    })
}

/// Settings that a misspelt name could be: those of its group, if there is one, else any by its whole name or its last part.
fn elsewhere(wanted: &str) -> Option<String> {
    fn all(group: &str, table: &Table, names: &mut Vec<String>) {
        for (key, value) in table {
            let name = if group.is_empty() {
                key.clone()
            } else {
                format!("{group}.{key}")
            };
            match value {
                Value::Table(inner) => all(&name, inner, names),
                _ => names.push(name),
            }
        }
    }
    let mut names = Vec::new();
    all("", &table(&Config::default()), &mut names);
    let cut = |name: &str| {
        name.rsplit_once('.')
            .map_or((String::new(), name.to_owned()), |(a, b)| {
                (a.into(), b.into())
            })
    };
    let (group, last) = cut(wanted);
    let ends: Vec<(String, String)> = names.iter().map(|name| cut(name)).collect();
    let inside = !group.is_empty() && ends.iter().any(|end| end.0 == group);
    let candidates = ends
        .iter()
        .filter(|end| !inside || end.0 == group)
        .map(|end| end.1.as_str());
    let close = spelling::closest(&last, candidates);
    let mut found: Vec<&str> = match close.is_empty() && !inside {
        true => spelling::closest(wanted, names.iter().map(String::as_str)),
        false => {
            let fits = |end: &(String, String)| {
                close.contains(&end.1.as_str()) && (!inside || end.0 == group)
            };
            names
                .iter()
                .zip(&ends)
                .filter(|(_, end)| fits(end))
                .map(|(name, _)| name.as_str())
                .collect()
        }
    };
    // Those of everyday use are in few groups.
    let groups = |name: &&str| name.matches('.').count();
    let fewest = found.iter().map(groups).min();
    found.retain(|name| Some(groups(name)) == fewest);
    found.truncate(2);
    (!found.is_empty()).then(|| spelling::either(&found))
}

/// Lays `top` over `base`, table by table; a solver of another method replaces the whole solver.
fn merge(base: &mut Table, top: Table) {
    for (key, value) in top {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => {
                if above
                    .get("method")
                    .is_some_and(|method| below.get("method") != Some(method))
                {
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

/// The settings of the record of a run, or a JSON object of settings. A file of attributes is looked for where that run had it.
fn table_of_json(text: &str, path: &Path) -> Result<Table, String> {
    #[derive(serde::Deserialize)]
    struct Report {
        folder: Option<PathBuf>,
        config: Option<serde_json::Value>,
        by: Option<serde::de::IgnoredAny>,
        motifs: Option<serde::de::IgnoredAny>,
    }
    let wrong = |e: serde_json::Error| e.to_string();
    if extent::values(text).map_err(wrong)? > MOST_VALUES {
        return Err(format!("a configuration has at most {MOST_VALUES} values"));
    }
    let Report {
        folder,
        config,
        by,
        motifs,
    } = record::parse(text.as_bytes())?;
    let Some(mut config) = config else {
        if by.is_some() && motifs.is_some() {
            return Err("it is the record of `hone count`, which has no configuration".into());
        }
        return serde_json::from_str(text).map_err(wrong);
    };
    if let Some(file) = config.pointer_mut("/attributes/file")
        && let Some(found) = file
            .as_str()
            .and_then(|named| record::locate(path, folder.as_deref(), named).ok())
    {
        *file = found.into();
    }
    let mut table = Table::try_from(config).map_err(|e| e.to_string())?;
    without_what_was_not_there(&mut table);
    Ok(table)
}

/// A record has every setting of its version: later settings did not exist.
fn without_what_was_not_there(record: &mut Table) {
    if let Some(Value::Table(local)) = record.get_mut("local") {
        local
            .entry("log-window")
            .or_insert_with(|| group("steps", Value::Integer(0)));
    }
    let form = record
        .get_mut("features")
        .and_then(|features| features.get_mut("form"));
    if let Some(Value::Table(components)) = form.and_then(|form| form.get_mut("components")) {
        components.entry("extremes").or_insert(Value::Float(0.0));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Components, Form};

    /// Records of versions that had no log window and no column of extremes are repeated without them.
    #[test]
    fn records_have_no_settings_that_came_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("z.npy.run.json");
        let record = r#"{"config": {"psi": "a-norm", "local": {"scale": "sigma"},
            "features": {"form": {"components": {"dim": 16, "offset": 3.0}}}}}"#;
        std::fs::write(&path, record).expect("written");
        let read = |preset: &str| {
            Layers::new()
                .preset(preset)
                .expect("known")
                .file(&path)
                .expect("a record")
                .build()
                .expect("in range")
        };
        let config = read("hone");
        assert_eq!(config.local.log_window.steps, 0);
        let Form::Components(Components { extremes, .. }) = config.features.form else {
            panic!("components")
        };
        assert_eq!(extremes, 0.0);
    }
}
