//! The leading right singular space of an operator: restarted block Krylov, or power iteration.
//!
//! If many products are affordable, a basis of several blocks is kept and restarted: one basis for a symmetric S
//! (block Lanczos), one on each side for any other (block bidiagonalisation). For only a few products a basis does not pay
//! off. With A = SᵀS, or S itself when S is symmetric, V = orth(A V) is then iterated (Halko, Martinsson, Tropp 2011), and a
//! Chebyshev polynomial of a symmetric S may follow: small for eigenvalues below those of V, steep beyond (Zhou, Saad
//! 2007). Wide blocks are lists of panels ([`panels`]). Power iterations, the filter and the last product go panel by
//! panel, in place: they hold one block and two panels or, if memory is short, only two panels and the others in files.
//! The residuals of a basis are estimates, which only end the iterations. Cost: an application of A (2 products, 1 if
//! symmetric) and O(N b² blocks) each iteration.

use super::svd::{NOISE, ZERO};
use crate::dense::{Eigen, Small, orthonormalize_in};
use crate::error::Result;
use crate::factor::{Info, Task};
use crate::operator::Operator;
use crate::random::Key;
use crate::space::{Fold, Map, Space, Workspace, panels, widths};
use crate::sparse::{Fused, Rounded};

/// Blocks in the basis before it is restarted.
pub(super) const DEPTH: usize = 4;

/// From this many iterations on, a basis is kept.
pub(super) const MANY: usize = 2 * DEPTH;

/// Maximum value of a Chebyshev polynomial: far from the limits of f32.
const LARGEST: f64 = 1e16;

/// The fraction of the tolerance at which iterations with a basis stop, so that measured residuals mostly meet it too.
const MARGIN: f64 = 0.7;

/// Blocks of more bytes do not fit into caches: power iterations round the values that their products gather
/// (see [`Rounded`]). Filters do not: they would amplify early errors.
const LARGE: usize = 1 << 24;

/// The component along the basis below which columns count as orthogonal to it, to f32 precision.
const ALONG: f64 = 1e-3;

/// Maximum number of projections of new columns.
const PROJECTIONS: usize = 4;

/// Whether rounding pays off for a block.
fn rounds(rows: usize, cols: usize) -> bool {
    rows * cols * size_of::<f32>() > LARGE && Rounded::words(cols) < cols
}

/// How the space is found, with at most so many applications of A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// By a restarted basis, until the tolerance is met.
    Basis(usize),
    /// By power iterations and a filter of this degree, in so many rounds.
    Filter(usize, usize, usize),
    /// By power iterations.
    Powers(usize),
}

/// An iteration with A = SᵀS, or S itself when S is symmetric, in some space; blocks are lists of panels.
pub(super) struct Subspace<'a, S: Space> {
    space: &'a S,
    s: &'a Operator,
    symmetric: bool,
    task: &'a Task<'a>,
    width: usize,
    /// The initial directions.
    start: Vec<S::Tall>,
    /// Whether power iterations round the values that their products gather.
    rounds: bool,
    work: Workspace<S::Tall>,
}

impl<'a, S: Space> Subspace<'a, S> {
    /// Begins with `width` random directions.
    pub(super) fn new(space: &'a S, s: &'a Operator, task: &'a Task<'a>, width: usize) -> Self {
        let key = task.key.with("sketch", 0);
        let draw = |range| space.random(s.cols(), range, key);
        Subspace {
            space,
            s,
            symmetric: s.is_symmetric(),
            task,
            width,
            start: panels(width).into_iter().map(draw).collect(),
            rounds: rounds(s.cols(), width),
            work: Workspace::default(),
        }
    }

    /// Orthonormal columns that span the space.
    pub(super) fn run(
        &mut self,
        plan: Plan,
        tolerance: f64,
        info: &mut Info,
    ) -> Result<Vec<S::Tall>> {
        let blocks = self.s.cols().min(self.s.rows()) / self.width.max(1);
        match plan {
            Plan::Basis(limit) if blocks > 1 => {
                let (full, tolerance) = (blocks.min(DEPTH), MARGIN * tolerance);
                match self.symmetric {
                    true => self.lanczos(limit, full, tolerance, info),
                    false => self.bidiagonal(limit, full, tolerance, info),
                }
            }
            Plan::Basis(limit) | Plan::Powers(limit) => self.power(limit, info),
            Plan::Filter(limit, degree, rounds) => {
                self.filtered(limit.max(1), (degree, rounds), info)
            }
        }
    }

    /// V and S V. If V is no longer needed, each panel of the product replaces its panel of V.
    pub(super) fn image(mut self, mut v: Vec<S::Tall>) -> Result<[Vec<S::Tall>; 2]> {
        if !self.task.right && self.s.rows() == self.s.cols() {
            let progress = self.task.progress;
            self.one_by_one(&mut v, |this, panel| {
                progress.check()?;
                let image = this.times(panel, false);
                this.work.give(std::mem::replace(panel, image));
                Ok(())
            })?;
            return Ok([Vec::new(), v]);
        }
        let y: Vec<S::Tall> = v.iter().map(|panel| self.times(panel, false)).collect();
        Ok([v, y])
    }

    /// S x, or Sᵀ x.
    fn times(&mut self, x: &S::Tall, transpose: bool) -> S::Tall {
        self.s.image(self.space, transpose, x, &mut self.work)
    }

    /// X ← A X, panel by panel.
    fn iterate(&mut self, x: &mut [S::Tall]) -> Result<()> {
        let progress = self.task.progress;
        self.one_by_one(x, |this, panel| {
            progress.check()?;
            let mut image = this.times(panel, false);
            if !this.symmetric {
                let back = this.times(&image, true);
                this.work.give(std::mem::replace(&mut image, back));
            }
            this.work.give(std::mem::replace(panel, image));
            Ok(())
        })
    }

    /// Changes one panel after the other. If memory is short, the others are in files meanwhile, and no buffers are
    /// kept for later products.
    fn one_by_one(
        &mut self,
        x: &mut [S::Tall],
        mut change: impl FnMut(&mut Self, &mut S::Tall) -> Result<()>,
    ) -> Result<()> {
        let Some(folder) = self.task.aside else {
            return x.iter_mut().try_for_each(|panel| change(self, panel));
        };
        let (space, last) = (self.space, x.len().saturating_sub(1));
        let mut others = x.iter_mut().skip(1);
        others.try_for_each(|panel| space.put_aside(panel, folder))?;
        for (at, panel) in x.iter_mut().enumerate() {
            space.bring_back(panel)?;
            change(self, panel)?;
            if at < last {
                space.put_aside(panel, folder)?;
            }
        }
        self.work.clear();
        x.iter_mut().try_for_each(|panel| space.bring_back(panel))
    }

    /// V ← orth(A V). Random directions are nearly orthogonal: only the last product needs more.
    fn power(&mut self, limit: usize, info: &mut Info) -> Result<Vec<S::Tall>> {
        let mut v = std::mem::take(&mut self.start);
        if limit < 2 {
            orthonormalize_in(self.space, &mut v);
        }
        self.work.rounds = self.rounds;
        while info.iterations < limit {
            info.iterations += 1;
            self.iterate(&mut v)?;
            self.orthonormalize(&mut v, info.iterations);
        }
        self.work.rounds = false;
        Ok(v)
    }

    /// Power iterations, one more, and V ← orth(T_m(S/c) V), c being the smallest singular value of S V before the last
    /// of them: |T_m| ≤ 1 up to c and grows fast beyond. V is rotated to singular vectors first, so that each column
    /// grows by its own factor and none is lost in rounding. Rounds instead of a higher degree keep it so.
    fn filtered(
        &mut self,
        limit: usize,
        (degree, rounds): (usize, usize),
        info: &mut Info,
    ) -> Result<Vec<S::Tall>> {
        let mut v = self.power(limit, info)?;
        self.work.rounds = self.rounds;
        self.iterate(&mut v)?;
        self.work.rounds = false;
        info.iterations += 1;
        let squares = leading(&self.space.gram(&v), self.width)?;
        let [most, least] = [squares.values.first(), squares.values.last()]
            .map(|value| value.map_or(0.0, |value| value.abs().sqrt()));
        if least <= NOISE * most {
            self.orthonormalize(&mut v, info.iterations);
            return Ok(v);
        }
        let mut rotation = squares.vectors;
        let inverse = |value: &f64| 1.0 / value.abs().sqrt();
        rotation.scale_columns(&squares.values.iter().map(inverse).collect::<Vec<_>>());
        self.space.transform(&mut v, &rotation);
        self.orthonormalize(&mut v, info.iterations);
        // The filter does not need the buffers of power iterations.
        self.work.clear();
        let degree = (LARGEST.ln() / (most / least).acosh()).clamp(1.0, degree as f64) as usize;
        for _ in 0..rounds {
            self.one_by_one(&mut v, |this, panel| this.chebyshev(panel, degree, least))?;
            info.iterations += degree;
            let lengths = self.space.fold(&v, Fold::Length);
            let inverse = |&n: &f64| if n > 0.0 { 1.0 / n } else { 0.0 };
            let factors: Vec<f64> = lengths.iter().map(inverse).collect();
            self.space.map(&mut v, &Map::Scale(&factors));
            self.orthonormalize(&mut v, info.iterations);
        }
        Ok(v)
    }

    /// X ← T_m(S/c) X for m = `degree`.
    fn chebyshev(&mut self, x: &mut S::Tall, degree: usize, c: f64) -> Result<()> {
        let (space, (rows, cols)) = (self.space, self.space.shape(x));
        let mut last = self.work.take(space, rows, cols);
        let then = Fused {
            scale: (1.0 / c) as f32,
            ..Fused::default()
        };
        let (s, work) = (self.s, &mut self.work);
        s.product(space, false, x, &mut last, then, work);
        for step in 1..degree {
            self.task.progress.check()?;
            // T_{m+1} = 2/c S T_m − T_{m−1} with signs + + − − + + …, so that the product can be added in place.
            let twice = (2.0 / c) as f32;
            let then = Fused {
                scale: if step % 2 == 1 { -twice } else { twice },
                accumulate: true,
                ..Fused::default()
            };
            s.product(space, false, &last, x, then, work);
            std::mem::swap(x, &mut last);
        }
        std::mem::swap(x, &mut last);
        work.give(last);
        Ok(())
    }

    /// Makes columns orthonormal; lost ones are drawn again, once.
    fn orthonormalize(&self, x: &mut [S::Tall], round: usize) {
        Basis::new(self.space, self.task.key).orthonormalize(x, round);
    }

    /// Leading eigenvectors of a symmetric S by magnitude: block Lanczos with thick restart.
    ///
    /// A basis Q of orthonormal blocks grows by F = (I − Q Qᵀ) S Q_last, and H = Qᵀ S Q is small. Its leading eigenvectors E
    /// give Ritz vectors X = Q E with S X = X Λ + F E_last: their residuals cost nothing. When the basis is full it is
    /// restarted as [X, orth(F)], which keeps the Krylov structure without wasting a product (Wu, Simon 2000; Musco, Musco
    /// 2015). Cost: one product and O(N b² blocks) each iteration.
    fn lanczos(
        &mut self,
        limit: usize,
        full: usize,
        tolerance: f64,
        info: &mut Info,
    ) -> Result<Vec<S::Tall>> {
        let mut basis = Basis::new(self.space, self.task.key);
        basis.grow(std::mem::take(&mut self.start), 0.0, 0);
        let width = basis.columns();
        let mut h = Small::zeros(0, 0);
        loop {
            self.task.progress.check()?;
            info.iterations += 1;
            let block = basis.last(width).iter();
            let mut outside: Vec<S::Tall> = block.map(|panel| self.times(panel, false)).collect();
            let part = basis.project(&mut outside);
            let known = h.rows();
            h = Small::from_fn(known + width, known + width, |i, j| {
                match (i < known, j < known) {
                    (true, true) => h.get(i, j),
                    (_, false) => part.get(i, j - known),
                    (false, true) => part.get(j, i - known),
                }
            });
            let last = info.iterations == limit;
            if last || h.rows() >= full * width {
                let ritz = leading(&h, width)?;
                let residual = residual(&self.space.gram(&outside), &ritz, self.task.rank);
                basis.restart(&ritz.vectors, &mut self.work);
                if last || residual <= tolerance {
                    return Ok(basis.finish(info.iterations));
                }
                h = Small::diagonal(&ritz.values);
            }
            basis.grow(outside, largest(&h), info.iterations);
        }
    }

    /// Leading right singular vectors of any S: block Golub–Kahan bidiagonalisation with thick restart.
    ///
    /// Two bases of orthonormal blocks grow in turn: P by (I − P Pᵀ) S Q_last, then Q by F = (I − Q Qᵀ) Sᵀ P_last. S Q = P B
    /// for the small B = Pᵀ S Q. Its singular triplets (E, σ, G) give U = P E and V = Q G with S V = U diag(σ) and
    /// Sᵀ U = V diag(σ) + F E_last: residuals cost nothing. Full bases are restarted as U and [V, orth(F)]
    /// (Golub, Luk, Overton 1981; Baglama, Reichel 2005). SᵀS is never formed: its rounding would be relative to σ₁², and
    /// singular values below 10⁻³ σ₁ would be lost in f32. Cost: two products and O(N b² blocks) each iteration; the memory
    /// of two bases.
    fn bidiagonal(
        &mut self,
        limit: usize,
        full: usize,
        tolerance: f64,
        info: &mut Info,
    ) -> Result<Vec<S::Tall>> {
        let key = self.task.key;
        let mut p = Basis::new(self.space, key.with("left", 1));
        let mut q = Basis::new(self.space, key.with("right", 0));
        q.grow(std::mem::take(&mut self.start), 0.0, 0);
        let width = q.columns();
        let mut b = Small::zeros(0, 0);
        loop {
            self.task.progress.check()?;
            info.iterations += 1;
            let block = q.last(width).iter();
            let mut image: Vec<S::Tall> = block.map(|panel| self.times(panel, false)).collect();
            let above = p.project(&mut image);
            p.grow(image, largest(&b).max(largest(&above)), info.iterations);
            let block = p.last(width).iter();
            let mut outside: Vec<S::Tall> = block.map(|panel| self.times(panel, true)).collect();
            let below = q.project(&mut outside);
            let known = b.rows();
            b = Small::from_fn(known + width, known + width, |i, j| {
                match (i < known, j < known) {
                    (true, true) => b.get(i, j),
                    (true, false) => above.get(i, j - known),
                    (false, _) => below.get(j, i - known),
                }
            });
            let last = info.iterations == limit;
            if last || b.rows() >= full * width {
                let triplets = b.svd()?;
                let ritz = Eigen {
                    values: triplets.sigma,
                    vectors: triplets.u.columns(width),
                };
                let residual = residual(&self.space.gram(&outside), &ritz, self.task.rank);
                q.restart(&triplets.v.columns(width), &mut self.work);
                if last || residual <= tolerance {
                    return Ok(q.finish(info.iterations));
                }
                p.restart(&ritz.vectors, &mut self.work);
                b = Small::diagonal(&ritz.values[..width]);
            }
            q.grow(outside, largest(&b), info.iterations);
        }
    }
}

/// The `count` leading eigenpairs by magnitude (of the mean with the transpose: its halves differ by rounding).
fn leading(h: &Small, count: usize) -> Result<Eigen> {
    Ok(h.symmetrized().eigen()?.by_magnitude(count))
}

/// The largest of the first residuals ‖F E_last‖, each relative to its value, from the Gram matrix of F; minus what rounding
/// of the products explains: no iteration would lower that. Values that count as zero have none.
fn residual(gram: &Small, ritz: &Eigen, rank: usize) -> f64 {
    let (n, width) = (ritz.vectors.rows(), gram.rows());
    let e = Small::from_fn(width, ritz.vectors.cols(), |i, j| {
        ritz.vectors.get(n - width + i, j)
    });
    let image = gram.times(&e);
    let square = |j: usize| -> f64 { (0..width).map(|i| e.get(i, j) * image.get(i, j)).sum() };
    let most = ritz.values.first().map_or(0.0, |value| value.abs());
    let beyond = |j: usize| match ritz.values[j].abs() {
        value if value > ZERO * most => (square(j).max(0.0).sqrt() - NOISE * most).max(0.0) / value,
        _ => 0.0,
    };
    (0..e.cols().min(rank)).map(beyond).fold(0.0, f64::max)
}

/// The largest entry.
fn largest(m: &Small) -> f64 {
    m.as_slice()
        .iter()
        .fold(0.0f64, |most, x| most.max(x.abs()))
}

/// A growing basis of orthonormal blocks. New directions are orthonormalised and projected alternately until the projection
/// finds nothing more: each step amplifies what the other leaves. Directions that are lost on the way are drawn again.
/// Cost: O(N b · columns of the basis) for each projection.
struct Basis<'a, S: Space> {
    space: &'a S,
    key: Key,
    /// The panels of all blocks, one block after the other.
    panels: Vec<S::Tall>,
}

impl<'a, S: Space> Basis<'a, S> {
    /// No columns yet.
    fn new(space: &'a S, key: Key) -> Self {
        Basis {
            space,
            key,
            panels: Vec::new(),
        }
    }

    fn columns(&self) -> usize {
        self.panels
            .iter()
            .map(|panel| self.space.shape(panel).1)
            .sum()
    }

    /// The columns, orthonormal once more.
    fn finish(mut self, round: usize) -> Vec<S::Tall> {
        let mut panels = std::mem::take(&mut self.panels);
        self.orthonormalize(&mut panels, round);
        panels
    }

    /// The panels of the last `width` columns.
    fn last(&self, width: usize) -> &[S::Tall] {
        &self.panels[self.panels.len() - panels(width).len()..]
    }

    /// QᵀX; its part is subtracted from X.
    fn project(&self, x: &mut [S::Tall]) -> Small {
        if self.panels.is_empty() {
            return Small::zeros(0, x.iter().map(|panel| self.space.shape(panel).1).sum());
        }
        let part = self.space.cross(&self.panels, x);
        self.space.subtract_times(x, &self.panels, &part);
        part
    }

    /// Restarts with as many columns as `turn` has: Q·turn. Blocks no longer needed are reused by the products.
    fn restart(&mut self, turn: &Small, work: &mut Workspace<S::Tall>) {
        let leading = self.space.times(&self.panels, turn, &widths(turn.cols()));
        self.panels
            .drain(..)
            .skip(leading.len())
            .for_each(|panel| work.give(panel));
        self.panels = leading;
    }

    /// Appends columns, made orthonormal, of which little more than noise may be left. `most` is the norm of
    /// the matrix they come from.
    fn grow(&mut self, mut x: Vec<S::Tall>, most: f64, round: usize) {
        // Amplified noise of the products would not stay orthogonal to the basis.
        self.keep_columns(&mut x, NOISE * most);
        self.orthonormalize(&mut x, round);
        self.panels.extend(x);
    }

    /// Makes columns orthonormal, also to the basis; lost ones are drawn again, once.
    fn orthonormalize(&self, x: &mut [S::Tall], round: usize) {
        let kept = self.clean(x);
        if kept.iter().all(|&kept| kept) {
            return;
        }
        let lost: Vec<bool> = kept.iter().map(|kept| !kept).collect();
        self.space.map(
            x,
            &Map::Redraw(&lost, self.key.with("refill", round as u64)),
        );
        self.clean(x);
    }

    /// Orthonormal columns, also orthogonal to the basis, or zero if little is left outside it, which would be
    /// amplified noise.
    fn clean(&self, x: &mut [S::Tall]) -> Vec<bool> {
        let mut kept = orthonormalize_in(self.space, x);
        for _ in 0..PROJECTIONS {
            if self.panels.is_empty() {
                break;
            }
            let part = self.project(x);
            self.keep_columns(x, 0.1);
            kept = orthonormalize_in(self.space, x);
            if largest(&part) <= ALONG {
                break;
            }
        }
        kept
    }

    /// Zeroes columns that are no longer than `floor`.
    fn keep_columns(&self, x: &mut [S::Tall], floor: f64) {
        let lengths = self.space.fold(x, Fold::Length);
        let kept: Vec<f64> = lengths
            .iter()
            .map(|&length| f64::from(u8::from(length > floor)))
            .collect();
        if kept.contains(&0.0) {
            self.space.map(x, &Map::Scale(&kept));
        }
    }
}

#[cfg(test)]
mod tests {
    //! Rounded power iterations and the filter, against exact ones on a graph with hubs.

    use super::*;
    use crate::matrix::{MotifMatrix, Psi};
    use crate::progress::Silent;
    use crate::random::Key;
    use crate::space::Host;
    use crate::sparse::Csr;
    use hone_graph::Generator;

    const WIDTH: usize = 24;

    /// W, D^-½ W D^-½, D^-1 W and its square, of a graph with hubs.
    fn skewed() -> [Operator; 4] {
        let quadrants = [0.57, 0.19, 0.19, 0.05];
        let graph = Generator::Rmat {
            nodes: 1 << 12,
            degree: 16.0,
            quadrants,
        }
        .graph(3, &Silent)
        .expect("a graph");
        let pattern = graph.pattern().clone();
        let ones = vec![1.0f32; pattern.nnz()];
        let w = Operator::symmetric("W", Csr::new(pattern, ones.into()));
        [(Psi::W, 1), (Psi::ANorm, 1), (Psi::P, 1), (Psi::P, 2)].map(|(psi, k)| {
            let matrix = MotifMatrix {
                psi,
                ..MotifMatrix::default()
            };
            matrix.operator(&w, k).expect("in range")
        })
    }

    fn task() -> Task<'static> {
        Task {
            rank: 16,
            right: false,
            key: Key::new(7),
            progress: &Silent,
            aside: None,
        }
    }

    /// Singular values of S in the span of V, largest first.
    fn values(mut space: Subspace<'_, Host>, plan: Plan) -> Vec<f64> {
        let mut info = Info::default();
        let v = space.run(plan, 0.0, &mut info).expect("finite");
        let (exact, rank) = (space.s.apply(&v[0]), space.task.rank);
        let [_, image] = space.image(v).expect("finite");
        assert_eq!(image, [exact], "the last product is exact");
        let squares = leading(&Host.gram(&image), rank).expect("finite").values;
        squares
            .iter()
            .map(|square| square.max(0.0).sqrt())
            .collect()
    }

    #[test]
    fn large_blocks_are_rounded_where_that_pays() {
        assert!(rounds(1_000_000, 24) && rounds(1_000_000, 128));
        assert!(!rounds(10_000, 24), "within the caches");
        assert!(!rounds(10_000_000, 16), "one line per row as it is");
        assert!(!Subspace::new(&Host, &skewed()[0], &task(), WIDTH).rounds);
    }

    #[test]
    fn rounding_moves_no_singular_value_by_a_thousandth() {
        let task = task();
        let plans = [Plan::Powers(2), Plan::Filter(2, 6, 1)];
        let symmetric = |(s, plan): &(&Operator, Plan)| s.is_symmetric() || *plan == plans[0];
        let all = skewed();
        let cases = all.iter().flat_map(|s| plans.map(|plan| (s, plan)));
        for (s, plan) in cases.filter(symmetric) {
            let [exact, rounded] = [false, true].map(|rounds| {
                let mut space = Subspace::new(&Host, s, &task, WIDTH);
                space.rounds = rounds;
                values(space, plan)
            });
            assert_ne!(exact, rounded, "{}", s.formula());
            for (j, (exact, rounded)) in exact.iter().zip(&rounded).enumerate() {
                let off = (rounded / exact - 1.0).abs();
                assert!(
                    off < 1e-3,
                    "{}, {plan:?}, value {j}: {rounded} {exact}",
                    s.formula()
                );
            }
        }
    }

    #[test]
    fn rounded_iterations_have_the_same_bits_for_any_number_of_threads() {
        let (task, operators) = (task(), skewed());
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            pool.install(|| {
                let mut space = Subspace::new(&Host, &operators[2], &task, WIDTH);
                space.rounds = true;
                space
                    .run(Plan::Powers(2), 0.0, &mut Info::default())
                    .expect("finite")
            })
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(5));
    }
}
