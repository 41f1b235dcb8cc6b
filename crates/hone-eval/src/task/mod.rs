//! The experiments, one per file.

mod link;
mod nodes;

pub use link::{LinkCell, LinkConfig, Outcome, Protocol, link};
pub use nodes::{NodeScore, NodesCell, NodesConfig, nodes};

use std::time::Instant;

use hone::graph::Graph;
use hone::{Error, Progress, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cache::Cache;

use crate::method::{Embedder, Method};
use crate::split::TrainGraph;
use crate::vectors::{Entry, Save, Vectors};

/// What every task needs besides what it is about.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Finished cells.
    pub cache: &'a Cache,
    /// Where vectors are kept, and the name of the graph there.
    pub save: Option<(&'a Save, &'a str)>,
    /// Who gets the progress.
    pub progress: &'a dyn Progress,
    /// Whether cells that are complete are returned when the work is interrupted, the others being that error.
    pub partial: bool,
}

impl<'a> Setting<'a> {
    /// Cells are kept, vectors are not.
    pub fn new(cache: &'a Cache, progress: &'a dyn Progress) -> Self {
        Setting {
            cache,
            save: None,
            progress,
            partial: false,
        }
    }

    /// The cell of every method under one seed, from the cache or computed; an error in place of a cell is that of the method and
    /// does not concern the others.
    fn cells<'m, K: Serialize, T: Serialize + DeserializeOwned>(
        &self,
        methods: &'m [Method],
        seed: u64,
        train: impl Fn() -> Result<Graph>,
        key: impl Fn(&'m Method) -> K,
        compute: impl Fn(&'m Method) -> Result<Result<T>>,
    ) -> Result<Vec<Result<T>>> {
        let mut cells = Vec::with_capacity(methods.len());
        for method in methods {
            let mut failed = false;
            let cell = self.progress.check().and_then(|()| {
                let cache = self.cache_for(method, &train, seed)?;
                cache.cell(&key(method), || {
                    let made = compute(method)?;
                    failed = made.is_err();
                    made
                })
            });
            cells.push(match cell {
                Err(Error::Interrupted) if self.partial => Err(Error::Interrupted),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // A wrong file of vectors ends the evaluation: the user has to know at once.
                Err(error) if !failed || method.reads_file() => return Err(error),
                cell => {
                    self.progress.advance(1);
                    cell
                }
            });
        }
        Ok(cells)
    }

    /// The cache for the cell of a method: none if vectors depend on files, which may have changed; renewed where vectors are to be
    /// saved and are not yet.
    fn cache_for(
        &self,
        method: &Method,
        train: impl Fn() -> Result<Graph>,
        seed: u64,
    ) -> Result<Cache> {
        if method.depends_on_file() {
            return Ok(Cache::none());
        }
        if let Some((save, name)) = self.save
            && !method.candidates.is_empty()
        {
            let train = train()?;
            for candidate in &method.candidates {
                if !save.has(&Entry::new(name, &train, &method.name, candidate, seed))? {
                    return Ok(self.cache.renewed());
                }
            }
        }
        Ok(self.cache.clone())
    }

    /// The vectors of a candidate and the seconds they took; they are saved, if they are to be.
    fn embed(
        &self,
        method: &Method,
        candidate: &(String, Embedder),
        train: &TrainGraph,
        seed: u64,
    ) -> Result<(Vectors, f64)> {
        self.progress.check()?;
        let start = Instant::now();
        let made = candidate.1.embed(train, seed, &Within(self.progress))?;
        let seconds = start.elapsed().as_secs_f64();
        if let Some((save, name)) = self.save
            && !method.reads_file()
        {
            let entry = Entry::new(name, train.graph(), &method.name, candidate, seed);
            save.keep(entry, train.graph().ids(), &made.block)?;
        }
        Ok((made, seconds))
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
