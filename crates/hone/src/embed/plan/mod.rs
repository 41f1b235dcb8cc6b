//! The memory plan of a run: what stays in memory, and what goes to temporary files.
//!
//! The plan is made once motifs are counted. The graph, its counts and one motif's matrix and solver are in memory, and
//! so is the result. Y grows with motifs and steps: as much of it as fits is kept in memory, in the order in which it
//! is computed, and the rest goes to files, to be read back row by row for the Gram matrix and for Z. If that is not
//! enough, the solver's panels, U, X and Z are moved to files while others are worked on ([`Demand::tightest`]). A run
//! that still does not fit is refused, if possible before motifs are counted, with a limit that is enough.

mod demand;

pub(super) use demand::Demand;

use super::context::{Context, Shortage};
use crate::config::Form;
use crate::error::{Error, Result, beside, human_bytes};
use crate::graph::Graph;
use crate::memory;
use crate::message::{message, set, setting};
use crate::motif::{
    COUNTING, COUNTING_AT_MOST, Counts, Pairs, Sample, counting_at_most as counting_triangles,
};
use crate::report::MemoryPlan;
use demand::Needs;

/// Bytes of the buffer through which a thread reads a part from its file.
const BUFFER: u64 = 64 << 10;
/// One part in this many of the limit is reserved: for the allocator, stacks and estimation errors.
const RESERVE: u64 = 32;
/// Bytes by which the memory of a process varies from one run to the next.
const SLACK: u64 = 4 << 20;
/// Bytes that a process of a larger job may take in addition: buffers of MPI, and slack.
const LARGER_JOB: u64 = 4 * SLACK;
/// Rows are divided among at most as many processes as there are lanes.
const PROCESSES: usize = 64;
/// Bytes freed by counting that the allocator keeps; beyond this, some are returned to the system.
const KEPT: u64 = 64 << 20;
/// Work that takes less than this, and a small part of the limit, is not worth a note.
const NOTABLE: u64 = 1 << 30;

/// The part of the limit that can be planned.
fn usable(limit: u64) -> u64 {
    limit - limit / RESERVE
}

/// The limit that leaves `bytes` to plan with.
fn limit_for(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / (RESERVE - 1) + 1)
}

/// Whether a process may hold so many bytes.
fn allowed(run: &Context, bytes: u64) -> bool {
    run.memory_limit.is_none_or(|limit| bytes <= usable(limit))
}

/// Bytes in use.
fn resident() -> u64 {
    memory::resident().unwrap_or(0)
}

/// Peaks of the local stage, of the global stage and at the end, without Y, where `others` bytes are in use, `counts` in
/// addition, and `kept` of these to the end.
fn peaks(others: u64, (counts, kept): (u64, u64), needs: &Needs) -> [u64; 3] {
    let stages = [
        (counts, needs.local),
        (kept, needs.global),
        (kept, needs.finish),
    ];
    let fixed = others.saturating_add(needs.fixed);
    stages.map(|(counts, stage)| fixed.saturating_add(counts).saturating_add(stage))
}

/// Keeps as much of Y in memory as `limit` allows; threads take `buffers` if files are read. If nothing is enough, returns
/// the smallest sufficient amount.
fn place(
    [local, global, finish]: [u64; 3],
    needs: &Needs,
    (resident, buffers): (u64, u64),
    limit: Option<u64>,
) -> Result<MemoryPlan, u64> {
    let plan = |held: u64, in_place: u64, buffers: u64| MemoryPlan {
        limit,
        resident,
        local: local.saturating_add(held.saturating_sub(in_place) + buffers),
        global: finish
            .max(global.saturating_add(held))
            .saturating_add(buffers),
        held,
        spilled: needs.parts - held,
        aside: false,
    };
    let most = limit.map_or(u64::MAX, usable);
    let whole = plan(needs.parts, needs.in_place, 0);
    if whole.local.max(whole.global) <= most {
        return Ok(whole);
    }
    let least = local.max(global).saturating_add(buffers);
    match least.max(finish.saturating_add(buffers)) {
        least if least > most => Err(least),
        _ => Ok(plan((most - least).min(needs.parts), 0, buffers)),
    }
}

/// Makes the plan and reports it; refuses what does not fit. The bound on
/// the pairs that share a motif is replaced by their number in `demand` if it does not fit.
pub(super) fn make(run: &mut Context, demand: &mut Demand, counts: Option<&Counts>) -> Result<()> {
    let (resident, limit) = (resident(), run.memory_limit);
    let touched = counts.map_or(Vec::new(), |counts| demand.touched(counts));
    let counts_bytes = counts.map_or(0, |counts| counts.bytes() as u64);
    // A model keeps the counts.
    let kept = run.draft.as_ref().map_or(0, |_| counts_bytes);
    let fit = |demand: &Demand, more: u64| {
        let (needs, resident) = (demand.needs(&touched), resident + more);
        let others = resident.saturating_sub(counts_bytes);
        let peaks = peaks(others, (counts_bytes, kept), &needs);
        place(peaks, &needs, (resident, buffers(demand)), limit)
    };
    *demand = demand.with_most_pairs();
    let mut plan = fit(demand, 0);
    let free = limit.unwrap_or(u64::MAX).saturating_sub(resident);
    if plan.is_err()
        && let Some(counts) = counts
        && let Some(counted) = demand.with_pairs_counted(counts, free)
    {
        *demand = counted;
        plan = fit(demand, 0);
    }
    if plan.is_err() || run.shortage == Some(Shortage::Factors) {
        *demand = demand.tightest();
        plan = fit(demand, 0);
    }
    let larger = |demand: &Demand| fit(demand, LARGER_JOB).is_ok();
    let mut plan = plan.map_err(|least| refusal_of(run, demand, least, larger))?;
    plan.aside = demand.spills_factors;
    if run.shortage == Some(Shortage::Parts) {
        let parts = plan.held + plan.spilled;
        (plan.held, plan.spilled) = (parts / 2, parts - parts / 2);
    }
    report(run, demand, plan.local.max(plan.global));
    if demand.only_features {
        return Ok(());
    }
    let folder = run.temp_folder.display();
    if plan.spilled > 0 {
        let place = match run.checkpoint {
            Some(_) => "the checkpoint".to_owned(),
            None => format!("temporary files in {folder}"),
        };
        run.progress.note(&format!(
            "the local stage takes about {}, the global stage {}; of the local embeddings, {} stay in memory and {} go to \
             {place}",
            human_bytes(plan.local),
            human_bytes(plan.global),
            human_bytes(plan.held),
            human_bytes(plan.spilled),
        ));
    }
    if plan.aside {
        run.progress.note(&format!(
            "memory is short: factors are moved to temporary files in {folder} while others are computed"
        ));
        run.aside = Some(run.temp_folder.clone());
    }
    run.report.plan = Some(plan);
    // If everything fits, no estimate of a part's size may send one to a file.
    run.room = match plan.spilled {
        0 => u64::MAX,
        _ => plan.held,
    };
    Ok(())
}

/// Refuses, before motifs are counted, what cannot fit whatever the counts; names a limit that is enough for any
/// counts.
pub(super) fn check_least(run: &Context, demand: &Demand, counted: bool) -> Result<()> {
    let (resident, demand) = (resident(), demand.tightest());
    let exact = run.config.sample == Sample::Exact && !counted;
    let fits = |demand: &Demand, counts: u64, more: u64| {
        let [local, global, finish] = peaks(resident, (counts, 0), &demand.needs(&[]));
        let counting = if exact { COUNTING * demand.slots() } else { 0 };
        let counting = resident.saturating_add(counting);
        let most = local.max(global).max(finish).max(counting);
        allowed(run, most.saturating_add(more))
    };
    // Counting triangles takes time, which few runs need to spend.
    let fits = |demand: &Demand, more: u64| match exact {
        true => {
            fits(demand, COUNTING_AT_MOST * demand.slots(), more)
                || fits(demand, counted_at_least(run, demand), more)
        }
        false => fits(demand, 0, more),
    };
    if fits(&demand, 0) {
        return Ok(());
    }
    let larger = |demand: &Demand| fits(demand, LARGER_JOB);
    Err(refusal_of(run, &demand, enough(run, &demand), larger))
}

/// A refusal that also says how many processes would be enough, if several share the rows.
fn refusal_of(run: &Context, demand: &Demand, need: u64, fits: impl Fn(&Demand) -> bool) -> Error {
    let mut error = refusal(run, demand, need);
    let processes = run.engine.processes();
    let shared = |&count: &usize| demand.shared_by(count).is_some_and(|demand| fits(&demand));
    let mut more = (processes + 1..=PROCESSES).filter(|_| processes > 1);
    let enough = more.find(shared);
    if let (Some(enough), Error::Memory { remedy, .. }) = (enough, &mut error) {
        remedy.push(format!(", or start {enough} processes"));
    }
    error
}

/// An amount that is enough for any motif counts.
fn enough(run: &Context, demand: &Demand) -> u64 {
    let demand = demand.with_most_pairs().tightest();
    let (counts, needs) = (
        counted_at_most(run, &demand),
        demand.needs(&demand.most_touched()),
    );
    let [local, global, finish] = peaks(resident(), (counts, counts), &needs);
    local
        .max(global)
        .max(finish)
        .saturating_add(buffers(&demand))
}

/// Lower bound of the bytes in use once motifs are counted: the allocator keeps small amounts freed by counting, and the
/// narrowest counts have two bytes. Counting takes most of its maximum, given the triangles: 92 % on R-MAT.
fn counted_at_least(run: &Context, demand: &Demand) -> u64 {
    let peak = if demand.is_directed() {
        COUNTING * demand.slots()
    } else {
        counted_at_most(run, demand) / 8 * 7
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
        Sample::Exact if !demand.is_directed() => counting_triangles(demand.pattern()),
        _ => COUNTING_AT_MOST * demand.slots(),
    }
}

/// Bytes of the buffers of all threads, should files be read.
fn buffers(demand: &Demand) -> u64 {
    BUFFER * demand.parts() * rayon::current_num_threads() as u64
}

/// A refusal of attributes that names a limit that is also enough for the work that follows.
pub(super) fn naming_all_with_attributes(run: &Context, error: Error, graph: &Graph) -> Error {
    let Error::Memory { need, .. } = error else {
        return error;
    };
    let columns = need.div_ceil(4 * graph.nodes().max(1) as u64) as usize;
    let motifs = run.config.motifs.motifs();
    naming_all(run, error, &Demand::new(run, graph, &motifs, columns))
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

fn report(run: &mut Context, demand: &Demand, need: u64) {
    run.report.memory_estimate = need;
    if need < NOTABLE && run.memory_limit.is_none_or(|limit| need < limit / 8) {
        return;
    }
    let text = match run.memory_limit {
        Some(limit) => format!("{} of {}", beside(need, limit), beside(limit, limit)),
        None => human_bytes(need),
    };
    run.progress
        .note(&format!("{} takes about {text} of memory", stage(demand)));
}

/// The refusal of work that needs this many bytes, with a limit with which the same run is not refused again.
fn refusal(run: &Context, demand: &Demand, need: u64) -> Error {
    let (depth, steps) = (
        setting("structure.depth"),
        setting("features.diffusion.steps"),
    );
    let mut lower = message!["lower "];
    if demand.only_features {
        lower = lower.and(message![depth, ", ", steps, " or the number of motifs"]);
    } else {
        lower = lower.and(message![
            setting("local.dim"),
            ", ",
            setting("global.dim"),
            ", the number of steps, "
        ]);
        lower.push(match run.config.has_features() {
            false => "or the number of motifs".into(),
            true => message!["the number of motifs, ", depth, " or ", steps],
        });
        if run.config.has_features() && run.config.features.form == Form::Columns {
            let components = set("features.form", "{ components = {} }");
            lower = lower.and(", reduce features to ").and(components);
        }
        if run.config.pairs == Pairs::Occurrences {
            let out = ", leave out path4, whose pairs are three edges apart, use ";
            lower = lower.and(out).and(set("pairs", "edges"));
        }
    }
    Error::Memory {
        stage: stage(demand).to_owned(),
        need: limit_for(need.saturating_add(SLACK)),
        least: false,
        limit: run.memory_limit.unwrap_or(u64::MAX),
        remedy: message![lower, ", or raise ", setting("memory_limit")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::Hone;
    use crate::progress::Silent;

    const NEEDS: Needs = Needs {
        parts: 640 << 20,
        fixed: 10 << 20,
        local: 500 << 20,
        global: 600 << 20,
        finish: 0,
        in_place: 0,
    };

    /// With 100 MiB in use, 30 of them by counts.
    fn plan(limit: Option<u64>) -> Result<MemoryPlan, u64> {
        let peaks = peaks(70 << 20, (30 << 20, 0), &NEEDS);
        place(peaks, &NEEDS, (100 << 20, 16 << 20), limit)
    }

    /// Slices of a joint model are kept in half of what is free.
    #[test]
    fn slices_are_held_where_they_fit_into_half_of_what_is_free() {
        let graph = crate::graph::builtin("karate").expect("built in");
        let hone = Hone::new(crate::Config::preset("hone-p").expect("a preset")).expect("valid");
        let (run, motifs) = (hone.begin(&graph, &Silent), hone.config.motifs.motifs());
        let demand = Demand::new(&run, &graph, &motifs, 0);
        let enough = (0..40).map(|power| 1 << power);
        let enough: Vec<u64> = enough.filter(|&free| demand.holds_slices(free)).collect();
        let [least, most] = [enough[0], enough[enough.len() - 1]];
        assert!(least > 1 << 18 && least < 1 << 30 && most == 1 << 39);
    }

    #[test]
    fn what_fits_is_held() {
        for limit in [None, Some(limit_for(1320 << 20))] {
            let plan = plan(limit).expect("fits");
            assert_eq!((plan.held, plan.spilled), (NEEDS.parts, 0));
            assert_eq!((plan.local, plan.global), (1250 << 20, 1320 << 20));
        }
    }

    #[test]
    fn beyond_that_just_enough_is_spilled() {
        let plan = plan(Some(1024 << 20)).expect("fits");
        assert_eq!((plan.held, plan.spilled), (296 << 20, 344 << 20));
        assert!(
            plan.local <= plan.global && plan.global == usable(1024 << 20),
            "{plan:?}"
        );
    }

    #[test]
    fn what_cannot_fit_is_refused_with_the_least_that_would() {
        let least = limit_for(plan(Some(600 << 20)).expect_err("too little"));
        let plan = plan(Some(least)).expect("just enough");
        assert!(
            plan.held <= 2 && plan.global <= least && plan.global >= least - least / 30,
            "{plan:?}"
        );
    }
}
