//! The laws of a space, for the host and for a second space whose rows have three owners; and whole embeddings by an engine on
//! that space, which must have the bits of the host.

#![allow(clippy::unwrap_used)]

use std::ops::Range;

use hone::config::Layers;
use hone::dense::panels::{self, Own};
use hone::dense::{Block, Logs, Panels, Small, lane_rows};
use hone::engine::{Engine, Window};
use hone::factor::log_window::View;
use hone::factor::svd::svd_in;
use hone::factor::{Factors, Solver, Task};
use hone::graph::{Generator, Graph};
use hone::operator::Operator;
use hone::random::Key;
use hone::space::{Fold, Host, Leaf, Map, Space, Workspace};
use hone::sparse::{Diagonal, Fused, Plus};
use hone::{Error, Hone, Result, Silent};

use super::laws;

/// Rows split among three owners inside one process.
#[derive(Debug)]
struct Owners;

/// The rows of each owner.
#[derive(Debug, Clone)]
struct Shared {
    rows: usize,
    cols: usize,
    owned: Vec<(Range<usize>, Block)>,
}

/// Whole lanes for each of three owners, as even as they go.
fn ranges(rows: usize) -> Vec<Range<usize>> {
    let (length, lanes) = (lane_rows(rows), rows.div_ceil(lane_rows(rows)));
    let at = |owner: usize| (owner * lanes / 3 * length).min(rows);
    (0..3)
        .map(|owner| at(owner)..if owner == 2 { rows } else { at(owner + 1) })
        .collect()
}

impl Shared {
    fn of(block: &Block) -> Self {
        let part = |range: Range<usize>| {
            let values = block.rows_slice(range.clone()).to_vec();
            (
                range.clone(),
                Block::from_vec(range.len(), block.cols(), values),
            )
        };
        Shared {
            rows: block.rows(),
            cols: block.cols(),
            owned: ranges(block.rows()).into_iter().map(part).collect(),
        }
    }

    /// What all owners would gather before a product.
    fn gathered(&self) -> Block {
        let values = self
            .owned
            .iter()
            .flat_map(|(_, block)| block.as_slice().to_vec())
            .collect();
        Block::from_vec(self.rows, self.cols, values)
    }
}

/// The panels of one owner.
fn of_owner(x: &[Shared], owner: usize) -> Vec<Block> {
    x.iter().map(|panel| panel.owned[owner].1.clone()).collect()
}

fn own(x: &[Shared], owner: usize) -> Own {
    Own {
        rows: x[0].rows,
        range: x[0].owned[owner].0.clone(),
    }
}

fn give_back(x: &mut [Shared], owner: usize, blocks: Vec<Block>) {
    x.iter_mut()
        .zip(blocks)
        .for_each(|(panel, block)| panel.owned[owner].1 = block);
}

impl Space for Owners {
    type Tall = Shared;

    fn zeros(&self, rows: usize, cols: usize) -> Shared {
        Shared::of(&Block::zeros(rows, cols))
    }

    fn random(&self, rows: usize, cols: Range<usize>, key: Key) -> Shared {
        let draw =
            |range: Range<usize>| (range.clone(), Block::random_part(range, cols.clone(), key));
        Shared {
            rows,
            cols: cols.len(),
            owned: ranges(rows).into_iter().map(draw).collect(),
        }
    }

    fn import(&self, block: &Block) -> Shared {
        Shared::of(block)
    }

    fn export(&self, x: Shared) -> Block {
        x.gathered()
    }

    fn copy(&self, x: &Shared) -> Shared {
        x.clone()
    }

    fn shape(&self, x: &Shared) -> (usize, usize) {
        (x.rows, x.cols)
    }

    fn multiply(
        &self,
        a: &Leaf,
        x: &Shared,
        y: &mut Shared,
        then: &Fused<Shared>,
        _work: &mut Workspace<Shared>,
    ) {
        let mut all = y.gathered();
        gathered(then, |then| {
            Host.multiply(a, &x.gathered(), &mut all, then, &mut Workspace::default());
        });
        *y = Shared::of(&all);
    }

    fn finish(&self, product: &Shared, y: &mut Shared, then: &Fused<Shared>) {
        let mut all = y.gathered();
        gathered(then, |then| {
            Host.finish(&product.gathered(), &mut all, then);
        });
        *y = Shared::of(&all);
    }

    fn scale_rows(&self, factors: &Diagonal, x: &Shared, y: &mut Shared) {
        for ((range, from), (_, to)) in x.owned.iter().zip(&mut y.owned) {
            let own = Diagonal::new("own", factors.values()[range.clone()].to_vec());
            Host.scale_rows(&own, from, to);
        }
    }

    fn gram(&self, x: &[Shared]) -> Small {
        let width: usize = x.iter().map(|panel| panel.cols).sum();
        let mut sum = Small::zeros(width, width);
        // Each owner sums its lanes; the sums are added in the order of the rows.
        (0..3).for_each(|o| panels::gram_parts(&of_owner(x, o), &own(x, o), |part| sum.add(&part)));
        sum
    }

    fn cross(&self, x: &[Shared], y: &[Shared]) -> Small {
        let [a, b] = [x, y].map(|side| side.iter().map(|panel| panel.cols).sum());
        let mut sum = Small::zeros(a, b);
        for o in 0..3 {
            panels::cross_parts(&of_owner(x, o), &of_owner(y, o), &own(x, o), |part| {
                sum.add(&part);
            });
        }
        sum
    }

    fn times(&self, x: &[Shared], matrix: &Small, widths: &[usize]) -> Vec<Shared> {
        let mut out: Vec<Shared> = widths
            .iter()
            .map(|&cols| self.zeros(x[0].rows, cols))
            .collect();
        (0..3).for_each(|o| give_back(&mut out, o, panels::times(&of_owner(x, o), matrix, widths)));
        out
    }

    fn subtract_times(&self, y: &mut [Shared], x: &[Shared], matrix: &Small) {
        for o in 0..3 {
            let mut own = of_owner(y, o);
            panels::subtract_times(&mut own, &of_owner(x, o), matrix);
            give_back(y, o, own);
        }
    }

    fn transform(&self, x: &mut [Shared], matrix: &Small) {
        for o in 0..3 {
            let mut own = of_owner(x, o);
            panels::transform(&mut own, matrix);
            give_back(x, o, own);
        }
    }

    fn fold(&self, x: &[Shared], fold: Fold) -> Vec<f64> {
        let of = |panel: &Shared| -> Vec<f64> {
            let mut folded = vec![0.0f64; panel.cols];
            for (range, block) in &panel.owned {
                let own = Own {
                    rows: panel.rows,
                    range: range.clone(),
                };
                match fold {
                    Fold::Length => block.square_parts(&own, |part| {
                        folded.iter_mut().zip(part).for_each(|(to, x)| *to += x);
                    }),
                    Fold::Extreme => {
                        folded
                            .iter_mut()
                            .zip(block.column_extremes())
                            .for_each(|(most, x)| {
                                *most = if x.abs() > most.abs() { x } else { *most };
                            });
                    }
                }
            }
            if fold == Fold::Length {
                folded.into_iter().map(f64::sqrt).collect()
            } else {
                folded
            }
        };
        x.iter().flat_map(of).collect()
    }

    fn map(&self, x: &mut [Shared], map: &Map) {
        for o in 0..3 {
            let (mut blocks, first) = (of_owner(x, o), own(x, o).range.start);
            map.change(&mut blocks, first);
            give_back(x, o, blocks);
        }
    }

    fn pick(&self, x: &[Shared], rows: &[usize]) -> Block {
        let mut out = Block::zeros(rows.len(), x.iter().map(|panel| panel.cols).sum());
        for (k, row) in rows.iter().enumerate() {
            let owner = x[0]
                .owned
                .iter()
                .position(|(range, _)| range.contains(row))
                .unwrap();
            let own = panels::pick(&of_owner(x, owner), &[row - x[0].owned[owner].0.start]);
            out.row_mut(k).copy_from_slice(own.row(0));
        }
        out
    }

    fn log_times(
        &self,
        x: &[Shared],
        logs: (&Diagonal, Logs),
        matrix: &Small,
        widths: &[usize],
    ) -> Vec<Shared> {
        let mut out: Vec<Shared> = widths
            .iter()
            .map(|&cols| self.zeros(x[0].rows, cols))
            .collect();
        for o in 0..3 {
            let factors = &logs.0.values()[x[0].owned[o].0.clone()];
            give_back(
                &mut out,
                o,
                logs.1.times(&of_owner(x, o), factors, matrix, widths),
            );
        }
        out
    }
}

/// What follows a product, with the summands gathered.
fn gathered<T>(then: &Fused<Shared>, go: impl FnOnce(&Fused) -> T) -> T {
    let blocks: Vec<Block> = then.plus.iter().map(|plus| plus.block.gathered()).collect();
    let summand = |(plus, block): (&Plus<Shared>, &'_ Block)| {
        (plus.factor, plus.diagonal.cloned(), block.clone())
    };
    let parts: Vec<(f32, Option<Diagonal>, Block)> =
        then.plus.iter().zip(&blocks).map(summand).collect();
    let plus: Vec<Plus> = parts
        .iter()
        .map(|(factor, diagonal, block)| Plus {
            factor: *factor,
            diagonal: diagonal.as_ref(),
            block,
        })
        .collect();
    go(&Fused {
        scale: then.scale,
        left: then.left,
        plus: &plus,
        accumulate: then.accumulate,
    })
}

/// An engine on that space: only the singular value decomposition and its log window.
#[derive(Debug)]
struct ThreeOwners;

impl Engine for ThreeOwners {
    fn name(&self) -> &str {
        "three owners"
    }

    fn has(&self, solver: &Solver) -> bool {
        matches!(solver, Solver::Svd(_))
    }

    fn factor(&self, solver: &Solver, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        match solver {
            Solver::Svd(options) => svd_in(&Owners, s, options, task),
            _ => Err(self.lacks(solver)),
        }
    }

    fn window(&self, window: &Window, u: &mut Panels, task: &Task) -> Result<View> {
        window.spanned_through(&Owners, u, task)
    }
}

#[test]
fn the_host_keeps_the_laws() {
    laws::check(&Host);
    laws::check_bits(&Host);
}

#[test]
fn rows_of_several_owners_keep_the_laws() {
    laws::check(&Owners);
    laws::check_bits(&Owners);
}

#[test]
#[should_panic(expected = "are not whole lanes")]
fn owners_must_have_whole_lanes() {
    let x = [Block::random(1300, 40, Key::new(7))];
    panels::gram_parts(
        &x,
        &Own {
            rows: 5000,
            range: 0..1300,
        },
        drop,
    );
}

fn graph() -> Graph {
    let quadrants = [0.57, 0.19, 0.19, 0.05];
    Generator::Rmat {
        nodes: 1500,
        degree: 6.0,
        quadrants,
    }
    .graph(5, &Silent)
    .unwrap()
}

#[test]
fn an_embedding_has_the_same_bits_on_any_engine() {
    let graph = graph();
    for (preset, iterations) in [
        ("hone", "2"),
        ("hone-w", "9"),
        ("hone-p", "3"),
        ("hone-l-norm", "9"),
    ] {
        let run = |engine: Option<ThreeOwners>| {
            let config = Layers::new()
                .preset(preset)
                .unwrap()
                .set("motifs", "edge,triangle")
                .unwrap();
            let config = config.set("local.solver.iterations", iterations).unwrap();
            let mut hone = Hone::new(config.build().unwrap()).unwrap();
            if let Some(engine) = engine {
                hone = hone.on(engine);
            }
            hone.embed(&graph, &Silent).unwrap()
        };
        let (host, other) = (run(None), run(Some(ThreeOwners)));
        assert_eq!(
            (host.report.engine.as_str(), other.report.engine.as_str()),
            ("cpu", "three owners")
        );
        assert!(
            host.embedding.vectors == other.embedding.vectors,
            "{preset}"
        );
    }
}

#[test]
fn solvers_that_an_engine_lacks_are_refused_by_name() {
    for (setting, value, what) in [
        ("local.solver.method", "als", "local.solver.method: als"),
        (
            "global.solver.method",
            "autoencoder",
            "global.solver.method: autoencoder",
        ),
        ("model", "tucker", "model: tucker"),
    ] {
        let config = Layers::new()
            .preset("hone-p")
            .unwrap()
            .set(setting, value)
            .unwrap()
            .build()
            .unwrap();
        let error = Hone::new(config)
            .unwrap()
            .on(ThreeOwners)
            .embed(&graph(), &Silent)
            .unwrap_err();
        assert!(matches!(error, Error::Config { .. }), "{error}");
        for part in [what, "three owners", "cpu"] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
