//! Kernels, compiled for the device.
//!
//! All programs are compiled when a device is opened, at the same time, so that a missing or broken compiler is noticed at once and
//! no stage of a run waits. Sparse products have one program per shape of a warp's work ([`Shape`]): the usual ones are
//! compiled at the start, others when the first panel of such a width is multiplied.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};
use hone::parallel;
use hone::{Error, Result};

use crate::driver::{Driver, Failure, Kernel};

const SPMM: &str = concat!(
    include_str!("../kernels/then.cu"),
    include_str!("../kernels/spmm.cu")
);

/// The kernels of a sparse product.
const PRODUCTS: [&str; 2] = ["spmm", "spmm_long"];

/// A program: its source, and the kernels that it has.
struct Program {
    source: &'static str,
    defined: &'static [&'static str],
    kernels: &'static [&'static str],
}

const PROGRAMS: [Program; 9] = [
    Program {
        source: concat!(
            include_str!("../kernels/then.cu"),
            include_str!("../kernels/sums.cu")
        ),
        defined: &[],
        kernels: &["cross_parts", "add_parts", "square_parts", "extreme_parts"],
    },
    Program {
        source: concat!(
            include_str!("../kernels/then.cu"),
            include_str!("../kernels/dense.cu")
        ),
        defined: &[],
        kernels: &["combine", "draw", "scale_columns", "scale_rows", "finish"],
    },
    Program {
        source: include_str!("../kernels/ranked.cu"),
        defined: &["-DRANKED"],
        kernels: &[
            "largest_degree",
            "histogram",
            "give_ranks",
            "lengths",
            "sort_short",
            "sort_medium",
            "sort_long",
            "split_rows",
            "owners",
            "scan_blocks",
            "scan_totals",
            "scan_add",
        ],
    },
    Program {
        source: concat!(
            include_str!("../kernels/ranked.cu"),
            include_str!("../kernels/wedges.cu")
        ),
        defined: &[],
        kernels: &["wedge_work", "wedges_few", "wedges_many", "wedges_most"],
    },
    Program {
        source: concat!(
            include_str!("../kernels/ranked.cu"),
            include_str!("../kernels/triangles.cu")
        ),
        defined: &[],
        kernels: &["triangles"],
    },
    Program {
        source: concat!(
            include_str!("../kernels/ranked.cu"),
            include_str!("../kernels/cliques.cu")
        ),
        defined: &[],
        kernels: &["local_sizes", "cliques_small", "cliques_large"],
    },
    Program {
        source: concat!(
            include_str!("../kernels/ranked.cu"),
            include_str!("../kernels/arrange.cu")
        ),
        defined: &[],
        kernels: &["arrange", "arrange_inside", "sizes", "narrow"],
    },
    Program {
        source: concat!(
            include_str!("../kernels/ranked.cu"),
            include_str!("../kernels/weights.cu")
        ),
        defined: &[],
        kernels: &[
            "weigh",
            "summary",
            "touched",
            "compact",
            "scale_both",
            "times_vector",
            "motif_degrees",
        ],
    },
    Program {
        source: concat!(
            include_str!("../kernels/ranked.cu"),
            include_str!("../kernels/columns.cu")
        ),
        defined: &[],
        kernels: &[
            "project",
            "mark_rows",
            "fill_none",
            "gather_rows",
            "take_columns",
            "add_squares",
            "shorten",
            "take_logs",
            "logs_above_one",
            "aggregate",
            "squares",
        ],
    },
];

/// All kernels.
pub(crate) struct Programs {
    kernels: HashMap<&'static str, Kernel>,
    products: Mutex<Vec<(Shape, Products)>>,
}

/// The kernels of sparse products with panels of some widths.
#[derive(Debug, Clone)]
pub(crate) struct Products {
    pub(crate) short: Kernel,
    pub(crate) long: Kernel,
}

/// How a row of a sparse product is divided: `lanes` threads with `vector` adjacent columns each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) vector: usize,
    pub(crate) lanes: usize,
}

/// The shapes of panels of 32, 24, 16 and 4 columns.
const USUAL: [Shape; 2] = [
    Shape {
        vector: 4,
        lanes: 8,
    },
    Shape {
        vector: 4,
        lanes: 4,
    },
];

impl Shape {
    /// The shape for panels of this many columns: 16-byte reads if rows are aligned to them, and at least four lanes,
    /// since as many rows are gathered at once.
    pub(crate) fn of(cols: usize) -> Shape {
        let vector = if cols.is_multiple_of(4) { 4 } else { 1 };
        Shape {
            vector,
            lanes: cols.div_ceil(vector).next_power_of_two().clamp(4, 32),
        }
    }

    fn compiled(self, driver: &Driver) -> Result<(Shape, Products)> {
        let defined = [
            format!("-DVEC={}", self.vector),
            format!("-DLANES={}", self.lanes),
        ];
        let mut kernels = compile(driver, SPMM, &defined, &PRODUCTS)?.into_iter();
        let [short, long] =
            [kernels.next(), kernels.next()].map(|kernel| kernel.expect("two kernels"));
        Ok((self, Products { short, long }))
    }
}

impl Programs {
    pub(crate) fn new(driver: &Driver) -> Result<Self> {
        let compiled = |program: &Program| {
            let defined: Vec<String> = program
                .defined
                .iter()
                .map(|&define| define.into())
                .collect();
            let kernels = compile(driver, program.source, &defined, program.kernels)?;
            Ok(program
                .kernels
                .iter()
                .copied()
                .zip(kernels)
                .collect::<Vec<_>>())
        };
        // The compiler takes longer than everything else at the start.
        let (kernels, products) = rayon::join(
            || parallel::map(PROGRAMS.len(), |at| compiled(&PROGRAMS[at])),
            || parallel::map(USUAL.len(), |at| USUAL[at].compiled(driver)),
        );
        let kernels: Vec<Vec<_>> = kernels.into_iter().collect::<Result<_>>()?;
        let products = products.into_iter().collect::<Result<_>>()?;
        Ok(Programs {
            kernels: kernels.into_iter().flatten().collect(),
            products: Mutex::new(products),
        })
    }

    /// A kernel by its name.
    pub(crate) fn kernel(&self, name: &str) -> &Kernel {
        &self.kernels[name]
    }

    /// The kernels of products with panels of this many columns.
    pub(crate) fn products(&self, driver: &Driver, cols: usize) -> Products {
        let shape = Shape::of(cols);
        let mut known = self.products.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, products)) = known.iter().find(|(of, _)| *of == shape) {
            return products.clone();
        }
        let found = shape
            .compiled(driver)
            .unwrap_or_else(|error| resume_unwind(Box::new(Failure(error))));
        known.push(found.clone());
        found.1
    }
}

/// Compiles a program and looks up its kernels.
fn compile(
    driver: &Driver,
    source: &str,
    defined: &[String],
    names: &[&str],
) -> Result<Vec<Kernel>> {
    let mut options = vec![format!(
        "--gpu-architecture=compute_{}",
        driver.card.capability
    )];
    options.extend_from_slice(defined);
    let options = CompileOptions {
        options,
        ..CompileOptions::default()
    };
    let program =
        compile_ptx_with_opts(source, options).map_err(|error| not_compiled(driver, &error))?;
    driver.load(program, source, names)
}

fn not_compiled(driver: &Driver, error: &CompileError) -> Error {
    let said = match error {
        CompileError::CompileError { log, .. } => log.to_string_lossy().trim().to_owned(),
        other => other.to_string(),
    };
    let message = format!(
        "GPU kernels cannot be compiled; update CUDA (libnvrtc) if it is older than the device, or use the device cpu \
         (docs/gpu.md). The compiler reports: {said}"
    );
    Error::Device {
        device: driver.name().into(),
        message,
    }
}

/// All kernels, each with its source.
#[cfg(test)]
pub(crate) fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of = |source, kernels: &'static [&str]| kernels.iter().map(move |&kernel| (source, kernel));
    let all = PROGRAMS
        .iter()
        .map(|program| (program.source, program.kernels));
    all.chain([(SPMM, &PRODUCTS[..])])
        .flat_map(move |(source, kernels)| of(source, kernels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_has_a_shape_that_covers_it() {
        for cols in 1..=64usize {
            let shape = Shape::of(cols);
            assert!(
                shape.lanes.is_power_of_two() && (4..=32).contains(&shape.lanes),
                "{cols}: {shape:?}"
            );
            assert!(
                shape.vector == 1 || cols.is_multiple_of(shape.vector),
                "{cols}: {shape:?}"
            );
            assert!(
                cols > 32 || shape.lanes * shape.vector >= cols,
                "{cols}: {shape:?}"
            );
        }
        assert_eq!(
            Shape::of(24),
            Shape {
                vector: 4,
                lanes: 8
            }
        );
        assert_eq!(
            Shape::of(1),
            Shape {
                vector: 1,
                lanes: 4
            }
        );
    }

    /// Every kernel that a program lists is in its source, once.
    #[test]
    fn kernels_are_in_their_sources() {
        for (source, kernel) in sources() {
            let named = |text: &str| {
                let word =
                    |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                text.match_indices(&format!("{kernel}("))
                    .filter(|&(at, _)| word(at))
                    .count()
            };
            let heads: Vec<&str> = source.split("__global__").skip(1).collect();
            let heads = heads
                .iter()
                .map(|head| head.split('{').next().unwrap_or_default());
            assert_eq!(heads.map(named).sum::<usize>(), 1, "{kernel}");
        }
    }
}
