//! The global embedding: Y ≈ Z H, and the share of each part of Y in it (sec. 2.5).

use std::sync::Arc;

use super::attributes::weigh;
use super::context::{Context, locate};
use super::factors::write_global;
use super::model::Scales;
use super::part::{Label, Part, labelled};
use super::plan::Files;
use super::rounding::{self, Floors};
use super::{notes, steps};
use crate::config::{Auto, Combine, Output};
use crate::dense::{Block, Columns, Panels};
use crate::error::{Error, Result};
use crate::factor::{Factors, Solver, Task, share_left};
use crate::graph::{Graph, NodeIds};
use crate::operator::Operator;
use crate::random::Key;
use crate::report::{ColumnBlock, GlobalFacts, Importance, Proximity};
use crate::store::Embedding;

/// The result: attributes are added before or after the global stage.
pub(super) fn join(
    run: &mut Context,
    graph: &Graph,
    mut locals: Vec<Part>,
    attributes: Vec<Part>,
) -> Result<Embedding> {
    run.progress.stage("global embedding", 0);
    if run.config.steps == Auto::Auto {
        locals = choose_steps(run, locals);
    }
    let chosen = run.report.automatic_steps.as_ref();
    let kept = chosen.map_or(0..=usize::MAX, |chosen| {
        run.config.first_step.of(chosen.steps)..=chosen.steps
    });
    locals.retain(|part| kept.contains(&part.label.step));
    run.report.local.retain(|facts| kept.contains(&facts.step));
    if let Some(writer) = &mut run.writer {
        let local = &mut writer.manifest.local;
        local.retain(|entry| kept.contains(&entry.step));
    }
    if let Some(draft) = &mut run.draft {
        draft.keep_steps(|step| kept.contains(&step));
    }
    let (inside, beside) = match run.config.features.combine {
        Combine::Before => (attributes, Vec::new()),
        Combine::After => (Vec::new(), attributes),
    };
    let energy = |part: &Part| part.group.energy();
    let (size, count) = (locals.iter().map(energy).sum(), locals.len());
    locals.extend(weigh(run, inside, size).0);
    let z = global(run, graph, locals, count)?;
    let (parts, scales) = append(run, z, beside)?;
    run.draft.iter_mut().for_each(|draft| draft.scales = scales);
    embedding(run, graph.ids().clone(), parts)
}

/// The embedding, with names of the columns, which are also in the report.
pub(super) fn embedding(run: &mut Context, ids: NodeIds, parts: Vec<Part>) -> Result<Embedding> {
    let (labels, columns) = run.joined(parts);
    let mut first = 0;
    for label in &labels {
        run.report.columns.extend(label.column_names());
        run.report.blocks.push(ColumnBlock {
            name: label.name.clone(),
            step: label.step,
            first,
            count: label.width,
        });
        first += label.width;
    }
    let mut vectors = if columns.groups().iter().all(|group| group.block().is_some()) {
        columns.into_block()
    } else {
        let read = columns.to_block();
        columns.check()?;
        read
    };
    // Changing the sign of a column leaves negative zeros; adding zero makes them positive.
    vectors.update_rows(|_, row| row.iter_mut().for_each(|value| *value += 0.0));
    let names = run.report.columns.clone();
    Ok(Embedding::part(ids, run.own.clone(), vectors, names))
}

/// Z, or Y itself, of whose parts the first `locals` are factors.
fn global(run: &mut Context, graph: &Graph, parts: Vec<Part>, locals: usize) -> Result<Vec<Part>> {
    let (labels, y) = run.joined(parts);
    if run.config.global.output == Output::Local {
        run.report.importance = importance(&labels, &y.column_energy());
        notes::zero_rows(run, graph, &y, None);
        return Ok(labelled(labels, y));
    }
    let y = Arc::new(y);
    let (mut z, h) = factor(run, &y, &labels)?;
    if let (Some(draft), Some(h)) = (&mut run.draft, &h) {
        draft.h = Some(h.clone());
    }
    let floors = Floors::of(run, &y, locals);
    let short = rounding::clear(run, &y, &floors, &mut z);
    notes::short_rows(run, short);
    let (z_label, z) = run.joined(vec![run.part_of_z(z)]);
    notes::zero_rows(run, graph, &z, Some((&y, &floors)));
    // No wrong result is returned where a part could not be read back.
    y.check()?;
    drop(y);
    let z = labelled(z_label, z);
    if let (Some(writer), Some(block)) = (&mut run.writer, z[0].group.block()) {
        let names = labels.iter().flat_map(Label::column_names).collect();
        write_global(writer, &run.config.global.solver, block, h.as_ref(), names)?;
    }
    Ok(z)
}

/// Z = U Sigma and Hᵀ = V of Y, and their statistics; no H if Z is a code, and no more rows of H than Y has directions.
fn factor(run: &mut Context, y: &Arc<Columns>, labels: &[Label]) -> Result<(Block, Option<Block>)> {
    let (solver, columns, wanted) = (&run.config.global.solver, y.cols(), run.z_dim());
    let at = |error| locate(error, "global", "global embedding");
    let total: f64 = y.column_energy().iter().sum();
    let y = Operator::shared("Y", y.clone());
    let key = Key::new(run.config.seed).with("global", 0);
    // No more columns than Y has directions: V would be as wide as Z, and taller if Y has few rows.
    let rank = if solver.is_code() {
        wanted
    } else {
        wanted.min(columns).min(run.own.rows.max(1))
    };
    let task = Task {
        rank,
        right: true,
        key,
        progress: run.progress,
        aside: None,
    };
    let found = run
        .engine
        .factor(solver, &y, &task)
        .and_then(Factors::finite)
        .map_err(at)?;
    let Factors {
        u: mut z,
        mut sigma,
        v: h,
        info,
    } = found.map(Panels::into_block);
    z.scale_columns(&sigma);
    let (captured, residual) = match (&info.code, &h) {
        (Some(code), _) => (code.reconstructed.clone(), code.residual),
        (None, Some(h)) => {
            let orthogonal = matches!(solver, Solver::Svd(_));
            let (captured, left) = if orthogonal {
                of_svd(&sigma, h, total)
            } else {
                of_any(&y, &z, h, total)
            };
            (captured, share_left(left, total).map_err(at)?)
        }
        (None, None) => {
            let message = format!(
                "{} gave no right factor of Y, though one was requested",
                run.engine.name()
            );
            return Err(Error::Numeric {
                stage: "global embedding".into(),
                message: message.into(),
            });
        }
    };
    if !solver.is_code() {
        sigma.resize(wanted.min(columns), 0.0);
    }
    run.report.importance = importance(labels, &captured);
    notes::global(run, &info, columns);
    run.report.proximity = Proximity::of(&sigma).filter(|_| info.code.is_none());
    run.report.global = Some(GlobalFacts {
        columns,
        rank: info.rank,
        singular_values: sigma,
        residual,
        iterations: info.iterations,
        converged: info.converged,
        loss: info.loss.filter(|_| info.code.is_none()),
        autoencoder: info.code.map(|code| code.fit),
    });
    Ok((z.widened(wanted), h))
}

/// Chooses the steps that add new directions.
fn choose_steps(run: &mut Context, parts: Vec<Part>) -> Vec<Part> {
    let (labels, y) = run.joined(parts);
    let width = |k: usize| {
        let of_step = labels.iter().filter(|label| label.step == k);
        of_step.map(|label| label.width).sum()
    };
    let widths: Vec<usize> = (1..=steps::TRIED).map(width).collect();
    run.report.automatic_steps = Some(steps::choose(&run.engine.gram(&y), &widths));
    labelled(labels, y)
}

/// [Z X]: attributes next to the embedding, Z with a mean squared row length of 1; and the factors of both.
pub(super) fn append(
    run: &Context,
    mut z: Vec<Part>,
    beside: Vec<Part>,
) -> Result<(Vec<Part>, Scales)> {
    let mut scales = Scales::default();
    if beside.is_empty() {
        return Ok((z, scales));
    }
    let energy = z.iter().map(|part| part.group.energy());
    let (nodes, size) = (run.own.rows as f64, energy.sum::<f64>());
    if run.files == Files::Factors {
        // Z and its copy with the attributes would take twice the memory.
        z = z
            .into_iter()
            .map(|part| run.in_file(part))
            .collect::<Result<_>>()?;
    }
    if size > 0.0 {
        scales.z = (nodes / size).sqrt();
        z = z.into_iter().map(|part| part.scaled(scales.z)).collect();
    }
    let (weighed, factors) = weigh(run, beside, if size > 0.0 { nodes } else { 0.0 });
    (scales.attributes, scales.x) = (factors.attributes, factors.features);
    z.extend(weighed);
    Ok((z, scales))
}

/// The squared length of each column of ZH, and ‖Y − ZH‖², when Z = UΣ and H = Vᵀ are singular vectors of Y.
fn of_svd(sigma: &[f64], h: &Block, total: f64) -> (Vec<f64>, f64) {
    let captured = |j: usize| {
        h.row(j)
            .iter()
            .zip(sigma)
            .map(|(h, sigma)| (f64::from(*h) * sigma).powi(2))
            .sum()
    };
    let kept: f64 = sigma.iter().map(|sigma| sigma * sigma).sum();
    ((0..h.rows()).map(captured).collect(), total - kept)
}

/// The same for any Z and H.
fn of_any(y: &Operator, z: &Block, h: &Block, total: f64) -> (Vec<f64>, f64) {
    let (gram, back) = (z.gram(), y.apply_transposed(z));
    let dim = h.cols();
    let mut left = total;
    let captured = (0..h.rows()).map(|j| {
        let row: Vec<f64> = h.row(j).iter().map(|&h| f64::from(h)).collect();
        let along = |a: usize| {
            gram.row(a)
                .iter()
                .zip(&row)
                .map(|(g, h)| g * h)
                .sum::<f64>()
        };
        let square: f64 = (0..dim).map(|a| row[a] * along(a)).sum();
        left += square
            - 2.0
                * row
                    .iter()
                    .zip(back.row(j))
                    .map(|(h, &b)| h * f64::from(b))
                    .sum::<f64>();
        square
    });
    (captured.collect(), left)
}

/// Shares of the parts in the energy of all columns.
fn importance(labels: &[Label], mut energies: &[f64]) -> Vec<Importance> {
    let parts: Vec<_> = labels
        .iter()
        .map(|label| {
            let (own, others) = energies.split_at(label.width);
            energies = others;
            ((&*label.name, label.step), own)
        })
        .collect();
    Importance::shares(parts.into_iter())
}
