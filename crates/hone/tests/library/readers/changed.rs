//! What happens meanwhile: files that change while they are read, and callers that panic.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hone::graph::{Generator, WriteOptions, read, write_generated};
use hone::{Error, Progress, Silent};

use super::{default, folder, put};

/// Does something when reading begins.
struct Meanwhile<F>(F);

impl<F: Fn() + Sync> Progress for Meanwhile<F> {
    fn stage(&self, _: &str, _: u64) {
        self.0();
    }
}

fn refused(path: &Path, meanwhile: impl Fn() + Sync) -> String {
    let read = read(path, &default(), &Meanwhile(meanwhile));
    let error = read.map(|graph| graph.edges()).expect_err("it changed");
    assert!(error.is_input(), "{error}");
    error.to_string()
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let folder = folder();
    let list: String = (0..200_000).map(|i| format!("a{i} b{i}\n")).collect();
    let whole = |name: &str| -> PathBuf { put(&folder, name, &list) };
    let change = |path: &Path| File::options().append(true).open(path).unwrap();
    for (what, name, meanwhile) in [
        (
            "shorter",
            "a.tsv",
            &(|path: &Path| change(path).set_len(1_000_000).unwrap()) as &(dyn Fn(&Path) + Sync),
        ),
        ("longer", "b.tsv", &|path: &Path| {
            change(path).write_all(b"x y\n").unwrap();
        }),
        ("as long", "c.tsv", &|path: &Path| {
            let later = SystemTime::now() + Duration::from_secs(9);
            change(path).set_modified(later).unwrap();
        }),
    ] {
        let path = whole(name);
        let message = refused(&path, || meanwhile(&path));
        assert!(
            message.contains("changed while it was read"),
            "{what}: {message}"
        );
    }
    let packed = put(&folder, "d.tsv.zst", zstd_of(list.as_bytes()));
    let message = refused(&packed, || {
        let later = SystemTime::now() + Duration::from_secs(9);
        change(&packed).set_modified(later).unwrap();
    });
    assert!(message.contains("changed while it was read"), "{message}");
}

fn zstd_of(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// The decoder may panic, and this becomes an error; a panic of the caller stays a panic.
#[test]
fn only_the_decoder_of_parquet_is_contained() {
    let folder = folder();
    let path = folder.path().join("a.parquet");
    let ring = Generator::RingOfCliques {
        cliques: 5,
        size: 4,
    };
    write_generated(&ring, 1, &path, &WriteOptions::default(), &Silent).unwrap();
    assert!(read(&path, &default(), &Silent).is_ok());
    let ours = || -> Result<_, Error> {
        read(
            &path,
            &default(),
            &Meanwhile(|| std::panic::resume_unwind(Box::new("ours"))),
        )
    };
    let thrown = catch_unwind(AssertUnwindSafe(ours)).expect_err("thrown");
    assert_eq!(thrown.downcast_ref(), Some(&"ours"));
}
