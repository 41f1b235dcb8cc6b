//! Local embeddings U_t^(k), one per motif and step (sec. 2.4).
//!
//! Rows of U say where the arcs of a node lead. In a directed graph a node without outgoing arcs has a zero row, and V,
//! whose rows say where arcs come from, is a separate part next to U. So are the factors of the log window that U
//! spans.

use std::sync::Arc;

use super::attributes::{self, X};
use super::context::{Context, locate};
use super::model::{Draft, keep_factors};
use super::part::Part;
use super::steps;
use super::storage::factors::write_local;
use super::storage::shelf::Shelf;
use super::weighted::{Counted, Lazily, Weighted};
use crate::config::{Combine, Config, LOG, Model, TARGET};
use crate::dense::panels::Own;
use crate::dense::{Group, Panels};
use crate::diffuse::Diffusion;
use crate::engine::{Local, Request, Shape, Window, energy};
use crate::error::{Error, Result};
use crate::factor::log_window::{Landmarks, View};
use crate::factor::{Factors, Info, Task};
use crate::graph::Graph;
use crate::matrix::MotifMatrix;
use crate::motif::{Counts, Motif, Pairs};
use crate::operator::Operator;
use crate::random::Key;
use crate::report::LocalFacts;
use crate::space::{Host, widths};
use crate::store::factors::Writer;

/// All local embeddings, sorted by step, and the attributes next to them; one motif is worked on at a time.
pub(super) fn all(
    run: &mut Context,
    counted: Counted,
    motifs: &[Motif],
    mut x: Option<X>,
    shelf: &mut Shelf,
) -> Result<(Vec<Part>, Vec<Part>)> {
    run.progress.stage(
        "local embeddings",
        (motifs.len() * steps::computed(run.config).count()) as u64,
    );
    let (mut locals, mut diffused) = (Vec::new(), Vec::new());
    let Diffusion {
        steps: diffusion,
        original,
        ..
    } = run.config.features.diffusion;
    let diffuse = diffusion > 0;
    // Nothing but the result needs them then.
    let shared = !run.own.is_all() && !diffuse && run.config.features.combine == Combine::After;
    let rows = x
        .take_if(|_| shared)
        .map(|x| attributes::undiffused(x).shared_out(&run.own));
    if let (Some(x), Some(folder)) = (&mut x, run.aside.as_ref().filter(|_| !diffuse)) {
        x.block.put_aside(folder)?;
    }
    // The last motif takes the counts themselves, so that they are freed when it is embedded.
    for (&motif, counted) in motifs
        .iter()
        .zip(std::iter::repeat_n(counted, motifs.len()))
    {
        let w = Lazily::new((run.config, run.engine), &run.own, counted, motif);
        locals.extend(of_motif(run, &w, shelf)?);
        if let Some(x) = x.as_ref().filter(|_| diffuse) {
            diffused.extend(attributes::diffused_or_found(run.config, x, &w, shelf)?);
        }
    }
    x.as_mut().map_or(Ok(()), |x| x.block.bring_back())?;
    diffused.extend(
        x.filter(|_| original || !diffuse)
            .map(attributes::undiffused)
            .or(rows),
    );
    // Eq. 16: step by step, motif by motif; statistics and columns in the same order.
    locals.sort_by_key(|part| part.step);
    run.report.local.sort_by_key(|facts| facts.step);
    Ok((locals, diffused))
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

/// The local embeddings of one motif, one per step, computed or from the shelf.
fn of_motif(run: &mut Context, w: &Lazily, shelf: &mut Shelf) -> Result<Vec<Part>> {
    let (mut parts, motif) = (Vec::new(), w.motif);
    for step in steps::computed(run.config) {
        run.progress.check()?;
        let wanted = wanted(run, w.graph(), motif, step);
        // A checkpoint has rows that are already scaled, and no right factors.
        let anew = run.factors || run.draft.is_some();
        let known = if anew {
            None
        } else {
            found(shelf, &wanted, step, &run.own)?
        };
        let (views, facts) = match known {
            Some(known) => known,
            None => {
                let (made, facts) = factor(run, w, (step, &wanted), shelf.factors())?;
                let mut kept = Vec::new();
                let keep = |view: &Wanted, columns: Group| {
                    let (name, group) = (view.name.clone(), w.get()?.group(columns));
                    let part = Part {
                        name,
                        step,
                        columns: Arc::default(),
                        group,
                    };
                    kept.push(shelf.keep(part, Some(&facts), &run.own)?);
                    Ok(())
                };
                made.shaped(&mut run.draft, (&wanted, &facts.singular_values), keep)?;
                (kept, facts)
            }
        };
        run.report.local.push(facts);
        parts.extend(views);
        run.progress.advance(1);
    }
    Ok(parts)
}

/// What one factorisation adds to Y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// U.
    Source,
    /// V, for directed graphs.
    Target,
    /// Factors of the log window that U spans.
    Log,
}

/// One part of Y: its name and number of columns.
struct Wanted {
    side: Side,
    name: String,
    columns: usize,
}

/// The parts of Y that the factors of a motif and step give. The log window is that of the first step.
fn wanted(run: &Context, graph: &Graph, motif: Motif, step: usize) -> Vec<Wanted> {
    let (config, dim) = (run.config, run.config.local_dim());
    let mut wanted = vec![Wanted {
        side: Side::Source,
        name: motif.name().to_owned(),
        columns: dim,
    }];
    if run.both_sides(graph) {
        wanted.push(Wanted {
            side: Side::Target,
            name: format!("{motif}{TARGET}"),
            columns: dim,
        });
    }
    let columns = config.log_window_dim(graph);
    if columns > 0 && step == *steps::computed(config).start() {
        wanted.push(Wanted {
            side: Side::Log,
            name: format!("{motif}{LOG}"),
            columns,
        });
    }
    wanted
}

/// The parts of one motif and step from an earlier run, all of them or none.
fn found(
    shelf: &mut Shelf,
    wanted: &[Wanted],
    step: usize,
    own: &Own,
) -> Result<Option<(Vec<Part>, LocalFacts)>> {
    if !wanted.iter().all(|view| shelf.has(&view.name, step)) {
        return Ok(None);
    }
    let (mut parts, mut known) = (Vec::new(), None);
    for view in wanted {
        let found = shelf.find(&view.name, step, (own.rows, view.columns))?;
        let Some((part, Some(facts))) = found else {
            return Ok(None);
        };
        parts.push(part.shared_out(own));
        known = Some(facts);
    }
    Ok(known.map(|facts| (parts, facts)))
}

/// What one factorisation gave.
enum Made {
    /// Parts of Y.
    Shaped(Vec<Group>),
    /// U, V and the log window, which are to be shaped. Where memory is short, U and the window are aside.
    Raw {
        shape: Shape,
        sides: Vec<Panels>,
        window: Option<Unshaped>,
    },
}

/// A log window that is to be shaped.
struct Unshaped {
    panels: Panels,
    weight: f64,
    landmarks: Landmarks,
    /// The factor by which the weights of the graph were multiplied.
    scale: f64,
}

impl Unshaped {
    /// Puts it aside where memory is short.
    fn new(
        run: &Context,
        w: &Weighted,
        View {
            panels,
            weight,
            landmarks,
        }: View,
    ) -> Result<Self> {
        let mut panels = Panels::from(panels);
        run.aside
            .as_ref()
            .map_or(Ok(()), |folder| panels.put_aside(folder))?;
        Ok(Unshaped {
            panels,
            weight,
            landmarks,
            scale: w.graph.scale,
        })
    }
}

impl Made {
    /// Scales one part of Y after the other, and passes each to `keep` before the next is in memory.
    fn shaped(
        self,
        draft: &mut Option<Draft>,
        (wanted, sigma): (&[Wanted], &[f64]),
        mut keep: impl FnMut(&Wanted, Group) -> Result<()>,
    ) -> Result<()> {
        let (shape, sides, window) = match self {
            Made::Shaped(groups) => {
                return wanted
                    .iter()
                    .zip(groups)
                    .try_for_each(|(view, group)| keep(view, group));
            }
            Made::Raw {
                shape,
                sides,
                window,
            } => (shape, sides, window),
        };
        let (mut wanted, mut size) = (wanted.iter(), None);
        for (mut side, view) in sides.into_iter().zip(&mut wanted) {
            side.bring_back()?;
            shape.apply(&mut side, sigma);
            size = size.or_else(|| window.as_ref().map(|_| energy(&Host, side.as_slice())));
            keep(view, Group::panels(None, side))?;
        }
        let Some((
            Unshaped {
                mut panels,
                weight,
                landmarks,
                scale,
            },
            view,
        )) = window.zip(wanted.next())
        else {
            return Ok(());
        };
        panels.bring_back()?;
        let size =
            shape.apply_to_window(&Host, panels.as_mut_slice(), weight * size.unwrap_or(0.0));
        if let Some(draft) = draft {
            draft.keep_window(landmarks, size, scale)?;
        }
        keep(view, Group::panels(None, panels))
    }
}

/// The requested parts of Y for one motif and step: U_t^(k), V_t^(k), the log window.
fn factor(
    run: &mut Context,
    lazily: &Lazily,
    (step, wanted): (usize, &[Wanted]),
    factors: Option<&mut Writer>,
) -> Result<(Made, LocalFacts)> {
    let (motif, w, aside) = (lazily.motif, lazily.get()?, run.aside.clone());
    let matrix = MotifMatrix {
        laziness: run.laziness,
        ..run.config.matrix()
    };
    let solver = &run.config.local.solver;
    let (scale, operator) =
        matrix.scaled_operator_within(&w.operator, w.graph.scale, step, solver.largest())?;
    let stage = || format!("local embedding of motif {motif}, step {step}");
    if scale != 1.0 && !solver.is_scale_free() {
        return Err(out_of_range(
            scale,
            w.graph.scale,
            solver.largest(),
            stage(),
        ));
    }
    let both = wanted.iter().any(|view| view.side == Side::Target);
    let key = Key::new(run.config.seed).with(motif.name(), step as u64);
    let aside = aside.as_deref();
    let task = Task {
        rank: run.config.local_dim(),
        right: both || run.factors,
        key,
        progress: run.progress,
        aside,
    };
    let shape = Shape::new(
        &run.config.local,
        step,
        run.laziness,
        operator.is_symmetric(),
    );
    let described = (motif, step, operator.formula(), scale);
    let busy = wanted
        .iter()
        .find(|view| view.side == Side::Log)
        .map(|view| Ok((view.columns, busy(run, w, step)?)));
    let busy: Option<(usize, Operator)> = busy.transpose()?;
    let window = busy.as_ref().map(|(columns, s)| window(run, *columns, s));
    let located = |e| locate(e, "local", &stage());
    if run.draft.is_none() && factors.is_none() {
        // Nobody but Y needs the factors.
        // A checkpoint has all rows, and W_t of some nodes has other rows than Y.
        let own_rows = !run.own.is_all() && run.checkpoint.is_none() && w.graph.nodes.is_none();
        let request = Request {
            shape,
            window,
            own_rows,
        };
        let found = run
            .engine
            .local(solver, &operator, &task, &request)
            .map_err(located)?;
        return made(run, w, (shape, found), (both, described));
    }
    let found = run
        .engine
        .factor(solver, &operator, &task)
        .and_then(Factors::finite);
    let Factors { u, sigma, v, info } = found.map_err(located)?;
    let facts = facts(w, described, sigma, info);
    let (mut u, v) = hand_out(run, lazily, (u, v), (both, &facts), factors)?;
    let view = window
        .map(|window| run.engine.window(&window, &mut u, &task))
        .transpose()
        .map_err(located)?;
    let window = view.map(|view| Unshaped::new(run, w, view)).transpose()?;
    let sides = [u].into_iter().chain(v.filter(|_| both)).collect();
    Ok((
        Made::Raw {
            shape,
            sides,
            window,
        },
        facts,
    ))
}

/// What an engine has made of a motif and step, for Y. `both` says whether V has columns in Y.
fn made(
    run: &Context,
    w: &Weighted,
    (shape, found): (Shape, Local),
    (both, described): (bool, Described),
) -> Result<(Made, LocalFacts)> {
    match found {
        Local::Shaped {
            factors: Factors { u, sigma, v, info },
            window,
        } => {
            let groups = [u]
                .into_iter()
                .chain(v.filter(|_| both))
                .chain(window)
                .collect();
            Ok((Made::Shaped(groups), facts(w, described, sigma, info)))
        }
        Local::Raw {
            factors: Factors { u, sigma, v, info },
            window,
        } => {
            let window = window.map(|view| Unshaped::new(run, w, view)).transpose()?;
            let sides = [u].into_iter().chain(v.filter(|_| both)).collect();
            Ok((
                Made::Raw {
                    shape,
                    sides,
                    window,
                },
                facts(w, described, sigma, info),
            ))
        }
    }
}

/// A motif, a step, the formula of their matrix, and what that was multiplied with.
type Described = (Motif, usize, String, f64);

/// U and V of a motif and step.
type Sides = (Panels, Option<Panels>);

/// Adds the factors to the model and to the folder of factors, if there are such. `both` says whether
/// V has columns in Y.
fn hand_out(
    run: &mut Context,
    lazily: &Lazily,
    (u, v): Sides,
    (both, facts): (bool, &LocalFacts),
    factors: Option<&mut Writer>,
) -> Result<Sides> {
    let w = lazily.get()?;
    let right = v.as_ref().filter(|_| both);
    keep_factors(run, lazily.ids(), &w.graph, (&u, right), facts)?;
    let Some(factors) = factors else {
        return Ok((u, v));
    };
    let (u, v): Sides = (
        u.into_block().into(),
        v.map(Panels::into_block).map(Panels::from),
    );
    let (left, right) = (&u.as_slice()[0], v.as_ref().map(|v| &v.as_slice()[0]));
    write_local(
        factors,
        &run.config.local.solver,
        facts,
        w.graph.nodes.as_deref(),
        left,
        right,
    )?;
    // Panels as everywhere: several processes go on with them together, and only one of them writes.
    let widths = widths(u.cols());
    Ok((u.cut(&widths), v.map(|v| v.cut(&widths))))
}

/// What the report says of a motif and step.
fn facts(
    w: &Weighted,
    (motif, step, formula, scale): Described,
    sigma: Vec<f64>,
    info: Info,
) -> LocalFacts {
    LocalFacts {
        motif: motif.name().to_owned(),
        step,
        formula,
        nodes: w.graph.matrix.pattern().rows(),
        nonzeros: w.graph.nnz,
        scale,
        below_delta: w.graph.below_delta,
        singular_values: sigma,
        rank: info.rank,
        base: info.base,
        iterations: info.iterations,
        residual: info.residual,
        converged: info.converged,
        multiple_from: info.multiple_from,
        loss: info.loss,
    }
}

/// The matrix of walks that never stay.
fn busy(run: &Context, w: &Weighted, step: usize) -> Result<Operator> {
    let busy = MotifMatrix {
        laziness: 0.0,
        ..run.config.matrix()
    };
    Ok(busy
        .scaled_operator_within(
            &w.operator,
            w.graph.scale,
            step,
            run.config.local.solver.largest(),
        )?
        .1)
}

/// The log window of a motif that the settings ask for.
fn window<'a>(run: &Context, columns: usize, s: &'a Operator) -> Window<'a> {
    let settings = &run.config.local.log_window;
    Window {
        s,
        steps: settings.steps,
        columns,
        weight: settings.weight.given().copied(),
    }
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
    let message = format!(
        "{why}; the matrix would have to be multiplied by {scale:e}, which changes the factors under a penalty or a \
         divergence. Use fewer steps, psi = p, other edge weights, or a solver that does not depend on the scale: svd, or a \
         squared loss with regularization = 0"
    );
    Error::Numeric { stage, message }
}
