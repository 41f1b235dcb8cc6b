//! The other slot of every edge.

use crate::sparse::Pattern;

/// For each slot that of the same edge in the other row: rows ascend, so that the lower part of a row is met in order.
pub(in crate::motif) fn turned(pattern: &Pattern) -> Vec<u32> {
    let mut back = vec![0; pattern.nnz()];
    let mut next: Vec<usize> = pattern.offsets()[..pattern.rows()].to_vec();
    for i in 0..pattern.rows() {
        let upper = next[i];
        for (slot, &j) in (upper..).zip(&pattern.columns()[upper..pattern.range(i).end]) {
            let place = &mut next[j as usize];
            back[slot] = *place as u32;
            back[*place] = slot as u32;
            *place += 1;
        }
    }
    back
}
