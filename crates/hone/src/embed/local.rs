//! Local embeddings U_t^(k), one per motif and step (sec. 2.4).
//!
//! Rows of U say where the arcs of a node lead. In a directed graph a node without outgoing arcs has a zero row, and V,
//! whose rows say where arcs come from, is a separate part next to U. So are the factors of the log window that U
//! spans.

use std::sync::Arc;

use super::attributes::{self, X};
use super::context::{Context, locate};
use super::factors::write_local;
use super::model;
use super::part::{Label, Part};
use super::plan::Files;
use super::steps;
use super::weighted::{Weighted, weighted_on};
use crate::config::{Config, LOG, Model, TARGET};
use crate::dense::{Block, Group, Panels};
use crate::engine::{Local, Request, Shape, Window};
use crate::error::{Error, Result};
use crate::factor::{Factors, Info, Task};
use crate::graph::Graph;
use crate::matrix::MotifMatrix;
use crate::message::{message, set};
use crate::motif::{Counts, Motif, Pairs};
use crate::random::Key;
use crate::report::LocalFacts;
use crate::space::widths;

/// All local embeddings, sorted by step, and the attributes next to them; one motif is worked on at a time.
pub(super) fn all(
    run: &mut Context,
    graph: &Graph,
    counts: Arc<Counts>,
    motifs: &[Motif],
    xs: Vec<X>,
) -> Result<(Vec<Part>, Vec<Part>)> {
    let (steps, diffusion) = (steps::computed(run.config), &run.config.features.diffusion);
    let count = motifs.len() * steps.clone().count();
    run.progress.stage("local embeddings", count as u64);
    let (mut locals, mut attributes) = (Vec::new(), Vec::new());
    // Nothing but the result needs X if it is not diffused.
    let (xs, undiffused) = match diffusion.steps {
        0 => (Vec::new(), xs),
        _ => (xs, Vec::new()),
    };
    let undiffused = undiffused.into_iter().map(|x| {
        let part = run.own_rows(x.into());
        if run.files == Files::Factors {
            run.in_file(part)
        } else {
            Ok(part)
        }
    });
    let undiffused = undiffused.collect::<Result<Vec<Part>>>()?;
    let mut counts = Some(counts);
    for (number, &motif) in motifs.iter().enumerate() {
        let labels = steps.clone().map(|step| labels(run, graph, motif, step));
        let labels: Vec<Vec<Label>> = labels.collect();
        let of_x = xs
            .iter()
            .map(|x| attributes::diffused_labels(run, x, motif));
        let of_x: Vec<Vec<Label>> = of_x.collect();
        // A checkpoint has rows that are already scaled, and no right factors.
        let anew = run.factors || run.draft.is_some();
        let complete = labels
            .iter()
            .chain(&of_x)
            .all(|labels| run.is_cached(labels));
        let w = match counts.as_ref().filter(|_| anew || !complete) {
            Some(counts) => {
                let rows = run.rows_of_matrices();
                Some(weighted_on(
                    run.engine, run.config, graph, counts, motif, &rows,
                )?)
            }
            None => None,
        };
        // Once the last motif has its graph, they are freed.
        counts.take_if(|_| number + 1 == motifs.len());
        for (step, labels) in steps.clone().zip(labels) {
            run.progress.check()?;
            let cached = if anew {
                None
            } else {
                run.cached(&labels, true)?
            };
            match (cached, &w) {
                (Some((parts, facts)), _) => {
                    locals.extend(parts);
                    run.report.local.extend(facts);
                }
                (None, Some(w)) => {
                    let (groups, facts) = factor(run, graph, w, step)?;
                    for (label, group) in labels.into_iter().zip(groups) {
                        let group = group.with_rows(w.graph.nodes.clone());
                        locals.push(run.keep(Part { label, group }, Some(&facts))?);
                    }
                    run.report.local.push(facts);
                }
                (None, None) => unreachable!("W_t is made if a part is missing"),
            }
            run.progress.advance(1);
        }
        for x in &xs {
            attributes.extend(attributes::diffused(run, x, motif, w.as_ref())?);
        }
    }
    let original = xs.into_iter().filter(|_| diffusion.original);
    attributes.extend(original.map(Part::from).chain(undiffused));
    // Eq. 16: step by step, motif by motif; statistics and columns in the same order.
    locals.sort_by_key(|part| part.label.step);
    run.report.local.sort_by_key(|facts| facts.step);
    Ok((locals, attributes))
}

/// Refuses motif graphs with more rows than the solver can read, before any is embedded.
pub(super) fn check_rows(config: &Config, counts: &Counts, motifs: &[Motif]) -> Result<()> {
    let (solver, nodes) = (&config.local.solver, counts.pattern().rows());
    let most = solver.most_rows();
    if config.model != Model::Separate || nodes <= most {
        return Ok(());
    }
    let delta = |motif: Motif| config.delta.of(motif).max(1);
    let mut rows = counts.touched(motifs, delta);
    if config.pairs == Pairs::Occurrences {
        // A pair may reach delta even if no edge of its nodes does. All nodes of an occurrence have an edge in it.
        let some = counts.touched(motifs, |_| 1);
        for (&motif, some) in motifs.iter().zip(some) {
            if some > most as u64 {
                rows.push(counts.pair_nodes(motif, config.delta.of(motif))? as u64);
            }
        }
    }
    match rows.into_iter().max() {
        Some(rows) if rows > most as u64 => {
            let error = solver.too_many(rows as usize);
            Err(locate(error, "local", "local embeddings"))
        }
        _ => Ok(()),
    }
}

/// The parts of Y that a motif and step give: U, V if arcs have two sides, and at the first step the log window.
fn labels(run: &Context, graph: &Graph, motif: Motif, step: usize) -> Vec<Label> {
    let dim = run.config.local_dim();
    let motif = motif.called(run.config.structure.numbers);
    let mut labels = vec![Label::numbered(motif, step, dim)];
    if run.both_sides(graph) {
        labels.push(Label::numbered(format!("{motif}{TARGET}"), step, dim));
    }
    let columns = window_columns(run, graph, step);
    if columns > 0 {
        labels.push(Label::numbered(format!("{motif}{LOG}"), step, columns));
    }
    labels
}

/// Columns of the log window of a step; 0 for none. It is made from the factors of the first step.
fn window_columns(run: &Context, graph: &Graph, step: usize) -> usize {
    let first = *steps::computed(run.config).start();
    if step == first {
        run.config.log_window_dim(graph)
    } else {
        0
    }
}

/// U_t^(k), V_t^(k) and the log window as columns of Y, in the order of their labels.
fn factor(
    run: &mut Context,
    graph: &Graph,
    w: &Weighted,
    step: usize,
) -> Result<(Vec<Group>, LocalFacts)> {
    let (config, engine, motif) = (run.config, run.engine, w.graph.motif);
    let solver = &config.local.solver;
    let stage = format!("local embedding of motif {motif}, step {step}");
    let located = |error| locate(error, "local", &stage);
    let walk = |laziness: f64| {
        let matrix = MotifMatrix {
            laziness,
            ..config.matrix()
        };
        matrix.scaled_operator_within(&w.operator, w.graph.scale, step, solver.largest())
    };
    let (scale, operator) = walk(run.laziness)?;
    if scale != 1.0 && !solver.is_scale_free() {
        return Err(out_of_range(scale, w.graph.scale, solver.largest(), stage));
    }
    let (both, columns) = (run.both_sides(graph), window_columns(run, graph, step));
    let aside = run.waiting();
    let task = Task {
        rank: config.local_dim(),
        right: both || run.factors,
        key: Key::new(config.seed).with(motif.name(), step as u64),
        progress: run.progress,
        aside: aside.as_deref(),
    };
    // The walks of a log window never stay at their node.
    let busy = (columns > 0).then(|| walk(0.0)).transpose()?;
    let window = busy.as_ref().map(|(_, s)| Window {
        s,
        steps: config.local.log_window.steps,
        columns,
        weight: config.local.log_window.weight.given().copied(),
    });
    let shape = Shape::new(&config.local, step, run.laziness, operator.is_symmetric());
    let facts = |sigma: Vec<f64>, info: Info| LocalFacts {
        motif: motif.called(config.structure.numbers).to_owned(),
        step,
        formula: operator.formula(),
        nodes: w.graph.matrix.pattern().rows(),
        nonzeros: w.graph.nnz,
        scale,
        below_delta: w.graph.below_delta,
        community_weight: shape.community_weight(&sigma, operator.rows()),
        singular_values: sigma,
        rank: info.rank,
        base: info.base,
        iterations: info.iterations,
        residual: info.residual,
        converged: info.converged,
        multiple_from: info.multiple_from,
        loss: info.loss,
    };
    let Local { factors, window } = if run.draft.is_none() && run.writer.is_none() {
        // A checkpoint has all rows, and W_t of some nodes has other rows than Y.
        let own_rows = !run.own.is_all() && run.checkpoint.is_none() && w.graph.nodes.is_none();
        let request = Request {
            shape,
            window,
            own_rows,
        };
        engine
            .local(solver, &operator, &task, &request)
            .map_err(located)?
    } else {
        // Models and folders of factors have U and V as they are.
        let mut factors = engine.factor(solver, &operator, &task).map_err(located)?;
        factors = factors.finite().map_err(located)?;
        let facts = facts(factors.sigma.clone(), factors.info.clone());
        factors = hand_out(run, graph, w, factors, &facts)?;
        let view = window.map(|window| engine.window(&window, &mut factors.u, &task));
        let view = view.transpose().map_err(located)?;
        let (local, landmarks) = shape.shaped_here(factors, view, task.aside)?;
        if let (Some(draft), Some((landmarks, size))) = (&mut run.draft, landmarks) {
            draft.keep_window(landmarks, size, w.graph.scale)?;
        }
        local
    };
    let Factors { u, sigma, v, info } = factors;
    let groups = [Some(u), v.filter(|_| both), window];
    Ok((groups.into_iter().flatten().collect(), facts(sigma, info)))
}

/// Adds the factors to the model and to the folder of factors, if there are such.
fn hand_out(
    run: &mut Context,
    graph: &Graph,
    w: &Weighted,
    mut factors: Factors<Panels>,
    facts: &LocalFacts,
) -> Result<Factors<Panels>> {
    let both = run.both_sides(graph);
    let v = factors.v.as_ref().filter(|_| both);
    model::keep_factors(run, graph.ids(), &w.graph, &factors.u, v, facts)?;
    if let Some(writer) = &mut run.writer {
        // Panels as everywhere: several processes go on with them together, and only one of them writes.
        let widths = widths(factors.u.cols());
        let [u, v] = [Some(factors.u), factors.v].map(|side| side.map(Panels::into_block));
        let u = u.expect("left factors");
        let nodes = w.graph.nodes.as_deref();
        write_local(
            writer,
            &run.config.local.solver,
            facts,
            nodes,
            &u,
            v.as_ref(),
        )?;
        let cut = |block: Block| Panels::from(block).cut(&widths);
        (factors.u, factors.v) = (cut(u), v.map(cut));
    }
    Ok(factors)
}

/// Why a matrix that had to be scaled cannot be factored under a loss or a penalty that depends on the scale.
fn out_of_range(scale: f64, of_weights: f64, largest: f64, stage: String) -> Error {
    let why = if of_weights == 1.0 {
        format!(
            "the norm of this matrix may be beyond 2^±{largest}, where this solver would overflow 32-bit floating point"
        )
    } else {
        "edge weights are beyond 2^±40, where counts times weights may overflow 32-bit floating point".to_owned()
    };
    let message = message![
        format!(
            "{why}; the matrix would have to be multiplied by {scale:e}, which changes the factors under a penalty or a \
             divergence. Use fewer steps, "
        ),
        set("psi", "p"),
        ", other edge weights, or a solver that does not depend on the scale: svd, or a squared loss without regularization"
    ];
    Error::Numeric { stage, message }
}
