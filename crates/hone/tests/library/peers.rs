//! Processes that work together, as threads of this one.

#![allow(clippy::unwrap_used)]

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use hone::communicator::Communicator;

/// One of several processes, each of which is a thread.
pub(crate) struct Toy {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

/// Runs `work` as each of so many processes; the results in the order of their numbers.
pub(crate) fn all<T: Send>(processes: usize, work: impl Fn(&Toy) -> T + Sync) -> Vec<T> {
    let mut toys: Vec<Toy> = (0..processes)
        .map(|rank| Toy {
            rank,
            to: Vec::new(),
            from: Vec::new(),
        })
        .collect();
    for from in 0..processes {
        for to in 0..processes {
            let (sender, receiver) = channel();
            toys[from].to.push(sender);
            toys[to].from.push(Mutex::new(receiver));
        }
    }
    let work = &work;
    std::thread::scope(|scope| {
        let running: Vec<_> = toys
            .iter()
            .map(|toy| scope.spawn(move || work(toy)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

impl Communicator for Toy {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn add_u32(&self, values: &mut [u32]) {
        let mut sums: Vec<u64> = values.iter().map(|&value| value.into()).collect();
        self.add_u64(&mut sums);
        values
            .iter_mut()
            .zip(sums)
            .for_each(|(value, sum)| *value = sum as u32);
    }

    fn add_u64(&self, values: &mut [u64]) {
        let own: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        values.fill(0);
        for bytes in self.gather_bytes(&own) {
            let others = bytes
                .chunks_exact(8)
                .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
            values
                .iter_mut()
                .zip(others)
                .for_each(|(sum, value)| *sum += value);
        }
    }

    fn gather_bytes(&self, own: &[u8]) -> Vec<Vec<u8>> {
        self.to.iter().for_each(|to| to.send(own.to_vec()).unwrap());
        let wait = Duration::from_secs(60);
        self.from
            .iter()
            .map(|from| {
                from.lock()
                    .unwrap()
                    .recv_timeout(wait)
                    .expect("all take part")
            })
            .collect()
    }
}
