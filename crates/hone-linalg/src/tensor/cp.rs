//! CP decomposition: X_s ≈ A diag(c_s) Bᵀ for all slices, that is Σ_r a_r ∘ b_r ∘ c_r, by alternating least
//! squares (Kolda, Bader 2009).
//!
//! Each of A, B and C in turn is the exact minimum of ‖X − model‖² + μ(‖A‖² + ‖B‖² + ‖C‖²): A = M₁ (BᵀB ∘ CᵀC + μI)⁻¹
//! with M₁ = Σ_s X_s B diag(c_s), likewise the others. A row of C needs only its slice, so C and M₁ come from one pass
//! over the slices. After each sweep the columns of the three are scaled to the same length, which changes no product
//! and only lowers the penalty: the loss never rises, except for rounding. It is computed without a residual, as ‖X‖² −
//! 2⟨X, model⟩ + ‖model‖². Starts from the higher-order SVD, its columns paired by the SVD of Uᵀ(Σ_s X_s)V. Cost: 2
//! products with each slice per sweep, and O(N R²).

use super::{Decomposition, Descent, Limits, Tensor};
use crate::dense::{Block, Norm, Small};
use crate::error::Result;
use crate::factor::Task;
use crate::operator::Workspace;
use crate::random::Key;

/// Eigenvalues below this fraction of the largest are not inverted: f32 factors do not distinguish them from zero.
const ZERO: f64 = 1e-7;

/// The three factors, columns of equal length.
struct Factors {
    a: Block,
    b: Block,
    c: Small,
}

/// The CP decomposition of a tensor: `task.rank` components, whose motif factors have columns of length one (or zero), too.
pub fn cp(
    tensor: &Tensor,
    regularization: f64,
    limits: Limits,
    task: &Task,
) -> Result<Decomposition> {
    let (a, b) = start(tensor, task)?;
    let c = Small::zeros(tensor.count(), task.rank);
    let mut factors = Factors { a, b, c };
    let total = tensor.energy();
    let mut descent: Option<Descent> = None;
    loop {
        let (left, overlap) = factors.motifs_and_left(tensor, regularization, task)?;
        let penalty = regularization * factors.squares();
        let loss = (total - 2.0 * overlap + factors.size() + penalty)
            / if total > 0.0 { total } else { 1.0 };
        let done = match &mut descent {
            Some(descent) => descent.note(loss, limits, "cp")?,
            none => {
                none.insert(Descent::start(loss)).converged = total == 0.0;
                limits.iterations == 0 || total == 0.0
            }
        };
        if done {
            break;
        }
        let around = hadamard(&factors.b.gram(), &gram(&factors.c));
        factors.a = left.times(&inverse(&around, regularization)?);
        let right = factors.right(tensor, task)?;
        let around = hadamard(&factors.a.gram(), &gram(&factors.c));
        factors.b = right.times(&inverse(&around, regularization)?);
        factors.balance();
        task.progress.advance(1);
    }
    Ok(factors.finish(descent.expect("set by the first round")))
}

/// Paired directions to start from; random ones where the slices have fewer.
fn start(tensor: &Tensor, task: &Task) -> Result<(Block, Block)> {
    let width = task.rank.min(tensor.nodes());
    let (u, v) = tensor.node_spaces(width, task)?;
    let mut sum = Small::zeros(width, width);
    let mut work = Workspace::default();
    tensor.visit(task, &mut |_, slice| {
        let image = slice.times(&v, false, &mut work);
        sum.add_scaled(1.0, &slice.rows(&u).cross(&image));
        work.give(image);
        Ok(())
    })?;
    let pairs = sum.svd()?;
    let filled = |block: Block, name: &str| fill(block.widened(task.rank), task.key.with(name, 0));
    Ok((
        filled(u.times(&pairs.u), "left"),
        filled(v.times(&pairs.v), "right"),
    ))
}

/// Random columns of length one instead of zero ones.
fn fill(mut block: Block, key: Key) -> Block {
    let norms = block.column_norms(Norm::L2);
    let mut drawn = Block::random(block.rows(), block.cols(), key);
    drawn.normalize_columns(Norm::L2);
    block.update_rows(|i, row| {
        for (j, x) in row.iter_mut().enumerate().filter(|(j, _)| norms[*j] < 0.5) {
            *x = drawn.get(i, j);
        }
    });
    block
}

impl Factors {
    /// The best C for A and B, row by row; then M₁ = Σ_s X_s B diag(c_s) and ⟨X, model⟩.
    fn motifs_and_left(
        &mut self,
        tensor: &Tensor,
        regularization: f64,
        task: &Task,
    ) -> Result<(Block, f64)> {
        let solve = inverse(&hadamard(&self.a.gram(), &self.b.gram()), regularization)?;
        let Factors { a, b, c } = self;
        let mut work = Workspace::default();
        let mut sum = Block::zeros(a.rows(), a.cols());
        let mut overlap = 0.0;
        c.as_mut_slice().fill(0.0);
        tensor.visit(task, &mut |s, slice| {
            let image = slice.times(b, false, &mut work);
            let sums = column_products(&slice.rows(a), &image);
            let along = Small::from_fn(1, image.cols(), |_, r| sums[r]);
            let own = along.times(&solve);
            overlap += along.inner(&own);
            c.row_mut(s).copy_from_slice(own.as_slice());
            add_scaled(slice, &mut sum, &image, own.as_slice());
            work.give(image);
            Ok(())
        })?;
        Ok((sum, overlap))
    }

    /// M₂ = Σ_s X_sᵀ A diag(c_s).
    fn right(&self, tensor: &Tensor, task: &Task) -> Result<Block> {
        let mut work = Workspace::default();
        let mut sum = Block::zeros(self.b.rows(), self.b.cols());
        tensor.visit(task, &mut |s, slice| {
            let image = slice.times(&self.a, true, &mut work);
            add_scaled(slice, &mut sum, &image, self.c.row(s));
            work.give(image);
            Ok(())
        })?;
        Ok(sum)
    }

    /// ‖model‖².
    fn size(&self) -> f64 {
        hadamard(&self.a.gram(), &self.b.gram()).inner(&gram(&self.c))
    }

    /// ‖A‖² + ‖B‖² + ‖C‖².
    fn squares(&self) -> f64 {
        self.lengths()
            .iter()
            .flatten()
            .map(|length| length * length)
            .sum()
    }

    /// Lengths of the columns of A, B and C.
    fn lengths(&self) -> [Vec<f64>; 3] {
        let of_c = gram(&self.c);
        let c = (0..of_c.rows())
            .map(|r| of_c.get(r, r).max(0.0).sqrt())
            .collect();
        [
            self.a.column_norms(Norm::L2),
            self.b.column_norms(Norm::L2),
            c,
        ]
    }

    /// Multiplies the columns of A, B and C by `of` of their length.
    fn scale(&mut self, lengths: &[Vec<f64>; 3], of: impl Fn(usize, f64) -> f64) {
        let [a, b, c] = lengths.each_ref().map(|lengths| {
            let lengths = lengths.iter().enumerate();
            lengths
                .map(|(r, &length)| of(r, length))
                .collect::<Vec<f64>>()
        });
        self.a.scale_columns(&a);
        self.b.scale_columns(&b);
        self.c.scale_columns(&c);
    }

    /// Gives the columns of all three the same length.
    fn balance(&mut self) {
        let lengths = self.lengths();
        let [a, b, c] = &lengths;
        let even: Vec<f64> = (0..a.len()).map(|r| (a[r] * b[r] * c[r]).cbrt()).collect();
        self.scale(&lengths, |r, own| match even[r] {
            even if even > 0.0 => even / own,
            _ => 1.0,
        });
    }

    /// Columns of length one, the largest component first, signs as for singular vectors.
    fn finish(mut self, descent: Descent) -> Decomposition {
        let both = hadamard(&self.a.gram(), &self.b.gram());
        let captured = |s: usize| {
            let own = self.c.row(s);
            (0..own.len())
                .map(|r| own[r] * (0..own.len()).map(|q| both.get(r, q) * own[q]).sum::<f64>())
                .sum::<f64>()
        };
        let captured = (0..self.c.rows()).map(captured).collect();
        let lengths = self.lengths();
        let [a, b, c] = &lengths;
        let weights: Vec<f64> = (0..a.len()).map(|r| a[r] * b[r] * c[r]).collect();
        self.scale(&lengths, |r, own| match weights[r] {
            weight if weight > 0.0 => 1.0 / own,
            _ => 0.0,
        });
        let (of_a, of_b) = (self.a.normalize_signs(), self.b.normalize_signs());
        let of_c: Vec<f64> = of_a.iter().zip(&of_b).map(|(a, b)| a * b).collect();
        self.c.scale_columns(&of_c);
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&i, &j| weights[j].total_cmp(&weights[i]));
        Decomposition {
            left: self.a.select(&order),
            right: self.b.select(&order),
            core: None,
            motifs: Small::from_fn(self.c.rows(), order.len(), |s, r| self.c.get(s, order[r])),
            weights: order.iter().map(|&r| weights[r]).collect(),
            captured,
            descent,
        }
    }
}

/// Σ_i a_ir b_ir for every column.
fn column_products(a: &Block, b: &Block) -> Vec<f64> {
    let mut product = b.clone();
    product.update_rows(|i, row| row.iter_mut().zip(a.row(i)).for_each(|(x, a)| *x *= a));
    product
        .column_means()
        .into_iter()
        .map(|mean| mean * b.rows() as f64)
        .collect()
}

/// Adds `image` diag(c) to the rows that the slice has.
fn add_scaled(slice: &super::Slice, sum: &mut Block, image: &Block, c: &[f64]) {
    let c: Vec<f32> = c.iter().map(|&c| c as f32).collect();
    slice.change_rows(sum, |i, row| {
        row.iter_mut()
            .zip(image.row(i))
            .zip(&c)
            .for_each(|((to, x), c)| *to += x * c);
    });
}

fn gram(c: &Small) -> Small {
    c.transposed().times(c)
}

fn hadamard(a: &Small, b: &Small) -> Small {
    Small::from_fn(a.rows(), a.cols(), |i, j| a.get(i, j) * b.get(i, j))
}

/// (G + μI)⁻¹ of a semidefinite G, or its pseudo-inverse where that is singular.
fn inverse(gram: &Small, regularization: f64) -> Result<Small> {
    let eigen = gram.eigen()?;
    let floor = ZERO
        * eigen
            .values
            .first()
            .map_or(0.0, |most| most.max(0.0) + regularization);
    Ok(eigen.function(|value| match value + regularization {
        sum if sum > floor => 1.0 / sum,
        _ => 0.0,
    }))
}
