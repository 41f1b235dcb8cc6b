//! Finished cells on disk.

use std::cell::Cell;
use std::fs;

use hone::{Error, Result};
use hone_eval::cache::Cache;

#[test]
fn cells_are_computed_once_and_survive_damage() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cache = Cache::open(&folder.path().join("deep/er")).expect("made");
    let calls = Cell::new(0);
    let compute = || {
        calls.set(calls.get() + 1);
        Ok(vec![1.5, 2.0])
    };
    assert_eq!(
        cache.cell(&("a", 1), compute).expect("computed"),
        [1.5, 2.0]
    );
    assert_eq!(cache.cell(&("a", 1), compute).expect("stored"), [1.5, 2.0]);
    assert_eq!(calls.get(), 1);
    cache.cell(&("a", 2), compute).expect("another key");
    assert_eq!(calls.get(), 2);
    cache.renewed().cell(&("a", 2), compute).expect("anew");
    assert_eq!(calls.replace(2), 3);
    for file in fs::read_dir(folder.path().join("deep/er")).expect("listed") {
        fs::write(file.expect("an entry").path(), b"{\"key\"").expect("damaged");
    }
    cache.cell(&("a", 1), compute).expect("computed again");
    assert_eq!(calls.get(), 3);
    for file in fs::read_dir(folder.path().join("deep/er")).expect("listed") {
        let path = file.expect("an entry").path();
        fs::write(
            &path,
            fs::read_to_string(&path)
                .expect("text")
                .replace("1.5", "9.5"),
        )
        .expect("changed");
    }
    assert_eq!(
        cache.cell(&("a", 1), compute).expect("computed again"),
        [1.5, 2.0]
    );
    assert_eq!(calls.replace(3), 4);
    let fail = || -> Result<Vec<f64>> { Err(Error::Interrupted) };
    assert!(cache.cell(&("b", 1), fail).is_err() && cache.cell(&("b", 1), compute).is_ok());
}
