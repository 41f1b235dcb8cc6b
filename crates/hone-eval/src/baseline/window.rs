//! GraRep and NetMF, which factor logarithms of probabilities of walks between all pairs of nodes.
//!
//! Both write N × N matrices out in f64, so memory is guarded. The same bits for any number of
//! threads: rows are independent, products are cut into fixed ranges of rows.
//!
//! **GraRep.** With P = D⁻¹ A, step k has X = max(0, log(Pᵏᵢⱼ / Σₜ Pᵏₜⱼ) + log N); its rank-D/K factor
//! U √Σ gives D/K columns (the first steps get one more where K does not divide D). Products
//! Pᵏ = P Pᵏ⁻¹ cost M N.
//!
//! **NetMF.** M = vol / (b T) · (P + P² + … + Pᵀ) D⁻¹ with window T, which DeepWalk factors implicitly;
//! X = log max(1, M), entry by entry; the vectors are U √Σ of its leading D singular triplets. Up to
//! `exact` nodes the powers are written out. Beyond, the authors' approximation: with the `rank`
//! largest eigenpairs (λ, V) of D^-½ A D^-½, M ≈ vol / b · D^-½ V f(λ) Vᵀ D^-½,
//! f(λ) = max(0, λ (1 − λᵀ) / (T (1 − λ))). Directed graphs are taken as undirected; a node without
//! edges gets zeros.
//!
//! References: Cao, Lu, Xu. GraRep: Learning graph representations with global structural
//! information, 2015; Qiu, Dong, Ma, Li, Wang, Tang. Network embedding as matrix factorization, 2018.

use std::ops::Range;

use faer::{Mat, MatRef};
use hone::dense::Block;
use hone::dense::kernels::product;
use hone::graph::Graph;
use hone::parallel;
use hone::{Error, Progress, Result};

use super::spectral::{Normalised, largest_eigenpairs};
use super::{Baseline, DIM, NEGATIVES, Ranges, WINDOW, check_range, undirected, weight};

options! {
    /// The options of GraRep; the paper searches K in 1 … 4.
    pub struct GraRep {
        /// Length of the vectors, D.
        dim: usize = 128, DIM;
        /// Number of steps, K.
        steps: usize = 2;
        /// Bytes the dense matrices may take.
        memory: u64 = 8 << 30;
    }
}

impl Baseline for GraRep {
    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        check_range("steps", self.steps, 1..=self.dim.min(16))
    }

    fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        let n = graph.nodes();
        check_memory("GraRep", 3, n, self.memory)?;
        let mut out = Block::zeros(n, self.dim);
        let mut power = Square::identity(n);
        progress.stage("GraRep steps", self.steps as u64);
        let mut first = 0;
        for step in 0..self.steps {
            progress.check()?;
            power = power.walked(graph);
            let mut sums = vec![0.0; n];
            (0..n).for_each(|i| sums.iter_mut().zip(power.row(i)).for_each(|(s, v)| *s += v));
            let logs = Square::from_rows(n, |i, out| {
                for (o, (&v, &sum)) in out.iter_mut().zip(power.row(i).iter().zip(&sums)) {
                    if v > 0.0 {
                        *o = (v / sum * n as f64).ln().max(0.0);
                    }
                }
            });
            let width = self.dim / self.steps + usize::from(step < self.dim % self.steps);
            logs.factor(width, seed, |i, j, value| out.row_mut(i)[first + j] = value)?;
            first += width;
            progress.advance(1);
        }
        Ok(out)
    }

    fn rows(&self) -> (usize, u64) {
        (self.dim, 5)
    }
}

options! {
    /// The options of NetMF.
    pub struct NetMf {
        /// Length of the vectors, D.
        dim: usize = 128, DIM;
        /// Window, T.
        window: usize = 10, WINDOW;
        /// Negative samples, b.
        negatives: usize = 1, NEGATIVES;
        /// Eigenpairs of the approximation.
        rank: usize = 256, DIM;
        /// Graphs of more nodes are approximated.
        exact: usize = 2000;
        /// Bytes the dense matrices may take.
        memory: u64 = 8 << 30;
    }
}

impl Baseline for NetMf {
    /// Columns beyond the number of nodes are zero.
    fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        let graph = undirected(graph)?;
        let n = graph.nodes();
        let exact = n <= self.exact;
        check_memory("NetMF", if exact { 3 } else { 1 }, n, self.memory)?;
        let mut out = Block::zeros(n, self.dim);
        if n == 0 {
            return Ok(out);
        }
        let normalised = Normalised::of(&graph);
        let mut window = match exact {
            true => self.walked(&graph, &normalised, progress)?,
            false => self.approximated(&normalised, seed)?,
        };
        progress.check()?;
        window.update_rows(|_, row| row.iter_mut().for_each(|m| *m = m.max(1.0).ln()));
        window.factor(self.dim.min(n), seed, |i, j, value| {
            if normalised.degrees[i] > 0.0 {
                out.row_mut(i)[j] = value;
            }
        })?;
        Ok(out)
    }

    fn rows(&self) -> (usize, u64) {
        (self.dim.max(self.rank), 9)
    }
}

impl NetMf {
    /// The window matrix from powers of P.
    fn walked(
        &self,
        graph: &Graph,
        normalised: &Normalised<'_>,
        progress: &dyn Progress,
    ) -> Result<Square> {
        let n = graph.nodes();
        let (mut power, mut sum) = (Square::identity(n), Square::from_rows(n, |_, _| ()));
        progress.stage("NetMF window", self.window as u64);
        for _ in 0..self.window {
            progress.check()?;
            power = power.walked(graph);
            sum.update_rows(|i, row| row.iter_mut().zip(power.row(i)).for_each(|(s, p)| *s += p));
            progress.advance(1);
        }
        let factor = normalised.volume() / (self.negatives * self.window) as f64;
        sum.update_rows(|_, row| {
            let entries = row.iter_mut().zip(&normalised.roots);
            entries.for_each(|(m, root)| *m *= factor * root * root);
        });
        Ok(sum)
    }

    /// The window matrix from the largest eigenpairs.
    fn approximated(&self, normalised: &Normalised<'_>, seed: u64) -> Result<Square> {
        let found = normalised.eigenpairs(self.rank, seed)?;
        let n = normalised.degrees.len();
        let factor = normalised.volume() / self.negatives as f64;
        let filter = |&value: &f64| window_filter(value, self.window);
        let filtered: Vec<f64> = found.values.iter().map(filter).collect();
        let row = |i: usize| {
            let kept = (0..filtered.len()).filter(|&j| filtered[j] > 0.0);
            let value = |j: usize| {
                normalised.roots[i] * (factor * filtered[j]).sqrt() * found.vectors[(i, j)]
            };
            kept.map(value).collect()
        };
        let x: Vec<Vec<f64>> = (0..n).map(row).collect();
        Ok(Square::from_rows(n, |i, row| {
            for (m, other) in row.iter_mut().zip(&x) {
                *m = x[i].iter().zip(other).map(|(a, b)| a * b).sum();
            }
        }))
    }
}

/// (λ + λ² + … + λᵀ) / T, at least 0.
fn window_filter(value: f64, window: usize) -> f64 {
    let (mut power, mut sum) = (1.0, 0.0);
    for _ in 0..window {
        power *= value;
        sum += power;
    }
    (sum / window as f64).max(0.0)
}

/// Refuses `copies` matrices of all pairs of nodes that take more than `limit` bytes.
fn check_memory(method: &str, copies: u64, nodes: usize, limit: u64) -> Result<()> {
    let need = (copies * 8)
        .saturating_mul(nodes as u64)
        .saturating_mul(nodes as u64);
    if need <= limit {
        return Ok(());
    }
    let name = method.to_lowercase();
    Err(Error::Memory {
        stage: method.to_owned(),
        need,
        least: false,
        limit,
        remedy: format!("leave out {name}, or raise its memory option").into(),
    })
}

/// A square matrix, row after row.
struct Square {
    n: usize,
    values: Vec<f64>,
}

impl Square {
    fn identity(n: usize) -> Self {
        Square::from_rows(n, |i, row| row[i] = 1.0)
    }

    /// A matrix whose rows are written by `fill`, in parallel.
    fn from_rows(n: usize, fill: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        let values = vec![0.0; n * n];
        let mut matrix = Square { n, values };
        matrix.update_rows(fill);
        matrix
    }

    /// Rewrites each row, given its number.
    fn update_rows(&mut self, change: impl Fn(usize, &mut [f64]) + Sync) {
        parallel::for_rows(&mut self.values, self.n.max(1), change);
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    /// P = D⁻¹A times this matrix.
    fn walked(&self, graph: &Graph) -> Self {
        Square::from_rows(self.n, |i, out| {
            let range = graph.pattern().range(i);
            let degree: f64 = range.clone().map(|k| weight(graph, k)).sum();
            for k in range.filter(|_| degree > 0.0) {
                let share = weight(graph, k) / degree;
                let row = self.row(graph.pattern().columns()[k] as usize);
                out.iter_mut().zip(row).for_each(|(o, r)| *o += share * r);
            }
        })
    }

    /// Gives the entries of U √Σ, the left singular vectors times the square roots of the leading singular values.
    fn factor(
        &self,
        rank: usize,
        seed: u64,
        mut take: impl FnMut(usize, usize, f32),
    ) -> Result<()> {
        let matrix = MatRef::from_row_major_slice(&self.values, self.n, self.n);
        let squared = |x: MatRef<'_, f64>| times(matrix, times(matrix.transpose(), x).as_ref());
        let found = largest_eigenpairs(&squared, self.n, 0.0, rank, seed)?;
        for (j, value) in found.values.iter().enumerate() {
            let root = value.max(0.0).sqrt().sqrt();
            (0..self.n).for_each(|i| take(i, j, (found.vectors[(i, j)] * root) as f32));
        }
        Ok(())
    }
}

/// A product in parallel over fixed ranges of rows.
fn times(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    const ROWS: usize = 256;
    let part = |rows: Range<usize>| product(a.subrows(rows.start, rows.len()), b);
    let parts: Vec<Mat<f64>> = parallel::stretches(a.nrows(), ROWS, part);
    Mat::from_fn(a.nrows(), b.ncols(), |i, j| parts[i / ROWS][(i % ROWS, j)])
}
