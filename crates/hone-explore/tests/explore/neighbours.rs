//! Similar nodes: against all pairs in double precision, and for any number of threads.

use hone::dense::Block;
use hone::graph::NodeIds;
use hone::output::{Batch, Existing};
use hone::random::Key;
use hone::store::Embedding;
use hone::{Progress, Silent};
use hone_explore::{By, Method, Neighbour, Neighbours, Search, Space};

/// Random vectors, some columns of which are structure; a few rows are equal, one is zero.
fn vectors(rows: usize, proximity: usize, structure: usize) -> Embedding {
    let mut block = Block::random(rows, proximity + structure, Key::new(7));
    for i in 0..rows {
        block.row_mut(i)[proximity..]
            .iter_mut()
            .for_each(|x| *x = 3.0 * *x + 5.0);
    }
    for i in (10..rows).step_by(17) {
        let copy = block.row(3).to_vec();
        block.row_mut(i).copy_from_slice(&copy);
    }
    if rows > 5 {
        block.row_mut(5).fill(0.0);
    }
    let names = (0..proximity).map(|j| format!("z{j}"));
    let columns = names
        .chain((0..structure).map(|j| format!("structure_pc{j}")))
        .collect();
    Embedding::with_columns(NodeIds::Sequential(rows), block, columns)
}

/// The documented formulas, pair by pair.
fn naive(embedding: &Embedding, spread: f64, by: By, i: usize, j: usize) -> f64 {
    let placed: Vec<bool> = embedding
        .columns
        .iter()
        .map(|name| name.starts_with("structure_"))
        .collect();
    let x = |i: usize, c: usize| f64::from(embedding.vectors.get(i, c));
    let columns = |kind: bool| {
        placed
            .iter()
            .enumerate()
            .filter(move |(_, p)| **p == kind)
            .map(|(c, _)| c)
    };
    let dot = |a: usize, b: usize| columns(false).map(|c| x(a, c) * x(b, c)).sum::<f64>();
    let lengths = (dot(i, i) * dot(j, j)).sqrt();
    let cosine = if lengths > 0.0 {
        dot(i, j) / lengths
    } else {
        0.0
    };
    let distance: f64 = columns(true).map(|c| (x(i, c) - x(j, c)).powi(2)).sum();
    let structural = if spread > 0.0 {
        distance / (2.0 * spread)
    } else {
        0.0
    };
    match by {
        By::All if columns(false).next().is_some() => cosine - 0.05 * structural,
        By::Proximity => cosine,
        _ => 1.0 - structural,
    }
}

/// The mean squared distance of the structure columns from their mean.
fn spread(embedding: &Embedding) -> f64 {
    let n = embedding.vectors.rows();
    let x = |i: usize, c: usize| f64::from(embedding.vectors.get(i, c));
    let placed =
        (0..embedding.columns.len()).filter(|&c| embedding.columns[c].starts_with("structure_"));
    let variance = |c: usize| {
        let mean = (0..n).map(|r| x(r, c)).sum::<f64>() / n as f64;
        (0..n).map(|r| (x(r, c) - mean).powi(2)).sum::<f64>() / n as f64
    };
    placed.map(variance).sum()
}

/// The similarities of the best `k` of a row, by the formulas.
fn naive_best(embedding: &Embedding, spread: f64, by: By, i: usize, k: usize) -> Vec<f64> {
    let others = (0..embedding.vectors.rows()).filter(|&j| j != i);
    let mut best: Vec<f64> = others.map(|j| naive(embedding, spread, by, i, j)).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    best.truncate(k);
    best
}

fn search(method: Method, top: usize) -> Search {
    Search {
        top,
        search: method,
        seed: 1,
    }
}

fn all(space: &Space, method: Method, top: usize) -> Neighbours {
    search(method, top)
        .all(space, &Silent)
        .expect("never cancelled")
}

#[test]
fn exact_neighbours_are_those_of_the_formulas() {
    let embedding = vectors(220, 12, 5);
    let spread = spread(&embedding);
    for by in [By::All, By::Proximity, By::Structure] {
        let space = Space::of(&embedding, by).expect("both kinds of columns");
        let found = all(&space, Method::Exact, 8);
        assert_eq!((found.recall, found.k(), found.len()), (None, 8, 220));
        for i in 0..220 {
            let near = found.row(i);
            for (near, best) in near.iter().zip(naive_best(&embedding, spread, by, i, 8)) {
                let exact = naive(&embedding, spread, by, i, near.row as usize);
                for found in [f64::from(near.similarity), exact] {
                    assert!(
                        (found - best).abs() < 1e-5,
                        "{by:?} {i}: {near:?} for {best}"
                    );
                }
            }
            let rows: Vec<u32> = near.iter().map(|near| near.row).collect();
            let mut distinct = rows.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert!(
                distinct.len() == 8 && !rows.contains(&(i as u32)),
                "{by:?} {i}: {rows:?}"
            );
        }
    }
}

#[test]
fn a_query_of_one_node_finds_its_row_of_the_table() {
    let embedding = vectors(300, 16, 4);
    let space = Space::of(&embedding, By::All).expect("vectors");
    let found = all(&space, Method::Exact, 5);
    for i in [0u32, 5, 17, 299] {
        let query = space.query(&[i], &[]).expect("a row");
        let nearest = space.nearest(&query, &[i], 5);
        for (node, near) in nearest.iter().zip(found.row(i as usize)) {
            assert_eq!(node.row, near.row, "{i}");
            assert!((node.similarity - near.similarity).abs() < 1e-5);
        }
    }
}

#[test]
fn equal_rows_come_in_the_order_of_their_numbers() {
    let embedding = vectors(200, 12, 3);
    let space = Space::of(&embedding, By::All).expect("vectors");
    let rows: Vec<u32> = space
        .nearest(&space.query(&[3], &[]).expect("a row"), &[3], 6)
        .iter()
        .map(|n| n.row)
        .collect();
    assert_eq!(rows, [10, 27, 44, 61, 78, 95]);
}

/// Similarities that differ only beyond what is written are in row order too.
#[test]
fn rows_that_look_equally_similar_come_in_the_order_of_their_numbers() {
    let (n, groups) = (400, 40);
    let (centres, noise) = (
        Block::random(groups, 12, Key::new(1)),
        Block::random(n, 12, Key::new(2)),
    );
    let mut block = Block::zeros(n, 12);
    block.update_rows(|i, row| {
        let own = centres.row(i % groups).iter().zip(noise.row(i));
        row.iter_mut()
            .zip(own)
            .for_each(|(to, (centre, noise))| *to = centre + 2e-4 * noise);
    });
    let space =
        Space::of(&Embedding::new(NodeIds::Sequential(n), block), By::All).expect("vectors");
    let mut equal = 0;
    let mut check = |pairs: Vec<(u32, f32)>| {
        for pair in pairs.windows(2).filter(|pair| pair[0].1 == pair[1].1) {
            assert!(pair[0].0 < pair[1].0, "{pair:?}");
            equal += 1;
        }
    };
    for method in [Method::Exact, Method::Approximate] {
        let found = all(&space, method, 9);
        for i in 0..n {
            let near = found.row(i).iter();
            check(near.map(|near| (near.row, near.similarity)).collect());
        }
    }
    for i in 0..n as u32 {
        let query = space.query(&[i], &[]).expect("a row");
        let nearest = space.nearest(&query, &[i], 9);
        check(
            nearest
                .iter()
                .map(|node| (node.row, node.similarity))
                .collect(),
        );
    }
    assert!(equal > 100, "{equal} pairs look equal");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let embedding = vectors(3000, 24, 6);
    let space = Space::of(&embedding, By::All).expect("vectors");
    let with = |threads: usize, method: Method| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| all(&space, method, 7))
    };
    for method in [Method::Exact, Method::Approximate] {
        let one = with(1, method);
        assert!(
            one == with(2, method) && one == with(7, method),
            "{method:?}"
        );
    }
}

#[test]
fn approximate_neighbours_are_nearly_all_found_and_the_recall_is_true() {
    // Groups, as embeddings of graphs have them.
    let (n, groups) = (4000, 80);
    let (centres, noise) = (
        Block::random(groups, 24, Key::new(1)),
        Block::random(n, 24, Key::new(2)),
    );
    let mut block = Block::zeros(n, 24);
    block.update_rows(|i, row| {
        let own = centres.row(i % groups).iter().zip(noise.row(i));
        row.iter_mut()
            .zip(own)
            .for_each(|(to, (centre, noise))| *to = centre + 0.4 * noise);
    });
    let space =
        Space::of(&Embedding::new(NodeIds::Sequential(n), block), By::All).expect("vectors");
    let (exact, near) = (
        all(&space, Method::Exact, 10),
        all(&space, Method::Approximate, 10),
    );
    let common = |i: usize| {
        let is_true = |near: &&Neighbour| {
            let mut exact = exact.row(i).iter();
            exact.any(|other| other.row == near.row)
        };
        near.row(i).iter().filter(is_true).count()
    };
    let recall = (0..n).map(common).sum::<usize>() as f64 / (10 * n) as f64;
    let reported = near.recall.expect("approximate");
    assert!(recall > 0.95, "{recall}");
    assert!((recall - reported).abs() < 0.02, "{recall} {reported}");
}

#[test]
fn tiny_and_odd_vectors() {
    for n in [0, 1, 2, 3] {
        let embedding = vectors(n, 4, 2);
        for by in [By::All, By::Proximity, By::Structure] {
            let space = Space::of(&embedding, by).expect("finite");
            for method in [Method::Exact, Method::Approximate] {
                let found = all(&space, method, 10);
                assert_eq!(found.k(), n.saturating_sub(1));
                assert_eq!(found.len(), if n > 1 { n } else { 0 });
            }
        }
    }
    // All equal: nothing to tell apart, and no division by zero.
    let same = Embedding::with_columns(
        NodeIds::Sequential(300),
        Block::from_vec(300, 1, vec![2.5; 300]),
        vec!["structure_pc0".into()],
    );
    let space = Space::of(&same, By::All).expect("finite");
    for method in [Method::Exact, Method::Approximate] {
        let found = all(&space, method, 3);
        assert!((0..300).all(|i| found.row(i).iter().all(|near| near.similarity == 1.0)));
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let mut embedding = vectors(9, 3, 0);
    let error = Space::of(&embedding, By::Structure)
        .expect_err("no such column")
        .to_string();
    assert!(
        error.contains("no structure columns") && error.contains("preset `hone`"),
        "{error}"
    );
    let space = Space::of(&embedding, By::All).expect("plain cosine");
    assert!(space.query(&[], &[]).is_err() && space.query(&[9], &[]).is_err());
    embedding.vectors.row_mut(4)[1] = f32::NAN;
    let error = Space::of(&embedding, By::All)
        .expect_err("not a number")
        .to_string();
    assert!(
        error.contains("node `4`") && error.contains("`z1`"),
        "{error}"
    );
}

#[test]
fn analogies_go_as_with_words() {
    // king − man + woman = queen, on two axes.
    let block = Block::from_vec(
        5,
        2,
        vec![1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 0.9, 0.1],
    );
    let names = NodeIds::from_texts(&["king", "man", "queen", "woman", "page"]);
    let space = Space::of(&Embedding::new(names, block), By::All).expect("vectors");
    let query = space.query(&[0, 3], &[1]).expect("rows");
    assert_eq!(space.nearest(&query, &[0, 3, 1], 1)[0].row, 2);
}

#[test]
fn a_search_can_be_stopped() {
    struct Stop;
    impl Progress for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let space = Space::of(&vectors(500, 8, 0), By::All).expect("vectors");
    for method in [Method::Exact, Method::Approximate] {
        assert!(
            matches!(
                search(method, 3).all(&space, &Stop),
                Err(hone::Error::Interrupted)
            ),
            "{method:?}"
        );
    }
}

#[test]
fn tables_hold_what_was_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let ids = NodeIds::from_texts(&["a,b", "\"q\"", "c"]);
    let near = |(row, similarity)| Neighbour { row, similarity };
    let found = [(1, 0.5), (2, 0.25), (0, 0.5), (2, -1.0), (1, 1.0), (0, 0.0)];
    let found = Neighbours::new(2, found.map(near).to_vec());
    let write = |name: &str| {
        let mut batch = Batch::new(Existing::Refuse);
        found.add_to(&mut batch, &folder.path().join(name), &ids, &Silent)?;
        batch.commit()
    };
    write("knn.csv").expect("written");
    let text = std::fs::read_to_string(folder.path().join("knn.csv")).expect("text");
    let lines = [
        "id,rank,neighbour,similarity",
        "\"a,b\",1,\"\"\"q\"\"\",0.5",
        "\"a,b\",2,c,0.25",
    ];
    assert_eq!(text.lines().take(3).collect::<Vec<_>>(), lines);
    assert_eq!(write("knn.npy").expect("written").len(), 3);
    let bytes = std::fs::read(folder.path().join("knn.npy")).expect("bytes");
    assert_eq!(bytes[bytes.len() - 48..][..8], 1i64.to_le_bytes());
    assert!(write("knn.npy").is_err(), "existing files stay");
    assert!(write("knn.xyz").is_err());
}

#[test]
fn prepared_rows_rank_by_plain_distance() {
    let embedding = vectors(220, 12, 5);
    let spread = spread(&embedding);
    for (by, width) in [(By::All, 18), (By::Proximity, 13), (By::Structure, 5)] {
        let space = Space::of(&embedding, by).expect("both kinds of columns");
        let rows = space.prepared(embedding.ids.clone());
        assert_eq!(rows.vectors.cols(), width, "{by:?}");
        // Node 5 has no direction.
        for i in (0..220).filter(|&i| by == By::Structure || i != 5) {
            for j in (0..220).filter(|&j| j != i) {
                let pairs = rows.vectors.row(i).iter().zip(rows.vectors.row(j));
                let square: f64 = pairs
                    .map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2))
                    .sum();
                let similarity = naive(&embedding, spread, by, i, j);
                assert!(
                    (1.0 - square / 2.0 - similarity).abs() < 1e-5,
                    "{by:?} {i} {j}: {square} for {similarity}"
                );
            }
        }
    }
}

#[test]
fn prepared_rows_that_are_read_back_are_not_prepared_again() {
    let embedding = vectors(60, 12, 5);
    for (by, other) in [
        (By::All, By::Structure),
        (By::Proximity, By::Structure),
        (By::Structure, By::Proximity),
    ] {
        let space = Space::of(&embedding, by).expect("both kinds of columns");
        let rows = space.prepared(embedding.ids.clone());
        for by in [By::All, by] {
            let again = Space::of(&rows, by).expect("prepared by this");
            assert_eq!(again.prepared(rows.ids.clone()), rows);
            assert_eq!(again.halves(), space.halves());
            for i in 0..60 {
                assert_eq!(again.similarity(i, 7), space.similarity(i, 7));
            }
        }
        let refused = Space::of(&rows, other)
            .expect_err("prepared by another")
            .to_string();
        assert!(
            refused.contains("prepared for another comparison"),
            "{refused}"
        );
    }
}

#[test]
fn rows_without_a_direction_are_far_from_all_that_have_one() {
    let mut block = Block::random(6, 4, Key::new(3));
    block.row_mut(2).fill(0.0);
    block.row_mut(4).fill(0.0);
    let embedding = Embedding::new(NodeIds::Sequential(6), block);
    let space = Space::of(&embedding, By::All).expect("proximity");
    let rows = space.prepared(embedding.ids.clone());
    assert_eq!(rows.columns[4], "prepared_none");
    let alone: Vec<f32> = (0..6).map(|i| rows.vectors.get(i, 4)).collect();
    assert_eq!(alone, [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(rows.vectors.row(2), rows.vectors.row(4));
}
