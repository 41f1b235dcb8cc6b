//! Factors of a graph that has changed: whether those of the fit still fit, and better ones in the same space.
//!
//! Only nodes and edges between nodes of the fit count, so that new nodes move no other node. The measure of a change is
//! ‖A X − X C‖ / ‖X C‖ with the A of now, beyond what it was at the fit: adding 1 %, 5 % and 20 % of the edges of a citation
//! graph at random gives .04, .09 and .22. Up to [`FITS`] the factors stay, and only nodes whose own edges changed
//! move. Beyond, X is multiplied with B and made orthonormal [`ITERATIONS`] times, and X L^K rotated onto that of the fit by
//! the orthogonal matrix that brings it closest (Procrustes).
//!
//! Factors of arcs are not refined: how far the vectors of shared nodes moved is measured instead.
//!
//! Other nodes under the same ids leave more than a rotation can fix. What is left, sizes made equal, is compared with what is
//! left when the rows of the fit are shuffled, which is 1 in sparse graphs and little in dense ones, where all nodes are
//! alike. More than [`FOREIGN`] of it, or of the whole, is refused. Cost: one product to measure, one more per iteration and one
//! for C, and O(N r²) for each.

use std::borrow::Cow;

use super::rows::NONE;
use super::{Placement, overflow};
use crate::dense::panels::pick;
use crate::dense::{Block, Small, orthonormalize};
use crate::embed::model::{
    Basis, Rows, View, degrees, neighbours, normalized, product, relative_residual,
};
use crate::error::{Error, Result};
use crate::message::{message, set, setting};
use crate::motif::MotifGraph;
use crate::random::mix64;
use crate::report::Fitting;
use crate::sparse::{Csr, Pattern};

/// The excess residual up to which factors stay.
const FITS: f64 = 0.15;
/// Iterations that refine them.
const ITERATIONS: usize = 3;
/// What may be left of rows, sizes made equal: of the whole, and as a part of what is left of shuffled rows.
const FOREIGN: [f64; 2] = [0.75, 0.85];

/// Factors in the space of the fit, on the rows of W that `at` numbers: those of the fit, or better ones of the graph of now.
pub(super) struct Factors<'a> {
    pub(super) x: Rows<'a>,
    pub(super) at: Cow<'a, [u32]>,
    pub(super) degrees: Cow<'a, [f64]>,
    pub(super) basis: Cow<'a, Basis>,
}

/// Measures how well the factors of the fit still fit; where they do not, better ones. `known` has the row of the view for
/// each row of W, or [`NONE`].
pub(super) fn refined(
    view: &View,
    graph: &MotifGraph,
    known: &[u32],
    facts: &mut Fitting,
) -> Result<Option<Factors<'static>>> {
    let (matrix, at) = between(graph, known);
    let old = view.x.whole()?;
    let rows = known.iter().filter(|row| **row != NONE);
    let rows: Vec<usize> = rows.map(|&row| row as usize).collect();
    let old = pick(&[&*old], &rows);
    let degrees = degrees(&matrix, graph.scale);
    let a = normalized(&matrix, graph.scale, &degrees, view.tau);
    let mut x = product(&a, &old);
    let residual = relative_residual(x.clone(), &old, &view.basis.c);
    if !residual.is_finite() {
        return Err(overflow("factors"));
    }
    facts.residual = Some(residual);
    if residual * residual - view.residual * view.residual <= FITS * FITS {
        return Ok(None);
    }
    let linked = degrees.iter().filter(|degree| **degree > 0.0).count();
    check_enough(view, linked)?;
    let laziness = view.basis.laziness;
    x = lazy(x, &old, laziness);
    for left in (0..ITERATIONS).rev() {
        orthonormalize(&mut x);
        if left > 0 {
            x = lazy(product(&a, &x), &x, laziness);
        }
    }
    let mut basis = Basis {
        c: x.cross(&product(&a, &x)).symmetrized(),
        q: Small::identity(x.cols()),
        laziness,
    };
    let target = old.times(&view.basis.power(view.step).times(&view.basis.q));
    let now = x.times(&basis.power(view.step));
    let (q, left) = procrustes(&now, &target)?;
    let (_, shuffled) = procrustes(&now, &shuffled(&target))?;
    check_nodes(left, shuffled, || {
        format!(
            "{linked} of the {} nodes of the model have edges to each other in this graph, but these are not those of the \
             same nodes, or hardly any of them is left (relative residual of their factors after rotation",
            view.x.rows()
        )
    })?;
    basis.q = q;
    facts.iterations = ITERATIONS;
    facts.rotation = Some(left);
    Ok(Some(Factors {
        x: Rows::from(Cow::Owned(x)),
        at: Cow::Owned(at),
        degrees: Cow::Owned(degrees),
        basis: Cow::Owned(basis),
    }))
}

/// Refuses to refine factors on fewer nodes with edges to each other than it takes to tell their columns apart.
pub(super) fn check_enough(view: &View, shared: usize) -> Result<()> {
    let columns = view.weights.iter().filter(|weight| **weight > 0.0).count();
    let enough = columns.min(view.x.rows() / 2);
    if shared >= enough {
        return Ok(());
    }
    let all = view.x.rows();
    let message = message![
        format!(
            "this graph has edges between only {shared} of the {all} nodes of the model, and at least {enough} are needed. \
             Give the whole graph, old and new edges; or what is new as "
        ),
        setting("added"),
        ", for the proximity columns of new nodes; or use ",
        set("structure-only", true),
        " for the structure columns alone, or fit a new model"
    ];
    Err(Error::config("graph", message))
}

/// Refuses a graph whose shared nodes are hardly closer to their old places than to those of others.
fn check_nodes(left: f64, shuffled: f64, what: impl Fn() -> String) -> Result<()> {
    if left <= FOREIGN[0] && left <= FOREIGN[1] * shuffled {
        return Ok(());
    }
    let message = message![
        what(),
        format!(
            " {left:.2}, with shuffled nodes {shuffled:.2}). If the ids name other nodes, use "
        ),
        set("structure-only", true),
        " for the structure columns alone, which can still be compared; otherwise fit a new model"
    ];
    Err(Error::config("graph", message))
}

impl Placement<'_> {
    /// How much of the proximity columns of shared nodes is other than at the fit: ‖s Z − Z₀‖ / ‖Z₀‖ with the s that makes it
    /// least, columns centred, since what all nodes have in common says nothing.
    pub(super) fn moved(&self, placed: &Block) -> Result<f64> {
        let (z, vectors) = (self.model.z_columns(), self.model.vectors()?);
        let shared: Vec<(usize, u32)> = self
            .shared()
            .map(|(i, model)| (i as usize, model))
            .collect();
        let (mut now, mut then) = (Block::zeros(shared.len(), z), Block::zeros(shared.len(), z));
        now.update_rows(|k, row| row.copy_from_slice(&placed.row(shared[k].0)[..z]));
        then.update_rows(|k, row| row.copy_from_slice(&vectors.row(shared[k].1 as usize)[..z]));
        centre(&mut now);
        centre(&mut then);
        let (left, shuffled) = (left(&now, &then), left(&now, &shuffled(&then)));
        check_nodes(left, shuffled, || {
            format!(
                "{} of the {} ids of the model are in this graph, but their arcs are not those of the same nodes, or hardly \
                 any of these arcs is left (relative change of their vectors",
                shared.len(),
                self.model.ids().len()
            )
        })?;
        Ok(left)
    }
}

/// W between nodes of the fit, and for each row of W its number among these.
fn between(graph: &MotifGraph, known: &[u32]) -> (Csr, Vec<u32>) {
    let rows: Vec<usize> = (0..known.len()).filter(|&i| known[i] != NONE).collect();
    let mut at = vec![NONE; known.len()];
    let numbered = rows.iter().zip(0..);
    numbered.for_each(|(&row, number)| at[row] = number);
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for &row in &rows {
        for (j, w) in neighbours(&graph.matrix, row).filter(|(j, _)| at[*j] != NONE) {
            columns.push(at[j]);
            values.push(w as f32);
        }
        offsets.push(columns.len());
    }
    let pattern = Pattern::new(offsets, columns, rows.len());
    (Csr::new(pattern.into(), values.into()), at)
}

/// The rows in another order, always the same: each is that of a node far away in the list.
fn shuffled(x: &Block) -> Block {
    let mut order: Vec<usize> = (0..x.rows()).collect();
    order.sort_by_key(|&i| (mix64(i as u64), i));
    pick(&[x], &order)
}

/// ℓX + (1−ℓ)AX, A X being the image.
fn lazy(mut image: Block, x: &Block, laziness: f64) -> Block {
    let (stays, moves) = (laziness as f32, (1.0 - laziness) as f32);
    image.update_rows(|i, row| {
        let pairs = row.iter_mut().zip(x.row(i));
        pairs.for_each(|(to, x)| *to = moves * *to + stays * x);
    });
    image
}

/// The orthogonal Q that brings X Q closest to a target, and ‖s X Q − target‖ / ‖target‖ with the s that makes it least: other
/// units of weights, or edges that are gone, change the size of all rows.
fn procrustes(x: &Block, target: &Block) -> Result<(Small, f64)> {
    let svd = x.cross(target).svd()?;
    let q = svd.u.times(&svd.v.transposed());
    let (own, size) = (x.energy(), target.energy());
    let common = svd.sigma.iter().sum::<f64>();
    let left = match own > 0.0 && size > 0.0 {
        true => 1.0 - common * common / (own * size),
        false => 1.0,
    };
    Ok((q, left.max(0.0).sqrt()))
}

/// Takes the mean of each column away.
fn centre(block: &mut Block) {
    let means = block.column_means();
    block.update_rows(|_, row| {
        let pairs = row.iter_mut().zip(&means);
        pairs.for_each(|(x, mean)| *x -= *mean as f32);
    });
}

/// What a multiple of the rows leaves of others, as a part of their size.
fn left(now: &Block, then: &Block) -> f64 {
    let dot = |a: &Block, b: &Block| {
        let pairs = a.as_slice().iter().zip(b.as_slice());
        pairs
            .map(|(&a, &b)| f64::from(a) * f64::from(b))
            .sum::<f64>()
    };
    let (own, size, common) = (dot(now, now), dot(then, then), dot(now, then));
    match (own > 0.0, size > 0.0) {
        (_, false) => 0.0,
        (false, true) => 1.0,
        _ if common <= 0.0 => 1.0,
        _ => (1.0 - common * common / (own * size)).max(0.0).sqrt(),
    }
}
