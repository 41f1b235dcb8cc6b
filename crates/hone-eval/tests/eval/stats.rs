//! Significance against SciPy and closed forms; comparisons of methods.

use hone_eval::compare::Scores;
use hone_eval::stats::{LEVEL, Summary, Wilcoxon, normal_p, smallest_p, student_p, wilcoxon};

/// Values of scipy.stats.t.sf, twice.
#[test]
fn student() {
    for (t, freedom, p) in [
        (1.0, 1, 0.5),
        (12.706204736432095, 1, 0.05),
        (1.0, 2, 0.42264973081037427),
        (-3.182446305284263, 3, 0.05),
        (2.7764451051977987, 4, 0.05),
        (2.2621571627409915, 9, 0.05),
        (0.7, 7, 0.5065175521956),
        (4.0, 10, 0.0025183326247366945),
        (0.0, 5, 1.0),
    ] {
        assert!(
            (student_p(t, freedom) - p).abs() < 1e-6,
            "{t} {freedom}: {}",
            student_p(t, freedom)
        );
    }
    assert_eq!(
        (student_p(f64::INFINITY, 4), student_p(f64::NAN, 4)),
        (0.0, 1.0)
    );
}

#[test]
fn summaries() {
    assert_eq!(Summary::of(&[]), None);
    let s = Summary::of(&[1.0, 2.0, 3.0, 4.0]).expect("values");
    assert!((s.mean - 2.5).abs() < 1e-12 && (s.std - 1.2909944487358056).abs() < 1e-12);
    assert_eq!(Summary::of(&[5.0]).expect("a value").std, 0.0);
}

/// scipy.stats.wilcoxon(a, b, method="exact").
#[test]
fn wilcoxon_is_scipys() {
    let a = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    #[allow(clippy::approx_constant, reason = "a published example, not π")]
    let b = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    assert!((wilcoxon(&a, &b).p - 0.0390625).abs() < 1e-12);
    assert_eq!(
        wilcoxon(&a, &a),
        Wilcoxon {
            p: 1.0,
            differing: 0
        }
    );
    // Ties: |d| = 1 1 1 2, all positive: two of sixteen outcomes are as extreme.
    assert!((wilcoxon(&[1.0, 1.0, 1.0, 2.0], &[0.0; 4]).p - 0.125).abs() < 1e-12);
}

/// Values of math.erfc(|z| / √2) in Python.
#[test]
fn normal() {
    for (z, p) in [
        (0.0, 1.0),
        (-0.5, 0.6170750774519739),
        (1.959963984540054, 0.05000000000000004),
        (2.8, 0.005110260660855874),
        (2.9, 0.003731626600768077),
        (-6.0, 1.9731752900754024e-9),
        (20.0, 5.507248237212663e-89),
    ] {
        assert!(
            (normal_p(z) / p - 1.0).abs() < 1e-11,
            "{z}: {}",
            normal_p(z)
        );
    }
}

/// Beyond fifty pairs the normal distribution takes over, and a thousand take no time.
#[test]
fn many_pairs_are_normal() {
    let test = |n: usize| {
        let a: Vec<f64> = (1..=n)
            .map(|i| if i % 3 == 0 { -(i as f64) } else { i as f64 })
            .collect();
        wilcoxon(&a, &vec![0.0; n])
    };
    // scipy.stats.wilcoxon(a): exact, and with method="approx", correction=False.
    assert!((test(50).p - 0.02616696817119646).abs() < 1e-12);
    assert!((test(51).p - 0.055852182035584695).abs() < 1e-12);
    let many = test(100_000);
    assert_eq!((many.p, many.differing), (0.0, 100_000));
}

#[test]
fn no_test_beats_the_smallest_p() {
    for n in 0..12 {
        let a: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
        assert!(
            (wilcoxon(&a, &vec![0.0; n]).p - smallest_p(n)).abs() < 1e-12,
            "{n}"
        );
    }
    assert!(smallest_p(5) > LEVEL && smallest_p(6) < LEVEL && smallest_p(1_000_000) >= 0.0);
}

fn scores() -> Scores {
    Scores {
        methods: vec!["a".into(), "b".into(), "c".into()],
        graphs: vec!["g".into(), "h".into()],
        values: vec![
            vec![vec![0.9, 0.9], vec![0.6, 0.6]],
            vec![vec![0.6, 0.6], vec![0.5, 0.5]],
            vec![vec![0.8, 1.0], vec![0.7, 0.7]],
        ],
        chosen: vec![
            vec![
                vec!["q=1".into(), "q=2".into()],
                vec!["q=2".into(), "q=2".into()],
            ],
            vec![vec![String::new(); 2]; 2],
            vec![vec![String::new(); 2]; 2],
        ],
    }
}

#[test]
fn gains_ranks_and_tests() {
    let scores = scores();
    assert!((scores.gain(0, 1).expect("measured") - 0.35).abs() < 1e-12);
    assert_eq!(scores.ranking(), ["c", "a", "b"]);
    let table = scores.gains("gain", &[0], &[1, 2]);
    assert_eq!(table.show(table.rows[0].1[0]), "+35.00%");
    let table = scores.table("AUC");
    assert_eq!(table.columns.len(), 3);
    assert_eq!(
        table.chosen,
        [(
            "a".to_string(),
            vec!["q=1 (1 of 2), q=2 (1)".to_string(), "q=2".to_string()]
        )]
    );
}

#[test]
fn significance_is_not_claimed_where_it_cannot_be() {
    let few = scores().significance("AUC", &[0], &[1]);
    assert!(
        few.rows.is_empty()
            && few.notes[0] == "Not tested: 2 graphs cannot reach p < 0.05; it takes 6.",
        "{few:?}"
    );
    // Seven graphs, on one of which `b` failed; and seven seeds of one graph. Each is a pair, whatever the other number.
    let of = |graphs: usize, seeds: usize| {
        let a = vec![vec![0.9; seeds]; graphs];
        let mut b = vec![vec![0.5; seeds]; graphs];
        if graphs > 1 {
            b[3].clear();
        }
        Scores {
            methods: vec!["a".into(), "b".into(), "c".into()],
            graphs: (0..graphs).map(|g| g.to_string()).collect(),
            values: vec![a.clone(), b, a],
            chosen: vec![vec![vec![String::new(); seeds]; graphs]; 3],
        }
    };
    for (scores, p, what) in [
        (of(7, 1), 0.03125, "means over its seeds"),
        (of(7, 50), 0.03125, "means over its seeds"),
        (of(1, 7), 0.015625, "not about other graphs"),
    ] {
        let table = scores.significance("AUC", &[0], &[1, 2]);
        assert!(
            (table.rows[0].1[0].expect("tested").mean - p).abs() < 1e-12,
            "{table:?}"
        );
        assert!(
            table.rows[0].1[1].is_none() && table.notes[0].contains("fewer than 6"),
            "equal scores: {table:?}"
        );
        assert!(table.notes[1].contains(what), "{table:?}");
    }
}

/// Gains of one graph have the interval of its splits, which is that of a sample drawn by hand, and no p-value.
#[test]
fn gains_on_one_graph_have_intervals_over_its_splits() {
    let of = |values: &[f64]| vec![values.to_vec(), values[..2].to_vec()];
    let scores = Scores {
        methods: vec!["hone".into(), "b".into()],
        graphs: vec!["10 %".into(), "50 %".into()],
        values: vec![of(&[0.6, 0.7, 0.8, 0.9]), of(&[0.5, 0.5, 0.5, 0.5])],
        chosen: vec![vec![vec![String::new(); 4]; 2]; 2],
    };
    let table = scores.gains_of_splits("gain", &[0], &[1]);
    assert_eq!(table.columns, ["10 %", "from", "to", "50 %", "from", "to"]);
    let (name, cells) = &table.rows[0];
    let cells: Vec<Option<f64>> = cells.iter().map(|cell| cell.map(|of| of.mean)).collect();
    assert_eq!(name, "hone over b");
    assert!((cells[0].expect("a gain") - 0.5).abs() < 1e-12);
    // All 256 samples of four splits: the means that 2.5 % of them are below, and above.
    let own = [0.6, 0.7, 0.8, 0.9];
    let mut all: Vec<f64> = (0..256)
        .map(|k| (0..4).map(|at| own[(k >> (2 * at)) & 3]).sum::<f64>() / 2.0 - 1.0)
        .collect();
    all.sort_by(f64::total_cmp);
    for (cell, exact) in [(cells[1], all[6]), (cells[2], all[249])] {
        // One step of means is 0.05.
        assert!(
            (cell.expect("an interval") - exact).abs() < 0.051,
            "{cell:?} {exact}"
        );
    }
    assert!(
        cells[3].is_some() && cells[4].is_none(),
        "two splits have no interval"
    );
    assert!(table.notes[1].contains("at least 3 seeds"), "{table:?}");
    assert!(table.notes[0].contains("no p-value"));
}
