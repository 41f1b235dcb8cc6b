//! [`Lines`]: rows of a pattern in one line of the caches each, for sweeps that visit most of them in no order.
//!
//! A visit of a row in a pattern touches where it begins, then the row, which often lies in two lines, on pages that the
//! processor has forgotten. A short row with its length fits one line, at a place that follows from its number, on huge pages.
//! Cost: 64 bytes per node and one pass, where so many rows are visited that it pays.

use crate::pages::Pages;
use crate::sparse::{Pattern, prefetch};

/// Numbers of a line: the degree, and neighbours where all of them have room.
const WIDTH: usize = 16;

/// Entries of other rows that are prefetched.
const AHEAD: usize = 16;

/// Rows of a pattern.
pub(super) struct Lines<'a> {
    pattern: &'a Pattern,
    /// One line per node; none where few rows are visited.
    lines: Pages<[u32; WIDTH]>,
}

impl<'a> Lines<'a> {
    /// Rows of which so many will be visited.
    pub(super) fn new(pattern: &'a Pattern, visits: u64) -> Lines<'a> {
        let (nodes, slots) = (pattern.rows() as u64, pattern.nnz() as u64);
        let pay = visits > slots / 4 && 4 * slots >= WIDTH as u64 * nodes;
        let mut lines = Pages::zeros(if pay { pattern.rows() } else { 0 });
        crate::parallel::for_rows(&mut lines, 1, |i, line: &mut [[u32; WIDTH]]| {
            let row = pattern.row(i);
            line[0][0] = row.len() as u32;
            if row.len() < WIDTH {
                line[0][1..=row.len()].copy_from_slice(row);
            }
        });
        Lines { pattern, lines }
    }

    /// The neighbours of a node.
    #[inline]
    pub(super) fn row(&self, i: u32) -> &[u32] {
        match self.lines.get(i as usize) {
            Some(line) if (line[0] as usize) < WIDTH => &line[1..=line[0] as usize],
            _ => self.pattern.row(i as usize),
        }
    }

    /// Asks the memory for the rows around the node at a place of a list, which is next, and for that of the one behind it.
    #[inline]
    pub(super) fn ask(&self, nodes: &[u32], at: usize) {
        let around = |at: usize| nodes.get(at).map_or(&[][..], |&i| self.row(i)).iter().take(2 * AHEAD);
        if self.lines.is_empty() {
            around(at + 2).for_each(|&v| prefetch(&self.pattern.offsets()[v as usize..v as usize + 2]));
            return around(at + 1).for_each(|&v| {
                let row = self.row(v);
                prefetch(&row[..row.len().min(AHEAD)]);
            });
        }
        around(at + 2).for_each(|&v| prefetch(&self.lines[v as usize..=v as usize]));
    }
}
