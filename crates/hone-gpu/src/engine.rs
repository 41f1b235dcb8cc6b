//! [`Cuda`] as an [`Engine`]: motifs, W_t, features, singular value decompositions and Z on the device.
//!
//! This process does small work: dense decompositions of small matrices, and the eigenvalues of the Gram matrix of Y.
//! It also does what the device has no kernels for: estimates of counts, directed motifs, pairs that share a motif.
//! Before the work, the memory that counting and the largest factorisation need is compared with that of the device;
//! later failures, for lack of memory or otherwise, are errors too.
//!
//! [`Kept`]: columns of Y or of features that stay on the device, and are read from there when needed.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hone::dense::panels::Own;
use hone::dense::{Block, Columns, Group, Panels, Small, Stored};
use hone::engine::{Counting, Engine, Largest, Local, Request, Window};
use hone::factor::log_window::View;
use hone::factor::svd::{svd_in, svd_there};
use hone::factor::{Factors, Solver, Task};
use hone::features::{NamedColumns, Structure};
use hone::graph::Graph;
use hone::motif::{Counts, Motif, MotifGraph, Sample, Weighting};
use hone::operator::Operator;
use hone::space::{Fold, Space};
use hone::{Error, Result};

use crate::Cuda;
use crate::driver::{Failure, no_room};
use crate::space::Panel;

/// Bytes in addition to matrices and panels: kernels, partial sums, rounding by the allocator.
const BESIDE: u64 = 512 << 20;

/// Bytes of counts per position once they are stored, and while they are computed.
const COUNTS: u64 = 12;
const COUNTING: u64 = 60;

impl Engine for Cuda {
    fn name(&self) -> &str {
        self.driver.name()
    }

    fn arithmetic(&self) -> &str {
        &self.driver.card.arithmetic
    }

    fn has(&self, solver: &Solver) -> bool {
        matches!(solver, Solver::Svd(_))
    }

    fn plan(&self, largest: &Largest) -> Result<()> {
        self.forget_counts();
        self.resident.forget_unused();
        let (need, free) = (memory(largest), self.free_memory()?);
        let least = memory(&Largest {
            columns: largest.least_columns,
            ..*largest
        });
        if least > free {
            return Err(no_room(self.name(), least, false, free));
        }
        let tight = need > free || self.always_tight.load(Relaxed);
        self.tight.store(tight, Relaxed);
        self.needed.store(if tight { least } else { need }, Relaxed);
        Ok(())
    }

    fn count(&self, graph: &Graph, how: Counting<'_>) -> Result<Counts> {
        if *how.sample != Sample::Exact || how.motifs.iter().any(|motif| motif.is_directed()) {
            return how.sample.count_motifs(
                graph,
                how.motifs,
                (how.seed, how.allowance),
                how.progress,
            );
        }
        self.caught(|| self.count_exactly(graph, &how))
    }

    fn motif_graph(
        &self,
        counts: &Counts,
        graph: &Graph,
        motif: Motif,
        weighting: Weighting,
        _rows: &Own,
    ) -> Result<MotifGraph> {
        let found = self.caught(|| self.motif_graph_there(counts, graph, motif, weighting))?;
        found.map_or_else(|| counts.motif_graph(graph, motif, weighting), Ok)
    }

    fn features(&self, features: &Structure, counts: &Counts) -> Result<NamedColumns> {
        let found = self.caught(|| self.features_there(features, counts))?;
        found.map_or_else(|| features.streamed(counts), Ok)
    }

    fn gram(&self, y: &Columns) -> Small {
        self.gram_of_columns(y)
    }

    fn products(&self, x: &Columns) -> Result<Small> {
        self.caught(|| Ok(self.gram_of_columns(x)))
    }

    fn times(&self, x: &Columns, matrix: &Small) -> Result<Block> {
        self.caught(|| Ok(self.product_of_columns(x, matrix)))
    }

    fn factor(&self, solver: &Solver, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let Solver::Svd(options) = solver else {
            return Err(self.lacks(solver));
        };
        self.caught(|| svd_in(self, s, options, &self.tightened(task)))
    }

    fn window(&self, window: &Window, u: &mut Panels, task: &Task) -> Result<View> {
        self.caught(|| window.spanned_through(self, u, &self.tightened(task)))
    }

    fn local(
        &self,
        solver: &Solver,
        s: &Operator,
        task: &Task,
        request: &Request,
    ) -> Result<Local> {
        self.caught(|| self.local_there(solver, s, &self.tightened(task), request))
    }

    fn failure(&self, thrown: Box<dyn Any + Send>) -> Result<Error, Box<dyn Any + Send>> {
        thrown.downcast::<Failure>().map(|failure| failure.0)
    }
}

impl Cuda {
    /// The task with the device's own shortage of memory: panels wait in the memory of this process, and no folder is used.
    fn tightened<'a>(&self, task: &Task<'a>) -> Task<'a> {
        Task {
            aside: self.tight.load(Relaxed).then_some(Path::new("")),
            ..*task
        }
    }

    /// Does some work; failures of its operations become errors. Copies no longer needed are dropped before and after.
    fn caught<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.resident.forget_unused();
        let done = catch_unwind(AssertUnwindSafe(work));
        self.resident.forget_unused();
        done.unwrap_or_else(|thrown| match self.failure(thrown) {
            Ok(error) => Err(error),
            Err(thrown) => resume_unwind(thrown),
        })
    }
}

/// Bytes of device memory that counting and a factorisation need.
fn memory(largest: &Largest) -> u64 {
    let Largest {
        rows,
        nonzeros,
        columns,
        ..
    } = *largest;
    // Offsets, and a column index each; a value each, diagonals on both sides and a shift; counts.
    let graph = 8 * rows + 4 * nonzeros;
    let matrix = (4 * nonzeros + 3 * 4 * rows + COUNTS * nonzeros)
        .saturating_add((4 * rows).saturating_mul(columns));
    let counting = COUNTING * nonzeros + 64 * rows;
    BESIDE
        .saturating_add(graph)
        .saturating_add(matrix.max(counting))
}

/// Some columns of a tall matrix in device memory.
pub(crate) struct Kept {
    cuda: Cuda,
    pub(crate) panels: Vec<Arc<Panel>>,
    lengths: Vec<f64>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("rows", &self.rows())
            .field("cols", &self.cols())
            .finish_non_exhaustive()
    }
}

impl Kept {
    pub(crate) fn new(cuda: &Cuda, panels: Vec<Panel>) -> Self {
        let lengths = cuda.fold(&panels, Fold::Length);
        Kept {
            cuda: cuda.clone(),
            panels: panels.into_iter().map(Arc::new).collect(),
            lengths,
        }
    }

    /// Whether it is in the memory of that device.
    pub(crate) fn is_on(&self, cuda: &Cuda) -> bool {
        Arc::ptr_eq(&self.cuda.0, &cuda.0)
    }
}

impl Stored for Kept {
    fn rows(&self) -> usize {
        self.panels.first().map_or(0, |panel| panel.rows)
    }

    fn cols(&self) -> usize {
        self.panels.iter().map(|panel| panel.cols).sum()
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        let (all, mut first, mut some) = (self.cols(), 0, Vec::new());
        for panel in self.panels.iter().filter(|panel| panel.cols > 0) {
            some.resize(range.len() * panel.cols, 0.0);
            self.cuda
                .driver
                .download_at(&panel.values, range.start * panel.cols, &mut some);
            for (to, from) in to.chunks_exact_mut(all).zip(some.chunks_exact(panel.cols)) {
                to[first..first + panel.cols].copy_from_slice(from);
            }
            first += panel.cols;
        }
    }

    fn lengths(&self) -> Option<Vec<f64>> {
        Some(self.lengths.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl Cuda {
    /// Factors of a motif matrix and their log window, shaped, on the device where there is room for them beside further work, else
    /// here.
    pub(crate) fn local_there(
        &self,
        solver: &Solver,
        s: &Operator,
        task: &Task,
        request: &Request,
    ) -> Result<Local> {
        let Solver::Svd(options) = solver else {
            return Err(self.lacks(solver));
        };
        let mut room = None;
        let found = svd_there(self, s, options, task)?;
        self.resident.forget_unused();
        request.shaped_in(self, found, task, |panels| {
            let known = match room {
                Some(room) => room,
                None => self.free_memory()? >= self.needed.load(Relaxed),
            };
            room = Some(known);
            Ok(if known {
                Group::stored(None, Arc::new(Kept::new(self, panels)))
            } else {
                self.brought_back(panels)
            })
        })
    }

    /// Columns in the memory of this process.
    fn brought_back(&self, panels: Vec<Panel>) -> Group {
        let panels: Vec<_> = panels.into_iter().map(|panel| self.export(panel)).collect();
        Group::panels(None, panels.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_with_all_that_is_held() {
        let base = Largest {
            rows: 1_000_000,
            nonzeros: 10_000_000,
            columns: 200,
            least_columns: 100,
        };
        let bytes = memory(&base);
        assert_eq!(bytes, BESIDE + 48_000_000 + 172_000_000 + 800_000_000);
        assert!(
            memory(&Largest {
                rows: 2_000_000,
                ..base
            }) > bytes
        );
        assert!(
            memory(&Largest {
                nonzeros: 20_000_000,
                ..base
            }) > bytes
        );
        assert_eq!(
            memory(&Largest { columns: 1, ..base }),
            BESIDE + 48_000_000 + 664_000_000
        );
        assert_eq!(
            memory(&Largest {
                rows: u64::MAX / 100,
                columns: u64::MAX,
                ..base
            }),
            u64::MAX
        );
    }
}
