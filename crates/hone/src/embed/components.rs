//! Principal components of node features: the structure block of an embedding, and which motifs it is made of.
//!
//! Columns are centred, brought to a variance that their origin gives, and replaced by their leading components. Which
//! motifs carry them is a fact of the graph, not of those weights: each component's part of the variance is divided among
//! the features by their squared correlation with it, r²ᵢⱼ = λⱼ v²ᵢⱼ / Gᵢᵢ with G = XᵀX = V Λ Vᵀ, and summed by motif.
//! Cost: O(N F²) for F features, and one eigen decomposition of F × F.

use super::attributes::side_by_side;
use crate::config::Components;
use crate::dense::{Block, Eigen, Norm, Small};
use crate::error::Result;
use crate::features::{Named, Origin};
use crate::report::{MotifShare, Structure};

/// What columns that count no motif are called together.
const OWN: &str = "attributes";

/// `dim` principal components, scale kept: total variance 1, then moved up by the offset; and what they hold.
pub(super) fn principal(named: &[&Named], options: &Components, dim: usize) -> Result<(Block, Structure)> {
    let mut x = side_by_side(named);
    let origins: Vec<Origin> = named.iter().flat_map(|named| named.origins.iter().copied()).collect();
    let weights: Vec<f64> = origins.iter().map(|origin| options.weight(origin)).collect();
    standardize(&mut x, &weights);
    let gram = x.gram();
    let components = gram.eigen()?;
    let (rows, width) = (x.rows().max(1) as f64, x.cols());
    let kept = dim.min(width);
    let mut basis = Small::from_fn(width, dim, |i, j| if j < kept { components.vectors.get(i, j) } else { 0.0 });
    // Positive with the sum of all features: 1ᵀXᵀX v = λ · Σ v.
    let sum = |j: usize| (0..width).map(|i| basis.get(i, j)).sum::<f64>();
    let signs: Vec<f64> = (0..dim).map(|j| if sum(j) < 0.0 { -1.0 } else { 1.0 }).collect();
    basis.scale_columns(&signs);
    let mut z = x.times(&basis);
    let value = |j: usize| components.values.get(j).filter(|_| j < kept).map_or(0.0, |value| value.max(0.0));
    let offsets: Vec<f64> = (0..dim).map(|j| options.offset * (value(j) / rows).sqrt()).collect();
    z.update_rows(|_, row| row.iter_mut().zip(&offsets).for_each(|(x, offset)| *x += *offset as f32));
    Ok((z, facts(&gram, &components, &origins, kept)))
}

/// Variances below this part of the largest are rounding noise.
const ZERO: f64 = 1e-9;

/// How much of the variance the components hold, and which motifs they go with.
fn facts(gram: &Small, components: &Eigen, origins: &[Origin], kept: usize) -> Structure {
    let largest = components.values.first().copied().unwrap_or(0.0).max(0.0);
    let all: f64 = components.values.iter().map(|value| value.max(0.0)).sum();
    let values = || components.values.iter().take(kept).enumerate().filter(|(_, value)| **value > ZERO * largest);
    let held: f64 = values().map(|(_, value)| value).sum();
    let mut motifs: Vec<MotifShare> = Vec::new();
    for (j, &value) in values() {
        let squared = |i: usize| {
            let own = gram.get(i, i);
            if own > 0.0 { value * components.vectors.get(i, j).powi(2) / own } else { 0.0 }
        };
        let total: f64 = (0..origins.len()).map(squared).sum();
        for (i, origin) in origins.iter().enumerate() {
            let share = squared(i) / total * value / held;
            let motif = origin.motif.map_or(OWN, |motif| motif.name());
            match motifs.iter_mut().find(|entry| entry.motif == motif) {
                Some(entry) => entry.share += share,
                None => motifs.push(MotifShare { motif: motif.to_owned(), share }),
            }
        }
    }
    motifs.sort_by(|a, b| b.share.total_cmp(&a.share));
    Structure {
        features: (0..origins.len()).filter(|&i| gram.get(i, i) > 0.0).count(),
        components: values().count(),
        explained: values().map(|(_, value)| value / all).collect(),
        motifs,
    }
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
