//! Measures of prediction quality: AUC, average precision, accuracy, F1, NMI.
//!
//! Conventions are scikit-learn's, so that figures can be compared: ties in a ranking count half
//! in the AUC and form one threshold in the average precision; an F1 whose denominator is zero is
//! 0; NMI is normalised by the arithmetic mean of the entropies. Cost: one sort at most.

use rustc_hash::FxHashMap;

/// Area under the ROC curve, exact with ties: the chance that a positive outranks a negative, ties
/// counting half. `None` when a class is missing.
///
/// # Panics
/// When lengths differ or a score is NaN.
pub fn auc(scores: &[f64], labels: &[bool]) -> Option<f64> {
    let order = descending(scores, labels);
    let (positives, negatives) = class_sizes(labels);
    if positives == 0 || negatives == 0 {
        return None;
    }
    let (mut above, mut wins) = (0u64, 0.0);
    for tie in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let won = tie.iter().filter(|&&i| labels[i]).count() as u64;
        let lost = tie.len() as u64 - won;
        wins += lost as f64 * (above as f64 + won as f64 / 2.0);
        above += won;
    }
    Some(wins / (positives as f64 * negatives as f64))
}

/// Average precision: the sum over thresholds of precision times the gain in recall. `None` when
/// there is no positive.
///
/// # Panics
/// When lengths differ or a score is NaN.
pub fn average_precision(scores: &[f64], labels: &[bool]) -> Option<f64> {
    let order = descending(scores, labels);
    let (positives, _) = class_sizes(labels);
    if positives == 0 {
        return None;
    }
    let (mut taken, mut right, mut sum) = (0u64, 0u64, 0.0);
    for tie in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let gained = tie.iter().filter(|&&i| labels[i]).count() as u64;
        taken += tie.len() as u64;
        right += gained;
        sum += gained as f64 * right as f64 / taken as f64;
    }
    Some(sum / positives as f64)
}

fn descending(scores: &[f64], labels: &[bool]) -> Vec<usize> {
    assert_eq!(scores.len(), labels.len(), "one label a score");
    assert!(!scores.iter().any(|s| s.is_nan()), "a score is NaN");
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}

fn class_sizes(labels: &[bool]) -> (u64, u64) {
    let positives = labels.iter().filter(|&&l| l).count() as u64;
    (positives, labels.len() as u64 - positives)
}

/// Share of equal entries; 0 for no entries.
///
/// # Panics
/// When lengths differ.
pub fn accuracy<T: PartialEq>(truth: &[T], guess: &[T]) -> f64 {
    assert_eq!(truth.len(), guess.len(), "one guess per truth");
    let right = truth.iter().zip(guess).filter(|(t, g)| t == g).count();
    if truth.is_empty() {
        0.0
    } else {
        right as f64 / truth.len() as f64
    }
}

/// Micro and macro F1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct F1 {
    /// F1 of all decisions pooled.
    pub micro: f64,
    /// Mean over labels of each label's F1; a label neither true nor guessed anywhere counts 0.
    pub macro_: f64,
}

/// F1 of sets of labels: `truth[i]` and `guess[i]` hold the labels (below `labels`) of item i.
///
/// # Panics
/// When lengths differ or a label is not below `labels`.
pub fn f1(truth: &[Vec<u32>], guess: &[Vec<u32>], labels: usize) -> F1 {
    assert_eq!(truth.len(), guess.len(), "one guess per truth");
    let (mut hit, mut real, mut said) =
        (vec![0u64; labels], vec![0u64; labels], vec![0u64; labels]);
    for (truth, guess) in truth.iter().zip(guess) {
        truth.iter().for_each(|&l| real[l as usize] += 1);
        for &l in guess {
            said[l as usize] += 1;
            hit[l as usize] += u64::from(truth.contains(&l));
        }
    }
    let score = |hit: u64, total: u64| {
        if total == 0 {
            0.0
        } else {
            2.0 * hit as f64 / total as f64
        }
    };
    let micro = score(hit.iter().sum(), real.iter().chain(&said).sum());
    let each = (0..labels).map(|l| score(hit[l], real[l] + said[l]));
    let macro_ = if labels == 0 {
        0.0
    } else {
        each.sum::<f64>() / labels as f64
    };
    F1 { micro, macro_ }
}

/// Normalised mutual information of two clusterings, in [0, 1]; 1 when both are a single cluster.
///
/// # Panics
/// When lengths differ.
pub fn nmi(a: &[u32], b: &[u32]) -> f64 {
    assert_eq!(a.len(), b.len(), "one cluster an item in each clustering");
    let n = a.len() as f64;
    let (mut in_a, mut in_b, mut joint) = (
        FxHashMap::default(),
        FxHashMap::default(),
        FxHashMap::default(),
    );
    for (&x, &y) in a.iter().zip(b) {
        *in_a.entry(x).or_insert(0u64) += 1;
        *in_b.entry(y).or_insert(0u64) += 1;
        *joint.entry((x, y)).or_insert(0u64) += 1;
    }
    let (h_a, h_b) = (entropy(in_a.values(), n), entropy(in_b.values(), n));
    if in_a.len() <= 1 && in_b.len() <= 1 {
        return 1.0;
    }
    let mutual = h_a + h_b - entropy(joint.values(), n);
    (2.0 * mutual.max(0.0) / (h_a + h_b)).clamp(0.0, 1.0)
}

/// Entropy of cluster sizes, summed in a fixed order.
fn entropy<'a>(sizes: impl Iterator<Item = &'a u64>, n: f64) -> f64 {
    let mut sizes: Vec<u64> = sizes.copied().collect();
    sizes.sort_unstable();
    -sizes
        .iter()
        .map(|&s| s as f64 / n)
        .map(|p| p * p.ln())
        .sum::<f64>()
}
