//! The SVD of an operator that falls apart: its connected components, all of them small, are decomposed one by one.
//!
//! A rare motif touches a few thousand nodes, in components of three or four. Iterations on its matrix take dozens of steps, for
//! singular values that hundreds of components share; each component alone is decomposed in microseconds. Where more vectors
//! share a singular value than are wanted, random combinations of all of them are taken, as an iteration would: otherwise
//! most components would have zeros only. Matrices so large that iterations stop early are left to these, for the same reason.
//! Cost: O(m³) per component of m nodes, and memory for m² numbers.

use std::ops::Range;

use super::exact::of_symmetric;
use super::method::{Factors, Info, Task};
use super::svd::residual;
use super::svd_options::{Svd, floor};
use crate::dense::{Block, Small, SmallSvd, orthonormalize};
use crate::error::Result;
use crate::operator::Operator;
use crate::parallel;
use crate::space::{Host, In};

/// Nodes of a component at most.
const LARGEST: usize = 32;

/// Singular values that differ by less, relative to themselves, are the same.
const SAME: f64 = 1e-6;

/// Components that a thread decomposes in one go.
const AT_ONCE: usize = 64;

/// The nodes of each component, ascending; nothing where one is large, or where the pattern is not symmetric.
pub(super) fn pieces(s: &Operator) -> Option<Vec<Vec<u32>>> {
    let pattern = s.walked()?;
    let (mut seen, mut pieces) = (vec![false; pattern.rows()], Vec::new());
    for start in 0..pattern.rows() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let (mut piece, mut at) = (vec![start as u32], 0);
        while let Some(&node) = piece.get(at) {
            for &next in pattern.row(node as usize) {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    piece.push(next);
                }
            }
            if piece.len() > LARGEST {
                return None;
            }
            at += 1;
        }
        piece.sort_unstable();
        pieces.push(piece);
    }
    Some(pieces)
}

/// One singular triplet of a component.
#[derive(Debug, Clone, Copy)]
struct Triplet {
    sigma: f64,
    piece: usize,
    column: usize,
}

/// The leading singular triplets of an operator with these components.
pub(super) fn svd_of_pieces(
    s: &Operator,
    pieces: &[Vec<u32>],
    options: &Svd,
    task: &Task,
) -> Result<Factors> {
    task.progress.check()?;
    let decomposed =
        parallel::stretches(pieces.len(), AT_ONCE, |range| decompose(s, &pieces[range]));
    let decomposed: Vec<SmallSvd> = decomposed
        .into_iter()
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    let of = |(piece, found): (usize, &SmallSvd)| {
        let triplet = |(column, &sigma): (usize, &f64)| Triplet {
            sigma,
            piece,
            column,
        };
        found
            .sigma
            .iter()
            .enumerate()
            .map(triplet)
            .collect::<Vec<_>>()
    };
    let mut triplets: Vec<Triplet> = decomposed.iter().enumerate().flat_map(of).collect();
    triplets.sort_by(|a, b| b.sigma.total_cmp(&a.sigma));
    let floor = floor(triplets.first().map_or(0.0, |first| first.sigma), s.terms());
    triplets.truncate(triplets.partition_point(|triplet| triplet.sigma > floor));
    let mut chosen = Chosen::new(s, pieces, &decomposed, task);
    let mut start = 0;
    while start < triplets.len() && chosen.rank < task.rank {
        let alike = |triplet: &Triplet| triplet.sigma >= triplets[start].sigma * (1.0 - SAME);
        let end = start + triplets[start..].partition_point(alike);
        chosen.take(&triplets[start..end], task);
        start = end;
    }
    chosen.factors(s, options, task)
}

/// The decompositions of some components.
fn decompose(s: &Operator, pieces: &[Vec<u32>]) -> Result<Vec<SmallSvd>> {
    let (mut rows, mut entries) = (s.read_rows(), Vec::new());
    let mut of = |nodes: &Vec<u32>| {
        let mut matrix = Small::zeros(nodes.len(), nodes.len());
        for (i, &node) in nodes.iter().enumerate() {
            rows.read(node as usize, &mut entries);
            for (j, value) in &entries {
                matrix.set(
                    i,
                    nodes
                        .binary_search(j)
                        .expect("walks stay in their component"),
                    *value,
                );
            }
        }
        if s.is_symmetric() {
            of_symmetric(&matrix)
        } else {
            matrix.svd()
        }
    };
    pieces.iter().map(&mut of).collect()
}

/// Columns of U and V, as far as they are chosen.
struct Chosen<'a> {
    pieces: &'a [Vec<u32>],
    decomposed: &'a [SmallSvd],
    u: Block,
    v: Option<Block>,
    sigma: Vec<f64>,
    rank: usize,
    multiple_from: Option<usize>,
}

impl<'a> Chosen<'a> {
    fn new(s: &Operator, pieces: &'a [Vec<u32>], decomposed: &'a [SmallSvd], task: &Task) -> Self {
        let v = task.right.then(|| Block::zeros(s.cols(), task.rank));
        let (u, sigma) = (Block::zeros(s.rows(), task.rank), vec![0.0; task.rank]);
        Chosen {
            pieces,
            decomposed,
            u,
            v,
            sigma,
            rank: 0,
            multiple_from: None,
        }
    }

    /// Triplets with the same singular value: each a column, or combinations of all where there are too many.
    fn take(&mut self, alike: &[Triplet], task: &Task) {
        let columns = self.rank..(self.rank + alike.len()).min(task.rank);
        if columns.len() == alike.len() {
            for (column, triplet) in columns.clone().zip(alike) {
                self.sigma[column] = triplet.sigma;
                self.add(triplet, column..column + 1, &[1.0]);
            }
        } else {
            let mut mixed = [Block::random(
                alike.len(),
                columns.len(),
                task.key.with("alike", self.rank as u64),
            )];
            orthonormalize(&mut In {
                space: &Host,
                panels: &mut mixed,
            });
            for (triplet, row) in alike.iter().zip(0..) {
                let weights = mixed[0].row(row);
                self.add(triplet, columns.clone(), weights);
                let squares = self.sigma[columns.clone()].iter_mut().zip(weights);
                squares
                    .for_each(|(sum, &weight)| *sum += (triplet.sigma * f64::from(weight)).powi(2));
            }
            self.sigma[columns.clone()]
                .iter_mut()
                .for_each(|sigma| *sigma = sigma.sqrt());
            self.multiple_from = Some(self.rank);
        }
        self.rank = columns.end;
    }

    /// Adds a triplet to some columns, with a weight for each.
    fn add(&mut self, triplet: &Triplet, columns: Range<usize>, weights: &[f32]) {
        let (nodes, found) = (&self.pieces[triplet.piece], &self.decomposed[triplet.piece]);
        for (side, from) in [(Some(&mut self.u), &found.u), (self.v.as_mut(), &found.v)] {
            let Some(side) = side else { continue };
            for (i, &node) in nodes.iter().enumerate() {
                let value = from.get(i, triplet.column);
                let to = side.row_mut(node as usize)[columns.clone()].iter_mut();
                to.zip(weights)
                    .for_each(|(to, &weight)| *to += (value * f64::from(weight)) as f32);
            }
        }
    }

    fn factors(self, s: &Operator, options: &Svd, task: &Task) -> Result<Factors> {
        let Chosen {
            mut u,
            mut v,
            mut sigma,
            rank,
            multiple_from,
            ..
        } = self;
        // Combinations may differ in the last digits.
        for j in 1..task.rank {
            sigma[j] = sigma[j].min(sigma[j - 1]);
        }
        let signs = u.column_signs();
        u.scale_columns(&signs);
        v.iter_mut().for_each(|v| v.scale_columns(&signs));
        let mut info = Info {
            rank,
            multiple_from,
            ..Info::default()
        };
        let left = std::slice::from_mut(&mut u);
        let right = v.as_ref().map(std::slice::from_ref);
        info.measured(residual(&Host, s, left, &sigma, right, task)?, options);
        Ok(Factors { u, sigma, v, info })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sparse::{Csr, Pattern};

    fn path(n: usize) -> Operator {
        let neighbours = |i: usize| [i.checked_sub(1), Some(i + 1).filter(|&j| j < n)];
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for i in 0..n {
            columns.extend(neighbours(i).into_iter().flatten().map(|j| j as u32));
            offsets.push(columns.len());
        }
        let values = vec![1.0; columns.len()];
        let pattern = Arc::new(Pattern::new(offsets, columns, n));
        Operator::symmetric("W", Csr::new(pattern, values.into()))
    }

    #[test]
    fn large_components_and_directed_graphs_are_left_to_iterations() {
        assert!(pieces(&path(LARGEST)).is_some() && pieces(&path(LARGEST + 1)).is_none());
        let pattern = Pattern::new(vec![0, 1, 1], vec![1], 2);
        let directed = Csr::new(Arc::new(pattern), vec![1.0].into());
        assert!(pieces(&Operator::sparse("W", directed)).is_none());
    }
}
