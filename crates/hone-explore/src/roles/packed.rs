//! What a page needs to say why a node has its role: the components, and the ratios of each node in four bytes.

use serde::Serialize;

use super::Roles;
use super::signature::{WIDTH, plain};

/// A component of the mixture.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PackedComponent {
    share: f64,
    centre: [f64; WIDTH],
    variance: [f64; WIDTH],
}

impl Roles {
    pub(crate) fn packed_components(&self) -> Vec<PackedComponent> {
        let packed = |c: &super::mixture::Component| PackedComponent {
            share: c.share,
            centre: c.centre,
            variance: c.variance,
        };
        self.mixture.components.iter().map(packed).collect()
    }

    /// The neighbours' degree as sixteen times its binary logarithm; closed pairs, closed around and cliques as 255ths.
    pub(crate) fn packed_ratios(&self, node: u32) -> [u8; 4] {
        let at = &self.signatures[node as usize];
        let [_, _, closed, _, around, cliques, ..] = plain(at);
        let part = |x: f64| (255.0 * x).round() as u8;
        [
            (16.0 * at[1]).round().min(255.0) as u8,
            part(closed),
            part(around),
            part(cliques),
        ]
    }
}
