//! Tucker decomposition: X ≈ G ×₁ U ×₂ V ×₃ C with orthonormal U, V (node factors) and C (motif factors).
//!
//! Starts from the higher-order SVD, whose third factor is that of the slices as projected by the first
//! two (sequential truncation: Vannieuwenhoven et al. 2012), and goes on with HOOI (De Lathauwer et al.
//! 2000). With K_s = Uᵀ X_s V, the best C are the leading eigenvectors of ⟨K_s, K_t⟩, exactly. The best U
//! spans the leading space of A = Σ_r B_r B_rᵀ, B_r = Σ_s C_sr X_s V; B has too many columns to be kept, so
//! one step of subspace iteration is made instead, U ← orth(A U) = orth(Σ_s X_s V M_sᵀ) with
//! M_s = Σ_t (CCᵀ)_st K_t. A being semidefinite, ‖G‖² never falls, and neither does it for V.
//! Cost: 4 products with each slice per sweep; memory of some N × D blocks and S D² for the K_s.

use super::{Decomposition, Descent, Limits, Tensor};
use crate::dense::{Block, Small, larger, orthonormalize};
use crate::error::Result;
use crate::factor::Task;
use crate::operator::Workspace;

/// Factors and the projected slices.
struct State {
    u: Block,
    v: Block,
    c: Small,
    /// K_s = Uᵀ X_s V.
    k: Vec<Small>,
    total: f64,
    captured: f64,
}

/// The Tucker decomposition of a tensor: `task.rank` node factors and at most `motif_rank` motif factors. Columns of all factors
/// are orthonormal, or zero beyond the rank; rows, columns and matrices of the core are orthogonal to each other.
pub fn tucker(
    tensor: &Tensor,
    motif_rank: usize,
    limits: Limits,
    task: &Task,
) -> Result<Decomposition> {
    let (u, v) = tensor.node_spaces(task.rank.min(tensor.nodes()), task)?;
    let mut state = State {
        c: Small::zeros(tensor.count(), motif_rank.min(tensor.count())),
        k: project(tensor, &u, &v, task)?,
        u,
        v,
        total: tensor.energy(),
        captured: 0.0,
    };
    state.improve_motifs()?;
    let mut descent = Descent::start(state.loss());
    descent.converged = state.captured <= 0.0;
    let mut done = limits.iterations == 0 || descent.converged;
    while !done {
        state.improve_nodes(true, tensor, task)?;
        state.improve_nodes(false, tensor, task)?;
        done = descent.note(state.loss(), limits, "tucker")?;
        task.progress.advance(1);
    }
    state.finish(task.rank, descent)
}

/// Uᵀ X_s V of every slice.
fn project(tensor: &Tensor, u: &Block, v: &Block, task: &Task) -> Result<Vec<Small>> {
    let mut work = Workspace::default();
    let mut k = vec![Small::zeros(u.cols(), v.cols()); tensor.count()];
    tensor.visit(task, &mut |s, slice| {
        let image = slice.times(v, false, &mut work);
        k[s] = slice.rows(u).cross(&image);
        work.give(image);
        Ok(())
    })?;
    Ok(k)
}

/// Σ_s C_sr K_s, one per column of C.
fn core(c: &Small, k: &[Small]) -> Vec<Small> {
    let (rows, cols) = k.first().map_or((0, 0), |k| (k.rows(), k.cols()));
    let mut core = vec![Small::zeros(rows, cols); c.cols()];
    for (r, sum) in core.iter_mut().enumerate() {
        for (s, k) in k.iter().enumerate() {
            sum.add_scaled(c.get(s, r), k);
        }
    }
    core
}

/// ⟨A_i, A_j⟩ of matrices.
fn grams(matrices: &[Small]) -> Small {
    Small::from_fn(matrices.len(), matrices.len(), |i, j| {
        matrices[i].inner(&matrices[j])
    })
}

impl State {
    /// The best C for U and V.
    fn improve_motifs(&mut self) -> Result<()> {
        let eigen = grams(&self.k).eigen()?;
        let rank = self.c.cols();
        self.c = eigen.vectors.columns(rank);
        self.captured = eigen.values.iter().take(rank).sum();
        Ok(())
    }

    fn loss(&self) -> f64 {
        if self.total > 0.0 {
            1.0 - self.captured / self.total
        } else {
            0.0
        }
    }

    /// A better U, the left one, or V, and then the best C.
    fn improve_nodes(&mut self, left: bool, tensor: &Tensor, task: &Task) -> Result<()> {
        let core = core(&self.c, &self.k);
        let other = if left { &self.v } else { &self.u };
        let mut work = Workspace::default();
        let mut sum = Block::zeros(
            tensor.nodes(),
            if left { self.u.cols() } else { self.v.cols() },
        );
        tensor.visit(task, &mut |s, slice| {
            let mut mixed = Small::zeros(self.u.cols(), self.v.cols());
            core.iter()
                .enumerate()
                .for_each(|(r, core)| mixed.add_scaled(self.c.get(s, r), core));
            let image = slice.times(other, !left, &mut work);
            let part = image.times(&if left { mixed.transposed() } else { mixed });
            slice.add_rows(&mut sum, &part);
            work.give(image);
            Ok(())
        })?;
        orthonormalize(&mut sum);
        *(if left { &mut self.u } else { &mut self.v }) = sum;
        self.k = project(tensor, &self.u, &self.v, task)?;
        self.improve_motifs()
    }

    /// Rotates the factors so that the core is orthogonal in every mode, largest first.
    fn finish(mut self, rank: usize, descent: Descent) -> Result<Decomposition> {
        let mut core = core(&self.c, &self.k);
        let (mut rows, mut columns) = (
            Small::zeros(self.u.cols(), self.u.cols()),
            Small::zeros(self.v.cols(), self.v.cols()),
        );
        for core in &core {
            rows.add_scaled(1.0, &core.times(&core.transposed()));
            columns.add_scaled(1.0, &core.transposed().times(core));
        }
        let (rows, columns) = (rows.eigen()?, columns.eigen()?);
        self.u.transform(&rows.vectors);
        self.v.transform(&columns.vectors);
        let (of_u, of_v) = (self.u.column_signs(), self.v.column_signs());
        self.u.scale_columns(&of_u);
        self.v.scale_columns(&of_v);
        let of_c = signs(&self.c);
        self.c.scale_columns(&of_c);
        let left = rows.vectors.transposed();
        for (core, sign) in core.iter_mut().zip(&of_c) {
            let turned = left.times(core).times(&columns.vectors);
            *core = Small::from_fn(turned.rows(), turned.cols(), |i, j| {
                sign * of_u[i] * of_v[j] * turned.get(i, j)
            });
        }
        let between = grams(&core);
        let captured = |s: usize| {
            let (c, between) = (self.c.row(s), &between);
            let of = |r: usize| (0..c.len()).map(move |q| c[r] * c[q] * between.get(r, q));
            (0..c.len()).map(|r| of(r).sum::<f64>()).sum()
        };
        let mut weights: Vec<f64> = rows
            .values
            .iter()
            .map(|value| value.max(0.0).sqrt())
            .collect();
        weights.resize(rank, 0.0);
        Ok(Decomposition {
            captured: (0..self.c.rows()).map(captured).collect(),
            left: self.u.widened(rank),
            right: self.v.widened(rank),
            motifs: self.c,
            core: Some(core),
            weights,
            descent,
        })
    }
}

/// The sign of each column's entry of largest absolute value.
fn signs(matrix: &Small) -> Vec<f64> {
    let mut most = vec![0.0; matrix.cols()];
    for i in 0..matrix.rows() {
        for (most, &x) in most.iter_mut().zip(matrix.row(i)) {
            *most = larger(*most, x);
        }
    }
    crate::space::signs(&most)
}
