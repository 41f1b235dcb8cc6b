//! A graph in the space of a model: the run that [`Model::embed`] is.

mod told;

use super::components::bend_last;
use super::context::Context;
use super::model::{Model, Placing, names, numbers, times, updated};
use super::weighted::weighted;
use super::{Hone, Run, counts, notes};
use crate::config::{Direction, Form, Weights};
use crate::dense::{Block, Columns, Group, Small};
use crate::engine::Cpu;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::memory::Allowance;
use crate::motif::Counts;
use crate::parallel;
use crate::progress::Progress;
use crate::report::{ColumnBlock, Likeness, Start};
use crate::store::Embedding;

/// How a graph is placed in the space of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Like {
    /// Whether only structure columns are wanted, which need no shared nodes.
    pub structure_only: bool,
    /// Bytes that this process may hold, instead of what the machine has free.
    pub memory_limit: Option<u64>,
}

impl Model {
    /// Vectors of a graph in the space of this model, in the graph's node order.
    ///
    /// Nodes are shared by id. Those whose edges to other shared nodes are as they were keep their proximity columns, others
    /// are placed by their edges. Structure columns are those of the graph given, in the units of the fit, less what all
    /// shared nodes gained together. The graph of the fit has its own vectors, bit for bit.
    ///
    /// # Errors
    /// When shared nodes have changed so much, and are so few or so different, that no rotation brings both graphs
    /// together.
    pub fn embed(&self, graph: &Graph, like: &Like, progress: &dyn Progress) -> Result<Run> {
        let mut hone = Hone::new(self.facts().config.clone())?;
        hone.memory_limit = like.memory_limit.or(hone.memory_limit);
        let start = Start::now();
        let mut run = hone.begin(graph, progress);
        self.check(graph, like)?;
        let of_fit = numbers(graph.ids(), self.ids());
        let shared = of_fit.iter().flatten().count();
        let fingerprint = self.facts().fingerprint.clone();
        let same = graph.fingerprint() == fingerprint;
        let (new, kept) = (graph.nodes() - shared, if same { shared } else { 0 });
        run.report.like = Some(Likeness {
            model: None,
            structure_only: like.structure_only,
            fingerprint,
            same,
            shared,
            new,
            kept,
            views: Vec::new(),
            drift: Vec::new(),
        });
        let vectors =
            if same { self.of_fit(like.structure_only) } else { self.placed(&mut run, graph, like, &of_fit)? };
        self.describe(&mut run, like);
        run.report.work = start.work();
        let embedding = Embedding::with_columns(graph.ids().clone(), vectors, run.report.columns.clone());
        Ok(Run { embedding, report: run.report })
    }

    /// Refuses what cannot be placed.
    fn check(&self, graph: &Graph, like: &Like) -> Result<()> {
        if like.structure_only && self.structure.is_none() {
            return Err(Error::config(
                "structure-only",
                "the model has no structure columns; fit one with the preset hone",
            ));
        }
        let of_arcs = self.facts().graph.directed;
        if graph.is_directed() != of_arcs && self.facts().config.direction != Direction::Ignore {
            let message = match of_arcs {
                true => {
                    "the model is of a directed graph, this one is undirected; read it with directed = true, or fit the \
                         model with direction = \"ignore\""
                }
                false => {
                    "the model is of an undirected graph, this one is directed; read it without directions, or fit the \
                          model with direction = \"ignore\""
                }
            };
            return Err(Error::config("direction", message));
        }
        let weighted = self.facts().graph.weighted;
        let use_weights = self.facts().config.weights != Weights::Ignored && !like.structure_only;
        if use_weights && graph.weights().is_some() != weighted {
            let message = match weighted {
                true => "the graph of the model has edge weights, this one was read without; read them too",
                false => "the graph of the model has no edge weights, this one was read with them; read it without",
            };
            return Err(Error::config("weights", message));
        }
        Ok(())
    }

    /// The vectors of the fit.
    fn of_fit(&self, structure_only: bool) -> Block {
        let first = if structure_only { self.z_columns() } else { 0 };
        self.vectors().columns(first..self.vectors().cols())
    }

    fn placed(&self, run: &mut Context, graph: &Graph, like: &Like, of_fit: &[Option<u32>]) -> Result<Block> {
        let graph = &*notes::undirected_as_chosen(run.config, graph, !like.structure_only);
        let z_cols = if like.structure_only { 0 } else { self.z_columns() };
        let (nodes, x_cols) = (graph.nodes(), self.structure_columns());
        let shared = of_fit.iter().flatten().count();
        self.check_memory(run, graph, (z_cols, x_cols, shared))?;
        let needs_counts = x_cols > 0 || z_cols > 0 && shared > 0;
        let counts = needs_counts.then(|| self.count(run, graph, of_fit)).transpose()?;
        let mut out = Block::zeros(nodes, z_cols + x_cols);
        if let Some(counts) = counts.as_ref().filter(|_| z_cols > 0 && shared > 0) {
            run.time("proximity", |run| self.proximity(run, (graph, counts), of_fit, &mut out))?;
        } else if z_cols > 0 {
            run.note(
                "no node of this graph is in the model: the proximity columns are zero; structure-only = true \
                 leaves them out",
            );
        }
        if let (Some(counts), Some(matrix)) = (&counts, &self.structure) {
            let mut x = run.time("structure", |run| self.structure_of(run, counts, matrix))?;
            let extremes = self.extremes();
            let mut drift = vec![0.0; x.cols()];
            if !like.structure_only {
                drift = self.drift(&x, of_fit);
                drift.last_mut().into_iter().filter(|_| extremes.is_some()).for_each(|last| *last = 0.0);
                run.report.like.iter_mut().for_each(|like| like.drift = drift.clone());
                x.update_rows(|_, row| row.iter_mut().zip(&drift).for_each(|(x, drift)| *x += drift));
            }
            if let Some(size) = extremes {
                self.bend(&mut x, matrix, (size, drift[0]));
            }
            out.update_rows(|i, row| row[z_cols..].copy_from_slice(x.row(i)));
        }
        if is_finite(out.as_slice()) {
            return Ok(out);
        }
        let message = "vectors leave the range of numbers; the model is damaged, or edge weights are extreme";
        Err(Error::Numeric { stage: "placing nodes".into(), message: message.into() })
    }

    /// Motif counts, by what has changed since the fit where its counts are there.
    fn count(&self, run: &mut Context, graph: &Graph, of_fit: &[Option<u32>]) -> Result<Counts> {
        let Some(before) = self.kept.before(graph, of_fit) else { return counts::count(run, graph) };
        let (allowance, progress) = (Allowance::new(run.memory_limit), run.progress);
        match run.time("count", |_| updated(before, graph, allowance, progress)) {
            // Counting again takes less memory.
            Err(Error::Memory { .. }) => counts::count(run, graph),
            updated => updated,
        }
    }

    /// Refuses what does not fit: the result, features, factors that may have to be refined, and rows of new nodes in 64 bits.
    fn check_memory(
        &self,
        run: &Context,
        graph: &Graph,
        (z_cols, x_cols, shared): (usize, usize, usize),
    ) -> Result<()> {
        // Of each view: the motif graph and its normalised values, factors that are refined, rows of new nodes in 64 bits.
        let widest = if z_cols > 0 { self.views.iter().map(|view| view.x.cols()).max().unwrap_or(0) } else { 0 };
        let features = if x_cols > 0 { self.facts().config.structure.held() + 1 } else { 0 };
        let columns = z_cols + 3 * x_cols + features;
        let placed = 6 * graph.nodes() * widest;
        let views = if z_cols > 0 && shared > 0 { self.views.len() } else { 0 };
        let bytes = 4 * (graph.nodes() * columns + views * placed) + 20 * views * graph.pattern().nnz();
        let bytes = bytes as u64;
        Allowance::new(run.memory_limit).check_work("placing nodes", bytes, "raise the memory limit")
    }

    /// Writes the proximity columns.
    fn proximity(
        &self,
        run: &mut Context,
        (graph, counts): (&Graph, &Counts),
        of_fit: &[Option<u32>],
        out: &mut Block,
    ) -> Result<()> {
        run.progress.stage("proximity", self.views.len() as u64);
        let graphs = self.views.iter().map(|view| Ok(weighted((run.config, &Cpu), graph, counts, view.motif)?.graph));
        let graphs = graphs.collect::<Result<Vec<_>>>()?;
        let (mut views, mut facts, names) = (Vec::new(), Vec::new(), names(graph.ids()));
        for (view, motif_graph) in self.views.iter().zip(&graphs) {
            run.progress.check()?;
            let (placing, fitting) = Placing::new(view, motif_graph, (of_fit, &names))?;
            views.push(placing);
            facts.push(fitting);
            run.progress.advance(1);
        }
        let z_cols = self.z_columns();
        let stays = |i: usize| of_fit[i].filter(|_| views.iter().all(|view| view.stays(i as u32)));
        let h = self.h.as_ref().map(|h| Small::from_fn(h.rows(), h.cols(), |i, j| f64::from(h.get(i, j))));
        let power = run.config.local.row_power;
        out.update_rows(|i, row| match stays(i) {
            Some(model) => row[..z_cols].copy_from_slice(&self.vectors().row(model as usize)[..z_cols]),
            None => {
                let y: Vec<f64> = views.iter().flat_map(|view| view.of(i as u32, power)).collect();
                let z = h.as_ref().map_or_else(|| y.clone(), |h| times(&y, h));
                row.iter_mut().zip(z).for_each(|(to, z)| *to = (z * self.scales.z) as f32);
            }
        });
        let kept = parallel::count(of_fit.len(), |i| stays(i).is_some());
        told::refined(run, &facts);
        if self.is_of_arcs() {
            told::moved(run, self.moved(of_fit, out)?);
        }
        told::lost(run, graph, out, z_cols);
        if let Some(like) = &mut run.report.like {
            (like.kept, like.views) = (kept, facts);
        }
        Ok(())
    }

    /// The size of the column of extremes, where there is one.
    fn extremes(&self) -> Option<f64> {
        let Form::Components(components) = self.facts().config.features.form else { return None };
        components.has_extremes(self.structure_columns()).then_some(components.extremes)
    }

    /// Makes the column of extremes from x, the first component over its standard deviation, which all nodes moved by `drift`.
    fn bend(&self, columns: &mut Block, matrix: &Small, (size, drift): (f64, f32)) {
        let last = matrix.cols() - 1;
        // x is the first component times this, the offset aside.
        let largest = (0..matrix.rows() - 1).max_by(|&a, &b| matrix.get(a, 0).abs().total_cmp(&matrix.get(b, 0).abs()));
        let ratio =
            largest.filter(|&k| matrix.get(k, 0) != 0.0).map_or(0.0, |k| matrix.get(k, last) / matrix.get(k, 0));
        let shift = if self.scales.x != 0.0 { (f64::from(drift) * ratio / self.scales.x) as f32 } else { 0.0 };
        columns.update_rows(|_, row| row[last] += shift);
        bend_last(columns, size);
        let scales: Vec<f64> = (0..=last).map(|j| if j == last { self.scales.x } else { 1.0 }).collect();
        columns.scale_columns(&scales);
    }

    /// The structure columns; that of extremes is x still, the first component over its standard deviation.
    fn structure_of(&self, run: &Context, counts: &Counts, matrix: &Small) -> Result<Block> {
        let named = run.config.structure.streamed(counts)?;
        let (rows, width) = (counts.pattern().rows(), named.names.len() + 1);
        if width != matrix.rows() || named.names != self.facts().features {
            let message = "this version makes other features than the model has; fit the model again";
            return Err(Error::config("like", message));
        }
        let mut groups = named.columns.into_groups();
        groups.push(Group::full(Block::from_vec(rows, 1, vec![1.0; rows])));
        let mut x = Columns::new(rows, groups).times(matrix);
        let mut scales = vec![self.scales.x; x.cols()];
        scales.last_mut().into_iter().filter(|_| self.extremes().is_some()).for_each(|last| *last = 1.0);
        x.scale_columns(&scales);
        x.update_rows(|_, row| row.iter_mut().for_each(|value| *value += 0.0));
        Ok(x)
    }

    /// Names and blocks of the columns.
    fn describe(&self, run: &mut Context, like: &Like) {
        let first = if like.structure_only { self.z_columns() } else { 0 };
        run.report.columns = self.facts().columns[first..].to_vec();
        let blocks = self.facts().blocks.iter().filter(|block| block.first >= first);
        run.report.blocks = blocks.map(|block| ColumnBlock { first: block.first - first, ..block.clone() }).collect();
    }
}

/// Whether all values are numbers: the largest, without its sign, has an exponent that is not all ones.
fn is_finite(values: &[f32]) -> bool {
    let largest = |values: &[f32]| values.iter().map(|value| value.abs().to_bits()).fold(0, u32::max);
    let largest = parallel::stretches(values.len(), 1 << 16, |range| largest(&values[range]));
    largest.into_iter().all(|largest| largest < f32::INFINITY.to_bits())
}
