//! Lent memory of columns, and values that are elsewhere.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hone_base::sparse::{Csr, Diagonal, Indices, Pattern, RemoteValues};

#[test]
fn lent_memory_is_used_where_it_lies_and_given_back() {
    let owner: Arc<[u32]> = vec![3, 1, 2].into();
    let lent = Indices::lent(Arc::clone(&owner));
    assert_eq!((lent.as_ptr(), &*lent), (owner.as_ptr(), &owner[..]));
    let again = lent.clone();
    drop(lent);
    assert_eq!(Arc::strong_count(&owner), 2);
    drop(again);
    assert_eq!(Arc::strong_count(&owner), 1);
    assert!(Indices::from(Vec::new()).is_empty());
}

/// "Remote" values that are in this process, too.
#[derive(Debug)]
struct Other {
    held: Csr,
    read: AtomicUsize,
}

impl RemoteValues for Other {
    fn read(&self) -> Vec<f32> {
        self.read.fetch_add(1, Relaxed);
        self.held.values().to_vec()
    }
    fn times_vector(&self, x: &[f64]) -> Vec<f64> {
        self.held.times_vector(x)
    }
    fn row_sums(&self) -> Arc<Vec<f64>> {
        self.held.row_sums()
    }
    fn squares(&self) -> f64 {
        self.held.squares()
    }
    fn scaled(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Arc<dyn RemoteValues> {
        Arc::new(Other {
            held: self.held.scaled_by(scale, left, right),
            read: AtomicUsize::new(0),
        })
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Sums and products are computed where the values are; values are read once, when first needed.
#[test]
fn remote_values_are_read_when_needed() {
    let pattern = Arc::new(Pattern::new(vec![0, 2, 3, 3], vec![0, 2, 1], 3));
    let held = Csr::new(pattern.clone(), vec![1.0, 2.0, 3.0].into());
    let other = Arc::new(Other {
        held: held.clone(),
        read: AtomicUsize::new(0),
    });
    let there = Csr::with_remote_values(pattern, other.clone());
    let [left, right] =
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].map(|values| Diagonal::new("d", values.to_vec()));
    assert_eq!(*there.row_sums(), [3.0, 3.0, 0.0]);
    assert_eq!(
        (there.squares(), there.times_vector(&[1.0, 2.0, 4.0])),
        (14.0, vec![9.0, 6.0, 0.0])
    );
    let scaled = there.scaled_by(0.5, &left, &right);
    assert!(scaled.remote_values().is_some() && other.read.load(Relaxed) == 0);
    assert_eq!(scaled.values(), held.scaled_by(0.5, &left, &right).values());
    assert_eq!(
        (there.clone().values(), there.row(0).1),
        (held.values(), &[1.0, 2.0][..])
    );
    assert_eq!(other.read.load(Relaxed), 1);
}
