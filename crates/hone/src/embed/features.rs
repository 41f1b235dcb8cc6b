//! The node features X alone, for those who want no embedding (sec. 4.3, 2.6).

use super::budget::Work;
use super::plan::FEATURES;
use super::{Hone, Run};
use crate::dense::{Columns, Group};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::progress::Progress;
use crate::store::Embedding;

impl Hone {
    /// X as the embedding would use it: features of structure, attributes of a file, attributes of the
    /// caller; columns normalised by `local.norm`. With diffusion, the diffused columns of every motif
    /// and step follow, called `edge.k1.NAME` and so on.
    ///
    /// ```
    /// use hone::{Hone, Silent, config::Layers, graph};
    /// let config = Layers::new().set("attributes.structure", "true")?.set("local.norm", "none")?;
    /// let config = config.set("attributes.diffusion.steps", "0")?.build()?;
    /// let run = Hone::new(config)?.features(&graph::builtin("petersen")?, &Silent)?;
    /// assert_eq!(run.embedding.columns[0], "edge");
    /// assert_eq!(run.embedding.vectors.get(0, 0), 4f32.ln(), "log(1 + degree)");
    /// # Ok::<(), hone::Error>(())
    /// ```
    pub fn features(&self, graph: &Graph, progress: &dyn Progress) -> Result<Run> {
        let config = &self.config.attributes;
        if !config.any() && self.attributes.is_none() {
            return Err(Error::config("attributes", "there are none: name a file, or set attributes.structure = true"));
        }
        let mut report = self.start_report(graph);
        let graph = &self.as_chosen(graph, config.diffusion.steps > 0, &mut report);
        let own = self.own_attributes(graph, &mut report, progress)?;
        let motifs = if config.diffusion.steps > 0 { self.config.motifs.motifs() } else { Vec::new() };
        let mut need = self.work(own.columns(), graph, &motifs);
        self.check_memory(FEATURES, need.features(), &mut report, progress)?;
        let needed = config.structure || !motifs.is_empty();
        let counts = needed.then(|| self.count(graph, &mut report, progress)).transpose();
        let counts = counts.map_err(|error| self.with_work_planned(error, &need))?;
        if let Some(counts) = counts.as_ref().filter(|_| !motifs.is_empty() && need.pairing() > 0) {
            need = need.bounded();
            let bytes = |work: &Work| work.features().saturating_add(work.pairing());
            if !self.fits(bytes(&need)) {
                need = need.with_pairs_counted(counts, self.memory_limit).unwrap_or(need);
            }
            self.check_memory("diffusing features", bytes(&need), &mut report, progress)?;
        }
        let x = report.time("attributes", |report| self.attributes(counts.as_ref(), &own, report))?;
        drop(own);
        let Some(x) = x else {
            let message = "0 components leave no column; give a number, or attributes.form = \"columns\"";
            return Err(Error::config("attributes.form.components.dim", message));
        };
        let mut names = x.names.to_vec();
        let own = names.clone();
        let mut groups = Vec::new();
        if !motifs.is_empty() {
            progress.stage("diffusion", motifs.len() as u64);
        }
        for (motif, counts) in motifs.iter().zip(counts.iter().cycle()) {
            progress.check()?;
            let w = self.weighted(graph, counts, *motif)?;
            for part in self.diffused(&x, *motif, &w, Ok)? {
                names.extend(own.iter().map(|name| format!("{motif}.k{}.{name}", part.step)));
                groups.push(part.group);
            }
            progress.advance(1);
        }
        groups.insert(0, Group::full(x.block));
        let vectors = Columns::new(graph.nodes(), groups).to_block();
        report.columns.clone_from(&names);
        Ok(Run { embedding: Embedding::with_columns(graph.ids().clone(), vectors, names), report })
    }
}
