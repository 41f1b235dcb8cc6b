//! Comparisons of methods over many graphs: gains, ranks, significance (tables 1 to 3 of the paper).

use crate::random::Stream;
use crate::report::{Best, Plot, Style, Table};
use crate::stats::{LEVEL, Summary, Wilcoxon, smallest_p, wilcoxon};

/// Scores of all methods: `scores[method][graph][seed]`.
#[derive(Debug, Clone)]
pub struct Scores {
    /// Names of the methods.
    pub methods: Vec<String>,
    /// Names of the graphs.
    pub graphs: Vec<String>,
    /// Score of each method, graph and seed; no scores for a graph on which the method failed.
    pub values: Vec<Vec<Vec<f64>>>,
    /// What validation chose for each of them; empty texts where there was no choice.
    pub chosen: Vec<Vec<Vec<String>>>,
}

impl Scores {
    /// The values of each method and graph, seed by seed, with what validation chose.
    pub(crate) fn of_cells(
        methods: &[String],
        graphs: &[String],
        cells: impl Fn(usize, usize) -> Vec<(f64, String)>,
    ) -> Scores {
        let of = |m| {
            (0..graphs.len())
                .map(|g| cells(m, g).into_iter().unzip())
                .unzip()
        };
        let (values, chosen) = (0..methods.len()).map(of).unzip();
        Scores {
            methods: methods.to_vec(),
            graphs: graphs.to_vec(),
            values,
            chosen,
        }
    }

    /// Mean ± std of every method on every graph, with the rank by mean gain as last column.
    pub fn table(&self, title: &str) -> Table {
        let mut table = self.unranked(title);
        if self.graphs.len() > 1 && self.methods.len() > 1 {
            table.columns.push("mean".to_string());
            for (_, cells) in &mut table.rows {
                let means: Vec<f64> = cells.iter().flatten().map(|s| s.mean).collect();
                let mean = Summary::of(&means).map(|s| s.mean);
                cells.push(mean.and_then(|mean| Summary::of(&[mean])));
            }
            let ranking = self.ranking().join(", ");
            let note = format!("Rank by mean gain over all others: {ranking}.");
            table.notes.push(note);
        }
        table
    }

    /// Mean ± std of every method on every graph.
    pub(crate) fn unranked(&self, title: &str) -> Table {
        let mut table = Table::new(title, self.graphs.clone());
        for ((name, values), chosen) in self.methods.iter().zip(&self.values).zip(&self.chosen) {
            let cells = values.iter().map(|seeds| Summary::of(seeds)).collect();
            table.rows.push((name.clone(), cells));
            let texts: Vec<String> = chosen.iter().map(|seeds| most_frequent(seeds)).collect();
            if texts.iter().any(|text| !text.is_empty()) {
                table.chosen.push((name.clone(), texts));
            }
        }
        table
    }

    /// One line per method over the graphs, with names of both axes.
    pub fn plot(&self, title: &str, axes: [&str; 2]) -> Plot {
        let line = |m: usize| {
            let mean = |g: usize| Some((g as f64, self.mean(m, g)?));
            let points = (0..self.graphs.len()).filter_map(mean).collect();
            (self.methods[m].clone(), points)
        };
        Plot {
            title: title.to_string(),
            axes: (axes[0].to_string(), axes[1].to_string()),
            log: (false, false),
            ticks: self.graphs.clone(),
            lines: (0..self.methods.len()).map(line).collect(),
        }
    }

    /// Mean over the seeds.
    pub fn mean(&self, method: usize, graph: usize) -> Option<f64> {
        Summary::of(&self.values[method][graph]).map(|s| s.mean)
    }

    /// Mean over graphs of the relative gain of `a` over `b`.
    pub fn gain(&self, a: usize, b: usize) -> Option<f64> {
        let of = |g: usize| Some((self.mean(a, g)? - self.mean(b, g)?) / self.mean(b, g)?);
        let gains: Vec<f64> = (0..self.graphs.len()).filter_map(of).collect();
        Summary::of(&gains).map(|s| s.mean)
    }

    /// Names by falling mean gain over all other methods.
    pub fn ranking(&self) -> Vec<String> {
        let total = |a: usize| {
            let gains: Vec<f64> = (0..self.methods.len())
                .filter(|&b| b != a)
                .filter_map(|b| self.gain(a, b))
                .collect();
            gains.iter().sum::<f64>() / gains.len().max(1) as f64
        };
        let mut order: Vec<usize> = (0..self.methods.len()).collect();
        order.sort_by(|&a, &b| total(b).total_cmp(&total(a)));
        order.into_iter().map(|m| self.methods[m].clone()).collect()
    }

    /// Mean gain of each of `rows` over each of `columns`.
    pub fn gains(&self, title: &str, rows: &[usize], columns: &[usize]) -> Table {
        let name = |&m: &usize| self.methods[m].clone();
        let mut table = Table::new(title, columns.iter().map(name).collect());
        table.best = if rows.len() > 1 {
            Best::Highest
        } else {
            Best::Unmarked
        };
        table.style = Style::Percent;
        for row in rows {
            let cells = columns
                .iter()
                .map(|&c| self.gain(*row, c).and_then(|g| Summary::of(&[g])))
                .collect();
            table.rows.push((name(row), cells));
        }
        table
    }

    /// Gain of each of `rows` over each of `columns`, one column of the table per setting of one graph, with the interval that holds
    /// 95 % of the gains when its splits are drawn again with replacement. Splits of a graph share its nodes, so there is no test.
    pub fn gains_of_splits(&self, title: &str, rows: &[usize], columns: &[usize]) -> Table {
        let heads = self.graphs.iter();
        let heads = heads.flat_map(|head| [head.clone(), "from".to_owned(), "to".to_owned()]);
        let mut table = Table::new(title, heads.collect());
        (table.best, table.style) = (Best::Unmarked, Style::Percent);
        for (&a, &b) in rows
            .iter()
            .flat_map(|a| columns.iter().map(move |b| (a, b)))
        {
            if a == b {
                continue;
            }
            let cells = (0..self.graphs.len()).flat_map(|g| {
                let (own, other) = (&self.values[a][g], &self.values[b][g]);
                let interval = interval(own, other);
                let all = [
                    gain(own, other),
                    interval.map(|of| of[0]),
                    interval.map(|of| of[1]),
                ];
                all.map(|value| value.and_then(|value| Summary::of(&[value])))
            });
            let name = format!("{} over {}", self.methods[a], self.methods[b]);
            table.rows.push((name, cells.collect()));
        }
        table.notes.push(
            "from, to: 95 % of the gains when the splits of this graph are drawn again (bootstrap). They say how far a gain depends \
             on the split, not what another graph would give, and no p-value is given: splits share nodes."
                .into(),
        );
        if table.rows.iter().any(|(_, cells)| cells.contains(&None)) {
            let note = format!("–: from and to take at least {LEAST_SPLITS} seeds.");
            table.notes.push(note);
        }
        table
    }

    /// What the pairs of a test are, and how many there are: graphs, whose seeds are averaged because they are no independent
    /// samples, or, of one graph, its seeds.
    pub fn units(&self) -> (&'static str, usize) {
        match &self.graphs[..] {
            [_] => {
                let seeds = self.values.iter().map(|graphs| graphs[0].len());
                ("seed", seeds.max().unwrap_or(0))
            }
            graphs => ("graph", graphs.len()),
        }
    }

    /// Wilcoxon's signed-rank test of two methods over the graphs that both have scores of; of one graph, over its seeds.
    pub fn test(&self, a: usize, b: usize) -> Wilcoxon {
        let of = |method: usize, g: usize| match self.graphs.len() {
            1 => self.values[method][0].get(g).copied(),
            _ => self.mean(method, g),
        };
        let pairs = (0..self.units().1).filter_map(|g| Some((of(a, g)?, of(b, g)?)));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
        wilcoxon(&a, &b)
    }

    /// Two-sided p-values of Wilcoxon's signed-rank test over graphs, or over the seeds of one graph. Where there are too few
    /// for the test to reach the usual level, the table says so and has no rows.
    pub fn significance(&self, what: &str, rows: &[usize], columns: &[usize]) -> Table {
        let name = |&m: &usize| self.methods[m].clone();
        let (unit, pairs) = self.units();
        let title = format!("Wilcoxon signed-rank test over {unit}s, p ({what})");
        let mut table = Table::new(title, columns.iter().map(name).collect());
        (table.best, table.style) = (Best::Unmarked, Style::Significant);
        let enough = (1..)
            .find(|&n| smallest_p(n) < LEVEL)
            .expect("it falls by half each time");
        if pairs < enough {
            table.notes.push(format!(
                "Not tested: {pairs} {unit}{} cannot reach p < {LEVEL}; it takes {enough}.",
                if pairs == 1 { "" } else { "s" }
            ));
            return table;
        }
        for &row in rows {
            let test = |&c: &usize| self.test(row, c);
            let shown = |c: &usize| {
                Some(test(c))
                    .filter(|t| t.differing >= enough)
                    .and_then(|t| Summary::of(&[t.p]))
            };
            table
                .rows
                .push((name(&row), columns.iter().map(shown).collect()));
        }
        if table.rows.iter().any(|(_, cells)| cells.contains(&None)) {
            table.notes.push(format!(
                "–: fewer than {enough} pairs differ, too few to reach {LEVEL}."
            ));
        }
        table.notes.push(match unit {
            "graph" => "One pair per graph: the means over its seeds.".into(),
            _ => "One pair per seed: p is about other splits of this graph, not about other graphs, and is too small, because \
                  splits of one graph share edges."
                .into(),
        });
        table
    }
}

/// Splits that an interval takes.
const LEAST_SPLITS: usize = 3;
/// Samples of splits that an interval is made of.
const DRAWN: usize = 2000;

/// Relative gain of the mean of some values over that of others; nothing where there are none.
fn gain(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (Summary::of(a)?.mean, Summary::of(b)?.mean);
    Some((a - b) / b)
}

/// The bounds between which 95 % of the gains are when splits are drawn with replacement; nothing for too few.
fn interval(a: &[f64], b: &[f64]) -> Option<[f64; 2]> {
    let n = a.len().min(b.len());
    if n < LEAST_SPLITS {
        return None;
    }
    let mut stream = Stream::new(0, "bootstrap", 0);
    let mut drawn: Vec<f64> = (0..DRAWN)
        .filter_map(|_| {
            let at: Vec<usize> = (0..n).map(|_| stream.below(n)).collect();
            let of = |values: &[f64]| at.iter().map(|&at| values[at]).collect::<Vec<f64>>();
            gain(&of(a), &of(b))
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    let tail = DRAWN / 40;
    Some([drawn[tail], drawn[DRAWN - 1 - tail]])
}

/// Different choices that are named; the rest is counted.
const NAMED: usize = 3;

/// The choices of single seeds as one text, the most frequent first: `q=4 (3 of 5), q=1 (2)`. Empty when there was no choice.
fn most_frequent(chosen: &[String]) -> String {
    let mut names: Vec<&str> = chosen.iter().map(String::as_str).collect();
    names.sort_unstable();
    let same = names.chunk_by(|a, b| a == b);
    let mut counted: Vec<(usize, &str)> = same.map(|same| (same.len(), same[0])).collect();
    counted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    if let [(_, only)] = counted[..] {
        return only.to_string();
    }
    let one = |(at, &(count, name)): (usize, &(usize, &str))| match at {
        0 => format!("{name} ({count} of {})", chosen.len()),
        _ => format!("{name} ({count})"),
    };
    let mut parts: Vec<String> = counted.iter().take(NAMED).enumerate().map(one).collect();
    let others = counted.len().saturating_sub(NAMED);
    if others > 0 {
        let rest: usize = counted[NAMED..].iter().map(|c| c.0).sum();
        let s = if others == 1 { "" } else { "s" };
        parts.push(format!("{others} other{s} ({rest})"));
    }
    parts.join(", ")
}
