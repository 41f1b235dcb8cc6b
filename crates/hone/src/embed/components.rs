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
/// Columns are read twice: for sums of squares and products, a column of ones among them, and for the components.
pub(super) fn principal(
    engine: &dyn Engine,
    named: Vec<NamedColumns>,
    options: &Components,
    dim: usize,
) -> Result<Principal> {
    let rows = named.first().map_or(0, |named| named.columns.rows());
    let names: Vec<String> = named.iter().flat_map(|named| named.names.clone()).collect();
    let origins: Vec<Origin> = named
        .iter()
        .flat_map(|named| named.origins.clone())
        .collect();
    let weights: Vec<f64> = origins
        .iter()
        .map(|origin| options.weight(origin))
        .collect();
    let width = names.len();
    let mut groups: Vec<Group> = named
        .into_iter()
        .flat_map(|named| named.columns.into_groups())
        .collect();
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
        let mut factors: Vec<f64> = (0..width)
            .map(|j| {
                let deviation = (centred(j, j).max(0.0) / n).sqrt();
                if deviation > 1e-6 * means[j].abs().max(1.0) {
                    weights[j] / deviation
                } else {
                    0.0
                }
            })
            .collect();
        let varying = factors
            .iter()
            .zip(weights)
            .filter(|(factor, _)| **factor > 0.0);
        let variance: f64 = varying.map(|(_, weight)| weight * weight).sum();
        let total = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        factors.iter_mut().for_each(|factor| *factor /= total);
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
            let motif = origin.motif.map_or(OWN, |motif| motif.name());
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
            format!("{OWN}.{name}")
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
    let deviations = x
        .column_norms(Norm::L2)
        .into_iter()
        .map(|norm| norm / rows.sqrt());
    let factors: Vec<f64> = deviations
        .zip(&means)
        .zip(weights)
        .map(|((deviation, mean), weight)| {
            if deviation > 1e-6 * mean.abs().max(1.0) {
                weight / deviation
            } else {
                0.0
            }
        })
        .collect();
    let varying = factors
        .iter()
        .zip(weights)
        .filter(|(factor, _)| **factor > 0.0);
    let variance: f64 = varying.map(|(_, weight)| weight * weight).sum();
    let total = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    x.scale_columns(
        &factors
            .iter()
            .map(|factor| factor / total)
            .collect::<Vec<_>>(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Cpu;
    use crate::features::Named;

    /// Without a column of extremes.
    fn plain() -> Components {
        Components {
            extremes: 0.0,
            ..Components::default()
        }
    }

    /// Both ways give the same components and facts; one of them needs no matrix of all pairs of columns.
    #[test]
    fn wide_matrices_have_the_same_components() {
        let (options, dim) = (plain(), 5);
        for (rows, cols) in [(90, 40), (30, 600)] {
            let block = Block::random(rows, cols, Key::new(3));
            let names = (0..cols).map(|j| j.to_string()).collect();
            let origins = vec![Origin::default(); cols];
            let named = Named {
                names,
                origins: origins.clone(),
                block,
            };
            let mut x = named.block.clone();
            standardize(&mut x, &vec![options.weight(&origins[0]); cols]);
            let gram = x.gram().eigen().expect("finite");
            let (z, values, _) = wide(x, &options, dim).expect("finite");
            let means = z.column_means();
            for j in 0..dim {
                let variance: f64 = (0..rows)
                    .map(|i| (f64::from(z.get(i, j)) - means[j]).powi(2))
                    .sum();
                for found in [variance, values[j]] {
                    assert!(
                        (found - gram.values[j]).abs() < 1e-4 * gram.values[0],
                        "column {j}: {found}"
                    );
                }
            }
            let Principal {
                block: usual,
                structure,
                ..
            } = principal(&Cpu, vec![named.clone().into()], &options, dim).expect("finite");
            let far = z
                .as_slice()
                .iter()
                .zip(usual.as_slice())
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            assert!(far < 1e-3, "{rows} × {cols}: {far}");
            assert!(
                (structure.motifs[0].share - 1.0).abs() < 1e-9 && structure.explained.len() == dim,
                "{structure:?}"
            );
        }
    }

    /// The correlation of two columns, as books print it.
    fn pearson(a: &[f64], b: &[f64]) -> f64 {
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let product = |x: &[f64], y: &[f64]| {
            let (p, q) = (mean(x), mean(y));
            x.iter().zip(y).map(|(x, y)| (x - p) * (y - q)).sum::<f64>()
        };
        product(a, b) / (product(a, a) * product(b, b)).sqrt()
    }

    /// Features at both ends of a dimension are those whose columns have the largest and the least correlation with it.
    #[test]
    fn dimensions_follow_the_features_that_they_correlate_with() {
        for (rows, cols) in [(90, 40), (30, 600)] {
            let mut block = Block::random(rows, cols, Key::new(5));
            block.update_rows(|_, row| {
                (row[1], row[2]) = (-3.0 * row[0] + 0.1 * row[1], row[0] + 0.2 * row[2]);
            });
            let column = |block: &Block, j: usize| {
                (0..rows)
                    .map(|i| f64::from(block.get(i, j)))
                    .collect::<Vec<_>>()
            };
            let names = (0..cols).map(|j| format!("f{j}")).collect();
            let named = Named {
                names,
                origins: vec![Origin::default(); cols],
                block: block.clone(),
            };
            let made = principal(&Cpu, vec![named.into()], &plain(), 5).expect("finite");
            assert_eq!(made.structure.dimensions.len(), DESCRIBED);
            for (j, found) in made.structure.dimensions.iter().enumerate() {
                let all: Vec<f64> = (0..cols)
                    .map(|i| pearson(&column(&block, i), &column(&made.block, j)))
                    .collect();
                let high = all.iter().copied().fold(f64::MIN, f64::max);
                let low = all.iter().copied().fold(f64::MAX, f64::min);
                for (loading, expected) in [(&found.most, high), (&found.least, low)] {
                    let name = loading
                        .feature
                        .strip_prefix("attributes.f")
                        .expect("not a count");
                    let at: usize = name.parse().expect("a number");
                    assert!(
                        (loading.correlation - expected).abs() < 1e-3,
                        "{loading:?}, not {expected}"
                    );
                    assert!(
                        (all[at] - expected).abs() < 1e-3,
                        "{loading:?}, not {}",
                        all[at]
                    );
                }
            }
            let first = &made.structure.dimensions[0];
            if cols == 40 {
                assert!(
                    first.most.correlation > 0.9 && first.least.correlation < -0.9,
                    "{first:?}"
                );
            }
        }
    }

    /// Columns that are copies of each other up to sign: rounding does not choose among them.
    #[test]
    fn of_equal_correlations_the_first_is_named() {
        let mut block = Block::random(50, 7, Key::new(6));
        block.update_rows(|_, row| {
            let x = row[0];
            row.iter_mut()
                .zip([1.0, -2.0, 3.0, -4.0, 0.3, 7.0, -0.7])
                .for_each(|(value, factor)| *value = factor * x);
        });
        let origins = (0..7)
            .map(|_| Origin {
                motif: Some(crate::motif::Motif::Orbit(crate::motif::Orbit::Edge)),
                ..Origin::default()
            })
            .collect();
        let named = Named {
            names: (0..7).map(|j| format!("f{j}")).collect(),
            origins,
            block,
        };
        let made = principal(&Cpu, vec![named.into()], &plain(), 3).expect("finite");
        let found = &made.structure.dimensions[0];
        assert_eq!(
            (&*found.most.feature, &*found.least.feature),
            ("f0", "f1"),
            "{found:?}"
        );
    }

    /// The sign of a component does not hang on rounding where its entries cancel.
    #[test]
    fn signs_do_not_depend_on_rounding() {
        for noise in [-1e-12, 0.0, 1e-12] {
            assert_eq!(sign([1e-9, 0.5, -0.5 + noise].into_iter()), 1.0);
            assert_eq!(sign([-0.5, 0.5 + noise].into_iter()), -1.0);
        }
        assert_eq!(sign([0.1, -0.9, 0.3].into_iter()), -1.0);
        assert_eq!(sign([0.0, 0.0].into_iter()), 1.0);
    }

    /// Columns beyond the rank of the features are zero, not rounding errors, and what describes a component varies.
    #[test]
    fn what_no_feature_spans_is_zero() {
        let options = Components {
            extremes: 0.7,
            offset: 3.0,
            ..Components::default()
        };
        for (rows, cols) in [(60, 20), (30, 600)] {
            let hidden = Block::random(rows, 2, Key::new(11));
            let mut block = Block::zeros(rows, cols);
            block.update_rows(|i, row| {
                let (x, y) = (10.0 + hidden.get(i, 0), 7.0 + 0.3 * hidden.get(i, 1));
                for (j, value) in row.iter_mut().enumerate().skip(1) {
                    *value = x + (j as f32).sqrt() * y;
                }
            });
            let named = Named {
                names: (0..cols).map(|j| format!("f{j}")).collect(),
                origins: vec![Origin::default(); cols],
                block,
            };
            let made = principal(&Cpu, vec![named.into()], &options, 8).expect("finite");
            assert_eq!(made.structure.components, 2);
            for j in 0..8 {
                let solid = j < 2 || j == 7;
                let any = (0..rows).any(|i| made.block.get(i, j) != 0.0);
                assert_eq!(any, solid, "column {j} of {rows} × {cols}");
            }
            for found in &made.structure.dimensions {
                for loading in [&found.most, &found.least] {
                    assert_ne!(loading.feature, "attributes.f0", "it is constant");
                }
            }
        }
    }

    /// The last column follows from the first by its definition, both ways; few columns have none.
    #[test]
    fn the_last_column_says_how_far_a_node_is_from_the_middle() {
        let options = Components {
            extremes: 0.7,
            ..plain()
        };
        for (rows, cols, dim) in [(90, 40, 6), (30, 600, 6), (50, 4, 3), (40, 3, 6)] {
            let block = Block::random(rows, cols, Key::new(8));
            let names = (0..cols).map(|j| j.to_string()).collect();
            let named = Named {
                names,
                origins: vec![Origin::default(); cols],
                block,
            };
            let made = |options: &Components| {
                principal(&Cpu, vec![named.clone().into()], options, dim)
                    .expect("finite")
                    .block
            };
            let (bent, plain) = (made(&options), made(&plain()));
            let n = rows as f64;
            let first: Vec<f64> = (0..rows).map(|i| f64::from(plain.get(i, 0))).collect();
            let mean = first.iter().sum::<f64>() / n;
            let variance = first.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            for i in 0..rows {
                let kept = if dim < 4 { dim } else { dim - 1 };
                for j in 0..kept {
                    assert!(
                        (bent.get(i, j) - plain.get(i, j)).abs() < 1e-4,
                        "({i}, {j}) of {rows} × {cols}"
                    );
                }
                let square = (first[i] - mean).powi(2) / variance;
                let expected = 0.7 * square / (1.0 + square);
                assert!(
                    dim < 4 || (f64::from(bent.get(i, dim - 1)) - expected).abs() < 1e-3,
                    "row {i}: {expected}"
                );
            }
        }
    }
}
