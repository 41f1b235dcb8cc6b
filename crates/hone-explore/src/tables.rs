//! Neighbours, answers and roles as tables on disk.
//!
//! | extension | content |
//! |---|---|
//! | `.tsv`, `.csv` (also `.gz`, `.zst`), `.parquet` | a header and one line per node and neighbour, per answer, or per node |
//! | `.npy`, of neighbours alone | int64, one row per node: the row numbers of its neighbours; ids in `NAME.ids.txt`, float32 similarities in `NAME.similarity.npy` |
//!
//! A table of roles has the columns `id`, `role` (its name), `membership` (in that role), one column per role, named
//! after it, with the memberships, which sum to one, and `explanation` if it is asked for. Memberships have four decimals.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hone::graph::NodeIds;
use hone::output::Batch;
use hone::store::table::{Column, Kind, Table, format_of};
use hone::store::{Format, write_ids, write_npy_header};
use hone::{Error, Progress, Result};

use crate::roles::Roles;
use crate::search::{Neighbour, Neighbours};

/// Values written at a time.
const PIECE: usize = 1 << 16;

impl Neighbours {
    /// The files that a table takes, the main one first. Fails when the extension names no format.
    pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
        let mut files = vec![path.to_path_buf()];
        if format_of(path)? == Format::Npy {
            files.push(path.with_extension("ids.txt"));
            files.push(path.with_extension("similarity.npy"));
        }
        Ok(files)
    }

    /// Adds a table of the columns `id`, `rank`, `neighbour` and `similarity` to a batch.
    pub fn add_to(
        &self,
        batch: &mut Batch,
        path: &Path,
        ids: &NodeIds,
        progress: &dyn Progress,
    ) -> Result<()> {
        if format_of(path)? == Format::Npy {
            return self.add_arrays(batch, path, ids, progress);
        }
        let k = self.k().max(1);
        let columns = [
            ("id", Kind::Node),
            ("rank", Kind::Integer),
            ("neighbour", Kind::Node),
            ("similarity", Kind::Float),
        ];
        let values = |lines: Range<usize>| {
            let own = lines.clone().map(|at| (at / k) as u32);
            let ranks = lines.clone().map(|at| (at % k + 1) as i64);
            let near = |at: usize| self.row(at / k)[at % k];
            let rows = lines.clone().map(|at| near(at).row);
            let similarities = lines.map(|at| near(at).similarity);
            Ok(vec![
                Column::Nodes(own.collect()),
                Column::Integers(ranks.collect()),
                Column::Nodes(rows.collect()),
                Column::Floats(similarities.collect()),
            ])
        };
        let lines = self.len() * self.k();
        Table::new(ids, columns, lines, &values).add_to(batch, path, progress)
    }

    fn add_arrays(
        &self,
        batch: &mut Batch,
        path: &Path,
        ids: &NodeIds,
        progress: &dyn Progress,
    ) -> Result<()> {
        let files = Self::files(path)?;
        let (n, k) = (ids.len(), self.k());
        progress.stage("writing", 2 * n as u64);
        let array =
            |batch: &mut Batch, path: &Path, kind: &str, add: &dyn Fn(&Neighbour, &mut Vec<u8>)| {
                let mut out = batch.begin(path)?;
                write_npy_header(kind, &[n, k], &mut out).map_err(|e| out.error(e))?;
                let step = (PIECE / k.max(1)).max(1);
                for start in (0..self.len()).step_by(step) {
                    progress.check()?;
                    let rows = start..self.len().min(start + step);
                    progress.advance(rows.len() as u64);
                    let mut bytes = Vec::new();
                    rows.flat_map(|i| self.row(i))
                        .for_each(|near| add(near, &mut bytes));
                    out.write_all(&bytes).map_err(|e| out.error(e))?;
                }
                batch.add(out)
            };
        array(batch, &files[0], "<i8", &|near, bytes| {
            bytes.extend(i64::from(near.row).to_le_bytes());
        })?;
        let mut out = batch.begin(&files[1])?;
        write_ids(ids, &files[1], &mut out)?;
        batch.add(out)?;
        array(batch, &files[2], "<f4", &|near, bytes| {
            bytes.extend(near.similarity.to_le_bytes());
        })
    }
}

/// A question and the nodes that answer it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What was requested: an id, or ids with signs.
    pub question: String,
    /// The most similar nodes, best first.
    pub nodes: Vec<Neighbour>,
}

impl Answer {
    /// Adds a table of the columns `node`, `rank`, `neighbour` and `similarity` to a batch.
    pub fn add_all_to(
        answers: &[Answer],
        batch: &mut Batch,
        path: &Path,
        ids: &NodeIds,
        progress: &dyn Progress,
    ) -> Result<()> {
        let lines = answers.iter().flat_map(|answer| {
            let nodes = (1..).zip(&answer.nodes);
            nodes.map(|(rank, node)| (&answer.question, rank, node))
        });
        let lines: Vec<(&String, i64, &Neighbour)> = lines.collect();
        let columns = [
            ("node", Kind::Text),
            ("rank", Kind::Integer),
            ("neighbour", Kind::Node),
            ("similarity", Kind::Float),
        ];
        let values = |range: Range<usize>| {
            let lines = lines[range].iter();
            Ok(vec![
                Column::Texts(lines.clone().map(|line| line.0.clone()).collect()),
                Column::Integers(lines.clone().map(|line| line.1).collect()),
                Column::Nodes(lines.clone().map(|line| line.2.row).collect()),
                Column::Floats(lines.map(|line| line.2.similarity).collect()),
            ])
        };
        Table::new(ids, columns, lines.len(), &values).add_to(batch, path, progress)
    }
}

impl Roles {
    /// Refuses a path whose extension names no format of a table of roles.
    pub fn check_table(path: &Path) -> Result<()> {
        let remedy = "use .tsv, .csv (also .gz, .zst) or .parquet";
        match format_of(path) {
            Ok(Format::Npy) => {
                let message = "names of roles do not fit an array";
                Err(Error::input(path, message, remedy))
            }
            Ok(_) => Ok(()),
            Err(Error::Input { message, .. }) => Err(Error::input(path, message, remedy)),
            Err(other) => Err(other),
        }
    }

    /// Adds a table of the roles and memberships of all nodes to a batch, and why they have these roles, if it is `explained`.
    pub fn add_to(
        &self,
        batch: &mut Batch,
        path: &Path,
        ids: &NodeIds,
        explained: bool,
        progress: &dyn Progress,
    ) -> Result<()> {
        Roles::check_table(path)?;
        let columns = [
            ("id", Kind::Node),
            ("role", Kind::Text),
            ("membership", Kind::Float),
        ];
        let roles = self.roles.iter().map(|role| (&*role.name, Kind::Float));
        let why = explained.then_some(("explanation", Kind::Text));
        let columns = columns.into_iter().chain(roles).chain(why);
        let rounded = |membership: f32| (membership * 1e4).round() / 1e4;
        let values = |range: Range<usize>| {
            let nodes = range.start as u32..range.end as u32;
            let name = |node: u32| self.roles[self.role_of(node)].name.clone();
            let membership = |node: u32| rounded(self.memberships(node)[self.role_of(node)]);
            let in_role = |role: usize| {
                let memberships = nodes
                    .clone()
                    .map(|node| rounded(self.memberships(node)[role]));
                Column::Floats(memberships.collect())
            };
            let fixed = [
                Column::Nodes(nodes.clone().collect()),
                Column::Texts(nodes.clone().map(name).collect()),
                Column::Floats(nodes.clone().map(membership).collect()),
            ];
            let roles = (0..self.roles.len()).map(in_role);
            let text = |node: u32| self.explain(node, &ids.get(node).to_string()).text;
            let why = explained.then(|| Column::Texts(nodes.clone().map(text).collect()));
            Ok(fixed.into_iter().chain(roles).chain(why).collect())
        };
        Table::new(ids, columns, self.nodes(), &values).add_to(batch, path, progress)
    }
}
