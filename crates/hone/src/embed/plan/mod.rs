//! The memory of a run: what it needs, whether that fits, and which tall matrices wait in files.
//!
//! The graph, its counts, one motif graph and what a stage works on are in memory. Tall matrices that only wait may be in
//! [`Files`]: the parts of Y, and if that is not enough, also panels of a factorisation, U, X and Z while others are worked on.
//! The first placement that fits is taken. A run that does not fit in any way is refused, if possible before motifs are counted,
//! with a limit that is enough. Where a matrix is changes no bit.

mod demand;

pub(super) use demand::Demand;

use super::attributes::UserAttributes;
use super::context::{Context, Shortage};
use crate::config::Form;
use crate::error::{Error, Result, beside, human_bytes};
use crate::graph::Graph;
use crate::memory;
use crate::message::{message, set, setting};
use crate::motif::{COUNTING, COUNTING_AT_MOST, Counts, Pairs, Sample, counting_at_most};
use crate::report::MemoryPlan;

/// Bytes of the buffer through which a thread reads a part from its file.
const BUFFER: u64 = 64 << 10;
/// One part in this many of the limit is reserved: for the allocator, stacks and estimation errors.
const RESERVE: u64 = 32;
/// Bytes by which the memory of a process varies from one run to the next.
const SLACK: u64 = 4 << 20;
/// Rows are divided among at most as many processes as there are lanes.
const PROCESSES: usize = 64;
/// Bytes freed by counting that the allocator keeps; beyond this, some are returned to the system.
const KEPT: u64 = 64 << 20;
/// Work that takes less than this, and a small part of the limit, is not worth a note.
const NOTABLE: u64 = 1 << 30;

/// Which tall matrices wait in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Files {
    /// None.
    Nothing,
    /// The parts of Y.
    Parts,
    /// Also factors while others are computed, X and Z.
    Factors,
}

/// Motif counts: those there are, or bounds on them.
struct Counted {
    bytes: u64,
    /// Whether they are among the bytes in use.
    in_use: bool,
    /// Nodes that each motif touches.
    touched: Vec<u64>,
}

impl Counted {
    /// Whatever will be counted.
    fn at_most(run: &Context, demand: &Demand) -> Self {
        Counted {
            bytes: counted_at_most(run, demand),
            in_use: false,
            touched: demand.most_touched(),
        }
    }
}

/// The limit that leaves `bytes` to plan with.
fn limit_for(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / (RESERVE - 1) + 1)
}

/// Whether a process may hold so many bytes.
fn allowed(run: &Context, bytes: u64) -> bool {
    run.memory_limit
        .is_none_or(|limit| bytes <= limit - limit / RESERVE)
}

/// Peaks of a run that keeps these matrices in files.
fn plan(run: &Context, demand: &Demand, counted: &Counted, files: Files) -> MemoryPlan {
    let (needs, resident) = (
        demand.needs(&counted.touched, files),
        memory::resident().unwrap_or(0),
    );
    let mut others = resident.saturating_add(needs.fixed);
    if counted.in_use {
        others = others.saturating_sub(counted.bytes);
    }
    let (held, spilled) = match files {
        Files::Nothing => (needs.parts, 0),
        _ => (0, needs.parts),
    };
    if files > Files::Nothing {
        others =
            others.saturating_add(BUFFER * demand.parts() * rayon::current_num_threads() as u64);
    }
    // A model keeps the counts.
    let kept = run.draft.as_ref().map_or(0, |_| counted.bytes);
    let local = needs
        .local
        .saturating_add(held.saturating_sub(needs.in_place));
    let global = needs.finish.max(needs.global.saturating_add(held));
    MemoryPlan {
        limit: run.memory_limit,
        resident,
        local: others.saturating_add(counted.bytes).saturating_add(local),
        global: others.saturating_add(kept).saturating_add(global),
        held,
        spilled,
        aside: files == Files::Factors,
    }
}

fn peak(plan: &MemoryPlan) -> u64 {
    plan.local.max(plan.global)
}

/// The peak with as much as possible in files.
fn least(run: &Context, demand: &Demand, counted: &Counted) -> u64 {
    peak(&plan(run, demand, counted, demand.most))
}

/// The first placement that fits.
fn place(run: &Context, demand: &Demand, counted: &Counted) -> Option<(Files, MemoryPlan)> {
    let short = match run.shortage {
        Some(Shortage::Factors) => Files::Factors,
        Some(Shortage::Parts) => Files::Parts,
        _ => Files::Nothing,
    };
    let least = short.min(demand.most);
    let placements = [Files::Nothing, Files::Parts, Files::Factors].into_iter();
    placements
        .filter(|files| (least..=demand.most).contains(files))
        .map(|files| (files, plan(run, demand, counted, files)))
        .find(|(_, plan)| allowed(run, peak(plan)))
}

/// Decides what goes to files, and reports the plan; refuses what does not fit.
pub(super) fn make(run: &mut Context, demand: &mut Demand, counts: Option<&Counts>) -> Result<()> {
    *demand = demand.with_pairs(counts, run.memory_limit.unwrap_or(u64::MAX));
    let counted = Counted {
        bytes: counts.map_or(0, |counts| counts.bytes() as u64),
        in_use: true,
        touched: counts.map_or(Vec::new(), |counts| demand.touched(counts)),
    };
    let Some((files, plan)) = place(run, demand, &counted) else {
        return Err(refusal(run, demand, least(run, demand, &counted)));
    };
    note(run, demand, &plan);
    if !demand.only_features {
        run.files = files;
        run.report.plan = Some(plan);
    }
    Ok(())
}

/// Reports the peak, and notes it and what goes to files where that matters.
fn note(run: &mut Context, demand: &Demand, plan: &MemoryPlan) {
    let need = peak(plan);
    run.report.memory_estimate = need;
    let text = match run.memory_limit {
        Some(limit) if need < NOTABLE && need < limit / 8 => None,
        Some(limit) => Some(format!(
            "{} of {}",
            beside(need, limit),
            beside(limit, limit)
        )),
        None if need < NOTABLE => None,
        None => Some(human_bytes(need)),
    };
    if let Some(text) = text {
        let stage = stage(demand);
        run.progress
            .note(&format!("{stage} takes about {text} of memory").into());
    }
    let folder = run.temp_folder.display();
    if plan.spilled > 0 {
        let place = match run.checkpoint {
            Some(_) => "the checkpoint".to_owned(),
            None => format!("temporary files in {folder}"),
        };
        let [local, global, parts] = [plan.local, plan.global, plan.spilled].map(human_bytes);
        let note = format!(
            "the local stage takes about {local}, the global stage {global}; the local embeddings, {parts}, go to {place}"
        );
        run.progress.note(&note.into());
    }
    if plan.aside {
        let note = format!(
            "memory is short: factors are moved to temporary files in {folder} while others are computed"
        );
        run.progress.note(&note.into());
    }
}

/// Refuses, before motifs are counted, what cannot fit whatever the counts.
pub(super) fn check(run: &Context, demand: &Demand, counted: bool) -> Result<()> {
    let resident = memory::resident().unwrap_or(0);
    let exact = run.config.sample == Sample::Exact && !counted;
    let fits = |bytes: u64| {
        let counted = Counted {
            bytes,
            in_use: false,
            touched: Vec::new(),
        };
        let counting = if exact { COUNTING * demand.slots() } else { 0 };
        let least = least(run, demand, &counted);
        allowed(run, least.max(resident.saturating_add(counting)))
    };
    // Counting triangles takes time, which few runs need to spend.
    let fits = match exact {
        true => fits(COUNTING_AT_MOST * demand.slots()) || fits(counted_at_least(run, demand)),
        false => fits(0),
    };
    match fits {
        true => Ok(()),
        false => Err(refusal(run, demand, enough(run, demand))),
    }
}

/// An amount that is enough for any motif counts.
fn enough(run: &Context, demand: &Demand) -> u64 {
    let most = Counted::at_most(run, demand);
    least(run, &demand.with_pairs(None, 0), &most)
}

/// Lower bound of the bytes in use once motifs are counted: the allocator keeps small amounts freed by counting, and the
/// narrowest counts have two bytes. Counting takes most of its maximum, given the triangles: 92 % on R-MAT.
fn counted_at_least(run: &Context, demand: &Demand) -> u64 {
    let peak = match demand.graph.is_directed() {
        true => COUNTING * demand.slots(),
        false => counted_at_most(run, demand) / 8 * 7,
    };
    if peak <= KEPT {
        peak
    } else {
        2 * demand.slots()
    }
}

/// Maximum bytes in use once motifs are counted: the counts, and what the allocator keeps.
fn counted_at_most(run: &Context, demand: &Demand) -> u64 {
    match run.config.sample {
        Sample::Exact if !demand.graph.is_directed() => counting_at_most(demand.graph.pattern()),
        _ => COUNTING_AT_MOST * demand.slots(),
    }
}

/// A refusal of attributes that names a limit that is also enough for the work that follows.
pub(super) fn naming_all_with_attributes(run: &Context, error: Error, graph: &Graph) -> Error {
    let motifs = run.config.motifs.motifs();
    let demand = Demand::new(run, graph, &motifs, &UserAttributes::default());
    naming_all(run, error, &demand)
}

/// A refusal that names a limit that is also enough for the work that follows.
pub(super) fn naming_all(run: &Context, mut error: Error, demand: &Demand) -> Error {
    if let Error::Memory { need, .. } = &mut error {
        *need = (*need).max(limit_for(enough(run, demand).saturating_add(SLACK)));
    }
    error
}

/// The name of the work.
fn stage(demand: &Demand) -> &'static str {
    match demand.only_features {
        true => "making features",
        false => "the embedding",
    }
}

/// The refusal of work that needs this many bytes, with a limit with which the same run is not refused again; and how many
/// processes would be enough, if several share the rows.
fn refusal(run: &Context, demand: &Demand, need: u64) -> Error {
    let (dim, global) = (setting("local.dim"), setting("global.dim"));
    let depth = setting("structure.depth");
    let steps = setting("features.diffusion.steps");
    let mut remedy = message!["lower "];
    if demand.only_features {
        remedy.push(message![depth, ", ", steps, " or the number of motifs"]);
    } else {
        remedy.push(message![dim, ", ", global, ", the number of steps, "]);
        remedy.push(match run.config.has_features() {
            false => "or the number of motifs".into(),
            true => message!["the number of motifs, ", depth, " or ", steps],
        });
        if run.config.has_features() && run.config.features.form == Form::Columns {
            let components = set("features.form", "{ components = {} }");
            remedy.push(message![", reduce features to ", components]);
        }
        if run.config.pairs == Pairs::Occurrences {
            remedy.push(", leave out path4, whose pairs are three edges apart, use ");
            remedy.push(set("pairs", "edges"));
        }
    }
    remedy.push(message![", or raise ", setting("memory_limit")]);
    let processes = run.engine.processes();
    if processes > 1
        && let Some(enough) = enough_processes(run, demand, processes + 1)
    {
        remedy.push(format!(", or start {enough} processes"));
    }
    Error::Memory {
        stage: stage(demand).to_owned(),
        need: limit_for(need.saturating_add(SLACK)),
        least: false,
        limit: run.memory_limit.unwrap_or(u64::MAX),
        remedy,
    }
}

/// How many processes would be enough, from some number on. Those of a larger job have more buffers.
fn enough_processes(run: &Context, demand: &Demand, first: usize) -> Option<usize> {
    let (demand, most) = (demand.with_pairs(None, 0), Counted::at_most(run, demand));
    (first..=PROCESSES).find(|&count| {
        let share = demand.shared_by(count);
        share.is_some_and(|share| allowed(run, least(run, &share, &most).saturating_add(4 * SLACK)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;
    use crate::embed::Hone;
    use crate::graph::Generator;
    use crate::progress::Silent;

    /// Slices of a joint model are kept in half of what is free.
    #[test]
    fn slices_are_held_where_they_fit_into_half_of_what_is_free() {
        let graph = crate::graph::builtin("karate").expect("built in");
        let hone = Hone::new(crate::Config::preset("hone-p").expect("a preset")).expect("valid");
        let (run, motifs) = (hone.begin(&graph, &Silent), hone.config.motifs.motifs());
        let demand = Demand::new(&run, &graph, &motifs, &UserAttributes::default());
        let enough = (0..40).map(|power| 1 << power);
        let enough: Vec<u64> = enough.filter(|&free| demand.holds_slices(free)).collect();
        let [least, most] = [enough[0], enough[enough.len() - 1]];
        assert!(least > 1 << 18 && least < 1 << 30 && most == 1 << 39);
    }

    /// Files are used where memory ends, and no sooner.
    #[test]
    fn the_first_placement_that_fits_is_taken() {
        let er = Generator::Er {
            nodes: 200_000,
            degree: 4.0,
        };
        let graph = er.graph(1, &Silent).expect("a graph");
        let settings = [("motifs", "edge,triangle,star4"), ("local.dim", "64")];
        let layers = Layers::new().preset("hone-p");
        let layers = layers.and_then(|layers| layers.set_all(settings));
        let hone = Hone::new(layers.and_then(Layers::build).expect("settings")).expect("valid");
        let (mut run, motifs) = (hone.begin(&graph, &Silent), hone.config.motifs.motifs());
        let demand = Demand::new(&run, &graph, &motifs, &UserAttributes::default());
        let counted = Counted {
            bytes: 0,
            in_use: true,
            touched: vec![200_000; 3],
        };
        let peaks =
            [Files::Nothing, Files::Parts].map(|files| plan(&run, &demand, &counted, files));
        let [most, least] = peaks.each_ref().map(peak);
        assert!(most > least + (200 << 20), "{peaks:?}");
        let cases = [
            (most, Some(Files::Nothing)),
            (least, Some(Files::Parts)),
            (least - (64 << 20), None),
        ];
        for (need, files) in cases {
            // What the process holds varies.
            run.memory_limit = Some(limit_for(need + (32 << 20)));
            let placed = place(&run, &demand, &counted);
            assert_eq!(placed.map(|(files, _)| files), files);
        }
    }
}
