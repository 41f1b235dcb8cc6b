//! How much memory each stage of the embedding will take, known once the motifs are counted.
//!
//! `plan` decides what to do about it. The factors of a rare motif are kept only for the nodes it touches, so the
//! touched nodes are counted first: one pass over the edges.

use std::ops::Range;

use super::work::{FLOAT, Work, attribute_columns, x_columns};
use crate::config::{Combine, Form, Model, Output};
use crate::dense::gram_memory;
use crate::engine::{Engine, Largest};
use crate::factor::exact;
use crate::factor::log_window::{MOST_ROWS, landmarks};
use crate::factor::svd::{NARROW, WIDEST};
use crate::factor::{Held, OVERSAMPLING, Shape, WORK_BLOCKS};
use crate::memory;
use crate::motif::{Counts, Delta, Motif, Pairs, pairs};
use crate::parallel;
use crate::space::PANEL;
use crate::sparse::Pattern;

/// Blocks as wide as Z that a joint model holds at once.
const JOINT_BLOCKS: u64 = 8;
/// Blocks as wide as X in memory at once while it is computed, or while it is diffused over one motif.
const X_BLOCKS: u64 = 4;

/// Columns that a factorisation holds in addition to its block, once its products are done.
const BESIDE: u64 = 8;

/// More nonzeros than fit into any memory, but few enough to multiply without overflow.
const BEYOND: u64 = 1 << 48;

/// A bound on pairs of nodes that is more than this many times what fits is taken as their number: counting the pairs
/// would take long, and few graphs have so many walks between the same nodes.
const OVERLAP: u64 = 16;

/// Bytes that the stages need on top of the graph and its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    /// Values of Y, which can be stored elsewhere.
    pub(super) parts: u64,
    /// Memory kept to the end: X, and the row numbers of parts.
    pub(super) fixed: u64,
    /// Temporary memory while local embeddings are computed, in addition to the parts.
    pub(super) local: u64,
    /// Temporary memory of the global stage, and its result.
    pub(super) global: u64,
    /// Memory at the very end, when Y is freed.
    pub(super) finish: u64,
    /// The share of the last parts, if the solver computes them in place.
    pub(super) own: u64,
}

impl Work<'_> {
    /// Nodes that each motif touches. Several processes look at a share of the nodes each, and all call this.
    pub(super) fn touched(&self, engine: &dyn Engine, counts: &Counts) -> Vec<u64> {
        if self.config.model != Model::Separate {
            return Vec::new();
        }
        // A pair may reach delta even if no edge of its nodes does.
        let delta = if self.co_occurrences() {
            &Delta::All(1)
        } else {
            &self.config.delta
        };
        let own = engine.own(self.graph.nodes());
        // An arc touches two nodes, which may belong to two processes.
        if own.is_all() || self.motifs.iter().any(|motif| motif.is_directed()) {
            return touched(counts, &(0..self.graph.nodes()), self.motifs, delta);
        }
        let mut touched = touched(counts, &own.range, self.motifs, delta);
        engine.totals(&mut touched);
        touched
    }

    /// What the stages of an embedding need, given the nodes that each motif touches; a lower bound if motifs are not
    /// counted yet.
    pub(super) fn needs(&self, counted: Option<&[u64]>) -> Needs {
        let (config, n) = (self.config, self.graph.nodes() as u64);
        if config.model != Model::Separate {
            return Needs {
                parts: 0,
                fixed: 0,
                local: self.joint(),
                global: 0,
                finish: self.writing(),
                own: 0,
            };
        }
        let kept = self.kept() as u64;
        let touched = counted.unwrap_or_default();
        let rows: u64 = touched.iter().sum();
        let numbered: u64 = touched.iter().filter(|&&rows| rows < n).sum();
        // If nodes keep a part of their own attributes, those without the motif have rows too.
        let keeps = config.features.diffusion.kept() > 0.0;
        let (diffused_rows, diffused_numbered) = if keeps {
            (n * self.motifs.len() as u64, 0)
        } else {
            (rows, numbered)
        };
        let dim = config.local_dim() as u64;
        let (_, x) = x_columns(config, self.own);
        let diffusions = config.features.diffusion.steps as u64;
        let diffused = x as u64 * diffusions;
        let view = self.view();
        let (rows, numbered, once) = (rows * self.sides, numbered * self.sides, (rows, numbered));
        // Left factors that are kept for a model, with a degree and a mark per row, and its vectors once more.
        let kept_factors = if self.model {
            rows * kept * (dim * FLOAT + 16)
        } else {
            0
        };
        let copied = if self.model {
            n * config.global.dim as u64 * FLOAT
        } else {
            0
        };
        let joining = self.joining(self.local_columns());
        let numbered = numbered * kept + if view > 0 { once.1 } else { 0 };
        // X is in a file while local embeddings are computed, and is read back afterwards.
        let x_bytes = self.rows_of_x() * x as u64 * FLOAT;
        let (x_bytes, x_back) = if self.aside {
            (0, x_bytes)
        } else {
            (x_bytes, 0)
        };
        let finishing = self.finishing();
        let (after_joining, at_the_end) = if diffusions > 0 {
            (finishing, 0)
        } else {
            (0, finishing)
        };
        Needs {
            parts: (self.share(rows * dim * kept + once.0 * view) + diffused_rows * diffused)
                * FLOAT,
            fixed: (numbered + diffused_numbered * diffusions) * FLOAT + x_bytes + kept_factors,
            local: self.local(counted.is_some()),
            global: x_back + joining.max(after_joining),
            finish: x_back + copied + at_the_end.max(self.writing()),
            own: touched
                .iter()
                .min()
                .map_or(0, |rows| rows * self.made_in_place() * FLOAT),
        }
    }

    /// Columns of the last parts, if the solver computes them in place. The log window is that of the first step, and
    /// stays while further steps are computed.
    fn made_in_place(&self) -> u64 {
        let window = if self.kept() == 1 { self.view() } else { 0 };
        if self.solver_holds().in_place && !self.right && !self.aside {
            self.config.local_dim() as u64 + window
        } else {
            0
        }
    }

    /// Temporary memory while local embeddings are computed, in addition to the parts.
    fn local(&self, counted: bool) -> u64 {
        let (n, nonzeros, dim) = (
            self.graph.nodes() as u64,
            self.positions,
            self.config.local_dim() as u64,
        );
        let transposed = if self.graph.is_directed() { 2 } else { 1 };
        // W_t has its own pattern if a motif leaves out some edges or nodes.
        let matrix = self.rows_of_matrix(nonzeros * 2 * transposed) * FLOAT;
        let held = self.solver_holds();
        // The number of rows of its motif graphs is not known before motifs are counted.
        let beside = if !counted && self.bounds_rows() {
            0
        } else {
            self.beside_solver()
        };
        let columns = if self.aside {
            self.tight_columns(&held)
        } else {
            held.columns
        };
        let columns = columns + if self.right { held.width } else { 0 };
        let folded = if held.in_place {
            self.rows_of_matrix(nonzeros) * FLOAT
        } else {
            0
        };
        // Small motif graphs are decomposed directly.
        let whole = exact::memory(n.min(exact::largest(held.width as usize) as u64));
        let blocks = self.block_columns(columns, dim, held.width);
        let solver = (blocks * n * FLOAT).max(whole).saturating_add(beside);
        // Factors for a model, their images and two more blocks, and values of the matrix. Each side of arcs has a copy
        // of both factors and its own matrix.
        let (blocks, values) = if self.sides > 1 { (6, 4) } else { (4, 1) };
        let images = if self.model {
            blocks * n * dim * FLOAT + values * nonzeros * FLOAT + n * 8
        } else {
            0
        };
        let view = self.view();
        let viewing = if view > 0 { self.viewing(dim, view) } else { 0 };
        let factoring = (matrix + folded).saturating_add(solver.max(images).max(viewing));
        factoring
            .max(self.making())
            .max(self.pairing())
            .max(self.gathering())
    }

    /// The largest local factorisation, for an engine to plan with.
    pub(in crate::embed) fn largest(&self) -> Largest {
        let held = self.solver_holds();
        let transposed = if self.graph.is_directed() { 2 } else { 1 };
        Largest {
            rows: self.graph.nodes() as u64,
            nonzeros: transposed * self.positions,
            // Changing wide blocks may need a second one, and right factors are one more.
            columns: held.columns + held.width,
            least_columns: match held.in_place && !self.right {
                true => self
                    .tight_columns(&held)
                    .max(self.config.local_dim() as u64 + self.view()),
                false => held.columns + held.width,
            },
        }
    }

    /// The same work with everything possible in files; unchanged if nothing can be.
    pub(super) fn tightest(&self) -> Self {
        let held = self.solver_holds();
        let separate =
            self.config.model == Model::Separate && self.config.features.diffusion.steps == 0;
        let possible = self.puts_aside
            && separate
            && held.in_place
            && !self.right
            && !self.model
            && !self.factors;
        Work {
            aside: possible && self.tight_columns(&held) < held.columns,
            ..*self
        }
    }

    /// Columns that a factorisation holds if its panels are in files: all of them, and some of the last panel once
    /// more, while they are orthonormalised; one panel, its image and the buffers of the product, while they are
    /// multiplied.
    fn tight_columns(&self, held: &Held) -> u64 {
        let panel = PANEL as u64;
        let last = self.config.local_dim() as u64 % panel;
        (held.width + BESIDE.max(last)).max(3 * held.width.min(panel))
    }

    /// Bytes while a log window is made: U and two panels for products, then U and the window's factors; degrees, eigenpairs, rows
    /// that stand for all, and the Gram matrix of landmarks. Where memory is short U is in a file.
    fn viewing(&self, dim: u64, view: u64) -> u64 {
        let n = self.graph.nodes();
        let u = if self.aside { 0 } else { dim };
        let columns = u + view.max(2 * dim.min(PANEL as u64));
        let columns = if self.sharing > 1 && self.own_factors {
            self.share(columns) + PANEL as u64
        } else {
            columns
        };
        let pairs = dim.min(n as u64).saturating_pow(2);
        // Processes add them up in f64.
        let picked =
            n.min(MOST_ROWS) as u64 * dim * if self.sharing > 1 { 5 * FLOAT } else { FLOAT };
        n as u64 * (columns * FLOAT + 20)
            + 32 * pairs
            + picked
            + gram_memory(n, landmarks(n, view as usize))
    }

    /// Upper bounds on a local matrix, for its solver.
    fn shape(&self, entries: u64) -> Shape {
        let (config, nodes) = (self.config, self.graph.nodes() as u64);
        let rows = nodes.min(config.local.solver.most_rows() as u64);
        let symmetric = !self.graph.is_directed() && config.matrix().keeps_symmetry(self.steps);
        Shape {
            rows,
            columns: rows,
            bound: true,
            entries,
            symmetric,
            rank: config.local_dim() as u64,
        }
    }

    /// What a local factorisation holds at once, in addition to [`Self::beside_solver`].
    fn solver_holds(&self) -> Held {
        let shape = Shape {
            rows: self.graph.nodes() as u64,
            ..self.shape(self.positions)
        };
        self.config.local.solver.holds(&shape)
    }

    /// Bytes that a local factorisation takes in addition to its blocks: entries, or the weights of a network.
    fn beside_solver(&self) -> u64 {
        if !self.config.local.solver.keeps_entries() {
            return self.config.local.solver.memory(&self.shape(self.positions));
        }
        let n = self.graph.nodes() as u64;
        let entries = match (self.co_occurrences(), self.steps) {
            (false, steps) => walks(self.graph.pattern(), steps),
            (true, 1) => self.positions,
            (true, _) => n.saturating_mul(n),
        };
        self.config.local.solver.memory(&self.shape(entries))
    }

    /// The same if it is not part of the [`needs`](Self::needs) of motifs that are not counted yet.
    pub(super) fn beside_solver_at_most(&self) -> u64 {
        if self.config.model == Model::Separate && self.bounds_rows() {
            self.beside_solver()
        } else {
            0
        }
    }

    fn bounds_rows(&self) -> bool {
        self.config.local.solver.most_rows() < usize::MAX
    }

    /// Bytes that X takes while it is computed.
    fn making(&self) -> u64 {
        let (n, (features, x)) = (self.graph.nodes() as u64, x_columns(self.config, self.own));
        let reducing = match self.config.features.form {
            Form::Components(_) if features > 0 => dense_factors(n, features as u64, x as u64),
            _ => 0,
        };
        let columns = match self.config.features.form {
            // Structure features are read twice, the user's are copied; plus a column of ones, and the result.
            Form::Components(_) if features <= NARROW => {
                let structure = &self.config.structure;
                let structure = if structure.enabled {
                    structure.held()
                } else {
                    0
                };
                structure + self.own + 1 + x
            }
            _ => X_BLOCKS as usize * features,
        };
        (n * columns as u64 * FLOAT).saturating_add(reducing)
    }

    /// Number of parts of Y.
    pub(super) fn parts(&self) -> u64 {
        let views = usize::from(self.view() > 0);
        (self.motifs.len()
            * (self.kept() * self.sides as usize + views + self.config.features.diffusion.steps))
            as u64
    }

    /// Bytes of a joint model, with one W_t in memory at a time.
    fn joint(&self) -> u64 {
        let (config, n) = (self.config, self.graph.nodes() as u64);
        let (dim, slices) = (
            config.global.dim as u64,
            (self.motifs.len() * self.steps) as u64,
        );
        let blocks = JOINT_BLOCKS * n * (dim + OVERSAMPLING) * FLOAT;
        let small = 2 * (slices + JOINT_BLOCKS) * dim * dim * 8;
        let attributes = attribute_columns(config, self.own, self.motifs.len()) as u64;
        let x = self
            .making()
            .saturating_add(n * (dim + 2 * attributes) * FLOAT);
        (self.motif_graph() + blocks + small).saturating_add(x)
    }

    /// Maximum bytes of one W_t.
    fn motif_graph(&self) -> u64 {
        let transposed = if self.graph.is_directed() { 2 } else { 1 };
        // A column index and a value each.
        (self.positions * 2 * FLOAT * transposed).max(self.pairing())
    }

    fn co_occurrences(&self) -> bool {
        self.config.pairs == Pairs::Occurrences
    }

    /// Bytes while the W_t of co-occurrences is built.
    pub(super) fn pairing(&self) -> u64 {
        if !self.co_occurrences() {
            return 0;
        }
        let scratch =
            pairs::SCRATCH * self.graph.nodes() as u64 * rayon::current_num_threads() as u64;
        self.positions
            .saturating_mul(pairs::PEAK)
            .saturating_add(scratch)
    }

    /// The same work with as many positions as a W_t can have.
    pub(super) fn bounded(&self) -> Self {
        let symmetric = !self.graph.is_directed();
        let bound = || pairs::most_positions(self.graph.pattern(), symmetric, self.motifs);
        Work {
            positions: if self.co_occurrences() {
                bound()
            } else {
                self.positions
            },
            ..*self
        }
    }

    /// The same work with the actual maximum number of positions of a W_t, if the bound may be too high and counting
    /// them is not much slower than building it.
    pub(super) fn with_pairs_counted(&self, counts: &Counts, limit: Option<u64>) -> Option<Self> {
        let room = limit?.saturating_sub(memory::resident().unwrap_or(0)) / pairs::PEAK;
        let few = self.co_occurrences() && self.positions / OVERLAP <= room;
        few.then(|| Work {
            positions: pairs::positions(counts.pattern(), self.motifs),
            ..*self
        })
    }

    /// Whether a joint model may keep every W_t in memory, which saves rebuilding them for every visit.
    pub(in crate::embed) fn holds_slices(&self, limit: Option<u64>) -> bool {
        limit.is_none_or(|limit| {
            self.slices() <= limit.saturating_sub(memory::resident().unwrap_or(0)) / 2
        })
    }

    /// Bytes of a joint model that keeps every W_t.
    pub(super) fn slices(&self) -> u64 {
        self.joint()
            .saturating_add(self.motifs.len() as u64 * self.motif_graph())
    }

    /// Bytes of the last stage, `local` being the columns of local embeddings.
    fn joining(&self, local: u64) -> u64 {
        let (config, rows) = (self.config, self.share(self.graph.nodes() as u64));
        let (inside, beside) = self.joined(local);
        if config.global.output == Output::Local {
            return rows * (inside + beside) * FLOAT;
        }
        let dim = self.z_columns();
        // No factor is wider than the rank of Y; only Z is padded with zeros.
        let right = inside * dim.min(rows).min(inside) * FLOAT;
        let factors =
            dense_factors(rows, inside, dim).saturating_add(right + self.lane_products(inside));
        let solver = &config.global.solver;
        let shape = Shape {
            rows,
            columns: inside,
            bound: false,
            entries: rows * inside,
            symmetric: false,
            rank: dim,
        };
        let solver = solver
            .memory(&shape)
            .saturating_add(solver.dense_blocks() * rows * dim * FLOAT);
        factors
            .saturating_add(solver)
            .saturating_add(rows * dim * FLOAT)
    }

    /// Bytes at the very end, when Y is freed: Z, and Z with the columns next to it. If these are diffused they are
    /// parts too, and still in memory: then this belongs to the global stage.
    fn finishing(&self) -> u64 {
        let (config, rows) = (self.config, self.share(self.graph.nodes() as u64));
        let attributes = attribute_columns(config, self.own, self.motifs.len()) as u64;
        if config.features.combine == Combine::Before
            || attributes == 0
            || config.global.output == Output::Local
        {
            return 0;
        }
        let copies = if self.aside { 1 } else { 2 };
        rows * (copies * self.z_columns() + attributes) * FLOAT
    }

    /// Bytes that the features alone need.
    pub(super) fn features(&self) -> u64 {
        let (_, x) = x_columns(self.config, self.own);
        let diffused = x * self.config.features.diffusion.steps * self.motifs.len();
        let n = self.graph.nodes() as u64;
        let working = self
            .making()
            .max(n * FLOAT * (2 * (x + diffused) as u64 + X_BLOCKS * x as u64));
        working.max(self.written_bytes(n, (x + diffused) as u64))
    }
}

/// Bytes that the leading factors of a dense matrix take in addition to it: from the Gram matrix of its columns,
/// from that of its rows, or by iteration. The choice depends on the shape alone.
fn dense_factors(rows: u64, columns: u64, dim: u64) -> u64 {
    if columns > rows.max(NARROW as u64) && rows <= WIDEST as u64 {
        gram_memory(columns as usize, rows as usize).saturating_add(2 * rows * columns * FLOAT)
    } else if columns <= WIDEST as u64 {
        gram_memory(rows as usize, columns as usize)
    } else {
        WORK_BLOCKS * (rows + columns) * (dim + OVERSAMPLING) * FLOAT
    }
}

/// Maximum number of nodes that a motif touches; edges with fewer occurrences than `delta` do not count.
pub(super) fn most_touched(counts: &Counts, motifs: &[Motif], delta: &Delta) -> u64 {
    touched(counts, &(0..counts.pattern().rows()), motifs, delta)
        .into_iter()
        .max()
        .unwrap_or(0)
}

/// Maximum number of nonzeros of a matrix of up to `steps` steps.
fn walks(pattern: &Pattern, steps: usize) -> u64 {
    let n = pattern.rows();
    let longer = |x: Vec<f64>| -> Vec<f64> {
        parallel::collect(n, |i| {
            x[i] + pattern.row(i).iter().map(|&j| x[j as usize]).sum::<f64>()
        })
    };
    let ends: f64 = (0..steps).fold(vec![1.0; n], |x, _| longer(x)).iter().sum();
    (ends as u64)
        .min((n as u64).saturating_mul(n as u64))
        .min(BEYOND)
}

/// Nodes that each motif touches, given the edges of some nodes.
fn touched(counts: &Counts, rows: &Range<usize>, motifs: &[Motif], delta: &Delta) -> Vec<u64> {
    counts.touched(rows, motifs, |motif| delta.of(motif).max(1))
}
