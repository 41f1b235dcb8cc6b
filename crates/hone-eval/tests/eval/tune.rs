//! Settings for one graph: what is chosen, and what is not told from chance.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use hone::graph::{GraphBuilder, builtin};
use hone::message::Message;
use hone::{Config, Progress, Silent};
use hone_eval::cache::Cache;
use hone_eval::labels::NodeLabels;
use hone_eval::method::Method;
use hone_eval::pairs::PairOperator;
use hone_eval::random::Stream;
use hone_eval::split::Negatives;
use hone_eval::task::{LinkCell, LinkConfig, Setting, link};
use hone_eval::tune::{FIRST, Goal, Row, TuneOptions, Tuned};

fn judged(scores: &[&[f64]]) -> Tuned {
    let names = ["hone", "hone-p", "hone-w"].map(str::to_owned);
    let row = |(links, name): (&&[f64], &String)| Row {
        name: name.clone(),
        links: links.to_vec(),
        ..Row::default()
    };
    let rows = scores.iter().zip(&names).map(row).collect();
    let options = TuneOptions {
        candidates: names.to_vec(),
        ..TuneOptions::default()
    };
    let tuned = options.judge(rows, Goal::Links, scores[0].len() as u64);
    tuned.expect("presets")
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
            .to_string()
            .starts_with("hone-w is chosen: better by 0.050"),
        "{}",
        clear.verdict
    );
    let noise = judged(&[first, &[0.70; 5], &[0.85, 0.78, 0.83, 0.79, 0.83]]);
    assert_eq!((noise.best, noise.chosen), (2, 0));
    assert!(
        noise.verdict.to_string().contains("may be chance"),
        "{}",
        noise.verdict
    );
    let worse = judged(&[first, &[0.70; 5], &[0.75; 5]]);
    assert_eq!((worse.best, worse.chosen), (0, 0));
    for rounds in [1, 2] {
        let short = judged(&[&first[..rounds], &[0.7; 2][..rounds], &[0.9; 2][..rounds]]);
        assert_eq!((short.best, short.chosen), (2, 0));
        assert!(
            short.verdict.to_string().contains("cannot tell"),
            "{}",
            short.verdict
        );
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
    let mut stream = Stream::new(5, "noise", 0);
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
    let graph = builtin("karate").expect("built in");
    let run = |candidates: &[&str], goal, nodes: Option<u32>| {
        let labelled = |i: u32| (i, vec![["a", "b"][i as usize % 2]]);
        let rows = nodes.map(|nodes| (0..nodes).map(labelled).collect::<Vec<_>>());
        let labels = rows.map(|rows| NodeLabels::new(&rows).expect("two labels"));
        let options = TuneOptions {
            candidates: candidates.iter().map(|&text| text.to_owned()).collect(),
            goal,
            ..TuneOptions::default()
        };
        // No round is completed.
        options.run(&graph, labels.as_ref(), Some(Duration::ZERO), &Silent)
    };
    let slip = |candidates: &[&str]| {
        run(candidates, None, None)
            .expect_err("refused")
            .to_string()
    };
    for other in ["node2vec", "katz", "degrees", "file:x"] {
        let slip = slip(&["hone", other]);
        assert!(
            slip.contains("is not a preset; use one of hone, hone-w"),
            "{slip}"
        );
    }
    assert!(slip(&["hone"]).contains("at least two"));
    assert!(slip(&["hone", "hone:step=3"]).starts_with("candidates: "));
    assert!(slip(&["hone", "hone:steps=3"]).contains("`hone:steps=3` is given twice"));
    let by = |goal, nodes| run(&["hone", "hone-w"], goal, nodes).map(|tuned| tuned.goal);
    assert!(by(Some(Goal::Labels), None).is_err() && by(Some(Goal::Labels), Some(20)).is_ok());
    assert!(by(Some(Goal::Links), Some(20)).is_err() && by(None, Some(19)).is_err());
    assert_eq!(by(None, Some(20)).expect("labels"), Goal::Both);
    assert_eq!(by(None, None).expect("links"), Goal::Links);
}

/// Stops the work at a given step, when its time is up then, and keeps what is said.
struct Slow {
    left: AtomicU64,
    notes: Mutex<Vec<String>>,
}

impl Progress for Slow {
    fn advance(&self, _: u64) {
        if self.left.fetch_sub(1, Relaxed) == 1 {
            std::thread::sleep(TIME);
        }
    }

    fn note(&self, message: &Message) {
        self.notes
            .lock()
            .expect("one thread")
            .push(message.to_string());
    }
}

/// Long enough for four small embeddings on a slow machine.
const TIME: Duration = Duration::from_secs(6);

/// The candidates of an unfinished round that are complete are kept, are shown, and decide nothing; how long all take is said first.
#[test]
fn an_interrupted_round_keeps_what_is_complete() {
    let graph = builtin("karate").expect("built in");
    let names = ["hone:dim=8", "hone:dim=6", "hone:dim=4"].map(str::to_owned);
    let options = TuneOptions {
        candidates: names.to_vec(),
        rounds: 3,
        ..TuneOptions::default()
    };
    let tuned = |steps| {
        let progress = Slow {
            left: AtomicU64::new(steps),
            notes: Mutex::default(),
        };
        let tuned = options.run(&graph, None, Some(TIME), &progress);
        (
            tuned.expect("tuned"),
            progress.notes.into_inner().expect("one thread"),
        )
    };
    let whole = options.run(&graph, None, None, &Silent).expect("tuned");
    for steps in [2, 4] {
        let (part, notes) = tuned(steps);
        let (rounds, partial) = (steps / 3, steps % 3);
        assert_eq!((part.rounds, part.partial), (rounds, partial));
        for (at, (row, whole)) in part.rows.iter().zip(&whole.rows).enumerate() {
            let scores = rounds as usize + usize::from((at as u64) < partial);
            assert_eq!(row.links, whole.links[..scores]);
            assert!(row.difference.is_some() == (at > 0 && rounds > 0));
        }
        assert!(notes[0].starts_with("3 rounds take about "), "{notes:?}");
        let verdict = part.verdict.to_string();
        let nothing = "no round finished in 6s, so nothing was compared; hone:dim=8 stays. Try 41s (time_limit)";
        assert_eq!(verdict.starts_with(nothing), rounds == 0, "{verdict}");
    }
}

/// Directed graphs are judged as `hone eval link --directed` judges them, by the direction of arcs too.
#[test]
fn directed_graphs_are_judged_by_directions() {
    let build = |builder: GraphBuilder, both: bool| {
        let arcs = (2..120u32).flat_map(|i| [(i, i / 2), (i, i * 7 % (i - 1)), (i, i / 3)]);
        let mut arcs: Vec<(u32, u32)> = arcs.collect();
        if both {
            arcs.extend(arcs.clone().into_iter().map(|(u, v)| (v, u)));
        }
        builder.edges(arcs).build().expect("in range")
    };
    let names = ["hone:dim=8", "hone:dim=4"].map(str::to_owned);
    let methods = Method::parse_list(&names, false).expect("presets");
    let options = TuneOptions {
        candidates: names.to_vec(),
        rounds: 1,
        ..TuneOptions::default()
    };
    let operators = ["mean", "hadamard", "mean+hadamard+l1"];
    let plain = operators.map(|text| text.parse().expect("an operator"));
    let directed = PairOperator::usual_directed();
    for (graph, operators, negatives) in [
        (
            build(GraphBuilder::directed(120), false),
            &directed[..],
            Negatives::Mixed,
        ),
        // No arc can be turned around.
        (
            build(GraphBuilder::directed(120), true),
            &directed,
            Negatives::Random,
        ),
        (
            build(GraphBuilder::undirected(120), false),
            &plain,
            Negatives::Random,
        ),
    ] {
        let judged = |negatives| {
            let config = LinkConfig {
                removed: options.removed,
                operators: operators.to_vec(),
                negatives,
                ..LinkConfig::default()
            };
            let (none, seed) = (Cache::none(), options.seed + FIRST);
            let cells = link(
                &graph,
                &methods,
                &config,
                seed,
                Setting::new(&none, &Silent),
            );
            let auc = |cell: &hone::Result<LinkCell>| {
                cell.as_ref()
                    .expect("no method fails")
                    .validated()
                    .expect("an operator")
                    .auc
            };
            cells.expect("judged").iter().map(auc).collect::<Vec<f64>>()
        };
        let tuned = options.run(&graph, None, None, &Silent).expect("tuned");
        let found: Vec<f64> = tuned.rows.iter().map(|row| row.links[0]).collect();
        assert_eq!(found, judged(negatives));
        if negatives == Negatives::Mixed {
            assert_ne!(found, judged(Negatives::Random));
        }
    }
}
