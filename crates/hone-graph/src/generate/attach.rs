//! Preferential attachment (Barabási and Albert 1999, doi:10.1126/science.286.5439.509).
//!
//! The graph starts as a clique just large enough; then nodes come one by one and join earlier
//! ones. A uniform choice among the ends of all earlier edges prefers nodes by degree, so a draw
//! takes constant time and the whole is linear; a draw that hits a node already joined is repeated.

use rand::Rng;

use super::check::{expect_room, too_large};
use super::rows::{CHUNK, Edges, each_row};
use crate::error::Result;
use crate::progress::Progress;
use crate::random::Key;

/// Draws a graph in which new nodes join `joins` others in the mean.
pub(super) fn attach(
    nodes: u32,
    joins: f64,
    key: Key,
    progress: &dyn Progress,
    mut sink: impl FnMut(&[Edges]) -> Result<()>,
) -> Result<()> {
    if joins == 0.0 {
        return Ok(());
    }
    let clique = joins.ceil() as u32 + 1;
    let mut ends = room_for_ends((f64::from(nodes) + f64::from(clique)) * joins * 2.0)?;
    let mut chunk = each_row(0..clique, |u, out| {
        out.extend((u + 1..clique).map(|v| (u, v)));
    });
    ends.extend(chunk.iter().flat_map(|&(u, v)| [u, v]));
    let mut joined = vec![u32::MAX; nodes as usize]; // the last node that joined this one
    let mut rng = key.rng();
    progress.stage("generating edges", u64::from(nodes));
    for u in clique..nodes {
        let earlier = ends.len() as u64;
        for _ in (f64::from(u) * joins) as u64..(f64::from(u + 1) * joins) as u64 {
            let v = loop {
                let v = ends[below(earlier, &mut rng) as usize];
                if joined[v as usize] != u {
                    break v;
                }
            };
            joined[v as usize] = u;
            ends.extend([u, v]);
            chunk.push((v, u));
        }
        if chunk.len() as u64 >= CHUNK {
            progress.check()?;
            sink(&[std::mem::take(&mut chunk)])?;
        }
        if u % 4096 == 0 {
            progress.advance(4096);
        }
    }
    sink(&[chunk])
}

/// An empty list with room, or an error when the machine has none.
fn room_for_ends(count: f64) -> Result<Vec<u32>> {
    expect_room(count * 4.0)?;
    let mut ends = Vec::new();
    ends.try_reserve_exact(count as usize)
        .map_err(|_| too_large(count * 4.0, 0))?;
    Ok(ends)
}

/// Uniform in 0..n, up to a bias of n / 2⁶⁴.
fn below(n: u64, rng: &mut impl Rng) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}
