//! What is said of matrix functions without a graph.

use std::sync::Arc;

use hone_linalg::matrix::{MotifMatrix, Order, Psi};
use hone_linalg::operator::Operator;
use hone_linalg::sparse::{Csr, Pattern};

/// What is said of symmetry without a graph is what the operator of any graph says.
#[test]
fn symmetry_is_that_of_the_operator() {
    let path = Pattern::new(vec![0, 1, 3, 4], vec![1, 0, 2, 1], 3);
    let w = Operator::symmetric("W", Csr::new(Arc::new(path), vec![2.0f32; 4].into()));
    for psi in [Psi::W, Psi::P, Psi::L, Psi::LNorm, Psi::LRw, Psi::ANorm] {
        for order in [Order::Auto, Order::PsiOfPower, Order::PowerOfPsi] {
            for k in 1..4 {
                let matrix = MotifMatrix {
                    psi,
                    order,
                    ..MotifMatrix::default()
                };
                let s = matrix.operator(&w, k).expect("in range");
                assert_eq!(
                    matrix.keeps_symmetry(k),
                    s.is_symmetric(),
                    "{}",
                    s.formula()
                );
                assert_eq!(s.is_symmetric(), psi != Psi::P && psi != Psi::LRw);
            }
        }
    }
}
