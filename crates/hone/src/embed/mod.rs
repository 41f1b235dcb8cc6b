//! The algorithm: count → W_t → S_t^(k) → U_t^(k) → Y → Z (sec. 2 as a whole).
//!
//! One motif is worked on at a time: its weighted graph W_t is derived from the counts, each step's
//! matrix S_t^(k) stays a formula, and only the factors U_t^(k) are kept. Y is never copied into
//! one piece; Z and H come from its Gram matrix and one more pass.
//!
//! Cost: O(M (Δ + K T D_l)) for counting and products, O(N D K T D_l) for the global stage; memory
//! O(M + N (K T D_l + D)), less where motifs are rare, since factors are kept only for the nodes a
//! motif touches.

mod budget;
mod steps;

use crate::config::{Config, Output, Steps};
use crate::dense::{Block, Columns, Group};
use crate::error::{Error, Result, human_bytes};
use crate::factor::{Factors, Task};
use crate::graph::Graph;
use crate::memory;
use crate::motif::{self, Counts, Motif, MotifGraph, Weighting};
use crate::operator::Operator;
use crate::progress::Progress;
use crate::random::Key;
use crate::report::{GlobalFacts, GraphFacts, Importance, LocalFacts, Report};
use crate::store::Embedding;

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
}

/// What a run returns.
#[derive(Debug, Clone)]
pub struct Run {
    /// The node vectors, in the graph's node order.
    pub embedding: Embedding,
    /// What was done to get them.
    pub report: Report,
}

/// A local embedding U_t^(k) and what it stands for.
struct Local {
    motif: Motif,
    step: usize,
    group: Group,
}

impl Hone {
    /// Checks the configuration.
    pub fn new(config: Config) -> Result<Self> {
        config.check()?;
        Ok(Hone { config, memory_limit: memory::available() })
    }

    /// Sets how many bytes may be taken, instead of what the machine has free.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Embeds a graph: one vector a node, in the graph's node order; isolated nodes get zeros.
    pub fn embed(&self, graph: &Graph, progress: &dyn Progress) -> Result<Run> {
        let motifs = self.config.motifs.motifs();
        self.check_columns(motifs.len())?;
        let mut report = self.start_report(graph);
        let counts = report.time("count", |_| motif::count(graph, progress))?;
        self.check_memory(graph, &counts, &motifs, &mut report, progress)?;
        let locals = report.time("local", |report| self.local(graph, &counts, &motifs, report, progress))?;
        drop(counts);
        let embedding = report.time("global", |report| self.global(graph, locals, report, progress))?;
        Ok(Run { embedding, report })
    }

    fn start_report(&self, graph: &Graph) -> Report {
        Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config: self.config.clone(),
            graph: GraphFacts {
                nodes: graph.nodes(),
                edges: graph.edges(),
                directed: graph.is_directed(),
                weighted: graph.weights().is_some(),
            },
            stages: Vec::new(),
            memory_estimate: 0,
            local: Vec::new(),
            global: None,
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

    /// Refuses a D that Y cannot give.
    fn check_columns(&self, motifs: usize) -> Result<()> {
        let least_steps = if self.config.steps == Steps::Auto { 1 } else { self.most_steps() };
        let (dim, wanted) = (self.config.local.dim, self.config.global.dim);
        let columns = motifs * least_steps * dim;
        if self.config.global.output == Output::Local || wanted <= columns {
            return Ok(());
        }
        let message = format!(
            "{wanted} is more than the {columns} columns of Y ({motifs} motifs × {least_steps} steps × local.dim \
             {dim}); lower it, or raise local.dim, steps or motifs"
        );
        Err(Error::config("global.dim", message))
    }

    /// Estimates the peak of memory, tells it, and refuses what does not fit.
    fn check_memory(
        &self,
        graph: &Graph,
        counts: &Counts,
        motifs: &[Motif],
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<()> {
        let need = budget::bytes(&self.config, graph, counts, motifs, self.most_steps());
        report.memory_estimate = memory::resident().unwrap_or(0) + need;
        let limit = self.memory_limit.map_or_else(String::new, |limit| format!(" of {}", human_bytes(limit)));
        progress.note(&format!("the embedding takes about {}{limit}", human_bytes(need)));
        match self.memory_limit {
            Some(limit) if need > limit => Err(Error::Memory {
                stage: "the embedding".into(),
                need,
                limit,
                remedy: "lower local.dim, steps, global.dim or the number of motifs, or allow more with --memory"
                    .into(),
            }),
            _ => Ok(()),
        }
    }

    /// U_t^(k) of every motif and step, sorted by step; one motif is worked on at a time.
    fn local(
        &self,
        graph: &Graph,
        counts: &Counts,
        motifs: &[Motif],
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<Vec<Local>> {
        let steps = self.most_steps();
        progress.stage("local embeddings", (motifs.len() * steps) as u64);
        let mut locals = Vec::new();
        for &motif in motifs {
            let weighting = Weighting { delta: self.config.delta, use_weights: self.config.weights };
            let w = counts.motif_graph(graph, motif, weighting)?;
            if w.nnz == 0 {
                report.notes.push(format!("motif {motif} does not occur: its columns are zero"));
            }
            let operator = Operator::sparse("W", w.matrix.clone(), !graph.is_directed());
            for step in 1..=steps {
                progress.check()?;
                let (u, facts) = self.local_factor(motif, &w, &operator, step, progress)?;
                report.local.push(facts);
                let group = match &w.nodes {
                    None => Group::full(u),
                    Some(nodes) => Group::partial(nodes.clone(), u),
                };
                locals.push(Local { motif, step, group });
                progress.advance(1);
            }
        }
        locals.sort_by_key(|local| local.step);
        Ok(locals)
    }

    fn local_factor(
        &self,
        motif: Motif,
        graph: &MotifGraph,
        w: &Operator,
        step: usize,
        progress: &dyn Progress,
    ) -> Result<(Block, LocalFacts)> {
        let operator = self.config.matrix().operator(w, step)?;
        let key = Key::new(self.config.seed).with(motif.name(), step as u64);
        let task = Task { rank: self.config.local.dim, right: false, key, progress };
        let Factors { mut u, sigma, info, .. } = self.config.local.solver.factor(&operator, &task)?;
        u.normalize_columns(self.config.local.norm);
        let facts = LocalFacts {
            motif: motif.name().to_owned(),
            step,
            formula: operator.formula(),
            nodes: graph.matrix.pattern().rows(),
            nonzeros: graph.nnz,
            scale: graph.scale,
            singular_values: sigma,
            rank: info.rank,
            iterations: info.iterations,
            residual: info.residual,
            converged: info.converged,
        };
        Ok((u, facts))
    }

    /// Z from the local embeddings, or Y itself.
    fn global(
        &self,
        graph: &Graph,
        mut locals: Vec<Local>,
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<Embedding> {
        progress.stage("global embedding", 0);
        if self.config.steps == Steps::Auto {
            locals = choose_steps(graph.nodes(), locals, report)?;
        }
        let parts: Vec<(Motif, usize)> = locals.iter().map(|local| (local.motif, local.step)).collect();
        let y = Columns::new(graph.nodes(), locals.into_iter().map(|local| local.group).collect());
        let dim = self.config.local.dim;
        if self.config.global.output == Output::Local {
            let energy = y.column_energy();
            report.importance = importance(&parts, dim, |column| energy[column]);
            let names = parts.iter().flat_map(|(motif, k)| (0..dim).map(move |j| format!("{motif}.k{k}.{j}")));
            return Ok(Embedding::with_columns(graph.ids().clone(), y.to_block(), names.collect()));
        }
        let z = self.factor_global(y, &parts, report, progress)?;
        Ok(Embedding::new(graph.ids().clone(), z))
    }

    /// Z = U Sigma and H = Vᵀ of Y, and what they tell.
    fn factor_global(
        &self,
        y: Columns,
        parts: &[(Motif, usize)],
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<Block> {
        let columns = y.cols();
        let energy: f64 = y.column_energy().iter().sum();
        let y = Operator::dense("Y", y);
        let key = Key::new(self.config.seed).with("global", 0);
        let task = Task { rank: self.config.global.dim, right: true, key, progress };
        let Factors { u: mut z, sigma, v, info } = self.config.global.solver.factor(&y, &task)?;
        z.scale_columns(&sigma);
        let h = v.expect("the right factor was asked for");
        let captured =
            |j: usize| -> f64 { h.row(j).iter().zip(&sigma).map(|(h, sigma)| (f64::from(*h) * sigma).powi(2)).sum() };
        report.importance = importance(parts, self.config.local.dim, captured);
        let kept: f64 = sigma.iter().map(|sigma| sigma * sigma).sum();
        let residual = if energy > 0.0 { (1.0 - kept / energy).max(0.0) } else { 0.0 };
        if info.rank < self.config.global.dim {
            let zero = self.config.global.dim - info.rank;
            report.notes.push(format!("Y has rank {}: the last {zero} columns of Z are zero", info.rank));
        }
        report.global = Some(GlobalFacts { columns, rank: info.rank, singular_values: sigma, residual });
        Ok(z)
    }
}

/// Keeps the steps that bring new directions.
fn choose_steps(nodes: usize, mut locals: Vec<Local>, report: &mut Report) -> Result<Vec<Local>> {
    let width = |k: usize| locals.iter().filter(|local| local.step == k).map(|l| l.group.block().cols()).sum();
    let widths: Vec<usize> = (1..=steps::TRIED).map(width).collect();
    let parts: Vec<(Motif, usize)> = locals.iter().map(|local| (local.motif, local.step)).collect();
    let y = Columns::new(nodes, locals.into_iter().map(|local| local.group).collect());
    let chosen = steps::choose(&y.gram(), &widths)?;
    locals =
        parts.into_iter().zip(y.into_groups()).map(|((motif, step), group)| Local { motif, step, group }).collect();
    locals.retain(|local| local.step <= chosen.steps);
    report.local.retain(|facts| facts.step <= chosen.steps);
    report.automatic_steps = Some(chosen);
    Ok(locals)
}

/// Shares of groups of `dim` columns in a total energy.
fn importance(parts: &[(Motif, usize)], dim: usize, energy: impl Fn(usize) -> f64) -> Vec<Importance> {
    let sums: Vec<f64> = (0..parts.len()).map(|g| (g * dim..(g + 1) * dim).map(&energy).sum()).collect();
    let total: f64 = sums.iter().sum();
    let share = |sum: f64| if total > 0.0 { sum / total } else { 0.0 };
    let part = |(&(motif, step), &sum): (&(Motif, usize), &f64)| Importance {
        motif: motif.name().to_owned(),
        step,
        share: share(sum),
    };
    parts.iter().zip(&sums).map(part).collect()
}
