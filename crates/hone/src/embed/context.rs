//! [`Context`]: the common state of the stages of a run.
//!
//! A stage is a function of it: it reads the choices, reports progress, and adds to the report.

use std::path::PathBuf;

use super::Hone;
use super::checkpoint::Checkpoint;
use super::model::Draft;
use super::plan::Files;
use super::uncovered::Uncovered;
use crate::attributes::Attributes;
use crate::config::{Combine, Config, Direction, Model};
use crate::dense::panels::Own;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::Solver;
use crate::graph::Graph;
use crate::message::Message;
use crate::parallel;
use crate::progress::Progress;
use crate::report::{GraphFacts, Report, Stage, Start};
use crate::store::factors::Writer;
use crate::store::{Embedding, Format};

/// A shortage of memory that a test asks for.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shortage {
    /// The local embeddings go to files.
    Parts,
    /// Factors are moved to files while others are computed.
    Factors,
    /// Slices of a joint model are made anew whenever they are needed.
    Slices,
}

/// The choices of a run, its progress, and its report so far.
pub(super) struct Context<'a> {
    /// Every choice, checked and resolved.
    pub(super) config: &'a Config,
    /// The share of steps in which walks stay at their node.
    pub(super) laziness: f64,
    /// The engine that does the work.
    pub(super) engine: &'a dyn Engine,
    /// Rows of Y and Z that this process holds.
    pub(super) own: Own,
    /// Attributes given by the caller.
    pub(super) given: Option<&'a Attributes>,
    /// Columns of the result that attributes have for themselves.
    pub(super) attributes: usize,
    /// Whether factors are written, so that right factors are needed; and where, in the process that writes.
    pub(super) factors: bool,
    pub(super) writer: Option<Writer>,
    /// The format in which the vectors will be written, if they will be.
    pub(super) written: Option<Format>,
    /// Memory limit of the process, in bytes.
    pub(super) memory_limit: Option<u64>,
    /// Finished stages of this run and of earlier ones.
    pub(super) checkpoint: Option<Checkpoint>,
    /// Which tall matrices wait in files, and the folder of those that are temporary.
    pub(super) files: Files,
    pub(super) temp_folder: PathBuf,
    /// A shortage of memory to act on, however much there is.
    pub(super) shortage: Option<Shortage>,
    /// Whether a warning says that all columns of Z are zero, so that no other message has to.
    pub(super) zero: bool,
    /// If no motif graph has an entry but there are features: what to say if Z is zero all the same, and what if it is not.
    pub(super) empty: Option<(Message, Vec<Message>)>,
    /// Nodes whose proximity columns are to be filled.
    pub(super) uncovered: Uncovered,
    /// Receives progress, and says whether to stop.
    pub(super) progress: &'a dyn Progress,
    /// What is kept for a model, if one is requested.
    pub(super) draft: Option<Draft>,
    /// What was done so far.
    pub(super) report: Report,
}

impl Hone {
    /// The state at the beginning of a run.
    pub(super) fn begin<'a>(&'a self, graph: &Graph, progress: &'a dyn Progress) -> Context<'a> {
        let folder = self.temp_dir.clone();
        Context {
            config: &self.config,
            laziness: self.config.laziness_on(graph),
            engine: &*self.engine,
            own: Own::all(graph.nodes()),
            given: self.attributes.as_deref(),
            attributes: 0,
            factors: self.factors.is_some(),
            writer: None,
            written: self.written,
            memory_limit: self.memory_limit,
            checkpoint: None,
            files: Files::Nothing,
            temp_folder: folder.unwrap_or_else(std::env::temp_dir),
            shortage: self.shortage,
            zero: false,
            empty: None,
            uncovered: Uncovered::default(),
            progress,
            draft: None,
            report: Report::new(self.engine.name(), &self.config, GraphFacts::of(graph)),
        }
    }
}

impl Context<'_> {
    /// Rows of W_t that this process needs: diffusion, and solvers other than the SVD, read all.
    pub(super) fn rows_of_matrices(&self) -> Own {
        let svd = matches!(self.config.local.solver, Solver::Svd(_));
        match svd && self.config.features.diffusion.steps == 0 {
            true => self.own.clone(),
            false => Own::all(self.own.rows),
        }
    }

    /// The folder of factors that wait while others are computed, if they do.
    pub(super) fn waiting(&self) -> Option<PathBuf> {
        (self.files == Files::Factors).then(|| self.temp_folder.clone())
    }

    /// Does some work as a stage of the report, with its cost.
    pub(super) fn time<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Start::now();
        let result = work(self);
        self.report.stages.push(Stage::since(name, &start));
        result
    }

    /// Adds a note for the reader of the result.
    pub(super) fn note(&mut self, text: impl Into<Message>) {
        self.report.notes.push(text.into());
    }

    /// Whether local embeddings have target factors next to the source factors: if arcs keep their directions, and the
    /// solver has both.
    pub(super) fn both_sides(&self, graph: &Graph) -> bool {
        let Config {
            direction,
            model,
            local,
            ..
        } = self.config;
        graph.is_directed()
            && *direction == Direction::Keep
            && *model == Model::Separate
            && !local.solver.is_code()
    }

    /// Columns of Z.
    pub(super) fn z_dim(&self) -> usize {
        match self.config.features.combine {
            Combine::After => self.config.z_dim() - self.attributes,
            Combine::Before => self.config.z_dim(),
        }
    }

    /// Components of node features next to Z.
    pub(super) fn components(&self) -> usize {
        if self.has_columns_beside() {
            self.config.components_dim()
        } else {
            0
        }
    }

    /// Whether there are columns of features beside those of Z.
    pub(super) fn has_columns_beside(&self) -> bool {
        self.has_attributes() && self.config.features.combine == Combine::After
    }

    /// Refuses vectors that are not finite, in all processes if one of them has some.
    pub(super) fn check_finite(&self, embedding: &Embedding) -> Result<()> {
        let values = embedding.vectors.as_slice();
        let mut wrong = [u64::from(
            parallel::first(values.len(), |i| !values[i].is_finite()).is_some(),
        )];
        if !embedding.own.is_all() {
            self.engine.totals(&mut wrong);
        }
        if wrong == [0] {
            return Ok(());
        }
        let message =
            "the vectors are not finite: a setting or a weight is far too large or too small"
                .into();
        Err(Error::Numeric {
            stage: "the embedding".into(),
            message,
        })
    }

    pub(super) fn has_attributes(&self) -> bool {
        self.config.has_features() || self.given.is_some()
    }
}

/// Adds the stage to an error of a solver, which knows neither stage nor motif.
pub(super) fn locate(mut error: Error, group: &str, at: &str) -> Error {
    match &mut error {
        Error::Numeric { stage, .. } => *stage = format!("{at}, {stage}"),
        Error::Memory { stage, .. } => *stage = format!("{at}: {stage}"),
        Error::Config { field, message } => {
            *field = format!("{group}.{field}");
            message.push(format!(" ({at})"));
        }
        _ => {}
    }
    error
}
