//! The leading right singular space of an operator: restarted block Krylov, or power iteration.
//!
//! Let A = SᵀS, or S itself when S is symmetric. A basis Q of orthonormal blocks grows by
//! F = (I − Q Qᵀ) A Q_last, and H = Qᵀ A Q is small. Its leading eigenvectors E give Ritz vectors
//! X = Q E with A X = X Λ + F E_last: their residuals cost nothing. When [`DEPTH`] blocks are full, or as many as the
//! rows have room for, the basis is restarted as [X, orth(F)], which keeps the Krylov structure without wasting a product
//! (thick restart: Wu, Simon 2000; block Krylov for the SVD: Musco, Musco 2015). A few products alone
//! do not pay for a basis: then V = orth(A V) is iterated (Halko, Martinsson, Tropp 2011), and a Chebyshev
//! polynomial of a symmetric S may follow: small where eigenvalues are below those of V, steep beyond
//! (Zhou, Saad 2007).
//! New directions are orthonormalised and projected until the projection finds nothing more: one alone would leave
//! what the other amplified. The residuals of a basis are estimates; those reported are measured on the final vectors.
//! Cost: an application of A (2 products, 1 if symmetric) and O(N b² blocks) each iteration.

use super::svd::Svd;
use super::{Info, Task};
use crate::dense::{Block, Norm, Small, orthonormalize};
use crate::error::Result;
use crate::operator::{Operator, Workspace};
use crate::sparse::{Fused, Rounded};

/// Blocks in the basis before it is restarted.
pub(super) const DEPTH: usize = 4;

/// From so many iterations on a basis is kept.
pub(super) const MANY: usize = 2 * DEPTH;

/// The most that a Chebyshev polynomial may grow to: far from the limits of f32.
const LARGEST: f64 = 1e16;

/// Rounding noise of f32 products, relative to the largest eigenvalue.
const NOISE: f64 = 3e-7;

/// The part of the tolerance at which a basis is left, so that measured residuals meet it too.
const MARGIN: f64 = 0.7;

/// What a projection may find along the basis and leave columns orthogonal to it, to f32 precision.
const ALONG: f64 = 1e-3;

/// Times that new columns are projected at most.
const PROJECTIONS: usize = 4;

/// Blocks of more bytes are beyond the caches: power iterations round what their products gather (see [`Rounded`]).
/// Filters do not: they would amplify early errors.
const LARGE: usize = 1 << 24;

/// Whether that pays for a block.
fn rounds(rows: usize, cols: usize) -> bool {
    rows * cols * size_of::<f32>() > LARGE && Rounded::words(cols) < cols
}

pub(super) struct Subspace<'a> {
    a: Squared<'a>,
    task: &'a Task<'a>,
    basis: Vec<Block>,
    /// Qᵀ A Q of the blocks already multiplied.
    h: Small,
    /// Whether the residuals known are estimates of a basis.
    estimated: bool,
    /// Whether power iterations round what their products gather.
    rounds: bool,
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
        let rounds = rounds(start.rows(), width);
        Subspace { a, task, basis: vec![start], h: Small::zeros(0, 0), estimated: false, rounds }
    }

    /// Orthonormal columns that span the space after at most `limit` applications of A.
    pub(super) fn run(&mut self, limit: usize, options: &Svd, info: &mut Info) -> Result<Block> {
        let room = self.a.s.cols() / self.basis[0].cols().max(1);
        if limit >= MANY && room > 1 {
            return self.krylov(limit, room.min(DEPTH), options.tolerance, info);
        }
        let filter = if self.a.symmetric { options.filter } else { 0 };
        // Residuals of a symmetric matrix follow from its last, exact product.
        let judged = filter == 0 && !(self.rounds && self.a.symmetric);
        self.a.work.rounds = self.rounds;
        let v = self.power(limit.max(filter.min(1)), judged.then_some(options.tolerance), info);
        self.a.work.rounds = false;
        if filter > 0 { self.filter(v?, filter, info) } else { v }
    }

    /// S V. Residuals that are open or estimated are measured, where that takes no more than one product.
    pub(super) fn image(&mut self, v: &Block, tolerance: f64, info: &mut Info) -> Result<Block> {
        let mut image = self.a.work.take(self.a.s.rows(), v.cols());
        self.a.s.apply_into(v, &mut image, &mut self.a.work);
        if self.estimated {
            let mut square = image.clone();
            if !self.a.symmetric {
                square = self.a.work.take(v.rows(), v.cols());
                self.a.s.apply_transposed_into(&image, &mut square, &mut self.a.work);
            }
            self.measure(v, square, tolerance, info)?;
        } else if self.a.symmetric && info.iterations > 0 && info.residual.is_none() {
            self.judge(v, &image, tolerance, info)?;
        }
        Ok(image)
    }

    /// Residuals of the Ritz vectors in the span of V, from V and A V: A V − V H itself, not its Gram matrix as a
    /// difference, which would see every deviation of V from orthonormal as the root of it.
    fn measure(&self, v: &Block, mut image: Block, tolerance: f64, info: &mut Info) -> Result<()> {
        let h = v.cross(&image);
        image.add_times(v, &h, -1.0);
        Ritz::of(&h, h.rows())?.judge(&image.gram(), self.task.rank, tolerance, info);
        Ok(())
    }

    /// V ← orth(A V). Random directions are nearly orthogonal: only the last product needs more. With a
    /// `tolerance` residuals are reported.
    fn power(&mut self, limit: usize, tolerance: Option<f64>, info: &mut Info) -> Result<Block> {
        let mut v = self.basis.pop().expect("the first block");
        if limit < 2 {
            orthonormalize(&mut v);
        }
        while info.iterations < limit {
            self.task.progress.check()?;
            let mut image = self.a.times(&v);
            info.iterations += 1;
            if let Some(tolerance) = tolerance.filter(|_| info.iterations == limit) {
                self.judge(&v, &image, tolerance, info)?;
            }
            std::mem::swap(&mut v, &mut image);
            self.a.work.give(image);
            self.orthonormalize(&mut v, info.iterations);
        }
        Ok(v)
    }

    /// The same without another block, for large graphs: nothing below 10⁻³ can be seen.
    fn judge(&self, v: &Block, image: &Block, tolerance: f64, info: &mut Info) -> Result<()> {
        let h = v.cross(image);
        let inside = h.transposed().times(&h);
        let all = image.gram();
        let outside = Small::from_fn(h.rows(), h.rows(), |i, j| all.get(i, j) - inside.get(i, j));
        Ritz::of(&h, h.rows())?.judge(&outside, self.task.rank, tolerance, info);
        Ok(())
    }

    /// V ← orth(T_m(S/c) V), c being the smallest singular value of S V: |T_m| ≤ 1 up to c and grows fast
    /// beyond. V is rotated to singular vectors first, so that each column grows by its own factor and none
    /// drowns in rounding.
    fn filter(&mut self, v: Block, degree: usize, info: &mut Info) -> Result<Block> {
        let image = self.a.times(&v);
        info.iterations += 1;
        let squares = Ritz::of(&image.gram(), v.cols())?;
        let [most, least] =
            [squares.values.first(), squares.values.last()].map(|value| value.map_or(0.0, |value| value.abs().sqrt()));
        if least <= NOISE * most {
            return Ok(v);
        }
        let degree = (LARGEST.ln() / (most / least).acosh()).clamp(1.0, degree as f64) as usize;
        let mut scaled = squares.vectors.clone();
        scaled.scale_columns(&vec![1.0 / least; v.cols()]);
        let (mut before, mut last) = (v, image);
        before.transform(&squares.vectors);
        last.transform(&scaled);
        for step in 1..degree {
            self.task.progress.check()?;
            // T_{m+1} = 2/c S T_m − T_{m−1} with signs + + − − + + …, so that the product adds to what is there.
            let twice = (2.0 / least) as f32;
            let scale = if step % 2 == 1 { -twice } else { twice };
            let fused = Fused { scale, accumulate: true, ..Fused::default() };
            self.a.s.product(&last, &mut before, &fused, false, &mut self.a.work);
            info.iterations += 1;
            std::mem::swap(&mut before, &mut last);
        }
        self.a.work.give(before);
        last.normalize_columns(Norm::L2);
        self.orthonormalize(&mut last, info.iterations);
        Ok(last)
    }

    fn krylov(&mut self, limit: usize, depth: usize, tolerance: f64, info: &mut Info) -> Result<Block> {
        let width = self.basis[0].cols();
        self.estimated = true;
        orthonormalize(&mut self.basis[0]);
        loop {
            self.task.progress.check()?;
            let mut outside = self.extend();
            info.iterations += 1;
            let last = info.iterations == limit;
            if last || self.basis.len() == depth {
                let ritz = Ritz::of(&self.h, width)?;
                ritz.judge(&outside.gram(), self.task.rank, MARGIN * tolerance, info);
                let mut leading = self.combine(&ritz.vectors);
                if info.converged || last {
                    orthonormalize(&mut leading);
                    return Ok(leading);
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

    /// Makes new columns orthonormal, to the basis too; lost ones are drawn again, once.
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

    /// Orthonormal columns, orthogonal to the basis too, or zero where little is left outside it: noise, scaled up.
    fn clean(&self, block: &mut Block) -> Vec<bool> {
        let mut kept = orthonormalize(block);
        for _ in 0..PROJECTIONS {
            if self.basis.is_empty() {
                break;
            }
            let parts: Vec<Small> = self.basis.iter().map(|q| q.cross(block)).collect();
            self.basis.iter().zip(&parts).for_each(|(q, part)| block.add_times(q, part, -1.0));
            let norms = block.column_norms(Norm::L2);
            let clear: Vec<f64> = norms.iter().map(|&norm| f64::from(u8::from(norm > 0.1))).collect();
            block.scale_columns(&clear);
            kept = orthonormalize(block);
            let along = parts.iter().flat_map(Small::as_slice).fold(0.0f64, |most, part| most.max(part.abs()));
            if along <= ALONG {
                break;
            }
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

    /// Residuals ‖F E_last‖ from the Gram matrix of F: the largest, relative to its eigenvalue, beyond what rounding
    /// of the products explains. The tolerance is met if that one number meets it.
    fn judge(&self, gram: &Small, rank: usize, tolerance: f64, info: &mut Info) {
        let (n, width) = (self.vectors.rows(), gram.rows());
        let last = Small::from_fn(width, self.vectors.cols(), |i, j| self.vectors.get(n - width + i, j));
        let image = gram.times(&last);
        let noise = NOISE * self.values.first().map_or(0.0, |value| value.abs());
        let mut worst = 0.0f64;
        for (j, value) in self.values.iter().take(rank).map(|value| value.abs()).enumerate() {
            let square: f64 = (0..width).map(|i| last.get(i, j) * image.get(i, j)).sum();
            let beyond = square.max(0.0).sqrt() - noise;
            if beyond > 0.0 {
                worst = worst.max(beyond / value.max(noise));
            }
        }
        info.residual = Some(worst);
        info.converged = worst <= tolerance;
    }
}

#[cfg(test)]
mod tests;
