//! Walks from changed edges: what C gains, and Q by grown degrees.
//!
//! [`add_cycles`] finds ΔAA′ and its transpose, [`Middle`] what goes through changed edges in the middle: A′ΔA′ − ΔAΔ, and
//! Σ δ_w over the triangles of each edge.

use std::num::Wrapping;
use std::sync::Mutex;

use super::changes::{Changes, sign};
use super::{C, Gains, Update};
use crate::error::Result;
use crate::motif::formula::Whole;
use crate::motif::ranked::{balanced, ranges, sweep};
use crate::parallel::{self, cut};
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};

/// Nodes from the current one to those whose place among lists, and whose list, is prefetched.
const STARTS_AHEAD: usize = 24;
const LISTS_AHEAD: usize = 12;
/// Neighbours from the current one to the one whose row is prefetched, and how much of it.
const ROWS_AHEAD: usize = 8;
const ENTRIES: usize = 32;
/// Steps along a row that take as long as the first one of a row, which is not in a cache.
const PER_ROW: u64 = 8;

/// For every node a list of numbers of some of its neighbours.
struct Lists {
    starts: Vec<u32>,
    numbers: Vec<u32>,
}

impl Lists {
    /// The number of each neighbour j of each node i that has one.
    fn new(pattern: &Pattern, number: impl Fn(u32, u32) -> Option<u32> + Sync) -> Lists {
        let offsets = pattern.offsets();
        let bounds = balanced(pattern.rows(), 1 << 16, |i| {
            (offsets[i + 1] - offsets[i] + 4) as u64
        });
        let parts = parallel::map_each(ranges(&bounds).collect(), |_, rows| {
            let (mut ends, mut list) = (Vec::new(), Vec::new());
            for i in rows {
                let row = pattern.row(i).iter();
                list.extend(row.filter_map(|&j| number(i as u32, j)));
                ends.push(list.len() as u32);
            }
            (ends, list)
        });
        let (mut starts, mut numbers) = (vec![0], Vec::new());
        for (ends, list) in parts {
            let before = numbers.len() as u32;
            starts.extend(ends.into_iter().map(|end| before + end));
            numbers.extend(list);
        }
        Lists { starts, numbers }
    }

    #[inline(always)]
    fn of(&self, i: u32) -> &[u32] {
        let [start, end] = [0, 1].map(|next| self.starts[i as usize + next] as usize);
        &self.numbers[start..end]
    }

    /// Prefetches the lists of nodes that come soon.
    #[inline(always)]
    fn ask(&self, nodes: &[u32], at: usize) {
        if let Some(&i) = nodes.get(at + STARTS_AHEAD) {
            prefetch(&self.starts[i as usize..][..2]);
        }
        if let Some(&i) = nodes.get(at + LISTS_AHEAD) {
            prefetch(self.of(i).get(..1).unwrap_or_default());
        }
    }
}

/// Marks of neighbours before and after the changes.
const OLD: u8 = 1;
const NEW: u8 = 2;

/// The neighbours of one end of a change.
#[derive(Default)]
struct Neighbourhood {
    nodes: Vec<u32>,
    /// [`OLD`] and [`NEW`], by node of the graph; zero between changes.
    marks: Vec<u8>,
    /// Walks over the other end that lead to each node; zero between changes.
    walks: Vec<u32>,
}

/// Adds ΔAA′ and its transpose on the edges of the changed graph, and C of added edges.
///
/// For a changed edge {x, u} the row x of ΔAA′ has at y, a neighbour of x afterwards, the number of nodes w that were
/// neighbours of u and are neighbours of y; the row u has at w those y that were neighbours of x. Both count edges {y, w}
/// between the two neighbourhoods. Where x has few neighbours, their rows are walked over marks on the neighbours of u.
/// Where most are hubs, whose long rows mostly lead to irrelevant leaves, each edge is found from the end of smaller degree:
/// the neighbours of either end of the change are visited, but only those of their neighbours that have a larger degree. Of
/// both methods, and both ends of the change as x, the cheapest is used.
pub(super) fn add_cycles(
    update: &Update<'_>,
    gains: &Gains<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    let (changes, new) = (&update.changes, update.new);
    progress.stage("counting cycles", changes.list.len() as u64);
    let degree = |i: u32| (new.range(i as usize).len(), i);
    let larger = Lists::new(new, |i, j| (degree(j) > degree(i)).then_some(j));
    // Steps over all neighbours of neighbours of a node, and over the larger ones.
    let steps: Vec<[u64; 2]> = parallel::map(changes.nodes.len(), |at| {
        let row = update.row(changes.nodes[at]).iter();
        row.fold([0; 2], |[all, some], &j| {
            let (row, list) = (update.row(j).len() as u64, larger.of(j).len() as u64);
            [all + PER_ROW + row, some + PER_ROW + list]
        })
    });
    // The cheapest way: its steps, from which end, and whether by whole rows.
    let ways: Vec<(u64, u32, bool)> = parallel::collect(changes.list.len(), |at| {
        let ends = [changes.list[at].u, changes.list[at].v];
        let [u, v] = ends.map(|i| changes.place(i).map_or([0; 2], |place| steps[place]));
        let ways = [
            (u[0], ends[0], true),
            (v[0], ends[1], true),
            (u[1] + v[1], ends[0], false),
        ];
        ways.into_iter().min().expect("three ways")
    });
    let around = || Neighbourhood {
        nodes: Vec::new(),
        marks: vec![0; new.rows()],
        walks: vec![0; new.rows()],
    };
    let born = Mutex::new(Vec::new());
    let parts = update.parts(|at| ways[at].0 + 64);
    sweep(
        parts,
        progress,
        || [around(), around()],
        |range, (), [of_x, of_u]| {
            for (change, &(_, x, whole)) in changes.list[range.clone()].iter().zip(&ways[range]) {
                let u = if x == change.u { change.v } else { change.u };
                of_x.mark(update, x, u);
                of_u.mark(update, u, x);
                let cycles = walk(update, Some(&larger).filter(|_| !whole), of_x, of_u);
                of_x.finish(update, gains, x, sign(change.added));
                of_u.finish(update, gains, u, sign(change.added));
                if change.added {
                    let mut born = born.lock().expect("no thread panics with the lock");
                    born.push((x, u, Wrapping(cycles)));
                }
            }
        },
    )?;
    // Only now: contributions of others to an edge that did not exist are meaningless.
    for (x, u, cycles) in born.into_inner().expect("no thread panics with the lock") {
        for (i, j, value) in [(x, u, cycles), (u, x, Wrapping(0))] {
            let at = update.find(i, j).expect("an added edge");
            gains.row(i, |row| row[at][C] = value);
        }
    }
    Ok(())
}

impl Neighbourhood {
    /// Marks the neighbours of `i`; that at the other end of an added edge is none.
    fn mark(&mut self, update: &Update<'_>, i: u32, other: u32) {
        self.nodes.clear();
        for (row, mark) in [(update.old_row(i), OLD), (update.row(i), NEW)] {
            row.iter().for_each(|&j| self.marks[j as usize] |= mark);
        }
        self.marks[other as usize] &= OLD;
        self.nodes.extend(update.old_row(i));
        let added = update.changes.of_node(i).iter().filter(|end| end.1);
        self.nodes.extend(added.map(|end| end.0));
    }

    /// Adds the walks to the edges of `i`, and clears everything.
    fn finish(&mut self, update: &Update<'_>, gains: &Gains<'_>, i: u32, sign: Whole) {
        gains.row(i, |row| {
            for (gain, &j) in row.iter_mut().zip(update.row(i)) {
                gain[C] += sign * Wrapping(self.walks[j as usize].into());
            }
        });
        for &j in &self.nodes {
            self.marks[j as usize] = 0;
            self.walks[j as usize] = 0;
        }
    }
}

/// Counts the edges {y, w} between the nodes around x and around u for each of these, where the other one was a neighbour
/// before: from y along its whole row, or from either along the `larger` neighbours. Returns how many are between nodes
/// that are neighbours afterwards.
fn walk(
    update: &Update<'_>,
    larger: Option<&Lists>,
    of_x: &mut Neighbourhood,
    of_u: &mut Neighbourhood,
) -> u64 {
    let mut cycles = 0;
    let mut side = |from: &mut Neighbourhood, to: &mut Neighbourhood| {
        for (at, &y) in from.nodes.iter().enumerate() {
            let row = match larger {
                Some(larger) => {
                    larger.ask(&from.nodes, at);
                    larger.of(y)
                }
                None => {
                    if let Some(&ahead) = from.nodes.get(at + ROWS_AHEAD) {
                        let row = update.row(ahead);
                        prefetch(&row[..row.len().min(ENTRIES)]);
                    }
                    update.row(y)
                }
            };
            let own = from.marks[y as usize];
            let (mut before, mut after) = (0, 0);
            for &w in row {
                let mark = to.marks[w as usize];
                if mark != 0 {
                    before += u32::from(mark & OLD);
                    after += u64::from(mark & own & NEW);
                    to.walks[w as usize] += u32::from(own & OLD);
                }
            }
            from.walks[y as usize] += before;
            cycles += after / u64::from(NEW);
        }
    };
    side(of_x, of_u);
    if larger.is_some() {
        side(of_u, of_x);
    }
    cycles
}

/// Neighbours in D of every node, by their number in D.
///
/// Both are sums over neighbours in D, the ends of changed edges. For each node x the vector z = Δ·(row x of A′) and the
/// growth δ of its neighbours in D are laid out over D, which is small, and added up over the neighbours in D of each
/// neighbour y: Σ_e min(|N_D(x)|, |N_D(y)|) steps. Nodes of D are numbered by degree, so that those which most steps
/// go to lie side by side in the nearest cache.
pub(super) struct Middle<'a> {
    update: &'a Update<'a>,
    /// The nodes of D, the largest first, and the number of each by its place among changes.
    nodes: Vec<u32>,
    number: Vec<u32>,
    near: Lists,
    /// By how much the degree of each node of D grows.
    growth: Vec<i32>,
}

/// What C and Q of an edge gain: sums over distinct changes, of which there are fewer than 2³⁰.
pub(super) type Through = [i32; 2];

struct Scratch {
    /// For each node of D, z and, if it is a neighbour of x, δ; zero between nodes.
    sums: Vec<Through>,
    /// Places that may not be zero.
    touched: Vec<u32>,
}

impl<'a> Middle<'a> {
    pub(super) fn new(update: &'a Update<'a>) -> Middle<'a> {
        let (new, changes) = (update.new, &update.changes);
        let mut nodes = changes.nodes.clone();
        nodes.sort_unstable_by_key(|&i| (std::cmp::Reverse(new.range(i as usize).len()), i));
        let mut number = vec![0; nodes.len()];
        for (&i, at) in nodes.iter().zip(0..) {
            number[place(changes, i)] = at;
        }
        let near = Lists::new(new, |_, j| changes.place(j).map(|place| number[place]));
        let growth = |&i: &u32| changes.growth(i).0.cast_signed() as i32;
        Middle {
            update,
            growth: nodes.iter().map(growth).collect(),
            nodes,
            number,
            near,
        }
    }

    /// The number of an end of a change.
    #[inline]
    fn number(&self, i: u32) -> usize {
        self.number[place(&self.update.changes, i)] as usize
    }

    /// Writes A′ΔA′ and Σ δ at one of the slots of each edge to `sums`, and adds −ΔAΔ to C.
    pub(super) fn add_all(
        &self,
        gains: &Gains<'_>,
        sums: &mut [Through],
        progress: &dyn Progress,
    ) -> Result<()> {
        let (n, offsets) = (self.update.new.rows(), self.update.new.offsets());
        let scratch = || Scratch {
            sums: vec![[0; 2]; self.nodes.len()],
            touched: Vec::new(),
        };
        let bounds = balanced(n, 1 << 14, |i| {
            (self.near.of(i as u32).len() + self.update.new.range(i).len()) as u64
        });
        let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
        let parts = ranges(&bounds).zip(cut(sums, &slots)).collect();
        progress.stage("counting between changed edges", n as u64);
        sweep(parts, progress, scratch, |range, sums, scratch| {
            let first = offsets[range.start];
            for x in range {
                let own = &mut sums[offsets[x] - first..offsets[x + 1] - first];
                self.row(x as u32, own, scratch);
            }
        })?;
        let parts = (0..self.nodes.len()).map(|number| (number..number + 1, ()));
        sweep(parts.collect(), progress, scratch, |range, (), scratch| {
            range.for_each(|number| self.between(number, gains, scratch));
        })
    }

    /// A′ΔA′ and Σ δ on the edges from `x` to nodes with fewer neighbours in D.
    fn row(&self, x: u32, stored: &mut [Through], Scratch { sums, touched }: &mut Scratch) {
        let own = self.near.of(x);
        if own.is_empty() {
            return;
        }
        for &at in own {
            sums[at as usize][1] += self.growth[at as usize];
            touched.push(at);
            for &(v, added) in self.update.changes.of_node(self.nodes[at as usize]) {
                let v = self.number(v);
                sums[v][0] += if added { 1 } else { -1 };
                touched.push(v as u32);
            }
        }
        let row = self.update.row(x);
        for (at, (&y, stored)) in row.iter().zip(stored).enumerate() {
            self.near.ask(row, at);
            let others = self.near.of(y);
            if !others.is_empty() && (others.len(), y) < (own.len(), x) {
                *stored = total(sums, others);
            }
        }
        touched.drain(..).for_each(|at| sums[at as usize] = [0; 2]);
    }

    /// −ΔAΔ on the edges from a node of D to later nodes of D.
    fn between(&self, number: usize, gains: &Gains<'_>, Scratch { sums, touched }: &mut Scratch) {
        let (changes, x) = (&self.update.changes, self.nodes[number]);
        let mut add = |v: usize, by: i32| {
            sums[v][0] += by;
            touched.push(v as u32);
        };
        for &(u, added) in changes.of_node(x) {
            let sign = if added { 1 } else { -1 };
            self.near.of(u).iter().for_each(|&v| add(v as usize, sign));
            // Neighbours before, not after.
            for &(v, added) in changes.of_node(u) {
                add(self.number(v), if added { -sign } else { sign });
            }
        }
        let later = self
            .near
            .of(x)
            .iter()
            .filter(|&&later| later as usize > number);
        for &later in later {
            let other = self.nodes[later as usize];
            let through = |&(v, added): &(u32, bool)| {
                let [sum, _] = sums[self.number(v)];
                i64::from(if added { sum } else { -sum })
            };
            let sum: i64 = changes.of_node(other).iter().map(through).sum();
            if sum != 0 {
                let at = self.update.find(x, other).expect("a neighbour");
                gains.row(x, |row| row[at][C] -= Wrapping(sum.cast_unsigned()));
            }
        }
        touched.drain(..).for_each(|at| sums[at as usize] = [0; 2]);
    }
}

fn place(changes: &Changes, i: u32) -> usize {
    changes.place(i).expect("an end of a change")
}

/// The sum of some numbers; a function of its own, so that nothing else is in the registers.
#[inline(never)]
fn total(sums: &[Through], list: &[u32]) -> Through {
    list.iter().fold([0; 2], |[c, q], &v| {
        let sum = sums[v as usize];
        [c + sum[0], q + sum[1]]
    })
}
