//! [`RoleTable`]: roles and memberships of all nodes on disk.
//!
//! `.tsv`, `.csv` (also `.gz`, `.zst`) and `.parquet`: the columns `id`, `role` (its name), `membership` (in that role), and
//! one column per role, named after it, with the memberships, which sum to one.

use std::path::{Path, PathBuf};

use hone::graph::NodeIds;
use hone::output::{Batch, Existing};
use hone::store::table::{Column, Kind, Layout, Table};
use hone::{Error, Progress, Result, record};

use super::Roles;

/// Roles with the names of their nodes, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct RoleTable<'a> {
    ids: &'a NodeIds,
    roles: &'a Roles,
}

impl<'a> RoleTable<'a> {
    /// The roles of nodes with these ids.
    pub fn new(ids: &'a NodeIds, roles: &'a Roles) -> Self {
        RoleTable { ids, roles }
    }

    /// Refuses a path whose extension names no format of such tables.
    pub fn check(path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let remedy = "use .tsv, .csv (also .gz, .zst) or .parquet";
        match Layout::of(path) {
            Ok(Layout::Npy) => Err(Error::input(
                path,
                "names of roles do not fit an array",
                remedy,
            )),
            Ok(_) => Ok(()),
            Err(Error::Input { message, .. }) => Err(Error::input(path, message, remedy)),
            Err(other) => Err(other),
        }
    }

    /// Writes the table; returns the file.
    pub fn write(
        &self,
        path: impl AsRef<Path>,
        existing: Existing,
        progress: &dyn Progress,
    ) -> Result<Vec<PathBuf>> {
        let path = path.as_ref();
        record::without(path, existing, |batch| self.add_to(batch, path, progress))
    }

    /// Writes the table into a batch, where further files may join it.
    pub fn add_to(
        &self,
        batch: &mut Batch,
        path: impl AsRef<Path>,
        progress: &dyn Progress,
    ) -> Result<()> {
        self.add_to_at(batch, path.as_ref(), progress)
    }

    fn add_to_at(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        RoleTable::check(path)?;
        let kind = if matches!(self.ids, NodeIds::Text { .. }) {
            Kind::Text
        } else {
            Kind::Integer
        };
        let fixed = [
            ("id", kind),
            ("role", Kind::Text),
            ("membership", Kind::Float),
        ];
        let fixed = fixed
            .into_iter()
            .map(|(name, kind)| (name.to_owned(), kind));
        let columns = fixed
            .chain(
                self.roles
                    .roles
                    .iter()
                    .map(|role| (role.name.clone(), Kind::Float)),
            )
            .collect();
        let values = |j: usize, range: std::ops::Range<usize>| {
            let nodes = range.clone().map(|node| node as u32);
            let own = |node: u32| self.roles.role_of(node);
            match j {
                0 => Column::of_ids(self.ids, range),
                1 => Column::Texts(
                    nodes
                        .map(|node| self.roles.roles[own(node)].name.clone())
                        .collect(),
                ),
                2 => Column::Floats(
                    nodes
                        .map(|node| self.roles.memberships(node)[own(node)])
                        .collect(),
                ),
                _ => Column::Floats(
                    nodes
                        .map(|node| self.roles.memberships(node)[j - 3])
                        .collect(),
                ),
            }
        };
        Table {
            columns,
            rows: self.roles.nodes(),
            values: &values,
        }
        .add_to(batch, path, progress)
    }
}
