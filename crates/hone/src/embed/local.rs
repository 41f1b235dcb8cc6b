//! Local embeddings U_t^(k), one per motif and step (sec. 2.4).
//!
//! Rows of U say where the arcs of a node lead. In a directed graph a node that no arc leaves has none, and V, whose rows say
//! where arcs come from, stands beside U as a part of its own.

use std::sync::Arc;

use super::attributes::{self, X};
use super::context::{Context, locate};
use super::model::Found;
use super::part::Part;
use super::steps;
use super::storage::factors::write_local;
use super::storage::shelf::Shelf;
use super::weighted::{Counted, Lazily};
use crate::config::{Local, Scale, TARGET};
use crate::dense::Panels;
use crate::diffuse::Diffusion;
use crate::error::{Error, Result};
use crate::factor::{Factors, Task};
use crate::motif::Motif;
use crate::random::Key;
use crate::report::LocalFacts;
use crate::store::factors::Writer;

/// All local embeddings, sorted by step, and the attributes that join them; one motif is worked on at a time.
pub(super) fn all(
    run: &mut Context,
    counted: Counted,
    motifs: &[Motif],
    x: Option<X>,
    shelf: &mut Shelf,
) -> Result<(Vec<Part>, Vec<Part>)> {
    run.progress.stage("local embeddings", (motifs.len() * steps::computed(run.config).count()) as u64);
    let (mut locals, mut diffused) = (Vec::new(), Vec::new());
    let Diffusion { steps: diffusion, original, .. } = run.config.attributes.diffusion;
    let diffuse = diffusion > 0;
    // The last motif is given the counts themselves, so that they are gone when it is embedded.
    for (&motif, counted) in motifs.iter().zip(std::iter::repeat_n(counted, motifs.len())) {
        let w = Lazily::new(run.config, counted, motif);
        locals.extend(of_motif(run, &w, shelf)?);
        if let Some(x) = x.as_ref().filter(|_| diffuse) {
            diffused.extend(attributes::diffused_or_found(run.config, x, &w, shelf)?);
        }
    }
    diffused.extend(x.filter(|_| original || !diffuse).map(|x| attributes::undiffused(run, x)));
    // Eq. 16: step by step, motif by motif; facts and columns in the same order.
    locals.sort_by_key(|part| part.step);
    run.report.local.sort_by_key(|facts| facts.step);
    Ok((locals, diffused))
}

/// The local embeddings of one motif, one per step, computed or found on the shelf.
fn of_motif(run: &mut Context, w: &Lazily, shelf: &mut Shelf) -> Result<Vec<Part>> {
    let (mut parts, motif) = (Vec::new(), w.motif);
    let both = run.both_sides(w.graph());
    let names = if both { vec![motif.name().to_owned(), target_name(motif)] } else { vec![motif.name().to_owned()] };
    for step in steps::computed(run.config) {
        run.progress.check()?;
        let shape = (w.nodes(), run.config.local_dim());
        // A checkpoint has rows that are shaped already, and no right factors.
        let anew = shelf.factors().is_some() || run.draft.is_some();
        let known = if anew { None } else { found(shelf, &names, step, shape)? };
        let (sides, facts) = match known {
            Some(known) => known,
            None => {
                let (sides, facts) = factor(run, w, (step, both), shelf.factors())?;
                let mut kept = Vec::new();
                for (name, columns) in names.iter().zip(sides) {
                    let part =
                        Part { name: name.clone(), step, columns: Arc::default(), group: w.get()?.group(columns) };
                    kept.push(shelf.keep(part, Some(&facts))?);
                }
                (kept, facts)
            }
        };
        run.report.local.push(facts);
        parts.extend(sides);
        run.progress.advance(1);
    }
    Ok(parts)
}

/// What the target factors of a motif are called.
fn target_name(motif: Motif) -> String {
    format!("{motif}{TARGET}")
}

/// The parts of one motif and step that an earlier run has left, all of them or none.
fn found(
    shelf: &mut Shelf,
    names: &[String],
    step: usize,
    shape: (usize, usize),
) -> Result<Option<(Vec<Part>, LocalFacts)>> {
    if !names.iter().all(|name| shelf.has(name, step)) {
        return Ok(None);
    }
    let (mut parts, mut known) = (Vec::new(), None);
    for name in names {
        let Some((part, Some(facts))) = shelf.find(name, step, shape)? else { return Ok(None) };
        parts.push(part);
        known = Some(facts);
    }
    Ok(known.map(|facts| (parts, facts)))
}

/// U_t^(k) of one motif and step, and V_t^(k) for both sides.
fn factor(
    run: &mut Context,
    lazily: &Lazily,
    (step, both): (usize, bool),
    factors: Option<&mut Writer>,
) -> Result<(Vec<Panels>, LocalFacts)> {
    let (motif, w) = (lazily.motif, lazily.get()?);
    let (matrix, solver) = (run.config.matrix(), &run.config.local.solver);
    let (scale, operator) = matrix.scaled_operator_within(&w.operator, w.graph.scale, step, solver.largest())?;
    let stage = || format!("local embedding of motif {motif}, step {step}");
    if scale != 1.0 && !solver.is_scale_free() {
        return Err(out_of_range(scale, w.graph.scale, solver.largest(), stage()));
    }
    let key = Key::new(run.config.seed).with(motif.name(), step as u64);
    let task = Task { rank: run.config.local_dim(), right: both || factors.is_some(), key, progress: run.progress };
    let found = run.engine.factor(solver, &operator, &task).and_then(Factors::finite);
    let Factors { mut u, sigma, mut v, info } = found.map_err(|e| locate(e, "local", &stage()))?;
    let facts = LocalFacts {
        motif: motif.name().to_owned(),
        step,
        formula: operator.formula(),
        nodes: w.graph.matrix.pattern().rows(),
        nonzeros: w.graph.nnz,
        scale,
        below_delta: w.graph.below_delta,
        singular_values: sigma,
        rank: info.rank,
        base: info.base,
        iterations: info.iterations,
        residual: info.residual,
        converged: info.converged,
        loss: info.loss,
    };
    if let Some(draft) = &mut run.draft {
        let found = Found { motif, weighted: w, u: &u, facts: &facts, ids: lazily.ids() };
        draft.view(&run.config.local, run.config.regularize, &found)?;
    }
    if let Some(factors) = factors {
        u = u.into_block().into();
        let right = v.map(Panels::into_block);
        write_local(factors, solver, &facts, w.graph.nodes.as_deref(), &u.as_slice()[0], right.as_ref())?;
        v = right.map(Panels::from);
    }
    let mut sides = vec![u];
    sides.extend(v.filter(|_| both));
    sides.iter_mut().for_each(|side| shape(&run.config.local, side, &facts.singular_values));
    Ok((sides, facts))
}

/// Brings the columns of U to the length and the rows to the size that the settings ask for.
fn shape(local: &Local, u: &mut Panels, sigma: &[f64]) {
    u.normalize_columns(local.norm);
    if local.scale == Scale::Sigma {
        let largest = sigma.first().copied().filter(|&largest| largest > 0.0).unwrap_or(1.0);
        u.scale_columns(&sigma.iter().map(|sigma| sigma / largest).collect::<Vec<_>>());
    }
    if local.row_power > 0.0 {
        u.update_rows(|row| shorten(row, local.row_power));
    }
}

/// Why a matrix that had to be scaled cannot be factored under a loss or a penalty that depends on the scale.
fn out_of_range(scale: f64, of_weights: f64, largest: f64, stage: String) -> Error {
    let why = if of_weights == 1.0 {
        format!("the norm of this matrix may be beyond 2^±{largest}, where this solver leaves the range of f32")
    } else {
        "edge weights are beyond 2^±40, where counts times weights may leave the range of f32".to_owned()
    };
    let message = format!(
        "{why}; a multiple of it ({scale:e}) would be factored, which has other factors under a penalty or a divergence. \
         Use fewer steps, psi = p, other edge weights, or a solver that does not depend on the scale: svd, or a squared loss \
         with regularization = 0"
    );
    Error::Numeric { stage, message }
}

/// Divides a row by its length to a power.
fn shorten(row: &mut [f32], power: f64) {
    let length = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        let factor = length.powf(-power);
        row.iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
    }
}
