//! Node features X in the embedding: computed, normalised, diffused, weighted (sec. 2.6, 4.3); and the user's attributes.

use std::sync::Arc;

use super::components::{Principal, principal};
use super::context::Context;
use super::part::{Label, Part};
use super::plan;
use super::profiles::{self, ATTRIBUTES};
use super::weighted::Weighted;
use crate::attributes::{self, Attributes};
use crate::config::{Balance, Form};
use crate::dense::{Block, Group, Norm};
use crate::error::{Error, Result};
use crate::features::{Named, Origin, side_by_side};
use crate::graph::Graph;
use crate::hashing::SeededMap;
use crate::memory::Allowance;
use crate::message::{Message, message, set};
use crate::motif::{Counts, Motif};
use crate::report::Report;

/// The user's attributes: those of the file and those of the caller.
#[derive(Default)]
pub(super) struct UserAttributes<'a> {
    read: Option<Attributes>,
    given: Option<&'a Attributes>,
}

impl UserAttributes<'_> {
    /// Their number.
    pub(super) fn columns(&self) -> usize {
        self.all().map(|own| own.columns.len()).sum()
    }

    /// Bytes that profiles with so many columns take while they are made, for so many nodes.
    pub(super) fn profile_bytes(&self, nodes: usize, columns: usize) -> u64 {
        let stored: usize = self.all().map(|own| own.values.nnz()).sum();
        profiles::memory(stored, nodes + self.columns(), columns)
    }

    /// A fingerprint of names and values.
    pub(super) fn fingerprint(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for own in self.all() {
            for column in &own.columns {
                hasher.update(
                    format!("{} {:?} {}\n", column.name, column.kind, column.absent).as_bytes(),
                );
            }
            let pattern = own.values.pattern();
            hasher.update(bytemuck::cast_slice(pattern.offsets()));
            hasher.update(bytemuck::cast_slice(pattern.columns()));
            hasher.update(bytemuck::cast_slice(own.values.values()));
        }
        hasher.finalize()
    }

    fn all(&self) -> impl Iterator<Item = &Attributes> {
        self.read.iter().chain(self.given)
    }

    /// The columns as they are.
    fn named(&self, memory: Option<u64>) -> Result<Vec<Named>> {
        let named = |own: &Attributes| {
            let (rows, cols) = (own.values.rows(), own.columns.len());
            let form = set("features.form", "{ components = {} }");
            let remedy = message![form, " needs no dense columns; or raise the memory limit"];
            let stage = format!("{cols} columns of attributes for {rows} nodes");
            let bytes = 4 * (rows as u64).saturating_mul(cols as u64);
            Allowance::new(memory).check_work(&stage, bytes, remedy)?;
            Ok(Named {
                origins: vec![Origin::default(); cols],
                names: own.names(),
                block: own.block(),
            })
        };
        self.all().map(named).collect()
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
    let mut own = UserAttributes {
        read: None,
        given: run.given,
    };
    if let Some(given) = own.given.filter(|own| own.values.rows() != graph.nodes()) {
        let message = format!("{} rows for {} nodes", given.values.rows(), graph.nodes());
        return Err(Error::config("attributes", message));
    }
    let config = &run.config.attributes;
    if let Some(file) = &config.file {
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
        own.read = Some(loaded.attributes);
    }
    run.attributes = run.config.attributes_dim(own.columns())?;
    Ok(own)
}

/// X, if there is any: columns of structure features and of the user's own attributes; or profiles of the attributes, and
/// components of structure.
pub(super) fn x(
    run: &mut Context,
    graph: &Graph,
    counts: Option<&Counts>,
    own: &UserAttributes,
) -> Result<Vec<X>> {
    let config = run.config;
    let counts = counts.filter(|_| config.structure.enabled);
    let Form::Components(components) = config.features.form else {
        return Ok(columns(run, counts, own)?.into_iter().collect());
    };
    let mut all = Vec::new();
    if run.attributes > 0 {
        let block = profiles::make(run, graph, &own.all().collect::<Vec<_>>())?;
        all.push(X::new(ATTRIBUTES, Arc::default(), block));
    }
    let Some(counts) = counts.filter(|_| config.components_dim() > 0) else {
        return Ok(all);
    };
    let structure = run.engine.features(&config.structure, counts)?;
    let Principal {
        block,
        structure,
        features,
        matrix,
    } = principal(
        run.engine,
        vec![structure],
        &components,
        config.components_dim(),
        config.structure.numbers,
    )?;
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
    let name = |j| match j < last {
        true => format!("pc{j}"),
        false => "extremes".into(),
    };
    let names = (0..block.cols()).map(name).collect();
    all.push(X::new("structure", names, block));
    Ok(all)
}

/// Structure features and attributes as they are, each column normalised.
fn columns(run: &Context, counts: Option<&Counts>, own: &UserAttributes) -> Result<Option<X>> {
    let kind = match (counts, own.columns()) {
        (None, 0) => return Ok(None),
        (Some(_), 0) => "structure",
        (None, _) => ATTRIBUTES,
        _ => "features",
    };
    let structure = counts
        .map(|counts| run.config.structure.of(counts))
        .transpose()?;
    let own = own.named(run.memory_limit)?;
    let named: Vec<&Named> = structure.iter().chain(&own).collect();
    let mut block = side_by_side(&named).block;
    block.normalize_columns(run.config.local.norm);
    let names = unique(named.iter().flat_map(|named| &named.names));
    Ok(Some(X::new(kind, names, block)))
}

/// The parts of X diffused over the graph of a motif, one per step.
pub(super) fn diffused_labels(run: &Context, x: &X, motif: Motif) -> Vec<Label> {
    let steps = 1..=run.config.features.diffusion.steps;
    let motif = motif.called(run.config.structure.numbers);
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

/// Structure beside proximity and attributes has this many times their squared norm.
const BESIDE_ATTRIBUTES: f64 = 1.0;

/// The squared norm of structure relative to that of proximity: 20, and less the more clearly the spectrum shows communities,
/// down to 2, since proximity then says more about a node.
fn beside_proximity(report: &Report) -> f64 {
    let all: Vec<f64> = report
        .local
        .iter()
        .filter_map(|facts| facts.community_weight)
        .collect();
    match all.len() {
        0 => 20.0,
        count => 2.0 * 10f64.powf(1.0 - all.iter().sum::<f64>() / count as f64),
    }
}

/// What profiles of attributes, and other features, are multiplied with; 1 where they keep their length.
pub(super) struct Factors {
    pub(super) attributes: f64,
    pub(super) features: f64,
}

/// The parts of features, scaled relative to the squared norm of other columns as the settings say, and the factors.
pub(super) fn weigh(run: &Context, parts: Vec<Part>, other: f64) -> (Vec<Part>, Factors) {
    let config = run.config;
    let components = matches!(config.features.form, Form::Components(_));
    let is_profile =
        |part: &Part| components && part.label.name.split(':').next() == Some(ATTRIBUTES);
    let energy = |profiles: bool| -> f64 {
        let some = parts.iter().filter(|part| is_profile(part) == profiles);
        some.map(|part| part.group.energy()).sum()
    };
    let factor = |own: f64, wanted: f64| match own > 0.0 && wanted > 0.0 {
        true => (wanted / own).sqrt(),
        false => 1.0,
    };
    let (of_profiles, of_features) = (energy(true), energy(false));
    let profiles = match of_profiles > 0.0 {
        true => config.attributes.weight * other,
        false => 0.0,
    };
    let weight = match config.features.weight {
        Balance::Unit => 0.0,
        Balance::Times(weight) => weight,
        Balance::Auto if of_profiles > 0.0 => BESIDE_ATTRIBUTES,
        Balance::Auto => beside_proximity(&run.report),
    };
    let motifs = config.structure.motifs.motifs();
    let of_arcs = config.structure.enabled && motifs.iter().any(|motif| motif.is_directed());
    let weight = if of_arcs { OF_ARCS * weight } else { weight };
    let factors = Factors {
        attributes: factor(of_profiles, profiles),
        features: factor(of_features, weight * (other + profiles)),
    };
    let scaled = parts.into_iter().map(|part| {
        let factor = match is_profile(&part) {
            true => factors.attributes,
            false => factors.features,
        };
        if factor == 1.0 {
            part
        } else {
            part.scaled(factor)
        }
    });
    (scaled.collect(), factors)
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
