//! The global embedding: Y ≈ Z H, and the share of each part of Y in it (sec. 2.5).

use std::sync::Arc;

use super::attributes::weigh;
use super::context::{Context, locate};
use super::model::Scales;
use super::part::Part;
use super::rounding::{self, Floors};
use super::storage::factors::write_global;
use super::storage::shelf::Shelf;
use super::{notes, steps};
use crate::config::{Auto, Combine, Output};
use crate::dense::panels::Own;
use crate::dense::{Block, Columns, Group, Norm, Panels};
use crate::error::{Error, Result};
use crate::factor::{Factors, Solver, Task, share_left};
use crate::graph::{Graph, NodeIds};
use crate::operator::Operator;
use crate::random::Key;
use crate::report::{ColumnBlock, GlobalFacts, Importance, Proximity};
use crate::store::Embedding;
use crate::store::factors::Writer;

/// The columns of a result and their meaning.
pub(super) struct Vectors {
    labels: Vec<Label>,
    values: Columns,
}

impl Vectors {
    /// Z, whose columns have no other meaning.
    pub(super) fn of_z(z: Block, own: &Own) -> Self {
        let label = Label {
            name: "z".into(),
            step: 0,
            columns: Arc::default(),
            width: z.cols(),
        };
        Vectors {
            labels: vec![label],
            values: Columns::part(own.clone(), vec![Group::full(z)]),
        }
    }

    /// The same with values in temporary files.
    fn away(self, shelf: &mut Shelf) -> Result<Self> {
        let own = self.values.own().clone();
        let parts = self.labels.iter().zip(self.values.into_groups());
        let part = |(label, group): (&Label, Group)| {
            if group.block().is_none() && group.memory() == 0 {
                return Ok(group);
            }
            let (name, step, columns) = (label.name.clone(), label.step, label.columns.clone());
            Ok(shelf
                .away(Part {
                    name,
                    step,
                    columns,
                    group,
                })?
                .group)
        };
        let groups = parts.map(part).collect::<Result<Vec<Group>>>()?;
        Ok(Vectors {
            labels: self.labels,
            values: Columns::part(own, groups),
        })
    }

    /// The values of the columns.
    pub(super) fn values(&self) -> &Columns {
        &self.values
    }

    /// The embedding, with names of the columns, which are also in the report.
    pub(super) fn into_embedding(self, ids: NodeIds, run: &mut Context) -> Embedding {
        let (report, mut first) = (&mut run.report, 0);
        report.columns = names(&self.labels);
        for Label {
            name, step, width, ..
        } in self.labels
        {
            report.blocks.push(ColumnBlock {
                name,
                step,
                first,
                count: width,
            });
            first += width;
        }
        let mut vectors = self.values.into_block();
        // Changing the sign of a column leaves negative zeros; adding zero makes them positive.
        vectors.update_rows(|_, row| row.iter_mut().for_each(|value| *value += 0.0));
        Embedding::part(ids, run.own.clone(), vectors, report.columns.clone())
    }
}

/// A part of Y without its values.
struct Label {
    name: String,
    step: usize,
    columns: Arc<[String]>,
    width: usize,
}

/// Splits parts into labels and Y, of which this process holds some rows.
fn columns(own: &Own, parts: Vec<Part>) -> (Vec<Label>, Columns) {
    let label = |part: &Part| Label {
        name: part.name.clone(),
        step: part.step,
        columns: part.columns.clone(),
        width: part.group.cols(),
    };
    let labels = parts.iter().map(label).collect();
    (
        labels,
        Columns::part(
            own.clone(),
            parts
                .into_iter()
                .map(|part| part.shared_out(own).group)
                .collect(),
        ),
    )
}

/// The result: attributes are added before or after the global stage.
pub(super) fn join(
    run: &mut Context,
    graph: &Graph,
    (mut locals, attributes): (Vec<Part>, Vec<Part>),
    shelf: &mut Shelf,
) -> Result<Embedding> {
    run.progress.stage("global embedding", 0);
    if run.config.steps == Auto::Auto {
        locals = choose_steps(run, locals);
        if let (Some(factors), Some(chosen)) = (shelf.factors(), &run.report.automatic_steps) {
            let steps = run.config.first_step.of(chosen.steps)..=chosen.steps;
            factors
                .manifest
                .local
                .retain(|entry| steps.contains(&entry.step));
        }
    }
    keep_views(run);
    let before = run.config.features.combine == Combine::Before;
    let (inside, beside) = if before {
        (attributes, Vec::new())
    } else {
        (Vec::new(), attributes)
    };
    let (size, count) = (locals.iter().map(Part::energy).sum(), locals.len());
    locals.extend(weigh(run.config, inside, size).0);
    let mut z = global(run, graph, (locals, count), shelf.factors())?;
    if run.aside.is_some() && !beside.is_empty() {
        // Z and its copy with the attributes would take twice the memory.
        z = z.away(shelf)?;
    }
    let (vectors, scales) = if beside.is_empty() {
        (z, Scales::default())
    } else {
        append(run, z, beside)
    };
    run.draft.iter_mut().for_each(|draft| draft.scales = scales);
    Ok(vectors.into_embedding(graph.ids().clone(), run))
}

/// Z, or Y itself, of whose parts the first `locals` are factors.
fn global(
    run: &mut Context,
    graph: &Graph,
    (parts, locals): (Vec<Part>, usize),
    factors: Option<&mut Writer>,
) -> Result<Vectors> {
    let (labels, y) = columns(&run.own, parts);
    if run.config.global.output == Output::Local {
        run.report.importance = importance(&labels, &y.column_energy());
        notes::zero_rows(run, graph, &y, None);
        return Ok(Vectors { labels, values: y });
    }
    let y = Arc::new(y);
    let (mut z, h) = factor(run, &y, &labels)?;
    if let (Some(draft), Some(h)) = (&mut run.draft, &h) {
        draft.h = Some(h.clone());
    }
    let h = h.filter(|_| factors.is_some());
    let floors = Floors::of(run, &y, locals);
    let short = rounding::clear(run, &y, &floors, &mut z);
    notes::short_rows(run, short);
    let z = Columns::part(run.own.clone(), vec![Group::full(z)]);
    notes::zero_rows(run, graph, &z, Some((&y, &floors)));
    drop(y);
    let z = z.into_block();
    if let Some(factors) = factors {
        write_global(
            factors,
            &run.config.global.solver,
            &z,
            h.as_ref(),
            names(&labels),
        )?;
    }
    Ok(Vectors::of_z(z, &run.own))
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
                message,
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

/// Keeps the steps that add new directions, or the last of them, as `first-step` says.
fn choose_steps(run: &mut Context, parts: Vec<Part>) -> Vec<Part> {
    let width = |k: usize| {
        parts
            .iter()
            .filter(|part| part.step == k)
            .map(|part| part.group.cols())
            .sum()
    };
    let widths: Vec<usize> = (1..=steps::TRIED).map(width).collect();
    let (labels, y) = columns(&run.own, parts);
    let chosen = steps::choose(&run.engine.gram(&y), &widths);
    let joined = labels.into_iter().zip(y.into_groups());
    let part = |(label, group): (Label, Group)| Part {
        name: label.name,
        step: label.step,
        columns: label.columns,
        group,
    };
    let mut kept: Vec<Part> = joined.map(part).collect();
    let steps = run.config.first_step.of(chosen.steps)..=chosen.steps;
    kept.retain(|part| steps.contains(&part.step));
    run.report.local.retain(|facts| steps.contains(&facts.step));
    run.report.automatic_steps = Some(chosen);
    kept
}

/// Keeps only the views of a model that are columns of Y, in their order.
fn keep_views(run: &mut Context) {
    let chosen = run
        .report
        .automatic_steps
        .as_ref()
        .map(|chosen| run.config.first_step.of(chosen.steps)..=chosen.steps);
    let kept = |step: usize| chosen.as_ref().is_none_or(|steps| steps.contains(&step));
    run.draft
        .iter_mut()
        .for_each(|draft| draft.keep_steps(kept));
}

/// [Z X]: attributes next to the embedding, Z with a mean squared row length of 1; and the factors of both.
pub(super) fn append(run: &Context, z: Vectors, beside: Vec<Part>) -> (Vectors, Scales) {
    let (config, nodes) = (run.config, run.own.rows);
    let Vectors {
        labels: mut all,
        values: z,
    } = z;
    let size: f64 = energy(run, &z);
    let mut groups = z.into_groups();
    let mut scales = Scales::default();
    if size > 0.0 {
        scales.z = (nodes as f64 / size).sqrt();
        groups = groups
            .into_iter()
            .map(|group| group.scaled(scales.z))
            .collect();
    }
    let (weighed, factor) = weigh(config, beside, if size > 0.0 { nodes as f64 } else { 0.0 });
    scales.x = factor;
    let (labels, x) = columns(&run.own, weighed);
    all.extend(labels);
    groups.extend(x.into_groups());
    (
        Vectors {
            labels: all,
            values: Columns::part(run.own.clone(), groups),
        },
        scales,
    )
}

/// The sum of all squares of Z, or of the local embeddings in its place.
fn energy(run: &Context, z: &Columns) -> f64 {
    let of = |group: &Group| match group
        .block()
        .filter(|_| !group.is_part() && group.rows().is_none())
    {
        Some(block) => run.engine.lengths(block, &run.own),
        None => group.column_norms(Norm::L2),
    };
    z.groups()
        .iter()
        .flat_map(of)
        .map(|length| length * length)
        .sum()
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

/// `edge.k1.0`, `edge.k1.1`, …, or the names of the columns instead of numbers; without a step `z0`, `structure.pc0`.
fn names(labels: &[Label]) -> Vec<String> {
    let name = |Label {
                    name,
                    step,
                    columns,
                    ..
                }: &Label,
                j: usize| match (columns.get(j), step) {
        (Some(column), 0) => format!("{name}.{column}"),
        (None, 0) => format!("{name}{j}"),
        (Some(column), step) => format!("{name}.k{step}.{column}"),
        (None, step) => format!("{name}.k{step}.{j}"),
    };
    labels
        .iter()
        .flat_map(|label| (0..label.width).map(move |j| name(label, j)))
        .collect()
}

/// Shares of the parts in a total energy.
fn importance(labels: &[Label], energies: &[f64]) -> Vec<Importance> {
    let total: f64 = energies.iter().sum();
    let mut rest = energies;
    let mut shares = Vec::new();
    for label in labels {
        let (own, others) = rest.split_at(label.width);
        rest = others;
        let sum: f64 = own.iter().sum();
        let share = if total > 0.0 { sum / total } else { 0.0 };
        shares.push(Importance {
            motif: label.name.clone(),
            step: label.step,
            share,
        });
    }
    shares
}
