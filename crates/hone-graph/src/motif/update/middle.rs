//! What goes through changed edges in the middle: A′ΔA′ − ΔAΔ, and Σ δ_w over the triangles of each edge.
//!
//! Both are sums over neighbours in D, the ends of changed edges. For each node x the vector z = Δ·(row x of A′) and the
//! growth δ of its neighbours in D are laid out over D, which is small, and added up over the neighbours in D of each
//! neighbour y: Σ_e min(|N_D(x)|, |N_D(y)|) steps. Nodes of D are numbered by degree, so that those which most steps
//! go to lie side by side in the nearest cache.

use super::super::column::{Column, cut};
use super::super::ranked::{balanced, ranges, sweep};
use super::changes::sign;
use super::gains::Gains;
use super::under_way::Update;
use crate::error::Result;
use crate::progress::Progress;
use crate::sparse::prefetch;

/// Neighbours from the current one to those whose place among lists, and whose list, is prefetched.
const STARTS_AHEAD: usize = 24;
const LISTS_AHEAD: usize = 12;

/// Neighbours in D of every node, by their number in D.
pub(super) struct Middle<'a> {
    update: &'a Update<'a>,
    /// The nodes of D, the largest first, and the number of each by its place among changes.
    nodes: Vec<u32>,
    number: Vec<u32>,
    offsets: Vec<u32>,
    near: Vec<u32>,
    /// By how much the degree of each node of D grows.
    growth: Vec<i64>,
}

#[derive(Clone)]
struct Scratch {
    /// For each node of D, z in the upper half and δ, if it is a neighbour of x, in the lower; zero between nodes.
    sums: Vec<i64>,
    /// Places that may not be zero.
    touched: Vec<u32>,
}

impl<'a> Middle<'a> {
    pub(super) fn new(update: &'a Update<'a>) -> Middle<'a> {
        let (new, changes) = (update.new, &update.changes);
        let mut nodes = changes.nodes.clone();
        nodes.sort_unstable_by_key(|&i| (std::cmp::Reverse(new.range(i as usize).len()), i));
        let mut number = vec![0; nodes.len()];
        let place = |i: u32| changes.place(i).expect("an end of a change");
        nodes
            .iter()
            .zip(0..)
            .for_each(|(&i, at)| number[place(i)] = at);
        // No more than the changed graph has slots, which are numbered by 32 bits.
        let mut offsets = vec![0u32; new.rows() + 1];
        let slots = || {
            nodes
                .iter()
                .zip(0u32..)
                .flat_map(|(&v, at)| new.row(v as usize).iter().map(move |&i| (i, at)))
        };
        slots().for_each(|(i, _)| offsets[i as usize + 1] += 1);
        (0..new.rows()).for_each(|i| offsets[i + 1] += offsets[i]);
        let (mut near, mut next) = (vec![0; offsets[new.rows()] as usize], offsets.clone());
        slots().for_each(|(i, at)| {
            near[next[i as usize] as usize] = at;
            next[i as usize] += 1;
        });
        let growth = nodes.iter().map(|&i| changes.growth(place(i))).collect();
        Middle {
            update,
            nodes,
            number,
            offsets,
            near,
            growth,
        }
    }

    /// The number of an end of a change.
    #[inline]
    fn number(&self, i: u32) -> usize {
        self.number[self.update.changes.place(i).expect("an end of a change")] as usize
    }

    /// Neighbours of a node in D.
    #[inline]
    fn near(&self, i: u32) -> &[u32] {
        &self.near[self.offsets[i as usize] as usize..self.offsets[i as usize + 1] as usize]
    }

    /// Prefetches the lists of neighbours that come soon.
    #[inline(always)]
    fn ask_ahead(&self, row: &[u32], at: usize) {
        if let Some(&y) = row.get(at + STARTS_AHEAD) {
            prefetch(&self.offsets[y as usize..][..2]);
        }
        if let Some(&y) = row.get(at + LISTS_AHEAD) {
            prefetch(self.near(y).get(..1).unwrap_or_default());
        }
    }

    /// `sums` has one number for each slot.
    pub(super) fn add_all(
        &self,
        gains: &Gains<'_>,
        sums: &mut [u64],
        progress: &dyn Progress,
    ) -> Result<()> {
        let (n, offsets) = (self.update.new.rows(), self.update.new.offsets());
        let scratch = || Scratch {
            sums: vec![0; self.growth.len()],
            touched: Vec::new(),
        };
        let bounds = balanced(n, 1 << 14, |i| {
            (self.near(i as u32).len() + self.update.new.range(i).len()) as u64
        });
        let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
        let parts = ranges(&bounds).zip(cut(sums, &slots)).collect();
        progress.stage("counting between changed edges", n as u64);
        sweep(parts, progress, scratch, |range, sums, scratch| {
            let first = offsets[range.start];
            range.for_each(|x| {
                self.row(
                    x as u32,
                    &mut sums[offsets[x] - first..offsets[x + 1] - first],
                    scratch,
                );
            });
        })?;
        let parts = (0..self.growth.len())
            .map(|number| (number..number + 1, ()))
            .collect();
        sweep(parts, progress, scratch, |range, (), scratch| {
            range.for_each(|x| self.between(x, gains, scratch));
        })
    }

    /// A′ΔA′ and Σ δ on the edges from `x` to nodes with fewer neighbours in D.
    fn row(&self, x: u32, stored: &mut [u64], scratch: &mut Scratch) {
        let own = self.near(x);
        if own.is_empty() {
            return;
        }
        let Scratch { sums, touched } = scratch;
        for &at in own {
            sums[at as usize] += self.growth[at as usize];
            touched.push(at);
            for &(v, added) in self.update.changes.of_node(self.nodes[at as usize]) {
                let v = self.number(v);
                sums[v] += if added { 1 << 32 } else { -1 << 32 };
                touched.push(v as u32);
            }
        }
        let row = self.update.new.row(x as usize);
        for (at, (&y, stored)) in row.iter().zip(stored).enumerate() {
            self.ask_ahead(row, at);
            let others = self.near(y);
            if !others.is_empty() && (others.len(), y) < (own.len(), x) {
                *stored = total(sums, others).cast_unsigned();
            }
        }
        touched.drain(..).for_each(|at| sums[at as usize] = 0);
    }

    /// −ΔAΔ on the edges from a node of D to later nodes of D.
    fn between(&self, number: usize, gains: &Gains<'_>, scratch: &mut Scratch) {
        let changes = &self.update.changes;
        let x = self.nodes[number];
        let Scratch { sums, touched } = scratch;
        for &(u, added) in changes.of_node(x) {
            let sign = if added { 1 } else { -1 };
            for &v in self.near(u) {
                sums[v as usize] += sign;
                touched.push(v);
            }
            // Neighbours before, not after.
            for &(v, added) in changes.of_node(u) {
                sums[self.number(v)] += if added { -sign } else { sign };
            }
        }
        let removed = changes
            .of_node(x)
            .iter()
            .flat_map(|&(u, _)| changes.of_node(u));
        touched.extend(removed.map(|&(v, _)| self.number(v) as u32));
        for &later in self
            .near(x)
            .iter()
            .filter(|&&later| later as usize > number)
        {
            let through = |&(v, added): &(u32, bool)| {
                let sum = sums[self.number(v)];
                if added { sum } else { -sum }
            };
            let other = self.nodes[later as usize];
            let sum: i64 = changes.of_node(other).iter().map(through).sum();
            if sum != 0 {
                let at = self.update.find(x, other).expect("a neighbour");
                gains.c.add(x, at, sum.wrapping_neg().cast_unsigned());
            }
        }
        touched.drain(..).for_each(|at| sums[at as usize] = 0);
    }

    /// Σ (d_w − 1) over the neighbours w of every node after the changes.
    pub(super) fn ends(&self) -> Column {
        let update = self.update;
        Column::gather(update.new.rows(), |i| {
            let before = if i < update.old.rows() {
                update.exact.s.get(i)
            } else {
                0
            };
            let grown = self
                .near(i as u32)
                .iter()
                .map(|&at| self.growth[at as usize].cast_unsigned());
            // Edges that come and go, at old degrees.
            let own = update.changes.of_node(i as u32).iter();
            let own =
                own.map(|&(v, added)| sign(added).wrapping_mul(update.degree(v).wrapping_sub(1)));
            grown.chain(own).fold(before, u64::wrapping_add)
        })
    }
}

/// The sum of some numbers; a function of its own, so that nothing else is in the registers.
#[inline(never)]
fn total(sums: &[i64], list: &[u32]) -> i64 {
    list.iter().map(|&v| sums[v as usize]).sum()
}

/// What C and Q of an edge gain, modulo 2⁶⁴, of what was stored for it: upper and lower half of a sum of pairs, both of them
/// sums over distinct changes, of which there are fewer than 2³⁰.
#[inline(always)]
pub(super) fn halves(stored: u64) -> (u64, u64) {
    let sum = stored.cast_signed();
    let low = i64::from(sum as i32);
    (((sum - low) >> 32).cast_unsigned(), low.cast_unsigned())
}
