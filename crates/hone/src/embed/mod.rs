//! The algorithm: count → W_t → S_t^(k) → U_t^(k) → Y [+ X] → Z (sec. 2 as a whole).
//!
//! One motif is worked on at a time: its weighted graph W_t is derived from the counts, each step's
//! matrix S_t^(k) stays a formula, and only the factors U_t^(k) are kept. Y is never copied into
//! one piece; Z and H come from its Gram matrix and one more pass. Where Y does not fit, parts of it go
//! to temporary files (`plan`, `shelf`); the bits do not depend on where they are.
//!
//! Cost: O(M (Δ + K T D_l)) for counting and products, O(N D K T D_l) for the global stage; memory
//! O(M + N (K T D_l + D)), less where motifs are rare, since factors are kept only for the nodes a
//! motif touches.

mod attributes;
mod budget;
mod checkpoint;
mod components;
mod encode;
mod features;
mod global;
mod joint;
mod local;
mod notes;
mod part_file;
mod plan;
mod resume;
mod shelf;
mod steps;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{Combine, Config, Model, Steps};
use crate::dense::Group;
use crate::diffuse::Diffusion;
use crate::error::Result;
use crate::features::Named;
use crate::graph::Graph;
use crate::memory;
use crate::motif::{Counts, Motif};
use crate::progress::Progress;
use crate::report::{GraphFacts, Report, Start};
use crate::store::Embedding;
use attributes::X;
use local::Counted;
use shelf::Shelf;

/// The method with its choices made.
///
/// ```
/// use hone::{Config, Hone, Silent, graph};
/// let graph = graph::builtin("karate")?;
/// let run = Hone::new(Config::preset("hone-p")?)?.embed(&graph, &Silent)?;
/// assert_eq!(run.embedding.vectors.rows(), 34);
/// println!("{:?}", run.report.motif_importance());
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Hone {
    config: Config,
    memory_limit: Option<u64>,
    attributes: Option<Named>,
    temp_dir: Option<PathBuf>,
    checkpoint: Option<(PathBuf, bool)>,
}

/// What a run returns.
#[derive(Debug, Clone)]
pub struct Run {
    /// The node vectors, in the graph's node order.
    pub embedding: Embedding,
    /// What was done to get them.
    pub report: Report,
}

/// Some columns of Y and what they stand for: a motif (or attributes) and a step.
struct Part {
    name: String,
    step: usize,
    /// Names of the columns; numbers where there are none.
    columns: Arc<[String]>,
    group: Group,
}

impl Hone {
    /// Checks the configuration.
    pub fn new(config: Config) -> Result<Self> {
        config.check()?;
        let config = config.resolved();
        let free = memory::available().map(|free| free + memory::resident().unwrap_or(0));
        Ok(Hone { config, memory_limit: free, attributes: None, temp_dir: None, checkpoint: None })
    }

    /// Sets how many bytes this process may hold, instead of what the machine has free. What does not fit of Y
    /// goes to temporary files; the result has the same bits.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Sets the folder of temporary files, instead of the system's.
    #[must_use]
    pub fn temp_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temp_dir = Some(folder.into());
        self
    }

    /// Saves finished stages in a folder, which must be empty or new. With `resume` it may also hold a checkpoint of
    /// the same graph, settings, attributes and version: the run goes on from there, to the same bits.
    #[must_use]
    pub fn checkpoint(mut self, folder: impl Into<PathBuf>, resume: bool) -> Self {
        self.checkpoint = Some((folder.into(), resume));
        self
    }

    /// Adds attributes of the user's own, one row a node in the graph's order.
    #[must_use]
    pub fn with_attributes(mut self, attributes: Named) -> Self {
        self.attributes = Some(attributes);
        self
    }

    /// Embeds a graph: one vector a node, in the graph's node order; isolated nodes get zeros where
    /// no attribute says otherwise.
    pub fn embed(&self, graph: &Graph, progress: &dyn Progress) -> Result<Run> {
        let start = Start::now();
        let motifs = self.config.motifs.motifs();
        let mut report = self.start_report(graph);
        let own = self.own_attributes(graph, &mut report, progress)?;
        self.note_no_room(own.columns(), &mut report);
        let graph = &*self.as_chosen(graph, true, &mut report);
        let mut checkpoint = self.begin_checkpoint(graph, &own, progress)?;
        let need = budget::Work { config: &self.config, own: own.columns(), graph, motifs: &motifs };
        self.check_least(&need, checkpoint.as_ref().is_some_and(resume::counted))?;
        let counts = self.counts(graph, checkpoint.as_mut(), &mut report, progress)?;
        let room = self.plan(&need, &counts, &mut report, progress)?;
        let mut shelf = Shelf::new(room, self.temp_folder(), checkpoint);
        let x = report.time("attributes", |report| self.attributes(Some(&counts), &own, report))?;
        drop(own);
        if self.config.model != Model::Separate {
            let sources = joint::Sources { hone: self, graph, counts: &counts, motifs: &motifs };
            let hold = need.holds_slices(self.most_steps(), self.memory_limit);
            let embedding = report.time("joint", |report| self.joint(&sources, hold, x, report, progress))?;
            report.work = start.work();
            return Ok(Run { embedding, report });
        }
        let counted = Counted { graph, counts: &counts };
        let (locals, diffused) =
            report.time("local", |report| self.parts(&counted, &motifs, x, &mut shelf, report, progress))?;
        drop(counts);
        let occur = report.local.iter().map(|facts| (facts.motif.as_str(), facts.nonzeros));
        let absent = notes::absent(occur);
        report.notes.extend(absent);
        self.note_unconverged(&mut report);
        let embedding = report.time("global", |report| self.join(graph, locals, diffused, report, progress))?;
        shelf.check()?;
        report.work = start.work();
        Ok(Run { embedding, report })
    }

    /// Motif counts, exact or estimated.
    fn count(&self, graph: &Graph, report: &mut Report, progress: &dyn Progress) -> Result<Counts> {
        let counts = report.time("count", |_| self.config.sample.count(graph, self.config.seed, progress))?;
        resume::tell_sampled(&counts, report);
        Ok(counts)
    }

    fn start_report(&self, graph: &Graph) -> Report {
        Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config: self.config.clone(),
            input: None,
            graph: GraphFacts::of(graph),
            attributes: None,
            stages: Vec::new(),
            work: Vec::new(),
            sampled: None,
            memory_estimate: 0,
            plan: None,
            local: Vec::new(),
            global: None,
            joint: None,
            proximity: None,
            structure: None,
            automatic_steps: None,
            importance: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn most_steps(&self) -> usize {
        match self.config.steps {
            Steps::Auto => steps::TRIED,
            Steps::Fixed(k) => k,
        }
    }

    /// The steps that are computed; of automatic ones all that are tried.
    fn steps(&self) -> RangeInclusive<usize> {
        match self.config.steps {
            Steps::Auto => 1..=steps::TRIED,
            Steps::Fixed(k) => self.config.first_step.of(k)..=k,
        }
    }

    /// Columns of Z, attributes that the caller has brought considered.
    fn z_dim(&self) -> usize {
        self.config.z_dim(self.config.attributes.any() || self.attributes.is_some())
    }

    /// Components of node features that stand beside Z.
    fn components(&self) -> usize {
        let any = self.config.attributes.any() || self.attributes.is_some();
        if any && self.config.attributes.combine == Combine::After { self.config.components_dim() } else { 0 }
    }

    /// All local embeddings, sorted by step, and the attributes that join them; one motif is worked
    /// on at a time.
    fn parts(
        &self,
        counted: &Counted,
        motifs: &[Motif],
        x: Option<X>,
        shelf: &mut Shelf,
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<(Vec<Part>, Vec<Part>)> {
        progress.stage("local embeddings", (motifs.len() * self.steps().count()) as u64);
        let (mut locals, mut diffused) = (Vec::new(), Vec::new());
        let Diffusion { steps: diffusion, original, .. } = self.config.attributes.diffusion;
        let diffuse = diffusion > 0;
        for &motif in motifs {
            let w = self.lazily_weighted(counted, motif);
            locals.extend(self.local(&w, shelf, report, progress)?);
            if let Some(x) = x.as_ref().filter(|_| diffuse) {
                diffused.extend(self.kept_diffused(x, &w, shelf)?);
            }
        }
        diffused.extend(x.filter(|_| original || !diffuse).map(Self::undiffused));
        locals.sort_by_key(|part| part.step);
        Ok((locals, diffused))
    }

    /// The result: attributes join before or after the global stage.
    fn join(
        &self,
        graph: &Graph,
        mut locals: Vec<Part>,
        attributes: Vec<Part>,
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<Embedding> {
        progress.stage("global embedding", 0);
        if self.config.steps == Steps::Auto {
            locals = self.choose_steps(graph.nodes(), locals, report)?;
        }
        let before = self.config.attributes.combine == Combine::Before;
        let (inside, beside) = if before { (attributes, Vec::new()) } else { (Vec::new(), attributes) };
        let size = locals.iter().map(|part| local::energy(&part.group)).sum();
        locals.extend(self.weigh(inside, size));
        let z = self.global(graph.nodes(), locals, report, progress)?;
        notes::zero_rows(graph, &z.1, report);
        let (columns, vectors) = if beside.is_empty() { z } else { self.append(graph.nodes(), z, beside) };
        Ok(Embedding::with_columns(graph.ids().clone(), vectors, columns))
    }
}
