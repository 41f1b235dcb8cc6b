//! [`Diagonal`]: a diagonal matrix with a name, shared.

use std::sync::Arc;

/// A diagonal matrix with its name in formulas. Clones share the entries, so that a device can keep its own copy and
/// recognise it ([`Diagonal::shared`]).
#[derive(Debug, Clone)]
pub struct Diagonal {
    name: Arc<str>,
    values: Arc<[f32]>,
}

impl Diagonal {
    /// A diagonal that prints as `diag(name)`.
    pub fn new(name: &str, values: impl Into<Arc<[f32]>>) -> Self {
        Diagonal {
            name: name.into(),
            values: values.into(),
        }
    }

    /// The name in formulas.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The entries.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The entries, shared by all clones.
    pub fn shared(&self) -> &Arc<[f32]> {
        &self.values
    }

    /// The largest absolute value.
    pub fn largest(&self) -> f64 {
        let most = |values: std::ops::Range<usize>| {
            self.values[values]
                .iter()
                .fold(0.0, |most, x| f64::max(most, f64::from(x.abs())))
        };
        crate::parallel::stretches(self.values.len(), 1 << 16, most)
            .into_iter()
            .fold(0.0, f64::max)
    }

    /// The product of two diagonals.
    #[must_use]
    pub fn times(&self, other: &Diagonal) -> Diagonal {
        let values: Arc<[f32]> = self
            .values
            .iter()
            .zip(other.values.iter())
            .map(|(a, b)| a * b)
            .collect();
        Diagonal::new(&format!("{}·{}", self.name, other.name), values)
    }

    /// Whether two diagonals, or their absence, are the same.
    pub fn same(a: &Option<Diagonal>, b: &Option<Diagonal>) -> bool {
        match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(&a.values, &b.values) || a.values == b.values,
            _ => false,
        }
    }
}
