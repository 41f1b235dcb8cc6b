//! A growing basis of orthonormal blocks: how both Krylov iterations add new directions.
//!
//! New directions are orthonormalised and projected alternately until the projection finds nothing more: each step
//! amplifies what the other leaves. Directions that are lost on the way are drawn again. Cost: O(N b · columns of the
//! basis) for each projection.

use crate::dense::{Small, orthonormalize};
use crate::factor::svd_options::NOISE;
use crate::random::Key;
use crate::space::{Fold, In, Map, Space, Workspace, panels, widths};

/// The component along the basis below which columns count as orthogonal to it, to f32 precision.
const ALONG: f64 = 1e-3;

/// Maximum number of projections of new columns.
const PROJECTIONS: usize = 4;

/// Orthonormal columns; the panels of all blocks, one block after the other.
pub(super) struct Basis<'a, S: Space> {
    space: &'a S,
    key: Key,
    pub(super) panels: Vec<S::Tall>,
}

impl<'a, S: Space> Basis<'a, S> {
    /// No columns yet.
    pub(super) fn new(space: &'a S, key: Key) -> Self {
        Basis {
            space,
            key,
            panels: Vec::new(),
        }
    }

    /// The panels of the last `width` columns.
    pub(super) fn last(&self, width: usize) -> &[S::Tall] {
        &self.panels[self.panels.len() - panels(width).len()..]
    }

    /// QᵀX; its part is subtracted from X.
    pub(super) fn project(&self, x: &mut [S::Tall]) -> Small {
        if self.panels.is_empty() {
            return Small::zeros(0, x.iter().map(|panel| self.space.shape(panel).1).sum());
        }
        let part = self.space.cross(&self.panels, x);
        self.space.add_times(x, &self.panels, &part, -1.0);
        part
    }

    /// Restarts with as many columns as `turn` has: Q·turn. Blocks no longer needed are reused by the products.
    pub(super) fn restart(&mut self, turn: &Small, work: &mut Workspace<S::Tall>) {
        let leading = self.space.times(&self.panels, turn, &widths(turn.cols()));
        self.panels
            .drain(..)
            .skip(leading.len())
            .for_each(|panel| work.give(panel));
        self.panels = leading;
    }

    /// Appends columns, made orthonormal, of which little more than noise may be left. `most` is the norm of
    /// the matrix they come from.
    pub(super) fn grow(&mut self, mut x: Vec<S::Tall>, most: f64, round: usize) {
        // Amplified noise of the products would not stay orthogonal to the basis.
        self.keep_columns(&mut x, NOISE * most);
        self.orthonormalize(&mut x, round);
        self.panels.extend(x);
    }

    /// Makes columns orthonormal, also to the basis; lost ones are drawn again, once.
    pub(super) fn orthonormalize(&self, x: &mut [S::Tall], round: usize) {
        let kept = self.clean(x);
        if kept.iter().all(|&kept| kept) {
            return;
        }
        let lost: Vec<bool> = kept.iter().map(|kept| !kept).collect();
        self.space.map(
            x,
            &Map::Redraw(&lost, self.key.with("refill", round as u64)),
        );
        self.clean(x);
    }

    /// Orthonormal columns, also orthogonal to the basis, or zero if little is left outside it, which would be
    /// amplified noise.
    fn clean(&self, x: &mut [S::Tall]) -> Vec<bool> {
        let mut kept = orthonormalize(&mut In {
            space: self.space,
            panels: x,
        });
        for _ in 0..PROJECTIONS {
            if self.panels.is_empty() {
                break;
            }
            let part = self.project(x);
            self.keep_columns(x, 0.1);
            kept = orthonormalize(&mut In {
                space: self.space,
                panels: x,
            });
            if part
                .as_slice()
                .iter()
                .fold(0.0f64, |most, part| most.max(part.abs()))
                <= ALONG
            {
                break;
            }
        }
        kept
    }

    /// Zeroes columns that are no longer than `floor`.
    fn keep_columns(&self, x: &mut [S::Tall], floor: f64) {
        let lengths = self.space.fold(x, Fold::Length);
        let kept: Vec<f64> = lengths
            .iter()
            .map(|&length| f64::from(u8::from(length > floor)))
            .collect();
        if kept.contains(&0.0) {
            self.space.map(x, &Map::Scale(&kept));
        }
    }
}

/// The largest entry.
pub(super) fn largest(m: &Small) -> f64 {
    m.as_slice()
        .iter()
        .fold(0.0f64, |most, x| most.max(x.abs()))
}
