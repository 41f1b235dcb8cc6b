//! Views of a directed graph: the two sides of S = A^K ≈ U Σ Vᵀ.
//!
//! A = (D+τ)^-½ W (D+τ)^-½, D being total degrees, is not symmetric, and no power of it has factors that its other powers share.
//! But a row of U Σ = S V is that row of A times A^(K−1) V, and a row of V Σ = Sᵀ U is that row of Aᵀ times (Aᵀ)^(K−1) U. Each
//! side keeps its product as the X of a view. A node is then placed by its own arcs: by those that W has from it among
//! source factors, by those to it among target factors.
//!
//! Walks that first take l steps between new nodes need A^(K−1−l) V. What stands for it is X R^l, X R being closest to
//! A^(K−2) V (least squares): such walks are few, and nodes that have arcs with nodes of the fit alone are placed exactly.
//! Factors are not refined when arcs change; how far shared nodes moved is measured instead ([`moved`]).
//! Cost: 2 (K−1) products and O(N r²).

use super::found::Found;
use super::normal::{degrees, joined, mean_of_nonzero, normalized, weights};
use super::refine::shuffled;
use super::shared::{mark, mark_back, names};
use super::{Basis, Model, View, ViewSide};
use crate::config::Config;
use crate::dense::{Block, Eigen, Panels, Small};
use crate::engine::Shape;
use crate::error::{Error, Result};
use crate::sparse::Csr;
use crate::sparse::multiply;

/// Directions of X with less than this part of the largest variance have no part in R.
const SMALL: f64 = 1e-6;
/// What may be left of rows that were placed anew: of the whole, and as a part of what is left of shuffled rows.
const FOREIGN: [f64; 2] = [0.75, 0.85];

/// The views of both sides: source, then target.
pub(super) fn views(config: &Config, found: &Found, v: &Panels) -> Result<[View; 2]> {
    let graph = &found.weighted.graph;
    let transposed = graph.matrix.transposed();
    let sums = degrees(&graph.matrix, graph.scale)
        .into_iter()
        .zip(degrees(&transposed, graph.scale));
    let degrees: Vec<f64> = sums.map(|(out, into)| out + into).collect();
    let tau = config.regularize * mean_of_nonzero(&degrees);
    let (u, v) = (joined(found.u), joined(v));
    let names = names(found.ids);
    let name = |i: u32| names[graph.nodes.as_ref().map_or(i, |nodes| nodes[i as usize]) as usize];
    let marks: Vec<u64> = (0..u.rows())
        .map(|i| marked(&graph.matrix, graph.scale, i, |j, w| mark(name(j), w)))
        .zip(
            (0..u.rows())
                .map(|i| marked(&transposed, graph.scale, i, |j, w| mark_back(name(j), w))),
        )
        .map(|(out, into)| out.wrapping_add(into))
        .collect();
    let view = |side: ViewSide, matrix: &Csr, own: &Block, other: Block| {
        let step = found.facts.step;
        let a = normalized(matrix, graph.scale, &degrees, tau);
        let (x, c) = walked(&a, other, step)?;
        Ok(View {
            motif: found.motif,
            step,
            side,
            nodes: graph.nodes.clone(),
            marks: marks.clone(),
            weights: weights(
                &Shape::new(&config.local, step, 0.0, false),
                own,
                &found.facts.singular_values,
            ),
            basis: Basis {
                q: Small::identity(c.rows()),
                c,
                laziness: 0.0,
            },
            x: x.into(),
            degrees: degrees.clone(),
            tau,
            residual: 0.0,
            log: None,
        })
    };
    let source = view(ViewSide::Source, &graph.matrix, &u, v.clone())?;
    Ok([source, view(ViewSide::Target, &transposed, &v, u)?])
}

/// X = A^(K−1) times the factors of the other side, and R with X R closest to A^(K−2) times them.
fn walked(a: &Csr, mut x: Block, step: usize) -> Result<(Block, Small)> {
    let mut before = None;
    for _ in 1..step {
        let mut image = Block::zeros(x.rows(), x.cols());
        multiply(a, &x, &mut image);
        before = Some(std::mem::replace(&mut x, image));
    }
    let Some(before) = before else {
        let identity = Small::identity(x.cols());
        return Ok((x, identity));
    };
    let Eigen { values, vectors } = x.gram().eigen()?;
    let largest = values.first().copied().unwrap_or(0.0);
    let mut inverse = vectors.clone();
    let of = |value: f64| {
        if value > SMALL * largest {
            value.recip()
        } else {
            0.0
        }
    };
    inverse.scale_columns(&values.into_iter().map(of).collect::<Vec<_>>());
    let r = inverse
        .times(&vectors.transposed())
        .times(&x.cross(&before));
    Ok((x, r))
}

/// The sum of the marks of a row.
pub(super) fn marked(matrix: &Csr, scale: f64, row: usize, mark: impl Fn(u32, f64) -> u64) -> u64 {
    let (columns, values) = matrix.row(row);
    let entries = columns.iter().zip(values).filter(|(_, w)| **w != 0.0);
    entries
        .map(|(&j, &w)| mark(j, f64::from(w) / scale))
        .fold(0, u64::wrapping_add)
}

impl Model {
    /// Whether it is of a directed graph, whose arcs count.
    pub(in crate::embed) fn is_of_arcs(&self) -> bool {
        self.views.iter().any(|view| view.side != ViewSide::Both)
    }

    /// How much of the proximity columns of shared nodes is other than at the fit: ‖s Z − Z₀‖ / ‖Z₀‖ with the s that makes it
    /// least, columns centred, since what all nodes have in common says nothing. Refuses a graph whose shared nodes are hardly closer to their old places than to those of others.
    pub(in crate::embed) fn moved(&self, of_fit: &[Option<u32>], placed: &Block) -> Result<f64> {
        let shared: Vec<(usize, usize)> = of_fit
            .iter()
            .enumerate()
            .filter_map(|(i, model)| Some((i, (*model)? as usize)))
            .collect();
        let (z, vectors) = (self.z_columns(), self.vectors()?);
        let (mut now, mut then) = (Block::zeros(shared.len(), z), Block::zeros(shared.len(), z));
        now.update_rows(|k, row| row.copy_from_slice(&placed.row(shared[k].0)[..z]));
        then.update_rows(|k, row| row.copy_from_slice(&vectors.row(shared[k].1)[..z]));
        centre(&mut now);
        centre(&mut then);
        let (left, of_strangers) = (left(&now, &then), left(&now, &shuffled(&then)));
        if left > FOREIGN[0] || left > FOREIGN[1] * of_strangers {
            let message = format!(
                "{} of the {} ids of the model are in this graph, but their arcs are not those of the same nodes, or hardly any \
                 of these arcs is left (relative change of their vectors {left:.2}, with shuffled nodes {of_strangers:.2}). \
                 If the ids name other nodes, use structure-only = true for the structure columns alone, which can still be \
                 compared; otherwise fit a new model",
                shared.len(),
                self.ids.len()
            );
            return Err(Error::config("like", message));
        }
        Ok(left)
    }
}

/// Takes the mean of each column away.
fn centre(block: &mut Block) {
    let (rows, cols) = (block.rows(), block.cols());
    let mut means = vec![0f64; cols];
    for i in 0..rows {
        means
            .iter_mut()
            .zip(block.row(i))
            .for_each(|(mean, &x)| *mean += f64::from(x) / rows as f64);
    }
    block.update_rows(|_, row| {
        row.iter_mut()
            .zip(&means)
            .for_each(|(x, mean)| *x -= *mean as f32);
    });
}

/// What a multiple of the rows leaves of others, as a part of their size.
fn left(now: &Block, then: &Block) -> f64 {
    let dot = |a: &Block, b: &Block| {
        a.as_slice()
            .iter()
            .zip(b.as_slice())
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
