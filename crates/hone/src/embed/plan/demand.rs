//! [`Demand`]: how many bytes each stage of a run takes, from the sizes of what it computes.
//!
//! Figures are upper bounds, of one process if several share rows. The factors of a rare motif are kept for the nodes that it
//! touches, whose number is known once motifs are counted.

use super::Files;
use crate::config::{Auto, Combine, Config, Form, Model, Output};
use crate::dense::{gram_memory, lane_rows};
use crate::embed::attributes::UserAttributes;
use crate::embed::context::Context;
use crate::embed::{steps, weighted::is_of_edges};
use crate::engine::Largest;
use crate::factor::log_window::{MOST_ROWS, landmarks};
use crate::factor::svd::{MOST_IN_PIECES, NARROW, WIDEST, dense_memory};
use crate::factor::{Held, OVERSAMPLING, Shape, Solver, exact};
use crate::graph::Graph;
use crate::motif::{Counts, Motif, Pairs, pairs};
use crate::parallel;
use crate::space::PANEL;
use crate::store::Format;

/// Bytes of an f32 or an index.
const FLOAT: u64 = 4;
/// Blocks as wide as Z that a joint model holds at once.
const JOINT_BLOCKS: u64 = 8;
/// Blocks as wide as X in memory at once while it is computed, or diffused over one motif.
const X_BLOCKS: u64 = 4;
/// More nonzeros than fit into any memory, but few enough to multiply without overflow.
const BEYOND: u64 = 1 << 48;

/// What is to be computed, as far as memory depends on it.
#[derive(Clone, Copy)]
pub(in crate::embed) struct Demand<'a> {
    config: &'a Config,
    pub(super) graph: &'a Graph,
    motifs: &'a [Motif],
    /// Whether only features are made.
    pub(super) only_features: bool,
    n: u64,
    /// 2 if matrices have a transpose.
    directions: u64,
    /// Maximum number of positions of a W_t.
    positions: u64,
    /// Columns of a local embedding, local embeddings per motif, and columns of its log window.
    rank: u64,
    factors: u64,
    window: u64,
    /// Columns that X is made from, of X, and of its diffusions.
    features: u64,
    x: u64,
    diffused: u64,
    /// Bytes that profiles take while they are computed.
    profiles: u64,
    /// Columns of Y, of Z, and of what is next to Z.
    y: u64,
    z: u64,
    beside: u64,
    /// Whether right factors are computed, a model is kept, and factors are kept as they are for it or for a folder.
    right: bool,
    model: bool,
    keeps_factors: bool,
    /// Rows that a process holds, and positions of the graph in these; and whether that are not all.
    rows: u64,
    row_positions: u64,
    shared: bool,
    /// Whether a process that shares rows needs its own rows of factors alone.
    own_factors: bool,
    written: Option<Format>,
    /// What can wait in files.
    pub(super) most: Files,
}

/// Bytes that the stages take on top of the graph and its counts.
#[derive(Default)]
pub(super) struct Needs {
    /// Values of Y; and those of them that the solver computes in place.
    pub(super) parts: u64,
    pub(super) in_place: u64,
    /// To the end: X, row numbers of parts, factors for a model.
    pub(super) fixed: u64,
    /// While X and local embeddings are computed, and while the global embedding is.
    pub(super) local: u64,
    pub(super) global: u64,
    /// At the end, without Y.
    pub(super) finish: u64,
}

impl<'a> Demand<'a> {
    /// The embedding of a graph with some attributes of the user.
    pub(in crate::embed) fn new(
        run: &Context<'a>,
        graph: &'a Graph,
        motifs: &'a [Motif],
        attributes: &UserAttributes,
    ) -> Self {
        let config = run.config;
        let (structure, diffusion) = (&config.structure, &config.features.diffusion);
        let (both_sides, model) = (run.both_sides(graph), run.draft.is_some());
        let counted = structure.enabled.then(|| structure.columns());
        let counted = counted.unwrap_or(0);
        let (features, x) = match config.features.form {
            Form::Components(_) => (counted, config.components_dim() + run.attributes),
            Form::Columns => {
                let columns = counted + attributes.columns();
                (columns, columns)
            }
        };
        let diffused = x * diffusion.steps * motifs.len();
        let plain = diffusion.steps == 0 || diffusion.original;
        let beside = diffused + if plain { x } else { 0 };
        let factors = steps::computed(config).count() * if both_sides { 2 } else { 1 };
        let (rank, window) = (config.local_dim(), config.log_window_dim(graph));
        let local = (rank * factors + window) * motifs.len();
        let (y, beside) = match config.features.combine {
            Combine::Before => (local + beside, 0),
            Combine::After => (local, beside),
        };
        let nnz = graph.pattern().nnz() as u64;
        let reversed = graph.is_directed() && config.reverse.or(0.0) > 0.0;
        // W_t certainly has the rows of the graph if it shares its pattern.
        let weighted = graph.weights().is_some() && config.weights != Auto::Given(false);
        let all_rows = |&m: &Motif| is_of_edges(config, m) && config.delta.of(m) <= 1 && nnz > 0;
        let mut demand = Demand {
            config,
            graph,
            motifs,
            only_features: false,
            n: graph.nodes() as u64,
            directions: if graph.is_directed() { 2 } else { 1 },
            positions: if reversed { 2 * nnz } else { nnz },
            rank: rank as u64,
            factors: factors as u64,
            window: window as u64,
            features: features as u64,
            x: x as u64,
            diffused: diffused as u64,
            y: y as u64,
            profiles: attributes.profile_bytes(graph.nodes(), run.attributes),
            z: run.z_dim() as u64,
            beside: beside as u64,
            right: run.factors || both_sides,
            model,
            keeps_factors: model || run.factors,
            rows: graph.nodes() as u64,
            row_positions: nnz,
            shared: false,
            own_factors: run.checkpoint.is_none() && !weighted && motifs.iter().all(all_rows),
            written: run.written,
            most: Files::Parts,
        };
        let held = demand.solver_holds();
        let factors_wait = run.engine.puts_aside()
            && config.model == Model::Separate
            && diffusion.steps == 0
            && held.in_place
            && !(demand.right || model)
            && held.columns_in_files(demand.rank) < held.columns;
        if factors_wait {
            demand.most = Files::Factors;
        }
        demand
    }

    /// The features of an embedding alone.
    pub(in crate::embed) fn only_features(self) -> Self {
        Demand {
            only_features: true,
            ..self
        }
    }

    /// The same work where so many processes share its rows: if the global stage is done by rows, and nothing is made from all
    /// rows. Wide matrices are decomposed from the Gram matrix of their rows, or by iteration.
    pub(in crate::embed) fn shared_by(self, processes: usize) -> Option<Self> {
        let config = self.config;
        let by_rows = config.model == Model::Separate
            && config.global.output == Output::Global
            && matches!(config.global.solver, Solver::Svd(_))
            && self.y <= self.n.min(WIDEST as u64)
            && !(self.keeps_factors || self.only_features);
        let (n, offsets) = (self.graph.nodes(), self.graph.pattern().offsets());
        let (lane, lanes) = (lane_rows(n), n.div_ceil(lane_rows(n)));
        // Rows are not alike: nodes with many neighbours may come together.
        let positions = |rank: usize| {
            let [first, end] = [rank, rank + 1].map(|rank| n.min(rank * lanes / processes * lane));
            offsets[end] - offsets[first]
        };
        by_rows.then(|| Demand {
            shared: processes > 1,
            rows: n.min(lanes.div_ceil(processes) * lane) as u64,
            row_positions: (0..processes).map(positions).max().unwrap_or(0) as u64,
            ..self
        })
    }

    /// The same with the positions of a W_t of pairs that share a motif: more than edges. Without counts, or where their bound is
    /// more than 16 times what fits, the bound: to count them would take long, and few graphs have so many walks between the
    /// same nodes.
    pub(super) fn with_pairs(self, counts: Option<&Counts>, free: u64) -> Self {
        if !self.is_of_pairs() {
            return self;
        }
        let (pattern, symmetric) = (self.graph.pattern(), self.directions == 1);
        let most = pairs::most_positions(pattern, symmetric, self.motifs);
        let positions = match counts {
            Some(counts) if most / 16 <= free / pairs::PEAK => {
                pairs::positions(counts.pattern(), self.motifs)
            }
            _ => most,
        };
        Demand { positions, ..self }
    }

    /// Nodes that each motif touches, at least one occurrence with each; an edge counts if it has `delta`.
    pub(super) fn touched(&self, counts: &Counts) -> Vec<u64> {
        // A pair may reach delta even if no edge of its nodes does.
        counts.touched(self.motifs, |motif| match self.config.pairs {
            Pairs::Occurrences => 1,
            Pairs::Edges => self.config.delta.of(motif).max(1),
        })
    }

    /// More than the nodes that motifs can touch without touching all.
    pub(super) fn most_touched(&self) -> Vec<u64> {
        vec![self.n.saturating_sub(1); self.motifs.len()]
    }

    /// What the stages need, given the nodes that each motif touches; a lower bound without them.
    pub(super) fn needs(&self, touched: &[u64], files: Files) -> Needs {
        if self.only_features {
            return Needs {
                local: self.features_alone(),
                ..Needs::default()
            };
        }
        if self.config.model != Model::Separate {
            return Needs {
                local: self.joint(),
                finish: self.writing(),
                ..Needs::default()
            };
        }
        let (n, diffusion) = (self.n, &self.config.features.diffusion);
        let (waits, steps) = (files == Files::Factors, diffusion.steps as u64);
        let rows: u64 = touched.iter().sum();
        let numbered: u64 = touched.iter().filter(|&&rows| rows < n).sum();
        // If nodes keep a part of their own attributes, those without the motif have rows too.
        let (diffused, diffused_numbered) = match diffusion.kept() > 0.0 {
            true => (n * self.motifs.len() as u64, 0),
            false => (rows, numbered),
        };
        let local = rows * (self.rank * self.factors + self.window);
        let parts = (local * self.rows).div_ceil(n.max(1)) + diffused * self.x * steps;
        let x = if steps > 0 { n } else { self.rows } * self.x;
        // Z, and Z with what is next to it. Diffused columns are parts, and still there then.
        let copies = if waits { 1 } else { 2 };
        let joined = match (self.beside, self.config.global.output) {
            (0, _) | (_, Output::Local) => 0,
            _ => self.rows * (copies * self.z + self.beside) * FLOAT,
        };
        let mut needs = Needs {
            parts: parts * FLOAT,
            in_place: 0,
            fixed: (numbered * self.parts_of_motif() + diffused_numbered * steps) * FLOAT,
            local: self.local(touched.iter().copied().max().unwrap_or(0), files),
            global: self.global(),
            finish: self.writing(),
        };
        match steps {
            0 => needs.finish = needs.finish.max(joined),
            _ => needs.global = needs.global.max(joined),
        }
        if !waits {
            needs.fixed += x * FLOAT;
            needs.in_place = touched.iter().min().unwrap_or(&0) * self.columns_in_place() * FLOAT;
        }
        if self.model {
            // Factors with a degree and a mark per row, and the vectors.
            needs.fixed += rows * self.factors * (self.rank * FLOAT + 16);
            needs.finish += n * self.config.global.dim as u64 * FLOAT;
        }
        needs
    }

    /// Bytes while X and local embeddings of at most so many rows are computed, in addition to the parts.
    fn local(&self, rows: u64, files: Files) -> u64 {
        let (n, rank, held) = (self.n, self.rank, self.solver_holds());
        // W_t has its own pattern if a motif leaves out some edges or nodes; a filter has a copy of its values.
        let copies = 2 * self.directions + u64::from(held.in_place);
        let matrix = self.entries_of_rows(copies * self.positions) * FLOAT;
        let (right, sides) = if self.right { (held.width, 2) } else { (0, 1) };
        let blocks = right
            + match files {
                Files::Factors => held.columns_in_files(self.rank),
                _ => held.columns,
            };
        // Of shared rows: a share of all blocks, one gathered panel, and whole factors unless each process keeps its own rows.
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
        let images = match (self.model, self.directions) {
            (false, _) => 0,
            (true, 1) => (4 * n * rank + self.positions + 2 * n) * FLOAT,
            (true, _) => (6 * n * rank + 4 * self.positions + 2 * n) * FLOAT,
        };
        let working = solver.max(images).max(self.log_window(files));
        matrix
            .saturating_add(working)
            .max(self.making_x())
            .max(self.pairing())
    }

    /// Bytes while a log window is made: U and two panels for products, then U and the window's factors; degrees,
    /// eigenpairs, rows that stand for all, and the Gram matrix of landmarks.
    fn log_window(&self, files: Files) -> u64 {
        let (n, rank, panel) = (self.n, self.rank, PANEL as u64);
        if self.window == 0 {
            return 0;
        }
        let u = if files == Files::Factors { 0 } else { rank };
        let columns = u + self.window.max(2 * rank.min(panel));
        let values = match self.shared && self.own_factors {
            true => columns * self.rows + panel * n,
            false => columns * n,
        };
        // Processes add up rows in f64.
        let value = if self.shared { 5 * FLOAT } else { FLOAT };
        let landmarks = landmarks(n as usize, self.window as usize);
        (values + n.min(MOST_ROWS as u64) * rank * value / FLOAT) * FLOAT
            + 20 * n
            + 32 * rank.min(n).saturating_pow(2)
            + gram_memory(n as usize, landmarks)
    }

    /// Bytes that X takes while it is computed.
    fn making_x(&self) -> u64 {
        let structure = &self.config.structure;
        let components = matches!(self.config.features.form, Form::Components(_));
        let columns = if components && self.features <= NARROW as u64 {
            // Structure features are read twice, the user's are copied; plus a column of ones, and the result.
            let computed = structure
                .enabled
                .then(|| structure.columns() - structure.held());
            self.features - computed.unwrap_or(0) as u64 + 1 + self.x
        } else {
            X_BLOCKS * self.features
        };
        let reducing = match components && self.features > 0 {
            true => dense_memory(self.n, self.features, self.x),
            false => 0,
        };
        (self.n * columns * FLOAT)
            .saturating_add(reducing)
            .max(self.profiles)
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
            true => rows.div_ceil(lane_rows(self.n as usize) as u64),
            false => 0,
        };
        // No factor is wider than the rank of Y; only Z is padded with zeros.
        let right = y * z.min(rows).min(y) * FLOAT;
        dense_memory(rows, y, z)
            .saturating_add(right + lanes * 8 * y * y)
            .saturating_add(solver.memory(&shape))
            .saturating_add((solver.dense_blocks() + 1) * rows * z * FLOAT)
    }

    /// Bytes while the result is written.
    fn writing(&self) -> u64 {
        let columns = match self.config.global.output {
            Output::Local => self.y,
            Output::Global => self.z,
        };
        self.written(self.beside + columns)
    }

    /// So many columns, or the rows of this process and a piece of those that others send; and the writer's buffers.
    fn written(&self, columns: u64) -> u64 {
        let Some(format) = self.written else { return 0 };
        let received = self.shared.then(|| format.received(self.n, columns));
        (self.rows * FLOAT)
            .saturating_mul(columns)
            .saturating_add(received.unwrap_or(0))
            .saturating_add(format.memory(self.n, columns))
    }

    /// Bytes that the features alone need, and diffusing them.
    fn features_alone(&self) -> u64 {
        let diffusing = if self.diffused > 0 { self.pairing() } else { 0 };
        let columns = 2 * (self.x + self.diffused) + X_BLOCKS * self.x;
        self.making_x()
            .max((self.n * FLOAT * columns).saturating_add(diffusing))
            .max(self.written(self.x + self.diffused))
    }

    /// Bytes of a joint model, with one W_t in memory at a time.
    fn joint(&self) -> u64 {
        let dim = self.config.global.dim as u64;
        let slices = (self.motifs.len() * *steps::computed(self.config).end()) as u64;
        let blocks = JOINT_BLOCKS * self.n * (dim + OVERSAMPLING) * FLOAT;
        let small = 2 * (slices + JOINT_BLOCKS) * dim * dim * 8;
        (self.motif_graph() + blocks + small)
            .saturating_add(self.making_x())
            .saturating_add(self.n * (dim + 2 * self.beside) * FLOAT)
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
            true => held
                .columns_in_files(self.rank)
                .max(self.rank + self.window),
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
        self.motifs.len() as u64 * (self.parts_of_motif() + diffused)
    }

    fn parts_of_motif(&self) -> u64 {
        self.factors + u64::from(self.window > 0)
    }

    /// Positions at which motifs are counted.
    pub(super) fn slots(&self) -> u64 {
        self.directions * self.graph.pattern().nnz() as u64
    }

    fn is_of_pairs(&self) -> bool {
        self.config.pairs == Pairs::Occurrences && !self.motifs.is_empty()
    }

    /// Columns of the last parts, if the solver computes them in place. The log window is that of the first step, and
    /// stays while further steps are computed.
    fn columns_in_place(&self) -> u64 {
        match (self.solver_holds().in_place && !self.right, self.factors) {
            (false, _) => 0,
            (true, 1) => self.rank + self.window,
            (true, _) => self.rank,
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
    fn entries_of_rows(&self, entries: u64) -> u64 {
        if !self.shared || self.directions > 1 || self.graph.nodes() <= MOST_IN_PIECES {
            return entries;
        }
        let svd = matches!(self.config.local.solver, Solver::Svd(_));
        match (self.own_factors, self.config.features.diffusion.steps) {
            (true, 0) if svd => entries / self.slots().max(1) * self.row_positions,
            (true, _) => entries,
            (false, _) => entries.max(7 * self.positions),
        }
    }
}
