//! The node features X alone, without an embedding (sec. 4.3, 2.6).

use super::attributes;
use super::context::Context;
use super::counts::count;
use super::notes;
use super::part::Part;
use super::plan::{self, Demand};
use super::weighted::weighted;
use crate::dense::{Columns, Group};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::message::{message, set, setting};
use crate::store::Embedding;

/// X, and its diffused columns.
pub(super) fn features(run: &mut Context, graph: &Graph) -> Result<Embedding> {
    let config = run.config;
    if !config.has_features() && run.given.is_none() {
        return Err(Error::config(
            "features",
            message![
                "there are no features to make: give ",
                setting("attributes.file"),
                ", or use ",
                set("structure.enabled", true)
            ],
        ));
    }
    let graph = &notes::as_chosen(run, graph, config.features.diffusion.steps > 0);
    let own = attributes::read(run, graph)?;
    let motifs = if config.features.diffusion.steps > 0 {
        config.motifs.motifs()
    } else {
        Vec::new()
    };
    let demand = Demand::new(run, graph, &motifs, &own);
    let mut demand = demand.only_features();
    let needed = config.structure.enabled || !motifs.is_empty();
    if needed {
        plan::check(run, &demand, false)?;
    }
    let counts = needed.then(|| count(run, graph)).transpose();
    let counts = counts.map_err(|error| plan::naming_all(run, error, &demand))?;
    plan::make(run, &mut demand, counts.as_ref())?;
    let xs = run.time("features", |run| {
        attributes::x(run, graph, counts.as_ref(), &own)
    })?;
    drop(own);
    if xs.is_empty() {
        let columns = set("features.form", "columns");
        let message = message!["0 components leave no column; give a number, or ", columns];
        return Err(Error::config("features.form.components.dim", message));
    }
    let names = xs.iter().flat_map(|x| x.label.own_names());
    let (mut names, mut diffused): (Vec<String>, Vec<Group>) = (names.collect(), Vec::new());
    if let Some(counts) = counts.filter(|_| !motifs.is_empty()) {
        run.progress
            .stage("diffusing features", motifs.len() as u64);
        for &motif in &motifs {
            run.progress.check()?;
            let w = weighted(config, graph, &counts, motif)?;
            for x in &xs {
                for Part { label, group } in attributes::diffused(run, x, motif, Some(&w))? {
                    let (step, columns) = (label.step, label.own_names());
                    let over = motif.called(config.structure.numbers);
                    names.extend(columns.map(|name| format!("{over}_k{step}_{name}")));
                    diffused.push(group);
                }
            }
            run.progress.advance(1);
        }
    }
    let own = xs.into_iter().map(|x| Group::full(x.block));
    let groups = own.chain(diffused).collect();
    let vectors = Columns::new(graph.nodes(), groups).to_block();
    run.report.columns.clone_from(&names);
    Ok(Embedding::with_columns(graph.ids().clone(), vectors, names))
}
