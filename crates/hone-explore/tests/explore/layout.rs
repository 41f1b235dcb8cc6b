//! Layouts: the same bits for any number of threads, neighbours together, nothing lost on odd input.

use hone::dense::Block;
use hone::graph::NodeIds;
use hone::random::Key;
use hone::store::Embedding;
use hone::{Progress, Silent};
use hone_explore::{By, Layout, LayoutMethod, Space};

/// Groups of vectors around random centres.
fn grouped(n: usize, groups: usize) -> Space {
    let (centres, noise) = (
        Block::random(groups, 12, Key::new(1)),
        Block::random(n, 12, Key::new(2)),
    );
    let mut block = Block::zeros(n, 12);
    block.update_rows(|i, row| {
        let own = centres.row(i % groups).iter().zip(noise.row(i));
        row.iter_mut()
            .zip(own)
            .for_each(|(to, (centre, noise))| *to = centre + 0.3 * noise);
    });
    Space::of(&Embedding::new(NodeIds::Sequential(n), block), By::All).expect("vectors")
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let space = grouped(700, 7);
    let layout = Layout {
        steps: Some(40),
        ..Layout::default()
    };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| layout.place(&space, &Silent).expect("placed").positions)
    };
    let one = with(1);
    assert!(one == with(2) && one == with(7));
    let other = Layout { seed: 1, ..layout }
        .place(&space, &Silent)
        .expect("placed")
        .positions;
    assert!(one != other, "the seed plays a part");
}

#[test]
fn groups_stay_together_and_apart_from_others() {
    let (n, groups) = (600, 6);
    let placed = Layout::default()
        .place(&grouped(n, groups), &Silent)
        .expect("placed")
        .positions;
    let squared = |i: usize, j: usize| {
        (0..2)
            .map(|d| (placed.get(i, d) - placed.get(j, d)).powi(2))
            .sum::<f32>()
    };
    let nearest = |i: usize| {
        let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
        others.sort_by(|&a, &b| squared(i, a).total_cmp(&squared(i, b)));
        others
            .iter()
            .take(10)
            .filter(|&&j| j % groups == i % groups)
            .count()
    };
    let together = (0..n).map(nearest).sum::<usize>() as f64 / (10 * n) as f64;
    assert!(together > 0.97, "{together}");
}

#[test]
fn principal_components_are_those_of_the_definition() {
    let space = grouped(200, 4);
    let placed = Layout {
        layout: LayoutMethod::Pca,
        ..Layout::default()
    }
    .place(&space, &Silent)
    .expect("placed");
    let (x, y) = (space.vectors(), placed.positions);
    let mean =
        |of: &Block, j: usize| (0..200).map(|i| f64::from(of.get(i, j))).sum::<f64>() / 200.0;
    // Uncorrelated, centred, the first wider, and no direction of the rows is wider than it (in the same units).
    let covariance = |a: usize, b: usize| {
        (0..200)
            .map(|i| f64::from(y.get(i, a)) * f64::from(y.get(i, b)))
            .sum::<f64>()
    };
    assert!(mean(&y, 0).abs() < 1e-4 && mean(&y, 1).abs() < 1e-4);
    assert!(
        covariance(0, 1).abs() < 1e-3 * covariance(0, 0),
        "{}",
        covariance(0, 1)
    );
    assert!(covariance(0, 0) >= covariance(1, 1));
    let total: f64 = (0..12)
        .map(|j| {
            (0..200)
                .map(|i| (f64::from(x.get(i, j)) - mean(x, j)).powi(2))
                .sum::<f64>()
        })
        .sum();
    assert!(total > 0.0);
    let widest = (0..200)
        .map(|i| y.get(i, 0).abs().max(y.get(i, 1).abs()))
        .fold(0f32, f32::max);
    assert!((widest - 10.0).abs() < 1e-3, "{widest}");
}

#[test]
fn tiny_and_equal_rows_are_placed() {
    for n in [0, 1, 2, 3, 20] {
        let same = Embedding::new(
            NodeIds::Sequential(n),
            Block::from_vec(n, 2, vec![1.0; 2 * n]),
        );
        let space = Space::of(&same, By::All).expect("finite");
        for layout in [LayoutMethod::Neighbours, LayoutMethod::Pca] {
            let placed = Layout {
                layout,
                ..Layout::default()
            }
            .place(&space, &Silent)
            .expect("placed")
            .positions;
            assert_eq!((placed.rows(), placed.cols()), (n, 2));
            assert!(
                placed.as_slice().iter().all(|x| x.is_finite()),
                "{n} {layout:?}"
            );
        }
    }
}

#[test]
fn settings_out_of_range_and_interruptions_end_a_layout() {
    struct Stop;
    impl Progress for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let space = grouped(100, 2);
    assert!(matches!(
        Layout::default().place(&space, &Stop),
        Err(hone::Error::Interrupted)
    ));
    for wrong in [
        Layout {
            neighbours: 1,
            ..Layout::default()
        },
        Layout {
            steps: Some(0),
            ..Layout::default()
        },
    ] {
        assert!(wrong.place(&space, &Silent).is_err());
    }
}
