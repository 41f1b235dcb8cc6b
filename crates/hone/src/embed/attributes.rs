//! Node features X in the embedding: computed, normalised, diffused, weighted (sec. 2.6, 4.3).

use std::sync::Arc;

use super::components::{Principal, principal};
use super::context::Context;
use super::part::Part;
use super::plan;
use super::storage::shelf::Shelf;
use super::weighted::{Lazily, Weighted};
use crate::attributes;
use crate::config::{Balance, Config, Form};
use crate::dense::panels;
use crate::dense::{Block, Group, Norm};
use crate::error::{Error, Result};
use crate::features::{Named, NamedColumns, Origin};
use crate::graph::Graph;
use crate::hashing::SeededMap;
use crate::motif::{Counts, Motif};

/// The user's attributes: those of the file and those of the caller.
#[derive(Default)]
pub(super) struct Own<'a> {
    read: Option<Named>,
    given: Option<&'a Named>,
}

impl Own<'_> {
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

/// X, with the names of its columns.
pub(super) struct X {
    /// The common name of its columns: `structure`, `attributes` (the user's own), or `features` for both.
    pub(super) kind: &'static str,
    pub(super) block: Block,
    pub(super) names: Arc<[String]>,
}

/// Reads the file of attributes, if there is one, and checks those of the caller.
pub(super) fn own<'a>(run: &mut Context<'a>, graph: &Graph) -> Result<Own<'a>> {
    let given = run.given;
    if let Some(given) = given.filter(|named| named.block.rows() != graph.nodes()) {
        let message = format!("{} rows for {} nodes", given.block.rows(), graph.nodes());
        return Err(Error::config("attributes", message));
    }
    let config = &run.config.attributes;
    let Some(file) = &config.file else {
        return Ok(Own { read: None, given });
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
    run.report.notes.extend(loaded.facts.notes.iter().cloned());
    run.report.attributes = Some(loaded.facts);
    Ok(Own {
        read: Some(Named {
            origins: vec![Origin::default(); loaded.names.len()],
            names: loaded.names,
            block: loaded.block,
        }),
        given,
    })
}

/// X, if there is any: structure features, then the user's own attributes.
pub(super) fn x(run: &mut Context, counts: Option<&Counts>, own: &Own) -> Result<Option<X>> {
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
            let mut block = side_by_side(&named);
            block.normalize_columns(config.local.norm);
            X {
                kind,
                block,
                names: unique(named.iter().flat_map(|named| &named.names)),
            }
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
            X { kind, block, names }
        }
    }))
}

/// X diffused over the graph of one motif, one part per step, computed or from the shelf.
pub(super) fn diffused_or_found(
    config: &Config,
    x: &X,
    w: &Lazily,
    shelf: &mut Shelf,
) -> Result<Vec<Part>> {
    let (motif, steps) = (w.motif, config.features.diffusion.steps);
    let name = diffused_name(x, motif);
    let shape = (x.block.rows(), x.block.cols());
    if (1..=steps).all(|step| shelf.has(&name, step)) {
        let found = (1..=steps)
            .map(|step| shelf.find(&name, step, shape))
            .collect::<Result<Vec<_>>>()?;
        return Ok(found.into_iter().flatten().map(|(part, _)| part).collect());
    }
    diffused(config, x, motif, w.get()?, |part| {
        shelf.keep(part, None, &panels::Own::all(x.block.rows()))
    })
}

/// X diffused over the graph of one motif, one part per step, passed to `keep`.
pub(super) fn diffused(
    config: &Config,
    x: &X,
    motif: Motif,
    w: &Weighted,
    mut keep: impl FnMut(Part) -> Result<Part>,
) -> Result<Vec<Part>> {
    let diffusion = &config.features.diffusion;
    let (kept, norm) = (diffusion.kept(), config.local.norm);
    let touched = w.graph.nodes.as_ref().map(|nodes| pick(&x.block, nodes));
    let mut parts = Vec::new();
    let start = touched.as_ref().unwrap_or(&x.block);
    let diffuse = |step: usize, diffused: &Block, scale: f64| {
        // Nodes without the motif have zeros, unless they keep a part of their own attributes.
        let (mut block, whole) = match &w.graph.nodes {
            Some(nodes) if kept > 0.0 => (beside_kept(&x.block, kept, nodes, diffused), true),
            _ => (diffused.clone(), false),
        };
        block.normalize_columns(norm);
        if norm == Norm::None && scale != 1.0 {
            unscale(&mut block, scale, step)?;
        }
        let (name, columns) = (diffused_name(x, motif), x.names.clone());
        let group = if whole {
            Group::full(block)
        } else {
            w.group(Group::full(block))
        };
        parts.push(keep(Part {
            name,
            step,
            columns,
            group,
        })?);
        Ok(())
    };
    let done = diffusion.run(
        start,
        (&w.operator, w.graph.scale),
        &config.matrix(),
        diffuse,
    );
    done.map_err(|error| match error {
        Error::Numeric { stage, message } => Error::Numeric {
            stage: format!("diffusion over motif {motif}, {stage}"),
            message,
        },
        other => other,
    })?;
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
    let own: f64 = parts.iter().map(Part::energy).sum();
    (own > 0.0 && other > 0.0).then(|| (weight * other / own).sqrt())
}

/// Features scaled relative to `other` as the settings say, and the factor.
pub(super) fn weigh(config: &Config, parts: Vec<Part>, other: f64) -> (Vec<Part>, f64) {
    let Some(factor) = balance(config, &parts, other) else {
        return (parts, 1.0);
    };
    let scaled = |part: Part| Part {
        group: part.group.scaled(factor),
        ..part
    };
    (parts.into_iter().map(scaled).collect(), factor)
}

/// X itself as a part, for features that are not diffused.
pub(super) fn undiffused(x: X) -> Part {
    Part {
        name: x.kind.into(),
        step: 0,
        columns: x.names,
        group: Group::full(x.block),
    }
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

fn diffused_name(x: &X, motif: Motif) -> String {
    format!("{}:{motif}", x.kind)
}

/// The names, with `.2`, `.3`, … appended to repeated ones.
fn unique<'a>(names: impl Iterator<Item = &'a String>) -> Arc<[String]> {
    let mut seen: SeededMap<&str, usize> = SeededMap::default();
    let numbered = names.map(|name| {
        let count = seen.entry(name).or_default();
        *count += 1;
        if *count == 1 {
            name.clone()
        } else {
            format!("{name}.{count}")
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
    let message = "diffused features overflow; use fewer steps, psi = p, or local.norm = l2";
    Err(Error::Numeric {
        stage: format!("step {step}"),
        message: message.into(),
    })
}

/// All columns in one block.
pub(super) fn side_by_side(named: &[&Named]) -> Block {
    let rows = named.first().map_or(0, |named| named.block.rows());
    let mut out = Block::zeros(rows, named.iter().map(|named| named.block.cols()).sum());
    out.update_rows(|i, row| {
        let values = named.iter().flat_map(|named| named.block.row(i));
        row.iter_mut().zip(values).for_each(|(to, &x)| *to = x);
    });
    out
}
