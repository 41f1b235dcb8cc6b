//! ‖S‖², exact or estimated.

use hone_graph::Generator;
use hone_linalg::Silent;
use hone_linalg::dense::Block;
use hone_linalg::operator::Operator;
use hone_linalg::random::Key;
use hone_linalg::sparse::Csr;

/// Exact where rows are cheap to read, or the matrix is small; near it otherwise.
#[test]
fn norms_are_those_of_the_entries() {
    for (n, power, exact) in [
        (300, 1, true),
        (300, 40, true),
        (3000, 2, true),
        (3000, 5, false),
    ] {
        let nodes = n as u64;
        let graph = Generator::Ba { nodes, degree: 8.0 }.graph(5, &Silent);
        let pattern = graph.expect("a graph").pattern().clone();
        let degree = |i: usize| (pattern.range(i).len().max(1) as f32).recip();
        let values: Vec<f32> = (0..n)
            .flat_map(|i| vec![degree(i); pattern.range(i).len()])
            .collect();
        let s = Operator::power(
            Operator::sparse("P", Csr::new(pattern, values.into())),
            power,
        );
        let key = Key::new(3);
        let leading = || s.apply_transposed(&s.apply(&Block::random(s.cols(), 16, key)));
        let found = s.energy(key, leading);
        assert_eq!(found.exact, exact, "{n} nodes, power {power}");
        // Powers by repeated squaring of the rows would be slow: products with the unit vectors of some columns.
        let unit = Block::from(&hone_linalg::dense::Small::identity(n));
        let truth: f64 = s
            .apply(&unit)
            .as_slice()
            .iter()
            .map(|&x| f64::from(x).powi(2))
            .sum();
        let bound = if exact { 1e-5 } else { 0.03 };
        assert!(
            (found.value / truth - 1.0).abs() < bound,
            "{found:?}, not {truth}"
        );
    }
}
