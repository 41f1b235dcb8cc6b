//! The leading right singular space of an operator: restarted block Krylov, or power iteration.
//!
//! Let A = SᵀS, or S itself when S is symmetric. A basis Q of orthonormal blocks grows by
//! F = (I − Q Qᵀ) A Q_last, and H = Qᵀ A Q is small. Its leading eigenvectors E give Ritz vectors
//! X = Q E with A X = X Λ + F E_last: their residuals cost nothing. When [`DEPTH`] blocks are full,
//! the basis is restarted as [X, orth(F)], which keeps the Krylov structure without wasting a product
//! (thick restart: Wu, Simon 2000; block Krylov for the SVD: Musco, Musco 2015). A few products alone
//! do not pay for a basis: then V = orth(A V) is iterated (Halko, Martinsson, Tropp 2011).
//! Cost: an application of A (2 products, 1 if symmetric) and O(N b² blocks) each iteration.

use super::{Info, Task};
use crate::dense::{Block, Norm, Small, orthonormalize};
use crate::error::Result;
use crate::operator::{Operator, Workspace};

/// Blocks in the basis before it is restarted.
const DEPTH: usize = 4;

/// Rounding noise of f32 products, relative to the largest eigenvalue.
const NOISE: f64 = 3e-7;

pub(super) struct Subspace<'a> {
    a: Squared<'a>,
    task: &'a Task<'a>,
    basis: Vec<Block>,
    /// Qᵀ A Q of the blocks already multiplied.
    h: Small,
}

/// A, and the blocks its products need.
struct Squared<'a> {
    s: &'a Operator,
    symmetric: bool,
    work: Workspace,
}

/// Leading eigenvalues of H by magnitude, and their vectors.
struct Ritz {
    values: Vec<f64>,
    vectors: Small,
}

impl<'a> Subspace<'a> {
    /// Begins with `width` random directions.
    pub(super) fn new(s: &'a Operator, task: &'a Task<'a>, width: usize) -> Self {
        let start = Block::random(s.cols(), width, task.key.with("sketch", 0));
        let a = Squared { s, symmetric: s.is_symmetric(), work: Workspace::default() };
        Subspace { a, task, basis: vec![start], h: Small::zeros(0, 0) }
    }

    /// Orthonormal columns that span the space after at most `limit` applications of A.
    pub(super) fn run(self, limit: usize, tolerance: f64, info: &mut Info) -> Result<(Block, Workspace)> {
        if limit < 2 * DEPTH { self.power(limit, tolerance, info) } else { self.krylov(limit, tolerance, info) }
    }

    /// V ← orth(A V). Random directions are nearly orthogonal: only the last product needs more.
    fn power(mut self, limit: usize, tolerance: f64, info: &mut Info) -> Result<(Block, Workspace)> {
        let mut v = self.basis.pop().expect("the first block");
        if limit < 2 {
            orthonormalize(&mut v);
        }
        while info.iterations < limit {
            self.task.progress.check()?;
            let mut image = self.a.times(&v);
            info.iterations += 1;
            if info.iterations == limit {
                let h = v.cross(&image);
                let inside = h.transposed().times(&h);
                let all = image.gram();
                let outside = Small::from_fn(h.rows(), h.rows(), |i, j| all.get(i, j) - inside.get(i, j));
                Ritz::of(&h, h.rows())?.judge(&outside, self.task.rank, tolerance, info);
            }
            std::mem::swap(&mut v, &mut image);
            self.a.work.give(image);
            self.orthonormalize(&mut v, info.iterations);
        }
        Ok((v, self.a.work))
    }

    fn krylov(mut self, limit: usize, tolerance: f64, info: &mut Info) -> Result<(Block, Workspace)> {
        let width = self.basis[0].cols();
        orthonormalize(&mut self.basis[0]);
        loop {
            self.task.progress.check()?;
            let mut outside = self.extend();
            info.iterations += 1;
            let last = info.iterations == limit;
            if last || self.basis.len() == DEPTH {
                let ritz = Ritz::of(&self.h, width)?;
                ritz.judge(&outside.gram(), self.task.rank, tolerance, info);
                let leading = self.combine(&ritz.vectors);
                if info.converged || last {
                    return Ok((leading, self.a.work));
                }
                self.basis.drain(..).for_each(|block| self.a.work.give(block));
                self.basis.push(leading);
                self.h = Small::from_fn(width, width, |i, j| if i == j { ritz.values[i] } else { 0.0 });
            }
            self.silence(&mut outside);
            self.orthonormalize(&mut outside, info.iterations);
            self.basis.push(outside);
        }
    }

    /// Multiplies the last block, extends H by it, and returns the part outside the basis.
    fn extend(&mut self) -> Block {
        let last = self.basis.last().expect("the first block");
        let mut outside = self.a.times(last);
        let (known, width) = (self.h.rows(), last.cols());
        let old = std::mem::replace(&mut self.h, Small::zeros(known + width, known + width));
        (0..known).for_each(|i| self.h.row_mut(i)[..known].copy_from_slice(old.row(i)));
        let parts: Vec<Small> = self.basis.iter().map(|q| q.cross(&outside)).collect();
        for (at, (q, part)) in self.basis.iter().zip(&parts).enumerate() {
            outside.add_times(q, part, -1.0);
            (0..width).for_each(|i| self.h.row_mut(at * width + i)[known..].copy_from_slice(part.row(i)));
        }
        for i in 0..known {
            (known..known + width).for_each(|j| self.h.set(j, i, self.h.get(i, j)));
        }
        outside
    }

    /// Zeroes columns that are rounding noise of the products: scaled up they would not stay
    /// orthogonal to the basis.
    fn silence(&self, outside: &mut Block) {
        let most = self.h.as_slice().iter().fold(0.0f64, |most, h| most.max(h.abs()));
        let norms = outside.column_norms(Norm::L2);
        let audible: Vec<f64> = norms.iter().map(|&norm| f64::from(u8::from(norm > NOISE * most))).collect();
        if audible.contains(&0.0) {
            outside.scale_columns(&audible);
        }
    }

    /// Q E.
    fn combine(&mut self, vectors: &Small) -> Block {
        let (rows, width, columns) = (self.basis[0].rows(), self.basis[0].cols(), vectors.cols());
        let mut out = self.a.work.take(rows, columns);
        out.as_mut_slice().fill(0.0);
        for (at, q) in self.basis.iter().enumerate() {
            let part = Small::from_fn(width, columns, |i, j| vectors.get(at * width + i, j));
            out.add_times(q, &part, 1.0);
        }
        out
    }

    /// Makes new columns orthonormal, to the basis too; lost ones are drawn anew, once.
    fn orthonormalize(&mut self, block: &mut Block, round: usize) {
        let kept = self.clean(block);
        if kept.iter().all(|&kept| kept) {
            return;
        }
        let fresh = Block::random(block.rows(), block.cols(), self.task.key.with("refill", round as u64));
        block.update_rows(|i, row| {
            let lost = row.iter_mut().zip(fresh.row(i)).zip(&kept).filter(|(_, kept)| !**kept);
            lost.for_each(|((value, &fresh), _)| *value = fresh);
        });
        self.clean(block);
    }

    /// Orthonormal columns, or zero where little is left outside the basis: noise, scaled up.
    fn clean(&self, block: &mut Block) -> Vec<bool> {
        let mut kept = orthonormalize(block);
        if !self.basis.is_empty() {
            let parts: Vec<Small> = self.basis.iter().map(|q| q.cross(block)).collect();
            self.basis.iter().zip(&parts).for_each(|(q, part)| block.add_times(q, part, -1.0));
            let norms = block.column_norms(Norm::L2);
            let clear: Vec<f64> = norms.iter().map(|&norm| f64::from(u8::from(norm > 0.1))).collect();
            block.scale_columns(&clear);
            kept = orthonormalize(block);
        }
        kept
    }
}

impl Squared<'_> {
    /// A x.
    fn times(&mut self, x: &Block) -> Block {
        let mut y = self.work.take(self.s.rows(), x.cols());
        self.s.apply_into(x, &mut y, &mut self.work);
        if self.symmetric {
            return y;
        }
        let mut z = self.work.take(x.rows(), x.cols());
        self.s.apply_transposed_into(&y, &mut z, &mut self.work);
        self.work.give(y);
        z
    }
}

impl Ritz {
    /// The `count` leading eigenpairs of H (symmetrised: its halves differ by rounding).
    fn of(h: &Small, count: usize) -> Result<Ritz> {
        let n = h.rows();
        let even = Small::from_fn(n, n, |i, j| 0.5 * (h.get(i, j) + h.get(j, i)));
        let eigen = even.eigen()?;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| eigen.values[j].abs().total_cmp(&eigen.values[i].abs()));
        let values = order[..count].iter().map(|&i| eigen.values[i]).collect();
        Ok(Ritz { values, vectors: Small::from_fn(n, count, |i, j| eigen.vectors.get(i, order[j])) })
    }

    /// Residuals ‖F E_last‖ from the Gram matrix of F: the largest, relative to its eigenvalue.
    fn judge(&self, gram: &Small, rank: usize, tolerance: f64, info: &mut Info) {
        let (n, width) = (self.vectors.rows(), gram.rows());
        let last = Small::from_fn(width, self.vectors.cols(), |i, j| self.vectors.get(n - width + i, j));
        let image = gram.times(&last);
        let most = self.values.first().map_or(0.0, |value| value.abs());
        let (mut worst, mut converged) = (0.0f64, true);
        for (j, value) in self.values.iter().take(rank).map(|value| value.abs()).enumerate() {
            let square: f64 = (0..width).map(|i| last.get(i, j) * image.get(i, j)).sum();
            let residual = square.max(0.0).sqrt();
            converged &= residual <= tolerance * value + NOISE * most;
            if value > NOISE * most {
                worst = worst.max(residual / value);
            }
        }
        info.residual = Some(worst);
        info.converged = converged;
    }
}
