//! The joint model: all S_t^(k) as one tensor, and Z from its node factors (sec. 2.5, last paragraph).
//!
//! Z = U diag(weights): the columns of the left node factor, each as long as what it captures, as in Z = UΣ
//! for a single matrix. All W_t are kept in memory if they take less than half of the limit, else one at a
//! time, rebuilt from the counts for every visit.

use std::sync::Arc;

use super::attributes::{self, X};
use super::context::{Context, locate};
use super::factors::write_joint;
use super::global::{append, embedding};
use super::notes::Empty;
use super::part::{Part, labelled};
use super::weighted::weighted;
use super::{notes, steps};
use crate::config::{Combine, Config, Model, combine_before};
use crate::dense::{Block, Small};
use crate::diffuse::Diffusion;
use crate::error::Result;
use crate::factor::{Solver, Task, share_left};
use crate::graph::Graph;
use crate::message::{message, set, setting};
use crate::motif::{Counts, Motif};
use crate::random::Key;
use crate::report::{Importance, JointFacts, SliceFacts};
use crate::store::Embedding;
use crate::tensor::cp::cp;
use crate::tensor::tucker::tucker;
use crate::tensor::{Decomposition, Held, Limits, Slice, SliceNorm, Slices, Tensor};

/// Maximum number of entries of a core in a report.
const LARGEST_CORE: usize = 1 << 18;

/// The input of a joint embedding.
pub(super) struct Sources<'a> {
    pub(super) config: &'a Config,
    pub(super) graph: &'a Graph,
    pub(super) counts: &'a Counts,
    pub(super) motifs: &'a [Motif],
    /// Whether every W_t is in memory.
    pub(super) hold: bool,
}

impl Sources<'_> {
    fn steps(&self) -> std::ops::RangeInclusive<usize> {
        steps::computed(self.config)
    }

    /// The slices of a motif, with the statistics of their matrices.
    fn of_motif(&self, motif: Motif) -> Result<Vec<(Slice, SliceFacts)>> {
        let w = weighted(self.config, self.graph, self.counts, motif)?;
        let nodes: Option<Arc<[u32]>> = w.graph.nodes.as_deref().map(Arc::from);
        let slice = |step: usize| {
            let matrix = self.config.matrix();
            let (scale, operator) = matrix.scaled_operator(&w.operator, w.graph.scale, step)?;
            let facts = SliceFacts {
                motif: motif.called(self.config.structure.numbers).to_owned(),
                step,
                formula: operator.formula(),
                nodes: operator.rows(),
                nonzeros: w.graph.nnz,
                below_delta: w.graph.below_delta,
                scale,
                norm: SliceNorm {
                    frobenius: 0.0,
                    exact: true,
                    factor: 0.0,
                },
                factors: Vec::new(),
            };
            let slice = Slice {
                name: format!("motif {motif}, step {step}"),
                operator,
                scale,
                nodes: nodes.clone(),
            };
            Ok((slice, facts))
        };
        self.steps().map(slice).collect()
    }

    /// All slices, in memory if allowed; and the statistics of their matrices.
    fn look(&self) -> Result<(Option<Held>, Vec<SliceFacts>)> {
        let (mut slices, mut all) = (Vec::new(), Vec::new());
        for &motif in self.motifs {
            for (slice, facts) in self.of_motif(motif)? {
                slices.extend(self.hold.then_some(slice));
                all.push(facts);
            }
        }
        let nodes = self.graph.nodes();
        Ok((self.hold.then_some(Held { nodes, slices }), all))
    }
}

impl Slices for Sources<'_> {
    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    fn count(&self) -> usize {
        self.motifs.len() * self.steps().count()
    }

    fn visit(&self, each: &mut dyn FnMut(&Slice) -> Result<()>) -> Result<()> {
        for &motif in self.motifs {
            let slices = self.of_motif(motif)?;
            slices.iter().try_for_each(|(slice, _)| each(slice))?;
        }
        Ok(())
    }
}

/// The whole of a joint embedding, from counts to vectors.
pub(super) fn embed(run: &mut Context, sources: &Sources, xs: Vec<X>) -> Result<Embedding> {
    let config = run.config;
    if !xs.is_empty() && config.features.combine == Combine::Before {
        return Err(combine_before());
    }
    if [&config.local.solver, &config.global.solver]
        .iter()
        .any(|s| !matches!(s, Solver::Svd(_)))
    {
        let model = set("model", config.model.name());
        let (local, global) = (setting("local.solver"), setting("global.solver"));
        let own = " uses its own method: ";
        run.note(message![
            model,
            own,
            local,
            " and ",
            global,
            " have no effect"
        ]);
    }
    let beside = beside(run, sources, xs)?;
    let z = decompose(run, sources)?;
    let (labels, z) = run.joined(vec![run.part_of_z(z)]);
    notes::zero_rows(run, sources.graph, &z, None);
    let (parts, _) = append(run, labelled(labels, z), beside)?;
    embedding(run, sources.graph.ids().clone(), parts)
}

/// Attributes, diffused over every motif graph if requested.
fn beside(run: &mut Context, sources: &Sources, xs: Vec<X>) -> Result<Vec<Part>> {
    let Diffusion {
        steps, original, ..
    } = run.config.features.diffusion;
    let mut parts = Vec::new();
    let diffused = sources
        .motifs
        .iter()
        .filter(|_| steps > 0 && !xs.is_empty());
    for &motif in diffused {
        let w = weighted(run.config, sources.graph, sources.counts, motif)?;
        for x in &xs {
            parts.extend(attributes::diffused(run, x, motif, Some(&w))?);
        }
    }
    if original || steps == 0 {
        parts.extend(xs.into_iter().map(Part::from));
    }
    Ok(parts)
}

/// The decomposition, as configured.
fn solve(config: &Config, tensor: &Tensor, task: &Task) -> Result<Decomposition> {
    let options = &config.joint;
    let limits = Limits {
        iterations: options.iterations,
        tolerance: options.tolerance,
    };
    match config.model {
        Model::Cp => cp(tensor, options.regularization, limits, task),
        _ => tucker(tensor, options.motif_rank, limits, task),
    }
}

/// Z from the node factors; everything else goes into the report.
fn decompose(run: &mut Context, sources: &Sources) -> Result<Block> {
    let (config, progress) = (run.config, run.progress);
    let options = &config.joint;
    progress.stage("joint embedding", options.iterations as u64);
    let key = Key::new(config.seed).with("joint", 0);
    let task = Task {
        rank: run.z_dim(),
        right: false,
        key,
        progress,
        aside: None,
    };
    let (held, mut slices) = sources.look()?;
    let tensor = Tensor::new(
        held.as_ref().map_or(sources as &dyn Slices, |held| held),
        options.slices,
        &task,
    )?;
    let found = solve(config, &tensor, &task)?;
    for (s, facts) in slices.iter_mut().enumerate() {
        (facts.norm, facts.factors) = (tensor.norms[s], found.motifs.row(s).to_vec());
    }
    let captured = found.captured.iter().map(std::slice::from_ref);
    let parts = slices
        .iter()
        .map(|slice| (&*slice.motif, slice.step))
        .zip(captured);
    run.report.importance = Importance::shares(parts);
    // Slices are visited motif by motif; the report has the order of eq. 16, step by step.
    run.report.importance.sort_by_key(|part| part.step);
    slices.sort_by_key(|slice| slice.step);
    if let Some(writer) = &mut run.writer {
        write_joint(writer, config.model, &found, &slices)?;
    }
    let Decomposition {
        left: mut z,
        right,
        core,
        weights,
        descent,
        ..
    } = found;
    drop(right);
    z.scale_columns(&weights);
    let residual = share_left(descent.losses.last().copied().unwrap_or(0.0), 1.0)
        .map_err(|error| locate(error, "joint", "joint embedding"))?;
    let facts = JointFacts {
        rank: weights.iter().filter(|&&weight| weight > 0.0).count(),
        residual,
        descent,
        weights,
        slices_held: sources.hold,
        core: core.and_then(|core| rows(&core)),
        slices,
    };
    let slices = facts.slices.iter();
    let graphs = slices.map(|slice| (&*slice.motif, slice.nonzeros, slice.below_delta));
    Empty::of(graphs).note(run);
    note(run, &facts, task.rank);
    run.report.joint = Some(facts);
    Ok(z)
}

/// Matrices as rows of numbers, unless they are too many.
fn rows(matrices: &[Small]) -> Option<Vec<Vec<Vec<f64>>>> {
    let of = |matrix: &Small| (0..matrix.rows()).map(|i| matrix.row(i).to_vec()).collect();
    let numbers: usize = matrices.iter().map(|matrix| matrix.as_slice().len()).sum();
    (numbers <= LARGEST_CORE).then(|| matrices.iter().map(of).collect())
}

/// What a reader should know.
fn note(run: &mut Context, facts: &JointFacts, rank: usize) {
    // Without any, each row is counted as zero.
    if facts.rank < rank && facts.rank > 0 {
        let last = match rank - facts.rank {
            1 => format!("the last of {rank} proximity columns is"),
            zero => format!("the last {zero} of {rank} proximity columns are"),
        };
        let rank = facts.rank;
        run.note(message![
            format!("{last} zero: the tensor has rank {rank}; a smaller "),
            setting("global.dim"),
            " leaves them out"
        ]);
    }
    notes::zero_components(run);
    if !facts.descent.converged && facts.descent.iterations > 0 {
        let sweeps = facts.descent.iterations;
        run.note(message![
            "the joint model did not reach the tolerance with ",
            set("joint.iterations", sweeps),
            "; a larger value brings it closer"
        ]);
    }
    if facts.slices.iter().any(|slice| !slice.norm.exact) {
        run.note("norms of slices of several steps are estimated, and so is the residual");
    }
    if run.config.model == Model::Tucker && facts.core.is_none() {
        run.note(format!(
            "the core is left out of the report: more than {LARGEST_CORE} numbers"
        ));
    }
}
