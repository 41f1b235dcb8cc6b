//! A graph in the space of a model: the run that [`Model::embed`] is.

mod structure;
mod told;
mod wanted;

use self::wanted::Wanted;
use super::context::Context;
use super::model::{Known, Model, Placing, TOGETHER, names, numbers, updated, witnesses};
use super::weighted::{is_of_edges, of_edges, weighted};
use super::{Hone, Run, counts, notes};
use crate::config::{Auto, Direction};
use crate::dense::{Block, Small, rows_times};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::memory::Allowance;
use crate::motif::{Counts, MotifGraph};
use crate::parallel;
use crate::progress::Progress;
use crate::report::{ColumnBlock, Likeness, Start};
use crate::store::Embedding;

/// How a graph is placed in the space of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Like {
    /// Whether only structure columns are wanted, which need no shared nodes.
    pub structure_only: bool,
    /// Whether only nodes are wanted that the model does not have: the same rows, with motifs counted around them alone.
    pub new_only: bool,
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
        run.report.like = Some(self.likeness(&run, like, &of_fit));
        let wanted = Wanted::of(like.new_only, &of_fit);
        let vectors = self.rows(&mut run, graph, like, (&of_fit, &wanted))?;
        self.describe(&mut run, like);
        run.report.work = start.work();
        let embedding =
            Embedding::with_columns(wanted.ids(graph.ids()), vectors, run.report.columns.clone());
        Ok(Run {
            embedding,
            report: run.report,
        })
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
            fingerprint,
            same,
            shared,
            new: of_fit.len() - shared,
            kept: if same { shared } else { 0 },
            views: Vec::new(),
            drift: Vec::new(),
        }
    }

    /// The vectors of the wanted nodes.
    fn rows(
        &self,
        run: &mut Context,
        graph: &Graph,
        like: &Like,
        (of_fit, wanted): (&[Option<u32>], &Wanted),
    ) -> Result<Block> {
        let same = run.report.like.as_ref().is_some_and(|like| like.same);
        match wanted {
            Wanted::Some(new) if new.is_empty() => Ok(self.none_of(run, like.structure_only)),
            _ if same => self.of_fit(like.structure_only),
            // How far arcs have moved is measured on shared nodes.
            Wanted::Some(_) if self.is_of_arcs() => {
                let all = self.placed(run, graph, like, (of_fit, &Wanted::All(of_fit.len())))?;
                Ok(wanted.of_rows(&all))
            }
            _ => self.placed(run, graph, like, (of_fit, wanted)),
        }
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
                    "the model is of a directed graph, but this one is undirected; read it with directed = true, or fit \
                         the model with direction = \"ignore\""
                }
                false => {
                    "the model is of an undirected graph, but this one is directed; read it without directions, or fit \
                          the model with direction = \"ignore\""
                }
            };
            return Err(Error::config("direction", message));
        }
        let weighted = self.facts().graph.weighted;
        let use_weights = self.facts().config.weights != Auto::Given(false) && !like.structure_only;
        if use_weights && graph.weights().is_some() != weighted {
            let message = match weighted {
                true => {
                    "the graph of the model has edge weights, but this one was read without; read its weights too"
                }
                false => {
                    "the graph of the model has no edge weights, but this one was read with them; read it without"
                }
            };
            return Err(Error::config("weights", message));
        }
        Ok(())
    }

    /// The vectors of the fit.
    fn of_fit(&self, structure_only: bool) -> Result<Block> {
        let vectors = self.vectors()?;
        let first = if structure_only { self.z_columns() } else { 0 };
        Ok(vectors.columns(first..vectors.cols()))
    }

    /// No rows, and why.
    fn none_of(&self, run: &mut Context, structure_only: bool) -> Block {
        run.note(
            "all nodes of this graph are in the model: no node is new, and the result has no rows",
        );
        Block::zeros(
            0,
            self.structure_columns() + if structure_only { 0 } else { self.z_columns() },
        )
    }

    fn placed(
        &self,
        run: &mut Context,
        graph: &Graph,
        like: &Like,
        (of_fit, wanted): (&[Option<u32>], &Wanted),
    ) -> Result<Block> {
        let graph = &*notes::undirected_as_chosen(run.config, graph, !like.structure_only);
        let z_cols = if like.structure_only {
            0
        } else {
            self.z_columns()
        };
        let x_cols = self.structure_columns();
        let shared = of_fit.iter().flatten().count();
        self.check_memory(run, (graph, wanted), (z_cols, x_cols, shared))?;
        let names = names(graph.ids());
        let witnesses = if like.structure_only {
            Vec::new()
        } else {
            witnesses(of_fit, &names)
        };
        let near = z_cols > 0 && shared > 0;
        let motifs = near
            && !self
                .views
                .iter()
                .all(|view| is_of_edges(run.config, view.motif));
        let mut views = Vec::new();
        if near && !motifs {
            views = run.time("compare", |run| {
                self.known(run, (graph, None), (of_fit, &names))
            })?;
        }
        let few = match wanted {
            Wanted::Some(new) if x_cols > 0 && !motifs && !graph.is_directed() => {
                let triangles = self.triangles_of(graph, &views, of_fit);
                let triangles = triangles
                    .as_ref()
                    .map(|of: &_| of as &(dyn Fn(u32) -> u64 + Sync));
                run.time("structure", |run| {
                    self.structure_of_few(run, graph, (new, &witnesses), triangles)
                })?
            }
            _ => None,
        };
        let needs_counts = motifs || x_cols > 0 && few.is_none();
        let counts = needs_counts
            .then(|| self.count(run, graph, of_fit))
            .transpose()?;
        let mut out = Block::zeros(wanted.rows(), z_cols + x_cols);
        if near {
            run.time("proximity", |run| {
                if motifs {
                    views = self.known(run, (graph, counts.as_ref()), (of_fit, &names))?;
                }
                self.proximity(run, (graph, views), (of_fit, wanted), &mut out)
            })?;
        } else if z_cols > 0 {
            told::strangers(run);
        }
        if let Some(x) = self.structure_made(run, few, counts.as_ref())? {
            self.write_structure(run, x, (!like.structure_only, &witnesses, wanted), &mut out)?;
        }
        finite(out)
    }

    /// Motif counts, by what has changed since the fit where its counts are there.
    fn count(&self, run: &mut Context, graph: &Graph, of_fit: &[Option<u32>]) -> Result<Counts> {
        let Some(before) = self.kept.before(graph, of_fit) else {
            return counts::count(run, graph);
        };
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
        (graph, wanted): (&Graph, &Wanted),
        (z_cols, x_cols, shared): (usize, usize, usize),
    ) -> Result<()> {
        // Of each view: the motif graph and its normalised values, factors that are refined, rows of new nodes in 64 bits.
        let widest = if z_cols > 0 {
            self.views
                .iter()
                .map(|view| view.x.cols())
                .max()
                .unwrap_or(0)
        } else {
            0
        };
        let features = if x_cols > 0 {
            self.facts().config.structure.held() + 1
        } else {
            0
        };
        let columns = z_cols + 3 * x_cols + features;
        let placed = 6 * wanted.rows() * widest;
        let views = if z_cols > 0 && shared > 0 {
            self.views.len()
        } else {
            0
        };
        let bytes =
            4 * (wanted.rows() * columns + views * placed) + 20 * views * graph.pattern().nnz();
        let around = if wanted.are_some() {
            (AROUND + AROUND_OF_THREAD * rayon::current_num_threads()) * graph.nodes()
                + IN_TRIANGLES * graph.pattern().nnz()
        } else {
            0
        };
        let bytes = (bytes + around) as u64;
        Allowance::new(run.memory_limit).check_work(
            "placing nodes",
            bytes,
            "raise the memory limit",
        )
    }

    /// The motif graph of each view, and what it has of the view's nodes; counts are there unless motif graphs need none.
    fn known(
        &self,
        run: &Context,
        (graph, counts): (&Graph, Option<&Counts>),
        of_fit: (&[Option<u32>], &[u64]),
    ) -> Result<Vec<(MotifGraph, Known)>> {
        let known = self.views.iter().map(|view| {
            run.progress.check()?;
            let graph = match counts {
                Some(counts) => weighted(run.config, graph, counts, view.motif)?.graph,
                None => of_edges(run.config, graph)?,
            };
            let known = Known::of(view, &graph, of_fit);
            Ok((graph, known))
        });
        known.collect()
    }

    /// Triangles of nodes that are not next to a new one, where they are those of the fit.
    fn triangles_of<'a>(
        &'a self,
        graph: &Graph,
        views: &[(MotifGraph, Known)],
        of_fit: &'a [Option<u32>],
    ) -> Option<impl Fn(u32) -> u64 + Sync + 'a> {
        let triangles = self.triangles.as_ref()?;
        let slots = graph.pattern().nnz();
        let same = !views.is_empty()
            && views
                .iter()
                .all(|(w, known)| known.is_as_before(w, slots, of_fit));
        same.then_some(|i: u32| of_fit[i as usize].map_or(0, |model| triangles[model as usize]))
    }

    /// Writes the proximity columns.
    fn proximity(
        &self,
        run: &mut Context,
        (graph, known): (&Graph, Vec<(MotifGraph, Known)>),
        (of_fit, wanted): (&[Option<u32>], &Wanted),
        out: &mut Block,
    ) -> Result<()> {
        run.progress.stage("placing nodes", self.views.len() as u64);
        let (graphs, known): (Vec<MotifGraph>, Vec<Known>) = known.into_iter().unzip();
        let (mut views, mut facts, z_cols) = (Vec::new(), Vec::new(), self.z_columns());
        for ((view, motif_graph), known) in self.views.iter().zip(&graphs).zip(known) {
            run.progress.check()?;
            if known.any_changed() {
                self.check_memory(
                    run,
                    (graph, &Wanted::All(of_fit.len())),
                    (z_cols, 0, of_fit.len()),
                )?;
            }
            let (placing, fitting) = Placing::new(view, motif_graph, (known, wanted.are_some()))?;
            views.push(placing);
            facts.push(fitting);
            run.progress.advance(1);
        }
        let stays = |i: u32| of_fit[i as usize].filter(|_| views.iter().all(|view| view.stays(i)));
        self.write_proximity(run.config.local.row_power, &views, (stays, wanted), out)?;
        let kept = parallel::count(of_fit.len(), |i| stays(i as u32).is_some());
        told::refined(run, &facts);
        if self.is_of_arcs() {
            told::moved(run, self.moved(of_fit, out)?);
        }
        told::lost(run, graph, (out, wanted), z_cols);
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
        views: &[Placing],
        (stays, wanted): (impl Fn(u32) -> Option<u32> + Sync, &Wanted),
        out: &mut Block,
    ) -> Result<()> {
        let z_cols = self.z_columns();
        let h = self
            .h
            .as_ref()
            .map(|h| Small::from_fn(h.rows(), h.cols(), |i, j| f64::from(h.get(i, j))));
        // New nodes have no vectors of the fit.
        let vectors = if wanted.are_some() {
            None
        } else {
            Some(self.vectors()?)
        };
        let of_fit = |i: u32| stays(i).zip(vectors.as_ref());
        let cols = out.cols();
        parallel::for_chunks(out.as_mut_slice(), TOGETHER * cols, &|batch, rows| {
            let (mut nodes, mut placed) = (Vec::new(), Vec::new());
            for (row, k) in rows.chunks_exact_mut(cols).zip(batch * TOGETHER..) {
                match of_fit(wanted.node(k)) {
                    Some((model, vectors)) => {
                        row[..z_cols].copy_from_slice(&vectors.row(model as usize)[..z_cols]);
                    }
                    None => {
                        nodes.push(wanted.node(k));
                        placed.push(row);
                    }
                }
            }
            let y = side_by_side(views, &nodes, power);
            let z = h.as_ref().map_or_else(|| y.clone(), |h| rows_times(&y, h));
            let width = z.len() / nodes.len().max(1);
            for (row, z) in placed.into_iter().zip(z.chunks_exact(width.max(1))) {
                row.iter_mut()
                    .zip(z)
                    .for_each(|(to, z)| *to = (z * self.scales.z) as f32);
            }
        });
        Ok(())
    }

    /// Names and blocks of the columns.
    fn describe(&self, run: &mut Context, like: &Like) {
        let first = if like.structure_only {
            self.z_columns()
        } else {
            0
        };
        run.report.columns = self.facts().columns[first..].to_vec();
        let blocks = self
            .facts()
            .blocks
            .iter()
            .filter(|block| block.first >= first);
        run.report.blocks = blocks
            .map(|block| ColumnBlock {
                first: block.first - first,
                ..block.clone()
            })
            .collect();
    }
}

/// Y of some nodes, one row after the other.
fn side_by_side(views: &[Placing], nodes: &[u32], power: f64) -> Vec<f64> {
    let parts: Vec<(Vec<f64>, usize)> = views
        .iter()
        .map(|view| (view.of(nodes, power), view.width()))
        .collect();
    let row = |k: usize| {
        parts
            .iter()
            .flat_map(move |(rows, width)| &rows[k * width..][..*width])
            .copied()
    };
    (0..nodes.len()).flat_map(row).collect()
}

/// Vectors of numbers only: the largest value, without its sign, has an exponent that is not all ones.
fn finite(vectors: Block) -> Result<Block> {
    let values = vectors.as_slice();
    let largest = |values: &[f32]| {
        values
            .iter()
            .map(|value| value.abs().to_bits())
            .fold(0, u32::max)
    };
    let largest = parallel::stretches(values.len(), 1 << 16, |range| largest(&values[range]));
    if largest
        .into_iter()
        .all(|largest| largest < f32::INFINITY.to_bits())
    {
        return Ok(vectors);
    }
    let message = "the vectors overflow: numbers of the model, or edge weights, are far too large or too small; save the model again, \
                   or scale the weights";
    Err(Error::Numeric {
        stage: "placing nodes".into(),
        message: message.into(),
    })
}
