//! Skip-gram with negative sampling: parallel, free of races, and the same bits for any number of
//! threads.
//!
//! Nodes are dealt into P parts. A pool of samples (vertex, context, is it a true pair?) is sorted
//! into P × P blocks; then P rounds each train P blocks at once, block i on vertex part i and
//! context part (i + round) mod P, which no other block of the round touches (the scheme of
//! GraphVite, with negatives drawn from all nodes and not only from the block's part). P depends on
//! the number of nodes alone, so neither values nor order depend on threads. When vertices and
//! contexts are the same vectors (LINE's first order) the rounds are those of a round-robin
//! tournament of the parts.
//!
//! Samples of one vertex that follow each other are trained in groups of up to eight, in the manner
//! of word2vec, whose group is a pair with its negatives: all products are taken before anything
//! moves, so that none waits for another's step, and the vertex is read and written once per group.
//! A context that is twice in a group moves twice, the second time from where the first left it.
//! The last bits depend on the vector width of the machine.
//!
//! Cost of a sample: two passes of length D over its context, one and a bit over the vertex.
//! Memory: the two matrices and one pool.
//! References: Mikolov et al., Distributed representations of words and phrases, 2013; Zhu et al.,
//! GraphVite, 2019.

use hone::dense::Block;
use hone::parallel;
use hone::{Progress, Result};

use crate::random::Stream;

/// Samples of one pool are generated in chunks of this many units of work.
const CHUNK: u64 = 16;
/// Marks a true pair in the context index of a sample.
const TRUE: u32 = 1 << 31;
/// Samples of one vertex that are trained at once.
const GROUP: usize = 8;
/// Rows are padded with zeros to a multiple of this, two of the widest vectors: padding stays zero.
const PAD: usize = 32;

/// Pairs of a row of vertices and a row of contexts, which is marked if the pair is true.
type Samples = Vec<(u32, u32)>;

/// Constants of the training.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) dim: usize,
    pub(super) negatives: usize,
    pub(super) learning_rate: f64,
    /// Whether vertices and contexts are the same vectors.
    pub(super) tied: bool,
    pub(super) seed: u64,
}

/// The rows of the two matrices and the result.
pub(super) fn rows(dim: usize) -> (usize, u64) {
    (dim.saturating_add(PAD - 1), 3)
}

/// Bytes of a pool of so many true pairs; vectors that grow hold twice theirs.
pub(super) fn sample_bytes(pairs: u64, negatives: usize) -> u64 {
    let samples = pairs.saturating_mul(1 + negatives as u64);
    samples.saturating_mul(2 * size_of::<(u32, u32)>() as u64)
}

/// The two matrices in training, cut into `parts`.
pub(super) struct SkipGram {
    options: Options,
    /// Length of a padded row.
    stride: usize,
    parts: usize,
    /// The part of each node, and its row there.
    place: Vec<(u32, u32)>,
    vertices: Vec<Vec<f32>>,
    /// Empty when tied.
    contexts: Vec<Vec<f32>>,
    noise: Alias,
    sigmoid: Sigmoid,
}

/// Takes the true pairs of one chunk of work and adds their negatives.
pub(super) struct Sink<'a> {
    model: &'a SkipGram,
    blocks: Vec<Samples>,
    /// The random numbers of this chunk, free to use for other draws of the same chunk.
    pub(super) stream: Stream,
}

impl Sink<'_> {
    /// Adds a true pair and its negatives.
    #[inline]
    pub(super) fn pair(&mut self, vertex: u32, context: u32) {
        self.sample(vertex, context, TRUE);
        for _ in 0..self.model.options.negatives {
            let other = self.model.noise.draw(&mut self.stream);
            if other != context && (other != vertex || !self.model.options.tied) {
                self.sample(vertex, other, 0);
            }
        }
    }

    #[inline]
    fn sample(&mut self, vertex: u32, context: u32, mark: u32) {
        let SkipGram { place, parts, .. } = self.model;
        let ((p, v), (q, c)) = (place[vertex as usize], place[context as usize]);
        if self.model.options.tied && p > q {
            self.blocks[q as usize * parts + p as usize].push((c, v | mark));
        } else {
            self.blocks[p as usize * parts + q as usize].push((v, c | mark));
        }
    }
}

impl SkipGram {
    /// Fresh vectors: vertices uniform and small, contexts zero. Negatives are drawn by
    /// frequency^0.75.
    pub(super) fn new(frequency: &[f64], options: Options) -> Self {
        let (parts, place) = deal(frequency);
        let stride = options.dim.next_multiple_of(PAD);
        let size = place.len().div_ceil(parts) * stride;
        let mut vertices = vec![vec![0.0; size]; parts];
        for (node, &(part, row)) in place.iter().enumerate() {
            let mut stream = Stream::new(options.seed, "skip-gram start", node as u64);
            let at = row as usize * stride;
            for value in &mut vertices[part as usize][at..at + options.dim] {
                *value = (stream.unit() as f32 - 0.5) / options.dim as f32;
            }
        }
        let of_contexts = if options.tied { 0 } else { parts };
        SkipGram {
            options,
            stride,
            parts,
            place,
            vertices,
            contexts: vec![vec![0.0; size]; of_contexts],
            noise: Alias::new(frequency.iter().map(|f| f.powf(0.75))),
            sigmoid: Sigmoid::new(),
        }
    }

    /// Trains on `units` of work in about a hundred pools of at most `most` units; `emit` gives the true pairs of one unit. The
    /// learning rate falls linearly, pool by pool.
    pub(super) fn train(
        &mut self,
        units: u64,
        most: u64,
        progress: &dyn Progress,
        emit: impl Fn(u64, &mut Sink<'_>) + Sync,
    ) -> Result<()> {
        let pool = (units / 100).clamp(CHUNK, most).next_multiple_of(CHUNK);
        for start in (0..units).step_by(pool as usize) {
            progress.check()?;
            let end = (start + pool).min(units);
            let chunk = |at: usize| {
                let chunk = start / CHUNK + at as u64;
                let mut sink = Sink {
                    model: self,
                    blocks: vec![Vec::new(); self.parts * self.parts],
                    stream: Stream::new(self.options.seed, "skip-gram samples", chunk),
                };
                let units = chunk * CHUNK..((chunk + 1) * CHUNK).min(end);
                units.for_each(|unit| emit(unit, &mut sink));
                sink.blocks
            };
            let pools: Vec<Vec<Samples>> =
                parallel::map((end - start).div_ceil(CHUNK) as usize, chunk);
            let done = start as f64 / units as f64;
            let rate = self.options.learning_rate as f32 * (1.0 - done as f32).max(1e-4);
            match self.options.tied {
                true => self.tournament(&pools, rate),
                false => self.rounds(&pools, rate),
            }
            progress.advance(end - start);
        }
        Ok(())
    }

    fn rounds(&mut self, pools: &[Vec<Samples>], rate: f32) {
        let (parts, step) = (self.parts, Step::new(self.stride, rate, &self.sigmoid));
        for round in 0..parts {
            // Contexts stand rotated by `round`, so that neighbours in the zip belong together.
            let both = self.vertices.iter_mut().zip(&mut self.contexts).collect();
            parallel::each(both, &|p, (v, c): (&mut Vec<f32>, &mut Vec<f32>)| {
                step.train(pools, p * parts + (p + round) % parts, v, Some(c));
            });
            self.contexts.rotate_left(1);
        }
    }

    /// Each pair of parts meets once: part P−1 stays, the others move around the table.
    fn tournament(&mut self, pools: &[Vec<Samples>], rate: f32) {
        let (parts, step) = (self.parts, Step::new(self.stride, rate, &self.sigmoid));
        let all = self.vertices.iter_mut().collect();
        parallel::each(all, &|p, v: &mut Vec<f32>| {
            step.train(pools, p * parts + p, v, None);
        });
        for round in 0..parts - 1 {
            let mut seated: Vec<Option<&mut Vec<f32>>> =
                self.vertices.iter_mut().map(Some).collect();
            let matches = (0..parts / 2).map(|k| {
                let (a, b) = match k {
                    0 => (parts - 1, round),
                    _ => (
                        (round + k) % (parts - 1),
                        (round + parts - 1 - k) % (parts - 1),
                    ),
                };
                let (p, q) = (a.min(b), a.max(b));
                let mut take =
                    |part: usize| seated[part].take().expect("each part meets one other");
                (p * parts + q, take(p), take(q))
            });
            parallel::each(matches.collect(), &|_,
                                                (block, v, c): (
                usize,
                &mut Vec<f32>,
                &mut Vec<f32>,
            )| {
                step.train(pools, block, v, Some(c));
            });
        }
    }

    /// The vertex vectors, one row per node.
    pub(super) fn vectors(&self) -> Block {
        let dim = self.options.dim;
        let mut out = Block::zeros(self.place.len(), dim);
        for (node, &(part, row)) in self.place.iter().enumerate() {
            let at = row as usize * self.stride;
            out.row_mut(node)
                .copy_from_slice(&self.vertices[part as usize][at..at + dim]);
        }
        out
    }
}

/// Number of parts, and part and row of each node: dealt in turns by falling frequency, so that parts are equally busy.
fn deal(frequency: &[f64]) -> (usize, Vec<(u32, u32)>) {
    let n = frequency.len();
    let parts = match n {
        0..1_000 => 4,
        1_000..100_000 => 8,
        100_000..1_000_000 => 16,
        _ => 32,
    };
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by(|&a, &b| frequency[b as usize].total_cmp(&frequency[a as usize]));
    let mut place = vec![(0, 0); n];
    for (turn, &node) in order.iter().enumerate() {
        let (row, seat) = (turn / parts, turn % parts);
        let part = if row % 2 == 0 { seat } else { parts - 1 - seat };
        place[node as usize] = (part as u32, row as u32);
    }
    (parts, place)
}

/// Gradient descent with one learning rate.
#[derive(Clone, Copy)]
struct Step<'a> {
    arch: pulp::Arch,
    stride: usize,
    rate: f32,
    sigmoid: &'a Sigmoid,
}

impl<'a> Step<'a> {
    fn new(stride: usize, rate: f32, sigmoid: &'a Sigmoid) -> Self {
        let arch = pulp::Arch::new();
        Step {
            arch,
            stride,
            rate,
            sigmoid,
        }
    }

    /// Trains on a block of every pool; without contexts, both ends are rows of `vertices`.
    fn train(
        self,
        pools: &[Vec<Samples>],
        block: usize,
        vertices: &mut [f32],
        mut contexts: Option<&mut Vec<f32>>,
    ) {
        for pool in pools {
            self.arch.dispatch(Descent {
                samples: &pool[block],
                vertices,
                contexts: contexts.as_deref_mut().map(Vec::as_mut_slice),
                step: self,
            });
        }
    }
}

/// One block of one pool, compiled for the widest vectors the machine has.
struct Descent<'a> {
    samples: &'a [(u32, u32)],
    vertices: &'a mut [f32],
    contexts: Option<&'a mut [f32]>,
    step: Step<'a>,
}

impl pulp::WithSimd for Descent<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let (vertices, step, stride) = (self.vertices, self.step, self.step.stride);
        match self.contexts {
            Some(contexts) => {
                for run in self.samples.chunk_by(|a, b| a.0 == b.0) {
                    let vertex = &mut vertices[run[0].0 as usize * stride..][..stride];
                    for group in run.chunks(GROUP) {
                        learn(simd, vertex, contexts, group, step.rate, step.sigmoid);
                    }
                }
            }
            None => {
                for &(v, marked) in self.samples {
                    let (a, b) = (v as usize * stride, (marked & !TRUE) as usize * stride);
                    let (low, high) = vertices.split_at_mut(a.max(b));
                    let (vertex, context) = (&mut low[a.min(b)..][..stride], &mut high[..stride]);
                    let one = &[(0, marked & TRUE)];
                    learn(simd, vertex, context, one, step.rate, step.sigmoid);
                }
            }
        }
    }
}

/// One step of gradient descent on Σ −log σ(±v·c) over a group of contexts c of one vertex v.
#[inline(always)]
fn learn<S: pulp::Simd>(
    simd: S,
    vertex: &mut [f32],
    contexts: &mut [f32],
    group: &[(u32, u32)],
    rate: f32,
    sigmoid: &Sigmoid,
) {
    let stride = vertex.len();
    let mut pulls = [(0, simd.splat_f32s(0.0)); GROUP];
    for (pull, &(_, marked)) in pulls.iter_mut().zip(group) {
        let start = (marked & !TRUE) as usize * stride;
        let truth = if marked & TRUE != 0 { 1.0 } else { 0.0 };
        let error = truth - sigmoid.at(dot(simd, vertex, &contexts[start..start + stride]));
        *pull = (start, simd.splat_f32s(rate * error));
    }
    let (vectors, _) = S::as_mut_simd_f32s(vertex);
    for (k, v) in vectors.chunks_exact_mut(2).enumerate() {
        let old = [v[0], v[1]];
        let mut new = old;
        for &(start, pull) in &pulls[..group.len()] {
            let (c, _) = S::as_mut_simd_f32s(
                &mut contexts[start + 2 * k * S::F32_LANES..][..2 * S::F32_LANES],
            );
            for half in 0..2 {
                let context = c[half];
                new[half] = simd.mul_add_e_f32s(pull, context, new[half]);
                c[half] = simd.mul_add_e_f32s(pull, old[half], context);
            }
        }
        v.copy_from_slice(&new);
    }
}

/// The product of two rows, whose length is a multiple of [`PAD`].
#[inline(always)]
fn dot<S: pulp::Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [simd.splat_f32s(0.0); 2];
    let ((a, _), (b, _)) = (S::as_simd_f32s(a), S::as_simd_f32s(b));
    for (a, b) in a.chunks_exact(2).zip(b.chunks_exact(2)) {
        for half in 0..2 {
            sums[half] = simd.mul_add_e_f32s(a[half], b[half], sums[half]);
        }
    }
    simd.reduce_sum_f32s(simd.add_f32s(sums[0], sums[1]))
}

/// The logistic function by table on [−8, 8].
struct Sigmoid(Vec<f32>);

impl Sigmoid {
    fn new() -> Self {
        let value = |i| (1.0 / (1.0 + (8.0 - f64::from(i) / 256.0).exp())) as f32;
        Sigmoid((0..=4096).map(value).collect())
    }

    #[inline(always)]
    fn at(&self, x: f32) -> f32 {
        self.0[((x.clamp(-8.0, 8.0) + 8.0) * 256.0 + 0.5) as usize]
    }
}

/// Alias table over 0..n (Walker, Vose): draws from any discrete distribution in constant time.
#[derive(Debug, Clone)]
pub(super) struct Alias {
    /// Chance to keep the drawn slot, and who gets it otherwise.
    slots: Vec<(f32, u32)>,
}

impl Alias {
    /// A table for weights that are finite, not negative and not all zero.
    ///
    /// # Panics
    /// When they are not.
    pub(super) fn new(weights: impl ExactSizeIterator<Item = f64>) -> Self {
        let mut share: Vec<f64> = weights.collect();
        let total: f64 = share.iter().sum();
        assert!(
            total > 0.0 && total.is_finite() && share.iter().all(|&w| w >= 0.0),
            "weights of an alias table"
        );
        let n = share.len();
        share.iter_mut().for_each(|w| *w *= n as f64 / total);
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..n as u32).partition(|&i| share[i as usize] < 1.0);
        let mut slots: Vec<(f32, u32)> = (0..n as u32).map(|i| (1.0, i)).collect();
        while let (Some(&s), Some(&l)) = (small.last(), large.last()) {
            small.pop();
            slots[s as usize] = (share[s as usize] as f32, l);
            share[l as usize] -= 1.0 - share[s as usize];
            if share[l as usize] < 1.0 {
                large.pop();
                small.push(l);
            }
        }
        Alias { slots }
    }

    /// Draws one index.
    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        let bits = stream.bits();
        let slot = (((bits >> 32) * self.slots.len() as u64) >> 32) as usize;
        let coin = (bits & 0xff_ffff) as f32 / (1 << 24) as f32;
        let (keep, other) = self.slots[slot];
        if coin < keep { slot as u32 } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition in f64: the gradients of different contexts are taken at the vectors before the step.
    #[test]
    fn a_group_moves_along_the_sum_of_its_gradients() {
        let (dim, stride, rate) = (37, 64, 0.05);
        let value = |i: usize, k: usize| match k < dim {
            true => ((i * 37 + k * 11) % 23) as f32 / 23.0 - 0.5,
            false => 0.0,
        };
        let row = |i: usize| (0..stride).map(|k| value(i, k)).collect::<Vec<f32>>();
        let start: Vec<Vec<f32>> = (0..10).map(row).collect();
        let sigmoid = Sigmoid::new();
        for tied in [false, true] {
            // The vertex is row 9; tied samples are single steps, so one suffices.
            let truth = |c: usize| if c.is_multiple_of(3) { 1.0 } else { 0.0 };
            let contexts = if tied { 1 } else { GROUP };
            let sample = |c: usize| {
                let mark = if truth(c) > 0.0 { TRUE } else { 0 };
                (if tied { 9 } else { 0 }, c as u32 | mark)
            };
            let samples: Vec<(u32, u32)> = (0..contexts).map(sample).collect();
            let (mut rows, mut vertex) = (start[..9].concat(), start[9].clone());
            let step = Step::new(stride, rate, &sigmoid);
            let pools = [vec![samples]];
            if tied {
                rows.extend(&vertex);
                step.train(&pools, 0, &mut rows, None);
                vertex = rows[9 * stride..].to_vec();
            } else {
                step.train(&pools, 0, &mut vertex, Some(&mut rows));
            }
            let mut expected: Vec<f64> = start[9].iter().map(|&x| f64::from(x)).collect();
            for c in 0..contexts {
                let both = start[9].iter().zip(&start[c]);
                let product: f64 = both.map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
                let pull = f64::from(rate) * (truth(c) - 1.0 / (1.0 + (-product).exp()));
                for k in 0..stride {
                    expected[k] += pull * f64::from(start[c][k]);
                    let moved = f64::from(start[c][k]) + pull * f64::from(start[9][k]);
                    let found = f64::from(rows[c * stride + k]);
                    assert!((found - moved).abs() < 1e-4, "context {c}, tied {tied}");
                }
            }
            let mut both = vertex.iter().zip(&expected);
            assert!(
                both.all(|(g, w)| (f64::from(*g) - w).abs() < 1e-4),
                "tied {tied}"
            );
            assert!(vertex[dim..].iter().all(|&g| g == 0.0), "padding");
            let mut both = vertex.iter().zip(&start[9]);
            assert!(both.any(|(g, s)| (g - s).abs() > 5e-3), "something moved");
        }
    }
}
