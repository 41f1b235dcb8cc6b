//! From node vectors to features of node pairs, and their scale.
//!
//! A [`PairOperator`] is one of node2vec's operators or a concatenation of several, written with
//! plus signs: `mean+hadamard+l1`. Scale is information (the columns of Z carry singular values),
//! so by default features are only divided by one constant per block, their root mean square over
//! the training pairs, which makes the candidates for C mean the same for every method.

use std::fmt;
use std::str::FromStr;

use hone::dense::Block;
use hone::parallel;
use hone::{Error, Result};
use serde::{Deserialize, Serialize};

/// One way to combine two vectors a and b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Join {
    Mean,
    Hadamard,
    L1,
    L2,
    Both,
    Difference,
    Cross,
    Outer,
}

/// Entries of each vector whose products the operator `outer` takes, at most: 256 features.
const OUTER: usize = 16;

const JOINS: [(&str, Join); 8] = [
    ("mean", Join::Mean),
    ("hadamard", Join::Hadamard),
    ("l1", Join::L1),
    ("l2", Join::L2),
    ("concat", Join::Both),
    ("difference", Join::Difference),
    ("cross", Join::Cross),
    ("outer", Join::Outer),
];

impl Join {
    fn width(self, d: usize) -> usize {
        match self {
            Join::Both => 2 * d,
            Join::Cross => d / 2,
            Join::Outer => d.min(OUTER) * d.min(OUTER),
            _ => d,
        }
    }

    fn write(self, a: &[f32], b: &[f32], out: &mut [f32]) {
        let b = if self == Join::Cross {
            &b[b.len() - out.len()..]
        } else {
            b
        };
        let each = |out: &mut [f32], f: fn(f32, f32) -> f32| {
            out.iter_mut()
                .zip(a.iter().zip(b))
                .for_each(|(o, (&a, &b))| *o = f(a, b));
        };
        match self {
            Join::Mean => each(out, |a, b| 0.5 * (a + b)),
            Join::Hadamard => each(out, |a, b| a * b),
            Join::L1 => each(out, |a, b| (a - b).abs()),
            Join::L2 => each(out, |a, b| (a - b) * (a - b)),
            Join::Difference => each(out, |a, b| a - b),
            // The source half of a and the target half of b.
            Join::Cross => each(out, |a, b| a * b),
            Join::Both => {
                out[..a.len()].copy_from_slice(a);
                out[a.len()..].copy_from_slice(b);
            }
            Join::Outer => {
                let side = b.len().min(OUTER);
                let products = out.chunks_exact_mut(side.max(1)).zip(a);
                products.for_each(|(row, a)| row.iter_mut().zip(b).for_each(|(o, b)| *o = a * b));
            }
        }
    }
}

/// `mean`, `hadamard`, `l1`, `l2`, `concat` (both vectors in a row), `difference` (a − b), `cross` (the first half of a times
/// the second half of b, for vectors of sources and targets), `outer` (each of the first 16 entries of a times each of the first
/// 16 of b), or several joined by `+`. The last four tell a → b from b → a.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PairOperator(Vec<Join>);

impl PairOperator {
    /// The mean operator of the paper.
    pub fn mean() -> Self {
        PairOperator(vec![Join::Mean])
    }

    /// The default operators for undirected graphs.
    pub fn usual() -> Vec<Self> {
        vec![PairOperator::mean()]
    }

    /// The same for directed graphs; validation chooses among them. A linear model of `concat` is a sum of a source
    /// score and a target score. `cross` and `outer` contain products of both, which capture pairs.
    pub fn usual_directed() -> Vec<Self> {
        let joins = [
            vec![Join::Both],
            vec![Join::Cross],
            vec![Join::Outer],
            vec![Join::Both, Join::Cross],
        ];
        joins.map(PairOperator).to_vec()
    }

    /// Whether it gives the same for a pair and for its reverse, so that it cannot tell the direction of an arc.
    pub fn is_symmetric(&self) -> bool {
        !self.0.iter().any(|join| {
            matches!(
                join,
                Join::Both | Join::Difference | Join::Cross | Join::Outer
            )
        })
    }

    /// Features of each pair, one row per pair.
    ///
    /// # Panics
    /// When a node is not a row of `z`.
    pub fn features(&self, z: &Block, pairs: &[(u32, u32)]) -> Features {
        let d = z.cols();
        let mut ends = Vec::new();
        let mut width = 0;
        for join in &self.0 {
            width += join.width(d);
            ends.push(width);
        }
        let mut x = Block::zeros(pairs.len(), width);
        if width > 0 {
            parallel::for_rows(x.as_mut_slice(), width, |i, row| {
                let ((u, v), mut rest) = (pairs[i], row);
                for join in &self.0 {
                    let (out, tail) = rest.split_at_mut(join.width(d));
                    join.write(z.row(u as usize), z.row(v as usize), out);
                    rest = tail;
                }
            });
        }
        Features { x, ends }
    }
}

impl fmt::Display for PairOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, join) in self.0.iter().enumerate() {
            let name = JOINS.iter().find(|j| j.1 == *join).map_or("?", |j| j.0);
            write!(f, "{}{name}", if k > 0 { "+" } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for PairOperator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let find = |name: &str| {
            JOINS
                .iter()
                .find(|j| j.0.eq_ignore_ascii_case(name))
                .map(|j| j.1)
        };
        let joins: Option<Vec<Join>> = text.split('+').map(|part| find(part.trim())).collect();
        let unknown = || {
            let known = JOINS.map(|join| join.0).join(", ");
            Error::config(
                "operators",
                format!("`{text}` is not one of {known}, or several of them joined by +"),
            )
        };
        let joins = joins.ok_or_else(unknown)?;
        match (1..joins.len()).find(|&at| joins[..at].contains(&joins[at])) {
            Some(_) => Err(Error::config(
                "operators",
                format!("`{text}` has an operator twice"),
            )),
            None => Ok(PairOperator(joins)),
        }
    }
}

impl TryFrom<String> for PairOperator {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<PairOperator> for String {
    fn from(operator: PairOperator) -> String {
        operator.to_string()
    }
}

/// Rows of features; `ends` says where each block of columns ends.
#[derive(Debug, Clone)]
pub struct Features {
    /// One row per item.
    pub x: Block,
    ends: Vec<usize>,
}

impl Features {
    /// Features that form one block.
    pub fn single(x: Block) -> Self {
        let ends = vec![x.cols()];
        Features { x, ends }
    }
}

/// What happens to the scale of features before the classifier sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// One constant per block: relative scale of columns is kept.
    #[default]
    Keep,
    /// Every column to mean 0 and variance 1.
    Standardize,
}

/// Shift and factor of every column, learnt from training rows.
#[derive(Debug, Clone)]
pub struct Scaler {
    shift: Vec<f32>,
    factor: Vec<f32>,
}

impl Scaler {
    /// Learns from the rows of `features`.
    pub fn learn(features: &Features, scaling: Scaling) -> Self {
        let x = &features.x;
        let (mut sum, mut square) = (vec![0.0f64; x.cols()], vec![0.0f64; x.cols()]);
        for i in 0..x.rows() {
            for (j, &value) in x.row(i).iter().enumerate() {
                sum[j] += f64::from(value);
                square[j] += f64::from(value) * f64::from(value);
            }
        }
        let n = x.rows().max(1) as f64;
        let invert = |variance: f64| {
            if variance > 1e-30 {
                (1.0 / variance.sqrt()) as f32
            } else {
                0.0
            }
        };
        match scaling {
            Scaling::Standardize => Scaler {
                shift: sum.iter().map(|s| (s / n) as f32).collect(),
                factor: sum
                    .iter()
                    .zip(&square)
                    .map(|(s, q)| invert(q / n - (s / n) * (s / n)))
                    .collect(),
            },
            Scaling::Keep => {
                let mut factor = Vec::with_capacity(x.cols());
                for &end in &features.ends {
                    let start = factor.len();
                    let size = (end - start).max(1) as f64;
                    let f = invert(square[start..end].iter().sum::<f64>() / n / size);
                    factor.resize(end, f);
                }
                Scaler {
                    shift: vec![0.0; x.cols()],
                    factor,
                }
            }
        }
    }

    /// Scales rows.
    pub fn apply(&self, features: Features) -> Block {
        let mut x = features.x;
        for i in 0..x.rows() {
            let scale = self.shift.iter().zip(&self.factor);
            x.row_mut(i)
                .iter_mut()
                .zip(scale)
                .for_each(|(v, (s, f))| *v = (*v - s) * f);
        }
        x
    }
}
