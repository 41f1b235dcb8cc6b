//! Rows of a view on another graph: nodes that stay, nodes whose edges changed, and new ones.
//!
//! S = B^K with B = ℓI + (1−ℓ)A. A row s of S has the factors s V, and V = X Q up to the weights of columns. Of the walks of a
//! new node, those count that take l steps between new nodes and then one into the graph of the fit, where B X = X L takes over:
//!
//! y = Σ_l B_nn^l (1−ℓ)A_ns X L^(K−1−l) Q, l = 0 … K−1
//!
//! with A_ns from new nodes to those of the fit and B_nn between new ones, where a walk may stay. Degrees of nodes of the fit are those of the fit
//! (or of the refined factors), so a row depends on the node's own edges and on the new nodes that it is connected to through
//! new nodes, on nothing else. Nodes of the fit whose edges changed are placed
//! like new ones, from their edges to other nodes of the fit. All sums are in 64 bits and in the order of neighbours, row by row: who else is placed changes no bit.
//! For one side of a directed graph X is A^(K−1) V already, and the sum is Σ_l A_nn^l A_ns X R^l (`arcs`); A is turned around for
//! target factors. Cost: O(r) per edge of a placed node, O(K r²) per node.

use std::borrow::Cow;

use super::normal::root;
use super::refine::{NONE, check_enough, refined};
use super::shared::{mark, mark_back};
use super::tall::Picked;
use super::{Basis, Log, View, ViewSide};
use crate::dense::{Small, rows_times};
use crate::error::Result;
use crate::factor::log_window::Extension;
use crate::motif::MotifGraph;
use crate::parallel;
use crate::report::Fitting;
use crate::sparse::Csr;
use crate::storage::Pages;

/// Rows that are multiplied with a matrix together.
pub(in crate::embed) const TOGETHER: usize = 16;

/// A view, ready to give the rows of another graph.
pub(in crate::embed) struct Placing<'a> {
    view: &'a View,
    graph: &'a MotifGraph,
    /// W, or W turned around, and the other one where they differ.
    matrix: Cow<'a, Csr>,
    other: Option<Cow<'a, Csr>>,
    x: Picked<'a>,
    basis: Cow<'a, Basis>,
    /// L^K Q.
    stays: Small,
    /// Σ_l ℓ^l L^(K−1−l) Q.
    moves: Small,
    /// Row of X for each row of W; [`NONE`] for new nodes.
    at: Vec<u32>,
    /// d and (d+τ)^-½ for each row of X.
    degrees: Cow<'a, [f64]>,
    roots: Vec<f64>,
    /// Rows of W whose edges changed.
    changed: Vec<bool>,
    refined: bool,
    /// Rows of the log window, and the size of its columns.
    log: Option<(Extension<'a>, f64)>,
    /// Number of a new node for each row of W, and what new nodes get, side by side, and their degrees.
    new_at: Vec<u32>,
    new: Vec<f64>,
    new_degrees: Vec<f64>,
}

/// What a graph has of the nodes of a view.
pub(in crate::embed) struct Known {
    /// Row of the view for each row of W, or [`NONE`].
    at: Vec<u32>,
    /// Rows of W whose edges changed.
    changed: Vec<bool>,
    /// Nodes of the fit that have other neighbours only.
    adrift: usize,
    /// W turned around, where it is another matrix.
    back: Option<Csr>,
}

impl Known {
    /// `of_fit` has, for each node of the graph, its number in the model.
    pub(in crate::embed) fn of(
        view: &View,
        graph: &MotifGraph,
        (of_fit, names): (&[Option<u32>], &[u64]),
    ) -> Known {
        let back = (view.side != ViewSide::Both).then(|| graph.matrix.transposed());
        let (at, adrift) = known(view, graph, back.as_ref(), of_fit);
        let changed = changed(view, graph, back.as_ref(), (&at, names));
        Known {
            at,
            changed,
            adrift,
            back,
        }
    }

    /// Whether any node has other edges than at the fit.
    pub(in crate::embed) fn any_changed(&self) -> bool {
        self.changed.contains(&true)
    }

    /// Whether all edges between nodes of the fit are as they were, in a graph with so many slots. Nodes of the fit whose edges tell
    /// nothing, since they had none or have lost them, may have any others now; and so may edges that are not in W.
    pub(in crate::embed) fn is_as_before(
        &self,
        graph: &MotifGraph,
        slots: usize,
        of_fit: &[Option<u32>],
    ) -> bool {
        let unknown =
            |row: usize| self.at[row] == NONE && neighbours(&graph.matrix, row).next().is_some();
        let doubtful = |row: usize| unknown(row) && of_fit[node(graph, row)].is_some();
        !self.any_changed()
            && nonzeros(graph) == slots
            && parallel::first(self.at.len(), doubtful).is_none()
    }
}

impl<'a> Placing<'a> {
    /// With `new_only`, rows of new nodes alone are there.
    pub(in crate::embed) fn new(
        view: &'a View,
        graph: &'a MotifGraph,
        (known, new_only): (Known, bool),
    ) -> Result<(Self, Fitting)> {
        let Known {
            at: known,
            changed,
            adrift,
            back,
        } = known;
        if adrift > 0 && known.iter().all(|&at| at == NONE) {
            check_enough(view, 0)?;
        }
        let mut facts = Fitting::new(view.motif.name(), view.step);
        facts.changed = changed.iter().filter(|changed| **changed).count();
        let may_refine = facts.changed > 0 && view.side == ViewSide::Both;
        let better = if may_refine {
            refined(view, graph, &known, &mut facts)?
        } else {
            None
        };
        let forth = Cow::Borrowed(&graph.matrix);
        let (matrix, other) = match (view.side, back.map(Cow::Owned)) {
            (ViewSide::Target, Some(back)) => (back, Some(forth)),
            (_, back) => (forth, back),
        };
        let refined = better.is_some();
        let (x, basis, degrees, at) = match better {
            Some(better) => (
                Picked::from(better.x),
                Cow::Owned(better.basis),
                Cow::Owned(better.degrees),
                better.at,
            ),
            None => {
                let x = if new_only {
                    view.x.some(beside_new(&matrix, &known))?
                } else {
                    view.x.whole()?.into()
                };
                (
                    x,
                    Cow::Borrowed(&view.basis),
                    Cow::Borrowed(&view.degrees[..]),
                    known,
                )
            }
        };
        let roots = parallel::collect(degrees.len(), |at| root(degrees[at], view.tau));
        let stays = basis.power(view.step).times(&basis.q);
        let moves = Small::zeros(0, 0);
        let (new_at, new, new_degrees) = (Vec::new(), Vec::new(), Vec::new());
        let mut placing = Placing {
            view,
            graph,
            matrix,
            other,
            x,
            basis,
            stays,
            moves,
            at,
            degrees,
            roots,
            changed,
            refined,
            log: view
                .log
                .as_ref()
                .map(|Log { landmarks, size }| (landmarks.extension(), *size)),
            new_at,
            new,
            new_degrees,
        };
        placing.moves = placing.moving();
        placing.extend();
        Ok((placing, facts))
    }

    /// Columns of a row.
    pub(super) fn cols(&self) -> usize {
        self.basis.c.rows()
    }

    /// Whether a node has the factors that it had in the fit.
    pub(in crate::embed) fn stays(&self, node: u32) -> bool {
        match self.row(node) {
            None => false,
            Some(row) => !self.refined && self.at[row] != NONE && !self.changed[row],
        }
    }

    /// Columns that a node gives to Y.
    pub(in crate::embed) fn width(&self) -> usize {
        self.cols()
            + self
                .log
                .as_ref()
                .map_or(0, |(extension, _)| extension.cols())
    }

    /// What nodes give to Y, one row after the other: U Σ^K times the weights of the columns, or what stands for it, and the log
    /// window; each divided by its length to a power.
    pub(in crate::embed) fn of(&self, nodes: &[u32], power: f64) -> Vec<f64> {
        let (mut s, mut degrees) = (
            Vec::with_capacity(nodes.len() * self.cols()),
            Vec::with_capacity(nodes.len()),
        );
        for &node in nodes {
            let (row, degree) = self.s(node);
            s.extend(row);
            degrees.push(degree);
        }
        let logs = self
            .log
            .as_ref()
            .map(|(extension, size)| (extension.rows(&s, &degrees), extension.cols(), size));
        let mut y = Vec::with_capacity(nodes.len() * self.width());
        for k in 0..nodes.len() {
            let s = &s[k * self.cols()..][..self.cols()];
            y.extend(shortened(
                s.iter()
                    .zip(&self.view.weights)
                    .map(|(s, weight)| s * weight)
                    .collect(),
                power,
            ));
            if let Some((logs, cols, size)) = &logs {
                let row = logs[k * cols..][..*cols].to_vec();
                y.extend(shortened(row, power).into_iter().map(|x| x * *size));
            }
        }
        y
    }

    /// s V, s being the row of S, and the degree of the node.
    fn s(&self, node: u32) -> (Vec<f64>, f64) {
        let r = self.cols();
        let Some(row) = self.row(node) else {
            return (vec![0.0; r], 0.0);
        };
        if self.at[row] == NONE {
            let number = self.new_at[row] as usize;
            return (
                self.new[number * r..][..r].to_vec(),
                self.new_degrees[number],
            );
        }
        // One side has no row of its own beside X.
        if self.view.side != ViewSide::Both || self.changed[row] && !self.refined {
            let degree = self.degree(row, |j| self.at[j] != NONE);
            return (
                rows_times(
                    &self.towards_fit(row, root(degree, self.view.tau)),
                    &self.moves,
                ),
                degree,
            );
        }
        let at = self.at[row];
        let own: Vec<f64> = self.x.row(at).iter().map(|&x| f64::from(x)).collect();
        (rows_times(&own, &self.stays), self.degrees[at as usize])
    }

    fn row(&self, node: u32) -> Option<usize> {
        match &self.graph.nodes {
            None => Some(node as usize),
            Some(nodes) => nodes.binary_search(&node).ok(),
        }
    }

    /// Calls `f` with the neighbours of a row of W, and the weights of the edges.
    fn each(&self, row: usize, mut f: impl FnMut(usize, f64)) {
        let (columns, values) = self.matrix.row(row);
        columns
            .iter()
            .zip(values)
            .for_each(|(&j, &w)| f(j as usize, f64::from(w) / self.graph.scale));
    }

    /// The sum of the weights of edges to some neighbours; of arcs both ways, where there are arcs.
    fn degree(&self, row: usize, counts: impl Fn(usize) -> bool) -> f64 {
        let of = |w: &Csr| {
            neighbours(w, row)
                .filter(|(j, _)| counts(*j))
                .map(|(_, w)| w / self.graph.scale)
                .sum::<f64>()
        };
        of(&self.matrix) + self.other.as_ref().map_or(0.0, |other| of(other))
    }

    /// What rows of A_ns X are multiplied with after l steps between new nodes.
    fn after(&self, l: usize) -> Small {
        match self.view.side {
            ViewSide::Both => self
                .basis
                .power(self.view.step - 1 - l)
                .times(&self.basis.q),
            _ => (0..l).fold(Small::identity(self.cols()), |power, _| {
                power.times(&self.basis.c)
            }),
        }
    }

    /// Σ_l ℓ^l L^(K−1−l) Q: walks that stay at their node l times before they leave it.
    fn moving(&self) -> Small {
        let (k, laziness) = (self.view.step, self.basis.laziness);
        if self.view.side != ViewSide::Both {
            return self.after(0);
        }
        let terms: Vec<Small> = (0..k).map(|l| self.basis.power(k - 1 - l)).collect();
        let stays = |l: usize| laziness.powi(l as i32);
        let sum = |i: usize, j: usize| {
            terms
                .iter()
                .enumerate()
                .map(|(l, term)| stays(l) * term.get(i, j))
                .sum()
        };
        Small::from_fn(self.cols(), self.cols(), sum).times(&self.basis.q)
    }

    /// Row `row` of (1−ℓ)A_ns X, `left` being (d+τ)^-½ of the node.
    fn towards_fit(&self, row: usize, left: f64) -> Vec<f64> {
        let mut sum = vec![0.0; self.cols()];
        let moves = 1.0 - self.basis.laziness;
        self.each(row, |j, w| {
            let at = self.at[j];
            if at != NONE && w != 0.0 {
                let factor = moves * left * w * self.roots[at as usize];
                sum.iter_mut()
                    .zip(self.x.row(at))
                    .for_each(|(to, &x)| *to += factor * f64::from(x));
            }
        });
        sum
    }

    /// The rows of all new nodes.
    fn extend(&mut self) {
        let (r, k, rows) = (self.cols(), self.view.step, self.at.len());
        let new: Vec<usize> = (0..rows).filter(|&row| self.at[row] == NONE).collect();
        self.new_at = vec![NONE; rows];
        new.iter()
            .zip(0..)
            .for_each(|(&row, number)| self.new_at[row] = number);
        let degrees: Vec<f64> = parallel::collect(new.len(), |at| self.degree(new[at], |_| true));
        let lefts: Vec<f64> = degrees
            .iter()
            .map(|&degree| root(degree, self.view.tau))
            .collect();
        let powers: Vec<Small> = (0..k).map(|l| self.after(l)).collect();
        let (mut walks, mut total) = (vec![0.0; new.len() * r], vec![0.0; new.len() * r]);
        parallel::for_rows(&mut walks, r.max(1), |at, to| {
            to.copy_from_slice(&self.towards_fit(new[at], lefts[at]));
        });
        for (l, power) in powers.iter().enumerate() {
            if l > 0 {
                walks = self.between_new(&new, &lefts, &walks);
            }
            let width = TOGETHER * r.max(1);
            parallel::for_rows(&mut total, width, |batch, to| {
                let walks = &walks[batch * width..][..to.len()];
                if walks.iter().any(|&walk| walk != 0.0) {
                    to.iter_mut()
                        .zip(rows_times(walks, power))
                        .for_each(|(to, y)| *to += y);
                }
            });
        }
        (self.new, self.new_degrees) = (total, degrees);
    }

    /// B_nn times some rows.
    fn between_new(&self, new: &[usize], lefts: &[f64], walks: &[f64]) -> Vec<f64> {
        let (r, laziness) = (self.cols(), self.basis.laziness);
        let mut all = vec![0.0; new.len() * r];
        parallel::for_rows(&mut all, r.max(1), |at, sum| {
            let (row, left) = (new[at], lefts[at]);
            let own = &walks[self.new_at[row] as usize * r..][..r];
            sum.iter_mut()
                .zip(own)
                .for_each(|(to, x)| *to = laziness * x);
            self.each(row, |j, w| {
                let number = self.new_at[j];
                if number != NONE {
                    let factor = (1.0 - laziness) * left * w * lefts[number as usize];
                    let from = &walks[number as usize * r..][..r];
                    sum.iter_mut()
                        .zip(from)
                        .for_each(|(to, x)| *to += factor * x);
                }
            });
        });
        all
    }
}

/// The row of the view for each row of W, or [`NONE`]. A node of which only edges to new nodes are left is placed as they are; so
/// many are.
fn known(
    view: &View,
    graph: &MotifGraph,
    back: Option<&Csr>,
    of_fit: &[Option<u32>],
) -> (Vec<u32>, usize) {
    let shared = |row: usize| {
        let found = of_fit[node(graph, row)].and_then(|model| view.row_of(model));
        found
            .filter(|&row| view.degrees[row] > 0.0)
            .map_or(NONE, |row| row as u32)
    };
    let known: Vec<u32> = parallel::collect(graph.matrix.rows(), shared);
    let adrift = |row: usize| {
        let edges = || {
            neighbours(&graph.matrix, row).chain(back.into_iter().flat_map(|w| neighbours(w, row)))
        };
        edges().next().is_some() && edges().all(|(j, _)| known[j] == NONE)
    };
    let at = parallel::collect(
        known.len(),
        |row| if adrift(row) { NONE } else { known[row] },
    );
    let adrift = parallel::count(known.len(), |row| known[row] != at[row]);
    (at, adrift)
}

/// The rows of the view that are next to new nodes, ascending.
fn beside_new(matrix: &Csr, known: &[u32]) -> Vec<u32> {
    let new = (0..known.len()).filter(|&row| known[row] == NONE);
    let near = new
        .flat_map(|row| neighbours(matrix, row))
        .map(|(j, _)| known[j]);
    let mut rows: Vec<u32> = near.filter(|&row| row != NONE).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Whether the edges of each row of W to nodes of the fit are others than at the fit.
fn changed(
    view: &View,
    graph: &MotifGraph,
    back: Option<&Csr>,
    (known, names): (&[u32], &[u64]),
) -> Vec<bool> {
    let forth = marks_of(&graph.matrix, graph, (known, names), mark);
    let back = back.map(|back| marks_of(back, graph, (known, names), mark_back));
    let changes = |row: usize| {
        let marks = || forth(row).wrapping_add(back.as_ref().map_or(0, |back| back(row)));
        known[row] != NONE && marks() != view.marks[known[row] as usize]
    };
    parallel::collect(known.len(), changes)
}

/// A number for the neighbours in the fit of each row of a matrix. Where all weights are one and the same, each node has one
/// number in all rows, which is made once.
fn marks_of<'a>(
    w: &'a Csr,
    graph: &'a MotifGraph,
    (known, names): (&'a [u32], &'a [u64]),
    mark: fn(u64, f64) -> u64,
) -> Box<dyn Fn(usize) -> u64 + Sync + 'a> {
    let of = move |j: usize, w: f64| mark(names[node(graph, j)], w / graph.scale);
    let first = w.values().first().copied().unwrap_or(0.0);
    if first != 0.0 && parallel::first(w.values().len(), |at| w.values()[at] != first).is_none() {
        let one = |j: usize| {
            if known[j] == NONE {
                0
            } else {
                of(j, f64::from(first))
            }
        };
        let marks = Pages::collect(known.len(), one);
        return Box::new(move |row| {
            w.row(row)
                .0
                .iter()
                .map(|&j| marks[j as usize])
                .fold(0, u64::wrapping_add)
        });
    }
    Box::new(move |row| {
        let shared = neighbours(w, row).filter(|(j, _)| known[*j] != NONE);
        shared.map(|(j, w)| of(j, w)).fold(0, u64::wrapping_add)
    })
}

/// Weights that are not zero.
pub(super) fn nonzeros(graph: &MotifGraph) -> usize {
    let values = graph.matrix.values();
    parallel::count(values.len(), |at| values[at] != 0.0)
}

/// The node of a row of W.
fn node(graph: &MotifGraph, row: usize) -> usize {
    graph
        .nodes
        .as_ref()
        .map_or(row, |nodes| nodes[row] as usize)
}

/// The neighbours of a row and the weights of the edges to them, zeros left out.
fn neighbours(matrix: &Csr, row: usize) -> impl Iterator<Item = (usize, f64)> {
    let (columns, values) = matrix.row(row);
    columns
        .iter()
        .zip(values)
        .filter(|(_, w)| **w != 0.0)
        .map(|(&j, &w)| (j as usize, f64::from(w)))
}

/// A row divided by its length to a power.
fn shortened(mut row: Vec<f64>, power: f64) -> Vec<f64> {
    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    if power > 0.0 && length > 0.0 {
        let factor = length.powf(-power);
        row.iter_mut().for_each(|x| *x *= factor);
    }
    row
}
