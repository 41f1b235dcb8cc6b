//! Comparisons of methods over many graphs: gains, ranks, significance (tables 1 to 3 of the paper).

use crate::choices;
use crate::report::{Best, Style, Table};
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
    /// The methods of both, which were run on the same graphs and seeds.
    #[must_use]
    pub fn joined(mut self, other: Scores) -> Scores {
        assert_eq!(self.graphs, other.graphs, "the same graphs");
        self.methods.extend(other.methods);
        self.values.extend(other.values);
        self.chosen.extend(other.chosen);
        self
    }

    /// Mean ± std of every method on every graph, with the rank by mean gain as last column.
    pub fn table(&self, title: &str) -> Table {
        let ranked = self.graphs.len() > 1 && self.methods.len() > 1;
        let mut columns = self.graphs.clone();
        columns.extend(ranked.then(|| "mean".to_string()));
        let mut table = Table::new(title, columns);
        for (name, graphs) in self.methods.iter().zip(&self.values) {
            let mut cells: Vec<Option<Summary>> =
                graphs.iter().map(|seeds| Summary::of(seeds)).collect();
            if ranked {
                let means: Vec<f64> = cells.iter().flatten().map(|s| s.mean).collect();
                cells.push(Summary::of(&means).map(|s| Summary {
                    std: 0.0,
                    count: 1,
                    ..s
                }));
            }
            table.rows.push((name.clone(), cells));
        }
        let words = |graphs: &Vec<Vec<String>>| {
            graphs
                .iter()
                .map(|seeds| choices::in_words(seeds))
                .collect()
        };
        table.chosen = self
            .methods
            .iter()
            .cloned()
            .zip(self.chosen.iter().map(words))
            .collect();
        table
            .chosen
            .retain(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()));
        if ranked {
            table.notes.push(format!(
                "Rank by mean gain over all others: {}.",
                self.ranking().join(", ")
            ));
        }
        table
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
