//! Comparisons of methods over many graphs: gains, ranks, significance (tables 1 to 3 of the paper).

use crate::report::{Best, Style, Table};
use crate::stats::{Summary, wilcoxon};

/// Scores of all methods: `scores[method][graph][seed]`.
#[derive(Debug, Clone)]
pub struct Scores {
    /// Names of the methods.
    pub methods: Vec<String>,
    /// Names of the graphs.
    pub graphs: Vec<String>,
    /// Score of each method, graph and seed.
    pub values: Vec<Vec<Vec<f64>>>,
}

impl Scores {
    /// The methods of both, which were run on the same graphs and seeds.
    #[must_use]
    pub fn joined(mut self, other: Scores) -> Scores {
        assert_eq!(self.graphs, other.graphs, "the same graphs");
        self.methods.extend(other.methods);
        self.values.extend(other.values);
        self
    }

    /// Mean ± std of every method on every graph, with the rank by mean gain as last column.
    pub fn table(&self, title: &str) -> Table {
        let ranked = self.graphs.len() > 1 && self.methods.len() > 1;
        let mut columns = self.graphs.clone();
        columns.extend(ranked.then(|| "mean".to_string()));
        let mut table = Table::new(title, columns);
        for (name, graphs) in self.methods.iter().zip(&self.values) {
            let mut cells: Vec<Option<Summary>> = graphs.iter().map(|seeds| Summary::of(seeds)).collect();
            if ranked {
                let means: Vec<f64> = cells.iter().flatten().map(|s| s.mean).collect();
                cells.push(Summary::of(&means).map(|s| Summary { std: 0.0, count: 1, ..s }));
            }
            table.rows.push((name.clone(), cells));
        }
        if ranked {
            table.notes.push(format!("Rank by mean gain over all others: {}.", self.ranking().join(", ")));
        }
        table
    }

    fn mean(&self, method: usize, graph: usize) -> Option<f64> {
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
            let gains: Vec<f64> = (0..self.methods.len()).filter(|&b| b != a).filter_map(|b| self.gain(a, b)).collect();
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
        table.best = if rows.len() > 1 { Best::Highest } else { Best::Unmarked };
        table.style = Style::Percent;
        for row in rows {
            let cells = columns.iter().map(|&c| self.gain(*row, c).and_then(|g| Summary::of(&[g]))).collect();
            table.rows.push((name(row), cells));
        }
        table
    }

    /// Two-sided p-values of Wilcoxon's signed-rank test over all pairs of graph and seed.
    pub fn significance(&self, what: &str, rows: &[usize], columns: &[usize]) -> Table {
        let name = |&m: &usize| self.methods[m].clone();
        let title = format!("Wilcoxon signed-rank test over graphs and seeds, p ({what})");
        let mut table = Table::new(title, columns.iter().map(name).collect());
        (table.best, table.style) = (Best::Unmarked, Style::Significant);
        for &row in rows {
            let p = |&c: &usize| Summary::of(&[wilcoxon(&self.values[row].concat(), &self.values[c].concat())]);
            table.rows.push((name(&row), columns.iter().map(p).collect()));
        }
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
        }
    }

    #[test]
    fn gains_ranks_and_tests() {
        let scores = scores();
        assert!((scores.gain(0, 1).expect("measured") - 0.35).abs() < 1e-12);
        assert_eq!(scores.ranking(), ["c", "a", "b"]);
        let table = scores.gains("gain", &[0], &[1, 2]);
        assert_eq!(table.show(table.rows[0].1[0]), "+35.00%");
        let p = scores.significance("AUC", &[0], &[1]);
        assert!((p.rows[0].1[0].expect("tested").mean - 0.125).abs() < 1e-12);
        assert_eq!(scores.table("AUC").columns.len(), 3);
    }
}
