//! The SVD without iterations: of a small operator, and of one that falls apart into small components.
//!
//! The matrix of a small operator is formed in f64 and decomposed directly.
//! A Krylov basis of `DEPTH` blocks spans the whole space of a matrix with hardly more rows: it costs as much as the
//! decomposition and adds no directions. Small matrices are decomposed faster than iterated on. No Gram matrix is
//! formed, so that small singular values keep their digits; symmetric matrices go through their eigenvalues. What is
//! reported is the residual of the triplets that are returned, whose vectors are rounded to f32. Cost: O(n³), one
//! thread; six n × n matrices of f64.
//!
//! A rare motif touches a few thousand nodes, in components of three or four. Iterations on its matrix take dozens of steps, for
//! singular values that hundreds of components share; each component alone is decomposed in microseconds. Where more vectors
//! share a singular value than are wanted, random combinations of all of them are taken, as an iteration would: otherwise
//! most components would have zeros only. Matrices so large that iterations stop early are left to these, for the same reason.
//! Cost: O(m³) per component of m nodes, and memory for m² numbers.

use super::subspace::DEPTH;
use super::svd::{Svd, floor, rank, residual};
use super::{Factors, Info, Task};
use crate::dense::{Block, Small, SmallSvd, orthonormalize};
use crate::error::Result;
use crate::operator::Operator;
use crate::parallel;
use crate::space::Host;

/// Matrices with at most this many rows and columns are always decomposed directly.
const ALWAYS: usize = 256;

/// Nodes of a component at most.
const COMPONENT: usize = 32;

/// Singular values of components that differ by less, relative to themselves, are the same.
const SAME: f64 = 1e-6;

/// Components that a thread decomposes in one go.
const AT_ONCE: usize = 64;

/// Larger ones, up to this, are if a Krylov basis would fill them.
const LARGEST: usize = 1024;

/// The largest size of a matrix that is decomposed directly if an iteration would use blocks of `width` columns.
pub fn largest(width: usize) -> usize {
    DEPTH.saturating_mul(width).clamp(ALWAYS, LARGEST)
}

/// Bytes that a matrix of `n` rows and columns takes while it is decomposed.
pub fn memory(n: u64) -> u64 {
    6 * 8 * n * n
}

/// The leading singular triplets.
pub(super) fn exact(s: &Operator, options: &Svd, task: &Task) -> Result<Factors> {
    task.progress.check()?;
    let matrix = s.explicit();
    let found = if s.is_symmetric() {
        of_symmetric(&matrix)?
    } else {
        matrix.svd()?
    };
    let (rank, multiple_from) = rank(&found.sigma, task.rank, s.terms());
    // Nodes without an entry have zeros, not rounding noise.
    let [rows, columns] = occupied(&matrix);
    let kept = |side: &Small, any: &[bool]| {
        let entry = |i: usize, j: usize| {
            if any[i] && j < rank {
                side.get(i, j)
            } else {
                0.0
            }
        };
        Block::from(&Small::from_fn(side.rows(), task.rank, entry))
    };
    let (mut u, mut v) = (kept(&found.u, &rows), kept(&found.v, &columns));
    let signs = u.normalize_signs();
    v.scale_columns(&signs);
    let mut sigma = found.sigma.clone();
    sigma.truncate(rank);
    sigma.resize(task.rank, 0.0);
    let mut info = Info {
        rank,
        multiple_from,
        ..Info::default()
    };
    info.measured(
        residual_of(&matrix, (&u, &found.sigma[..rank], &v)),
        options,
    );
    let v = Some(v).filter(|_| task.right);
    Ok(Factors { u, sigma, v, info })
}

/// Which rows, and which columns, have an entry.
fn occupied(matrix: &Small) -> [Vec<bool>; 2] {
    let (mut rows, mut columns) = (vec![false; matrix.rows()], vec![false; matrix.cols()]);
    for (i, row) in rows.iter_mut().enumerate() {
        for (column, value) in columns.iter_mut().zip(matrix.row(i)) {
            *row |= *value != 0.0;
            *column |= *value != 0.0;
        }
    }
    [rows, columns]
}

/// Singular triplets of a symmetric matrix: |λ|, the eigenvectors, and those with the sign of λ.
pub(super) fn of_symmetric(matrix: &Small) -> Result<SmallSvd> {
    let eigen = matrix.eigen()?.by_magnitude(matrix.rows());
    let sign = |value: &f64| if *value < 0.0 { -1.0 } else { 1.0 };
    let mut v = eigen.vectors.clone();
    v.scale_columns(&eigen.values.iter().map(sign).collect::<Vec<_>>());
    Ok(SmallSvd {
        u: eigen.vectors,
        sigma: eigen.values.iter().map(|value| value.abs()).collect(),
        v,
    })
}

/// The largest ‖S v − σ u‖ or ‖Sᵀ u − σ v‖ of the first triplets, relative to σ, of the vectors as they are returned.
fn residual_of(matrix: &Small, (u, sigma, v): (&Block, &[f64], &Block)) -> f64 {
    let wide = |x: &Block| Small::from_fn(x.rows(), sigma.len(), |i, j| f64::from(x.get(i, j)));
    let (u, v) = (wide(u), wide(v));
    let sides = [(matrix.times(&v), &u), (matrix.transposed().times(&u), &v)];
    let of = |image: &Small, vectors: &Small, j: usize| {
        let off = |i: usize| image.get(i, j) - sigma[j] * vectors.get(i, j);
        (0..image.rows())
            .map(|i| off(i).powi(2))
            .sum::<f64>()
            .sqrt()
            / sigma[j]
    };
    let all = sides
        .iter()
        .flat_map(|(image, vectors)| (0..sigma.len()).map(|j| of(image, vectors, j)));
    all.fold(0.0, f64::max)
}

/// The nodes of each component, ascending; nothing where one is large, or where the pattern is not symmetric.
pub(super) fn components(s: &Operator) -> Option<Vec<Vec<u32>>> {
    let pattern = s.walked()?;
    let (mut seen, mut components) = (vec![false; pattern.rows()], Vec::new());
    for start in 0..pattern.rows() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let (mut component, mut at) = (vec![start as u32], 0);
        while let Some(&node) = component.get(at) {
            for &next in pattern.row(node as usize) {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    component.push(next);
                }
            }
            if component.len() > COMPONENT {
                return None;
            }
            at += 1;
        }
        component.sort_unstable();
        components.push(component);
    }
    Some(components)
}

/// One singular triplet of a component.
#[derive(Debug, Clone, Copy)]
struct Triplet {
    sigma: f64,
    component: usize,
    column: usize,
}

/// The leading singular triplets of an operator with these components.
pub(super) fn svd_of_components(
    s: &Operator,
    components: &[Vec<u32>],
    options: &Svd,
    task: &Task,
) -> Result<Factors> {
    task.progress.check()?;
    let decomposed = parallel::stretches(components.len(), AT_ONCE, |range| {
        decompose(s, &components[range])
    });
    let decomposed = decomposed.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let mut triplets = Vec::new();
    for (component, found) in decomposed.iter().enumerate() {
        for (column, &sigma) in found.sigma.iter().enumerate() {
            triplets.push(Triplet {
                sigma,
                component,
                column,
            });
        }
    }
    triplets.sort_by(|a, b| b.sigma.total_cmp(&a.sigma));
    let floor = floor(triplets.first().map_or(0.0, |first| first.sigma), s.terms());
    triplets.truncate(triplets.partition_point(|triplet| triplet.sigma > floor));
    let (mut u, mut sigma) = (Block::zeros(s.rows(), task.rank), vec![0.0; task.rank]);
    let mut v = task.right.then(|| Block::zeros(s.cols(), task.rank));
    let (mut info, mut rest) = (Info::default(), &triplets[..]);
    while let Some(first) = rest.first().filter(|_| info.rank < task.rank) {
        let same = |triplet: &Triplet| triplet.sigma >= first.sigma * (1.0 - SAME);
        let (alike, others) = rest.split_at(rest.partition_point(same));
        rest = others;
        let columns = info.rank..(info.rank + alike.len()).min(task.rank);
        // Each triplet is a column, or columns are combinations of all where there are too many.
        let mut mixed = Block::from(&Small::identity(columns.len()));
        if columns.len() < alike.len() {
            let key = task.key.with("alike", info.rank as u64);
            mixed = Block::random(alike.len(), columns.len(), key);
            orthonormalize(&mut mixed);
            info.multiple_from = Some(info.rank);
        }
        for (at, triplet) in alike.iter().enumerate() {
            let (nodes, found) = (
                &components[triplet.component],
                &decomposed[triplet.component],
            );
            for (side, from) in [(Some(&mut u), &found.u), (v.as_mut(), &found.v)] {
                let Some(side) = side else { continue };
                for (i, &node) in nodes.iter().enumerate() {
                    let value = from.get(i, triplet.column);
                    let to = side.row_mut(node as usize)[columns.clone()].iter_mut();
                    to.zip(mixed.row(at))
                        .for_each(|(to, &weight)| *to += (value * f64::from(weight)) as f32);
                }
            }
            for (sum, &weight) in sigma[columns.clone()].iter_mut().zip(mixed.row(at)) {
                *sum += (triplet.sigma * f64::from(weight)).powi(2);
            }
        }
        sigma[columns.clone()]
            .iter_mut()
            .for_each(|sigma| *sigma = sigma.sqrt());
        info.rank = columns.end;
    }
    // Combinations may differ in the last digits.
    for j in 1..task.rank {
        sigma[j] = sigma[j].min(sigma[j - 1]);
    }
    let signs = u.normalize_signs();
    v.iter_mut().for_each(|v| v.scale_columns(&signs));
    let left = std::slice::from_mut(&mut u);
    let right = v.as_ref().map(std::slice::from_ref);
    info.measured(residual(&Host, s, left, &sigma, right, task)?, options);
    Ok(Factors { u, sigma, v, info })
}

/// The decompositions of some components.
fn decompose(s: &Operator, components: &[Vec<u32>]) -> Result<Vec<SmallSvd>> {
    let (mut rows, mut entries) = (s.read_rows(), Vec::new());
    let mut of = |nodes: &Vec<u32>| {
        let mut matrix = Small::zeros(nodes.len(), nodes.len());
        for (i, &node) in nodes.iter().enumerate() {
            rows.read(node as usize, &mut entries);
            for (j, value) in &entries {
                let place = nodes.binary_search(j);
                matrix.set(i, place.expect("walks stay in their component"), *value);
            }
        }
        if s.is_symmetric() {
            of_symmetric(&matrix)
        } else {
            matrix.svd()
        }
    };
    components.iter().map(&mut of).collect()
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
        assert!(
            components(&path(COMPONENT)).is_some() && components(&path(COMPONENT + 1)).is_none()
        );
        let pattern = Pattern::new(vec![0, 1, 1], vec![1], 2);
        let directed = Csr::new(Arc::new(pattern), vec![1.0].into());
        assert!(components(&Operator::sparse("W", directed)).is_none());
    }
}
