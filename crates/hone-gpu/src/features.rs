//! Structure features on the device: motif degrees, and sums, means and maxima over neighbours (`features.rs`
//! of the method).
//!
//! All columns are stored there, 16 bytes per node and motif, since Gram matrix and components are computed
//! from them at once.

use std::sync::Arc;

use hone::Result;
use hone::dense::{Columns, Group};
use hone::features::{NamedColumns, Structure};
use hone::motif::Counts;
use hone::space::{Fold, Space};

use crate::Cuda;
use crate::driver::NULL;
use crate::kept::Kept;
use crate::panel::{Panel, count, wide};
use crate::ranked::{THREADS, WARPS};
use crate::sums::SIDE;

impl Cuda {
    /// The features, if motifs were counted here and one level of logarithms is requested.
    pub(crate) fn features_there(
        &self,
        features: &Structure,
        counts: &Counts,
    ) -> Result<Option<NamedColumns>> {
        let Some(of) = self.counts_of(counts) else {
            return Ok(None);
        };
        let motifs = features.motifs.motifs();
        let known = motifs.len() <= SIDE && motifs.iter().all(|motif| !motif.is_directed());
        if !(known && features.log && features.depth == 1) {
            return Ok(None);
        }
        let (nodes, width) = (of.nodes, motifs.len());
        let masks: Vec<u32> = motifs.iter().map(|motif| motif.orbit_bits()).collect();
        let masks = self.driver.upload(&masks);
        let degrees = self.zeros(nodes, width);
        let last = [masks.address(), count(width), degrees.address()];
        self.start(
            "motif_degrees",
            nodes.div_ceil(WARPS),
            &[&[wide(nodes)], &of.args()[..], &last].concat(),
        );
        let panel = |wanted: bool| wanted.then(|| self.zeros(nodes, width));
        let logs = self.zeros(nodes, width);
        self.logarithms(&degrees, &logs);
        let (sums, means, maxima) = (
            panel(features.sum),
            panel(features.mean),
            panel(features.max),
        );
        let address = |panel: &Option<Panel>| panel.as_ref().map_or(NULL, Panel::address);
        let graph = [
            wide(nodes),
            of.positions.offsets.address(),
            of.positions.columns.address(),
            count(width),
        ];
        let to = [
            degrees.address(),
            logs.address(),
            address(&sums),
            address(&means),
            address(&maxima),
        ];
        self.start(
            "aggregate",
            nodes.div_ceil(WARPS),
            &[&graph, &to[..]].concat(),
        );
        let (names, origins) = features.named(counts);
        if let Some(sums) = &sums {
            let largest = self.fold(std::slice::from_ref(sums), Fold::Extreme);
            features.check_sums(&names[width..], &largest)?;
            self.logarithms(sums, sums);
        }
        let panels = [Some(logs), sums, means, maxima]
            .into_iter()
            .flatten()
            .collect();
        let group = Group::stored(None, Arc::new(Kept::new(self, panels)));
        Ok(Some(NamedColumns {
            names,
            origins,
            columns: Columns::new(nodes, vec![group]),
        }))
    }

    fn logarithms(&self, of: &Panel, to: &Panel) {
        self.start(
            "take_logs",
            of.len().div_ceil(THREADS),
            &[wide(of.len()), of.address(), to.address()],
        );
    }
}
