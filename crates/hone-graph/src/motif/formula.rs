//! The 13 orbit counts of an edge from five numbers of the edge and three of each end.
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
use std::ops::{Add, Mul, Sub};

use super::orbit::Orbit;
use crate::parallel;
use crate::sparse::Pattern;

/// Exact counts, modulo 2⁶⁴.
pub(super) type Exact = Wrapping<u64>;

/// What the formulas need of a number.
pub(super) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    fn of(value: u64) -> Self;
    /// x(x − 1)/2.
    fn pairs(self) -> Self;
}

/// What sums over the whole graph need besides: each edge is met from both ends.
pub(super) trait Sum: Number + Send + Sync {
    fn half(self) -> Self;
}

impl Number for Exact {
    fn of(value: u64) -> Self {
        Wrapping(value)
    }

    /// Exact for x < 2³², for then x(x − 1) < 2⁶⁴; all arguments are degrees or differences of them.
    fn pairs(self) -> Self {
        Wrapping(self.0 * self.0.saturating_sub(1) / 2)
    }
}

/// Sums over all edges, before they are halved: degrees are below 2³¹ and edges fewer than 2⁶², so that the
/// largest (R: twice two numbers below 2³¹ for each common neighbour) is below 2¹²⁶.
impl Number for i128 {
    fn of(value: u64) -> Self {
        value.into()
    }

    fn pairs(self) -> Self {
        self * (self - 1) / 2
    }
}

impl Sum for i128 {
    fn half(self) -> Self {
        self / 2
    }
}

impl Sum for f64 {
    fn half(self) -> Self {
        self / 2.0
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
#[derive(Clone, Copy)]
pub(super) struct Middle<N> {
    pub(super) t: N,
    /// A separate estimate if t is one: the square of an estimate is too large on average.
    pub(super) p: N,
    pub(super) c: N,
    pub(super) k: N,
    pub(super) q: N,
    pub(super) r: N,
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

/// Sums up to this are whole numbers of f64, in whatever order they are added.
const WHOLE: u128 = 1 << 53;

/// What bounds the sums of orbit counts over the edges of a node.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// The largest degree.
    pub(super) most: u128,
    pub(super) edges: u128,
}

impl Bounds {
    pub(super) fn of(pattern: &Pattern) -> Bounds {
        let degrees = parallel::stretches(pattern.rows(), 1 << 14, |rows| {
            rows.map(|i| pattern.range(i).len()).max()
        });
        let most = degrees.into_iter().flatten().max().unwrap_or(0) as u128;
        Bounds {
            most,
            edges: pattern.nnz() as u128 / 2,
        }
    }

    /// Whether the sums over the edges of a node of that degree are whole numbers of f64.
    pub(super) fn are_whole(&self, degree: usize) -> bool {
        let degree = degree as u128;
        // No edge has more of any orbit.
        let most = (4 * self.edges).max((degree + self.most).pow(2));
        degree * most < WHOLE
    }
}

/// Sums of all orbit counts over the edges of a node to the neighbours `row`, modulo 2⁶⁴; `middle` are the sums of the primitives
/// of these edges.
///
/// With x = d − 1: Σ x_j, Σ x_j(x_j − 1)/2, Σ T_j and Σ S_j over the neighbours j are enough, since Σ_j t(i,j) d_j = Σ_j Q(i,j): both
/// add d_w for each triangle and each of its other nodes.
pub(super) fn node_sums(
    row: &[u32],
    own: End<Exact>,
    end: impl Fn(usize) -> End<Exact>,
    middle: Middle<Exact>,
) -> [Exact; Orbit::COUNT] {
    let (one, d) = (Wrapping(1), Wrapping(row.len() as u64));
    let [mut x, mut pairs, mut triangles, mut s] = [Wrapping(0); 4];
    for &j in row {
        let end = end(j as usize);
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
