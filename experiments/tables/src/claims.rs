//! Which claims of the paper hold: those of section 4, each next to our own figures and judged by a rule.
//!
//! | verdict | when |
//! |---|---|
//! | yes | as printed: in every case, or at least three quarters of the size |
//! | partly | in more than half of the cases, or smaller by more than a quarter but in the same direction |
//! | no | otherwise |

use std::fmt::Write;

use hone_eval::compare::Scores;
use hone_eval::stats::{LEVEL, smallest_p};

use crate::runtime::{Run, Times};

/// HONE of the paper, its baselines, and the variants with diffusion, as rows of [`crate::paper::TABLE_1`] and so on.
const VARIANTS: [&str; 5] = ["hone-w", "hone-p", "hone-l", "hone-l-norm", "hone-l-rw"];
const BASELINES: [&str; 5] = ["node2vec", "deepwalk", "line", "grarep", "spectral"];
const DIFFUSED: [&str; 5] = [
    "hone-w+x",
    "hone-p+x",
    "hone-l+x",
    "hone-l-norm+x",
    "hone-l-rw+x",
];
/// From random factors: from the SVD they would begin at the optimum.
const SOLVERS: [&str; 3] = [
    "hone-p:solver=als,local.solver.start=random,global.solver.start=random",
    "hone-p:solver=ccd,local.solver.start=random,global.solver.start=random",
    "hone-p:solver=autoencoder",
];
const STEPS: [&str; 4] = [
    "hone-w:steps=1",
    "hone-w:steps=2",
    "hone-w:steps=3",
    "hone-w:steps=4",
];
/// Vectors without the global stage.
const LOCAL: &str = "hone-p:vectors=local";

/// Methods that the claims need besides those of the tables.
pub(crate) fn further_methods() -> Vec<&'static str> {
    [&["hone-p"], &SOLVERS[..], &[LOCAL], &STEPS[..]].concat()
}

/// A claim of the paper and what we find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    /// What the paper says.
    pub(crate) text: &'static str,
    /// The paper's figure.
    pub(crate) paper: String,
    /// Ours.
    pub(crate) ours: String,
    /// Whether it holds.
    pub(crate) verdict: Verdict,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// As printed.
    Yes,
    /// The direction, not the size; or most cases, not all.
    Partly,
    /// Not at all.
    No,
}

impl Verdict {
    fn of_cases(held: usize, all: usize) -> Self {
        match held {
            _ if held == all => Verdict::Yes,
            _ if 2 * held > all => Verdict::Partly,
            _ => Verdict::No,
        }
    }

    fn of_size(ours: f64, paper: f64) -> Self {
        match ours {
            _ if ours >= 0.75 * paper => Verdict::Yes,
            _ if ours > 0.0 => Verdict::Partly,
            _ => Verdict::No,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Verdict::Yes => "yes",
            Verdict::Partly => "partly",
            Verdict::No => "no",
        }
    }
}

/// The figures that claims are judged by; a claim whose methods are absent is left out.
pub(crate) struct Evidence<'a> {
    /// Link prediction under the paper's operator: all methods of tables 1 to 3, and [`further_methods`].
    pub(crate) scores: &'a Scores,
    /// Run time of HONE-P and node2vec.
    pub(crate) times: &'a [Times],
}

impl Evidence<'_> {
    /// All claims that can be judged.
    pub(crate) fn claims(&self) -> Vec<Claim> {
        let (variants, baselines) = (self.find(&VARIANTS), self.find(&BASELINES));
        let mut claims = Vec::new();
        if let (Some(variants), Some(baselines)) = (&variants, &baselines) {
            claims.extend(self.wins(variants, baselines));
            claims.extend(self.significance(variants, baselines));
        }
        claims.extend(
            variants
                .as_deref()
                .map(|variants| self.best_variants(variants)),
        );
        claims.extend(
            baselines
                .as_deref()
                .map(|baselines| self.best_baseline(baselines)),
        );
        claims.extend(
            self.find(&["hone-p", LOCAL])
                .map(|pair| self.global_over_local(pair[0], pair[1])),
        );
        claims.extend(self.find(&SOLVERS).map(|solvers| self.solvers(&solvers)));
        if let (Some(variants), Some(diffused)) = (&variants, self.find(&DIFFUSED)) {
            claims.push(self.diffusion(&diffused, variants));
        }
        claims.extend(self.find(&STEPS).map(|steps| self.steps(&steps)));
        claims.extend(self.run_time());
        claims
    }

    /// Positions of methods that have scores of all graphs: by full name, else by the name before the options.
    fn find(&self, names: &[&str]) -> Option<Vec<usize>> {
        let position = |name: &&str| {
            let exact = self.scores.methods.iter().position(|method| method == name);
            exact.or_else(|| {
                self.scores
                    .methods
                    .iter()
                    .position(|method| method.split(':').next() == Some(name))
            })
        };
        let complete = |&method: &usize| {
            let mut graphs = self.scores.values[method].iter();
            graphs.all(|scores| !scores.is_empty())
        };
        let found = names.iter().map(|name| position(name).filter(complete));
        found.collect()
    }

    fn graphs(&self) -> usize {
        self.scores.graphs.len()
    }

    fn mean(&self, method: usize, graph: usize) -> f64 {
        self.scores.mean(method, graph).unwrap_or(f64::NAN)
    }

    /// Mean over all graphs.
    fn overall(&self, method: usize) -> f64 {
        (0..self.graphs())
            .map(|g| self.mean(method, g))
            .sum::<f64>()
            / self.graphs().max(1) as f64
    }

    /// The method of the highest mean, of some.
    fn best(&self, methods: &[usize], graph: usize) -> usize {
        let by_mean =
            |a: &&usize, b: &&usize| self.mean(**a, graph).total_cmp(&self.mean(**b, graph));
        *methods.iter().max_by(by_mean).expect("several methods")
    }

    fn wins(&self, variants: &[usize], baselines: &[usize]) -> Vec<Claim> {
        let mut gains = Vec::new();
        for (&v, &b) in variants
            .iter()
            .flat_map(|v| baselines.iter().map(move |b| (v, b)))
        {
            gains.extend((0..self.graphs()).map(|g| self.mean(v, g) / self.mean(b, g) - 1.0));
        }
        let (won, all) = (gains.iter().filter(|g| **g > 0.0).count(), gains.len());
        let mean = gains.iter().sum::<f64>() / all.max(1) as f64;
        let most = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let over = |&b: &usize| {
            let of = |&v: &usize| self.scores.gain(v, b).unwrap_or(f64::NAN);
            variants.iter().map(of).sum::<f64>() / variants.len() as f64
        };
        let by_baseline: Vec<f64> = baselines.iter().map(over).collect();
        let positive = by_baseline.iter().filter(|g| **g > 0.0).count();
        let list = |gains: &[f64]| {
            gains
                .iter()
                .map(|g| percent(*g))
                .collect::<Vec<_>>()
                .join(", ")
        };
        vec![
            Claim {
                text: "HONE outperforms the five baselines in all cases",
                paper: "every variant, every graph".into(),
                ours: format!("{won} of {all} pairs of variant and baseline, graph by graph"),
                verdict: Verdict::of_cases(won, all),
            },
            claim(
                "Mean gain in AUC over all baselines",
                "+19.19 %".into(),
                percent(mean),
                Verdict::of_size(mean, 0.1919),
            ),
            claim(
                "Largest gain",
                "+75.21 %".into(),
                percent(most),
                Verdict::of_size(most, 0.7521),
            ),
            Claim {
                text: "Mean gain over node2vec, DeepWalk, LINE, GraRep, Spectral",
                paper: "+10.64 %, +12.51 %, +13.75 %, +17.13 %, +41.94 %".into(),
                ours: list(&by_baseline),
                verdict: Verdict::of_cases(positive, by_baseline.len()),
            },
        ]
    }

    /// Nothing where there are too few graphs for any test.
    fn significance(&self, variants: &[usize], baselines: &[usize]) -> Option<Claim> {
        const PRINTED: f64 = 0.01;
        let (unit, units) = self.scores.units();
        let reached = |level: &f64| smallest_p(units) < *level;
        let level = [PRINTED, LEVEL].into_iter().find(reached)?;
        let better = |&(v, b): &(usize, usize)| {
            self.scores.test(v, b).p < level && self.overall(v) > self.overall(b)
        };
        let pairs: Vec<(usize, usize)> = variants
            .iter()
            .flat_map(|&v| baselines.iter().map(move |&b| (v, b)))
            .collect();
        let held = pairs.iter().filter(|pair| better(pair)).count();
        let mut ours = format!("{held} of {} pairs of variant and baseline", pairs.len());
        let mut verdict = Verdict::of_cases(held, pairs.len());
        if level > PRINTED {
            ours += &format!(" at p < {level}; {units} {unit}s cannot reach {PRINTED}");
            verdict = if verdict == Verdict::Yes {
                Verdict::Partly
            } else {
                verdict
            };
        }
        Some(Claim {
            text: "The gain is significant, p < .01, in all cases",
            paper: "all".into(),
            ours,
            verdict,
        })
    }

    fn best_variants(&self, variants: &[usize]) -> Claim {
        let mut order = variants.to_vec();
        order.sort_by(|&a, &b| self.overall(b).total_cmp(&self.overall(a)));
        let name = |&v: &usize| format!("{} {:.3}", base(&self.scores.methods[v]), self.overall(v));
        let best: Vec<&str> = order[..2]
            .iter()
            .map(|&v| base(&self.scores.methods[v]))
            .collect();
        let held = ["hone-w", "hone-p"]
            .iter()
            .filter(|v| best.contains(v))
            .count();
        Claim {
            text: "HONE-W and HONE-P are the best of the five variants",
            paper: "by mean AUC".into(),
            ours: order.iter().map(name).collect::<Vec<_>>().join(", "),
            verdict: Verdict::of_cases(held, 2),
        }
    }

    fn best_baseline(&self, baselines: &[usize]) -> Claim {
        let held = (0..self.graphs())
            .filter(|&g| base(&self.scores.methods[self.best(baselines, g)]) == "grarep")
            .count();
        Claim {
            text: "GraRep is the best baseline on most graphs",
            paper: "5 of 7 graphs".into(),
            ours: format!("{held} of {}", self.graphs()),
            verdict: if 2 * held > self.graphs() {
                Verdict::Yes
            } else {
                Verdict::No
            },
        }
    }

    fn global_over_local(&self, global: usize, local: usize) -> Claim {
        let held = (0..self.graphs())
            .filter(|&g| self.mean(global, g) > self.mean(local, g))
            .count();
        let gain = self.scores.gain(global, local).unwrap_or(f64::NAN);
        Claim {
            text: "Global vectors Z are better than local ones Y in most cases",
            paper: "no figures".into(),
            ours: format!(
                "{held} of {} graphs, mean gain {}",
                self.graphs(),
                percent(gain)
            ),
            verdict: if 2 * held > self.graphs() {
                Verdict::Yes
            } else {
                Verdict::No
            },
        }
    }

    fn solvers(&self, solvers: &[usize]) -> Claim {
        let spread = |g: usize| {
            let means = solvers.iter().map(|&s| self.mean(s, g));
            means.clone().fold(f64::NEG_INFINITY, f64::max) - means.fold(f64::INFINITY, f64::min)
        };
        let held = (0..self.graphs()).filter(|&g| spread(g) <= 0.01).count();
        let (widest, at) = (0..self.graphs())
            .map(|g| (spread(g), g))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((0.0, 0));
        let graph = self.scores.graphs.get(at).map_or("", String::as_str);
        Claim {
            text: "ALS, CCD and the autoencoder differ little (HONE-P)",
            paper: ".865, .865, .864 on rt-twitter-copen".into(),
            ours: format!(
                "within .01 on {held} of {} graphs; {widest:.3} apart on {graph}",
                self.graphs()
            ),
            verdict: Verdict::of_cases(held, self.graphs()),
        }
    }

    fn diffusion(&self, diffused: &[usize], variants: &[usize]) -> Claim {
        let gains: Vec<f64> = diffused
            .iter()
            .zip(variants)
            .map(|(&d, &v)| self.scores.gain(d, v).unwrap_or(f64::NAN))
            .collect();
        let held = gains.iter().filter(|g| **g > 0.0).count();
        Claim {
            text: "Attribute diffusion improves every variant (W, P, L, L̂, L̂rw)",
            paper: "+0.73 %, +1.58 %, +1.15 %, +1.99 %, +1.74 %".into(),
            ours: gains
                .iter()
                .map(|g| percent(*g))
                .collect::<Vec<_>>()
                .join(", "),
            verdict: Verdict::of_cases(held, gains.len()),
        }
    }

    fn steps(&self, steps: &[usize]) -> Claim {
        let first = self.overall(steps[0]);
        let most = steps[1..]
            .iter()
            .map(|&s| self.overall(s) - first)
            .fold(f64::NEG_INFINITY, f64::max);
        let mut ours: String =
            steps
                .iter()
                .zip(1..)
                .fold(String::from("mean AUC"), |mut text, (&s, k)| {
                    let _ = write!(
                        text,
                        "{} {:.3} for K = {k}",
                        if k > 1 { "," } else { "" },
                        self.overall(s)
                    );
                    text
                });
        ours.push_str("; W^k of an undirected graph has the singular vectors of W");
        Claim {
            text: "Steps beyond one help HONE-W",
            paper: "K searched from 1 to 4".into(),
            ours,
            verdict: if most > 0.01 {
                Verdict::Yes
            } else {
                Verdict::No
            },
        }
    }

    fn run_time(&self) -> Vec<Claim> {
        let of = |name: &str| self.times.iter().find(|times| base(&times.method) == name);
        let (Some(hone), Some(peer)) = (of("hone-p"), of("node2vec")) else {
            return Vec::new();
        };
        let mut claims = Vec::new();
        if let Some(exponent) = hone.exponent {
            let verdict = if exponent <= 1.1 {
                Verdict::Yes
            } else {
                Verdict::No
            };
            claims.push(claim(
                "Run time is linear in the nodes (exponent)",
                "1".into(),
                format!("{exponent:.2}"),
                verdict,
            ));
        }
        let both = |ours: &Run| {
            let theirs = peer.runs.iter().find(|run| run.nodes == ours.nodes)?;
            Some((ours.nodes, theirs.seconds / ours.seconds.max(1e-9)))
        };
        if let Some((nodes, ratio)) = hone.runs.iter().rev().find_map(both) {
            let verdict = if ratio > 1.0 {
                Verdict::of_size(ratio, 143.0)
            } else {
                Verdict::No
            };
            let ours = format!("{ratio:.0} times at {nodes} nodes");
            claims.push(claim(
                "Orders of magnitude faster than node2vec",
                "143 times at 10⁷ nodes".into(),
                ours,
                verdict,
            ));
        }
        claims
    }
}

fn claim(text: &'static str, paper: String, ours: String, verdict: Verdict) -> Claim {
    Claim {
        text,
        paper,
        ours,
        verdict,
    }
}

fn base(method: &str) -> &str {
    method.split(':').next().unwrap_or(method)
}

fn percent(gain: f64) -> String {
    format!("{:+.2} %", 100.0 * gain).replace('-', "−")
}

/// The claims as a section of a document; nothing if there is none.
pub(crate) fn markdown(claims: &[Claim]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "## Which claims of the paper hold\n\n\
         *Yes*: the claim holds in every case, or with at least three quarters of the printed size. *Partly*: it holds in \
         more than\nhalf of the cases, or with a smaller size in the same direction. An exponent of at most 1.1 counts as \
         linear. Figures are\nmeans over the seeds and graphs of the tables below.\n\n\
         | the paper's claim | its figure | ours | holds |\n|---|---|---|---|\n",
    );
    for Claim {
        text,
        paper,
        ours,
        verdict,
    } in claims
    {
        let _ = writeln!(
            out,
            "| {text} | {paper} | {ours} | **{}** |",
            verdict.name()
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of all methods on eight graphs, two seeds, from a rule.
    fn scores(value: impl Fn(&str) -> f64) -> Scores {
        let mut names = [&VARIANTS[..], &BASELINES[..], &DIFFUSED[..]].concat();
        names.extend(&further_methods()[1..]);
        let methods: Vec<String> = names.iter().map(ToString::to_string).collect();
        let values = methods
            .iter()
            .map(|m| {
                (0..8)
                    .map(|g| vec![value(m) - 0.01 * f64::from(g % 2); 2])
                    .collect()
            })
            .collect();
        let chosen = vec![vec![vec![String::new(); 2]; 8]; methods.len()];
        Scores {
            methods,
            graphs: (0..8).map(|g| g.to_string()).collect(),
            values,
            chosen,
        }
    }

    fn verdicts(scores: &Scores, times: &[Times]) -> Vec<(&'static str, Verdict)> {
        Evidence { scores, times }
            .claims()
            .into_iter()
            .map(|claim| (claim.text, claim.verdict))
            .collect()
    }

    #[test]
    fn a_world_like_the_papers_says_yes() {
        let like = scores(|name| match name {
            "hone-w:steps=4" => 0.95,
            "hone-p" => 0.91,
            "grarep" => 0.5,
            name if name.contains("+x") => 0.93,
            name if BASELINES.contains(&name) => 0.45,
            "hone-p:vectors=local" => 0.85,
            _ => 0.9,
        });
        let run = |method: &str, seconds: [f64; 2]| Times {
            method: method.into(),
            runs: vec![
                Run {
                    nodes: 1000,
                    seconds: seconds[0],
                },
                Run {
                    nodes: 10_000,
                    seconds: seconds[1],
                },
            ],
            exponent: Some(1.0),
        };
        let found = verdicts(
            &like,
            &[run("hone-p", [0.1, 1.0]), run("node2vec", [13.0, 140.0])],
        );
        assert_eq!(found.len(), 13);
        assert!(
            found.iter().all(|(_, verdict)| *verdict == Verdict::Yes),
            "{found:?}"
        );
    }

    #[test]
    fn a_world_without_differences_says_no() {
        let found = verdicts(&scores(|_| 0.7), &[]);
        let yes: Vec<&str> = found
            .iter()
            .filter(|f| f.1 != Verdict::No)
            .map(|f| f.0)
            .collect();
        assert!(
            yes.iter()
                .all(|text| text.contains("differ little") || text.contains("best of the five")),
            "{yes:?}"
        );
    }

    /// Six graphs cannot reach the printed level, five none at all, whatever the number of seeds; a method that failed on a graph is
    /// in no claim.
    #[test]
    fn tests_need_graphs() {
        let with = |graphs: usize, failed: bool| {
            let mut few = scores(|name| if VARIANTS.contains(&name) { 0.9 } else { 0.5 });
            few.graphs.truncate(graphs);
            few.values.iter_mut().for_each(|of| of.truncate(graphs));
            if failed {
                few.values[0][0].clear();
            }
            let found = verdicts(&few, &[]);
            let of = |text: &str| found.iter().find(|f| f.0.contains(text)).map(|f| f.1);
            (of("significant"), of("outperforms"))
        };
        assert_eq!(with(8, false), (Some(Verdict::Yes), Some(Verdict::Yes)));
        assert_eq!(with(6, false), (Some(Verdict::Partly), Some(Verdict::Yes)));
        assert_eq!(with(5, false), (None, Some(Verdict::Yes)));
        assert_eq!(with(8, true), (None, None));
    }

    #[test]
    fn claims_without_evidence_are_left_out() {
        let mut few = scores(|_| 0.7);
        few.methods.truncate(2);
        few.values.truncate(2);
        assert!(verdicts(&few, &[]).is_empty());
        assert_eq!(markdown(&[]), "");
        let all = Evidence {
            scores: &scores(|_| 0.7),
            times: &[],
        }
        .claims();
        assert_eq!(
            markdown(&all)
                .lines()
                .filter(|line| line.starts_with("| "))
                .count(),
            all.len() + 1
        );
    }
}
