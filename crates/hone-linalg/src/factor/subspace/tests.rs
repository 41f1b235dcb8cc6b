//! Rounded power iterations and the filter, against exact ones on a graph with hubs.

use super::*;
use crate::factor::svd_options::Iterations;
use crate::operator::{Diagonal, Scaled};
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
    let pattern = graph.pattern();
    let w = Operator::symmetric(
        "W",
        Csr::new(pattern.clone(), vec![1.0f32; pattern.nnz()].into()),
    );
    let degrees = |power: f32| -> Vec<f32> {
        (0..pattern.rows())
            .map(|i| (pattern.range(i).len().max(1) as f32).powf(power))
            .collect()
    };
    let scaled = |left, right| {
        Operator::Scaled(Scaled {
            shift: None,
            scale: 1.0,
            left,
            inner: w.clone().into(),
            right,
        })
    };
    let root = Diagonal::new("d^-1/2", degrees(-0.5));
    let walk = scaled(Some(Diagonal::new("d^-1", degrees(-1.0))), None);
    [
        w.clone(),
        scaled(Some(root.clone()), Some(root)),
        walk.clone(),
        Operator::power(walk, 2),
    ]
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
fn values(mut space: Subspace<'_, Host>, options: &Svd, limit: usize) -> Vec<f64> {
    let mut info = Info::default();
    let v = space.run(limit, options, &mut info).expect("finite");
    let (exact, rank) = (space.a.s.apply(&v[0]), space.task.rank);
    let image = space.image(v).expect("finite").y;
    assert_eq!(image, [exact], "the last product is exact");
    let squares = Ritz::of(&Host.gram(&image), rank).expect("finite").values;
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
    for (s, filter) in skewed().iter().flat_map(|s| [(s, 0), (s, 6)]) {
        let options = Svd {
            iterations: Iterations::AtMost(2),
            filter,
            ..Svd::default()
        };
        let [exact, rounded] = [false, true].map(|rounds| {
            let mut space = Subspace::new(&Host, s, &task, WIDTH);
            space.rounds = rounds;
            values(space, &options, 2)
        });
        assert_ne!(exact, rounded, "{}", s.formula());
        for (j, (exact, rounded)) in exact.iter().zip(&rounded).enumerate() {
            let off = (rounded / exact - 1.0).abs();
            assert!(
                off < 1e-3,
                "{}, filter {filter}, value {j}: {rounded} {exact}",
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
                .run(2, &Svd::default(), &mut Info::default())
                .expect("finite")
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

/// Most of what two iterations miss of the leading space is found.
#[test]
fn the_filter_sharpens_the_space() {
    let (task, [w, ..]) = (task(), skewed());
    let [plain, sharp, best] = [(0, 2), (8, 2), (0, 200)].map(|(filter, limit)| {
        let options = Svd {
            iterations: Iterations::AtMost(limit),
            filter,
            ..Svd::default()
        };
        let values = values(Subspace::new(&Host, &w, &task, WIDTH), &options, limit);
        values.iter().map(|value| value * value).sum::<f64>()
    });
    assert!(
        best - sharp < 0.05 * (best - plain),
        "{plain} {sharp} {best}"
    );
}

#[test]
fn a_filter_without_iterations_begins_with_one() {
    let (task, operators) = (task(), skewed());
    let options = Svd {
        iterations: Iterations::AtMost(0),
        filter: 16,
        ..Svd::default()
    };
    let found = values(
        Subspace::new(&Host, &operators[0], &task, WIDTH),
        &options,
        0,
    );
    assert!(
        found.iter().all(|value| value.is_finite() && *value > 0.0),
        "{found:?}"
    );
}
