//! The memory plan of a run: what stays in memory, and what goes to temporary files.
//!
//! The plan is made once motifs are counted. The graph, its counts and one motif's matrix and solver are in memory, and
//! so is the result. Y grows with motifs and steps: as much of it as fits is kept in memory, in the order in which it
//! is computed, and the rest goes to files, to be read back row by row for the Gram matrix and for Z. If that is not
//! enough, the solver's panels, U, X and Z are moved to files while others are worked on ([`Work::tightest`]). A run
//! that still does not fit is refused.

mod budget;
mod counting;
mod sharing;
pub(super) mod work;
mod writing;

use super::context::{Context, Shortage, locate};
use crate::config::{Config, Form, Model};
use crate::error::{Error, Result, beside, human_bytes};
use crate::graph::Graph;
use crate::memory;
use crate::motif::{Counts, Delta, Motif, Pairs, Sample};
use crate::report::MemoryPlan;
use budget::{Needs, most_touched};
use work::Work;

/// Bytes of the buffer through which a thread reads a part from its file.
const BUFFER: u64 = 64 << 10;

/// One part in this many of the limit is reserved: for the allocator, stacks and estimation errors.
const SPARE: u64 = 32;

/// The part of the limit that can be planned.
fn usable(limit: u64) -> u64 {
    limit - limit / SPARE
}

/// The limit that leaves `bytes` to plan with.
fn limit_for(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / (SPARE - 1) + 1)
}

/// Bytes by which the memory of a process varies from one run to the next.
const WAVER: u64 = 4 << 20;

/// The limit that a refusal names: with it the same run is not refused again.
fn enough_for(bytes: u64) -> u64 {
    limit_for(bytes.saturating_add(WAVER))
}

/// Memory in use when the plan is made.
#[derive(Debug, Clone, Copy)]
struct Base {
    /// All of it.
    resident: u64,
    /// The counts, which the global stage no longer needs, unless a model keeps them.
    counts: u64,
    /// Buffers of all threads, should files be read.
    buffers: u64,
}

/// Keeps as much of Y in memory as `limit` allows; if that is not enough, returns the smallest sufficient amount.
fn plan(base: Base, needs: Needs, limit: Option<u64>) -> Result<MemoryPlan, u64> {
    let local = (base.resident + needs.fixed).saturating_add(needs.local);
    let uncounted = base.resident.saturating_sub(base.counts) + needs.fixed;
    let global = uncounted.saturating_add(needs.global);
    let finish = uncounted.saturating_add(needs.finish);
    let least = local.max(global).max(finish);
    let limit_or_all = limit.map_or(u64::MAX, usable);
    let with = |held: u64, own: u64| {
        let local = local.saturating_add(held.saturating_sub(own));
        (local, global.saturating_add(held).max(finish))
    };
    let all = with(needs.parts, needs.own);
    let (held, own, buffers) = if all.0.max(all.1) <= limit_or_all {
        (needs.parts, needs.own, 0)
    } else {
        let room = |least: u64| limit_or_all.checked_sub(least.saturating_add(base.buffers));
        room(least).ok_or(least.saturating_add(base.buffers))?;
        (
            room(local.max(global)).unwrap_or(0).min(needs.parts),
            0,
            base.buffers,
        )
    };
    let (local, global) = with(held, own);
    Ok(MemoryPlan {
        limit,
        resident: base.resident,
        local: local.saturating_add(buffers),
        global: global.saturating_add(buffers),
        held,
        spilled: needs.parts - held,
        aside: false,
    })
}

/// The name of the work.
const EMBEDDING: &str = "the embedding";
const FEATURES: &str = "making features";

/// Makes the plan, reports it, and returns how many bytes of Y stay in memory; refuses what does not fit. The bound on
/// the pairs that share a motif is replaced by their number in `work` if it does not fit.
pub(super) fn make(run: &mut Context, work: &mut Work, counts: &Counts) -> Result<u64> {
    let given_up = if run.draft.is_some() {
        0
    } else {
        counts.bytes() as u64
    };
    let base = Base {
        resident: memory::resident().unwrap_or(0),
        counts: given_up,
        buffers: buffers(work),
    };
    let (limit, touched) = (run.memory_limit, work.touched(run.engine, counts));
    let of = |work: &Work| {
        let plan = plan(base, work.needs(Some(&touched)), limit)?;
        Ok(MemoryPlan {
            aside: work.aside,
            ..plan
        })
    };
    *work = work.bounded();
    let mut plan = of(work);
    if plan.is_err()
        && let Some(counted) = work.with_pairs_counted(counts, limit)
    {
        *work = counted;
        plan = of(work);
    }
    if plan.is_err() || run.shortage == Some(Shortage::Factors) {
        *work = work.tightest();
        plan = of(work);
    }
    run.aside = work.aside.then(|| run.temp_folder.clone());
    let larger = Base {
        resident: base.resident + LARGER_JOB,
        ..base
    };
    let more = |shared: &Work| self::plan(larger, shared.needs(Some(&touched)), limit).is_ok();
    let mut plan = plan
        .map_err(|least| naming_processes(does_not_fit(run, EMBEDDING, least), run, work, more))?;
    if run.shortage == Some(Shortage::Parts) {
        let parts = plan.held + plan.spilled;
        (plan.held, plan.spilled) = (parts / 2, parts - parts / 2);
    }
    report(run, EMBEDDING, plan.local.max(plan.global));
    if plan.spilled > 0 {
        let place = match run.checkpoint {
            Some(_) => "the checkpoint".to_owned(),
            None => format!("temporary files in {}", run.temp_folder.display()),
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
        let folder = run.temp_folder.display();
        run.progress.note(&format!(
            "memory is short: factors are moved to temporary files in {folder} while others are computed"
        ));
    }
    run.report.plan = Some(plan);
    // If everything fits, no estimate of a part's size may send one to a file.
    Ok(if plan.spilled == 0 {
        u64::MAX
    } else {
        plan.held
    })
}

/// Refuses, before motifs are counted, what cannot fit whatever the counts; names a limit that is enough for any
/// counts.
pub(super) fn check_least(run: &Context, work: &Work, counted: bool) -> Result<()> {
    let (resident, work) = (memory::resident().unwrap_or(0), &work.tightest());
    let exact = run.config.sample == Sample::Exact && !counted;
    let counting = if exact { work.counting() } else { 0 };
    let least = |work: &Work, held: u64| {
        let needs = work.needs(None);
        let local = needs.local.saturating_add(held);
        let working = needs
            .fixed
            .saturating_add(local.max(needs.global).max(needs.finish));
        resident.saturating_add(counting.max(working))
    };
    let fits = |work: &Work, (held, beside): (u64, u64)| {
        run.memory_limit
            .is_none_or(|limit| least(work, held).saturating_add(beside) <= usable(limit))
    };
    // Counting triangles takes time, which few runs need to spend.
    let all = |work: &Work, beside: u64| match exact {
        true => {
            fits(work, (work.counted_beyond(), beside))
                || fits(work, (work.counted_at_least(), beside))
        }
        false => fits(work, (0, beside)),
    };
    if all(work, 0) {
        return Ok(());
    }
    let more = |work: &Work| all(work, LARGER_JOB);
    Err(naming_processes(
        does_not_fit(run, EMBEDDING, most(work)),
        run,
        work,
        more,
    ))
}

/// Bytes that a process of a larger job may take in addition: buffers of MPI, and what wavers.
const LARGER_JOB: u64 = 4 * WAVER;

/// Rows are divided among at most as many processes as there are lanes.
const PROCESSES: u64 = 64;

/// A refusal that also says how many processes would be enough, if several share the rows.
fn naming_processes(
    error: Error,
    run: &Context,
    work: &Work,
    fits: impl Fn(&Work) -> bool,
) -> Error {
    let Error::Memory {
        stage,
        need,
        least,
        limit,
        remedy,
    } = error
    else {
        return error;
    };
    let more = run.engine.processes() as u64 + 1;
    let enough =
        (more..=PROCESSES).find(|&count| work.shared_by(count).is_some_and(|work| fits(&work)));
    let remedy = match enough {
        Some(enough) => format!("{remedy}, or start {enough} processes"),
        None => remedy,
    };
    Error::Memory {
        stage,
        need,
        least,
        limit,
        remedy,
    }
}

/// An amount that is enough for any motif counts.
fn most(work: &Work) -> u64 {
    let work = work.bounded().tightest();
    let needs = work.needs(None);
    let local = needs.local.saturating_add(work.beside_solver_at_most());
    let stages = (needs.fixed + work.row_numbers())
        .saturating_add(local.max(needs.global).max(needs.finish));
    stages.saturating_add(memory::resident().unwrap_or(0) + work.counted_at_most() + buffers(&work))
}

/// Bytes of the buffers of all threads, should files be read.
fn buffers(work: &Work) -> u64 {
    BUFFER * work.parts() * rayon::current_num_threads() as u64
}

/// A refusal of attributes that names a limit that is also enough for the work that follows.
pub(super) fn naming_all_with_attributes(run: &Context, error: Error, graph: &Graph) -> Error {
    let Error::Memory { need, .. } = error else {
        return error;
    };
    let (columns, motifs) = (
        need.div_ceil(4 * graph.nodes().max(1) as u64),
        run.config.motifs.motifs(),
    );
    naming_all(error, &Work::new(run, graph, &motifs, columns as usize))
}

/// A refusal that names a limit that is also enough for the work that follows.
pub(super) fn naming_all(error: Error, work: &Work) -> Error {
    match error {
        Error::Memory {
            stage,
            need,
            least,
            limit,
            remedy,
        } => Error::Memory {
            stage,
            need: need.max(enough_for(most(work))),
            least,
            limit,
            remedy,
        },
        other => other,
    }
}

/// Refuses motif graphs with more rows than the solver can read, before any is embedded.
pub(super) fn check_rows(config: &Config, counts: &Counts, motifs: &[Motif]) -> Result<()> {
    let solver = &config.local.solver;
    if config.model != Model::Separate || counts.pattern().rows() <= solver.most_rows() {
        return Ok(());
    }
    let delta = &config.delta;
    let mut rows = most_touched(counts, motifs, delta) as usize;
    if config.pairs == Pairs::Occurrences {
        // A pair may reach delta even if no edge of its nodes does. All nodes of an occurrence have an edge in it.
        let may = |&&motif: &&Motif| {
            most_touched(counts, &[motif], &Delta::All(1)) as usize > solver.most_rows()
        };
        for &motif in motifs.iter().filter(may) {
            rows = rows.max(counts.pair_nodes(motif, delta.of(motif))?);
        }
    }
    if rows <= solver.most_rows() {
        Ok(())
    } else {
        Err(locate(solver.too_many(rows), "local", "local embeddings"))
    }
}

/// Refuses, before motifs are counted for them, features that cannot fit; names a limit that is enough for any counts.
pub(super) fn check_features_least(run: &Context, work: &Work) -> Result<()> {
    if run.config.sample == Sample::Exact && !fits(run, work.features().max(work.counting())) {
        let most = work.features().saturating_add(work.counted_at_most());
        return Err(does_not_fit(
            run,
            FEATURES,
            memory::resident().unwrap_or(0).saturating_add(most),
        ));
    }
    Ok(())
}

/// Refuses features that do not fit in addition to `held` bytes: those in use before motifs were counted, and the
/// counts. Memory freed by counting is available for the features.
pub(super) fn check_features(run: &mut Context, work: &Work, held: u64) -> Result<()> {
    let need = held.saturating_add(work.features());
    report(run, FEATURES, need);
    if run.memory_limit.is_none_or(|limit| need <= usable(limit)) {
        return Ok(());
    }
    Err(does_not_fit(run, FEATURES, need))
}

/// Refuses features that do not fit while they are diffused over pairs of nodes.
pub(super) fn check_diffusion(run: &mut Context, work: &Work, counts: &Counts) -> Result<()> {
    if work.pairing() == 0 {
        return Ok(());
    }
    let mut work = work.bounded();
    let bytes = |work: &Work| work.features().saturating_add(work.pairing());
    if !fits(run, bytes(&work)) {
        work = work
            .with_pairs_counted(counts, run.memory_limit)
            .unwrap_or(work);
    }
    check(run, "diffusing features", bytes(&work))
}

/// Whether this many bytes fit in addition to those in use.
fn fits(run: &Context, bytes: u64) -> bool {
    let need = memory::resident().unwrap_or(0).saturating_add(bytes);
    run.memory_limit.is_none_or(|limit| need <= usable(limit))
}

/// Reports how much memory is needed in addition to that in use, and refuses what does not fit.
fn check(run: &mut Context, what: &str, bytes: u64) -> Result<()> {
    let need = memory::resident().unwrap_or(0).saturating_add(bytes);
    report(run, what, need);
    if fits(run, bytes) {
        Ok(())
    } else {
        Err(does_not_fit(run, what, need))
    }
}

/// Work that takes less than this, and a small part of the limit, is not worth a note.
const NOTABLE: u64 = 1 << 30;

fn report(run: &mut Context, what: &str, need: u64) {
    run.report.memory_estimate = need;
    if need < NOTABLE && run.memory_limit.is_none_or(|limit| need < limit / 8) {
        return;
    }
    let text = match run.memory_limit {
        Some(limit) => format!("{} of {}", beside(need, limit), beside(limit, limit)),
        None => human_bytes(need),
    };
    run.progress
        .note(&format!("{what} takes about {text} of memory"));
}

/// The refusal of work that needs this many bytes.
fn does_not_fit(run: &Context, what: &str, need: u64) -> Error {
    let features = match (run.config.has_features(), run.config.features.form) {
        (false, _) => "or the number of motifs",
        (true, Form::Components(_)) => {
            "the number of motifs, structure.depth or features.diffusion.steps"
        }
        (true, Form::Columns) => {
            "the number of motifs, structure.depth or features.diffusion.steps, reduce features to \
             features.form = { components = {} }"
        }
    };
    let pairs = match run.config.pairs {
        Pairs::Edges => "",
        Pairs::Occurrences => {
            ", leave out path4, whose pairs are three edges apart, use pairs = \"edges\""
        }
    };
    let lower = if what == FEATURES {
        "structure.depth, features.diffusion.steps or the number of motifs".to_owned()
    } else {
        format!("local.dim, global.dim, the number of steps, {features}{pairs}")
    };
    Error::Memory {
        stage: what.to_owned(),
        need: enough_for(need),
        least: false,
        limit: run.memory_limit.unwrap_or(u64::MAX),
        remedy: format!("lower {lower}, or raise the memory limit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Base = Base {
        resident: 100 << 20,
        counts: 30 << 20,
        buffers: 16 << 20,
    };
    const NEEDS: Needs = Needs {
        parts: 640 << 20,
        fixed: 10 << 20,
        local: 500 << 20,
        global: 600 << 20,
        finish: 0,
        own: 0,
    };

    /// Slices of a joint model are kept in half of what is free; the limit here is far from what the process holds.
    #[test]
    fn slices_are_held_where_they_fit_into_half_of_the_limit() {
        let config = Config::preset("hone-p").expect("a preset");
        let graph = crate::graph::builtin("karate").expect("built in");
        let motifs = config.motifs.motifs();
        let work = Work {
            config: &config,
            own: 0,
            graph: &graph,
            motifs: &motifs,
            right: false,
            sides: 1,
            model: false,
            factors: false,
            sharing: 1,
            own_factors: false,
            steps: 1,
            positions: 1 << 40,
            written: None,
            puts_aside: false,
            aside: false,
        };
        let free = 2 * work.slices();
        assert!(free > 1 << 40, "{free}");
        for (limit, holds) in [
            (None, true),
            (Some(0), false),
            (Some(free / 2), false),
            (Some(free + free / 2), true),
        ] {
            assert_eq!(work.holds_slices(limit), holds, "{limit:?}");
        }
    }

    #[test]
    fn what_fits_is_held() {
        for limit in [None, Some(limit_for(1320 << 20))] {
            let plan = plan(BASE, NEEDS, limit).expect("fits");
            assert_eq!((plan.held, plan.spilled), (NEEDS.parts, 0));
            assert_eq!((plan.local, plan.global), (1250 << 20, 1320 << 20));
        }
    }

    #[test]
    fn beyond_that_just_enough_is_spilled() {
        let plan = plan(BASE, NEEDS, Some(1024 << 20)).expect("fits");
        assert_eq!((plan.held, plan.spilled), (296 << 20, 344 << 20));
        assert!(
            plan.local <= plan.global && plan.global == usable(1024 << 20),
            "{plan:?}"
        );
    }

    #[test]
    fn what_cannot_fit_is_refused_with_the_least_that_would() {
        let least = limit_for(plan(BASE, NEEDS, Some(600 << 20)).expect_err("too little"));
        let plan = plan(BASE, NEEDS, Some(least)).expect("just enough");
        assert!(
            plan.held <= 2 && plan.global <= least && plan.global >= least - least / 30,
            "{plan:?}"
        );
    }
}
