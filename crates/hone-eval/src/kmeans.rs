//! k-means: Lloyd's iterations from k-means++ starts, the best of several.
//!
//! Reference: Arthur, Vassilvitskii. k-means++: the advantages of careful seeding, 2007.

use hone::dense::Block;
use hone::parallel;

use crate::random::Stream;

const STARTS: usize = 10;
const ITERATIONS: usize = 100;

/// The cluster, 0..k, of each row.
///
/// # Panics
/// When `k` is 0.
pub fn kmeans(x: &Block, k: usize, seed: u64) -> Vec<u32> {
    assert!(k > 0, "no clusters");
    if x.rows() == 0 {
        return Vec::new();
    }
    let runs: Vec<(f64, Vec<u32>)> = parallel::map(STARTS, |start| run(x, k, seed, start as u64));
    let best = runs.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    best.expect("there is at least one start").1
}

fn run(x: &Block, k: usize, seed: u64, start: u64) -> (f64, Vec<u32>) {
    let mut centers = seeds(x, k, &mut Stream::new(seed, "k-means", start));
    let mut cluster = vec![u32::MAX; x.rows()];
    let mut cost = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let found: Vec<(u32, f64)> = (0..x.rows()).map(|i| nearest(x.row(i), &centers)).collect();
        let next: Vec<u32> = found.iter().map(|f| f.0).collect();
        cost = found.iter().map(|f| f.1).sum();
        if next == cluster {
            break;
        }
        cluster = next;
        recenter(x, &cluster, &mut centers);
    }
    (cost, cluster)
}

/// Rows drawn one after another with chance proportional to the squared distance to the drawn.
fn seeds(x: &Block, k: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let point = |i: usize| x.row(i).iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
    let mut centers = vec![point(stream.below(x.rows()))];
    let mut far: Vec<f64> = vec![f64::INFINITY; x.rows()];
    while centers.len() < k {
        let last = &centers[centers.len() - 1..];
        (0..x.rows()).for_each(|i| far[i] = far[i].min(nearest(x.row(i), last).1));
        let mut left = stream.unit() * far.iter().sum::<f64>();
        let drawn = far.iter().position(|&d| {
            left -= d;
            left < 0.0
        });
        centers.push(point(drawn.unwrap_or_else(|| stream.below(x.rows()))));
    }
    centers
}

fn nearest(row: &[f32], centers: &[Vec<f64>]) -> (u32, f64) {
    let distance = |center: &Vec<f64>| {
        row.iter()
            .zip(center)
            .map(|(&a, b)| (f64::from(a) - b).powi(2))
            .sum::<f64>()
    };
    let all = centers.iter().map(distance).zip(0..);
    let (d, c) = all
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there is a center");
    (c, d)
}

/// Each center to the mean of its rows; a center without rows stays.
fn recenter(x: &Block, cluster: &[u32], centers: &mut [Vec<f64>]) {
    let mut sums = vec![vec![0.0; x.cols()]; centers.len()];
    let mut sizes = vec![0.0; centers.len()];
    for (i, &c) in cluster.iter().enumerate() {
        sizes[c as usize] += 1.0;
        sums[c as usize]
            .iter_mut()
            .zip(x.row(i))
            .for_each(|(s, &v)| *s += f64::from(v));
    }
    for ((center, sum), size) in centers.iter_mut().zip(sums).zip(sizes) {
        if size > 0.0 {
            *center = sum.iter().map(|s| s / size).collect();
        }
    }
}
