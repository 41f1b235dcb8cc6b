//! Kernels, compiled for the device.
//!
//! All programs are compiled when a device is opened, at the same time, so that a missing or broken compiler is noticed at once and
//! no stage of a run waits. Sparse products have one program per shape of a warp's work ([`Shape`]): the usual ones are
//! compiled at the start, others when the first panel of such a width is multiplied.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};
use hone::parallel;
use hone::{Error, Result};

use crate::driver::{Driver, Failure, Kernel, Kernels};

/// Files of `kernels/`, one after the other.
macro_rules! source {
    ($($file:literal),+) => { concat!($(include_str!(concat!("../kernels/", $file, ".cu"))),+) };
}

/// The kernels of a sparse product, `spmm` and `spmm_long`.
pub(crate) const SPMM: &str = source!("then", "spmm");

/// The sources of all other programs.
pub(crate) const SOURCES: [&str; 9] = [
    source!("then", "sums"),
    source!("then", "dense"),
    source!("ranked", "renumber"),
    source!("ranked", "wedges"),
    source!("ranked", "triangles"),
    source!("ranked", "cliques"),
    source!("ranked", "arrange"),
    source!("ranked", "weights"),
    source!("ranked", "columns"),
];

/// All kernels.
pub(crate) struct Programs {
    kernels: Kernels,
    products: Mutex<Vec<(Shape, Arc<Kernels>)>>,
}

/// How a row of a sparse product is divided: `lanes` threads with `vector` adjacent columns each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) vector: usize,
    pub(crate) lanes: usize,
}

/// Numbers of columns whose programs are compiled at the start.
const USUAL: [usize; 2] = [32, 16];

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

    fn compiled(self, driver: &Driver) -> Result<(Shape, Arc<Kernels>)> {
        let Shape { vector, lanes } = self;
        let defined = [format!("-DVEC={vector}"), format!("-DLANES={lanes}")];
        Ok((self, Arc::new(compile(driver, SPMM, &defined)?)))
    }
}

impl Programs {
    pub(crate) fn new(driver: &Driver) -> Result<Self> {
        // The compiler takes longer than everything else at the start.
        let (kernels, products) = rayon::join(
            || parallel::map(SOURCES.len(), |at| compile(driver, SOURCES[at], &[])),
            || parallel::map(USUAL.len(), |at| Shape::of(USUAL[at]).compiled(driver)),
        );
        let kernels: Vec<Kernels> = kernels.into_iter().collect::<Result<_>>()?;
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
    pub(crate) fn products(&self, driver: &Driver, shape: Shape) -> Arc<Kernels> {
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

/// Compiles a program.
fn compile(driver: &Driver, source: &str, defined: &[String]) -> Result<Kernels> {
    let architecture = format!("--gpu-architecture=compute_{}", driver.card.capability);
    let options = CompileOptions {
        options: [&[architecture], defined].concat(),
        ..CompileOptions::default()
    };
    let program =
        compile_ptx_with_opts(source, options).map_err(|error| not_compiled(driver, &error))?;
    driver.load(program, source)
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
        let of = |cols| (Shape::of(cols).vector, Shape::of(cols).lanes);
        assert_eq!((of(24), of(1)), ((4, 8), (1, 4)));
    }
}
