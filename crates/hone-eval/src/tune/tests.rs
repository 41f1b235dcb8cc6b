//! Judgements of made-up scores, and slips.

use hone::graph::GraphBuilder;

use super::*;

fn judged(scores: &[&[f64]]) -> Tuned {
    let options = TuneOptions {
        candidates: vec!["hone".into(), "hone-p".into(), "hone-w".into()],
        ..Default::default()
    };
    let methods = options.methods().expect("presets");
    let rows = scores.iter().zip(&methods);
    let rows = rows
        .map(|(links, m)| Row {
            links: links.to_vec(),
            ..Row::new(&m.name)
        })
        .collect();
    options.judge(rows, &methods, By::Links, scores[0].len() as u64)
}

#[test]
fn a_clear_lead_is_taken_and_noise_is_not() {
    let first: &[f64] = &[0.80, 0.81, 0.79, 0.80, 0.82];
    let clear = judged(&[first, &[0.70; 5], &[0.850, 0.861, 0.841, 0.849, 0.870]]);
    assert_eq!((clear.best, clear.chosen), (2, 2));
    assert_eq!(clear.config, Config::preset("hone-w").expect("a preset"));
    assert!(
        clear
            .verdict
            .starts_with("hone-w is chosen: better by 0.050"),
        "{}",
        clear.verdict
    );
    let noise = judged(&[first, &[0.70; 5], &[0.85, 0.78, 0.83, 0.79, 0.83]]);
    assert_eq!((noise.best, noise.chosen), (2, 0));
    assert!(noise.verdict.contains("may be chance"), "{}", noise.verdict);
    let worse = judged(&[first, &[0.70; 5], &[0.75; 5]]);
    assert_eq!((worse.best, worse.chosen), (0, 0));
    for rounds in [1, 2] {
        let short = judged(&[&first[..rounds], &[0.7; 2][..rounds], &[0.9; 2][..rounds]]);
        assert_eq!((short.best, short.chosen), (2, 0));
        assert!(short.verdict.contains("cannot tell"), "{}", short.verdict);
    }
}

#[test]
fn a_noisy_leader_does_not_hide_a_sure_one() {
    let sure = [0.845, 0.846, 0.844, 0.845, 0.846];
    let tuned = judged(&[&[0.8; 5], &sure, &[0.95, 0.75, 0.90, 0.80, 0.87]]);
    assert_eq!((tuned.best, tuned.chosen), (2, 1));
}

#[test]
fn every_rival_makes_the_test_stricter() {
    // p lies between .025 and .05: enough against one rival, not against two.
    let (first, rival): ([f64; 5], _) = ([0.8; 5], [0.844, 0.824, 0.834, 0.854, 0.814]);
    let two = judged(&[&first, &[0.7; 5], &rival]);
    let p = two.rows[2].p.expect("five rounds");
    assert!(p > 0.025 && p < 0.05, "{p}");
    assert_eq!((two.level, two.chosen), (0.025, 0));
}

#[test]
fn equal_scores_keep_the_default_and_no_spread_is_no_proof() {
    let tied = judged(&[&[0.8, 0.8], &[0.8, 0.8], &[0.8, 0.8]]);
    assert_eq!((tied.best, tied.chosen), (0, 0));
    let constant = judged(&[&[0.8; 3], &[0.7; 3], &[0.802; 3]]);
    assert_eq!(
        (constant.best, constant.chosen),
        (2, 0),
        "{:?}",
        constant.rows
    );
}

/// Rivals that differ by noise alone are chosen in few of many trials.
#[test]
fn noise_is_rarely_chosen() {
    let mut stream = crate::random::Stream::new(5, "noise", 0);
    let mut scores = || -> Vec<f64> {
        (0..5)
            .map(|_| 0.8 + 1e-4 * stream.below(200) as f64)
            .collect()
    };
    let chosen = (0..400)
        .filter(|_| judged(&[&scores(), &scores(), &scores()]).chosen > 0)
        .count();
    assert!(chosen < 20, "{chosen} of 400");
}

#[test]
fn errors_are_those_of_repeated_splits() {
    let tuned = judged(&[&[0.8, 0.8, 0.8, 0.8], &[0.81, 0.83, 0.81, 0.83], &[0.7; 4]]);
    let (mean, error) = tuned.rows[1]
        .difference
        .zip(tuned.rows[1].error)
        .expect("a rival");
    // std² = 4/3 · 1e-4; 1/4 for four rounds, 1/4 for one edge hidden of each four that are left.
    assert!((mean - 0.02).abs() < 1e-12 && (error - (4.0e-4f64 / 3.0 * 0.5).sqrt()).abs() < 1e-12);
}

#[test]
fn slips_are_named() {
    let with = |candidates: &[&str]| {
        let candidates = candidates.iter().map(|&text| text.to_owned()).collect();
        TuneOptions {
            candidates,
            ..Default::default()
        }
        .methods()
        .expect_err("refused")
        .to_string()
    };
    for other in ["node2vec", "katz", "degrees", "file:x"] {
        assert!(
            with(&["hone", other]).contains("is not a preset; use one of hone, hone-w"),
            "{other}"
        );
    }
    assert!(with(&["hone"]).contains("at least two"));
    assert!(with(&["hone", "hone:step=3"]).starts_with("candidates: "));
    assert!(with(&["hone", "hone:steps=3"]).contains("`hone:steps=3` is given twice"));
    let labels = |nodes: u32| {
        let rows: Vec<_> = (0..nodes)
            .map(|i| (i, vec![["a", "b"][i as usize % 2]]))
            .collect();
        NodeLabels::new(&rows).expect("two labels")
    };
    let by = |by, nodes: Option<u32>| {
        TuneOptions {
            by,
            ..Default::default()
        }
        .decided_by(nodes.map(labels).as_ref())
    };
    assert!(by(Some(By::Labels), None).is_err() && by(Some(By::Labels), Some(20)).is_ok());
    assert!(by(Some(By::Links), Some(20)).is_err() && by(None, Some(19)).is_err());
    assert_eq!(
        (
            by(None, Some(20)).expect("labels"),
            by(None, None).expect("links")
        ),
        (By::Both, By::Links)
    );
}

/// Directed graphs are judged as `hone eval link --directed` judges them, by the direction of arcs too.
#[test]
fn directed_graphs_are_judged_by_directions() {
    let build = |directed, both: bool| {
        let arcs = (2..120u32).flat_map(|i| [(i, i / 2), (i, i * 7 % (i - 1)), (i, i / 3)]);
        let arcs = arcs
            .flat_map(|(u, v)| {
                if both {
                    vec![(u, v), (v, u)]
                } else {
                    vec![(u, v)]
                }
            })
            .collect();
        let builder = if directed {
            GraphBuilder::directed(120)
        } else {
            GraphBuilder::undirected(120)
        };
        builder.edges(arcs).build().expect("in range")
    };
    let candidates = ["hone:dim=8", "hone:dim=4"].map(str::to_owned).to_vec();
    let options = TuneOptions {
        candidates,
        rounds: 1,
        ..Default::default()
    };
    let config = |graph: &Graph| options.link_config(graph).expect("operators are known");
    let graph = build(true, false);
    assert_eq!(
        (config(&graph).negatives, config(&graph).operators),
        (Negatives::Mixed, PairOperator::usual_directed())
    );
    let judged = |config: LinkConfig| {
        let (methods, seed) = (options.methods().expect("presets"), options.first_seed);
        let cells = link(
            &graph,
            &methods,
            &config,
            seed,
            Setting::new(&Cache::none(), &hone::Silent),
        )
        .expect("judged");
        cells
            .iter()
            .filter_map(|cell| cell.as_ref().expect("no method fails").validated())
            .map(|outcome| outcome.auc)
            .collect::<Vec<_>>()
    };
    let tuned = options
        .run(&graph, None, None, &hone::Silent)
        .expect("tuned");
    let found: Vec<f64> = tuned.rows.iter().map(|row| row.links[0]).collect();
    assert_eq!(found, judged(config(&graph)));
    assert_ne!(
        found,
        judged(LinkConfig {
            negatives: Negatives::Random,
            ..config(&graph)
        })
    );
    assert_eq!(
        config(&build(true, true)).negatives,
        Negatives::Random,
        "no arc can be turned around"
    );
    let plain = config(&build(false, false));
    assert_eq!(
        (plain.negatives, plain.operators.len()),
        (Negatives::Random, OPERATORS.len())
    );
}
