//! Columns side by side: rare ones, and ones stored elsewhere, against one whole matrix.
#![allow(missing_docs)]

use crate::naive;

use std::ops::Range;
use std::sync::Arc;

use hone::dense::panels::Own;
use hone::dense::{Block, Columns, Group, Norm, Small, Stored, lane_rows};
use hone::random::Key;
use proptest::prelude::*;

/// Rows behind a wall: whoever wants them has to ask.
#[derive(Debug)]
struct Elsewhere(Block);

impl Stored for Elsewhere {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn cols(&self) -> usize {
        self.0.cols()
    }
    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        to.copy_from_slice(self.0.rows_slice(range));
    }
}

/// A group of `cols` columns with values in one of `every` rows (all when 1), twice scaled when odd.
fn group(rows: usize, cols: usize, every: u32, seed: u64, elsewhere: bool) -> Group {
    let numbers: Vec<u32> = (0..rows as u32)
        .filter(|i| (i + seed as u32).is_multiple_of(every))
        .collect();
    let block = Block::random(
        if every == 1 { rows } else { numbers.len() },
        cols,
        Key::new(seed),
    );
    let numbers = (every > 1).then_some(numbers);
    let group = match (elsewhere, numbers) {
        (true, numbers) => Group::stored(numbers, Arc::new(Elsewhere(block))),
        (false, Some(numbers)) => Group::partial(numbers, block),
        (false, None) => Group::full(block),
    };
    if seed % 2 == 1 {
        group.scaled(1.7).scaled(0.3)
    } else {
        group
    }
}

/// Everything that is computed of Y, as bits.
fn bits(y: &Columns, x: &Block, m: &Small) -> Vec<u64> {
    let mut numbers: Vec<f64> = y.gram().as_slice().to_vec();
    numbers.extend(y.cross(x).as_slice());
    numbers.extend(y.column_energy());
    y.groups()
        .iter()
        .for_each(|group| numbers.extend(group.column_means()));
    y.groups()
        .iter()
        .for_each(|group| numbers.extend(group.column_norms(Norm::Max)));
    numbers.extend(y.times(m).as_slice().iter().map(|&value| f64::from(value)));
    numbers.extend(
        y.to_block()
            .as_slice()
            .iter()
            .map(|&value| f64::from(value)),
    );
    numbers.into_iter().map(f64::to_bits).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn columns_are_one_matrix_wherever_they_are(
        rows in 1usize..6000,
        kinds in prop::collection::vec((0usize..5, prop::sample::select(vec![1u32, 2, 9, 40, 977]), any::<bool>()), 0..6),
    ) {
        let groups = |elsewhere: bool| {
            let of = |(seed, &(cols, every, other)): (usize, &(usize, u32, bool))| {
                group(rows, cols, every, seed as u64, elsewhere && other)
            };
            Columns::new(rows, kinds.iter().enumerate().map(of).collect())
        };
        let (held, spread) = (groups(false), groups(true));
        let x = Block::random(rows, 3, Key::new(77));
        let m = Small::from_fn(held.cols(), 4, |i, j| (i as f64 + 0.3) * (j as f64 - 1.2) / 5.0);
        prop_assert_eq!(bits(&held, &x, &m), bits(&spread, &x, &m));
        // The whole matrix, summed as it stands.
        let whole = naive::wide(&held.to_block());
        let (gram, product) = (held.gram(), held.times(&m));
        for i in 0..held.cols() {
            for j in 0..held.cols() {
                let sum: f64 = whole.iter().map(|row| row[i] * row[j]).sum();
                prop_assert!((gram.get(i, j) - sum).abs() < 1e-9, "({}, {}): {} and {}", i, j, gram.get(i, j), sum);
            }
        }
        for (i, row) in whole.iter().enumerate() {
            for j in 0..4 {
                let sum: f64 = row.iter().enumerate().map(|(k, value)| value * m.get(k, j)).sum();
                prop_assert!((f64::from(product.get(i, j)) - sum).abs() < 1e-4);
            }
        }
        prop_assert_eq!(held.stored(), spread.stored());
        prop_assert!(spread.memory() <= held.memory());
    }
}

#[test]
fn rare_columns_have_the_same_bits_for_any_number_of_threads() {
    let groups = [(6, 1, 2, false), (4, 50, 3, true), (5, 30, 4, false)];
    let groups =
        groups.map(|(cols, every, seed, elsewhere)| group(60_000, cols, every, seed, elsewhere));
    let y = Columns::new(60_000, groups.to_vec());
    let x = Block::random(60_000, 2, Key::new(1));
    let m = Small::from_fn(15, 7, |i, j| (i * j) as f64 / 9.0);
    naive::same_on_any_threads(|| bits(&y, &x, &m));
}

#[test]
fn rows_of_several_owners_add_up_to_the_bits_of_all() {
    for rows in [300usize, 1500, 20_000] {
        let groups = [
            (6, 1, 2, false),
            (4, 50, 3, true),
            (5, 30, 4, false),
            (3, 3, 6, true),
            (2, 1, 7, true),
        ];
        let groups =
            groups.map(|(cols, every, seed, elsewhere)| group(rows, cols, every, seed, elsewhere));
        let whole = Columns::new(rows, groups.to_vec());
        let m = Small::from_fn(whole.cols(), 7, |i, j| (i * j) as f64 / 9.0);
        let lanes = rows.div_ceil(lane_rows(rows));
        let at = |owner: usize| (owner * lanes / 3 * lane_rows(rows)).min(rows);
        let (mut gram, mut product, mut zero) = (
            Small::zeros(whole.cols(), whole.cols()),
            Vec::new(),
            Vec::new(),
        );
        for owner in 0..3 {
            let own = Own {
                rows,
                range: at(owner)..at(owner + 1),
            };
            let groups = groups.iter().map(|group| group.clone().part(&own.range));
            let part = Columns::part(own.clone(), groups.collect());
            part.gram_parts(part.own(), |lane| gram.add(&lane));
            product.extend_from_slice(part.times(&m).as_slice());
            zero.extend(
                part.zero_rows()
                    .into_iter()
                    .map(|row| own.range.start + row),
            );
            assert_eq!(
                part.column_energy(),
                whole.column_energy(),
                "lengths of all rows are known"
            );
        }
        assert_eq!(gram.as_slice(), whole.gram().as_slice(), "{rows}");
        assert_eq!(product, whole.times(&m).as_slice(), "{rows}");
        assert_eq!(zero, whole.zero_rows());
        let some: Vec<usize> = (0..rows)
            .filter(|row| row % 97 < 2 || row % 4096 > 4080)
            .collect();
        let read = whole.map_rows(&some, |row, values| (row, values.to_vec()));
        let mut row_of = vec![0.0; whole.cols()];
        assert!(read.len() == some.len() && whole.map_rows(&[], |row, _| row).is_empty());
        for (&row, (number, values)) in some.iter().zip(&read) {
            whole.read_row(row, &mut row_of);
            assert_eq!((row, &row_of), (*number, values));
        }
    }
}
