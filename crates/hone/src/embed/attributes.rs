//! Node features X in the embedding: computed, normalised, diffused, weighted (sec. 2.6, 4.3).

use std::sync::Arc;

use super::components::{Principal, principal};
use super::context::Context;
use super::part::{Label, Part};
use super::plan;
use super::weighted::Weighted;
use crate::attributes;
use crate::config::{Balance, Config, Form};
use crate::dense::{Block, Group, Norm};
use crate::error::{Error, Result};
use crate::features::{Named, NamedColumns, Origin, side_by_side};
use crate::graph::Graph;
use crate::hashing::SeededMap;
use crate::message::{Message, message, set};
use crate::motif::{Counts, Motif};

/// The user's attributes: those of the file and those of the caller.
#[derive(Default)]
pub(super) struct UserAttributes<'a> {
    read: Option<Named>,
    given: Option<&'a Named>,
}

impl UserAttributes<'_> {
    /// Their number.
    pub(super) fn columns(&self) -> usize {
        self.all().map(|named| named.block.cols()).sum()
    }

    /// A fingerprint of names and values.
    pub(super) fn fingerprint(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for named in self.all() {
            named
                .names
                .iter()
                .for_each(|name| hasher.update(format!("{name}\n").as_bytes()));
            for piece in named.block.as_slice().chunks(1 << 14) {
                hasher.update(
                    &piece
                        .iter()
                        .flat_map(|value| value.to_le_bytes())
                        .collect::<Vec<u8>>(),
                );
            }
        }
        hasher.finalize()
    }

    fn all(&self) -> impl Iterator<Item = &Named> {
        self.read.iter().chain(self.given)
    }
}

/// X. The common name of its columns is `structure`, `attributes` (the user's own), or `features` for both.
pub(super) struct X {
    pub(super) label: Label,
    pub(super) block: Block,
}

impl X {
    fn new(name: &str, columns: Arc<[String]>, block: Block) -> Self {
        let label = Label {
            columns,
            ..Label::numbered(name, 0, block.cols())
        };
        X { label, block }
    }
}

impl From<X> for Part {
    fn from(x: X) -> Self {
        Part {
            label: x.label,
            group: Group::full(x.block),
        }
    }
}

/// Reads the file of attributes, if there is one, and checks those of the caller.
pub(super) fn read<'a>(run: &mut Context<'a>, graph: &Graph) -> Result<UserAttributes<'a>> {
    let given = run.given;
    if let Some(given) = given.filter(|named| named.block.rows() != graph.nodes()) {
        let message = format!("{} rows for {} nodes", given.block.rows(), graph.nodes());
        return Err(Error::config("attributes", message));
    }
    let config = &run.config.attributes;
    let Some(file) = &config.file else {
        return Ok(UserAttributes { read: None, given });
    };
    let loaded = run.time("read attributes", |run| {
        let read = attributes::read(
            file,
            &config.table,
            graph.ids(),
            run.memory_limit,
            run.progress,
        );
        read.map_err(|error| plan::naming_all_with_attributes(run, error, graph))
    })?;
    let notes = loaded.facts.notes.iter().map(Message::from);
    run.report.notes.extend(notes);
    run.report.attributes = Some(loaded.facts);
    Ok(UserAttributes {
        read: Some(Named {
            origins: vec![Origin::default(); loaded.names.len()],
            names: loaded.names,
            block: loaded.block,
        }),
        given,
    })
}

/// X, if there is any: structure features, then the user's own attributes.
pub(super) fn x(
    run: &mut Context,
    counts: Option<&Counts>,
    own: &UserAttributes,
) -> Result<Option<X>> {
    let (config, form) = (run.config, run.config.features.form);
    if matches!(form, Form::Components(_)) && config.components_dim() == 0 {
        return Ok(None);
    }
    let counts = counts.filter(|_| config.structure.enabled);
    if counts.is_none() && own.columns() == 0 {
        return Ok(None);
    }
    let kind = match (&counts, own.columns()) {
        (Some(_), 0) => "structure",
        (None, _) => "attributes",
        _ => "features",
    };
    Ok(Some(match form {
        Form::Columns => {
            let structure = counts
                .map(|counts| config.structure.of(counts))
                .transpose()?;
            let named: Vec<&Named> = structure.iter().chain(own.all()).collect();
            let mut block = side_by_side(&named).block;
            block.normalize_columns(config.local.norm);
            let names = unique(named.iter().flat_map(|named| &named.names));
            X::new(kind, names, block)
        }
        Form::Components(components) => {
            let structure = counts
                .map(|counts| run.engine.features(&config.structure, counts))
                .transpose()?;
            let named = structure
                .into_iter()
                .chain(own.all().map(centred))
                .collect();
            let Principal {
                block,
                structure,
                features,
                matrix,
            } = principal(run.engine, named, &components, config.components_dim())?;
            run.report.structure = Some(structure);
            if let Some(draft) = &mut run.draft {
                let wide = || {
                    Error::config(
                        "features",
                        "there are too many for a model; choose fewer, or make no model",
                    )
                };
                draft.structure = Some((features, matrix.ok_or_else(wide)?));
            }
            let last = if components.has_extremes(block.cols()) {
                block.cols() - 1
            } else {
                block.cols()
            };
            let names = (0..block.cols())
                .map(|j| {
                    if j < last {
                        format!("pc{j}")
                    } else {
                        "extremes".into()
                    }
                })
                .collect();
            X::new(kind, names, block)
        }
    }))
}

/// The parts of X diffused over the graph of a motif, one per step.
pub(super) fn diffused_labels(run: &Context, x: &X, motif: Motif) -> Vec<Label> {
    let steps = 1..=run.config.features.diffusion.steps;
    let name = format!("{}:{motif}", x.label.name);
    let label = |step: usize| Label {
        name: name.clone(),
        step,
        ..x.label.clone()
    };
    steps.map(label).collect()
}

/// X diffused over the graph of a motif, one part per step; without the graph they are in the checkpoint.
pub(super) fn diffused(
    run: &mut Context,
    x: &X,
    motif: Motif,
    w: Option<&Weighted>,
) -> Result<Vec<Part>> {
    let labels = diffused_labels(run, x, motif);
    let cached = run.cached(&labels, false)?;
    let Some(w) = w.filter(|_| cached.is_none()) else {
        return Ok(cached.map_or(Vec::new(), |(parts, _)| parts));
    };
    let (diffusion, norm) = (&run.config.features.diffusion, run.config.local.norm);
    let (nodes, kept, matrix) = (&w.graph.nodes, diffusion.kept(), run.config.matrix());
    let located = |error| match error {
        Error::Numeric { stage, message } => Error::Numeric {
            stage: format!("diffusion over motif {motif}, {stage}"),
            message,
        },
        other => other,
    };
    let touched = nodes.as_ref().map(|nodes| pick(&x.block, nodes));
    let start = touched.as_ref().unwrap_or(&x.block);
    let steps = diffusion.over(start, (&w.operator, w.graph.scale), &matrix);
    let mut parts = Vec::new();
    for (label, step) in labels.into_iter().zip(steps) {
        let (diffused, scale) = step.map_err(located)?;
        // Nodes without the motif have zeros, unless they keep a part of their own attributes.
        let (mut block, rows) = match nodes {
            Some(nodes) if kept > 0.0 => (beside_kept(&x.block, kept, nodes, &diffused), None),
            nodes => (diffused, nodes.clone()),
        };
        block.normalize_columns(norm);
        if norm == Norm::None && scale != 1.0 {
            unscale(&mut block, scale, label.step).map_err(located)?;
        }
        let group = Group::full(block).with_rows(rows);
        parts.push(run.keep(Part { label, group }, None)?);
    }
    Ok(parts)
}

/// Features of arcs have this fraction of the weight of others: there are many, for both directions, and at full weight
/// they outweighed proximity if labels were few (docs/directed.md).
const OF_ARCS: f64 = 0.25;

/// The factor that scales the squared norm of features to `weight` times `other`; none if columns keep their length.
fn balance(config: &Config, parts: &[Part], other: f64) -> Option<f64> {
    let Balance::Times(weight) = config.features.weight else {
        return None;
    };
    let of_arcs = config.structure.enabled
        && config
            .structure
            .motifs
            .motifs()
            .iter()
            .any(|motif| motif.is_directed());
    let weight = if of_arcs { OF_ARCS * weight } else { weight };
    let own: f64 = parts.iter().map(|part| part.group.energy()).sum();
    (own > 0.0 && other > 0.0).then(|| (weight * other / own).sqrt())
}

/// Features scaled relative to `other` as the settings say, and the factor.
pub(super) fn weigh(config: &Config, parts: Vec<Part>, other: f64) -> (Vec<Part>, f64) {
    let Some(factor) = balance(config, &parts, other) else {
        return (parts, 1.0);
    };
    let scaled = parts.into_iter().map(|part| part.scaled(factor));
    (scaled.collect(), factor)
}

/// The user's columns without their means: values such as years and times may be far from zero, and later stages use 32
/// bits.
fn centred(named: &Named) -> NamedColumns {
    let mut named = named.clone();
    let means = named.block.column_means();
    named.block.update_rows(|_, row| {
        row.iter_mut()
            .zip(&means)
            .for_each(|(x, mean)| *x = (f64::from(*x) - mean) as f32);
    });
    named.into()
}

/// The names, with `_2`, `_3`, … appended to repeated ones.
fn unique<'a>(names: impl Iterator<Item = &'a String>) -> Arc<[String]> {
    let mut seen: SeededMap<&str, usize> = SeededMap::default();
    let numbered = names.map(|name| {
        let count = seen.entry(name).or_default();
        *count += 1;
        if *count == 1 {
            name.clone()
        } else {
            format!("{name}_{count}")
        }
    });
    numbered.collect()
}

/// Some rows of a block.
fn pick(x: &Block, rows: &[u32]) -> Block {
    let mut out = Block::zeros(rows.len(), x.cols());
    out.update_rows(|i, row| row.copy_from_slice(x.row(rows[i] as usize)));
    out
}

/// The `diffused` rows of `nodes`, and of all others the part of X that they keep.
fn beside_kept(x: &Block, kept: f64, nodes: &[u32], diffused: &Block) -> Block {
    let mut out = Block::zeros(x.rows(), x.cols());
    out.update_rows(|i, row| match nodes.binary_search(&(i as u32)) {
        Ok(at) => row.copy_from_slice(diffused.row(at)),
        Err(_) => row
            .iter_mut()
            .zip(x.row(i))
            .for_each(|(to, &x)| *to = (kept * f64::from(x)) as f32),
    });
    out
}

/// The unscaled values, if no norm is applied.
fn unscale(block: &mut Block, scale: f64, step: usize) -> Result<()> {
    block.scale_columns(&vec![1.0 / scale; block.cols()]);
    if block.as_slice().iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    let (p, norm) = (set("psi", "p"), set("local.norm", "l2"));
    Err(Error::Numeric {
        stage: format!("step {step}"),
        message: message![
            "diffused features overflow; use fewer steps, ",
            p,
            ", or ",
            norm
        ],
    })
}
