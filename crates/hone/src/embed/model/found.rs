//! A local embedding on its way into a model.

use crate::dense::Panels;
use crate::embed::weighted::Weighted;
use crate::graph::NodeIds;
use crate::motif::Motif;
use crate::report::LocalFacts;

/// A local embedding as it was found, before rows and columns are shaped.
pub(in crate::embed) struct Found<'a> {
    pub(in crate::embed) motif: Motif,
    pub(in crate::embed) weighted: &'a Weighted,
    pub(in crate::embed) u: &'a Panels,
    /// Target factors, where arcs keep their directions.
    pub(in crate::embed) v: Option<&'a Panels>,
    pub(in crate::embed) facts: &'a LocalFacts,
    pub(in crate::embed) ids: &'a NodeIds,
}
