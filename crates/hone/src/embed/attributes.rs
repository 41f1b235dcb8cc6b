//! Node attributes X in the embedding: made, shaped, diffused, weighed (sec. 2.6, 4.3).

use super::local::{Weighted, energy};
use super::{Hone, Part};
use crate::config::{Components, Form};
use crate::dense::{Block, Group, Norm, Small};
use crate::error::Result;
use crate::features::Named;
use crate::motif::{Counts, Motif};

impl Hone {
    /// X, when there is any: features of structure, then the user's own attributes.
    pub(super) fn attributes(&self, counts: &Counts) -> Result<Option<Block>> {
        let config = &self.config.attributes;
        let structure = config.structure.then(|| config.features.of(counts));
        let named: Vec<&Named> = structure.iter().chain(self.attributes.as_ref()).collect();
        if named.is_empty() {
            return Ok(None);
        }
        Ok(Some(match config.form {
            Form::Columns => {
                let mut x = side_by_side(&named);
                x.normalize_columns(self.config.local.norm);
                x
            }
            Form::Components(components) => principal(&named, &components)?,
        }))
    }

    /// X diffused over the graph of one motif, a step each.
    pub(super) fn diffused(&self, x: &Block, motif: Motif, w: &Weighted) -> Result<Vec<Part>> {
        let diffusion = &self.config.attributes.diffusion;
        let touched = w.graph.nodes.as_ref().map(|nodes| pick(x, nodes));
        let mut parts = Vec::new();
        diffusion.run(touched.as_ref().unwrap_or(x), &w.operator, &self.config.matrix(), |step, diffused| {
            let mut block = diffused.clone();
            block.normalize_columns(self.config.local.norm);
            parts.push(Part { name: format!("attributes:{motif}"), step, group: w.group(block) });
            Ok(())
        })?;
        Ok(parts)
    }

    /// Brings the squared size of attributes to `weight` times `other`.
    pub(super) fn weigh(&self, parts: Vec<Part>, other: f64) -> Vec<Part> {
        let own: f64 = parts.iter().map(|part| energy(part.group.block())).sum();
        if own <= 0.0 || other <= 0.0 {
            return parts;
        }
        let factor = (self.config.attributes.weight * other / own).sqrt();
        let scaled = |part: Part| Part { group: part.group.scaled(factor), ..part };
        parts.into_iter().map(scaled).collect()
    }

    /// X itself as a part, for attributes that are not diffused.
    pub(super) fn undiffused(x: Block) -> Part {
        Part { name: "attributes".into(), step: 0, group: Group::full(x) }
    }
}

/// Some rows of a block.
fn pick(x: &Block, rows: &[u32]) -> Block {
    let mut out = Block::zeros(rows.len(), x.cols());
    out.update_rows(|i, row| row.copy_from_slice(x.row(rows[i] as usize)));
    out
}

fn side_by_side(named: &[&Named]) -> Block {
    let rows = named.first().map_or(0, |named| named.block.rows());
    let mut out = Block::zeros(rows, named.iter().map(|named| named.block.cols()).sum());
    out.update_rows(|i, row| {
        let values = named.iter().flat_map(|named| named.block.row(i));
        row.iter_mut().zip(values).for_each(|(to, &x)| *to = x);
    });
    out
}

/// Principal components, scale kept: total variance 1, then moved up by the offset.
fn principal(named: &[&Named], options: &Components) -> Result<Block> {
    let mut x = side_by_side(named);
    let sizes = named.iter().flat_map(|named| &named.sizes);
    let weights: Vec<f64> = sizes.map(|&s| options.size_decay.powi(2 - s.max(2) as i32)).collect();
    standardize(&mut x, &weights);
    let components = x.gram().eigen()?;
    let (rows, width) = (x.rows().max(1) as f64, x.cols());
    let kept = options.dim.min(width);
    let mut basis =
        Small::from_fn(width, options.dim, |i, j| if j < kept { components.vectors.get(i, j) } else { 0.0 });
    // Positive with the sum of all features: 1ᵀXᵀX v = λ · Σ v.
    let sum = |j: usize| (0..width).map(|i| basis.get(i, j)).sum::<f64>();
    let signs: Vec<f64> = (0..options.dim).map(|j| if sum(j) < 0.0 { -1.0 } else { 1.0 }).collect();
    basis.scale_columns(&signs);
    let mut z = x.times(&basis);
    let value = |j: usize| components.values.get(j).filter(|_| j < kept).map_or(0.0, |value| value.max(0.0));
    let offsets: Vec<f64> = (0..options.dim).map(|j| options.offset * (value(j) / rows).sqrt()).collect();
    z.update_rows(|_, row| row.iter_mut().zip(&offsets).for_each(|(x, offset)| *x += *offset as f32));
    Ok(z)
}

/// Centres the columns, brings each to its weight as standard deviation, and all to total variance 1.
/// A constant column becomes zero.
fn standardize(x: &mut Block, weights: &[f64]) {
    let rows = x.rows().max(1) as f64;
    let means = x.column_means();
    x.update_rows(|_, row| row.iter_mut().zip(&means).for_each(|(x, mean)| *x = (f64::from(*x) - mean) as f32));
    let deviations = x.column_norms(Norm::L2).into_iter().map(|norm| norm / rows.sqrt());
    let factors: Vec<f64> = deviations
        .zip(&means)
        .zip(weights)
        .map(
            |((deviation, mean), weight)| if deviation > 1e-6 * mean.abs().max(1.0) { weight / deviation } else { 0.0 },
        )
        .collect();
    let varying = factors.iter().zip(weights).filter(|(factor, _)| **factor > 0.0);
    let variance: f64 = varying.map(|(_, weight)| weight * weight).sum();
    let total = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    x.scale_columns(&factors.iter().map(|factor| factor / total).collect::<Vec<_>>());
}
