//! [`LinkResults`]: all cells of a link-prediction experiment, and the scores that tables are made of.

use serde_json::{Value, json};

use crate::compare::Scores;
use crate::pairs::PairOperator;
use crate::report::Failure;
use crate::task::{LinkCell, Outcome};

/// All cells of a link-prediction experiment, `cells[graph][seed][method]`, none where the method failed.
#[derive(Debug, Clone)]
pub struct LinkResults {
    pub(crate) methods: Vec<String>,
    pub(crate) graphs: Vec<String>,
    pub(crate) first_seed: u64,
    pub(crate) cells: Vec<Vec<Vec<Option<LinkCell>>>>,
    pub(crate) notes: Vec<String>,
    /// Methods that failed.
    pub failures: Vec<Failure>,
    /// Options of methods that had several to choose from.
    pub(crate) searched: Vec<String>,
}

impl LinkResults {
    /// A value of the outcome that `pick` takes from every cell, and what validation chose for it; nothing for a graph on which
    /// the method failed.
    fn scores<'a>(
        &'a self,
        pick: impl Fn(&'a LinkCell) -> Option<&'a Outcome>,
        value: impl Fn(&Outcome) -> f64,
        choice: impl Fn(&Outcome) -> String,
    ) -> Scores {
        let outcomes = |m: usize, graph: usize| -> Vec<&'a Outcome> {
            let of_seed = |cells: &'a Vec<Option<LinkCell>>| pick(cells[m].as_ref()?);
            let all: Option<_> = self.cells[graph].iter().map(of_seed).collect();
            all.unwrap_or_default()
        };
        let (methods, graphs) = (0..self.methods.len(), 0..self.graphs.len());
        let values = |m: usize| {
            graphs
                .clone()
                .map(|g| outcomes(m, g).into_iter().map(&value).collect())
                .collect()
        };
        let chosen = |m: usize| {
            graphs
                .clone()
                .map(|g| outcomes(m, g).into_iter().map(&choice).collect())
                .collect()
        };
        Scores {
            methods: self.methods.clone(),
            graphs: self.graphs.clone(),
            values: methods.clone().map(values).collect(),
            chosen: methods.map(chosen).collect(),
        }
    }

    /// The options that were chosen, where there were several.
    fn candidate(&self, outcome: &Outcome) -> String {
        if self.searched.contains(&outcome.candidate) {
            outcome.candidate.clone()
        } else {
            String::new()
        }
    }

    /// Every result, with the options and the penalty that validation chose.
    pub fn runs(&self) -> Vec<Value> {
        let mut runs = Vec::new();
        for (graph, seeds) in self.graphs.iter().zip(&self.cells) {
            for (seed, cells) in (self.first_seed..).zip(seeds) {
                for (method, cell) in self.methods.iter().zip(cells) {
                    let Some(cell) = cell else { continue };
                    runs.push(json!({"graph": graph, "method": method, "seed": seed,
                        "embedding seconds": cell.seconds, "results": cell.outcomes}));
                }
            }
        }
        runs
    }

    /// AUC under one operator.
    pub fn auc(&self, operator: &PairOperator) -> Scores {
        self.scores(
            |cell| cell.outcome(operator),
            |outcome| outcome.auc,
            |outcome| self.candidate(outcome),
        )
    }

    /// Average precision under one operator.
    pub fn average_precision(&self, operator: &PairOperator) -> Scores {
        let pick = |cell| LinkCell::outcome(cell, operator);
        self.scores(
            pick,
            |outcome| outcome.average_precision,
            |outcome| self.candidate(outcome),
        )
    }

    /// AUC under the operator that validation chose, seed by seed.
    pub fn validated(&self) -> Scores {
        let choice = |outcome: &Outcome| {
            let operator = outcome
                .operator
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            format!("{operator} {}", self.candidate(outcome))
                .trim()
                .to_string()
        };
        self.scores(LinkCell::validated, |outcome| outcome.auc, choice)
    }
}
