//! What is stored next to the result of a command, and what a later run takes from it: [`Earlier`] is the record of a run
//! that is repeated, [`Changed`] says what to do about files that differ.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hone::attributes::{Facts, content};
use hone::graph::{Graph, GraphFacts, Input, RecordedFile};
use hone::output::Batch;
use hone::report::{Likeness, Stage, Start};
use hone::{Error, record};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::context::Context;

/// The time that each stage of a command takes.
pub(crate) struct Stages {
    start: Start,
    pub(crate) done: Vec<Stage>,
}

impl Stages {
    /// The first stage begins.
    pub(crate) fn begin() -> Self {
        Stages {
            start: Start::now(),
            done: Vec::new(),
        }
    }

    /// A stage ends, and the next one begins.
    pub(crate) fn end(&mut self, name: &str) {
        self.done.push(Stage::since(name, &self.start));
        self.start = Start::now();
    }
}

/// What is stored next to a result.
#[derive(Serialize)]
pub(crate) struct Record<'a, T> {
    version: &'static str,
    command: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a Input>,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<GraphFacts>,
    #[serde(flatten)]
    content: &'a T,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<Stage>,
}

impl<'a, T: Serialize> Record<'a, T> {
    /// The record of a command that has done `content`, on a graph if there is one.
    pub(crate) fn new(
        command: &'static str,
        graph: Option<(&'a Input, &Graph)>,
        content: &'a T,
        stages: Vec<Stage>,
    ) -> Self {
        Record {
            version: env!("CARGO_PKG_VERSION"),
            command,
            input: graph.map(|(input, _)| input),
            graph: graph.map(|(_, graph)| GraphFacts::of(graph)),
            content,
            stages,
        }
    }

    /// Adds it to the files of `output`.
    pub(crate) fn add_to(&self, batch: &mut Batch, output: &Path) -> Result<(), Error> {
        record::add_to(batch, output, self)
    }
}

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

impl<T> Earlier<T> {
    /// Where a file is now that the record names.
    pub(crate) fn locate(&self, named: &str) -> Result<PathBuf, Error> {
        let place = record::locate(&self.record, self.folder.as_deref(), named);
        place.map(PathBuf::from)
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

/// What a record says of a graph that was placed in the space of a model.
#[derive(Debug, Deserialize)]
pub(crate) struct PlacedFacts {
    pub(crate) like: Likeness,
    /// The folder of the run, relative to that of the record.
    folder: Option<PathBuf>,
    /// The file of attributes.
    attributes: Option<Facts>,
    /// The settings of the model.
    pub(crate) config: serde_json::Value,
}

/// The record of an earlier `hone place`.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) record: PathBuf,
    pub(crate) facts: PlacedFacts,
}

impl Placed {
    /// Reads it.
    pub(crate) fn read(record: &Path) -> Result<Self, Error> {
        let facts = part(record).ok_or_else(|| {
            let remedy = "give the OUT.run.json of an earlier `hone place`";
            Error::input(record, "not the record of `hone place`", remedy)
        })?;
        let record = record.to_path_buf();
        Ok(Placed { record, facts })
    }

    /// Where its attributes are now.
    pub(crate) fn attributes(&self) -> Result<Option<String>, Error> {
        let folder = self.facts.folder.as_deref();
        let file = self.facts.attributes.as_ref();
        file.map(|facts| record::locate(&self.record, folder, &facts.file))
            .transpose()
    }

    /// Where the edges are now that it added to its graph.
    pub(crate) fn added(&self) -> Result<Option<PathBuf>, Error> {
        let folder = self.facts.folder.as_deref();
        let file = self.facts.like.added.as_deref();
        let place = file.map(|file| record::locate(&self.record, folder, file));
        Ok(place.transpose()?.map(PathBuf::from))
    }

    /// Where its model is now.
    pub(crate) fn model(&self) -> Result<PathBuf, Error> {
        let named = self.facts.like.model.as_deref().ok_or_else(|| {
            let message = "its model was in no file";
            Error::input(
                &self.record,
                message,
                "give the graph and --model, without --config",
            )
        })?;
        let place = record::locate(&self.record, self.facts.folder.as_deref(), named);
        place.map(PathBuf::from)
    }
}

/// What a record has of `T`; nothing for any other file.
fn part<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = path.is_file().then(|| record::read(path).ok().flatten());
    serde_json::from_slice(&text.flatten()?).ok()
}

/// Refuses the record of `hone features`, whose settings are those of features, and all others of no run; and that of `hone
/// place`, whose settings are those of the model.
pub(crate) fn refuse_others(path: &Path) -> Result<(), Error> {
    #[derive(Deserialize)]
    struct Facts {
        local: Vec<IgnoredAny>,
        joint: Option<IgnoredAny>,
    }
    if part::<PlacedFacts>(path).is_some() {
        let message = "it is the record of `hone place`, whose model has the settings";
        let remedy =
            "`hone place --config` repeats it; the settings are in the record of the model's run";
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
            (None, Some((earlier, file))) => earlier.locate(&file.file)?,
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
