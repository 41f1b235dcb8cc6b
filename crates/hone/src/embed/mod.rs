//! The algorithm: count → W_t → S_t^(k) → U_t^(k) → Y [+ X] → Z (sec. 2 as a whole).
//!
//! One motif is worked on at a time: its weighted graph W_t is derived from the counts, the matrix
//! S_t^(k) of each step is never formed, and only the factors U_t^(k) are kept. Y is never copied into
//! one block; Z and H come from its Gram matrix and one more pass. If Y does not fit, parts of it go to
//! temporary files (`plan`, `part`); the bits do not depend on this.
//!
//! Each stage is a file with functions over the `Context` of the run: `attributes` (X), `counts`, `local` (U_t^(k)),
//! `steps` (the choice of K) and `global` (Z), or `joint` instead of the last three. `place` places other graphs in the
//! space of a `model`.
//!
//! Cost: O(M (Δ + K T D_l)) for counting and products, O(N D K T D_l) for the global stage; memory
//! O(M + N (K T D_l + D)), less if motifs are rare, since factors are kept only for the nodes a
//! motif touches.

mod attributes;
mod checkpoint;
mod components;
mod context;
mod counts;
mod factors;
mod features;
mod global;
mod joint;
mod local;
mod model;
mod notes;
mod part;
mod place;
mod plan;
mod profiles;
mod rounding;
mod steps;
mod uncovered;
mod weighted;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use crate::attributes::Attributes;
use crate::config::{self, Config};
use crate::engine::{Cpu, Engine};
use crate::error::Result;
use crate::graph::Graph;
use crate::memory::{self, Allowance};
use crate::output::{Batch, Existing};
use crate::progress::Progress;
use crate::report::{Report, Start};
use crate::store::factors::{Writer, check_outside};
use crate::store::{Embedding, Format};
use checkpoint::Begin;
#[doc(hidden)]
pub use context::Shortage;
use model::Draft;
pub use model::{Model, ModelFacts, ViewFacts, ViewSide};
pub use place::Like;
use plan::Demand;

/// The method with its configuration.
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
    attributes: Option<Arc<Attributes>>,
    temp_dir: Option<PathBuf>,
    checkpoint: Option<(PathBuf, Begin)>,
    factors: Option<(PathBuf, Existing)>,
    written: Option<Format>,
    shortage: Option<Shortage>,
    engine: Arc<dyn Engine>,
}

/// What a run returns.
#[derive(Debug, Clone)]
pub struct Run {
    /// The node vectors, in the graph's node order. If several processes work together, each may have some rows of
    /// them ([`Embedding::own`]).
    pub embedding: Embedding,
    /// What was done to compute them.
    pub report: Report,
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
            written: None,
            shortage: None,
            engine,
        })
    }

    /// Sets the engine that does the work, instead of the threads of this process.
    #[must_use]
    pub fn on(self, engine: impl Engine + 'static) -> Self {
        self.on_shared(Arc::new(engine))
    }

    /// [`Hone::on`] for a shared engine.
    #[must_use]
    pub fn on_shared(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = engine;
        self
    }

    /// Sets the memory limit of this process in bytes, instead of what the machine has free. Parts of Y that
    /// do not fit go to temporary files; the result has the same bits.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Sets the folder for temporary files, instead of the system's.
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

    /// Says in which format the vectors will be written after the run, so that the memory plan includes its writer.
    #[must_use]
    pub fn written_as(mut self, format: Format) -> Self {
        self.written = Some(format);
        self
    }

    /// Works as if memory were short, however much there is; for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn as_if_short(mut self, shortage: Shortage) -> Self {
        self.shortage = Some(shortage);
        self
    }

    /// Adds the user's own attributes, one row per node in the graph's order.
    #[must_use]
    pub fn with_attributes(mut self, attributes: Attributes) -> Self {
        self.attributes = Some(Arc::new(attributes));
        self
    }

    /// Embeds a graph: one vector per node, in the graph's node order; isolated nodes get zeros
    /// unless they have attributes.
    pub fn embed(&self, graph: &Graph, progress: &dyn Progress) -> Result<Run> {
        let mut batch = Batch::new(Existing::Replace);
        let run = self.embed_into(&mut batch, graph, progress)?;
        batch.commit()?;
        Ok(run)
    }

    /// Embeds a graph; the folder of [factors](Hone::factors) appears together with the other files of a batch, when it
    /// is committed.
    pub fn embed_into(
        &self,
        batch: &mut Batch,
        graph: &Graph,
        progress: &dyn Progress,
    ) -> Result<Run> {
        Ok(self.run(batch, graph, progress, None)?.0)
    }

    /// Embeds a graph, and returns a model that places other graphs in the same space. The vectors are those
    /// of [`Hone::embed`]; local embeddings are computed even where a checkpoint has them.
    ///
    /// # Errors
    /// As [`Hone::embed`]; and if a [`Model`] cannot be made with these settings.
    pub fn fit(&self, graph: &Graph, progress: &dyn Progress) -> Result<(Run, Model)> {
        let mut batch = Batch::new(Existing::Replace);
        let fit = self.fit_into(&mut batch, graph, progress)?;
        batch.commit()?;
        Ok(fit)
    }

    /// [`Hone::fit`] with a folder of factors that appears together with the other files of a batch.
    pub fn fit_into(
        &self,
        batch: &mut Batch,
        graph: &Graph,
        progress: &dyn Progress,
    ) -> Result<(Run, Model)> {
        self.check_model(graph)?;
        let (run, model) = self.run(batch, graph, progress, Some(Draft::default()))?;
        Ok((run, model.expect("a draft becomes a model")))
    }

    /// Refuses settings, attributes and graphs for which a [`Model`] cannot be made.
    pub fn check_model(&self, graph: &Graph) -> Result<()> {
        model::check_support(&self.config, self.attributes.is_some())?;
        if graph.is_directed() {
            model::check_directed(&self.config.of(graph), graph)
        } else {
            Ok(())
        }
    }

    /// Embeds a graph; a draft becomes a model. Panics of an engine become errors.
    fn run(
        &self,
        batch: &mut Batch,
        graph: &Graph,
        progress: &dyn Progress,
        draft: Option<Draft>,
    ) -> Result<(Run, Option<Model>)> {
        let stages = || self.of(graph).stages(batch, graph, progress, draft);
        let done = catch_unwind(AssertUnwindSafe(stages));
        let (run, model) = done.unwrap_or_else(|thrown| match self.engine.failure(thrown) {
            Ok(error) => Err(error),
            Err(thrown) => resume_unwind(thrown),
        })?;
        Ok((self.as_given(run), model))
    }

    /// The stages of a run.
    fn stages(
        &self,
        batch: &mut Batch,
        whole: &Graph,
        progress: &dyn Progress,
        draft: Option<Draft>,
    ) -> Result<(Run, Option<Model>)> {
        self.engine.check(&self.config)?;
        if let (Some((folder, _)), Some(file)) = (&self.factors, &self.config.attributes.file) {
            check_outside(folder, "attributes.file", file.as_ref())?;
        }
        let start = Start::now();
        let mut run = self.begin(whole, progress);
        run.draft = draft;
        let given = attributes::read(&mut run, whole)?;
        notes::no_room(&mut run);
        let graph = &*notes::as_chosen(&mut run, whole, true);
        notes::no_log_window(&mut run);
        let motifs = self.config.motifs.motifs();
        run.checkpoint = checkpoint::open(&run, self.checkpoint.as_ref(), graph, &given)?;
        run.writer = self.writer(graph)?;
        let mut demand = Demand::new(&run, graph, &motifs, &given);
        self.engine.plan(&demand.largest())?;
        if let Some(shared) = demand.shared_by(self.engine.processes()) {
            demand = shared;
            run.own = self.engine.own(graph.nodes());
        }
        plan::check(&run, &demand, counts::are_cached(&run))?;
        let counts = counts::count_or_load(&mut run, graph);
        let counts = counts.map_err(|error| plan::naming_all(&run, error, &demand))?;
        plan::make(&mut run, &mut demand, Some(&counts))?;
        local::check_rows(&self.config, &counts, &motifs)?;
        let x = run.time("features", |run| {
            attributes::x(run, graph, Some(&counts), &given)
        })?;
        drop(given);
        let mut embedding = if self.config.model == config::Model::Separate {
            let counts = Arc::new(counts);
            let draft = run.draft.iter_mut();
            draft.for_each(|draft| draft.keep_counts(&counts));
            let (locals, attributes) =
                run.time("local", |run| local::all(run, graph, counts, &motifs, x))?;
            notes::local(&mut run);
            run.time("global", |run| global::join(run, graph, locals, attributes))?
        } else {
            let hold = self.shortage != Some(Shortage::Slices)
                && demand.holds_slices(Allowance::new(self.memory_limit).remaining());
            let sources = joint::Sources {
                config: &self.config,
                graph,
                counts: &counts,
                motifs: &motifs,
                hold,
            };
            run.time("joint", |run| joint::embed(run, &sources, x))?
        };
        uncovered::fill(&mut run, graph, &mut embedding);
        run.check_finite(&embedding)?;
        let writer = run.writer.take();
        writer.map_or(Ok(()), |writer| writer.finish(batch))?;
        let draft = run.draft.take();
        let model = draft
            .map(|draft| run.time("model", |run| draft.finish(&run.report, whole, &embedding)));
        run.report.work = start.work();
        Ok((
            Run {
                embedding,
                report: run.report,
            },
            model,
        ))
    }

    /// The folder of factors, if requested and written by this process.
    fn writer(&self, graph: &Graph) -> Result<Option<Writer>> {
        let factors = self.factors.as_ref().filter(|_| self.engine.leads());
        factors
            .map(|(folder, existing)| Writer::begin(folder, *existing, graph.ids()))
            .transpose()
    }

    /// X as the embedding would use it: structure features, attributes from a file, attributes of the
    /// caller; columns normalised by `local.norm`. With diffusion, the diffused columns of every motif
    /// and step follow, called `edge_k1_NAME` and so on.
    ///
    /// ```
    /// use hone::{Hone, Silent, config::Layers, graph};
    /// let settings = [("local.norm", "none"), ("features.form", "columns")];
    /// let config = Layers::new().set_all(settings)?.build()?;
    /// let run = Hone::new(config)?.features(&graph::builtin("petersen")?, &Silent)?;
    /// assert_eq!(run.embedding.columns[0], "edge_degree");
    /// assert_eq!(run.embedding.vectors.get(0, 0), 4f32.ln(), "log(1 + degree)");
    /// # Ok::<(), hone::Error>(())
    /// ```
    pub fn features(&self, graph: &Graph, progress: &dyn Progress) -> Result<Run> {
        let resolved = self.of(graph);
        let mut run = resolved.begin(graph, progress);
        let embedding = features::features(&mut run, graph)?;
        Ok(self.as_given(Run {
            embedding,
            report: run.report,
        }))
    }

    /// The same with `auto` resolved for a graph.
    fn of(&self, graph: &Graph) -> Cow<'_, Hone> {
        match self.config.of(graph) {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(config) => Cow::Owned(Hone {
                config,
                ..self.clone()
            }),
        }
    }

    /// A run whose report holds the settings as given: they are resolved again when it is repeated, differently for an
    /// undirected graph.
    fn as_given(&self, mut run: Run) -> Run {
        run.report.config = self.config.clone();
        run
    }
}
