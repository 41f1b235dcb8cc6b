//! Factors of the logarithm of a window matrix, which is never formed.
//!
//! Powers of a matrix share its singular vectors: they give a linear model new weights, not new directions. A logarithm
//! of the matrix gives new directions. With eigenpairs (λ, U) of S = (D+τ)^-½ W (D+τ)^-½ the window matrix is
//! M = v · D^-½ U f(Λ) Uᵀ D^-½ with f(λ) = max(0, (λ + … + λᵀ)/T) and v = Σ d: how much more often than by chance a walk of up to T
//! steps goes from one node to another, denoised by the rank of U and by τ. The view is E = V √Σ of log max(1, M), entry by
//! entry (Levy, Goldberg 2014; Qiu et al. 2018).
//!
//! A sample of columns stands for all: c landmarks are drawn without replacement, node j with probability pⱼ ∝ d, at
//! most 1 (systematic sampling, so that no part of the nodes is left out; hubs are always chosen), and column j is
//! scaled by pⱼ^-½; then C Cᵀ is an unbiased estimate of M Mᵀ (Frieze, Kannan, Vempala 2004). With c ≥ N it is exact.
//! Rows of C are computed when they are needed: once for CᵀC, whose eigenvectors give the right side, once for the product.
//! Beyond 8 192 nodes CᵀC is estimated from 4 096 rows, one drawn at random from each of as many ranges of nodes.
//! Cost: N c (h + columns) multiply-adds for h columns of U, and min(N, 8 192) c (h + c); memory N (h + columns)
//! and c². The bits depend neither on threads nor on which process holds which rows.

use super::Task;
use super::svd::ZERO;
use crate::dense::{Block, Eigen, Logs, Small, log_above_one, rows_times};
use crate::error::{Error, Result};
use crate::message::{message, set};
use crate::operator::{Operator, Scaled};
use crate::random::unit;
use crate::space::{Fold, Map, Space, Workspace, signs, widths};
use crate::sparse::Diagonal;

/// Maximum number of landmarks: more gain nothing.
const MOST: usize = 512;
/// Minimum number of landmarks, as far as there are nodes.
const LEAST: usize = 256;
/// Landmarks times nodes.
const BUDGET: usize = 1 << 28;
/// Rows from which CᵀC is estimated, if there are more than twice as many.
const SAMPLED: usize = 1 << 12;
/// Maximum number of rows that are copied for CᵀC.
pub const MOST_ROWS: usize = 2 * SAMPLED;

/// The smallest [`community_weight`].
const LEAST_WEIGHT: f64 = 0.02;
/// Eigenvalues that it counts, after the first.
const COUNTED: usize = 5;

/// (2 λ̄)⁶ between 0.02 and 1, where λ̄ is the mean absolute value of the five largest eigenvalues after the first: how clearly the
/// spectrum of a graph shows communities.
///
/// If the leading eigenvalues of the normalised matrix are large, walks stay within communities: more steps smooth over
/// noise in single edges, and a window of several steps is more informative than an edge. If they are small, as in
/// dense word networks, walks forget where they began after a step, and further steps mostly add noise. Both the
/// smoothing of columns and the weight of the log window follow from this number.
pub fn community_weight(values: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let next: Vec<f64> = sizes.into_iter().skip(1).take(COUNTED).collect();
    let mean = next.iter().sum::<f64>() / next.len().max(1) as f64;
    (2.0 * mean).powi(6).clamp(LEAST_WEIGHT, 1.0)
}

/// Number of landmarks for a graph of this many nodes: a power of two, fewer for large graphs, at least twice the
/// columns.
pub fn landmarks(nodes: usize, columns: usize) -> usize {
    let affordable = (BUDGET / nodes.max(1)).clamp(LEAST, MOST);
    let power = if affordable.is_power_of_two() {
        affordable
    } else {
        affordable.next_power_of_two() / 2
    };
    power.max((2 * columns).next_power_of_two()).min(nodes)
}

/// A log window.
#[derive(Debug)]
pub struct View<T = Block> {
    /// E.
    pub panels: Vec<T>,
    /// Its weight relative to U, which follows from the spectrum: see [`community_weight`].
    pub weight: f64,
    /// For computing the row of any other node: see [`Extension`].
    pub landmarks: Landmarks,
}

/// The sampled columns of the window matrix, and the matrix they are multiplied with.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmarks {
    /// Row j: that of v D^-½ U f(Λ), in the basis of U, of landmark j.
    pub rows: Block,
    /// The scale of each column.
    pub scales: Vec<f64>,
    /// One row per landmark, one column per column of the view.
    pub turn: Small,
}

/// Rows of the view for nodes that were not among those of U.
#[derive(Debug)]
pub struct Extension<'a> {
    landmarks: &'a Landmarks,
    /// One column per landmark.
    columns: Small,
}

impl Landmarks {
    /// What gives rows for other nodes.
    pub fn extension(&self) -> Extension<'_> {
        let columns = Small::from_fn(self.rows.cols(), self.rows.rows(), |k, j| {
            f64::from(self.rows.get(j, k))
        });
        Extension {
            landmarks: self,
            columns,
        }
    }
}

impl Extension<'_> {
    /// Columns of a row.
    pub fn cols(&self) -> usize {
        self.landmarks.turn.cols()
    }

    /// The rows of the view, one after the other, for nodes with these rows of U and these degrees. Who else is there changes
    /// no bit of a row.
    pub fn rows(&self, u: &[f64], degrees: &[f64]) -> Vec<f64> {
        let Landmarks { scales, turn, .. } = self.landmarks;
        if scales.is_empty() || self.columns.rows() == 0 {
            return vec![0.0; degrees.len() * turn.cols()];
        }
        let mut logs = rows_times(u, &self.columns);
        for (row, &degree) in logs.chunks_exact_mut(scales.len()).zip(degrees) {
            let root = if degree > 0.0 {
                degree.sqrt().recip()
            } else {
                0.0
            };
            let log = |x: f64| f64::from(log_above_one((root * x) as f32));
            row.iter_mut()
                .zip(scales)
                .for_each(|(x, scale)| *x = log(*x) * scale);
        }
        rows_times(&logs, turn)
    }
}

/// E = V √Σ of the log window matrix of S, the base of a power or S itself; U are the eigenvectors of S.
///
/// If memory is short, U is put into a file, and stays there.
pub fn log_window<S: Space>(
    space: &S,
    s: &Operator,
    u: &mut [S::Tall],
    steps: usize,
    task: &Task,
) -> Result<View<S::Tall>> {
    let s = s.same_vectors_as();
    let degrees = degrees(s)?;
    let root = |&d: &f64| {
        if d > 0.0 {
            (1.0 / d.sqrt()) as f32
        } else {
            0.0
        }
    };
    let roots = Diagonal::new("D^-½", degrees.iter().map(root).collect::<Vec<_>>());
    // More columns than rows are few values, and need to be cut first.
    let columns: usize = u.iter().map(|panel| space.shape(panel).1).sum();
    let aside = task.aside.filter(|_| columns <= s.rows());
    if let Some(folder) = aside {
        u.iter_mut()
            .try_for_each(|panel| space.put_aside(panel, folder))?;
    }
    let ritz = ritz(space, s, u, aside.is_some())?;
    task.progress.check()?;
    let chosen = Chosen::of(&degrees, landmarks(s.rows(), task.rank), task);
    let rows = chosen.rows(
        space,
        u,
        &roots,
        &ritz.function(|value| mean_of_powers(value, steps)),
    );
    let logs = Logs {
        landmarks: &rows,
        scales: &chosen.scales,
    };
    let eigen = gram(space, u, (&roots, logs), SAMPLED, task).leading(task.rank)?;
    task.progress.check()?;
    let mut turn = turn(&eigen, chosen.scales.len(), task.rank);
    let mut view = space.log_times(u, (&roots, logs), &turn, &widths(task.rank));
    if s.rows() > MOST_ROWS {
        let right = lengths_of_all(&space.fold(&view, Fold::Length), &eigen);
        space.map(&mut view, &Map::Scale(&right));
        turn.scale_columns(&right);
    }
    let signs = signs(&space.fold(&view, Fold::Extreme));
    space.map(&mut view, &Map::Scale(&signs));
    turn.scale_columns(&signs);
    let scales = chosen
        .scales
        .iter()
        .map(|&scale| f64::from(scale))
        .collect();
    Ok(View {
        panels: view,
        weight: community_weight(&ritz.values),
        landmarks: Landmarks { rows, scales, turn },
    })
}

/// The square root of an eigenvalue of CᵀC, which is a singular value of M.
fn sigma(eigen: &Eigen, j: usize) -> f64 {
    let value = eigen.values.get(j);
    value.map_or(0.0, |value| value.max(0.0).sqrt())
}

/// What C is multiplied with: V √Σ = C E Σ^-½.
fn turn(eigen: &Eigen, landmarks: usize, columns: usize) -> Small {
    let least = ZERO * sigma(eigen, 0);
    Small::from_fn(landmarks, columns, |i, j| match sigma(eigen, j) {
        own if own > least => eigen.vectors.get(i, j) / own.sqrt(),
        _ => 0.0,
    })
}

/// The factors that give columns the length √σ, with the σ of all rows instead of those of a sample.
fn lengths_of_all(lengths: &[f64], eigen: &Eigen) -> Vec<f64> {
    let right = |(j, &length): (usize, &f64)| match length {
        length if length > 0.0 => (sigma(eigen, j) / (length * length)).powf(0.25),
        _ => 0.0,
    };
    lengths.iter().enumerate().map(right).collect()
}

/// CᵀC, of large graphs estimated from `sampled` rows.
fn gram<S: Space>(
    space: &S,
    u: &[S::Tall],
    (roots, logs): (&Diagonal, Logs),
    sampled: usize,
    task: &Task,
) -> Small {
    let nodes = roots.values().len();
    let (which, times) = match nodes <= 2 * sampled {
        true => ((0..nodes).collect(), 1.0),
        false => (sample(nodes, sampled, task), nodes as f64 / sampled as f64),
    };
    let own: Vec<f32> = which.iter().map(|&row| roots.values()[row]).collect();
    let mut gram = logs.gram(&space.pick(u, &which), &own);
    gram.as_mut_slice().iter_mut().for_each(|x| *x *= times);
    gram
}

/// Rows that stand for all, one from each of `sampled` stretches. Each row is as likely as any other.
fn sample(nodes: usize, sampled: usize, task: &Task) -> Vec<usize> {
    let key = task.key.with("rows of the window", 0);
    let within = |k: usize| key.of_row(k as u64).bits(0) as f64 / 2f64.powi(64);
    let at = |k: usize| (k as f64 + within(k)) * nodes as f64 / sampled as f64;
    (0..sampled)
        .map(|k| (at(k) as usize).min(nodes - 1))
        .collect()
}

/// d of S = diag(r) W diag(r): the sums of the rows of W.
fn degrees(s: &Operator) -> Result<Vec<f64>> {
    match s {
        Operator::Scaled(Scaled {
            shift: None,
            left: Some(_),
            inner,
            ..
        }) if s.is_symmetric() => {
            if let Operator::Sparse(leaf) = inner.same_vectors_as() {
                return Ok(leaf.matrix().times_vector(&vec![1.0; leaf.matrix().cols()]));
            }
        }
        _ => (),
    }
    let message = message![
        "needs a symmetric, normalised matrix: ",
        set("psi", "a-norm"),
        ", and ",
        set("direction", "ignore")
    ];
    Err(Error::config("log-window", message))
}

/// Eigenpairs of Uᵀ S U, of at most as many columns as U has rows: further ones are zero. The columns of U are singular
/// vectors: where S has an eigenvalue and its negative, as every component without odd cycles does, they may be any mixture of
/// the two eigenvectors.
fn ritz<S: Space>(space: &S, s: &Operator, u: &[S::Tall], aside: bool) -> Result<Eigen> {
    let folded = s.folded();
    let s = folded.as_ref().unwrap_or(s);
    let cols: usize = u.iter().map(|panel| space.shape(panel).1).sum();
    let leading = (cols > s.rows()).then(|| {
        let first = Small::unit_columns(cols, s.rows());
        space.times(u, &first, &widths(s.rows()))
    });
    let u = leading.as_deref().unwrap_or(u);
    let size = cols.min(s.rows());
    let (mut h, mut first) = (Small::zeros(size, size), 0);
    for panel in u {
        let mut back = aside.then(|| space.copy(panel));
        back.iter_mut()
            .try_for_each(|panel| space.bring_back(panel))?;
        let x = back.as_ref().unwrap_or(panel);
        let image = s.image(space, false, x, &mut Workspace::default());
        let part = space.cross(u, &[image]);
        for i in 0..part.rows() {
            h.row_mut(i)[first..first + part.cols()].copy_from_slice(part.row(i));
        }
        first += part.cols();
    }
    h.symmetrized().eigen()
}

/// (λ + … + λᵀ)/T, at least 0.
fn mean_of_powers(value: f64, steps: usize) -> f64 {
    let sum = (1..=steps)
        .fold((1.0, 0.0), |(power, sum), _| {
            (power * value, sum + power * value)
        })
        .1;
    (sum / steps as f64).max(0.0)
}

/// The landmarks, the scales of their columns, and v.
struct Chosen {
    nodes: Vec<usize>,
    scales: Vec<f32>,
    volume: f64,
}

impl Chosen {
    /// `count` nodes, drawn by degree; all nodes with edges if there are no more.
    fn of(degrees: &[f64], count: usize, task: &Task) -> Self {
        let volume: f64 = degrees.iter().sum();
        let certain = certain(degrees, count);
        let (mut rest, mut left) = (0.0, count as f64);
        for &degree in degrees {
            if degree >= certain {
                left -= 1.0;
            } else {
                rest += degree;
            }
        }
        let start = unit(task.key.with("landmarks", 0).of_row(0).bits(0));
        let (mut nodes, mut scales) = (Vec::new(), Vec::new());
        let (mut passed, mut drawn) = (0.0, 0.0);
        for (i, &degree) in degrees
            .iter()
            .enumerate()
            .filter(|(_, degree)| **degree > 0.0)
        {
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
        Chosen {
            nodes,
            scales,
            volume,
        }
    }

    /// Row j: that of v D^-½ U f(Λ), in the basis of U, of landmark j.
    fn rows<S: Space>(&self, space: &S, u: &[S::Tall], roots: &Diagonal, filter: &Small) -> Block {
        let mut rows = space.pick(u, &self.nodes);
        // Columns beyond the rows of U are zero, and the filter has none for them.
        let width = filter.rows();
        let values = Small::from(&rows).columns(width).times(filter);
        for (j, &node) in self.nodes.iter().enumerate() {
            let factor = self.volume * f64::from(roots.values()[node]);
            let (to, beyond) = rows.row_mut(j).split_at_mut(width);
            to.iter_mut()
                .zip(values.row(j))
                .for_each(|(to, value)| *to = (factor * value) as f32);
            beyond.fill(0.0);
        }
        rows
    }
}

/// The degree from which nodes are always landmarks: those expected at least once in `count` draws, removed one after
/// the other.
fn certain(degrees: &[f64], count: usize) -> f64 {
    let positive = || degrees.iter().copied().filter(|degree| *degree > 0.0);
    if positive().count() <= count {
        return f64::MIN_POSITIVE;
    }
    if positive().fold(0.0, f64::max) * (count as f64) < positive().sum() {
        return f64::INFINITY;
    }
    let mut largest: Vec<f64> = positive().collect();
    largest.select_nth_unstable_by(count, |a, b| b.total_cmp(a));
    let mut rest: f64 = largest[count..].iter().sum();
    largest.truncate(count);
    largest.sort_unstable_by(|a, b| b.total_cmp(a));
    // The weight of each node and all after it: sums from the smallest up, since differences would lose small
    // degrees next to huge ones.
    let mut rests = vec![0.0; count];
    for (to, degree) in rests.iter_mut().zip(&largest).rev() {
        rest += degree;
        *to = rest;
    }
    let reached = |k: &usize| largest[*k] * (count - k) as f64 >= rests[*k];
    (0..count)
        .take_while(reached)
        .last()
        .map_or(f64::INFINITY, |k| largest[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;
    use crate::random::Key;
    use crate::space::Host;

    fn task(rank: usize) -> Task<'static> {
        Task {
            rank,
            right: false,
            key: Key::new(5),
            progress: &Silent,
            aside: None,
        }
    }

    /// A sample of the rows has nearly the eigenvalues of all.
    #[test]
    fn some_rows_say_nearly_as_much_as_all() {
        let (nodes, cols, count) = (6000, 8, 64);
        let u = [Block::random(nodes, cols, Key::new(1))];
        let roots = Diagonal::new("r", (0..nodes).map(|i| (i % 5) as f32).collect::<Vec<_>>());
        let logs = Logs {
            landmarks: &Block::random(count, cols, Key::new(2)),
            scales: &vec![1.0; count],
        };
        let gram_of = |sampled| {
            let gram = gram(&Host, &u, (&roots, logs), sampled, &task(4));
            gram.eigen().expect("finite")
        };
        let (all, found) = (gram_of(nodes), gram_of(2000));
        let exact = logs.gram(&u[0], roots.values()).eigen().expect("finite");
        assert_eq!(all.values, exact.values, "small graphs have no sample");
        for k in 0..4 {
            let ratio = found.values[k] / all.values[k];
            assert!((ratio - 1.0).abs() < 0.1, "eigenvalue {k}: {ratio}");
        }
    }

    /// Hubs are taken once and as they are; what others stand for adds up to all of them.
    #[test]
    fn landmarks_are_drawn_by_degree_and_once() {
        let mut degrees: Vec<f64> = (0..500).map(|i| f64::from(i % 7)).collect();
        (degrees[3], degrees[250], degrees[499]) = (4000.0, 900.0, 5000.0);
        let volume: f64 = degrees.iter().sum();
        let with_edges = degrees.iter().filter(|degree| **degree > 0.0).count();
        for count in [1, 2, 3, 10, 64, 300, with_edges, 500, 900] {
            let Chosen {
                nodes,
                scales,
                volume: whole,
            } = Chosen::of(&degrees, count, &task(4));
            assert_eq!(
                (nodes.len(), whole),
                (count.min(with_edges), volume),
                "{count} landmarks"
            );
            assert!(nodes.is_sorted_by(|a, b| a < b), "each node once");
            assert!(nodes.iter().all(|&node| degrees[node] > 0.0));
            let stands_for: f64 = nodes
                .iter()
                .zip(&scales)
                .map(|(&node, &s)| degrees[node] * f64::from(s * s))
                .sum();
            assert!(
                (stands_for / volume - 1.0).abs() < 1e-5,
                "{count} landmarks stand for {stands_for} of {volume}"
            );
            let hubs = nodes
                .iter()
                .zip(&scales)
                .filter(|(node, _)| [3, 250, 499].contains(*node));
            assert!(
                count < 10 || hubs.map(|(_, scale)| *scale).eq([1.0; 3]),
                "{count} landmarks"
            );
        }
        assert!(Chosen::of(&[0.0; 9], 4, &task(4)).nodes.is_empty());
        // Hubs beside which the others vanish.
        let mut degrees = vec![1.0; 5000];
        (degrees[7], degrees[4000]) = (1e20, 1e20);
        let Chosen { nodes, scales, .. } = Chosen::of(&degrees, 64, &task(4));
        assert!(nodes.len() == 64 && nodes.contains(&7) && nodes.contains(&4000));
        let stands_for: f64 = scales
            .iter()
            .filter(|scale| **scale > 1.0)
            .map(|scale| f64::from(scale * scale))
            .sum();
        assert!((stands_for - 4998.0).abs() < 0.1, "{stands_for}");
    }
}
