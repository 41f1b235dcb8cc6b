//! Rows of a view on another graph: nodes that stay, nodes whose edges changed, and new ones.
//!
//! S = B^K with B = ℓI + (1−ℓ)A. A row s of S has the factors s V, and V = X Q up to the weights of columns. Of the walks of a
//! new node, those count that take l steps between new nodes and then one into the graph of the fit, where B X = X L takes over:
//!
//! y = Σ_l B_nn^l (1−ℓ)A_ns X L^(K−1−l) Q, l = 0 … K−1
//!
//! with A_ns from new nodes to those of the fit and B_nn between new ones, where a walk may stay. Degrees of nodes of the fit are
//! those of the fit (or of the refined factors), so a row depends on the node's own edges and on the new nodes that it is connected
//! to through new nodes, on nothing else. Nodes of the fit whose edges changed are placed like new ones, from their edges to other
//! nodes of the fit. All sums are in 64 bits and in the order of neighbours, row by row: who else is placed changes no bit.
//! For one side of a directed graph X is A^(K−1) V already, and the sum is Σ_l A_nn^l A_ns X R^l (`model/fit`); A is transposed
//! for target factors. Cost: O(r) per edge of a placed node, O(K r²) per node.

use std::borrow::Cow;

use super::refine::{Factors, check_enough, refined};
use crate::dense::{Small, rows_times};
use crate::embed::model::{Basis, Log, Rows, View, ViewSide, marks, neighbours, node, root};
use crate::error::Result;
use crate::factor::log_window::Extension;
use crate::motif::MotifGraph;
use crate::parallel;
use crate::report::Fitting;
use crate::sparse::Csr;

/// Rows that are multiplied with a matrix together.
pub(super) const TOGETHER: usize = 16;
/// Marks rows that a list does not have.
pub(super) const NONE: u32 = u32::MAX;

/// A motif graph next to that of a view.
pub(super) struct Comparison {
    pub(super) graph: MotifGraph,
    /// Row of the view for each row of W, or [`NONE`].
    known: Vec<u32>,
    /// Rows of W of nodes of the fit whose edges to others are not as they were.
    changed: Vec<bool>,
    /// Nodes of the fit that have other neighbours only.
    adrift: usize,
    /// W transposed, where it is another matrix.
    back: Option<Csr>,
}

impl Comparison {
    /// `of_fit` has, for each node of the graph, its number in the model, and `names` a number for its id.
    pub(super) fn new(
        view: &View,
        graph: MotifGraph,
        of_fit: &[Option<u32>],
        names: &[u64],
    ) -> Comparison {
        let back = (view.side != ViewSide::Both).then(|| graph.matrix.transposed());
        let shared = shared(view, &graph, of_fit);
        // A node of which only edges to new nodes are left is placed as they are.
        let is_adrift = |row: usize| {
            let back = back.iter().flat_map(|back| neighbours(back, row));
            let mut edges = neighbours(&graph.matrix, row).chain(back).peekable();
            edges.peek().is_some() && edges.all(|(j, _)| shared[j] == NONE)
        };
        let known = parallel::collect(shared.len(), |row| match is_adrift(row) {
            true => NONE,
            false => shared[row],
        });
        let adrift = parallel::count(known.len(), |row| known[row] != shared[row]);
        let name = |row: usize| (known[row] != NONE).then(|| names[node(&graph, row)]);
        let marks = marks(&graph, back.as_ref(), name);
        let changed = parallel::collect(known.len(), |row| {
            known[row] != NONE && marks[row] != view.marks[known[row] as usize]
        });
        Comparison {
            changed,
            known,
            adrift,
            back,
            graph,
        }
    }

    /// That of what was added alone: nodes of the fit have their edges beside.
    pub(super) fn added(view: &View, graph: MotifGraph, of_fit: &[Option<u32>]) -> Comparison {
        Comparison {
            known: shared(view, &graph, of_fit),
            changed: vec![false; graph.matrix.rows()],
            adrift: 0,
            back: (view.side != ViewSide::Both).then(|| graph.matrix.transposed()),
            graph,
        }
    }

    /// Whether any node has other edges than at the fit.
    pub(super) fn any_changed(&self) -> bool {
        self.changed.contains(&true)
    }

    /// Whether all edges between nodes of the fit are as they were, in a graph with so many slots. Nodes of the fit whose edges tell
    /// nothing, since they had none or have lost them, may have any others now; and so may edges that are not in W.
    pub(super) fn is_as_before(&self, slots: usize, of_fit: &[Option<u32>]) -> bool {
        let graph = &self.graph;
        let doubtful = |row: usize| {
            self.known[row] == NONE
                && neighbours(&graph.matrix, row).next().is_some()
                && of_fit[node(graph, row)].is_some()
        };
        !self.any_changed()
            && graph.nnz == slots
            && parallel::first(self.known.len(), doubtful).is_none()
    }

    /// The rows of the view that are next to new nodes, ascending.
    fn beside_new(&self, matrix: &Csr) -> Vec<u32> {
        let new = (0..self.known.len()).filter(|&row| self.known[row] == NONE);
        let near = new.flat_map(|row| neighbours(matrix, row));
        let near = near.map(|(j, _)| self.known[j]);
        let mut rows: Vec<u32> = near.filter(|&row| row != NONE).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// The row of the view for each row of W, or [`NONE`].
fn shared(view: &View, graph: &MotifGraph, of_fit: &[Option<u32>]) -> Vec<u32> {
    let row_of_fit = |row: usize| {
        let found = of_fit[node(graph, row)].and_then(|model| view.row_of(model));
        let found = found.filter(|&row| view.degrees[row] > 0.0);
        found.map_or(NONE, |row| row as u32)
    };
    parallel::collect(graph.matrix.rows(), row_of_fit)
}

/// A view, ready to give the rows of another graph.
pub(super) struct PlacedView<'a> {
    view: &'a View,
    graph: &'a MotifGraph,
    /// W, or W transposed for target factors; and the other one where they differ.
    matrix: &'a Csr,
    other: Option<&'a Csr>,
    x: Rows<'a>,
    basis: Cow<'a, Basis>,
    /// L^K Q.
    stays: Small,
    /// Σ_l ℓ^l L^(K−1−l) Q.
    moves: Small,
    /// Row of X for each row of W; [`NONE`] for new nodes.
    at: Cow<'a, [u32]>,
    /// d and (d+τ)^-½ for each row of X.
    degrees: Cow<'a, [f64]>,
    roots: Vec<f64>,
    /// Rows of W whose edges changed.
    changed: &'a [bool],
    /// Whether factors were refined.
    refined: bool,
    /// Rows of the log window, and the size of its columns.
    log: Option<(Extension<'a>, f64)>,
    new: NewNodes,
}

/// Rows of nodes that are new to a view.
#[derive(Default)]
struct NewNodes {
    /// Number of the node for each row of W, or [`NONE`].
    at: Vec<u32>,
    /// What each gets, side by side.
    rows: Vec<f64>,
    degrees: Vec<f64>,
}

impl<'a> PlacedView<'a> {
    /// With `new_only`, rows of new nodes alone are there.
    pub(super) fn new(
        view: &'a View,
        compared: &'a Comparison,
        new_only: bool,
    ) -> Result<(Self, Fitting)> {
        let Comparison {
            graph,
            known,
            changed,
            adrift,
            back,
        } = compared;
        if *adrift > 0 && known.iter().all(|&at| at == NONE) {
            check_enough(view, 0)?;
        }
        let mut facts = Fitting::new(view.motif.name(), view.step);
        facts.changed = changed.iter().filter(|changed| **changed).count();
        let better = match facts.changed > 0 && view.side == ViewSide::Both {
            true => refined(view, graph, known, &mut facts)?,
            false => None,
        };
        let (matrix, other) = match (view.side, back) {
            (ViewSide::Target, Some(back)) => (back, Some(&graph.matrix)),
            (_, back) => (&graph.matrix, back.as_ref()),
        };
        let refined = better.is_some();
        let Factors {
            x,
            at,
            degrees,
            basis,
        } = match better {
            Some(better) => better,
            None => Factors {
                x: match new_only {
                    true => view.x.some(compared.beside_new(matrix))?,
                    false => view.x.whole()?.into(),
                },
                at: Cow::Borrowed(&known[..]),
                degrees: Cow::Borrowed(&view.degrees[..]),
                basis: Cow::Borrowed(&view.basis),
            },
        };
        let extension = |log: &'a Log| (log.landmarks.extension(), log.size);
        let mut placed = PlacedView {
            view,
            graph,
            matrix,
            other,
            x,
            stays: basis.power(view.step).times(&basis.q),
            moves: moves(view, &basis),
            at,
            roots: parallel::collect(degrees.len(), |at| root(degrees[at], view.tau)),
            degrees,
            basis,
            changed,
            refined,
            log: view.log.as_ref().map(extension),
            new: NewNodes::default(),
        };
        placed.new = placed.new_nodes();
        Ok((placed, facts))
    }

    /// Columns of a row s V.
    fn cols(&self) -> usize {
        self.basis.c.rows()
    }

    /// The row of W of a node.
    fn row(&self, node: u32) -> Option<usize> {
        match &self.graph.nodes {
            None => Some(node as usize),
            Some(nodes) => nodes.binary_search(&node).ok(),
        }
    }

    /// Whether a node has the factors that it had in the fit.
    pub(super) fn stays(&self, node: u32) -> bool {
        let stays = |row: usize| !self.refined && self.at[row] != NONE && !self.changed[row];
        self.row(node).is_some_and(stays)
    }

    /// Columns that a node gives to Y.
    pub(super) fn width(&self) -> usize {
        let window = self.log.as_ref();
        self.cols() + window.map_or(0, |(extension, _)| extension.cols())
    }

    /// What nodes give to Y, one row after the other: U Σ^K times the weights of the columns, or what stands for it, and the log
    /// window; each divided by its length to a power.
    pub(super) fn of(&self, nodes: &[u32], power: f64) -> Vec<f64> {
        let (rows, degrees): (Vec<Vec<f64>>, Vec<f64>) =
            nodes.iter().map(|&node| self.row_and_degree(node)).unzip();
        let s = rows.concat();
        let window = self.log.as_ref();
        let window = window.map(|(extension, size)| {
            let mut rows = extension.rows(&s, &degrees);
            for row in rows.chunks_exact_mut(extension.cols().max(1)) {
                shorten(row, power);
                row.iter_mut().for_each(|x| *x *= size);
            }
            (rows, extension.cols())
        });
        let mut y = Vec::with_capacity(nodes.len() * self.width());
        for (k, mut s) in rows.into_iter().enumerate() {
            let weighted = s.iter_mut().zip(&self.view.weights);
            weighted.for_each(|(s, weight)| *s *= weight);
            shorten(&mut s, power);
            y.extend(s);
            if let Some((rows, cols)) = &window {
                y.extend(&rows[k * cols..][..*cols]);
            }
        }
        y
    }

    /// s V, s being the row of S, and the degree of the node.
    fn row_and_degree(&self, node: u32) -> (Vec<f64>, f64) {
        let r = self.cols();
        let Some(row) = self.row(node) else {
            return (vec![0.0; r], 0.0);
        };
        if self.at[row] == NONE {
            let number = self.new.at[row] as usize;
            let own = self.new.rows[number * r..][..r].to_vec();
            return (own, self.new.degrees[number]);
        }
        // One side has no row of its own beside X.
        if self.view.side != ViewSide::Both || self.changed[row] && !self.refined {
            let degree = self.degree(row, |j| self.at[j] != NONE);
            let steps = self.towards_fit(row, root(degree, self.view.tau));
            return (rows_times(&steps, &self.moves), degree);
        }
        let at = self.at[row];
        let own: Vec<f64> = self.x.row(at).iter().map(|&x| f64::from(x)).collect();
        (rows_times(&own, &self.stays), self.degrees[at as usize])
    }

    /// The sum of the weights of edges to some neighbours; of arcs both ways, where there are arcs.
    fn degree(&self, row: usize, counts: impl Fn(usize) -> bool) -> f64 {
        let of = |w: &Csr| {
            let edges = neighbours(w, row).filter(|(j, _)| counts(*j));
            edges.map(|(_, w)| w / self.graph.scale).sum::<f64>()
        };
        of(self.matrix) + self.other.map_or(0.0, of)
    }

    /// Row `row` of (1−ℓ)A_ns X, `left` being (d+τ)^-½ of the node.
    fn towards_fit(&self, row: usize, left: f64) -> Vec<f64> {
        let mut sum = vec![0.0; self.cols()];
        let moves = 1.0 - self.basis.laziness;
        for (j, w) in neighbours(self.matrix, row) {
            let at = self.at[j];
            if at != NONE {
                let factor = moves * left * (w / self.graph.scale) * self.roots[at as usize];
                let pairs = sum.iter_mut().zip(self.x.row(at));
                pairs.for_each(|(to, &x)| *to += factor * f64::from(x));
            }
        }
        sum
    }

    /// The rows of all new nodes.
    fn new_nodes(&self) -> NewNodes {
        let (r, rows) = (self.cols(), self.at.len());
        let new: Vec<usize> = (0..rows).filter(|&row| self.at[row] == NONE).collect();
        let mut at = vec![NONE; rows];
        let numbered = new.iter().zip(0..);
        numbered.for_each(|(&row, number)| at[row] = number);
        let degrees: Vec<f64> = parallel::collect(new.len(), |k| self.degree(new[k], |_| true));
        let lefts = degrees.iter().map(|&degree| root(degree, self.view.tau));
        let lefts: Vec<f64> = lefts.collect();
        let (mut walks, mut total) = (vec![0.0; new.len() * r], vec![0.0; new.len() * r]);
        parallel::for_rows(&mut walks, r.max(1), |k, to| {
            to.copy_from_slice(&self.towards_fit(new[k], lefts[k]));
        });
        for l in 0..self.view.step {
            if l > 0 {
                walks = self.between_new(&new, &at, &lefts, &walks);
            }
            let power = after(self.view, &self.basis, l);
            let width = TOGETHER * r.max(1);
            parallel::for_rows(&mut total, width, |batch, to| {
                let walks = &walks[batch * width..][..to.len()];
                // Most new nodes have no new neighbours.
                if walks.iter().any(|&walk| walk != 0.0) {
                    let pairs = to.iter_mut().zip(rows_times(walks, &power));
                    pairs.for_each(|(to, y)| *to += y);
                }
            });
        }
        NewNodes {
            at,
            rows: total,
            degrees,
        }
    }

    /// B_nn times some rows.
    fn between_new(&self, new: &[usize], at: &[u32], lefts: &[f64], walks: &[f64]) -> Vec<f64> {
        let (r, laziness) = (self.cols(), self.basis.laziness);
        let mut all = vec![0.0; new.len() * r];
        parallel::for_rows(&mut all, r.max(1), |k, sum| {
            let own = sum.iter_mut().zip(&walks[k * r..][..r]);
            own.for_each(|(to, x)| *to = laziness * x);
            for (j, w) in neighbours(self.matrix, new[k]).filter(|(j, _)| at[*j] != NONE) {
                let number = at[j] as usize;
                let w = w / self.graph.scale;
                let factor = (1.0 - laziness) * lefts[k] * w * lefts[number];
                let pairs = sum.iter_mut().zip(&walks[number * r..][..r]);
                pairs.for_each(|(to, x)| *to += factor * x);
            }
        });
        all
    }
}

/// What rows of A_ns X are multiplied with after l steps between new nodes.
fn after(view: &View, basis: &Basis, l: usize) -> Small {
    match view.side {
        ViewSide::Both => basis.power(view.step - 1 - l).times(&basis.q),
        // Sides are not lazy: one step is R.
        _ => basis.power(l),
    }
}

/// Σ_l ℓ^l L^(K−1−l) Q: walks that stay at their node l times before they leave it.
fn moves(view: &View, basis: &Basis) -> Small {
    if view.side != ViewSide::Both {
        return after(view, basis, 0);
    }
    let terms: Vec<Small> = (0..view.step)
        .map(|l| basis.power(view.step - 1 - l))
        .collect();
    let stays = |l: usize| basis.laziness.powi(l as i32);
    let r = basis.c.rows();
    let sum = Small::from_fn(r, r, |i, j| {
        let terms = terms.iter().enumerate();
        terms.map(|(l, term)| stays(l) * term.get(i, j)).sum()
    });
    sum.times(&basis.q)
}

/// Divides a row by its length to a power.
fn shorten(row: &mut [f64], power: f64) {
    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    if power > 0.0 && length > 0.0 {
        let factor = length.powf(-power);
        row.iter_mut().for_each(|x| *x *= factor);
    }
}
