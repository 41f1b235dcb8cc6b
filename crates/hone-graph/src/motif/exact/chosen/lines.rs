//! [`Lines`]: rows of a pattern in one line of the caches each, for sweeps that visit most of them in no order.
//!
//! A visit of a row in a pattern touches where it begins, then the row, which often lies in two lines, on pages that the
//! processor has forgotten. A short row with its length fits one line, at a place that follows from its number, on huge pages;
//! the line of a long row says where it is.
//! Cost: 64 bytes per node and one pass, where so many rows are visited that it pays.

use crate::sparse::{Pattern, prefetch};
use crate::storage::Pages;

/// Numbers of a line: the degree, then the neighbours where all of them have room, the first again in places that are left; or where
/// they begin in the pattern, in two halves.
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
            let (row, line) = (pattern.row(i), &mut line[0]);
            line[0] = row.len() as u32;
            match row.first() {
                Some(&first) if row.len() < WIDTH => {
                    line[1..=row.len()].copy_from_slice(row);
                    line[row.len() + 1..].fill(first);
                }
                _ => {
                    let start = pattern.range(i).start as u64;
                    [line[1], line[2]] = [start as u32, (start >> 32) as u32];
                }
            }
        });
        Lines { pattern, lines }
    }

    /// Nodes of the graph.
    pub(super) fn nodes(&self) -> usize {
        self.pattern.rows()
    }

    /// The neighbours of a node.
    #[inline]
    pub(super) fn row(&self, i: u32) -> &[u32] {
        match self.lines.get(i as usize) {
            Some(line) if (line[0] as usize) < WIDTH => &line[1..=line[0] as usize],
            Some(line) => self.long(line),
            None => self.pattern.row(i as usize),
        }
    }

    /// The neighbours that a line has no room for.
    #[inline]
    fn long(&self, line: &[u32; WIDTH]) -> &[u32] {
        let start = u64::from(line[1]) | u64::from(line[2]) << 32;
        &self.pattern.columns()[start as usize..][..line[0] as usize]
    }

    /// The neighbours of a node as one line, the first of them in places that are left; nothing where they have no room.
    #[inline]
    pub(super) fn line(&self, i: u32) -> Option<&[u32; WIDTH - 1]> {
        let line = self
            .lines
            .get(i as usize)
            .filter(|line| (line[0] as usize) < WIDTH)?;
        line.last_chunk()
    }

    /// Prefetches the rows around the node at a place of a list, which is next, and around the ones behind it.
    #[inline]
    pub(super) fn ask(&self, nodes: &[u32], at: usize) {
        let around = |at: usize| {
            nodes
                .get(at)
                .map_or(&[][..], |&i| self.row(i))
                .iter()
                .take(2 * AHEAD)
        };
        if self.lines.is_empty() {
            around(at + 2)
                .for_each(|&v| prefetch(&self.pattern.offsets()[v as usize..v as usize + 2]));
            return around(at + 1).for_each(|&v| {
                let row = self.row(v);
                prefetch(&row[..row.len().min(AHEAD)]);
            });
        }
        let ask = |&v: &u32| prefetch(&self.lines[v as usize..=v as usize]);
        nodes.get(at + 4).into_iter().for_each(ask);
        around(at + 2).for_each(ask);
        for &v in around(at + 1) {
            let line = &self.lines[v as usize];
            if line[0] as usize >= WIDTH {
                prefetch(&self.long(line)[..WIDTH]);
            }
        }
    }
}
