//! How many pairs of nodes can share an occurrence: a bound from walks, at the cost of the edges, or their number, at the
//! cost of the walks.

use std::ops::Range;

use super::reach;
use crate::motif::Motif;
use crate::parallel;
use crate::sparse::Pattern;

/// Maximum number of positions of W_t for any of these motifs: walks to nodes within reach, at most the number of
/// nodes. Arcs may be walked in both directions; those of a pattern that is not symmetric are also reversed.
pub fn most_positions(pattern: &Pattern, symmetric: bool, motifs: &[Motif]) -> u64 {
    let far = motifs.iter().map(|&motif| reach(motif)).max().unwrap_or(0);
    let n = pattern.rows();
    let walked = |ends: &[u64]| -> Vec<u64> {
        let next = |i: usize| {
            pattern
                .row(i)
                .iter()
                .fold(0u64, |sum, &j| sum.saturating_add(ends[j as usize]))
        };
        let rows = |rows: Range<usize>| rows.map(next).collect::<Vec<u64>>();
        let mut found = parallel::stretches(n, 1 << 12, rows).concat();
        for i in (0..n).filter(|_| !symmetric) {
            for &j in pattern.row(i) {
                found[j as usize] = found[j as usize].saturating_add(ends[i]);
            }
        }
        found
    };
    let mut ends = walked(&vec![1; n]);
    let mut within = ends.clone();
    for _ in 0..far {
        ends = walked(&ends);
        within
            .iter_mut()
            .zip(&ends)
            .for_each(|(sum, ends)| *sum = sum.saturating_add(*ends));
    }
    within
        .iter()
        .map(|&within| within.min(n.saturating_sub(1) as u64))
        .sum()
}

/// The same counted, not bounded: pairs of nodes within reach. Costs as many steps as there are walks.
pub fn positions(pattern: &Pattern, motifs: &[Motif]) -> u64 {
    let far = motifs.iter().map(|&motif| reach(motif)).max().unwrap_or(0);
    let of_row = |seen: &mut Vec<u32>, i: usize| {
        let stamp = i as u32 + 1;
        let (mut found, mut edge) = (0u64, vec![i as u32]);
        seen[i] = stamp;
        for _ in 0..=far {
            let mut next = Vec::new();
            for &c in &edge {
                for &k in pattern.row(c as usize) {
                    if std::mem::replace(&mut seen[k as usize], stamp) != stamp {
                        next.push(k);
                    }
                }
            }
            found += next.len() as u64;
            edge = next;
        }
        found
    };
    let of_rows = |rows: Range<usize>| {
        let mut seen = vec![0; pattern.rows()];
        rows.map(|i| of_row(&mut seen, i)).sum::<u64>()
    };
    let length = pattern
        .rows()
        .div_ceil(16 * rayon::current_num_threads())
        .max(64);
    parallel::stretches(pattern.rows(), length, of_rows)
        .into_iter()
        .sum()
}
