//! Factors of the logarithm of a window matrix, which is never formed.
//!
//! Powers of a matrix share its singular vectors: they give a linear model new weights, not new directions. A logarithm between
//! the matrix and the factors does. With eigenpairs (λ, U) of S = (D+τ)^-½ W (D+τ)^-½ the window matrix is
//! M = v · D^-½ U f(Λ) Uᵀ D^-½ with f(λ) = max(0, (λ + … + λᵀ)/T) and v = Σ d: how much more often than by chance a walk of up to T
//! steps goes from one node to another, denoised by the rank of U and by τ. The view is E = V √Σ of log max(1, M), entry by
//! entry (Levy, Goldberg 2014; Qiu et al. 2018).
//!
//! Columns stand for all: c landmarks are drawn without repetition, node j with probability pⱼ ∝ d, at most 1 (systematic sampling,
//! so that no part of the nodes is left out; hubs are taken for certain), and column j is scaled by pⱼ^-½; then C Cᵀ is an
//! unbiased estimate of M Mᵀ (Frieze, Kannan, Vempala 2004). With c ≥ N it is exact. Rows of C are computed when they are read: once for CᵀC, whose eigenvectors give the right
//! side, once for the product. Of more than 65 536 nodes half as many rows, one at random from each of 32 768 stretches of nodes,
//! stand for all in CᵀC. Cost: N c (h + columns) multiply-adds for h columns of U, and min(N, 32 768) c (h + c); memory
//! N (h + columns) and c²; the bits depend on neither threads nor who reads which rows.

use std::ops::Range;
use std::sync::Arc;

use super::communities;
use super::method::Task;
use super::svd_options::ZERO;
use crate::dense::{Block, Columns, Eigen, Group, Norm, Panels, Small, Stored, panels};
use crate::error::{Error, Result};
use crate::operator::{Operator, Scaled};

/// Landmarks at most: enough for graphs of 10⁴ nodes to be as good as exact.
const MOST: usize = 1024;
/// Landmarks at least, as long as there are nodes.
const LEAST: usize = 256;
/// Landmarks times nodes.
const BUDGET: usize = 1 << 28;
/// Rows that stand for all in CᵀC, where there are more than twice as many.
const SAMPLED: usize = 1 << 15;
/// Values of rows that are computed at a time.
const PIECE: usize = 1 << 14;

/// How many landmarks a graph of so many nodes gets: a power of two, fewer for large graphs. Never fewer than twice the
/// columns.
pub fn landmarks(nodes: usize, columns: usize) -> usize {
    let affordable = (BUDGET / nodes.max(1)).clamp(LEAST, MOST);
    let power = if affordable.is_power_of_two() { affordable } else { affordable.next_power_of_two() / 2 };
    power.max((2 * columns).next_power_of_two()).min(nodes)
}

/// A log window.
pub struct View {
    /// E.
    pub block: Block,
    /// The eigenvectors that it was made of.
    pub u: Panels,
    /// How large it is beside them, as the spectrum says: see [`communities`].
    pub weight: f64,
    /// What gives the row of any other node: see [`Landmarks::row`].
    pub landmarks: Landmarks,
}

/// The columns of the window matrix that stand for all, and what they are multiplied with.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmarks {
    /// Row j: that of v D^-½ U f(Λ), in the basis of U, of landmark j.
    pub rows: Block,
    /// What each column is scaled with.
    pub scales: Vec<f64>,
    /// One row per landmark, one column per column of the view.
    pub turn: Small,
}

impl Landmarks {
    /// The row of the view for a node with this row of U and this degree.
    pub fn row(&self, u: &[f64], degree: f64) -> Vec<f64> {
        // Sums side by side are the same bits on every processor.
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || self.row_here(u, degree),
        )
    }

    #[inline(always)]
    fn row_here(&self, u: &[f64], degree: f64) -> Vec<f64> {
        let root = if degree > 0.0 { degree.sqrt().recip() } else { 0.0 };
        let mut out = vec![0.0; self.turn.cols()];
        for (j, scale) in self.scales.iter().enumerate() {
            let ratio = root * dot(u, self.rows.row(j));
            let value = if ratio > 1.0 { ratio.ln() * scale } else { 0.0 };
            if value > 0.0 {
                out.iter_mut().zip(self.turn.row(j)).for_each(|(to, turn)| *to += value * turn);
            }
        }
        out
    }
}

/// Sums that are added up side by side.
const LANES: usize = 8;

/// The inner product of two rows.
#[inline(always)]
fn dot(a: &[f64], b: &[f32]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, &b)| a * f64::from(b)).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * f64::from(b[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// E = V √Σ of the log window matrix of S, the base of a power or S itself; U are the eigenvectors of S.
///
/// Where memory is short, U is aside in the end.
pub fn log_window(s: &Operator, mut u: Panels, steps: usize, task: &Task) -> Result<View> {
    let s = s.same_vectors_as();
    let degrees = degrees(s)?;
    let roots: Arc<[f32]> = degrees.iter().map(|&d| if d > 0.0 { (1.0 / d.sqrt()) as f32 } else { 0.0 }).collect();
    task.aside.map_or(Ok(()), |folder| u.put_aside(folder))?;
    let ritz = ritz(s, &u)?;
    task.progress.check()?;
    let filter = filter(&ritz, steps);
    let chosen = Chosen::of(&degrees, landmarks(u.rows(), task.rank), task);
    let u = Arc::new(u);
    let rows = Arc::new(Rows::new(u.clone(), roots, &filter, &chosen));
    let c = Columns::new(u.rows(), vec![Group::stored(None, rows.clone())]);
    let eigen = gram(&rows, &c, SAMPLED, task).eigen()?;
    task.progress.check()?;
    // σ² are the eigenvalues: V √Σ = C E Σ^-½.
    let most = eigen.values.first().copied().unwrap_or(0.0).max(0.0).sqrt();
    let scale = |j: usize| match eigen.values.get(j).map_or(0.0, |value| value.max(0.0).sqrt()) {
        sigma if sigma > ZERO * most => 1.0 / sigma.sqrt(),
        _ => 0.0,
    };
    let width = c.cols();
    let mut turn = Small::from_fn(width, task.rank, |i, j| match scale(j) {
        0.0 => 0.0,
        scale => scale * eigen.vectors.get(i, j),
    });
    let mut view = c.times(&turn);
    if view.rows() > 2 * SAMPLED {
        let right = lengths_of_all(&view, &eigen);
        view.scale_columns(&right);
        turn.scale_columns(&right);
    }
    let signs = view.column_signs();
    view.scale_columns(&signs);
    turn.scale_columns(&signs);
    let scales = rows.scales.iter().map(|&scale| f64::from(scale)).collect();
    let landmarks = Landmarks { rows: rows.landmarks.clone(), scales, turn };
    drop((c, rows));
    let u = Arc::try_unwrap(u).unwrap_or_else(|shared| (*shared).clone());
    Ok(View { block: view, u, weight: communities::weight(&ritz.values), landmarks })
}

/// What brings columns to the length √σ, with the σ of all rows instead of those of a sample.
fn lengths_of_all(view: &Block, eigen: &Eigen) -> Vec<f64> {
    let sigma = |j: usize| eigen.values.get(j).map_or(0.0, |value| value.max(0.0).sqrt());
    let right = |(j, length): (usize, f64)| if length > 0.0 { (sigma(j) / (length * length)).powf(0.25) } else { 0.0 };
    view.column_norms(Norm::L2).into_iter().enumerate().map(right).collect()
}

/// CᵀC, of large graphs estimated from `sampled` rows.
fn gram(rows: &Rows, c: &Columns, sampled: usize, task: &Task) -> Small {
    let nodes = c.rows();
    if nodes <= 2 * sampled {
        return c.gram();
    }
    let key = task.key.with("rows of the window", 0);
    // Each row is as likely as any other.
    let at =
        |k: usize| (k as f64 + key.of_row(k as u64).bits(0) as f64 / 2f64.powi(64)) * nodes as f64 / sampled as f64;
    let sample: Vec<usize> = (0..sampled).map(|k| (at(k) as usize).min(nodes - 1)).collect();
    let picked = Columns::new(sampled, vec![Group::stored(None, Arc::new(rows.picked(&sample)))]);
    let (gram, times) = (picked.gram(), nodes as f64 / sampled as f64);
    Small::from_fn(gram.rows(), gram.cols(), |i, j| times * gram.get(i, j))
}

/// d of S = diag(r) W diag(r): the sums of the rows of W.
fn degrees(s: &Operator) -> Result<Vec<f64>> {
    match s {
        Operator::Scaled(Scaled { shift: None, left: Some(_), inner, .. }) if s.is_symmetric() => {
            if let Operator::Sparse(leaf) = inner.same_vectors_as() {
                return Ok(leaf.matrix().times_vector(&vec![1.0; leaf.matrix().cols()]));
            }
        }
        _ => (),
    }
    let message = "needs a symmetric, normalised matrix: psi = a-norm, and direction = ignore";
    Err(Error::config("log-window", message))
}

/// Eigenpairs of Uᵀ S U, of at most as many columns as U has rows: further ones are zero. The columns of U are singular
/// vectors: where S has an eigenvalue and its negative, as every component without odd cycles does, they may be any mixture of
/// the two eigenvectors.
fn ritz(s: &Operator, u: &Panels) -> Result<Eigen> {
    let folded = s.folded();
    let s = folded.as_ref().unwrap_or(s);
    let leading = (u.cols() > u.rows()).then(|| leading(u));
    let u = leading.as_ref().unwrap_or(u);
    let mut h = Small::zeros(u.cols(), u.cols());
    let mut first = 0;
    for panel in u.as_slice() {
        let image = match panel.is_aside() {
            true => s.apply(&panel.brought_back()?),
            false => s.apply(panel),
        };
        let part = panels::cross(u.as_slice(), &[image]);
        for (i, j) in (0..part.rows()).flat_map(|i| (0..part.cols()).map(move |j| (i, j))) {
            h.set(i, first + j, part.get(i, j));
        }
        first += panel.cols();
    }
    Small::from_fn(h.rows(), h.rows(), |i, j| 0.5 * (h.get(i, j) + h.get(j, i))).eigen()
}

/// As many of the first columns as there are rows.
fn leading(u: &Panels) -> Panels {
    let mut out = Block::zeros(u.rows(), u.rows());
    out.update_rows(|i, row| {
        let mut whole = vec![0.0; u.cols()];
        u.read(i..i + 1, &mut whole);
        row.copy_from_slice(&whole[..row.len()]);
    });
    out.into()
}

/// f(Λ) in the basis of U.
fn filter(ritz: &Eigen, steps: usize) -> Small {
    let mut scaled = ritz.vectors.clone();
    scaled.scale_columns(&ritz.values.iter().map(|&value| mean_of_powers(value, steps)).collect::<Vec<_>>());
    scaled.times(&ritz.vectors.transposed())
}

/// (λ + … + λᵀ)/T, at least 0.
fn mean_of_powers(value: f64, steps: usize) -> f64 {
    let sum = (1..=steps).fold((1.0, 0.0), |(power, sum), _| (power * value, sum + power * value)).1;
    (sum / steps as f64).max(0.0)
}

/// The landmarks, what their columns are scaled with, and v.
struct Chosen {
    nodes: Vec<usize>,
    scales: Vec<f32>,
    volume: f64,
}

impl Chosen {
    /// `count` nodes, drawn by degree; all nodes with edges where there are not more.
    fn of(degrees: &[f64], count: usize, task: &Task) -> Self {
        let volume: f64 = degrees.iter().sum();
        let certain = certain(degrees, count);
        let (mut rest, mut left) = (0.0, count as f64);
        for &degree in degrees {
            if degree >= certain { left -= 1.0 } else { rest += degree }
        }
        let start = (task.key.with("landmarks", 0).of_row(0).bits(0) >> 11) as f64 / (1u64 << 53) as f64;
        let (mut nodes, mut scales) = (Vec::new(), Vec::new());
        let (mut passed, mut drawn) = (0.0, 0.0);
        for (i, &degree) in degrees.iter().enumerate().filter(|(_, degree)| **degree > 0.0) {
            if degree >= certain {
                nodes.push(i);
                scales.push(1.0);
                continue;
            }
            passed += degree;
            let reached = (passed / rest * left - start).ceil().min(left);
            if reached > drawn {
                nodes.push(i);
                scales.push(((reached - drawn) * rest / (left * degree)).sqrt() as f32);
                drawn = reached;
            }
        }
        Chosen { nodes, scales, volume }
    }
}

/// From which degree on nodes are landmarks for certain: those that `count` draws would reach once or more, taken out one
/// after the other.
fn certain(degrees: &[f64], count: usize) -> f64 {
    let mut largest: Vec<f64> = degrees.iter().copied().filter(|degree| *degree > 0.0).collect();
    if largest.len() <= count {
        return f64::MIN_POSITIVE;
    }
    largest.select_nth_unstable_by(count, |a, b| b.total_cmp(a));
    let mut rest: f64 = largest[count..].iter().sum();
    largest.truncate(count);
    largest.sort_unstable_by(|a, b| b.total_cmp(a));
    // What each and all behind it weigh: sums from the smallest up, since differences would lose small degrees beside huge ones.
    let mut rests = vec![0.0; count];
    for (to, degree) in rests.iter_mut().zip(&largest).rev() {
        rest += degree;
        *to = rest;
    }
    let reached = |k: &usize| largest[*k] * (count - k) as f64 >= rests[*k];
    (0..count).take_while(reached).last().map_or(f64::INFINITY, |k| largest[k])
}

/// Rows of C, computed when they are read.
#[derive(Debug)]
struct Rows {
    u: Arc<Panels>,
    roots: Arc<[f32]>,
    /// Row j: that of v D^-½ U f(Λ), in the basis of U, of landmark j.
    landmarks: Block,
    scales: Vec<f32>,
    /// Rows that are computed at a time, always the same ones together.
    piece: usize,
}

impl Rows {
    fn new(u: Arc<Panels>, roots: Arc<[f32]>, filter: &Small, chosen: &Chosen) -> Self {
        let mut landmarks = Block::zeros(chosen.nodes.len(), u.cols());
        let mut row = vec![0.0; u.cols()];
        for (j, &node) in chosen.nodes.iter().enumerate() {
            u.read(node..node + 1, &mut row);
            let factor = chosen.volume * f64::from(roots[node]);
            let own = Small::from_fn(1, filter.rows(), |_, k| f64::from(row[k]));
            let values = own.times(filter);
            let to = landmarks.row_mut(j).iter_mut();
            to.zip(values.as_slice()).for_each(|(to, value)| *to = (factor * value) as f32);
        }
        let piece = (PIECE / chosen.nodes.len().max(1).next_power_of_two()).max(1);
        Rows { u, roots, landmarks, scales: chosen.scales.clone(), piece }
    }

    /// The same for some rows alone.
    fn picked(&self, rows: &[usize]) -> Self {
        let mut u = Block::zeros(rows.len(), self.u.cols());
        u.update_rows(|k, row| self.u.read(rows[k]..rows[k] + 1, row));
        let roots = rows.iter().map(|&row| self.roots[row]).collect();
        Rows { u: Arc::new(u.into()), roots, landmarks: self.landmarks.clone(), scales: self.scales.clone(), ..*self }
    }

    /// One piece of rows.
    fn compute(&self, range: &Range<usize>, own: &mut [f32], to: &mut [f32]) {
        self.u.read(range.clone(), own);
        panels::dots(own, &self.landmarks, to);
        for (i, row) in range.clone().zip(to.chunks_exact_mut(self.scales.len())) {
            let root = self.roots[i];
            row.iter_mut().zip(&self.scales).for_each(|(x, scale)| *x = log_above_one(*x * root) * scale);
        }
    }
}

impl Stored for Rows {
    fn rows(&self) -> usize {
        self.u.rows()
    }

    fn cols(&self) -> usize {
        self.scales.len()
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        let (width, cols) = (self.u.cols(), self.cols());
        if cols == 0 {
            return;
        }
        let (mut own, mut piece) = (vec![0.0; self.piece * width], vec![0.0; self.piece * cols]);
        let mut start = range.start - range.start % self.piece;
        while start < range.end {
            let end = self.rows().min(start + self.piece);
            let computed = start..end;
            self.compute(&computed, &mut own[..computed.len() * width], &mut piece[..computed.len() * cols]);
            let (from, until) = (range.start.max(start), range.end.min(end));
            let values = &piece[(from - start) * cols..(until - start) * cols];
            to[(from - range.start) * cols..][..values.len()].copy_from_slice(values);
            start = end;
        }
    }

    fn memory(&self) -> usize {
        self.landmarks.memory()
    }
}

/// ln(max(1, x)) to seven digits, by the exponent and a series of the rest: without a branch, so that loops over it use
/// vector instructions.
fn log_above_one(x: f32) -> f32 {
    let x = if x > 1.0 { x } else { 1.0 };
    let bits = x.to_bits();
    // x = m · 2^e with m in [√½, √2).
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let exponent = (shifted as i32 >> 23) as f32;
    let m = f32::from_bits((shifted & 0x007f_ffff) + 0x3f35_04f3);
    // ln m = 2 (t + t³/3 + t⁵/5 + …), t = (m − 1)/(m + 1).
    let t = (m - 1.0) / (m + 1.0);
    let t2 = t * t;
    let series = 2.0 + t2 * (2.0 / 3.0 + t2 * (2.0 / 5.0 + t2 * (2.0 / 7.0 + t2 * (2.0 / 9.0))));
    exponent * std::f32::consts::LN_2 + t * series
}

#[cfg(test)]
mod tests;
