//! [`VectorArgs`]: the vectors a command works on, given or those of an earlier run.

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use hone::Error;
use hone::graph::{BUILTIN_PREFIX, NodeIds, RecordedFile};
use hone::memory::Allowance;
use hone::output::is_stream;
use hone::store::{Embedding, Format};
use hone_explore::{By, Method, Space};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::files::{Files, column_names};
use crate::input::{one_of, parse_memory};
use crate::repeat::{Changed, Chosen, Earlier, note_version};

/// The vectors; flatten this into the `Args` of a command that reads some.
#[derive(Debug, clap::Args)]
pub(crate) struct VectorArgs {
    /// The vectors: a file that `hone embed` or another tool wrote (.tsv .csv .npy .npz .parquet .w2v .emb .safetensors
    /// .pgvector .pgcopy). With --config OUT.run.json it may be left out.
    #[arg(value_name = "VECTORS", required_unless_present = "config")]
    vectors: Option<PathBuf>,
    /// Format of the vectors, whatever their extension.
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    vectors_format: Option<Format>,
    /// Memory limit, such as 8G (8 GiB) or 8GB; vectors that do not fit are refused [default: what the
    /// machine has free].
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,
    /// Repeat an earlier run: its OUT.run.json, with the vectors and all choices; other options override these.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What to do if the vectors differ from those of --config OUT.run.json [default: refuse].
    #[arg(long, value_enum, value_name = "WHAT", requires = "config")]
    changed: Option<Changed>,
}

/// Vectors as a record has them.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Recorded {
    vectors: RecordedFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vectors_format: Option<Format>,
}

/// What a command with vectors has done: a part of its record.
#[derive(Debug, Serialize)]
pub(crate) struct Done<'a, C> {
    #[serde(flatten)]
    vectors: Recorded,
    #[serde(flatten)]
    choices: &'a C,
    nodes: usize,
    /// Of an approximate search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recall: Option<f64>,
}

/// What a later run reads of it.
#[derive(Debug, Deserialize)]
struct Before<T> {
    #[serde(flatten)]
    vectors: Recorded,
    #[serde(flatten)]
    choices: T,
}

/// Vectors that are about to be read.
#[derive(Debug)]
pub(crate) struct VectorSource<'a> {
    args: &'a VectorArgs,
    file: Chosen,
    format: Option<Format>,
}

impl VectorArgs {
    /// Determines which vectors are read, and what an earlier run of `command` chose, if one is repeated.
    pub(crate) fn resolve<T: DeserializeOwned>(
        &self,
        command: &str,
    ) -> Result<(VectorSource<'_>, Option<T>), Error> {
        let read = |path| Earlier::<Before<T>>::read(path, command);
        let earlier = self.config.as_deref().map(read).transpose()?;
        let given = self.vectors.as_deref();
        let file = Chosen::new(given, earlier.as_ref(), |it| Some(&it.vectors.vectors))?;
        let file = file.ok_or_else(|| {
            let message =
                "no file of vectors is given; name one, or repeat a run with --config OUT.run.json";
            Error::config("VECTORS", message)
        })?;
        let before = earlier.map(|earlier| earlier.choices);
        // The format of a record is that of its own file.
        let then = before.as_ref().filter(|_| self.vectors.is_none());
        let then = then.and_then(|before| before.vectors.vectors_format);
        let source = VectorSource {
            args: self,
            file,
            format: self.vectors_format.or(then),
        };
        Ok((source, before.map(|before| before.choices)))
    }
}

impl VectorSource<'_> {
    /// The files that are read.
    pub(crate) fn files(&self) -> Files {
        Files::default()
            .read_vectors("VECTORS", [&self.file.path])
            .read("--config", &self.args.config)
    }

    /// Ids and prepared vectors, and the content of a record; refuses vectors that differ from an earlier one. The vectors
    /// as they were read are dropped.
    pub(crate) fn open<'c, C>(
        &self,
        by: By,
        choices: &'c C,
        context: &Context,
    ) -> Result<(NodeIds, Space, Done<'c, C>), Error> {
        context.progress().stage("reading", 0);
        if let Some(record) = &self.args.config {
            note_version(record, context)?;
        }
        let changed = self.args.changed.unwrap_or_default();
        let vectors = Recorded {
            vectors: self.file.facts(changed, context)?,
            vectors_format: self.format,
        };
        let path = &self.file.path;
        let embedding = read(path, self.format, self.args.memory)?;
        note_no_names(path, self.format, context);
        let space = Space::of(&embedding, by).map_err(|error| match error {
            Error::Config { field, message } if field == "vectors" => {
                Error::input(path, message, "write the vectors again")
            }
            other => other,
        })?;
        let done = Done {
            vectors,
            choices,
            nodes: embedding.ids.len(),
            recall: None,
        };
        Ok((embedding.ids, space, done))
    }
}

/// Reads vectors; if they may be a graph instead, the error says what to do.
pub(crate) fn read(
    path: &Path,
    format: Option<Format>,
    memory: Option<u64>,
) -> Result<Embedding, Error> {
    const REMEDY: &str = "`hone embed` makes the vectors of a graph";
    if path.to_string_lossy().starts_with(BUILTIN_PREFIX) {
        let message = "this is a graph, and vectors are needed";
        return Err(Error::input(path, message, REMEDY));
    }
    if !is_stream(path) {
        std::fs::metadata(path).map_err(|error| Error::io(path, error))?;
    }
    let kind = format.map_or_else(|| Format::of(path), Ok);
    Embedding::read_within(path, format, Allowance::new(memory)).map_err(|mut error| {
        if let Error::Input { remedy, .. } = &mut error
            && kind.map_or(true, Format::is_text)
        {
            remedy.push(format!("; if it is a graph, {REMEDY}"));
        }
        error
    })
}

/// Notes that the names of the columns are missing, without which proximity and structure are compared as one.
pub(crate) fn note_no_names(path: &Path, format: Option<Format>, context: &Context) {
    let format = format.map_or_else(|| Format::of(path), Ok);
    let beside = format.is_ok_and(Format::names_beside) && !is_stream(path);
    let names = column_names(path);
    if beside && !names.exists() {
        context.note(format_args!(
            "note: there is no {}, so all columns are compared as one; if `hone embed` wrote the vectors, keep this file \
             beside them",
            names.display()
        ));
    }
}

/// Says how many of the true neighbours an approximate search found.
pub(crate) fn note_recall(recall: Option<f64>, context: &Context) {
    if let Some(recall) = recall {
        let percent = 100.0 * recall;
        context.note(format_args!(
            "note: approximate: {percent:.1} % of the true neighbours were found, estimated from a sample"
        ));
    }
}

pub(crate) fn by() -> impl TypedValueParser<Value = By> {
    one_of(By::NAMES, |name| name.parse().ok())
}

pub(crate) fn method() -> impl TypedValueParser<Value = Method> {
    one_of(Method::NAMES, |name| name.parse().ok())
}

pub(crate) fn format() -> impl TypedValueParser<Value = Format> {
    one_of(Format::ALL.map(|(_, name)| name), Format::from_name)
}
