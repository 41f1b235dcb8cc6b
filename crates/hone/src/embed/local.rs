//! Local embeddings U_t^(k), one per motif and step (sec. 2.4).

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use super::shelf::Shelf;
use super::{Hone, Part};
use crate::clock::{Work, timed};
use crate::config::{Scale, Weights};
use crate::dense::{Group, Norm, Panels};
use crate::error::{Error, Result};
use crate::factor::{Factors, Task};
use crate::graph::Graph;
use crate::motif::{Counts, Motif, MotifGraph, Pairs, Weighting};
use crate::operator::Operator;
use crate::progress::Progress;
use crate::random::Key;
use crate::report::{LocalFacts, Report};
use crate::store::factors::Writer;

/// The weighted motif graph of a motif, as an operator and on which nodes.
pub(super) struct Weighted {
    pub(super) graph: MotifGraph,
    pub(super) operator: Operator,
}

/// A graph and its motif counts.
#[derive(Clone)]
pub(super) struct Counted<'a> {
    pub(super) graph: &'a Graph,
    pub(super) counts: Arc<Counts>,
}

/// W_t of a motif, made when first asked for: not at all where a checkpoint has what it is for.
pub(super) struct Lazily<'a> {
    hone: &'a Hone,
    graph: &'a Graph,
    /// Given up once W_t is made: with the last motif, the counts are.
    counts: Cell<Option<Arc<Counts>>>,
    pub(super) motif: Motif,
    made: OnceCell<Weighted>,
}

impl Lazily<'_> {
    /// Nodes of the graph.
    pub(super) fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// W_t.
    pub(super) fn get(&self) -> Result<&Weighted> {
        if let Some(w) = self.made.get() {
            return Ok(w);
        }
        let counts = self.counts.take().expect("counts are there until W is made");
        let w = self.hone.weighted(self.graph, &counts, self.motif)?;
        Ok(self.made.get_or_init(|| w))
    }
}

impl Weighted {
    /// Columns of the touched nodes as columns of all nodes.
    pub(super) fn group(&self, columns: impl Into<Panels>) -> Group {
        Group::panels(self.graph.nodes.clone(), columns.into())
    }
}

impl Hone {
    /// W_t of one motif.
    pub(super) fn weighted(&self, graph: &Graph, counts: &Counts, motif: Motif) -> Result<Weighted> {
        let (delta, use_weights) = (self.config.delta.of(motif), self.config.weights != Weights::Ignored);
        let weighting = Weighting { delta, use_weights };
        // Primitives, pattern and values, 4 bytes each per slot.
        let bytes = 12 * graph.pattern().nnz() as u64;
        let w = timed(Work::Weights, bytes, || match self.config.pairs {
            Pairs::Edges => counts.motif_graph(graph, motif, weighting),
            Pairs::Occurrences => counts.pair_graph(graph, motif, weighting.delta),
        })?;
        let operator = Operator::sparse("W", w.matrix.clone(), !graph.is_directed());
        Ok(Weighted { graph: w, operator })
    }

    /// W_t of one motif, for whoever asks first.
    pub(super) fn lazily_weighted<'a>(&'a self, counted: Counted<'a>, motif: Motif) -> Lazily<'a> {
        let counts = Cell::new(Some(counted.counts));
        Lazily { hone: self, graph: counted.graph, counts, motif, made: OnceCell::new() }
    }

    /// The local embeddings of one motif, a step each, computed or found on the shelf.
    pub(super) fn local(
        &self,
        w: &Lazily,
        shelf: &mut Shelf,
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<Vec<Part>> {
        let (mut parts, motif) = (Vec::new(), w.motif);
        for step in self.steps() {
            progress.check()?;
            let shape = (w.nodes(), self.config.local_dim());
            // A checkpoint has no right factors.
            let found = if shelf.factors().is_some() { None } else { shelf.find(motif.name(), step, shape)? };
            let (part, facts) = match found {
                Some((part, Some(facts))) => (part, facts),
                _ => {
                    let w = w.get()?;
                    let (u, facts) = self.local_factor(motif, w, step, shelf.factors(), progress)?;
                    let (name, columns) = (motif.name().to_owned(), Arc::default());
                    let part = Part { name, step, columns, group: w.group(u) };
                    (shelf.keep(part, Some(&facts))?, facts)
                }
            };
            report.local.push(facts);
            parts.push(part);
            progress.advance(1);
        }
        Ok(parts)
    }

    fn local_factor(
        &self,
        motif: Motif,
        w: &Weighted,
        step: usize,
        factors: Option<&mut Writer>,
        progress: &dyn Progress,
    ) -> Result<(Panels, LocalFacts)> {
        let (matrix, solver) = (self.config.matrix(), &self.config.local.solver);
        let (scale, operator) = matrix.scaled_operator_within(&w.operator, w.graph.scale, step, solver.largest())?;
        let stage = || format!("local embedding of motif {motif}, step {step}");
        if scale != 1.0 && !solver.is_scale_free() {
            return Err(out_of_range(scale, w.graph.scale, solver.largest(), stage()));
        }
        let key = Key::new(self.config.seed).with(motif.name(), step as u64);
        let task = Task { rank: self.config.local_dim(), right: factors.is_some(), key, progress };
        let found = self.engine.factor(solver, &operator, &task).and_then(Factors::finite);
        let Factors { mut u, sigma, v, info } = found.map_err(|e| locate(e, "local", &stage()))?;
        let facts = LocalFacts {
            motif: motif.name().to_owned(),
            step,
            formula: operator.formula(),
            nodes: w.graph.matrix.pattern().rows(),
            nonzeros: w.graph.nnz,
            scale,
            below_delta: w.graph.below_delta,
            singular_values: sigma,
            rank: info.rank,
            base: info.base,
            iterations: info.iterations,
            residual: info.residual,
            converged: info.converged,
            loss: info.loss,
        };
        if let Some(factors) = factors {
            u = u.into_block().into();
            let v = v.map(Panels::into_block);
            self.write_local(factors, &facts, w, &u.as_slice()[0], v.as_ref())?;
        }
        self.shape(&mut u, &facts.singular_values);
        Ok((u, facts))
    }

    /// Norm of the columns, weight of the columns, length of the rows.
    fn shape(&self, u: &mut Panels, sigma: &[f64]) {
        let local = &self.config.local;
        u.normalize_columns(local.norm);
        if local.scale == Scale::Sigma {
            let largest = sigma.first().copied().filter(|&largest| largest > 0.0).unwrap_or(1.0);
            u.scale_columns(&sigma.iter().map(|sigma| sigma / largest).collect::<Vec<_>>());
        }
        if local.row_power > 0.0 {
            u.update_rows(|row| shorten(row, local.row_power));
        }
    }
}

/// Adds the stage to an error of a solver, which knows neither stage nor motif.
pub(super) fn locate(error: Error, group: &str, stage: &str) -> Error {
    match error {
        Error::Numeric { stage: inside, message } => Error::Numeric { stage: format!("{stage}, {inside}"), message },
        Error::Config { field, message } => {
            Error::Config { field: format!("{group}.{field}"), message: format!("{message} ({stage})") }
        }
        Error::Memory { stage: inside, need, least, limit, remedy } => {
            Error::Memory { stage: format!("{stage}: {inside}"), need, least, limit, remedy }
        }
        other => other,
    }
}

/// Why a matrix that had to be scaled cannot be factored under a loss or a penalty that depends on the scale.
fn out_of_range(scale: f64, of_weights: f64, largest: f64, stage: String) -> Error {
    let why = if of_weights == 1.0 {
        format!("the norm of this matrix may be beyond 2^±{largest}, where this solver leaves the range of f32")
    } else {
        "edge weights are beyond 2^±40, where counts times weights may leave the range of f32".to_owned()
    };
    let message = format!(
        "{why}; a multiple of it ({scale:e}) would be factored, which has other factors under a penalty or a divergence. \
         Use fewer steps, psi = p, other edge weights, or a solver that does not depend on the scale: svd, or a squared loss \
         with regularization = 0"
    );
    Error::Numeric { stage, message }
}

/// Divides a row by its length to a power.
fn shorten(row: &mut [f32], power: f64) {
    let length = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        let factor = length.powf(-power);
        row.iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
    }
}

/// The sum of the squares of some columns.
pub(super) fn energy(group: &Group) -> f64 {
    group.column_norms(Norm::L2).iter().map(|norm| norm * norm).sum()
}
