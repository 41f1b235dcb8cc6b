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
    pub fn add_to(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        RoleTable::check(path)?;
        let own = |node: u32| self.roles.role_of(node);
        let values = |nodes: std::ops::Range<usize>| {
            let nodes = nodes.start as u32..nodes.end as u32;
            let name = |node| self.roles.roles[own(node)].name.clone();
            let membership = |node| self.roles.memberships(node)[own(node)];
            let in_role = |role: usize| {
                let memberships = nodes.clone().map(|node| self.roles.memberships(node)[role]);
                Column::Floats(memberships.collect())
            };
            let fixed = [
                Column::Nodes(nodes.clone().collect()),
                Column::Texts(nodes.clone().map(name).collect()),
                Column::Floats(nodes.clone().map(membership).collect()),
            ];
            let roles = (0..self.roles.roles.len()).map(in_role);
            Ok(fixed.into_iter().chain(roles).collect())
        };
        let fixed = [
            ("id", Kind::Node),
            ("role", Kind::Text),
            ("membership", Kind::Float),
        ];
        let roles = self
            .roles
            .roles
            .iter()
            .map(|role| (role.name.as_str(), Kind::Float));
        let columns = fixed.into_iter().chain(roles);
        Table::new(self.ids, columns, self.roles.nodes(), &values).add_to(batch, path, progress)
    }
}
