//! [`Demand`]: how many bytes each stage of a run takes, from the sizes of what it computes.
//!
//! Figures are upper bounds. The factors of a rare motif are kept only for the nodes it touches, whose number is known
//! once motifs are counted. If several processes share rows, figures are those of one process.

use crate::config::{Auto, Combine, Config, Form, Model, Output};
use crate::dense::{gram_memory, lane_rows};
use crate::embed::context::Context;
use crate::embed::{steps, weighted::is_of_edges};
use crate::engine::Largest;
use crate::factor::log_window::{MOST_ROWS, landmarks};
use crate::factor::svd::{MOST_IN_PIECES, NARROW, WIDEST};
use crate::factor::{Held, OVERSAMPLING, Shape, Solver, WORK_BLOCKS, exact};
use crate::graph::Graph;
use crate::motif::{Counts, Motif, Pairs, pairs};
use crate::parallel;
use crate::space::PANEL;
use crate::sparse::Pattern;
use crate::store::Format;

/// Bytes of an f32 or an index.
const FLOAT: u64 = 4;
/// Blocks as wide as Z that a joint model holds at once.
const JOINT_BLOCKS: u64 = 8;
/// Blocks as wide as X in memory at once while it is computed, or diffused over one motif.
const X_BLOCKS: u64 = 4;
/// Columns that a factorisation holds in addition to its block, once its products are done.
const BESIDE: u64 = 8;
/// More nonzeros than fit into any memory, but few enough to multiply without overflow.
const BEYOND: u64 = 1 << 48;

/// What is to be computed, as far as memory depends on it.
#[derive(Clone, Copy)]
pub(in crate::embed) struct Demand<'a> {
    config: &'a Config,
    graph: &'a Graph,
    motifs: &'a [Motif],
    /// Whether only features are made.
    pub(super) only_features: bool,
    /// Number of nodes.
    n: u64,
    /// 2 if matrices have a transpose.
    directions: u64,
    /// Maximum number of positions of a W_t.
    positions: u64,
    /// Columns of a local embedding, and local embeddings per motif: of each step, and of each side of arcs.
    rank: u64,
    factors: u64,
    /// Columns of the log window of each motif; 0 for none.
    window: u64,
    /// Columns that X is made from, columns of X, and of X with its diffusions.
    features: u64,
    x: u64,
    x_diffused: u64,
    /// Columns of Y, of Z, and of what is next to Z.
    y: u64,
    z: u64,
    beside: u64,
    /// Whether right factors are computed, a model is kept.
    right: bool,
    model: bool,
    /// Whether the global stage is done by rows, and nothing is made from all rows: then processes may share them.
    by_rows: bool,
    /// Whether processes do share them, rows that each of them has at most, and positions of the graph in these: rows are
    /// not alike, and nodes with many neighbours may come together.
    shared: bool,
    rows: u64,
    own_positions: u64,
    /// Whether each of them keeps its own rows of all factors.
    own_factors: bool,
    /// The format of the output.
    written: Option<Format>,
    /// Whether the engine can move tall matrices to files while others are worked on, and whether it does: panels of a
    /// factorisation, U while its log window is computed, X and Z.
    can_spill: bool,
    pub(super) spills_factors: bool,
}

/// Bytes that the stages of an embedding take on top of the graph and its counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Values of Y, which are in memory or in files.
    pub(super) parts: u64,
    /// Of these, the last ones, if the solver computes them in place.
    pub(super) in_place: u64,
    /// Memory kept to the end: X, the row numbers of parts, and factors for a model.
    pub(super) fixed: u64,
    /// Temporary memory of X and the local embeddings.
    pub(super) local: u64,
    /// Temporary memory of the global embedding, and its result.
    pub(super) global: u64,
    /// Memory at the end, when Y is freed.
    pub(super) finish: u64,
}

impl<'a> Demand<'a> {
    /// The embedding of a graph with so many attribute columns of the user.
    pub(in crate::embed) fn new(
        run: &Context<'a>,
        graph: &'a Graph,
        motifs: &'a [Motif],
        attributes: usize,
    ) -> Self {
        let (config, structure, diffusion) = (
            run.config,
            &run.config.structure,
            &run.config.features.diffusion,
        );
        let (both_sides, model) = (run.both_sides(graph), run.draft.is_some());
        let counted = if structure.enabled {
            structure.columns()
        } else {
            0
        };
        let features = attributes + counted;
        let x = match config.features.form {
            Form::Components(_) if features > 0 => config.components_dim(),
            _ => features,
        };
        let plain = usize::from(diffusion.steps == 0 || diffusion.original);
        let x_diffused = x * (plain + diffusion.steps * motifs.len());
        let factors = steps::computed(config).count() * if both_sides { 2 } else { 1 };
        let (rank, window) = (config.local_dim(), config.log_window_dim(graph));
        let local = (rank * factors + window) * motifs.len();
        let (y, beside) = match config.features.combine {
            Combine::Before => (local + x_diffused, 0),
            Combine::After => (local, x_diffused),
        };
        let (n, nnz) = (graph.nodes(), graph.pattern().nnz() as u64);
        let reversed = graph.is_directed() && config.reverse.or(0.0) > 0.0;
        // W_t certainly has the rows of the graph if it shares its pattern.
        let weighted = graph.weights().is_some() && config.weights != Auto::Given(false);
        let all_rows = |&m: &Motif| is_of_edges(config, m) && config.delta.of(m) <= 1 && nnz > 0;
        // Wide matrices are decomposed from the Gram matrix of their rows, or by iteration.
        let by_rows = config.model == Model::Separate
            && config.global.output == Output::Global
            && matches!(config.global.solver, Solver::Svd(_))
            && n >= y
            && y <= WIDEST
            && !(model || run.factors);
        Demand {
            config,
            graph,
            motifs,
            only_features: false,
            n: n as u64,
            directions: if graph.is_directed() { 2 } else { 1 },
            positions: if reversed { 2 * nnz } else { nnz },
            rank: rank as u64,
            factors: factors as u64,
            window: window as u64,
            features: features as u64,
            x: x as u64,
            x_diffused: x_diffused as u64,
            y: y as u64,
            z: config.z_columns(config.has_features() || attributes > 0) as u64,
            beside: beside as u64,
            right: run.factors || both_sides,
            model,
            by_rows,
            shared: false,
            rows: n as u64,
            own_positions: nnz,
            own_factors: run.checkpoint.is_none() && !weighted && motifs.iter().all(all_rows),
            written: run.written,
            can_spill: run.engine.puts_aside(),
            spills_factors: false,
        }
    }

    /// The features of an embedding alone.
    pub(in crate::embed) fn only_features(self) -> Self {
        Demand {
            only_features: true,
            by_rows: false,
            ..self
        }
    }

    /// The same work where so many processes share its rows, if they can.
    pub(in crate::embed) fn shared_by(self, processes: usize) -> Option<Self> {
        let (n, offsets) = (self.graph.nodes(), self.graph.pattern().offsets());
        let (lane, lanes) = (lane_rows(n), n.div_ceil(lane_rows(n)));
        let own = |rank: usize| {
            let [first, end] = [rank, rank + 1].map(|rank| n.min(rank * lanes / processes * lane));
            offsets[end] - offsets[first]
        };
        self.by_rows.then(|| Demand {
            shared: processes > 1,
            rows: n.min(lanes.div_ceil(processes) * lane) as u64,
            own_positions: (0..processes).map(own).max().unwrap_or(0) as u64,
            ..self
        })
    }

    /// The same work with everything possible in files; unchanged if nothing can be.
    pub(super) fn tightest(self) -> Self {
        let held = self.solver_holds();
        let spills_factors = self.can_spill
            && self.config.model == Model::Separate
            && self.config.features.diffusion.steps == 0
            && held.in_place
            && !(self.right || self.model)
            && self.tight_columns(&held) < held.columns;
        Demand {
            spills_factors,
            ..self
        }
    }

    /// The same work with as many positions as a W_t can have: more than edges where pairs share a motif.
    pub(super) fn with_most_pairs(self) -> Self {
        let most =
            || pairs::most_positions(self.graph.pattern(), self.directions == 1, self.motifs);
        let positions = if self.is_of_pairs() {
            most()
        } else {
            self.positions
        };
        Demand { positions, ..self }
    }

    /// The same with the positions that there are, if that may be less. Pairs are not counted where their bound is more than
    /// 16 times what fits: it would take long, and few graphs have so many walks between the same nodes.
    pub(super) fn with_pairs_counted(self, counts: &Counts, free: u64) -> Option<Self> {
        let few = self.is_of_pairs() && self.positions / 16 <= free / pairs::PEAK;
        let count = || pairs::positions(counts.pattern(), self.motifs);
        few.then(|| Demand {
            positions: count(),
            ..self
        })
    }

    /// Nodes that each motif touches, at least one occurrence with each; an edge counts if it has `delta`.
    pub(super) fn touched(&self, counts: &Counts) -> Vec<u64> {
        // A pair may reach delta even if no edge of its nodes does.
        let least = |motif: Motif| match self.config.pairs {
            Pairs::Occurrences => 1,
            Pairs::Edges => self.config.delta.of(motif).max(1),
        };
        counts.touched(self.motifs, least)
    }

    /// More than the nodes that motifs can touch without touching all.
    pub(super) fn most_touched(&self) -> Vec<u64> {
        vec![self.n.saturating_sub(1); self.motifs.len()]
    }

    /// What the stages of an embedding need, given the nodes that each motif touches; a lower bound without them.
    pub(super) fn needs(&self, touched: &[u64]) -> Needs {
        if self.only_features {
            return Needs {
                local: self.features(),
                ..Needs::default()
            };
        }
        if self.config.model != Model::Separate {
            let (local, finish) = (self.joint(), self.writing());
            return Needs {
                local,
                finish,
                ..Needs::default()
            };
        }
        let rows: u64 = touched.iter().sum();
        let numbered: u64 = touched.iter().filter(|&&rows| rows < self.n).sum();
        // If nodes keep a part of their own attributes, those without the motif have rows too.
        let diffusion = &self.config.features.diffusion;
        let (diffused_rows, diffused_numbered) = match diffusion.kept() > 0.0 {
            true => (self.n * self.motifs.len() as u64, 0),
            false => (rows, numbered),
        };
        let steps = diffusion.steps as u64;
        let views = u64::from(self.window > 0);
        let parts =
            (rows * (self.rank * self.factors + self.window) * self.rows).div_ceil(self.n.max(1));
        let x = match (self.spills_factors, steps) {
            (true, _) => 0,
            (false, 0) => self.rows * self.x * FLOAT,
            (false, _) => self.n * self.x * FLOAT,
        };
        // Factors for a model with a degree and a mark per row, and its vectors.
        let model = u64::from(self.model);
        let of_model = model * rows * self.factors * (self.rank * FLOAT + 16);
        let vectors = model * self.n * self.config.global.dim as u64 * FLOAT;
        // Z, and Z with what is next to it. Diffused columns are parts, and still there then.
        let copies = if self.spills_factors { 1 } else { 2 };
        let joined = match (self.beside, self.config.global.output) {
            (0, _) | (_, Output::Local) => 0,
            _ => self.rows * (copies * self.z + self.beside) * FLOAT,
        };
        let (joined, joined_last) = if steps > 0 { (joined, 0) } else { (0, joined) };
        Needs {
            parts: (parts + diffused_rows * self.x * steps) * FLOAT,
            in_place: touched
                .iter()
                .min()
                .map_or(0, |rows| rows * self.columns_in_place() * FLOAT),
            fixed: (numbered * (self.factors + views) + diffused_numbered * steps) * FLOAT
                + x
                + of_model,
            local: self.local(touched.iter().copied().max().unwrap_or(0)),
            global: self.global().max(joined),
            finish: vectors + joined_last.max(self.writing()),
        }
    }

    /// Temporary memory while X and local embeddings of at most so many rows are computed, in addition to the parts.
    fn local(&self, rows: u64) -> u64 {
        let (n, rank, held) = (self.n, self.rank, self.solver_holds());
        // W_t has its own pattern if a motif leaves out some edges or nodes; a filter has a copy of its values.
        let copies = 2 * self.directions + u64::from(held.in_place);
        let matrix = self.own_entries(copies * self.positions) * FLOAT;
        let blocks = if self.spills_factors {
            self.tight_columns(&held)
        } else {
            held.columns
        };
        let blocks = blocks + if self.right { held.width } else { 0 };
        // Of shared rows: a share of all blocks, one gathered panel, and whole factors unless each process keeps its own rows.
        let sides = if self.right { 2 } else { 1 };
        let whole = if self.own_factors { 0 } else { rank * sides };
        let values = match (self.shared, &self.config.local.solver) {
            (true, Solver::Svd(_)) => {
                blocks * self.rows + (held.width.min(PANEL as u64) + whole) * n
            }
            _ => blocks * n,
        };
        // Small motif graphs are decomposed directly.
        let direct = exact::memory(n.min(exact::largest(held.width as usize) as u64));
        let solver = (values * FLOAT)
            .max(direct)
            .saturating_add(self.beside_solver(rows));
        // Factors for a model, their images and two more blocks, and values of the matrix. Each side of arcs has a copy
        // of both factors and its own matrix.
        let (blocks, values) = if self.directions > 1 { (6, 4) } else { (4, 1) };
        let images = (blocks * n * rank + values * self.positions + 2 * n) * FLOAT;
        let images = if self.model { images } else { 0 };
        let working = solver.max(images).max(self.log_window());
        matrix
            .saturating_add(working)
            .max(self.making_x())
            .max(self.pairing())
    }

    /// Bytes while a log window is made: U and two panels for products, then U and the window's factors; degrees,
    /// eigenpairs, rows that stand for all, and the Gram matrix of landmarks.
    fn log_window(&self) -> u64 {
        let (n, rank) = (self.graph.nodes(), self.rank);
        if self.window == 0 {
            return 0;
        }
        let u = if self.spills_factors { 0 } else { rank };
        let columns = u + self.window.max(2 * rank.min(PANEL as u64));
        // Processes add up rows in f64.
        let (values, value) = match (self.shared, self.own_factors) {
            (false, _) => (columns * self.n, FLOAT),
            (true, false) => (columns * self.n, 5 * FLOAT),
            (true, true) => (columns * self.rows + PANEL as u64 * self.n, 5 * FLOAT),
        };
        values * FLOAT
            + 20 * self.n
            + 32 * rank.min(self.n).saturating_pow(2)
            + n.min(MOST_ROWS) as u64 * rank * value
            + gram_memory(n, landmarks(n, self.window as usize))
    }

    /// Bytes that X takes while it is computed.
    fn making_x(&self) -> u64 {
        let structure = &self.config.structure;
        let components = matches!(self.config.features.form, Form::Components(_));
        let columns = if components && self.features <= NARROW as u64 {
            // Structure features are read twice, the user's are copied; plus a column of ones, and the result.
            let computed = if structure.enabled {
                structure.columns() - structure.held()
            } else {
                0
            };
            self.features - computed as u64 + 1 + self.x
        } else {
            X_BLOCKS * self.features
        };
        let reducing = match components && self.features > 0 {
            true => dense_factors(self.n, self.features, self.x),
            false => 0,
        };
        (self.n * columns * FLOAT).saturating_add(reducing)
    }

    /// Bytes of the global stage.
    fn global(&self) -> u64 {
        let (rows, y, z) = (self.rows, self.y, self.z);
        if self.config.global.output == Output::Local {
            return rows * (y + self.beside) * FLOAT;
        }
        let solver = &self.config.global.solver;
        let shape = Shape {
            rows,
            columns: y,
            bound: false,
            entries: rows * y,
            symmetric: false,
            rank: z,
        };
        // Gram matrices of the lanes of a process are added in the order of all lanes.
        let lanes = match self.shared {
            true => rows.div_ceil(lane_rows(self.graph.nodes()) as u64),
            false => 0,
        };
        // No factor is wider than the rank of Y; only Z is padded with zeros.
        let right = y * z.min(rows).min(y) * FLOAT;
        dense_factors(rows, y, z)
            .saturating_add(right + lanes * 8 * y * y)
            .saturating_add(solver.memory(&shape))
            .saturating_add((solver.dense_blocks() + 1) * rows * z * FLOAT)
    }

    /// Bytes while the result is written.
    fn writing(&self) -> u64 {
        self.written(
            self.beside
                + match self.config.global.output {
                    Output::Local => self.y,
                    Output::Global => self.z,
                },
        )
    }

    /// So many columns, or the rows of this process and a piece of those that others send; and the writer's buffers.
    fn written(&self, columns: u64) -> u64 {
        let Some(format) = self.written else { return 0 };
        let received = if self.shared {
            format.received(self.n, columns)
        } else {
            0
        };
        (self.rows * FLOAT)
            .saturating_mul(columns)
            .saturating_add(received)
            .saturating_add(format.memory(self.n, columns))
    }

    /// Bytes that the features alone need, and diffusing them.
    fn features(&self) -> u64 {
        let diffused = self.x * (self.config.features.diffusion.steps * self.motifs.len()) as u64;
        let diffusing = if diffused > 0 { self.pairing() } else { 0 };
        let columns = 2 * (self.x + diffused) + X_BLOCKS * self.x;
        self.making_x()
            .max((self.n * FLOAT * columns).saturating_add(diffusing))
            .max(self.written(self.x + diffused))
    }

    /// Bytes of a joint model, with one W_t in memory at a time.
    fn joint(&self) -> u64 {
        let dim = self.config.global.dim as u64;
        let slices = (self.motifs.len() * *steps::computed(self.config).end()) as u64;
        let blocks = JOINT_BLOCKS * self.n * (dim + OVERSAMPLING) * FLOAT;
        let small = 2 * (slices + JOINT_BLOCKS) * dim * dim * 8;
        (self.motif_graph() + blocks + small)
            .saturating_add(self.making_x())
            .saturating_add(self.n * (dim + 2 * self.x_diffused) * FLOAT)
    }

    /// Whether a joint model may keep every W_t, which saves rebuilding them for every visit: in half of what is free.
    pub(in crate::embed) fn holds_slices(&self, free: u64) -> bool {
        let slices = self.motifs.len() as u64 * self.motif_graph();
        self.joint().saturating_add(slices) <= free / 2
    }

    /// Maximum bytes of one W_t: a column index and a value each.
    fn motif_graph(&self) -> u64 {
        (self.positions * 2 * FLOAT * self.directions).max(self.pairing())
    }

    /// Bytes while the W_t of pairs is built.
    fn pairing(&self) -> u64 {
        if !self.is_of_pairs() {
            return 0;
        }
        let scratch = pairs::SCRATCH * self.n * rayon::current_num_threads() as u64;
        self.positions
            .saturating_mul(pairs::PEAK)
            .saturating_add(scratch)
    }

    /// The largest local factorisation, for an engine to plan with.
    pub(in crate::embed) fn largest(&self) -> Largest {
        let held = self.solver_holds();
        // Changing wide blocks may need a second one, and right factors are one more.
        let columns = held.columns + held.width;
        let least_columns = match held.in_place && !self.right {
            true => self.tight_columns(&held).max(self.rank + self.window),
            false => columns,
        };
        Largest {
            rows: self.n,
            nonzeros: self.directions * self.positions,
            columns,
            least_columns,
        }
    }

    /// Number of parts of Y.
    pub(super) fn parts(&self) -> u64 {
        let diffused = self.config.features.diffusion.steps as u64;
        self.motifs.len() as u64 * (self.factors + u64::from(self.window > 0) + diffused)
    }

    /// Positions at which motifs are counted.
    pub(super) fn slots(&self) -> u64 {
        self.directions * self.graph.pattern().nnz() as u64
    }

    /// Whether edges are arcs.
    pub(super) fn is_directed(&self) -> bool {
        self.graph.is_directed()
    }

    /// The edges.
    pub(super) fn pattern(&self) -> &Pattern {
        self.graph.pattern()
    }

    fn is_of_pairs(&self) -> bool {
        self.config.pairs == Pairs::Occurrences && !self.motifs.is_empty()
    }

    /// Columns of the last parts, if the solver computes them in place. The log window is that of the first step, and
    /// stays while further steps are computed.
    fn columns_in_place(&self) -> u64 {
        let window = if self.factors == 1 { self.window } else { 0 };
        match self.solver_holds().in_place && !self.right && !self.spills_factors {
            true => self.rank + window,
            false => 0,
        }
    }

    /// Upper bounds on a local matrix, for its solver.
    fn shape(&self, rows: u64, entries: u64) -> Shape {
        let last = *steps::computed(self.config).end();
        Shape {
            rows,
            columns: rows,
            bound: true,
            entries,
            symmetric: self.directions == 1 && self.config.matrix().keeps_symmetry(last),
            rank: self.rank,
        }
    }

    /// What a local factorisation holds at once, in addition to [`Self::beside_solver`].
    fn solver_holds(&self) -> Held {
        let shape = self.shape(self.n, self.positions);
        self.config.local.solver.holds(&shape)
    }

    /// Columns that a factorisation holds if its panels are in files: all of them, and some of the last panel once
    /// more, while they are orthonormalised; one panel, its image and the buffers of the product, while they are
    /// multiplied.
    fn tight_columns(&self, held: &Held) -> u64 {
        let panel = PANEL as u64;
        (held.width + BESIDE.max(self.rank % panel)).max(3 * held.width.min(panel))
    }

    /// Bytes that a local factorisation takes in addition to its blocks: entries, or the weights of a network for at most so
    /// many rows.
    fn beside_solver(&self, rows: u64) -> u64 {
        let solver = &self.config.local.solver;
        let entries = match (self.is_of_pairs(), *steps::computed(self.config).end()) {
            _ if !solver.keeps_entries() => self.positions,
            (false, steps) => self.walks(steps),
            (true, 1) => self.positions,
            (true, _) => self.n.saturating_mul(self.n),
        };
        solver.memory(&self.shape(rows.min(solver.most_rows() as u64), entries))
    }

    /// Maximum number of nonzeros of a matrix of up to `steps` steps.
    fn walks(&self, steps: usize) -> u64 {
        let (n, pattern) = (self.graph.nodes(), self.graph.pattern());
        let ends = |x: &[f64], i: usize| pattern.row(i).iter().map(|&j| x[j as usize]).sum::<f64>();
        let longer = |x: Vec<f64>| parallel::collect(n, |i| x[i] + ends(&x, i));
        let all: f64 = (0..steps).fold(vec![1.0; n], |x, _| longer(x)).iter().sum();
        (all as u64).min(self.n.saturating_mul(self.n)).min(BEYOND)
    }

    /// The entries of W_t that a process keeps, if it certainly needs those of its own rows alone. If motifs may leave out rows
    /// they are gathered: 12 bytes for each nonzero, twice, and the weights of all positions.
    fn own_entries(&self, entries: u64) -> u64 {
        if !self.shared || self.directions > 1 || self.graph.nodes() <= MOST_IN_PIECES {
            return entries;
        }
        let svd = matches!(self.config.local.solver, Solver::Svd(_));
        match (self.own_factors, self.config.features.diffusion.steps) {
            (true, 0) if svd => entries / self.slots().max(1) * self.own_positions,
            (true, _) => entries,
            (false, _) => entries.max(7 * self.positions),
        }
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
