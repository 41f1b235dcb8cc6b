//! What a run writes into a folder of factors: see [`crate::store::factors`].

use crate::config::Model;
use crate::dense::{Block, Small};
use crate::error::Result;
use crate::factor::{Divergence, Solver};
use crate::report::{LocalFacts, SliceFacts};
use crate::store::factors::{GlobalEntry, JointEntry, LocalEntry, SliceEntry, Writer};
use crate::tensor::Decomposition;

/// Writes U, Σ and V of one S_t^(k).
pub(super) fn write_local(
    to: &mut Writer,
    solver: &Solver,
    facts: &LocalFacts,
    nodes: Option<&[u32]>,
    u: &Block,
    v: Option<&Block>,
) -> Result<()> {
    let name = format!("{}.k{}", facts.motif, facts.step);
    let entry = LocalEntry {
        motif: facts.motif.clone(),
        step: facts.step,
        formula: facts.formula.clone(),
        scale: facts.scale,
        rank: facts.rank,
        model: model(solver, "S", "U·diag(sigma)·Vᵀ", "U·diag(sigma)"),
        rows: nodes
            .map(|nodes| to.rows(&format!("{}.rows", facts.motif), nodes))
            .transpose()?,
        u: to.block(&format!("{name}.U"), u)?,
        sigma: to.numbers(
            &format!("{name}.sigma"),
            &[facts.singular_values.len()],
            &facts.singular_values,
        )?,
        v: v.map(|v| to.block(&format!("{name}.V"), v)).transpose()?,
    };
    to.manifest.local.push(entry);
    Ok(())
}

/// Writes Z and H; `h` has one row per column of Y, and at most as many columns as Z: further ones are zero.
pub(super) fn write_global(
    to: &mut Writer,
    solver: &Solver,
    z: &Block,
    h: Option<&Block>,
    columns: Vec<String>,
) -> Result<()> {
    let h = h.map(|h| to.transposed("H", h, z.cols()));
    let model = model(solver, "Y", "Z·H", "Z");
    to.manifest.global = Some(GlobalEntry {
        model,
        z: to.block("Z", z)?,
        h: h.transpose()?,
        columns,
    });
    Ok(())
}

/// Writes the factors of a joint model.
pub(super) fn write_joint(
    to: &mut Writer,
    model: Model,
    found: &Decomposition,
    slices: &[SliceFacts],
) -> Result<()> {
    let (left, right, weights) = (&found.left, &found.right, &found.weights);
    let rank = slices.first().map_or(0, |slice| slice.factors.len());
    let motifs: Vec<f64> = slices
        .iter()
        .flat_map(|slice| slice.factors.iter().copied())
        .collect();
    // As wide as the node factors, which have zero columns beyond the rank.
    let size = left.cols();
    let entry = |matrix: &Small, i: usize, j: usize| match i < matrix.rows() && j < matrix.cols() {
        true => matrix.get(i, j),
        false => 0.0,
    };
    let core = found.core.as_ref().map(|core| {
        let wide = |matrix: &Small| Small::from_fn(size, size, |i, j| entry(matrix, i, j));
        let numbers: Vec<f64> = core
            .iter()
            .flat_map(|matrix| wide(matrix).as_slice().to_vec())
            .collect();
        to.numbers("core", &[core.len(), size, size], &numbers)
    });
    let model = if model == Model::Cp {
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

fn slice(facts: &SliceFacts) -> SliceEntry {
    SliceEntry {
        motif: facts.motif.clone(),
        step: facts.step,
        formula: facts.formula.clone(),
        factor: facts.norm.factor,
    }
}

/// A description of what the factors of a solver approximate.
fn model(solver: &Solver, matrix: &str, product: &str, code: &str) -> String {
    if solver.is_code() {
        return format!(
            "{code} is the code of an autoencoder for the rows of {matrix}: no linear factor leads back"
        );
    }
    match solver.loss() {
        Divergence::Gaussian => format!("{matrix} ≈ {product}"),
        Divergence::Poisson | Divergence::GammaLog => format!("{matrix} ≈ exp({product})"),
        Divergence::GammaInverse => format!("{matrix} ≈ 1 / ({product})"),
        Divergence::Bernoulli => format!("{matrix} ≈ 1 / (1 + exp(−{product}))"),
    }
}
