//! Bipartite graphs: the two sides share a space.

use hone::Config;
use hone::config::Auto;
use hone::graph::{Graph, GraphBuilder};

use super::run;

const USERS: u32 = 300;
const ITEMS: u32 = 120;

/// Users and items of four kinds; three of four edges are within a kind.
fn shop() -> Graph {
    let edge = |u: u32, k: u32| {
        let mixed = (u * 31 + k * 17 + u * u % 13 * k) % ITEMS;
        let own = mixed - mixed % 4 + u % 4;
        (u, USERS + if k % 4 == 3 { mixed } else { own })
    };
    let edges: Vec<_> = (0..USERS)
        .flat_map(|u| (0..8).map(move |k| edge(u, k)))
        .collect();
    GraphBuilder::undirected((USERS + ITEMS) as usize)
        .edges(edges)
        .build()
        .unwrap()
}

/// How much larger the products of users with items of their kind are than with others, in standard deviations.
fn separation(config: Config) -> f64 {
    let vectors = run(config, &shop()).embedding.vectors;
    let product = |u: u32, i: u32| {
        let rows = vectors.row(u as usize)[..112]
            .iter()
            .zip(&vectors.row((USERS + i) as usize)[..112]);
        rows.map(|(a, b)| f64::from(a * b)).sum::<f64>()
    };
    let pairs = || (0..USERS).flat_map(|u| (0..ITEMS).map(move |i| (u, i)));
    let of = |own: bool| -> Vec<f64> {
        pairs()
            .filter(|(u, i)| (u % 4 == i % 4) == own)
            .map(|(u, i)| product(u, i))
            .collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (own, other) = (of(true), of(false));
    let spread = |values: &[f64]| {
        values
            .iter()
            .map(|x| (x - mean(values)).powi(2))
            .sum::<f64>()
            / values.len() as f64
    };
    (mean(&own) - mean(&other)) / (spread(&own) + spread(&other)).sqrt().max(1e-12)
}

#[test]
fn users_are_close_to_items_of_their_kind() {
    assert!(separation(Config::default()) > 1.0);
    // A log window leaves negative eigenvalues out and tells them anyway.
    let mut config = Config::default();
    config.local.log_window.steps = 0;
    let lazy = separation(config.clone());
    assert!(lazy > 1.0, "{lazy}");
    config.laziness = Auto::Given(0.0);
    assert!(
        separation(config) < 0.5 * lazy,
        "factors of a walk that never stays cannot tell them"
    );
}
