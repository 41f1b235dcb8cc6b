//! What a run writes into a folder of factors: see [`crate::store::factors`].

use super::Hone;
use super::budget::Work;
use super::local::Weighted;
use crate::config::Model;
use crate::dense::{Block, Small};
use crate::error::Result;
use crate::factor::Solver;
use crate::factor::loss::Divergence;
use crate::graph::Graph;
use crate::motif::Motif;
use crate::output::Batch;
use crate::report::{LocalFacts, SliceFacts};
use crate::store::factors::{GlobalEntry, JointEntry, LocalEntry, SliceEntry, Writer};

/// The factors of a joint model; `left` has columns of length one.
pub(super) struct JointFactors<'a> {
    pub(super) left: &'a Block,
    pub(super) right: &'a Block,
    pub(super) weights: &'a [f64],
    pub(super) core: Option<&'a [Small]>,
    pub(super) slices: &'a [SliceFacts],
}

/// Adds a finished folder to the files of a run.
pub(super) fn finish_factors(factors: Option<Writer>, batch: &mut Batch) -> Result<()> {
    factors.map_or(Ok(()), |factors| factors.finish(batch))
}

impl Hone {
    /// What is to be done, for the plan of memory.
    pub(super) fn work<'a>(&'a self, own: usize, graph: &'a Graph, motifs: &'a [Motif]) -> Work<'a> {
        let positions = graph.pattern().nnz() as u64;
        Work { config: &self.config, own, graph, motifs, right: self.factors.is_some(), positions }
    }

    /// Begins the folder, if factors are wanted.
    pub(super) fn begin_factors(&self, graph: &Graph) -> Result<Option<Writer>> {
        let Some((folder, replace)) = &self.factors else { return Ok(None) };
        Writer::begin(folder, *replace, graph.ids()).map(Some)
    }

    /// Writes U, Σ and V of one S_t^(k).
    pub(super) fn write_local(
        &self,
        to: &mut Writer,
        facts: &LocalFacts,
        w: &Weighted,
        u: &Block,
        v: Option<&Block>,
    ) -> Result<()> {
        let name = format!("{}.k{}", facts.motif, facts.step);
        let nodes = w.graph.nodes.as_ref();
        let entry = LocalEntry {
            motif: facts.motif.clone(),
            step: facts.step,
            formula: facts.formula.clone(),
            scale: facts.scale,
            rank: facts.rank,
            model: model(&self.config.local.solver, "S", "U·diag(sigma)·Vᵀ", "U·diag(sigma)"),
            rows: nodes.map(|nodes| to.rows(&format!("{}.rows", facts.motif), nodes)).transpose()?,
            u: to.block(&format!("{name}.U"), u)?,
            sigma: to.numbers(&format!("{name}.sigma"), &[facts.singular_values.len()], &facts.singular_values)?,
            v: v.map(|v| to.block(&format!("{name}.V"), v)).transpose()?,
        };
        to.manifest.local.push(entry);
        Ok(())
    }

    /// Writes Z and H; `h` has one row per column of Y.
    pub(super) fn write_global(
        &self,
        to: &mut Writer,
        z: &Block,
        h: Option<&Block>,
        columns: Vec<String>,
    ) -> Result<()> {
        let h = h.map(|h| {
            let mut across = Block::zeros(h.cols(), h.rows());
            across.update_rows(|i, row| row.iter_mut().enumerate().for_each(|(j, to)| *to = h.get(j, i)));
            to.block("H", &across)
        });
        let model = model(&self.config.global.solver, "Y", "Z·H", "Z");
        to.manifest.global = Some(GlobalEntry { model, z: to.block("Z", z)?, h: h.transpose()?, columns });
        Ok(())
    }

    /// Writes the factors of a joint model.
    pub(super) fn write_joint(&self, to: &mut Writer, found: &JointFactors) -> Result<()> {
        let JointFactors { left, right, weights, core, slices } = *found;
        let rank = slices.first().map_or(0, |slice| slice.factors.len());
        let motifs: Vec<f64> = slices.iter().flat_map(|slice| slice.factors.iter().copied()).collect();
        let numbers = |core: &[Small]| core.iter().flat_map(|matrix| matrix.as_slice().to_vec()).collect::<Vec<f64>>();
        let core = core.map(|core| to.numbers("core", &[core.len(), left.cols(), left.cols()], &numbers(core)));
        let model = if self.config.model == Model::Cp {
            "slice s ≈ left·diag(weights ∘ motifs[s])·rightᵀ"
        } else {
            "slice s ≈ left·(Σ_r motifs[s, r]·core[r])·rightᵀ"
        };
        to.manifest.joint = Some(JointEntry {
            model: model.into(),
            left: to.block("left", left)?,
            right: to.block("right", right)?,
            motifs: to.numbers("motifs", &[slices.len(), rank], &motifs)?,
            weights: to.numbers("weights", &[weights.len()], weights)?,
            core: core.transpose()?,
            slices: slices.iter().map(slice).collect(),
        });
        Ok(())
    }
}

fn slice(facts: &SliceFacts) -> SliceEntry {
    SliceEntry {
        motif: facts.motif.clone(),
        step: facts.step,
        formula: facts.formula.clone(),
        factor: facts.norm.factor,
    }
}

/// What the factors of a solver approximate, in words.
fn model(solver: &Solver, matrix: &str, product: &str, code: &str) -> String {
    if matches!(solver, Solver::Autoencoder(_)) {
        return format!("{code} is the code of an autoencoder for the rows of {matrix}: no linear factor leads back");
    }
    match solver.loss() {
        Divergence::Gaussian => format!("{matrix} ≈ {product}"),
        Divergence::Poisson | Divergence::GammaLog => format!("{matrix} ≈ exp({product})"),
        Divergence::GammaInverse => format!("{matrix} ≈ 1 / ({product})"),
        Divergence::Bernoulli => format!("{matrix} ≈ 1 / (1 + exp(−{product}))"),
    }
}
