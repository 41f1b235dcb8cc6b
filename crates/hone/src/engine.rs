//! [`Engine`]: where the work of an embedding is done.
//!
//! Counting motifs and factoring matrices take nearly all of the time. An engine does these two, on the threads of this
//! process ([`Cpu`]), on a device or on several machines; it may also compute W_t, structure features and products with
//! Y. Diffusion and joint models are done by this process. Several processes work together by running the same program
//! on the same input: one of them leads, each holds some rows of Y and Z ([`Engine::own`]), and they communicate in the
//! engine's functions.
//!
//! The method, its settings, the memory plan, checkpoints and output are the same for all engines, and so are the
//! bits of an engine whose [`Space`](crate::space::Space) has the arithmetic of the host.
//!
//! To add an engine: implement [`Space`](crate::space::Space) for its tall matrices, let [`Engine::factor`] call
//! [`svd_in`](crate::factor::svd::svd_in) with it, and refuse the solvers that it lacks with [`Engine::lacks`].

mod local;
mod shape;

pub use local::{Local, Request, Window};
pub use shape::Shape;

use std::any::Any;
use std::fmt::Debug;

use crate::communicator::{Communicator, SingleProcess};
use crate::config::{Config, Model};
use crate::dense::panels::Own;
use crate::dense::{Block, Columns, Norm, Panels, Small};
use crate::error::{Error, Result};
use crate::factor::log_window::View;
use crate::factor::{Factors, Solver, Task};
use crate::features::{NamedColumns, Structure};
use crate::graph::Graph;
use crate::memory::Allowance;
use crate::message::{Message, message, set};
use crate::motif::{Counts, Motif, MotifGraph, Sample, Weighting};
use crate::operator::Operator;
use crate::progress::Progress;
use crate::space::Host;

/// A place to run the method. See the [module](self) for how to add one.
pub trait Engine: Debug + Send + Sync {
    /// Its name in reports and messages.
    fn name(&self) -> &str;

    /// Engines with the same arithmetic give the same bits, and can resume each other's checkpoints.
    fn arithmetic(&self) -> &str {
        self.name()
    }

    /// The processes that work together, all of them running the same program on the same input: they divide the reading of
    /// their graph ([`read_divided`](crate::graph::read_divided)), and each writes the rows of the result that it holds.
    fn communicator(&self) -> &dyn Communicator {
        &SingleProcess
    }

    /// Number of processes.
    fn processes(&self) -> usize {
        self.communicator().size()
    }

    /// Whether this process reports, and creates files and puts them in place: exactly one of those that work together
    /// does.
    fn leads(&self) -> bool {
        self.communicator().rank() == 0
    }

    /// Waits for all processes.
    fn meet(&self) {
        self.communicator().gather_bytes(&[]);
    }

    /// Sums of integers over all processes.
    fn totals(&self, counts: &mut [u64]) {
        self.communicator().add_u64(counts);
    }

    /// The rows of a matrix with `rows` rows that this process holds: whole lanes, or all rows if it works alone.
    fn own(&self, rows: usize) -> Own {
        Own::all(rows)
    }

    /// YᵀY, given the rows that this process holds.
    fn gram(&self, y: &Columns) -> Small {
        y.gram()
    }

    /// Lengths of the columns of a matrix, given the rows that this process holds.
    fn lengths(&self, x: &Block, _own: &Own) -> Vec<f64> {
        x.column_norms(Norm::L2)
    }

    /// Motif counts of a graph.
    fn count(&self, graph: &Graph, how: Counting<'_>) -> Result<Counts> {
        how.sample
            .count_motifs(graph, how.motifs, (how.seed, how.allowance), how.progress)
    }

    /// W_t of a motif, from the counts of the graph, where this process needs only some rows of it. All processes call this.
    fn motif_graph(
        &self,
        counts: &Counts,
        graph: &Graph,
        motif: Motif,
        weighting: Weighting,
        _rows: &Own,
    ) -> Result<MotifGraph> {
        counts.motif_graph(graph, motif, weighting)
    }

    /// Structure features, which are read twice.
    fn features(&self, features: &Structure, counts: &Counts) -> Result<NamedColumns> {
        features.streamed(counts)
    }

    /// XᵀX of columns of which every process has all rows.
    fn products(&self, x: &Columns) -> Result<Small> {
        Ok(x.gram())
    }

    /// X·M of such columns, for a small matrix M.
    fn times(&self, x: &Columns, matrix: &Small) -> Result<Block> {
        Ok(x.times(matrix))
    }

    /// Factors a motif matrix, or Y itself ([`Operator::Dense`]).
    fn factor(&self, solver: &Solver, s: &Operator, task: &Task) -> Result<Factors<Panels>>;

    /// The log window of factors in the memory of this process.
    fn window(&self, window: &Window, u: &mut Panels, task: &Task) -> Result<View> {
        window.spanned(&Host, u.as_mut_slice(), task)
    }

    /// Factors a motif matrix and makes its log window, for Y. An engine that keeps them where they were found shapes them too.
    fn local(
        &self,
        solver: &Solver,
        s: &Operator,
        task: &Task,
        request: &Request,
    ) -> Result<Local> {
        self.local_here(solver, s, task, request)
    }

    /// The same with factors in the memory of this process.
    fn local_here(
        &self,
        solver: &Solver,
        s: &Operator,
        task: &Task,
        request: &Request,
    ) -> Result<Local> {
        let mut factors = self.factor(solver, s, task)?.finite()?;
        let window = request
            .window
            .map(|window| self.window(&window, &mut factors.u, task))
            .transpose()?;
        Ok(request.shape.shaped_here(factors, window, task.aside)?.0)
    }

    /// The error that an engine has thrown from a function that cannot return one; other panics are returned.
    fn failure(
        &self,
        thrown: Box<dyn Any + Send>,
    ) -> std::result::Result<Error, Box<dyn Any + Send>> {
        Err(thrown)
    }

    /// Whether the engine has a solver; asked before any work.
    fn has(&self, solver: &Solver) -> bool;

    /// Whether it has the joint models (Tucker, CP).
    fn has_joint_models(&self) -> bool {
        false
    }

    /// Refuses a graph whose largest factorisation does not fit on the engine's device; called before motifs
    /// are counted. The memory of this process is planned elsewhere.
    fn plan(&self, _largest: &Largest) -> Result<()> {
        Ok(())
    }

    /// Whether its space [moves matrices to files](crate::space::Space::put_aside) if memory is short.
    fn puts_aside(&self) -> bool {
        false
    }

    /// Refuses settings that the engine does not support.
    fn check(&self, config: &Config) -> Result<()> {
        if config.model != Model::Separate && !self.has_joint_models() {
            let message = self.missing(config.model.name());
            return Err(Error::config("model", message));
        }
        for (group, solver) in [
            ("local", &config.local.solver),
            ("global", &config.global.solver),
        ] {
            if !self.has(solver) {
                return Err(Error::config(
                    format!("{group}.solver.method"),
                    self.missing(solver.name()),
                ));
            }
        }
        Ok(())
    }

    /// The message that the engine lacks something, and which engine has it.
    fn missing(&self, what: &str) -> Message {
        let name = self.name();
        message![
            format!("{what} is not available on {name}; use svd and "),
            set("model", "separate"),
            format!(", or the engine {CPU}")
        ]
    }

    /// The refusal of a solver that the engine lacks.
    fn lacks(&self, solver: &Solver) -> Error {
        Error::config("solver.method", self.missing(solver.name()))
    }
}

/// The largest factorisation of a local embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Largest {
    /// Rows of tall matrices.
    pub rows: u64,
    /// Nonzeros of the motif matrix, and of its transpose if it is not symmetric.
    pub nonzeros: u64,
    /// Columns of all tall matrices in memory at once.
    pub columns: u64,
    /// The same if matrices that are not in use are [put aside](crate::space::Space::put_aside).
    pub least_columns: u64,
}

/// How motifs are counted.
#[derive(Clone, Copy)]
pub struct Counting<'a> {
    /// What is counted.
    pub motifs: &'a [Motif],
    /// Exactly, or estimated from a sample.
    pub sample: &'a Sample,
    /// The seed of the sample.
    pub seed: u64,
    /// How much memory estimates may take.
    pub allowance: Allowance,
    /// Receives progress, and says whether to stop.
    pub progress: &'a dyn Progress,
}

/// The name of [`Cpu`].
pub(crate) const CPU: &str = "cpu";

/// The threads and the memory of this process; supports all solvers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Engine for Cpu {
    fn name(&self) -> &str {
        CPU
    }

    fn has(&self, _solver: &Solver) -> bool {
        true
    }

    fn puts_aside(&self) -> bool {
        true
    }

    fn has_joint_models(&self) -> bool {
        true
    }

    fn factor(&self, solver: &Solver, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        solver.factor_panels(s, task)
    }
}
