//! What each of several processes holds if they share the rows of Y and Z.

use super::work::{Work, attribute_columns};
use crate::config::{Combine, Model, Output};
use crate::dense::lane_rows;
use crate::dense::panels::Own;
use crate::engine::Engine;
use crate::factor::Solver;
use crate::factor::svd::{MOST_IN_PIECES, WIDEST};
use crate::space::PANEL;

/// Bytes per position while weights are gathered: 12 for each nonzero, twice, and the weights of all positions.
const GATHERED: u64 = 28;

impl Work<'_> {
    /// The rows of Y and Z that this process holds: a share if others work with it and the global stage is done by
    /// rows, else all.
    pub(in crate::embed) fn own_rows(&mut self, engine: &dyn Engine) -> Own {
        let (config, nodes) = (self.config, self.graph.nodes());
        let by_rows = config.model == Model::Separate
            && config.global.output == Output::Global
            && matches!(config.global.solver, Solver::Svd(_));
        let (inside, _) = self.joined(self.local_columns());
        // Wide matrices are decomposed from the Gram matrix of their rows, or by iteration.
        let tall = nodes as u64 >= inside && inside <= WIDEST as u64;
        // Factors and models are made from all rows.
        let whole = self.model || self.factors;
        if !by_rows || !tall || whole {
            return Own::all(nodes);
        }
        self.sharing = engine.processes() as u64;
        engine.own(nodes)
    }

    /// The largest share of so many rows that a process holds: whole lanes.
    pub(super) fn share(&self, rows: u64) -> u64 {
        let lanes = self.graph.nodes().div_ceil(lane_rows(self.graph.nodes())) as u64;
        (rows * lanes.div_ceil(self.sharing))
            .div_ceil(lanes.max(1))
            .min(rows)
    }

    /// Bytes of the Gram matrices of all lanes of a process, which are added in the order of all lanes.
    pub(super) fn lane_products(&self, columns: u64) -> u64 {
        let lanes = self.graph.nodes().div_ceil(lane_rows(self.graph.nodes())) as u64;
        if self.sharing > 1 {
            lanes.div_ceil(self.sharing) * 8 * columns * columns
        } else {
            0
        }
    }

    /// Bytes in which several processes gather the nonzero weights of a rare motif.
    pub(super) fn gathering(&self) -> u64 {
        let divided =
            self.sharing > 1 && !self.graph.is_directed() && self.graph.nodes() > MOST_IN_PIECES;
        if divided && !self.own_factors {
            self.positions * GATHERED
        } else {
            0
        }
    }

    /// The same work with rows divided among this many processes, if they share any.
    pub(super) fn shared_by(&self, processes: u64) -> Option<Self> {
        let mut work = *self;
        work.sharing = processes;
        (self.sharing > 1).then_some(work)
    }

    /// The share of the entries of W_t that a process keeps, if each certainly keeps those of its own rows alone.
    pub(super) fn rows_of_matrix(&self, entries: u64) -> u64 {
        let divided =
            self.own_factors && !self.graph.is_directed() && self.graph.nodes() > MOST_IN_PIECES;
        let svd = matches!(self.config.local.solver, Solver::Svd(_))
            && self.config.features.diffusion.steps == 0;
        if divided && svd {
            self.share_of_entries(entries)
        } else {
            entries
        }
    }

    /// The largest share of the entries of the graph that a process holds: those of its rows.
    fn share_of_entries(&self, entries: u64) -> u64 {
        let (pattern, nodes) = (self.graph.pattern(), self.graph.nodes());
        let (length, processes) = (lane_rows(nodes), self.sharing as usize);
        let lanes = nodes.div_ceil(length);
        let end = |rank: usize| pattern.offsets()[(rank * lanes / processes * length).min(nodes)];
        let most = (0..processes)
            .map(|rank| end(rank + 1) - end(rank))
            .max()
            .unwrap_or(0);
        (entries as f64 * most as f64 / pattern.nnz().max(1) as f64).ceil() as u64
    }

    /// Rows of X that a process keeps: its share, if nothing but the result needs them.
    pub(super) fn rows_of_x(&self) -> u64 {
        let (nodes, features) = (self.graph.nodes() as u64, &self.config.features);
        let shared = features.diffusion.steps == 0 && features.combine == Combine::After;
        if shared { self.share(nodes) } else { nodes }
    }

    /// The memory of a local factorisation in columns of all rows: if rows are shared, a share of its blocks, one
    /// gathered panel, and the factors of all rows unless each process keeps its own.
    pub(super) fn block_columns(&self, columns: u64, dim: u64, width: u64) -> u64 {
        if self.sharing == 1 || !matches!(self.config.local.solver, Solver::Svd(_)) {
            return columns;
        }
        let whole = if self.own_factors {
            0
        } else {
            dim * if self.right { 2 } else { 1 }
        };
        self.share(columns) + width.min(PANEL as u64) + whole
    }

    /// Columns of Y, and of what is next to Z, `local` being those of local embeddings.
    pub(super) fn joined(&self, local: u64) -> (u64, u64) {
        let attributes = attribute_columns(self.config, self.own, self.motifs.len()) as u64;
        let before = self.config.features.combine == Combine::Before;
        if before {
            (local + attributes, 0)
        } else {
            (local, attributes)
        }
    }

    /// Columns of all local embeddings.
    pub(super) fn local_columns(&self) -> u64 {
        let each = self.config.local_dim() as u64 * self.kept() as u64 * self.sides;
        (each + self.view()) * self.motifs.len() as u64
    }
}
