//! [`Layout`]: two coordinates per node, so that similar nodes lie together.
//!
//! Each node is linked to its nearest neighbours, with a weight that falls with the distance relative to its own
//! neighbourhood (`weights`). Starting from the two leading principal components (`start`), links attract their ends
//! and random pairs repel each other (`descent`). A step reads the positions of the previous step, and every random
//! number is keyed by seed, step and node: the same bits for any number of threads. Cost: the search for neighbours,
//! then O(steps · N k). Reference: McInnes, Healy and Melville, *UMAP*, 2018.

mod descent;
mod start;
mod weights;

use std::str::FromStr;

use hone::dense::Block;
use hone::graph::NodeIds;
use hone::store::Embedding;
use hone::{Error, Progress, Result};
use serde::{Deserialize, Serialize};

use crate::neighbours::Neighbours;
use crate::search::{Method, Search};
use crate::space::Space;

/// How a layout is computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LayoutMethod {
    /// Neighbours together, by descent.
    #[default]
    Neighbours,
    /// The two leading principal components: fast, but nodes overlap.
    Pca,
}

impl LayoutMethod {
    /// All, with their names.
    pub const ALL: [(LayoutMethod, &'static str); 2] = [
        (LayoutMethod::Neighbours, "neighbours"),
        (LayoutMethod::Pca, "pca"),
    ];
}

impl FromStr for LayoutMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<LayoutMethod> {
        let found = LayoutMethod::ALL
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(method, _)| *method);
        found.ok_or_else(|| {
            Error::config("layout", format!("`{name}` is not one of neighbours, pca"))
        })
    }
}

/// Up to this many rows the neighbours of [`Method::Auto`] are exact. A picture needs no more: with 92 of 100 true
/// neighbours its trustworthiness is the same within .003, while an exact search would take most of the time.
const EXACT_LIMIT: usize = 20_000;

/// Settings of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Layout {
    /// The method.
    pub layout: LayoutMethod,
    /// Neighbours that each node is linked to.
    pub neighbours: usize,
    /// Steps of the descent; by default depending on the size of the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// How the neighbours are found; by default exactly up to 20 000 rows.
    pub search: Method,
    /// Seed.
    pub seed: u64,
}

impl Default for Layout {
    fn default() -> Self {
        let layout = LayoutMethod::Neighbours;
        Layout {
            layout,
            neighbours: 15,
            steps: None,
            search: Method::Auto,
            seed: 0,
        }
    }
}

/// Coordinates, and intermediate results.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Two columns, one row per node.
    pub positions: Block,
    /// The neighbours that were linked; none for principal components.
    pub neighbours: Option<Neighbours>,
    /// The recall of an approximate search.
    pub recall: Option<f64>,
}

impl Placed {
    /// The coordinates as a table with the columns `x` and `y`.
    pub fn embedding(&self, ids: NodeIds) -> Embedding {
        Embedding::with_columns(ids, self.positions.clone(), vec!["x".into(), "y".into()])
    }
}

impl Layout {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        if !(2..=200).contains(&self.neighbours) {
            let message = format!("{} is not between 2 and 200", self.neighbours);
            return Err(Error::config("neighbours", message));
        }
        match self.steps {
            Some(steps) if !(1..=10_000).contains(&steps) => Err(Error::config(
                "steps",
                format!("{steps} is not between 1 and 10000"),
            )),
            _ => Ok(()),
        }
    }

    /// Places the rows of a space.
    pub fn place(&self, space: &Space, progress: &dyn Progress) -> Result<Placed> {
        self.check()?;
        if self.layout == LayoutMethod::Pca {
            progress.stage("principal components", 0);
            return Ok(Placed {
                positions: start::components(space)?,
                neighbours: None,
                recall: None,
            });
        }
        let search = match self.search {
            Method::Auto if space.len() > EXACT_LIMIT => Method::Approximate,
            method => method,
        };
        let search = Search {
            top: self.neighbours,
            search,
            seed: self.seed,
        };
        let found = search.all(space, progress)?;
        let positions = self.descend(space, &found.neighbours, progress)?;
        Ok(Placed {
            positions,
            neighbours: Some(found.neighbours),
            recall: found.recall,
        })
    }

    /// Places rows whose neighbours are known.
    pub fn descend(
        &self,
        space: &Space,
        neighbours: &Neighbours,
        progress: &dyn Progress,
    ) -> Result<Block> {
        progress.stage("linking neighbours", 0);
        let links = weights::links(space.len(), neighbours);
        let start = start::components(space)?;
        let steps = self
            .steps
            .unwrap_or(if space.len() > 50_000 { 200 } else { 400 });
        descent::descend(&links, start, steps, self.seed, progress)
    }
}
