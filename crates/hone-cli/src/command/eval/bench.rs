//! [`BenchArgs`]: which methods are compared, on which graphs, how often, and where finished results are stored.

use std::path::PathBuf;

use hone::output::Existing;
use hone::{Error, Progress};
use hone_eval::cache::Cache;
use hone_eval::experiment::{Bench, Named};
use hone_eval::method::{self, Kind, Method};
use hone_eval::vectors::Save;

use crate::context::Context;
use crate::exit::{self, Kept};
use crate::files::{Files, Use};
use crate::input::ReadArgs;
use crate::input::stem;
use crate::options::translated;

/// Which methods are compared, how often, and where finished results are stored.
#[derive(Debug, clap::Args)]
pub(super) struct BenchArgs {
    /// Methods, separated by commas (see `hone eval list`), with options after a colon; may be repeated [default: a
    /// selection for the task].
    #[arg(long, value_name = "NAMES")]
    pub(super) methods: Vec<String>,
    /// Vectors from a file as a further method; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub(super) embedding: Vec<PathBuf>,
    /// Search the options the paper searches (steps of HONE and GraRep, p and q of node2vec).
    #[arg(long)]
    pub(super) grid: bool,
    /// Search the options on one extra split per graph, which no table shows; each split then chooses among
    /// the winners.
    #[arg(long)]
    pub(super) search_once: bool,
    /// Number of random seeds.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(super) seeds: u64,
    /// The first seed. For a fair test, use seeds that were not used for any choice.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(super) first_seed: u64,
    /// Save finished results in this folder; the same command continues an interrupted run from it.
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Option<PathBuf>,
    /// Save the vectors of every method and seed in this folder, with ids, as GRAPH/METHOD-SEED.npz; manifest.json lists
    /// them.
    #[arg(long, value_name = "DIR")]
    pub(super) save: Option<PathBuf>,
}

/// Where finished results and vectors are stored.
pub(super) struct Folders {
    cache: Cache,
    save: Option<Save>,
}

impl Folders {
    /// Lists the vectors that were stored.
    pub(super) fn finish(&self, context: &Context) -> anyhow::Result<()> {
        if let Some(save) = &self.save {
            let count = save.finish()?;
            context.note(format_args!(
                "{} lists {count} files of vectors",
                save.manifest().display()
            ));
        }
        Ok(())
    }
}

impl BenchArgs {
    pub(super) fn methods(&self, default: &str) -> anyhow::Result<Vec<Method>> {
        parse_methods(&self.methods, &self.embedding, default, self.grid)
    }

    /// Adds the files of vectors that are compared, and the folders in which results and vectors are stored.
    pub(super) fn files(&self, files: Files, force: bool) -> Files {
        let named = self
            .methods
            .iter()
            .flat_map(|text| method::split_list(text));
        let paths = named.filter_map(|method| method.strip_prefix("file:").map(str::to_owned));
        let seeds = self.first_seed..self.first_seed + self.seeds;
        let of_seeds = |path: String| {
            seeds
                .clone()
                .map(move |seed| path.replace("{seed}", &seed.to_string()))
        };
        let files = files.read_vectors("--embedding", &self.embedding);
        let files = files.read_vectors("--methods", paths.flat_map(of_seeds));
        let saved = if force { Use::Rewritten } else { Use::Filled };
        files.folder("--save", self.save.as_deref(), saved).folder(
            "--cache",
            self.cache.as_deref(),
            Use::Filled,
        )
    }

    /// Creates the folders in which results and vectors are stored.
    pub(super) fn folders(&self, force: bool) -> anyhow::Result<Folders> {
        let cache = self
            .cache
            .as_deref()
            .map_or(Ok(Cache::none()), Cache::open)?;
        match &self.cache {
            Some(folder) => exit::keep(Kept::Cells(folder.clone())),
            None => exit::could_save(
                "start again with --cache DIR to be able to continue after an interruption",
            ),
        }
        let save = self
            .save
            .as_deref()
            .map(|folder| Save::open(folder, Existing::replaced_if(force)))
            .transpose()?;
        Ok(Folders { cache, save })
    }

    pub(super) fn bench<'a>(
        &self,
        methods: &'a [Method],
        folders: &'a Folders,
        progress: &'a dyn Progress,
    ) -> Bench<'a> {
        let seeds = self.first_seed..self.first_seed + self.seeds;
        Bench {
            methods,
            seeds,
            search_once: self.search_once,
            cache: &folders.cache,
            save: folders.save.as_ref(),
            progress,
        }
    }
}

/// The methods that are named, or those of `default`, and the files.
pub(super) fn parse_methods(
    named: &[String],
    files: &[PathBuf],
    default: &str,
    grid: bool,
) -> anyhow::Result<Vec<Method>> {
    let given = if named.is_empty() {
        vec![default.to_string()]
    } else {
        named.to_vec()
    };
    let mut methods = Method::parse_list(&given, grid)
        .map_err(|error| translated(error, &[("methods", "--methods")]))?;
    for path in files {
        methods.push(Method::parse(&format!("file:{}", path.display()))?);
    }
    let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
    if names.is_empty() {
        return Err(
            Error::config("--methods", "none is named; `hone eval list` lists them").into(),
        );
    }
    if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(
            Error::config("--methods", format!("`{}` is named twice", names[twice])).into(),
        );
    }
    Ok(methods)
}

/// Says which methods do not use the weights that were requested.
pub(super) fn note_ignored_weights(methods: &[Method], graphs: &[Named], context: &Context) {
    let blind = |method: &&Method| match &method.kind {
        Kind::Vectors(candidates) => candidates
            .iter()
            .all(|(_, embedder)| !embedder.uses_weights()),
        Kind::Score(_) => true,
    };
    let names: Vec<&str> = methods
        .iter()
        .filter(blind)
        .map(|method| method.name.as_str())
        .collect();
    if graphs.iter().any(|named| named.graph.weights().is_some()) && !names.is_empty() {
        let verb = if names.len() == 1 { "uses" } else { "use" };
        context.note(format_args!("note: {} {verb} no weights", names.join(", ")));
    }
}

/// Reads a graph that experiments can be run on, under the name it has in tables.
pub(super) fn open(input: &str, how: &ReadArgs, context: &Context) -> anyhow::Result<Named> {
    let graph = how.open(input, context)?;
    if graph.edges() == 0 {
        return Err(Error::input(
            input,
            "the graph has no edges",
            "nothing can be learnt from it",
        )
        .into());
    }
    Ok(Named {
        name: stem(input),
        graph,
    })
}
