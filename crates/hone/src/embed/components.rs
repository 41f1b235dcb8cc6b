//! Principal components of node features: the structure block of an embedding, and the share of each motif in it.
//!
//! Columns are centred, scaled to a variance that depends on their origin, and replaced by their leading components.
//! The shares of the motifs describe the graph, not those weights: the variance of each component is divided among the
//! features by their squared correlation with it, r²ᵢⱼ = λⱼ v²ᵢⱼ / Gᵢᵢ with G = XᵀX = V Λ Vᵀ, and summed per motif. The
//! last column, x²/(1 + x²) of the standardised first component x, says how far a node is from the middle, on either
//! side: a linear model can then recognise classes between two others, such as medium sizes between small and large
//! ones. It is bounded, so that no hub outweighs all other nodes. Cost: O(N F²) for F features, and one
//! eigendecomposition of F × F; if F is larger than N, or than [`WIDEST`], one of N × N, or iterations.

use crate::config::Components;
use crate::dense::{Block, Columns, Group, Norm, Small};
use crate::engine::Engine;
use crate::error::Result;
use crate::factor::svd::{NARROW, Svd, WIDEST, svd};
use crate::factor::{Factors, Task};
use crate::features::{NamedColumns, Origin, overflow};
use crate::operator::Operator;
use crate::progress::Silent;
use crate::random::Key;
use crate::report::{Dimension, Loading, MotifShare, Structure};

/// The common name of columns that do not count motifs.
const OWN: &str = "attributes";

/// Components, and what they capture.
pub(super) struct Principal {
    pub(super) block: Block,
    pub(super) structure: Structure,
    /// Names of the columns.
    pub(super) features: Vec<String>,
    /// The matrix by which the columns and a column of ones were multiplied; absent if they were too many to
    /// be read twice.
    pub(super) matrix: Option<Small>,
}

/// The `dim` leading principal components of some columns, unscaled: total variance 1, then shifted by the offset.
///
/// Columns are read twice: for sums of squares and products, a column of ones among them, and for the components. The facts
/// call motifs by `numbers` or by name.
pub(super) fn principal(
    engine: &dyn Engine,
    named: Vec<NamedColumns>,
    options: &Components,
    dim: usize,
    numbers: bool,
) -> Result<Principal> {
    let rows = named.first().map_or(0, |named| named.columns.rows());
    let (mut names, mut origins, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for columns in named {
        names.extend(columns.names);
        origins.extend(columns.origins);
        groups.extend(columns.columns.into_groups());
    }
    let width = names.len();
    let weights = origins.iter().map(|origin| options.weight(origin));
    let weights: Vec<f64> = weights.collect();
    if width > NARROW.max(rows).min(WIDEST) {
        let mut x = Columns::new(rows, groups).into_block();
        standardize(&mut x, &weights);
        let variances: Vec<f64> = x
            .column_norms(Norm::L2)
            .into_iter()
            .map(|norm| norm * norm)
            .collect();
        let (z, values, vectors) = wide(x, options, dim)?;
        let whole = variances.iter().sum();
        let of = Features {
            names: &names,
            origins: &origins,
            variances: &variances,
            numbers,
        };
        let structure = facts(&of, whole, &values, |i, j| f64::from(vectors.get(i, j)));
        return Ok(Principal {
            block: z,
            structure,
            features: names,
            matrix: None,
        });
    }
    groups.push(Group::full(Block::from_vec(rows, 1, vec![1.0; rows])));
    let x = Columns::new(rows, groups);
    let moments = Moments::of(&engine.products(&x)?, rows, &weights);
    moments.check(&names)?;
    let components = moments.gram.eigen()?;
    let extremes = options.has_extremes(dim);
    let leading = (dim - usize::from(extremes)).min(width);
    let kept = solid(&components.values[..leading]);
    let mut basis = Small::from_fn(width, dim, |i, j| {
        if j < kept {
            components.vectors.get(i, j)
        } else {
            0.0
        }
    });
    // Positive with the sum of all features: 1ᵀXᵀX v = λ · Σ v.
    let signs: Vec<f64> = (0..dim)
        .map(|j| sign((0..width).map(|i| basis.get(i, j))))
        .collect();
    basis.scale_columns(&signs);
    let variances = &components.values[..kept];
    let deviation = |j: usize| {
        let variance = variances.get(j).copied().unwrap_or(0.0);
        (variance / rows.max(1) as f64).sqrt()
    };
    if extremes {
        let factor = inverse(deviation(0));
        (0..width).for_each(|i| basis.set(i, dim - 1, factor * basis.get(i, 0)));
    }
    let matrix = moments.towards(&basis, |j| options.offset * deviation(j));
    let mut block = engine.times(&x, &matrix)?;
    if extremes {
        bend_last(&mut block, options.extremes);
    }
    let own: Vec<f64> = (0..width).map(|i| moments.gram.get(i, i)).collect();
    let whole = components.values.iter().map(|value| value.max(0.0)).sum();
    let of = Features {
        names: &names,
        origins: &origins,
        variances: &own,
        numbers,
    };
    let structure = facts(&of, whole, variances, |i, j| {
        signs[j] * components.vectors.get(i, j)
    });
    Ok(Principal {
        block,
        structure,
        features: names,
        matrix: Some(matrix),
    })
}

/// Replaces the last column, x, by x²/(1 + x²) times a scale.
pub(super) fn bend_last(block: &mut Block, size: f64) {
    let bent = |x: f32| {
        let square = f64::from(x).powi(2);
        (size * square / (1.0 + square)) as f32
    };
    block.update_rows(|_, row| row.last_mut().into_iter().for_each(|x| *x = bent(*x)));
}

/// 1/x, and 0 of 0.
fn inverse(x: f64) -> f64 {
    if x > 0.0 { 1.0 / x } else { 0.0 }
}

/// Statistics of columns from their sums and sums of products.
struct Moments {
    means: Vec<f64>,
    /// The factors of centred columns.
    factors: Vec<f64>,
    /// The Gram matrix of the columns, centred and multiplied.
    gram: Small,
}

impl Moments {
    /// From the Gram matrix of the columns and a last column of ones. The standard deviation of each column becomes its
    /// weight, the total variance 1; a constant column becomes zero.
    fn of(gram: &Small, rows: usize, weights: &[f64]) -> Self {
        let (width, n) = (weights.len(), rows.max(1) as f64);
        let means: Vec<f64> = (0..width).map(|j| gram.get(j, width) / n).collect();
        let centred = |i: usize, j: usize| gram.get(i, j) - n * means[i] * means[j];
        let deviations = (0..width).map(|j| (centred(j, j).max(0.0) / n).sqrt());
        let factors = factors(deviations, &means, weights);
        let gram = Small::from_fn(width, width, |i, j| factors[i] * factors[j] * centred(i, j));
        Moments {
            means,
            factors,
            gram,
        }
    }

    /// Refuses columns that overflow.
    fn check(&self, names: &[String]) -> Result<()> {
        match names
            .iter()
            .zip(&self.means)
            .find(|(_, mean)| !mean.is_finite())
        {
            None => Ok(()),
            Some((name, _)) => Err(overflow(name)),
        }
    }

    /// The matrix for columns and ones that centres, scales, multiplies by `basis` and adds the offsets.
    fn towards(&self, basis: &Small, offset: impl Fn(usize) -> f64) -> Small {
        let width = self.means.len();
        let scaled = Small::from_fn(width, basis.cols(), |i, j| {
            self.factors[i] * basis.get(i, j)
        });
        Small::from_fn(width + 1, basis.cols(), |i, j| match i == width {
            false => scaled.get(i, j),
            true => {
                offset(j)
                    - (0..width)
                        .map(|k| self.means[k] * scaled.get(k, j))
                        .sum::<f64>()
            }
        })
    }
}

/// The same if the Gram matrix of the columns would be too large, or larger than that of the rows: Z = U Σ, with the
/// variances that are not zero, and V with the signs of Z. The choice depends on the shape alone, never on free memory.
fn wide(x: Block, options: &Components, dim: usize) -> Result<(Block, Vec<f64>, Block)> {
    let rows = x.rows().max(1) as f64;
    let x = Operator::dense("X", Columns::from(x));
    let extremes = options.has_extremes(dim);
    let kept = dim - usize::from(extremes);
    let task = Task {
        rank: kept,
        right: true,
        key: Key::new(0).with("components", 0),
        progress: &Silent,
        aside: None,
    };
    let Factors {
        u: mut z,
        mut sigma,
        v,
        ..
    } = svd(&x, &Svd::default(), &task)?;
    let mut values: Vec<f64> = sigma.iter().map(|sigma| sigma * sigma).collect();
    values.truncate(solid(&values));
    sigma[values.len()..].fill(0.0);
    let mut v = v.expect("the right factor was asked for");
    // Positive with the sum of all features, as above.
    let signs: Vec<f64> = (0..sigma.len())
        .map(|j| sign((0..v.rows()).map(|i| f64::from(v.get(i, j)))))
        .collect();
    z.scale_columns(
        &signs
            .iter()
            .zip(&sigma)
            .map(|(sign, sigma)| sign * sigma)
            .collect::<Vec<_>>(),
    );
    v.scale_columns(&signs);
    if extremes {
        let factor = inverse(sigma[0] / rows.sqrt()) as f32;
        let mut wider = Block::zeros(z.rows(), dim);
        wider.update_rows(|i, row| {
            row[..kept].copy_from_slice(z.row(i));
            row[kept] = factor * row[0];
        });
        bend_last(&mut wider, options.extremes);
        z = wider;
    }
    move_up(&mut z, |j| {
        sigma
            .get(j)
            .map_or(0.0, |sigma| options.offset * sigma / rows.sqrt())
    });
    Ok((z, values, v))
}

/// The sign that makes the sum of a unit vector positive, or, where the sum is zero up to rounding, its first entry that is
/// not.
fn sign(mut entries: impl Iterator<Item = f64> + Clone) -> f64 {
    let sum: f64 = entries.clone().sum();
    let decides = if sum.abs() > EQUAL {
        sum
    } else {
        entries.find(|entry| entry.abs() > EQUAL).unwrap_or(1.0)
    };
    if decides < 0.0 { -1.0 } else { 1.0 }
}

/// Adds to each column its offset.
fn move_up(z: &mut Block, offset: impl Fn(usize) -> f64) {
    let offsets: Vec<f32> = (0..z.cols()).map(|j| offset(j) as f32).collect();
    z.update_rows(|_, row| {
        row.iter_mut()
            .zip(&offsets)
            .for_each(|(x, offset)| *x += *offset);
    });
}

/// Variances below this fraction of the largest are rounding noise: their columns are zero.
const ZERO: f64 = 1e-9;

/// How many of these variances, the largest first, are not zero.
fn solid(variances: &[f64]) -> usize {
    let least = ZERO * variances.first().map_or(0.0, |largest| largest.max(0.0));
    variances.partition_point(|&variance| variance > least)
}

/// Correlations closer than this are equal.
const EQUAL: f64 = 1e-6;

/// Components whose leading features are reported.
const DESCRIBED: usize = 3;

/// What is known of the features.
struct Features<'a> {
    names: &'a [String],
    origins: &'a [Origin],
    /// As they are weighted.
    variances: &'a [f64],
    /// Whether motifs are called by number.
    numbers: bool,
}

/// How much of the variance the components capture, the features that the first of them follow, and the shares of the
/// motifs: `whole` is the variance of all features, `leading` are those of the components that are not zero, and
/// `vector(i, j)` is what feature i has in component j.
fn facts(
    of: &Features,
    whole: f64,
    leading: &[f64],
    vector: impl Fn(usize, usize) -> f64,
) -> Structure {
    let held: f64 = leading.iter().sum();
    let squared = |i: usize, j: usize, value: f64| match of.variances[i] > 0.0 {
        true => value * vector(i, j).powi(2) / of.variances[i],
        false => 0.0,
    };
    let mut motifs: Vec<MotifShare> = Vec::new();
    for (j, &value) in leading.iter().enumerate() {
        let total: f64 = (0..of.origins.len()).map(|i| squared(i, j, value)).sum();
        for (i, origin) in of.origins.iter().enumerate() {
            let share = squared(i, j, value) / total * value / held;
            let motif = origin.motif.map_or(OWN, |motif| motif.called(of.numbers));
            match motifs.iter_mut().find(|entry| entry.motif == motif) {
                Some(entry) => entry.share += share,
                None => motifs.push(MotifShare {
                    motif: motif.to_owned(),
                    share,
                }),
            }
        }
    }
    motifs.sort_by(|a, b| b.share.total_cmp(&a.share));
    let correlation =
        |i: usize, j: usize, value: f64| squared(i, j, value).sqrt().copysign(vector(i, j));
    let described = leading.iter().enumerate().take(DESCRIBED);
    let dimensions = described.map(|(j, &value)| dimension(of, |i| correlation(i, j, value)));
    Structure {
        features: of
            .variances
            .iter()
            .filter(|variance| **variance > 0.0)
            .count(),
        components: leading.len(),
        explained: leading.iter().map(|value| value / whole).collect(),
        dimensions: dimensions.collect(),
        motifs,
    }
}

/// The features at both ends of a component, by their correlations with its column; those that are constant have none. Of
/// correlations that are equal up to rounding the first counts.
fn dimension(of: &Features, correlation: impl Fn(usize) -> f64) -> Dimension {
    let first_with_most = |sign: f64| {
        let further = |best: usize, i: usize| {
            if sign * (correlation(i) - correlation(best)) > EQUAL {
                i
            } else {
                best
            }
        };
        let varying = (0..of.names.len()).filter(|&i| of.variances[i] > 0.0);
        varying
            .reduce(further)
            .expect("a component of some feature")
    };
    let loading = |i: usize| {
        let name = &of.names[i];
        let feature = if of.origins[i].motif.is_some() {
            name.clone()
        } else {
            format!("{OWN}_{name}")
        };
        Loading {
            feature,
            correlation: correlation(i),
        }
    };
    Dimension {
        most: loading(first_with_most(1.0)),
        least: loading(first_with_most(-1.0)),
    }
}

/// Centres the columns and scales each to a standard deviation equal to its weight, and all to total
/// variance 1. A constant column becomes zero.
fn standardize(x: &mut Block, weights: &[f64]) {
    let rows = x.rows().max(1) as f64;
    let means = x.column_means();
    x.update_rows(|_, row| {
        row.iter_mut()
            .zip(&means)
            .for_each(|(x, mean)| *x = (f64::from(*x) - mean) as f32);
    });
    let lengths = x.column_norms(Norm::L2).into_iter();
    let deviations = lengths.map(|length| length / rows.sqrt());
    x.scale_columns(&factors(deviations, &means, weights));
}

/// The factors of centred columns that give each a standard deviation equal to its weight, and all together a variance of
/// 1; zero for constant columns.
fn factors(deviations: impl Iterator<Item = f64>, means: &[f64], weights: &[f64]) -> Vec<f64> {
    let columns = deviations.zip(means).zip(weights);
    let of = |((deviation, mean), weight): ((f64, &f64), &f64)| {
        if deviation > 1e-6 * mean.abs().max(1.0) {
            weight / deviation
        } else {
            0.0
        }
    };
    let factors: Vec<f64> = columns.map(of).collect();
    let varying = factors
        .iter()
        .zip(weights)
        .filter(|(factor, _)| **factor > 0.0);
    let variance: f64 = varying.map(|(_, weight)| weight * weight).sum();
    let total = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    factors.into_iter().map(|factor| factor / total).collect()
}

#[cfg(test)]
mod tests;
