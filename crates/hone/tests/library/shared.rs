//! Files written by several processes, here threads, that hold some rows each: the bytes of one process, or nothing.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::{Barrier, Mutex};

use hone::communicator::Communicator;
use hone::dense::Block;
use hone::dense::panels::Own;
use hone::graph::NodeIds;
use hone::output::{Batch, Existing};
use hone::store::{Embedding, Format};
use hone::{Error, Result};

const ROWS: usize = 1100;
const COLS: usize = 3;
/// Whole lanes; the second thread has none.
const OWNED: [Range<usize>; 4] = [0..256, 256..256, 256..768, 768..ROWS];

/// What threads exchange.
#[derive(Debug)]
struct Desk {
    all: Barrier,
    bytes: Mutex<Vec<Vec<u8>>>,
}

/// A thread among four.
#[derive(Debug)]
struct Thread<'a> {
    rank: usize,
    desk: &'a Desk,
}

impl Desk {
    fn new() -> Self {
        Desk {
            all: Barrier::new(4),
            bytes: Mutex::new(vec![Vec::new(); 4]),
        }
    }

    /// Runs all four.
    fn run<T: Send>(&self, work: impl Fn(&dyn Communicator) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let thread = |rank| {
                scope.spawn({
                    let work = &work;
                    move || work(&Thread { rank, desk: self })
                })
            };
            let threads: Vec<_> = (0..4).map(thread).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        })
    }
}

impl Communicator for Thread<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        4
    }

    fn add_u32(&self, _values: &mut [u32]) {
        unreachable!("writers add nothing")
    }

    fn add_u64(&self, _values: &mut [u64]) {
        unreachable!("writers add nothing")
    }

    fn gather_bytes(&self, own: &[u8]) -> Vec<Vec<u8>> {
        self.desk.bytes.lock().unwrap()[self.rank] = own.to_vec();
        self.desk.all.wait();
        let all = self.desk.bytes.lock().unwrap().clone();
        self.desk.all.wait();
        all
    }
}

fn whole(ids: NodeIds) -> Embedding {
    let values =
        (0..ROWS * COLS).map(|i| ((i * 37 % 101) as f32 - 50.0) * 10f32.powi((i % 9) as i32 - 4));
    Embedding::new(ids, Block::from_vec(ROWS, COLS, values.collect()))
}

/// What a thread has of it.
fn part(of: &Embedding, rank: usize) -> Embedding {
    let range = OWNED[rank].clone();
    let values = of.vectors.rows_slice(range.clone()).to_vec();
    let own = Own { rows: ROWS, range };
    let vectors = Block::from_vec(own.range.len(), COLS, values);
    Embedding::part(of.ids.clone(), own, vectors, of.columns.clone())
}

fn write(embedding: &Embedding, path: &Path, writers: &dyn Communicator) -> Result<()> {
    let mut batch = Batch::new(Existing::Refuse);
    part(embedding, writers.rank()).add_shared(&mut batch, path, None, writers)?;
    if writers.leads() {
        batch.commit().map(drop)
    } else {
        Ok(())
    }
}

fn all_ids() -> [NodeIds; 3] {
    let texts: Vec<String> = (0..ROWS)
        .map(|i| {
            if i < 800 {
                format!("{i}")
            } else {
                format!("no, {i}")
            }
        })
        .collect();
    [
        NodeIds::Sequential(ROWS),
        NodeIds::from_integers((5..5 + ROWS as i64).collect()),
        NodeIds::from_texts(&texts),
    ]
}

#[test]
fn files_of_several_writers_have_the_bytes_of_one() {
    let names = [
        "a.tsv",
        "a.csv",
        "a.tsv.gz",
        "a.csv.zst",
        "a.npy",
        "a.npz",
        "a.parquet",
        "a.safetensors",
        "a.w2v",
    ];
    for (number, embedding) in all_ids().map(whole).into_iter().enumerate() {
        // Blanks in ids.
        for name in names
            .into_iter()
            .filter(|name| number < 2 || !name.ends_with("w2v"))
        {
            let [one, some] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
            embedding
                .write(one.path().join(name), Existing::Refuse)
                .unwrap();
            for done in
                Desk::new().run(|writers| write(&embedding, &some.path().join(name), writers))
            {
                done.unwrap();
            }
            let files = |folder: &Path| {
                let entries = fs::read_dir(folder)
                    .unwrap()
                    .map(|entry| entry.unwrap().path());
                let mut files: Vec<_> = entries
                    .map(|path| {
                        (
                            path.file_name().unwrap().to_owned(),
                            fs::read(path).unwrap(),
                        )
                    })
                    .collect();
                files.sort();
                files
            };
            assert!(files(one.path()) == files(some.path()), "{name}");
        }
    }
}

#[test]
fn folders_of_parts_are_read_as_one_table() {
    for embedding in all_ids().map(whole) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet/");
        Desk::new().run(|writers| write(&embedding, &path, writers).unwrap());
        let parts = fs::read_dir(&path).unwrap().count();
        assert_eq!(
            (parts, fs::read_dir(folder.path()).unwrap().count()),
            (4, 1)
        );
        assert_eq!(Embedding::read(&path).unwrap(), embedding);
        assert_eq!(
            Embedding::read(folder.path().join("a.parquet")).unwrap(),
            embedding
        );
    }
}

#[test]
fn a_writer_that_fails_fails_all_and_leaves_nothing() {
    let embedding = whole(NodeIds::Sequential(ROWS));
    // A name without a folder, and a folder that cannot be one.
    for name in [
        "nowhere/a.npy",
        "nowhere/a.tsv.gz",
        "nowhere/a.parquet/",
        "a.npy/",
    ] {
        let folder = tempfile::tempdir().unwrap();
        for done in Desk::new().run(|writers| write(&embedding, &folder.path().join(name), writers))
        {
            assert!(done.is_err_and(|error| error.is_input()), "{name}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
    // One of them fails alone: each learns of it.
    let errors = Desk::new().run(|writers| {
        let done = if writers.rank() == 2 {
            Err(Error::config("here", "no room"))
        } else {
            Ok(())
        };
        writers.agree("a.npy", done).unwrap_err().to_string()
    });
    assert_eq!(errors[2], "here: no room");
    assert!(
        errors[0] == errors[3] && errors[0] == "process 2 of 4: here: no room",
        "{}",
        errors[0]
    );
}

#[test]
fn rows_reach_the_first_writer_whose_folder_the_others_do_not_see() {
    let embedding = whole(NodeIds::Sequential(ROWS));
    for format in [Format::Npy, Format::Tsv] {
        let folders: [_; 4] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        Desk::new().run(|writers| {
            // The same name on machines of their own.
            let path = folders[writers.rank()].path().join("a");
            let mut batch = Batch::new(Existing::Refuse);
            let part = part(&embedding, writers.rank());
            part.add_shared(&mut batch, &path, Some(format), writers)
                .unwrap();
            if writers.leads() {
                batch.commit().unwrap();
            }
        });
        let [here, there] =
            [0, 1].map(|rank: usize| fs::read_dir(folders[rank].path()).unwrap().count());
        assert!(here > 0 && there == 0);
        let read = Embedding::read_within(
            folders[0].path().join("a"),
            Some(format),
            hone::memory::Allowance::new(None),
        );
        assert_eq!(read.unwrap(), embedding);
    }
}
