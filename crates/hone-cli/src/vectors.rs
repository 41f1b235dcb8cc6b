//! [`VectorArgs`]: the vectors a command works on, given or those of an earlier run.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use hone::Error;
use hone::graph::{BUILTIN_PREFIX, NodeIds, RecordedFile};
use hone::memory::Allowance;
use hone::store::{Embedding, Format};
use hone_explore::{By, Method, Space};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::files::Files;
use crate::input::parse_memory;
use crate::repeat::{Changed, Chosen, Earlier, note_version};

/// The vectors; flatten this into the `Args` of a command that reads some.
#[derive(Debug, clap::Args)]
pub(crate) struct VectorArgs {
    /// The vectors: a file that `hone embed` or another tool wrote (.tsv .csv .npy .npz .parquet .w2v .emb .safetensors). With
    /// --config OUT.run.json it may be left out.
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
pub(crate) struct RecordedVectors {
    vectors: RecordedFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vectors_format: Option<Format>,
}

/// Vectors that are about to be read.
#[derive(Debug)]
pub(crate) struct VectorSource {
    file: Chosen,
    format: Option<Format>,
    changed: Changed,
    config: Option<PathBuf>,
    memory: Option<u64>,
}

/// What a record of a command with vectors says.
#[derive(Debug, Deserialize)]
struct With<T> {
    #[serde(flatten)]
    vectors: RecordedVectors,
    #[serde(flatten)]
    choices: T,
}

impl VectorArgs {
    /// Determines which vectors are read, and what an earlier run of `command` chose, if one is repeated.
    pub(crate) fn resolve<T: DeserializeOwned>(
        &self,
        command: &str,
    ) -> Result<(VectorSource, Option<T>), Error> {
        let earlier = self
            .config
            .as_deref()
            .map(|path| Earlier::<With<T>>::read(path, command))
            .transpose()?;
        let file = Chosen::new(self.vectors.as_deref(), earlier.as_ref(), |with| {
            Some(&with.vectors.vectors)
        })?;
        let file = file.ok_or_else(|| {
            Error::config(
                "VECTORS",
                "no file of vectors is given; name one, or repeat a run with --config OUT.run.json",
            )
        })?;
        let before = earlier.map(|earlier| earlier.choices);
        // The format of a record is that of its own file.
        let then = before
            .as_ref()
            .filter(|_| self.vectors.is_none())
            .and_then(|with| with.vectors.vectors_format);
        let (format, changed) = (
            self.vectors_format.or(then),
            self.changed.unwrap_or(Changed::Refuse),
        );
        let source = VectorSource {
            file,
            format,
            changed,
            config: self.config.clone(),
            memory: self.memory,
        };
        Ok((source, before.map(|with| with.choices)))
    }
}

impl VectorSource {
    /// The files that are read.
    pub(crate) fn files(&self) -> Files {
        Files::default()
            .read_vectors("VECTORS", [&self.file.path])
            .read("--config", &self.config)
    }

    /// What a record says about them; refuses vectors that differ from an earlier record.
    pub(crate) fn facts(&self, context: &Context) -> Result<RecordedVectors, Error> {
        self.config
            .as_deref()
            .map_or(Ok(()), |record| note_version(record, context))?;
        Ok(RecordedVectors {
            vectors: self.file.facts(self.changed, context)?,
            vectors_format: self.format,
        })
    }

    /// Ids and prepared vectors; the vectors as they were read are dropped.
    pub(crate) fn open(&self, by: By, context: &Context) -> Result<(NodeIds, Space), Error> {
        let path = &self.file.path;
        let embedding = read(path, self.format, self.memory)?;
        note_no_names(path, self.format, context);
        let space = Space::of(&embedding, by).map_err(|error| match error {
            Error::Config { field, message } if field == "vectors" => {
                Error::input(path, message, "write the vectors again")
            }
            Error::Config { field, message } => Error::config(format!("--{field}"), message),
            other => other,
        })?;
        Ok((embedding.ids, space))
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
        return Err(Error::input(
            path,
            "this is a graph, and vectors are needed",
            REMEDY,
        ));
    }
    if !hone::output::is_stream(path) {
        std::fs::metadata(path).map_err(|error| Error::io(path, error))?;
    }
    let is_text = format
        .map_or_else(|| Format::of(path), Ok)
        .map_or(true, Format::is_text);
    Embedding::read_within(path, format, Allowance::new(memory)).map_err(|error| match error {
        Error::Input {
            path,
            line,
            text,
            message,
            remedy,
        } if is_text => {
            let remedy = format!("{remedy}; if it is a graph, {REMEDY}");
            Error::Input {
                path,
                line,
                text,
                message,
                remedy,
            }
        }
        other => other,
    })
}

/// Notes that the names of the columns are missing, without which proximity and structure are compared as one.
pub(crate) fn note_no_names(path: &Path, format: Option<Format>, context: &Context) {
    let format = format.map_or_else(|| Format::of(path), Ok);
    let mut names = path.as_os_str().to_owned();
    names.push(".columns.txt");
    let beside =
        matches!(format, Ok(Format::Npy | Format::Word2vec)) && !hone::output::is_stream(path);
    if beside && !Path::new(&names).exists() {
        context.note(format_args!(
            "note: there is no {}, so all columns are compared as one; if `hone embed` wrote the vectors, keep this file \
             beside them",
            Path::new(&names).display()
        ));
    }
}

pub(crate) fn by() -> impl TypedValueParser<Value = By> {
    PossibleValuesParser::new(By::ALL.map(|(_, name)| name))
        .map(|name| name.parse().expect("one of those listed"))
}

pub(crate) fn method() -> impl TypedValueParser<Value = Method> {
    PossibleValuesParser::new(Method::ALL.map(|(_, name)| name))
        .map(|name| name.parse().expect("one of those listed"))
}

pub(crate) fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(|(_, name)| name))
        .map(|name| Format::from_name(&name).expect("one of those listed"))
}
