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
mod factors;
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
use crate::engine::{Counting, Cpu, Engine};
use crate::error::Result;
use crate::features::Named;
use crate::graph::Graph;
use crate::memory::{self, Allowance};
use crate::motif::{Counts, Motif};
use crate::output::{Batch, Existing};
use crate::progress::Progress;
use crate::report::{GraphFacts, Report, Start};
use crate::store::Embedding;
use crate::store::factors::Writer;
use attributes::X;
use checkpoint::Begin;
use factors::finish_factors;
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
    checkpoint: Option<(PathBuf, Begin)>,
    factors: Option<(PathBuf, Existing)>,
    engine: Arc<dyn Engine>,
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
        let engine = Arc::new(Cpu);
        Ok(Hone {
            config,
            memory_limit: free,
            attributes: None,
            temp_dir: None,
            checkpoint: None,
            factors: None,
            engine,
        })
    }

    /// Sets where the work is done, instead of the threads of this process.
    #[must_use]
    pub fn on(mut self, engine: impl Engine + 'static) -> Self {
        self.engine = Arc::new(engine);
        self
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

    /// Saves finished stages in a folder, which must be empty or new.
    #[must_use]
    pub fn checkpoint(mut self, folder: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some((folder.into(), Begin::Anew));
        self
    }

    /// Saves finished stages in a folder, which may hold a checkpoint of the same graph, settings, attributes and version: the
    /// run goes on from there, to the same bits.
    #[must_use]
    pub fn resume(mut self, folder: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some((folder.into(), Begin::Resumed));
        self
    }

    /// Writes U, Σ and V of every local embedding and Z and H of the global one (or the factors of a joint model) to a
    /// folder, see [`factors`](crate::store::factors); `existing` concerns a folder of factors. Local
    /// embeddings are then computed even where a checkpoint has them.
    ///
    /// ```
    /// use hone::{Config, Hone, Silent, graph, output::Existing, store::factors::Folder};
    /// # let place = tempfile::tempdir().unwrap();
    /// # let folder = place.path().join("factors");
    /// let hone = Hone::new(Config::preset("hone-p")?)?.factors(&folder, Existing::Refuse);
    /// hone.embed(&graph::builtin("karate")?, &Silent)?;
    /// let found = Folder::open(&folder)?;
    /// let edge = &found.manifest.local[0];
    /// assert_eq!((edge.motif.as_str(), found.read(&edge.u)?.rows()), ("edge", 34));
    /// # Ok::<(), hone::Error>(())
    /// ```
    #[must_use]
    pub fn factors(mut self, folder: impl Into<PathBuf>, existing: Existing) -> Self {
        self.factors = Some((folder.into(), existing));
        self
    }

    /// Adds attributes of the user's own, one row per node in the graph's order.
    #[must_use]
    pub fn with_attributes(mut self, attributes: Named) -> Self {
        self.attributes = Some(attributes);
        self
    }

    /// Embeds a graph: one vector per node, in the graph's node order; isolated nodes get zeros where
    /// no attribute says otherwise.
    pub fn embed(&self, graph: &Graph, progress: &dyn Progress) -> Result<Run> {
        let mut batch = Batch::new(Existing::Replace);
        let run = self.embed_into(&mut batch, graph, progress)?;
        batch.commit()?;
        Ok(run)
    }

    /// Embeds a graph; the folder of [factors](Hone::factors) appears together with the other files of a batch, when that is
    /// committed.
    pub fn embed_into(&self, batch: &mut Batch, graph: &Graph, progress: &dyn Progress) -> Result<Run> {
        self.engine.check(&self.config)?;
        let start = Start::now();
        let motifs = self.config.motifs.motifs();
        let mut report = self.start_report(graph);
        let own = self.own_attributes(graph, &mut report, progress)?;
        self.note_no_room(own.columns(), &mut report);
        let graph = &*self.as_chosen(graph, true, &mut report);
        let mut checkpoint = self.begin_checkpoint(graph, &own, progress)?;
        let mut factors = self.begin_factors(graph)?;
        let mut need = self.work(own.columns(), graph, &motifs);
        self.engine.plan(&need.largest())?;
        self.check_least(&need, checkpoint.as_ref().is_some_and(resume::counted))?;
        let counts = self.counts(graph, checkpoint.as_mut(), &mut report, progress);
        let counts = counts.map_err(|error| self.with_work_planned(error, &need))?;
        let room = self.plan(&mut need, &counts, &mut report, progress)?;
        self.check_rows(&counts, &motifs)?;
        let mut shelf = Shelf::new(room, self.temp_folder(), checkpoint);
        let x = report.time("attributes", |report| self.attributes(Some(&counts), &own, report))?;
        drop(own);
        if self.config.model != Model::Separate {
            let sources = joint::Sources { hone: self, graph, counts: &counts, motifs: &motifs };
            let hold = need.holds_slices(self.most_steps(), self.memory_limit);
            let joint = |report: &mut Report| self.joint(&sources, hold, x, factors.as_mut(), report, progress);
            let embedding = report.time("joint", joint)?;
            finish_factors(factors, batch)?;
            report.work = start.work();
            return Ok(Run { embedding, report });
        }
        shelf.record(factors);
        let counted = Counted { graph, counts: Arc::new(counts) };
        let (locals, diffused) =
            report.time("local", |report| self.parts(counted, &motifs, x, &mut shelf, report, progress))?;
        let entries = report.local.iter().map(|facts| (facts.motif.as_str(), facts.nonzeros, facts.below_delta));
        let empty = self.empty_graphs(entries, report.graph.weighted);
        report.notes.extend(empty);
        self.note_unconverged(&mut report);
        let mut factors = shelf.take_factors();
        let join = |report: &mut Report| self.join(graph, locals, diffused, factors.as_mut(), report, progress);
        let embedding = report.time("global", join)?;
        shelf.check()?;
        finish_factors(factors, batch)?;
        report.work = start.work();
        Ok(Run { embedding, report })
    }

    /// Motif counts, exact or estimated.
    fn count(&self, graph: &Graph, report: &mut Report, progress: &dyn Progress) -> Result<Counts> {
        let allowance = Allowance::new(self.memory_limit);
        let counting = Counting { sample: &self.config.sample, seed: self.config.seed, allowance, progress };
        let counts = report.time("count", |_| self.engine.count(graph, counting))?;
        resume::tell_sampled(&counts, report);
        Ok(counts)
    }

    fn start_report(&self, graph: &Graph) -> Report {
        Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: self.engine.name().to_owned(),
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
            columns: Vec::new(),
            blocks: Vec::new(),
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
        counted: Counted,
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
        // The last motif is given the counts themselves, so that they are gone when it is embedded.
        for (&motif, counted) in motifs.iter().zip(std::iter::repeat_n(counted, motifs.len())) {
            let w = self.lazily_weighted(counted, motif);
            locals.extend(self.local(&w, shelf, report, progress)?);
            if let Some(x) = x.as_ref().filter(|_| diffuse) {
                diffused.extend(self.kept_diffused(x, &w, shelf)?);
            }
        }
        diffused.extend(x.filter(|_| original || !diffuse).map(|x| self.undiffused(x)));
        // Eq. 16: step by step, motif by motif; facts and columns in the same order.
        locals.sort_by_key(|part| part.step);
        report.local.sort_by_key(|facts| facts.step);
        Ok((locals, diffused))
    }

    /// The result: attributes join before or after the global stage.
    fn join(
        &self,
        graph: &Graph,
        mut locals: Vec<Part>,
        attributes: Vec<Part>,
        mut factors: Option<&mut Writer>,
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<Embedding> {
        progress.stage("global embedding", 0);
        if self.config.steps == Steps::Auto {
            locals = self.choose_steps(graph.nodes(), locals, report);
            if let (Some(factors), Some(chosen)) = (&mut factors, &report.automatic_steps) {
                let steps = self.config.first_step.of(chosen.steps)..=chosen.steps;
                factors.manifest.local.retain(|entry| steps.contains(&entry.step));
            }
        }
        let before = self.config.attributes.combine == Combine::Before;
        let (inside, beside) = if before { (attributes, Vec::new()) } else { (Vec::new(), attributes) };
        let size = locals.iter().map(|part| local::energy(&part.group)).sum();
        locals.extend(self.weigh(inside, size));
        let z = self.global(graph, locals, factors, report, progress)?;
        let vectors = if beside.is_empty() { z } else { self.append(graph.nodes(), z, beside) };
        Ok(vectors.into_embedding(graph.ids().clone(), report))
    }
}
