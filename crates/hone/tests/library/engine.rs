//! How local embeddings become columns of Y.

use hone::config::{Local, Scale};
use hone::engine::Shape;

/// A spectrum that shows communities keeps the last power; one without them gets the power before.
#[test]
fn spectral_weights_are_those_of_the_last_two_steps() {
    let weights = |values: [f64; 6], laziness: f64| {
        let sigma = values.map(|value| (laziness + (1.0 - laziness) * value).powi(3));
        let local = Local {
            scale: Scale::Spectral,
            ..Local::default()
        };
        Shape::new(&local, 3, laziness, true)
            .weights(&sigma, 100)
            .unwrap()
    };
    let close = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    };
    close(
        weights([0.8, 0.7, 0.7, 0.6, 0.6, 0.6], 0.0)[5],
        (0.6f64 / 0.8).powi(3),
    );
    close(
        weights([0.8, 0.2, 0.2, 0.2, 0.2, 0.2], 0.0)[5],
        (0.2f64 / 0.8).powf(2.02),
    );
    close(
        weights([0.8, 0.4, 0.4, 0.4, 0.4, 0.4], 0.0)[5],
        0.5f64.powf(2.0 + 0.8f64.powi(6)),
    );
    close(
        weights([0.8, 0.4, 0.4, 0.4, 0.4, 0.4], 0.2)[5],
        (0.52f64 / 0.84).powi(3),
    );
    let unit = Local {
        scale: Scale::Unit,
        ..Local::default()
    };
    let unit = Shape::new(&unit, 3, 0.0, true).weights(&[2.0, 1.0], 100);
    assert_eq!(unit, None);
    let local = Local {
        scale: Scale::Spectral,
        ..Local::default()
    };
    assert_eq!(
        Shape::new(&local, 3, 0.0, false).weights(&[2.0, 1.0], 100),
        Some(vec![1.0, 0.5])
    );
}
