//! What goes through changed edges in the middle: A′ΔA′ − ΔAΔ, and Σ δ_w over the triangles of each edge.
//!
//! Both are sums over neighbours in D, the ends of changed edges. For each node x the vector z = Δ·(row x of A′) and the
//! growth δ of its neighbours in D are laid out over D, which is small, and added up over the neighbours in D of each
//! neighbour y: Σ_e min(|N_D(x)|, |N_D(y)|) steps, all in a cache.

use super::super::column::Column;
use super::super::ranked::{balanced, ranges, sweep};
use super::changes::sign;
use super::{Update, add};
use crate::error::Result;
use crate::progress::Progress;

/// Neighbours in D of every node, by their place in D.
pub(super) struct Middle<'a> {
    update: &'a Update<'a>,
    offsets: Vec<usize>,
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
        let (new, nodes) = (update.new, &update.changes.nodes);
        let mut offsets = vec![0; new.rows() + 1];
        let slots = || nodes.iter().zip(0u32..).flat_map(|(&v, at)| new.row(v as usize).iter().map(move |&i| (i, at)));
        slots().for_each(|(i, _)| offsets[i as usize + 1] += 1);
        (0..new.rows()).for_each(|i| offsets[i + 1] += offsets[i]);
        let (mut near, mut next) = (vec![0; offsets[new.rows()]], offsets.clone());
        slots().for_each(|(i, at)| {
            near[next[i as usize]] = at;
            next[i as usize] += 1;
        });
        let growth = (0..nodes.len()).map(|place| update.changes.growth(place)).collect();
        Middle { update, offsets, near, growth }
    }

    /// Neighbours of a node in D.
    #[inline]
    fn near(&self, i: u32) -> &[u32] {
        &self.near[self.offsets[i as usize]..self.offsets[i as usize + 1]]
    }

    pub(super) fn add_all(&self, progress: &dyn Progress) -> Result<()> {
        let n = self.update.new.rows();
        let scratch = || Scratch { sums: vec![0; self.growth.len()], touched: Vec::new() };
        let bounds = balanced(n, 1 << 14, |i| (self.near(i as u32).len() + self.update.new.range(i).len()) as u64);
        let parts = ranges(&bounds).map(|range| (range, ())).collect();
        progress.stage("edges between changes", n as u64);
        sweep(parts, progress, scratch, |range, (), scratch| {
            range.for_each(|x| self.row(x as u32, scratch));
        })?;
        let parts = (0..self.growth.len()).map(|place| (place..place + 1, ())).collect();
        sweep(parts, progress, scratch, |range, (), scratch| range.for_each(|x| self.between(x, scratch)))
    }

    /// A′ΔA′ and Σ δ on the edges from `x` to nodes with fewer neighbours in D.
    fn row(&self, x: u32, scratch: &mut Scratch) {
        let own = self.near(x);
        if own.is_empty() {
            return;
        }
        let Scratch { sums, touched } = scratch;
        for &at in own {
            sums[at as usize] += self.growth[at as usize];
            touched.push(at);
            for &(v, added) in self.update.changes.at(at as usize) {
                let v = self.update.changes.place(v).expect("an end of a change");
                sums[v] += if added { 1 << 32 } else { -1 << 32 };
                touched.push(v as u32);
            }
        }
        for (at, &y) in self.update.new.row(x as usize).iter().enumerate() {
            let others = self.near(y);
            if (others.len(), y) < (own.len(), x) {
                let sum: i64 = others.iter().map(|&v| sums[v as usize]).sum();
                if sum != 0 {
                    let (through, growth) = halves(sum);
                    let gain = self.update.gain(x, at);
                    add(&gain.c, through.cast_unsigned());
                    add(&gain.q, growth.cast_unsigned());
                }
            }
        }
        touched.drain(..).for_each(|at| sums[at as usize] = 0);
    }

    /// −ΔAΔ on the edges from a node of D to later nodes of D.
    fn between(&self, place: usize, scratch: &mut Scratch) {
        let changes = &self.update.changes;
        let x = changes.nodes[place];
        let Scratch { sums, touched } = scratch;
        for &(u, added) in changes.at(place) {
            let sign = if added { 1 } else { -1 };
            for &v in self.near(u) {
                sums[v as usize] += sign;
                touched.push(v);
            }
            // Neighbours before, not after.
            for &(v, added) in changes.of_node(u) {
                sums[changes.place(v).expect("an end of a change")] += if added { -sign } else { sign };
            }
        }
        let removed = changes.at(place).iter().flat_map(|&(u, _)| changes.of_node(u));
        touched.extend(removed.map(|&(v, _)| changes.place(v).expect("an end of a change") as u32));
        for &later in self.near(x).iter().filter(|&&later| later as usize > place) {
            let through = |&(v, added): &(u32, bool)| {
                let sum = sums[changes.place(v).expect("an end of a change")];
                if added { sum } else { -sum }
            };
            let sum: i64 = changes.at(later as usize).iter().map(through).sum();
            if sum != 0 {
                let [gain, _] = self.update.gains_between(x, changes.nodes[later as usize]).expect("a neighbour");
                add(&gain.c, sum.wrapping_neg().cast_unsigned());
            }
        }
        touched.drain(..).for_each(|at| sums[at as usize] = 0);
    }

    /// Σ (d_w − 1) over the neighbours w of every node after the changes.
    pub(super) fn ends(&self) -> Column {
        let update = self.update;
        Column::gather(update.new.rows(), |i| {
            let before = if i < update.old.rows() { update.exact.s.get(i) } else { 0 };
            let grown = self.near(i as u32).iter().map(|&at| self.growth[at as usize].cast_unsigned());
            // Edges that come and go, at old degrees.
            let own = update.changes.of_node(i as u32).iter();
            let own = own.map(|&(v, added)| sign(added).wrapping_mul(update.degree(v).wrapping_sub(1)));
            grown.chain(own).fold(before, u64::wrapping_add)
        })
    }
}

/// Upper and lower half of a sum of pairs; both are sums over distinct changes, of which there are fewer than 2³⁰.
fn halves(sum: i64) -> (i64, i64) {
    let low = i64::from(sum as i32);
    ((sum - low) >> 32, low)
}
