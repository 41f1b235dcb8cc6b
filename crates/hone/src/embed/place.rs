//! A graph in the space of a model: the run that [`Model::embed`] is.

mod counts;
mod refine;
mod rows;
mod structure;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use self::rows::{Comparison, PlacedView, TOGETHER};
use self::structure::{structure_columns, witnesses};
use super::context::Context;
use super::model::{KnownProfiles, Model, Rows, names, numbers};
use super::weighted::{is_of_edges, of_edges, weighted};
use super::{Hone, Run, notes};
use crate::attributes::{self, Attributes, Loaded};
use crate::config::{Auto, Direction};
use crate::dense::panels::pick;
use crate::dense::{Block, Small, rows_times};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::memory::Allowance;
use crate::message::{Message, message, set, setting};
use crate::motif::Counts;
use crate::parallel;
use crate::progress::Progress;
use crate::report::{ColumnBlock, Likeness, Start};
use crate::storage::Pages;
use crate::store::Embedding;

/// How a graph is placed in the space of a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Like<'a> {
    /// Attributes of nodes, for a model that has such: of new nodes, and of others whose attributes have changed. Nodes of the
    /// fit without any keep theirs. See [`Model::read_attributes`].
    pub attributes: Option<&'a Attributes>,
    /// Whether only structure columns are wanted, which need no shared nodes.
    pub structure_only: bool,
    /// Whether only nodes are wanted that the model does not have: the same rows, with motifs counted around them alone.
    pub new_only: bool,
    /// Whether the graph has only what was added to that of the fit: new nodes and their edges. These nodes get the proximity columns
    /// that they have in the whole graph, bit for bit; the other columns take the whole graph, and the result is without them.
    pub added_only: bool,
    /// Bytes that this process may hold, instead of what the machine has free.
    pub memory_limit: Option<u64>,
}

/// Bytes per node that counting around new nodes takes, and those of each thread.
const AROUND: usize = 160 + 8 * crate::motif::Orbit::COUNT;
const AROUND_OF_THREAD: usize = 5;
/// Bytes per slot of edges in triangles, if all edges are.
const IN_TRIANGLES: usize = 14;

impl Model {
    /// Vectors of a graph in the space of this model, in the graph's node order.
    ///
    /// Nodes are shared by id. Those whose edges to other shared nodes are as they were keep their proximity columns, others
    /// are placed by their edges. Structure columns are those of the graph given, in the units of the fit, less what all
    /// shared nodes gained together. The graph of the fit has its own vectors, bit for bit. With [`Like::new_only`] the result has
    /// rows for new nodes alone, with the bits that they have among all.
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
        let likeness = self.likeness(&run, like, &of_fit);
        let same = likeness.same;
        run.report.like = Some(likeness);
        let columns = self.columns_of(like);
        let is_new = |i: &u32| of_fit[*i as usize].is_none();
        let nodes = 0..graph.nodes() as u32;
        let some = like.new_only || like.added_only;
        let new: Option<Vec<u32>> = some.then(|| nodes.filter(is_new).collect());
        let vectors = match &new {
            Some(new) if new.is_empty() => {
                run.note("all nodes of this graph are in the model: no node is new, and the result has no rows");
                Block::zeros(0, columns.len())
            }
            _ if same && !like.added_only && like.attributes.is_none() => {
                self.vectors()?.columns(columns.clone())
            }
            new => {
                let matrices = !like.structure_only;
                let graph = &*notes::undirected_as_chosen(run.config, graph, matrices);
                self.place(&mut run, graph, *like, of_fit, new.as_deref())?
            }
        };
        self.describe(&mut run, &columns);
        run.report.work = start.work();
        let ids = match &new {
            None => graph.ids().clone(),
            Some(new) => graph.ids().some(new),
        };
        let embedding = Embedding::with_columns(ids, vectors, run.report.columns.clone());
        Ok(Run {
            embedding,
            report: run.report,
        })
    }

    /// Reads attributes of the nodes of a graph as those of the fit were read.
    ///
    /// # Errors
    /// As [`attributes::read`].
    pub fn read_attributes(
        &self,
        file: impl AsRef<Path>,
        graph: &Graph,
        memory: Option<u64>,
        progress: &dyn Progress,
    ) -> Result<Loaded> {
        let table = &self.facts().config.attributes.table;
        attributes::read(file, table, graph.ids(), memory, progress)
    }

    /// What can be said before anything is placed.
    fn likeness(&self, run: &Context, like: &Like, of_fit: &[Option<u32>]) -> Likeness {
        let fingerprint = self.facts().fingerprint.clone();
        let same = run.report.graph.fingerprint.as_ref() == Some(&fingerprint);
        let shared = of_fit.iter().flatten().count();
        Likeness {
            model: None,
            structure_only: like.structure_only,
            new_only: like.new_only,
            added_only: like.added_only,
            added: None,
            fingerprint,
            same,
            shared,
            new: of_fit.len() - shared,
            kept: if same { shared } else { 0 },
            views: Vec::new(),
            drift: Vec::new(),
        }
    }

    /// Refuses what cannot be placed.
    fn check(&self, graph: &Graph, like: &Like) -> Result<()> {
        let (facts, directed) = (self.facts(), graph.is_directed());
        let (weighted, was_weighted) = (graph.weights().is_some(), facts.graph.weighted);
        let other_arcs =
            directed != facts.graph.directed && facts.config.direction != Direction::Ignore;
        let use_weights = facts.config.weights != Auto::Given(false) && !like.structure_only;
        let rows = like
            .attributes
            .map_or(graph.nodes(), |own| own.values.rows());
        let of_edges = |motif| is_of_edges(&facts.config, motif);
        let of_motifs = !self.views.iter().all(|view| of_edges(view.motif));
        let refused: [(bool, &str, Message); 10] = [
            (
                rows != graph.nodes(),
                "attributes",
                format!("{rows} rows for {} nodes", graph.nodes()).into(),
            ),
            (
                like.attributes.is_some() && self.profiles.is_none(),
                "attributes",
                "the model was fitted without attributes; fit one with them, or leave them out"
                    .into(),
            ),
            (
                like.structure_only && self.structure.is_none(),
                "structure-only",
                "the model has no structure columns; fit one with the preset hone".into(),
            ),
            (
                like.added_only && like.structure_only,
                "structure-only",
                "motifs around new nodes take the whole graph; give it too".into(),
            ),
            (
                like.added_only && like.attributes.is_some(),
                "attributes",
                "columns of attributes take the whole graph; give it too".into(),
            ),
            (
                like.added_only && of_motifs,
                "added",
                "the model has motif graphs, whose weights take the whole graph; give it too".into(),
            ),
            (
                other_arcs && directed,
                "direction",
                message![
                    "the model is of an undirected graph, but this one is directed; read it without directions, or fit the \
                     model with ",
                    set("direction", "ignore")
                ],
            ),
            (
                other_arcs,
                "direction",
                message![
                    "the model is of a directed graph, but this one is undirected; read it with ",
                    set("directed", true),
                    ", or fit the model with ",
                    set("direction", "ignore")
                ],
            ),
            (
                use_weights && weighted && !was_weighted,
                "weights",
                "the graph of the model has no edge weights, but this one was read with them; read it without".into(),
            ),
            (
                use_weights && !weighted && was_weighted,
                "weights",
                "the graph of the model has edge weights, but this one was read without; read its weights too".into(),
            ),
        ];
        match refused.into_iter().find(|(is, ..)| *is) {
            None => Ok(()),
            Some((_, field, message)) => Err(Error::config(field, message)),
        }
    }

    /// The vectors of new nodes, or of all.
    fn place(
        &self,
        run: &mut Context,
        graph: &Graph,
        like: Like,
        of_fit: Vec<Option<u32>>,
        new: Option<&[u32]>,
    ) -> Result<Block> {
        // How far arcs have moved is measured on shared nodes.
        let few = new.filter(|_| like.added_only || !self.is_of_arcs());
        let all = || (0..graph.nodes() as u32).collect();
        let placement = Placement {
            model: self,
            graph,
            like,
            names: names(graph.ids()),
            of_fit,
            nodes: few.map_or_else(all, <[u32]>::to_vec),
            few: few.is_some(),
        };
        let vectors = placement.vectors(run)?;
        let Some(new) = new.filter(|_| few.is_none()) else {
            return Ok(vectors);
        };
        let rows: Vec<usize> = new.iter().map(|&i| i as usize).collect();
        Ok(pick(&[&vectors], &rows))
    }

    /// The columns that are wanted.
    fn columns_of(&self, like: &Like) -> Range<usize> {
        match (like.structure_only, like.added_only) {
            (true, _) => self.before_structure()..self.vectors.cols(),
            (false, true) => 0..self.z_columns(),
            (false, false) => 0..self.vectors.cols(),
        }
    }

    /// Names and blocks of the columns.
    fn describe(&self, run: &mut Context, columns: &Range<usize>) {
        run.report.columns = self.facts().columns[columns.clone()].to_vec();
        let blocks = self.facts().blocks.iter();
        let blocks = blocks.filter(|block| columns.contains(&block.first));
        let shifted = |block: &ColumnBlock| ColumnBlock {
            first: block.first - columns.start,
            ..block.clone()
        };
        run.report.blocks = blocks.map(shifted).collect();
    }
}

/// A graph that is placed.
struct Placement<'a> {
    model: &'a Model,
    graph: &'a Graph,
    like: Like<'a>,
    /// The number of each node in the model.
    of_fit: Vec<Option<u32>>,
    /// A number for each id.
    names: Pages<u64>,
    /// The nodes whose rows are made, ascending.
    nodes: Vec<u32>,
    /// Whether these are the new ones alone.
    few: bool,
}

impl Placement<'_> {
    /// Nodes that the model has, with their numbers there.
    fn shared(&self) -> impl Iterator<Item = (u32, u32)> {
        let nodes = (0..).zip(&self.of_fit);
        nodes.filter_map(|(i, model)| Some((i, (*model)?)))
    }

    /// Columns of proximity, and of structure.
    fn columns(&self) -> (usize, usize) {
        let z = if self.like.structure_only {
            0
        } else {
            self.model.z_columns()
        };
        let structure = match self.like.added_only {
            true => 0,
            false => self.model.structure_columns(),
        };
        (z, structure)
    }

    /// Columns of attributes.
    fn attribute_columns(&self) -> usize {
        match self.like.structure_only || self.like.added_only {
            true => 0,
            false => self.model.attribute_columns(),
        }
    }

    /// What the other columns of edges alone would take.
    fn note_added(&self, run: &mut Context) -> Result<()> {
        let old = |i: u32| self.of_fit[i as usize].is_some();
        let between = |i: u32| {
            let neighbours = self.graph.neighbors(i).iter();
            let counted = |j: u32| old(j) && (i < j || self.graph.is_directed());
            neighbours.filter(|&&j| counted(j)).count()
        };
        if self.shared().next().is_none() {
            let message = "no node of these edges is in the model; give edges between new nodes and those of the model";
            return Err(Error::config("added", message));
        }
        let idle: usize = self.shared().map(|(i, _)| between(i)).sum();
        if idle > 0 {
            run.note(format!(
                "edges between nodes of the model are left out ({idle}): they move these nodes, for which it takes the whole graph"
            ));
        }
        let others = self.model.vectors.cols() - self.model.z_columns();
        if others > 0 {
            run.note("these are the proximity columns; the others take the whole graph");
        }
        Ok(())
    }

    /// The vectors of the nodes.
    fn vectors(&self, run: &mut Context) -> Result<Block> {
        let (z_cols, x_cols) = self.columns();
        if self.like.added_only {
            self.note_added(run)?;
        }
        self.check_memory(run, self.nodes.len(), x_cols, self.few)?;
        let witnesses = match x_cols == 0 || self.like.structure_only {
            true => Vec::new(),
            false => witnesses(self.shared().collect(), &self.names),
        };
        let near = z_cols > 0 && self.shared().next().is_some();
        let of_edges = |motif| is_of_edges(run.config, motif);
        let motifs = near && !self.model.views.iter().all(|view| of_edges(view.motif));
        let mut compared = None;
        if near && !motifs {
            compared = Some(run.time("compare", |run| self.compare(run, None))?);
        }
        let mut structure = None;
        if self.few && x_cols > 0 && !motifs && !self.graph.is_directed() {
            let triangles = compared.as_ref().and_then(|views| self.triangles(views));
            let of = triangles.map(|triangles| {
                let of_fit = &self.of_fit;
                move |i: u32| of_fit[i as usize].map_or(0, |model| triangles[model as usize])
            });
            let triangles = of.as_ref().map(|of| of as &(dyn Fn(u32) -> u64 + Sync));
            structure = run.time("structure", |run| {
                self.structure_of_few(run, &witnesses, triangles)
            })?;
        }
        let needs_counts = motifs || x_cols > 0 && structure.is_none();
        let counts = needs_counts.then(|| self.count(run)).transpose()?;
        let of_attributes = self.attribute_columns();
        let mut out = Block::zeros(self.nodes.len(), z_cols + of_attributes + x_cols);
        if of_attributes > 0 {
            run.time("attributes", |run| {
                self.write_profiles(run, z_cols, &mut out)
            })?;
        }
        if near {
            run.time("proximity", |run| {
                let compared = match compared {
                    Some(compared) => compared,
                    None => self.compare(run, counts.as_ref())?,
                };
                self.proximity(run, &compared, &mut out)
            })?;
        } else if z_cols > 0 {
            run.note(message![
                "no node of this graph is in the model: the proximity columns are zero; ",
                set("structure-only", true),
                " leaves them out"
            ]);
        }
        if let (None, Some(counts), true) = (&structure, &counts, x_cols > 0) {
            let columns = run.time("structure", |run| {
                structure_columns(self.model, run.config.structure.streamed(counts)?)
            })?;
            structure = Some(Rows::from(Cow::Owned(columns)));
        }
        if let Some(columns) = structure {
            self.write_structure(run, columns, &witnesses, &mut out)?;
        }
        finite(out)
    }

    /// Refuses what does not fit: the result, features, factors that may have to be refined, and rows of new nodes in 64 bits.
    fn check_memory(&self, run: &Context, rows: usize, x_cols: usize, few: bool) -> Result<()> {
        let (z_cols, _) = self.columns();
        let views: &[_] = if z_cols > 0 { &self.model.views } else { &[] };
        let widest = views.iter().map(|view| view.x.cols()).max().unwrap_or(0);
        let views = if self.shared().next().is_some() {
            views.len()
        } else {
            0
        };
        let features = match x_cols {
            0 => 0,
            _ => self.model.facts().config.structure.held() + 1,
        };
        let (nodes, slots) = (self.graph.nodes(), self.graph.pattern().nnz());
        let columns = z_cols + 3 * x_cols + features;
        // Of each view: the motif graph and its normalised values, factors that are refined, rows of new nodes in 64 bits.
        let placed = 4 * rows * (columns + 6 * views * widest) + 20 * views * slots;
        let around = (AROUND + AROUND_OF_THREAD * rayon::current_num_threads()) * nodes
            + IN_TRIANGLES * slots;
        let of_attributes = match self.attribute_columns() {
            0 => 0,
            columns => 24 * nodes * columns + 12 * slots,
        };
        let bytes = placed + of_attributes + if few { around } else { 0 };
        let allowance = Allowance::new(run.memory_limit);
        let remedy = message!["raise ", setting("memory_limit")];
        allowance.check_work("placing nodes", bytes as u64, remedy)
    }

    /// Writes the columns of attributes from one on: those of all nodes of the graph have a part in them.
    fn write_profiles(&self, run: &mut Context, first: usize, out: &mut Block) -> Result<()> {
        let Some(KnownProfiles { profiles, rows }) = &self.model.profiles else {
            return Ok(());
        };
        let fit = rows.whole()?;
        let given = self.like.attributes;
        match given.map_or(0, |own| profiles.unknown(own)) {
            0 => {}
            1 => run.note("attributes: 1 column is not in the model and has no effect"),
            many => run.note(format!(
                "attributes: {many} columns are not in the model and have no effect"
            )),
        }
        let rows_given = given.map(|own| profiles.rows(own));
        let is_given = |i: usize| given.is_some_and(|own| !own.values.pattern().row(i).is_empty());
        let mut rows = Block::zeros(self.of_fit.len(), profiles.cols());
        rows.update_rows(|i, row| match (&rows_given, self.of_fit[i]) {
            (Some(given), _) if is_given(i) => row.copy_from_slice(given.row(i)),
            (_, Some(model)) => row.copy_from_slice(fit.row(model as usize)),
            _ => {}
        });
        let without = |i: usize| self.of_fit[i].is_none() && !is_given(i);
        match parallel::count(self.of_fit.len(), without) {
            0 => {}
            1 => run.note(
                "attributes: 1 new node has none: its columns are those of the nodes around it",
            ),
            many => run.note(format!(
                "attributes: {many} new nodes have none: their columns are those of the nodes around them"
            )),
        }
        let mut made = profiles.of(run.config, self.graph, &rows);
        made.scale_columns(&vec![self.model.scales.attributes; made.cols()]);
        let last = first + made.cols();
        out.update_rows(|k, row| {
            row[first..last].copy_from_slice(made.row(self.nodes[k] as usize));
        });
        Ok(())
    }

    /// The motif graph of each view next to that of the fit; counts are there unless motif graphs need none.
    fn compare(&self, run: &Context, counts: Option<&Counts>) -> Result<Vec<Comparison>> {
        let compared = self.model.views.iter().map(|view| {
            run.progress.check()?;
            let graph = match counts {
                Some(counts) => weighted(run.config, self.graph, counts, view.motif)?.graph,
                None => of_edges(run.config, self.graph)?,
            };
            let of_fit = &self.of_fit;
            Ok(match self.like.added_only {
                true => Comparison::added(view, graph, of_fit),
                false => Comparison::new(view, graph, of_fit, &self.names),
            })
        });
        compared.collect()
    }

    /// Triangles of the nodes of the fit, if those that are not next to a new node have as many now.
    fn triangles(&self, compared: &[Comparison]) -> Option<&[u64]> {
        let slots = self.graph.pattern().nnz();
        let as_before = |compared: &Comparison| compared.is_as_before(slots, &self.of_fit);
        let same = !compared.is_empty() && compared.iter().all(as_before);
        self.model.triangles.as_deref().filter(|_| same)
    }

    /// Writes the proximity columns.
    fn proximity(&self, run: &mut Context, compared: &[Comparison], out: &mut Block) -> Result<()> {
        let views = &self.model.views;
        run.progress.stage("placing nodes", views.len() as u64);
        let (mut placed, mut facts) = (Vec::new(), Vec::new());
        for (view, compared) in views.iter().zip(compared) {
            run.progress.check()?;
            if compared.any_changed() {
                self.check_memory(run, self.of_fit.len(), 0, false)?;
            }
            let (view, fitting) = PlacedView::new(view, compared, self.few)?;
            placed.push(view);
            facts.push(fitting);
            run.progress.advance(1);
        }
        let all_stay = |i: u32| placed.iter().all(|view| view.stays(i));
        let stays = |i: u32| self.of_fit[i as usize].filter(|_| all_stay(i));
        self.write_proximity(run.config.local.row_power, &placed, stays, out)?;
        let kept = parallel::count(self.of_fit.len(), |i| stays(i as u32).is_some());
        notes::refined(run, &facts);
        if self.model.is_of_arcs() && !self.like.added_only {
            notes::moved(run, self.moved(out)?);
        }
        notes::without_place(run, self.graph, (out, &self.nodes), self.columns().0);
        if let Some(like) = &mut run.report.like {
            (like.kept, like.views) = (kept, facts);
        }
        Ok(())
    }

    /// The proximity columns of the fit for nodes that stay, those of the views for others; rows are shortened by a power of
    /// their length.
    fn write_proximity(
        &self,
        power: f64,
        views: &[PlacedView],
        stays: impl Fn(u32) -> Option<u32> + Sync,
        out: &mut Block,
    ) -> Result<()> {
        let (z_cols, cols) = (self.columns().0, out.cols());
        let of_block =
            |h: &Block| Small::from_fn(h.rows(), h.cols(), |i, j| f64::from(h.get(i, j)));
        let h = self.model.h.as_ref().map(of_block);
        // New nodes have no vectors of the fit.
        let vectors = (!self.few).then(|| self.model.vectors()).transpose()?;
        let of_fit = |i: u32| stays(i).zip(vectors.as_ref());
        parallel::for_chunks(out.as_mut_slice(), TOGETHER * cols, &|batch, rows| {
            let (mut nodes, mut placed) = (Vec::new(), Vec::new());
            let wanted = &self.nodes[batch * TOGETHER..];
            for (row, &node) in rows.chunks_exact_mut(cols).zip(wanted) {
                match of_fit(node) {
                    Some((model, vectors)) => {
                        row[..z_cols].copy_from_slice(&vectors.row(model as usize)[..z_cols]);
                    }
                    None => {
                        nodes.push(node);
                        placed.push(row);
                    }
                }
            }
            let mut z = side_by_side(views, &nodes, power);
            if let Some(h) = &h {
                z = rows_times(&z, h);
            }
            let width = z.len() / nodes.len().max(1);
            for (row, z) in placed.into_iter().zip(z.chunks_exact(width.max(1))) {
                let pairs = row.iter_mut().zip(z);
                pairs.for_each(|(to, z)| *to = (z * self.model.scales.z) as f32);
            }
        });
        Ok(())
    }
}

/// Y of some nodes, one row after the other.
fn side_by_side(views: &[PlacedView], nodes: &[u32], power: f64) -> Vec<f64> {
    let part = |view: &PlacedView| (view.of(nodes, power), view.width());
    let parts: Vec<(Vec<f64>, usize)> = views.iter().map(part).collect();
    let row = |k: usize| {
        let parts = parts.iter();
        parts.flat_map(move |(rows, width)| &rows[k * width..][..*width])
    };
    (0..nodes.len()).flat_map(row).copied().collect()
}

/// Vectors of numbers only.
fn finite(vectors: Block) -> Result<Block> {
    let values = vectors.as_slice();
    match parallel::first(values.len(), |i| !values[i].is_finite()) {
        None => Ok(vectors),
        Some(_) => Err(overflow("vectors")),
    }
}

fn overflow(what: &str) -> Error {
    let message = format!(
        "the {what} overflow: numbers of the model, or edge weights, are far too large or too small; save the model again, or \
         scale the weights"
    );
    Error::Numeric {
        stage: "placing nodes".into(),
        message: message.into(),
    }
}
