//! The 13 orbit counts of an edge from five numbers of the edge and three of each end: the *primitives*.
//!
//! Letters: d degree; T triangles of a node; S = Σ_{w∈N(u)} (d_w − 1); t common neighbours of u and
//! v; P = t(t − 1)/2 their pairs; C non-induced 4-cycles through the edge; K 4-cliques on it; Q = Σ d_w and
//! R = Σ (t(u,w) + t(v,w)) over the common neighbours w; a = d_u − 1 − t, b = d_v − 1 − t.
//!
//! Exact counts use arithmetic modulo 2⁶⁴, in which intermediate differences may wrap but every
//! result is right, because every orbit count itself is below 2⁶⁴: with degrees below 2³²,
//! o4 ≤ ab, o5 ≤ (a² + b²)/2 and o8 ≤ t(a + b) ≤ 2·2⁶²; all others are at most 4M. Estimates use
//! f64 and the same formulas.

use std::num::Wrapping;
use std::ops::{Add, Deref, Div, Mul, Sub};

use super::column::{Column, Rank};
use super::orbit::Orbit;
use crate::error::{Error, Result};
use crate::sparse::Pattern;

/// Exact counts, modulo 2⁶⁴.
pub(super) type Whole = Wrapping<u64>;

/// What the formulas need of a number: [`Whole`] for exact counts of edges, i128 for exact sums over all edges before they
/// are halved (degrees are below 2³¹ and edges fewer than 2⁶², so that the largest, R, is below 2¹²⁶), f64 for estimates.
pub(super) trait Number:
    Copy
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    fn of(value: u64) -> Self;
    /// x(x − 1)/2.
    fn pairs(self) -> Self;
}

impl Number for Whole {
    fn of(value: u64) -> Self {
        Wrapping(value)
    }

    /// Exact for x < 2³², for then x(x − 1) < 2⁶⁴; all arguments are degrees or differences of them.
    fn pairs(self) -> Self {
        Wrapping(self.0 * self.0.saturating_sub(1) / 2)
    }
}

impl Number for i128 {
    fn of(value: u64) -> Self {
        value.into()
    }

    fn pairs(self) -> Self {
        self * (self - 1) / 2
    }
}

impl Number for f64 {
    fn of(value: u64) -> Self {
        value as f64
    }

    fn pairs(self) -> Self {
        self * (self - 1.0) / 2.0
    }
}

/// Primitives of a node.
#[derive(Clone, Copy)]
pub(super) struct End<N> {
    pub(super) d: N,
    pub(super) triangles: N,
    pub(super) s: N,
}

/// Primitives of an edge.
#[derive(Clone, Copy, Default)]
pub(super) struct Middle<N> {
    pub(super) t: N,
    /// A separate estimate if t is one: the square of an estimate is too large on average.
    pub(super) p: N,
    pub(super) c: N,
    pub(super) k: N,
    pub(super) q: N,
    pub(super) r: N,
}

impl<N> From<[N; 6]> for Middle<N> {
    fn from([t, p, c, k, q, r]: [N; 6]) -> Self {
        Middle { t, p, c, k, q, r }
    }
}

/// The terms in which the orbit counts of an edge are linear; summed over edges, they give totals.
#[derive(Clone, Copy)]
pub(super) struct Terms<N> {
    /// The number of edges.
    pub(super) one: N,
    /// With x = d − 1 of each end: Σ x, Π x, Σ x(x − 1)/2, and t Σ x.
    pub(super) both: N,
    pub(super) product: N,
    pub(super) pairs: N,
    pub(super) t_both: N,
    /// T and S of both ends.
    pub(super) triangles: N,
    pub(super) s: N,
    pub(super) middle: Middle<N>,
}

impl<N: Number> Terms<N> {
    /// The terms of one edge.
    #[inline]
    fn of(u: End<N>, v: End<N>, middle: Middle<N>) -> Terms<N> {
        let one = N::of(1);
        let (du, dv) = (u.d - one, v.d - one);
        Terms {
            one,
            both: du + dv,
            product: du * dv,
            pairs: du.pairs() + dv.pairs(),
            t_both: middle.t * (du + dv),
            triangles: u.triangles + v.triangles,
            s: u.s + v.s,
            middle,
        }
    }

    /// All 13 orbit counts, in the order of [`Orbit::ALL`].
    #[inline]
    pub(super) fn orbits(self) -> [N; Orbit::COUNT] {
        let two = N::of(2);
        let Terms {
            one,
            both,
            product,
            pairs,
            t_both,
            triangles,
            s,
            middle: Middle { t, p, c, k, q, r },
        } = self;
        let square = two * p + t;
        let rim = r - two * t - two * two * k;
        let far = q - two * t - two * k - rim;
        let near = t_both - two * square - rim;
        let tail = triangles - two * t - two * k - rim;
        let cycle = c - two * k - rim;
        let star = pairs - t_both + two * (p + t) - tail;
        let mid = product - t_both + square - cycle;
        let end = s - both - two * (q - t) - two * tail - rim - two * cycle;
        [
            one,
            both - two * t,
            t,
            end,
            mid,
            star,
            cycle,
            tail,
            near,
            far,
            p - k,
            rim,
            k,
        ]
    }
}

/// All 13 orbit counts of an edge, in the order of [`Orbit::ALL`].
#[inline]
pub(super) fn orbits<N: Number>(u: End<N>, v: End<N>, e: Middle<N>) -> [N; Orbit::COUNT] {
    Terms::of(u, v, e).orbits()
}

/// Whether the sums of orbit counts over the edges of a node of a given degree are whole numbers of f64, in whatever order
/// they are added.
pub(super) fn sums_are_whole(pattern: &Pattern) -> impl Fn(usize) -> bool + Sync + use<> {
    let (largest, edges) = (largest_degree(pattern) as u128, pattern.nnz() as u128 / 2);
    move |degree| {
        let degree = degree as u128;
        // No edge has more of any orbit.
        let most = (4 * edges).max((degree + largest).pow(2));
        degree * most < 1 << 53
    }
}

/// The largest number of neighbours of a node.
pub(super) fn largest_degree(pattern: &Pattern) -> usize {
    let degrees = pattern.offsets().windows(2).map(|ends| ends[1] - ends[0]);
    degrees.max().unwrap_or(0)
}

/// Sums of all orbit counts over the edges of a node to the neighbours `row`, modulo 2⁶⁴; `middle` are the sums of the primitives
/// of these edges.
///
/// With x = d − 1: Σ x_j, Σ x_j(x_j − 1)/2, Σ T_j and Σ S_j over the neighbours j are enough, since Σ_j t(i,j) d_j = Σ_j Q(i,j): both
/// add d_w for each triangle and each of its other nodes.
pub(super) fn node_sums(
    row: &[u32],
    own: End<Whole>,
    end: impl Fn(u32) -> End<Whole>,
    middle: Middle<Whole>,
) -> [Whole; Orbit::COUNT] {
    let (one, d) = (Wrapping(1), Wrapping(row.len() as u64));
    let [mut x, mut pairs, mut triangles, mut s] = [Wrapping(0); 4];
    for &j in row {
        let end = end(j);
        let other = end.d - one;
        x += other;
        pairs += other.pairs();
        triangles += end.triangles;
        s += end.s;
    }
    let degree = own.d - one;
    Terms {
        one: d,
        both: d * degree + x,
        product: degree * x,
        pairs: d * degree.pairs() + pairs,
        // Σ t (x_i + x_j), with x_j = d_j − 1.
        t_both: middle.t * (degree - one) + middle.q,
        triangles: d * own.triangles + triangles,
        s: d * own.s + s,
        middle,
    }
    .orbits()
}

/// The numbers of edges and nodes from which all exact counts follow, in the order of a symmetric pattern.
#[derive(Debug, Clone)]
pub struct Primitives {
    /// Common neighbours of each position.
    pub t: Column,
    /// Non-induced 4-cycles through each position.
    pub c: Column,
    /// 4-cliques on each position in a triangle.
    pub k: Column,
    /// Sum of the degrees of the common neighbours, for each position in a triangle.
    pub q: Column,
    /// Sum of the triangles of the edges to the common neighbours, for each position in a triangle.
    pub r: Column,
    /// Triangles of each node.
    pub triangles: Column,
    /// Sum of the degrees minus one of the neighbours of each node.
    pub s: Column,
}

impl Primitives {
    /// From t, C, K, Q and R of edges, and S of nodes.
    pub(super) fn new(
        pattern: &Pattern,
        [t, c, k, q, r]: [Column; 5],
        s: impl Fn(usize) -> u64 + Sync,
    ) -> Primitives {
        let triangles = |i: usize| {
            let slots = pattern.range(i);
            match t.nonzeros(slots.clone()) {
                0 => 0,
                _ => slots.map(|slot| t.get(slot)).sum::<u64>() / 2,
            }
        };
        Primitives {
            triangles: Column::collect(pattern.rows(), triangles),
            s: Column::collect(pattern.rows(), s),
            t,
            c,
            k,
            q,
            r,
        }
    }
}

/// S of a node: the degrees minus one of its neighbours, summed.
pub(super) fn degrees_of_others(pattern: &Pattern, i: usize) -> u64 {
    let row = pattern.row(i).iter();
    row.map(|&j| pattern.range(j as usize).len() as u64 - 1)
        .sum()
}

/// Primitives with an index and degrees.
#[derive(Debug, Clone)]
pub(super) struct Exact {
    primitives: Primitives,
    /// From a position in a triangle to its place in k, q and r.
    rank: Rank,
    pub(super) d: Column,
}

impl Deref for Exact {
    type Target = Primitives;

    fn deref(&self) -> &Primitives {
        &self.primitives
    }
}

impl Exact {
    /// # Panics
    /// When there are other numbers of values than the pattern has positions and nodes.
    pub(super) fn new(pattern: &Pattern, primitives: Primitives) -> Exact {
        let Primitives { t, c, k, q, r, .. } = &primitives;
        let (nodes, slots) = (pattern.rows(), pattern.nnz());
        let of_nodes = [&primitives.triangles, &primitives.s];
        assert!(
            t.len() == slots && c.len() == slots,
            "counts of every position"
        );
        assert!(
            of_nodes.iter().all(|column| column.len() == nodes),
            "counts of every node"
        );
        let rank = Rank::new(slots, |range| t.nonzeros(range));
        let inside = rank.below(slots, |range| t.nonzeros(range));
        let of_triangles = [k, q, r].iter().all(|column| column.len() == inside);
        assert!(of_triangles, "counts of every position in a triangle");
        Exact {
            rank,
            d: Column::collect(nodes, |i| pattern.range(i).len() as u64),
            primitives,
        }
    }

    /// Refuses a node with too many neighbours for the arithmetic.
    pub(super) fn check_degrees(pattern: &Pattern) -> Result<()> {
        let (degree, most) = (largest_degree(pattern), (1usize << 31) - 1);
        if degree <= most {
            return Ok(());
        }
        Err(Error::Numeric {
            stage: "motif counting".into(),
            message: format!("a node has {degree} neighbours; at most {most} can be counted")
                .into(),
        })
    }

    /// All columns, in the order of a file.
    pub(super) fn columns(&self) -> [&Column; 8] {
        let p = &self.primitives;
        [&p.t, &p.c, &p.k, &p.q, &p.r, &self.d, &p.triangles, &p.s]
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.columns().map(Column::bytes).iter().sum::<usize>() + self.rank.bytes()
    }

    /// Positions in a triangle before one of the pattern.
    #[inline]
    pub(super) fn place(&self, slot: usize) -> usize {
        self.rank.below(slot, |range| self.t.nonzeros(range))
    }

    #[inline(always)]
    pub(super) fn end(&self, i: u32) -> End<Whole> {
        End {
            d: Wrapping(self.d.get(i as usize)),
            triangles: Wrapping(self.triangles.get(i as usize)),
            s: Wrapping(self.s.get(i as usize)),
        }
    }

    /// The primitives of a position; `place` is that of the next position in a triangle, which is looked up when there is one.
    #[inline(always)]
    pub(super) fn middle(&self, slot: usize, place: &mut Option<usize>) -> Middle<Whole> {
        let t = Wrapping(self.t.get(slot));
        let mut e = Middle {
            t,
            p: t.pairs(),
            c: Wrapping(self.c.get(slot)),
            ..Middle::default()
        };
        if t.0 > 0 {
            let at = place.unwrap_or_else(|| self.place(slot));
            e.k = Wrapping(self.k.get(at));
            e.q = Wrapping(self.q.get(at));
            e.r = Wrapping(self.r.get(at));
            *place = Some(at + 1);
        }
        e
    }

    /// Sums of all orbit counts over the edges of a node, modulo 2⁶⁴.
    pub(super) fn node_sums(&self, pattern: &Pattern, i: usize) -> [Whole; Orbit::COUNT] {
        let (row, slots) = (pattern.row(i), pattern.range(i));
        if row.is_empty() {
            return [Wrapping(0); Orbit::COUNT];
        }
        let mut sum = Middle::default();
        if self.triangles.get(i) == 0 {
            sum.c = slots.map(|slot| Wrapping(self.c.get(slot))).sum();
        } else {
            let mut place = None;
            for slot in slots {
                let e = self.middle(slot, &mut place);
                sum.t += e.t;
                sum.p += e.p;
                sum.c += e.c;
                sum.k += e.k;
                sum.q += e.q;
                sum.r += e.r;
            }
        }
        node_sums(row, self.end(i as u32), |j| self.end(j), sum)
    }
}
