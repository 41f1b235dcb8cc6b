//! Factors of a graph that has changed: whether those of the fit still fit, and better ones in the same space.
//!
//! Only nodes and edges between nodes of the fit count, so that new nodes move no other node. The measure of a change is
//! ‖A X − X C‖ / ‖X C‖ with the A of now, beyond what it was at the fit: adding 1 %, 5 % and 20 % of the edges of a citation
//! graph at random gives .04, .09 and .22. Up to [`FITS`] the factors stay, and only nodes whose own edges changed
//! move. Beyond, X is multiplied with B and made orthonormal [`ITERATIONS`] times, and X L^K rotated onto that of the fit by
//! the orthogonal matrix that brings it closest (Procrustes).
//!
//! Other nodes under the same ids leave more than a rotation can fix. What is left, sizes made equal, is compared with what is
//! left when the rows of the fit are shuffled, which is 1 in sparse graphs and little in dense ones, where all nodes are
//! alike. More than [`FOREIGN`] of it, or of the whole, is refused. Cost: one product to measure, one more per iteration and one for C, and
//! O(N r²) for each.

use super::normal::{degrees, normalized, relative_residual, symmetric};
use super::{Basis, View};
use crate::dense::{Block, Norm, Small, orthonormalize};
use crate::error::{Error, Result};
use crate::motif::MotifGraph;
use crate::random::mix64;
use crate::report::Fitting;
use crate::sparse::multiply;
use crate::sparse::{Csr, Pattern};

/// The excess residual up to which factors stay.
const FITS: f64 = 0.15;
/// Iterations that refine them.
const ITERATIONS: usize = 3;
/// What a rotation may leave, sizes made equal: of the whole, and as a part of what it leaves of shuffled rows.
const FOREIGN: [f64; 2] = [0.75, 0.85];

/// Marks rows that a list does not have.
pub(super) const NONE: u32 = u32::MAX;

/// Factors of the graph of now in the space of the fit, on the rows of W that `at` numbers.
pub(super) struct Refined {
    pub(super) x: Block,
    pub(super) at: Vec<u32>,
    pub(super) degrees: Vec<f64>,
    pub(super) basis: Basis,
}

/// The graph between nodes of the fit.
struct Between {
    matrix: Csr,
    degrees: Vec<f64>,
    at: Vec<u32>,
    /// X of the fit.
    x: Block,
}

/// Measures how well the factors of the fit still fit; where they do not, better ones. `known` has the row of the view for
/// each row of W, or [`NONE`].
pub(super) fn refined(
    view: &View,
    graph: &MotifGraph,
    known: &[u32],
    facts: &mut Fitting,
) -> Result<Option<Refined>> {
    let Between {
        matrix,
        degrees,
        at,
        x: old,
    } = Between::of(&*view.x.whole()?, graph, known);
    let a = normalized(&matrix, graph.scale, &degrees, view.tau);
    let mut x = product(&a, &old);
    let residual = relative_residual(x.clone(), &old, &view.basis.c);
    if !residual.is_finite() {
        let message =
            "the factors overflow: numbers of the model, or edge weights, are far too large or too small; save the model again, or \
             scale the weights"
                .into();
        return Err(Error::Numeric {
            stage: "placing nodes".into(),
            message,
        });
    }
    facts.residual = Some(residual);
    if residual * residual - view.residual * view.residual <= FITS * FITS {
        return Ok(None);
    }
    let linked = degrees.iter().filter(|degree| **degree > 0.0).count();
    check_enough(view, linked)?;
    let laziness = view.basis.laziness;
    let step = |image: Block, x: &Block| lazy(image, x, laziness);
    x = step(x, &old);
    for left in (0..ITERATIONS).rev() {
        orthonormalize(&mut x);
        if left > 0 {
            x = step(product(&a, &x), &x);
        }
    }
    let c = symmetric(&x.cross(&product(&a, &x)));
    let target = old.times(&view.basis.power(view.step).times(&view.basis.q));
    let mut basis = Basis {
        c,
        q: Small::identity(x.cols()),
        laziness,
    };
    let now = x.times(&basis.power(view.step));
    let (q, left) = procrustes(&now, &target)?;
    let (_, of_strangers) = procrustes(&now, &shuffled(&target))?;
    if left > FOREIGN[0] || left > FOREIGN[1] * of_strangers {
        return Err(foreign(view, linked, (left, of_strangers)));
    }
    basis.q = q;
    facts.iterations = ITERATIONS;
    facts.rotation = Some(left);
    Ok(Some(Refined {
        x,
        at,
        degrees,
        basis,
    }))
}

impl Between {
    fn of(factors: &Block, graph: &MotifGraph, known: &[u32]) -> Between {
        let rows: Vec<usize> = (0..known.len()).filter(|&i| known[i] != NONE).collect();
        let mut at = vec![NONE; known.len()];
        rows.iter()
            .zip(0..)
            .for_each(|(&row, number)| at[row] = number);
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in &rows {
            let (neighbours, weights) = graph.matrix.row(row);
            for (&j, &w) in neighbours
                .iter()
                .zip(weights)
                .filter(|(j, w)| at[**j as usize] != NONE && **w != 0.0)
            {
                columns.push(at[j as usize]);
                values.push(w);
            }
            offsets.push(columns.len());
        }
        let matrix = Csr::new(
            Pattern::new(offsets, columns, rows.len()).into(),
            values.into(),
        );
        let mut x = Block::zeros(rows.len(), factors.cols());
        x.update_rows(|i, row| row.copy_from_slice(factors.row(known[rows[i]] as usize)));
        Between {
            degrees: degrees(&matrix, graph.scale),
            matrix,
            at,
            x,
        }
    }
}

fn product(a: &Csr, x: &Block) -> Block {
    let mut image = Block::zeros(x.rows(), x.cols());
    multiply(a, x, &mut image);
    image
}

/// ℓX + (1−ℓ)AX, A X being the image.
fn lazy(mut image: Block, x: &Block, laziness: f64) -> Block {
    let (stays, moves) = (laziness as f32, (1.0 - laziness) as f32);
    image.update_rows(|i, row| {
        row.iter_mut()
            .zip(x.row(i))
            .for_each(|(to, x)| *to = moves * *to + stays * x);
    });
    image
}

/// The orthogonal Q that brings X Q closest to a target, and ‖s X Q − target‖ / ‖target‖ with the s that makes it least: other
/// units of weights, or edges that are gone, change the size of all rows.
fn procrustes(x: &Block, target: &Block) -> Result<(Small, f64)> {
    let svd = x.cross(target).svd()?;
    let q = svd.u.times(&svd.v.transposed());
    let energy = |block: &Block| {
        block
            .column_norms(Norm::L2)
            .iter()
            .map(|norm| norm * norm)
            .sum::<f64>()
    };
    let (own, size) = (energy(x), energy(target));
    let common = svd.sigma.iter().sum::<f64>();
    let left = if own > 0.0 && size > 0.0 {
        1.0 - common * common / (own * size)
    } else {
        1.0
    };
    Ok((q, left.max(0.0).sqrt()))
}

/// The rows in another order, always the same: each is that of a node far away in the list.
pub(super) fn shuffled(x: &Block) -> Block {
    let n = x.rows();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| (mix64(i as u64), i));
    let mut out = Block::zeros(n, x.cols());
    out.update_rows(|i, row| row.copy_from_slice(x.row(order[i])));
    out
}

/// Refuses to refine factors on fewer nodes with edges to each other than it takes to tell their columns apart.
pub(super) fn check_enough(view: &View, shared: usize) -> Result<()> {
    let columns = view.weights.iter().filter(|weight| **weight > 0.0).count();
    let enough = columns.min(view.x.rows() / 2);
    if shared >= enough {
        return Ok(());
    }
    let message = format!(
        "only {shared} of the {} nodes of the model have edges to each other in this graph, and these have changed; it takes \
         at least {enough} to place the graph in the same space. Use structure-only = true for the structure columns alone, or fit a \
         new model",
        view.x.rows()
    );
    Err(Error::config("like", message))
}

fn foreign(view: &View, shared: usize, (left, of_strangers): (f64, f64)) -> Error {
    let message = format!(
        "{shared} of the {} nodes of the model have edges to each other in this graph, but these are not those of the same \
         nodes, or hardly any of them is left (relative residual of their factors after rotation {left:.2}, with shuffled nodes \
         {of_strangers:.2}). If the ids name other nodes, use structure-only = true for the structure columns alone, which \
         can still be compared; otherwise fit a new model",
        view.x.rows()
    );
    Error::config("like", message)
}
