//! Kernels, compiled for the device when they are first used.
//!
//! Sums and dense work are one program each, compiled when a device is opened, so that a missing or broken compiler is noticed
//! at once. Sparse products have one program for each shape of the work of a warp ([`Shape`]), compiled when the first panel
//! of such a width is multiplied: a run needs one or two of them.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::CudaFunction;
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};
use hone::{Error, Result};

use crate::driver::{Driver, Failure};

const SUMS: &str = concat!(include_str!("../kernels/then.cu"), include_str!("../kernels/sums.cu"));
const DENSE: &str = concat!(include_str!("../kernels/then.cu"), include_str!("../kernels/dense.cu"));
const SPMM: &str = concat!(include_str!("../kernels/then.cu"), include_str!("../kernels/spmm.cu"));

/// All kernels but those of sparse products.
pub(crate) struct Programs {
    pub(crate) cross_parts: CudaFunction,
    pub(crate) add_parts: CudaFunction,
    pub(crate) square_parts: CudaFunction,
    pub(crate) extreme_parts: CudaFunction,
    pub(crate) combine: CudaFunction,
    pub(crate) draw: CudaFunction,
    pub(crate) scale_columns: CudaFunction,
    pub(crate) scale_rows: CudaFunction,
    pub(crate) finish: CudaFunction,
    products: Mutex<Vec<(Shape, Products)>>,
}

/// The kernels of sparse products with panels of some widths.
#[derive(Debug, Clone)]
pub(crate) struct Products {
    pub(crate) short: CudaFunction,
    pub(crate) long: CudaFunction,
}

/// How a row of a sparse product is shared: `lanes` threads with `vector` adjacent columns each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) vector: usize,
    pub(crate) lanes: usize,
}

impl Shape {
    /// The shape for panels of so many columns: reads of 16 bytes where rows are aligned to them, and at least four lanes, since
    /// as many rows are gathered at once.
    pub(crate) fn of(cols: usize) -> Shape {
        let vector = if cols.is_multiple_of(4) { 4 } else { 1 };
        Shape { vector, lanes: cols.div_ceil(vector).next_power_of_two().clamp(4, 32) }
    }
}

impl Programs {
    pub(crate) fn new(driver: &Driver) -> Result<Self> {
        let sums = || compile(driver, SUMS, &[], ["cross_parts", "add_parts", "square_parts", "extreme_parts"]);
        let dense = || compile(driver, DENSE, &[], ["combine", "draw", "scale_columns", "scale_rows", "finish"]);
        // The compiler takes longer than all else that is done at the start.
        let (sums, dense) = rayon::join(sums, dense);
        let ([cross_parts, add_parts, square_parts, extreme_parts], dense) = (sums?, dense?);
        let [combine, draw, scale_columns, scale_rows, finish] = dense;
        let products = Mutex::default();
        Ok(Programs {
            cross_parts,
            add_parts,
            square_parts,
            extreme_parts,
            combine,
            draw,
            scale_columns,
            scale_rows,
            finish,
            products,
        })
    }

    /// The kernels of products with panels of so many columns.
    pub(crate) fn products(&self, driver: &Driver, cols: usize) -> Products {
        let shape = Shape::of(cols);
        let mut known = self.products.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, products)) = known.iter().find(|(of, _)| *of == shape) {
            return products.clone();
        }
        let defined = [format!("-DVEC={}", shape.vector), format!("-DLANES={}", shape.lanes)];
        let [short, long] = compile(driver, SPMM, &defined, ["spmm", "spmm_long"])
            .unwrap_or_else(|error| resume_unwind(Box::new(Failure(error))));
        let products = Products { short, long };
        known.push((shape, products.clone()));
        products
    }
}

/// Compiles a program and looks up its kernels.
fn compile<const N: usize>(
    driver: &Driver,
    source: &str,
    defined: &[String],
    names: [&str; N],
) -> Result<[CudaFunction; N]> {
    let mut options = vec![format!("--gpu-architecture=compute_{}", driver.capability)];
    options.extend_from_slice(defined);
    let options = CompileOptions { options, ..CompileOptions::default() };
    let program = compile_ptx_with_opts(source, options).map_err(|error| not_compiled(driver, &error))?;
    let module = driver.context().load_module(program).map_err(|error| driver.error(error, 0))?;
    let mut kernels = Vec::with_capacity(N);
    for name in names {
        kernels.push(module.load_function(name).map_err(|error| driver.error(error, 0))?);
    }
    kernels
        .try_into()
        .map_err(|_| Error::Device { device: driver.name().into(), message: "kernels are missing".into() })
}

fn not_compiled(driver: &Driver, error: &CompileError) -> Error {
    let said = match error {
        CompileError::CompileError { log, .. } => log.to_string_lossy().trim().to_owned(),
        other => other.to_string(),
    };
    let message = format!("kernels cannot be compiled; is libnvrtc as new as the device? It says: {said}");
    Error::Device { device: driver.name().into(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_has_a_shape_that_covers_it() {
        for cols in 1..=64usize {
            let shape = Shape::of(cols);
            assert!(shape.lanes.is_power_of_two() && (4..=32).contains(&shape.lanes), "{cols}: {shape:?}");
            assert!(shape.vector == 1 || cols.is_multiple_of(shape.vector), "{cols}: {shape:?}");
            assert!(cols > 32 || shape.lanes * shape.vector >= cols, "{cols}: {shape:?}");
        }
        assert_eq!(Shape::of(24), Shape { vector: 4, lanes: 8 });
        assert_eq!(Shape::of(1), Shape { vector: 1, lanes: 4 });
    }
}
