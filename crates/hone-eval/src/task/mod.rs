//! The experiments, one per file.

mod link;
mod nodes;
mod structure;

pub use link::{LinkCell, LinkConfig, Outcome, Protocol, link};
pub use nodes::{NodeScore, NodesCell, NodesConfig, nodes};
pub use structure::{StructureCell, Symmetric, structure, symmetric_graphs};

use hone::dense::Block;
use hone::graph::Graph;
use hone::{Error, Progress, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cache::Cache;
use crate::embedder::Embedder;
use crate::method::Method;
use crate::save::{Save, Whose};

/// What every task needs besides what it is about.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Finished cells.
    pub cache: &'a Cache,
    /// Where vectors are kept, and the name of the graph there.
    pub save: Option<(&'a Save, &'a str)>,
    /// Who gets the progress.
    pub progress: &'a dyn Progress,
}

impl<'a> Setting<'a> {
    /// Cells are kept, vectors are not.
    pub fn new(cache: &'a Cache, progress: &'a dyn Progress) -> Self {
        Setting {
            cache,
            save: None,
            progress,
        }
    }

    /// The cache for the cell of a method: none for vectors of files, which may have changed; renewed where vectors are to be
    /// saved and are not yet.
    fn cache_for(
        &self,
        method: &Method,
        train: impl Fn() -> Result<Graph>,
        seed: u64,
    ) -> Result<Cache> {
        if method.reads_file() {
            return Ok(Cache::none());
        }
        if let Some((save, name)) = self.save
            && !method.candidates().is_empty()
        {
            let train = train()?;
            for (candidate, embedder) in method.candidates() {
                if !save.has(
                    &Whose {
                        name,
                        method: &method.name,
                        candidate,
                        embedder,
                        seed,
                    },
                    &train,
                )? {
                    return Ok(self.cache.renewed());
                }
            }
        }
        Ok(self.cache.clone())
    }

    /// A cell of a method from the cache, or computed. The inner error is that of the method and does not concern the others; the
    /// outer one ends the evaluation, as does a file of vectors that is wrong: the user has to know at once.
    fn cell<T: Serialize + DeserializeOwned>(
        cache: &Cache,
        method: &Method,
        key: &impl Serialize,
        compute: impl FnOnce() -> Result<Result<T>>,
    ) -> Result<Result<T>> {
        let mut failed = false;
        let cell = cache.cell(key, || {
            let made = compute()?;
            failed = made.is_err();
            made
        });
        match cell {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) if failed && !method.reads_file() => Ok(Err(error)),
            cell => cell.map(Ok),
        }
    }

    /// Keeps vectors, if they are to be kept.
    fn keep(
        &self,
        method: &Method,
        candidate: &(String, Embedder),
        seed: u64,
        graph: &Graph,
        z: &Block,
    ) -> Result<()> {
        let (candidate, embedder) = (candidate.0.as_str(), &candidate.1);
        match self.save {
            Some((save, name)) if !matches!(embedder, Embedder::File(_)) => save.keep(
                &Whose {
                    name,
                    method: &method.name,
                    candidate,
                    embedder,
                    seed,
                },
                graph,
                z,
            ),
            _ => Ok(()),
        }
    }
}

/// Progress of the work within one cell: it may be cancelled, but the bar and the notes belong to
/// the whole experiment.
struct Within<'a>(&'a dyn Progress);

impl Progress for Within<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
