//! Loops keep the order of their items.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hone_base::parallel::{
    collect, collect_some, count, each, first, for_chunks, for_rows, map, map_each, stretches,
    try_each,
};

#[test]
fn results_come_in_order() {
    assert_eq!(
        map(1000, |i| i * i),
        (0..1000).map(|i| i * i).collect::<Vec<_>>()
    );
    assert!(map(0, |i| i).is_empty());
    assert_eq!(stretches(10, 4, Iterator::sum::<usize>), [6, 22, 17]);
    assert_eq!(first(100_000, |i| i >= 77_777), Some(77_777));
    assert_eq!(
        (first(100_000, |_| false), first(0, |_| true)),
        (None, None)
    );
    assert_eq!(count(100_000, |i| i % 10 == 3), 10_000);
    assert_eq!(
        collect(100_000, |i| i + 1),
        (1..=100_000).collect::<Vec<_>>()
    );
    assert!(collect(0, |i| i).is_empty() && collect_some(1000, |_| None::<u8>).is_empty());
    assert_eq!(collect_some(10, |i| (i % 3 == 1).then_some(i)), [1, 4, 7]);
    let taken = Mutex::new(Vec::new());
    each(vec!["a", "b", "c"], &|i, item| {
        taken.lock().expect("not poisoned").push((i, item));
    });
    let mut taken = taken.into_inner().expect("not poisoned");
    taken.sort_unstable();
    assert_eq!(taken, [(0, "a"), (1, "b"), (2, "c")]);
    assert_eq!(
        try_each(vec![1, 2, 3], &|_, x| if x == 2 { Err(x) } else { Ok(()) }),
        Err(2)
    );
    assert_eq!(try_each(vec![1, 2, 3], &|_, _| Ok::<(), ()>(())), Ok(()));
    assert_eq!(
        map_each(vec!["a", "b"], |i, item| item.repeat(i + 1)),
        ["a", "bb"]
    );
    let mut values = vec![0.0; 10];
    for_chunks(&mut values, 3, &|index, piece| piece.fill(index as f32));
    assert_eq!(values, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0]);
    let mut values = vec![0; 3000];
    for_rows(&mut values, 3, |i, row| row.fill(i));
    assert_eq!(values, (0..3000).map(|at| at / 3).collect::<Vec<_>>());
    for_rows(&mut [0; 0], 3, |_, _| unreachable!("there are no rows"));
}

/// The first error in the order of the items, even where a later one comes first in time.
#[test]
fn the_first_error_in_order_is_returned() {
    let late = AtomicUsize::new(0);
    let work = |i: usize, _: ()| {
        if i == 70 {
            late.store(1, Ordering::SeqCst);
            return Err(i);
        }
        if i == 3 {
            // Another thread, if there is one, comes to the other by then.
            for _ in 0..1000 {
                if late.load(Ordering::SeqCst) == 1 {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            return Err(i);
        }
        Ok(())
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build();
    let found = pool
        .expect("threads")
        .install(|| try_each(vec![(); 100], &work));
    assert_eq!(found, Err(3));
}
