//! Profiles: what the attributes of a node and of those around it say, in few columns.
//!
//! 1. *Units.* A number is standardised, a category is 1 or 0, a word counts ln(1 + n) · ln(N / nodes that have it). Of each
//!    row, words have length 1 together (tf-idf), and numbers and categories have a mean squared length of 1; `attributes.words` is
//!    the squared norm of the former where there are both. What is missing is zero. The matrix X of these is as sparse as the
//!    attributes.
//! 2. *Smoothing.* F = (I + S + … + S^T) X / (T+1) with S = (D+c)^-½ (A + cI) (D+c)^-½, c being the mean weight of an edge:
//!    averages over walks of up to T steps. Arcs are edges here. F is never formed.
//! 3. *Directions.* V, its leading right singular vectors, by four rounds of F Q and Fᵀ Y. The profile of a node is its row of
//!    F V, divided by the square root of its length.
//!
//! V makes profiles of any nodes ([`Profiles::of`]): (I + … + S^T)(X V) / (T+1) needs no columns but those of V. Cost: each
//! round (2 nnz(X) + 2T nnz(A)) (r+16) + O((N+m) r²) for m attributes; memory for X, its transpose, and blocks of N + m rows.

use std::borrow::Cow;
use std::sync::Arc;

use hone_base::sparse::offsets;

use super::context::Context;
use crate::attributes::{Attribute, Attributes, Kind};
use crate::config::Config;
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::factor::svd::{Iterations, Svd, svd};
use crate::factor::{Task, WORK_BLOCKS};
use crate::graph::Graph;
use crate::hashing::{SeededMap, SeededSet};
use crate::operator::{Diagonal, Operator, Scaled};
use crate::parallel;
use crate::random::{Key, mix64};
use crate::sparse::{Csr, Pattern};

/// What the columns are called.
pub(super) const ATTRIBUTES: &str = "attributes";

/// Rounds of the iteration, and its columns beyond those that are wanted.
const ROUNDS: usize = 4;
const BEYOND: usize = 16;

/// Standard deviations below this part of the mean are rounding.
const CONSTANT: f64 = 1e-6;

/// Names of columns that a note has.
const SHOWN: usize = 10;

/// Rows that a thread works on in one go.
const CHUNK: usize = 1 << 12;

/// An attribute that tells nodes apart: its value x counts as (x − mean) · factor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) mean: f64,
    pub(super) factor: f64,
}

/// What makes profiles.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Profiles {
    /// One per attribute.
    pub(super) units: Vec<Unit>,
    /// The length of the words of a row.
    pub(super) words: f64,
    /// V, a row per attribute.
    pub(super) directions: Block,
}

/// Bytes that profiles with so many columns take while they are made, for so many values and for nodes and attributes together.
pub(super) fn memory(stored: usize, rows: usize, columns: usize) -> u64 {
    if columns == 0 {
        return 0;
    }
    let blocks = WORK_BLOCKS * (columns + BEYOND) as u64 * rows as u64;
    4 * blocks + 32 * stored as u64
}

/// The profiles of all nodes; a draft of a model keeps what makes them.
pub(super) fn make(run: &mut Context, graph: &Graph, own: &[&Attributes]) -> Result<Block> {
    let own = side_by_side(own);
    let (units, words, notes) = units(&own, run.config.attributes.words);
    notes.into_iter().for_each(|note| run.note(note));
    if units.is_empty() {
        let message = "no column tells nodes apart: their values are the same for all nodes";
        return Err(Error::config(ATTRIBUTES, message));
    }
    let mut profiles = Profiles {
        units,
        words,
        directions: Block::zeros(0, 0),
    };
    let x = profiles.in_units(&own);
    drop(own);
    let smoothing = smoothing(run.config, graph);
    let smooth = match &smoothing {
        Some(smoothing) => Operator::times(smoothing.clone(), x.clone()),
        None => x.clone(),
    };
    let options = Svd {
        oversampling: BEYOND,
        iterations: Iterations::AtMost(ROUNDS),
        ..Svd::default()
    };
    let task = Task {
        rank: run.attributes.min(graph.nodes()).min(x.cols()),
        right: true,
        key: Key::new(run.config.seed).with(ATTRIBUTES, 0),
        progress: run.progress,
        aside: None,
    };
    let found = svd(&smooth, &options, &task)?;
    let v = found.v.expect("the right factor was asked for");
    // Directions that are not there leave their columns to proximity.
    run.attributes = found.info.rank.max(1);
    profiles.directions = v.columns(0..run.attributes);
    let rows = x.apply(&profiles.directions);
    let block = shortened(smoothed(smoothing.as_ref(), &rows));
    if let Some(draft) = &mut run.draft {
        draft.profiles = Some((profiles, rows));
    }
    Ok(block)
}

impl Profiles {
    /// Columns of a profile.
    pub(super) fn cols(&self) -> usize {
        self.directions.cols()
    }

    /// X V for other nodes.
    pub(super) fn rows(&self, own: &Attributes) -> Block {
        self.in_units(own).apply(&self.directions)
    }

    /// How many columns have no unit.
    pub(super) fn unknown(&self, own: &Attributes) -> usize {
        self.places(own)
            .iter()
            .filter(|place| place.is_none())
            .count()
    }

    /// Profiles on a graph, from the rows of X V of all its nodes.
    pub(super) fn of(&self, config: &Config, graph: &Graph, rows: &Block) -> Block {
        shortened(smoothed(smoothing(config, graph).as_ref(), rows))
    }

    /// The unit of each column, by its name.
    fn places(&self, own: &Attributes) -> Vec<Option<u32>> {
        let units = self.units.iter().zip(0..);
        let at: SeededMap<&str, u32> = units.map(|(unit, j)| (&*unit.name, j)).collect();
        let columns = own.columns.iter();
        columns
            .map(|column| at.get(&*column.name).copied())
            .collect()
    }

    /// X: what is absent, or has no unit, is not stored.
    fn in_units(&self, own: &Attributes) -> Operator {
        let places = self.places(own);
        // Numbers that are words among fewer nodes are not stored where they are zero.
        let zeros = own
            .columns
            .iter()
            .zip(&places)
            .filter_map(|(column, place)| {
                let is_number = self.units[(*place)? as usize].kind == Kind::Number;
                place.filter(|_| is_number && column.kind == Kind::Word)
            });
        let zeros: Vec<u32> = zeros.collect();
        let rows = parallel::stretches(own.values.rows(), CHUNK, |range| {
            let row = |i: usize| self.row_in_units(own.values.row(i), &places, &zeros);
            range.map(row).collect::<Vec<_>>()
        });
        let rows: Vec<Vec<(u32, f32)>> = rows.into_iter().flatten().collect();
        let offsets = offsets(rows.iter().map(Vec::len));
        let (places, values): (Vec<u32>, Vec<f32>) = rows.into_iter().flatten().unzip();
        let pattern = Pattern::new(offsets, places, self.units.len());
        Operator::sparse("X", Csr::new(Arc::new(pattern), values.into()))
    }

    /// A row of X.
    fn row_in_units(
        &self,
        (columns, values): (&[u32], &[f32]),
        places: &[Option<u32>],
        zeros: &[u32],
    ) -> Vec<(u32, f32)> {
        let known = columns.iter().zip(values);
        let known = known.filter_map(|(&j, &x)| Some((places[j as usize]?, f64::from(x))));
        let mut row: Vec<(u32, f64)> = known.collect();
        if !row.is_empty() {
            row.extend(zeros.iter().map(|&j| (j, 0.0)));
        }
        row.sort_by_key(|entry| entry.0);
        row.dedup_by_key(|entry| entry.0);
        let mut square = 0.0;
        for (j, x) in &mut row {
            let unit = &self.units[*j as usize];
            if unit.kind == Kind::Word {
                *x = x.abs().ln_1p().copysign(*x) * unit.factor;
                square += *x * *x;
            } else {
                *x = (*x - unit.mean) * unit.factor;
            }
        }
        let length = if square > 0.0 {
            self.words / square.sqrt()
        } else {
            0.0
        };
        let scale = |j: u32| match self.units[j as usize].kind {
            Kind::Word => length,
            _ => 1.0,
        };
        row.into_iter()
            .map(|(j, x)| (j, (x * scale(j)) as f32))
            .collect()
    }
}

/// The columns of all, side by side.
fn side_by_side<'a>(all: &[&'a Attributes]) -> Cow<'a, Attributes> {
    if let [one] = all {
        return Cow::Borrowed(one);
    }
    let nodes = all.first().map_or(0, |own| own.values.rows());
    let (mut ends, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..nodes {
        let mut first = 0;
        for own in all {
            let (columns, own_values) = own.values.row(i);
            places.extend(columns.iter().map(|j| first + j));
            values.extend(own_values);
            first += own.columns.len() as u32;
        }
        ends.push(places.len());
    }
    let columns: Vec<Attribute> = all.iter().flat_map(|own| own.columns.clone()).collect();
    let pattern = Pattern::new(ends, places, columns.len());
    Cow::Owned(Attributes {
        columns,
        values: Csr::new(Arc::new(pattern), values.into()),
    })
}

/// Units of the attributes that tell nodes apart, the length of words, and notes on those that are left out: constant columns,
/// numbers that repeat others, and without a note words of one node, which say nothing of others.
fn units(own: &Attributes, words: f64) -> (Vec<Unit>, f64, Vec<String>) {
    let (nodes, width) = (own.values.rows(), own.columns.len());
    let (mut counts, mut sums) = (vec![0u64; width], vec![0.0; width]);
    // A number for the values of each column, by which equal columns are found.
    let mut marks = vec![0u64; width];
    each(own, |i, j, x| {
        counts[j] += 1;
        sums[j] += x;
        marks[j] = marks[j].wrapping_add(mix64(mix64(i as u64) ^ x.to_bits()));
    });
    let mean = |j: usize| sums[j] / counts[j].max(1) as f64;
    let means: Vec<f64> = (0..width).map(mean).collect();
    let mut squares = vec![0.0; width];
    each(own, |_, j, x| squares[j] += (x - means[j]).powi(2));
    let (mut units, mut constant, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut numbers) = (SeededSet::default(), SeededMap::default());
    // Where each column is among the units.
    let mut at = vec![None; width];
    for (j, column) in own.columns.iter().enumerate() {
        let (name, count) = (column.name.clone(), counts[j]);
        let deviation = (squares[j] / count.max(1) as f64).sqrt();
        let (mean, factor) = match column.kind {
            Kind::Number if deviation > CONSTANT * means[j].abs() => (means[j], deviation.recip()),
            Kind::Category if (1..nodes as u64).contains(&count) => (0.0, 1.0),
            Kind::Word if (2..nodes as u64).contains(&count) => {
                (0.0, (nodes as f64 / count as f64).ln())
            }
            Kind::Word if count == 1 => continue,
            _ => {
                constant.push(name);
                continue;
            }
        };
        let is_number = column.kind == Kind::Number;
        if !names.insert(name.clone())
            || is_number && numbers.insert((count, marks[j]), ()).is_some()
        {
            repeated.push(name);
            continue;
        }
        at[j] = Some(units.len());
        units.push(Unit {
            name,
            kind: column.kind,
            mean,
            factor,
        });
    }
    // Numbers and categories: mean squared length 1.
    let mut energy = 0.0;
    each(own, |_, j, x| {
        if let Some(unit) = at[j].map(|at: usize| &units[at])
            && unit.kind != Kind::Word
        {
            energy += ((x - unit.mean) * unit.factor).powi(2);
        }
    });
    if energy > 0.0 {
        let scale = (nodes as f64 / energy).sqrt();
        let others = units.iter_mut().filter(|unit| unit.kind != Kind::Word);
        others.for_each(|unit| unit.factor *= scale);
    }
    let words = if energy > 0.0 { words.sqrt() } else { 1.0 };
    let notes = [
        left_out(&constant, "the same for all nodes"),
        left_out(&repeated, "like another one"),
    ];
    (units, words, notes.into_iter().flatten().collect())
}

/// Says which columns are left out, and why.
fn left_out(names: &[String], why: &str) -> Option<String> {
    let shown = names[..names.len().min(SHOWN)].join("`, `");
    let more = if names.len() > SHOWN { ", …" } else { "" };
    match names.len() {
        0 => None,
        1 => Some(format!(
            "attributes: column `{shown}` is {why} and is left out"
        )),
        count => Some(format!(
            "attributes: {count} columns are {why} and are left out: `{shown}`{more}"
        )),
    }
}

/// Calls something with node, column and value of all that are stored.
fn each(own: &Attributes, mut of: impl FnMut(usize, usize, f64)) {
    for i in 0..own.values.rows() {
        let (js, values) = own.values.row(i);
        let entries = js.iter().zip(values);
        entries.for_each(|(&j, &x)| of(i, j as usize, f64::from(x)));
    }
}

/// (I + S + … + S^T) / (T+1); nothing for no steps.
fn smoothing(config: &Config, graph: &Graph) -> Option<Operator> {
    let steps = config.attributes.steps;
    if steps == 0 {
        return None;
    }
    let graph = graph.underlying();
    let nnz = graph.pattern().nnz();
    let weights = graph.weights().filter(|_| config.uses_weights());
    let values: Arc<[f32]> = match weights {
        None => std::iter::repeat_n(1.0, nnz).collect(),
        Some(weights) => {
            let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            let mean = if sum > 0.0 { sum / nnz as f64 } else { 1.0 };
            weights
                .iter()
                .map(|&weight| (f64::from(weight) / mean) as f32)
                .collect()
        }
    };
    let a = Csr::new(graph.pattern().clone(), values);
    let degrees = a.row_sums();
    let of = |power: f64, more: f32| {
        let values = degrees.iter().map(|d| (d + 1.0).powf(power) as f32 + more);
        values.collect::<Vec<f32>>()
    };
    let root = Diagonal::new("(d+1)^-1/2", of(-0.5, 0.0));
    let a = a.scaled_by(1.0, &root, &root);
    let a = Arc::new(Operator::symmetric("A", a));
    let plus = |name: &str, more: f32| {
        Operator::Scaled(Scaled {
            shift: Some(Diagonal::new(name, of(-1.0, more))),
            ..Scaled::of(a.clone())
        })
    };
    // By Horner's rule: I + S, I + S (I + S), …
    let s = plus("1/(d+1)", 0.0);
    let one = Diagonal::new("1", vec![1.0; graph.nodes()]);
    let longer = |sum: Operator, _| {
        Operator::Scaled(Scaled {
            shift: Some(one.clone()),
            ..Scaled::of(Operator::times(s.clone(), sum))
        })
    };
    let sum = (1..steps).fold(plus("1+1/(d+1)", 1.0), longer);
    Some(Operator::multiple(1.0 / (steps + 1) as f64, sum))
}

/// Rows averaged over walks.
fn smoothed(smoothing: Option<&Operator>, rows: &Block) -> Block {
    smoothing.map_or_else(|| rows.clone(), |smoothing| smoothing.apply(rows))
}

/// Rows divided by the square root of their length.
fn shortened(mut rows: Block) -> Block {
    rows.update_rows(|_, row| {
        let square: f64 = row.iter().map(|&x| f64::from(x).powi(2)).sum();
        if square > 0.0 {
            let factor = square.powf(-0.25);
            row.iter_mut()
                .for_each(|x| *x = (f64::from(*x) * factor) as f32);
        }
    });
    rows
}
