//! [`Earlier`]: the record of an earlier run that is repeated; [`Changed`]: what to do about files that differ.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hone::attributes::content;
use hone::graph::RecordedFile;
use hone::report::Likeness;
use hone::{Error, record};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::context::Context;

/// What to do if the inputs differ from the recorded ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Changed {
    /// Stop with an error.
    #[default]
    Refuse,
    /// Continue, with a note.
    Allow,
}

impl Changed {
    /// Notes or refuses that `path` is not as recorded.
    pub(crate) fn differs(
        self,
        path: &str,
        message: String,
        context: &Context,
    ) -> Result<(), Error> {
        if self == Changed::Allow {
            context.note(format_args!("note: {path}: {message}"));
            return Ok(());
        }
        let remedy = "give the file of that run, or accept the difference with --changed allow";
        Err(Error::input(path, message, remedy))
    }
}

/// What an earlier run chose, as far as `T` says.
#[derive(Debug)]
pub(crate) struct Earlier<T> {
    record: PathBuf,
    folder: Option<PathBuf>,
    pub(crate) choices: T,
}

impl<T: DeserializeOwned> Earlier<T> {
    /// Reads the record of an earlier run of `command`.
    pub(crate) fn read(path: &Path, command: &str) -> Result<Self, Error> {
        /// What every record says.
        #[derive(Deserialize)]
        struct Head {
            command: Option<String>,
            folder: Option<PathBuf>,
        }
        let missing = || Error::io(path, std::io::ErrorKind::NotFound.into());
        let text = record::read(path)?.ok_or_else(missing)?;
        let wrong = |why: String| {
            let message = format!("not the record of `hone {command}`: {why}");
            let remedy = format!("give the OUT.run.json of an earlier `hone {command}`");
            Error::input(path, message, remedy)
        };
        let head: Head = record::parse(&text).map_err(wrong)?;
        match head.command {
            Some(found) if found == command => {}
            Some(found) => return Err(wrong(format!("it is of `hone {found}`"))),
            None => {
                let why = "it is the record of an embedding, or of another tool";
                return Err(wrong(why.into()));
            }
        }
        Ok(Earlier {
            record: path.to_path_buf(),
            folder: head.folder,
            choices: record::parse(&text).map_err(wrong)?,
        })
    }
}

/// Notes that a record is of another version, whose results may not be the same bit for bit.
pub(crate) fn note_version(record: &Path, context: &Context) -> Result<(), Error> {
    // A pipe was read for its settings.
    if !record.is_file() {
        return Ok(());
    }
    let now = env!("CARGO_PKG_VERSION");
    if let Some(version) = record::version(record)?.filter(|version| version != now) {
        let record = record.display();
        context.note(format_args!(
            "note: {record} is of version {version}, this is version {now}: the result may not be the same bit for bit"
        ));
    }
    Ok(())
}

/// What a record says of an embedding like a model.
#[derive(Debug, Deserialize)]
pub(crate) struct Alike {
    pub(crate) like: Likeness,
    /// The folder of the run, relative to that of the record.
    pub(crate) folder: Option<PathBuf>,
    /// The settings of the model.
    pub(crate) config: serde_json::Value,
}

/// What a record has of `T`; nothing for any other file.
fn part<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = path.is_file().then(|| record::read(path).ok().flatten());
    serde_json::from_slice(&text.flatten()?).ok()
}

/// Reads the record of an embedding like a model; nothing for any other file.
pub(crate) fn alike(path: &Path) -> Option<Alike> {
    part(path)
}

/// Refuses the record of `hone features`, whose settings are those of features, and all others of no run; and that of an
/// embedding like a model, whose settings are those of the model.
pub(crate) fn refuse_others(path: &Path) -> Result<(), Error> {
    #[derive(Deserialize)]
    struct Facts {
        local: Vec<IgnoredAny>,
        joint: Option<IgnoredAny>,
    }
    if alike(path).is_some() {
        let message = "it is the record of an embedding like a model, which has the settings";
        let remedy =
            "`hone embed --config` repeats it; the settings are in the record of the model's run";
        return Err(Error::input(path, message, remedy));
    }
    match part(path) {
        Some(Facts { local, joint: None }) if local.is_empty() => {
            let message = "it is the record of `hone features`, not of an embedding";
            let remedy = "give the record of an embedding, or a configuration";
            Err(Error::input(path, message, remedy))
        }
        _ => Ok(()),
    }
}

/// A file that a run reads: the one given, else that of the record.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) path: PathBuf,
    /// The record that it should agree with, and what that says.
    recorded: Option<(PathBuf, RecordedFile)>,
}

impl Chosen {
    /// The file given on the command line, or the one that a record names, wherever that is now.
    pub(crate) fn new<T>(
        given: Option<&Path>,
        earlier: Option<&Earlier<T>>,
        named: impl Fn(&T) -> Option<&RecordedFile>,
    ) -> Result<Option<Chosen>, Error> {
        let then = earlier.and_then(|earlier| Some((earlier, named(&earlier.choices)?.clone())));
        let path = match (given, &then) {
            (Some(path), _) => path.to_path_buf(),
            (None, Some((earlier, file))) => {
                record::locate(&earlier.record, earlier.folder.as_deref(), &file.file)?.into()
            }
            (None, None) => return Ok(None),
        };
        let recorded = then.map(|(earlier, file)| (earlier.record.clone(), file));
        Ok(Some(Chosen { path, recorded }))
    }

    /// What a record says of it, compared with what an earlier one does.
    pub(crate) fn facts(&self, changed: Changed, context: &Context) -> Result<RecordedFile, Error> {
        let now = RecordedFile {
            file: self.path.display().to_string(),
            content: content(&self.path)?,
        };
        if let Some((record, then)) = &self.recorded
            && let Some(how) = then.difference(&now.content)
        {
            let message = format!("not the file of {}: {how}", record.display());
            changed.differs(&now.file, message, context)?;
        }
        Ok(now)
    }
}
