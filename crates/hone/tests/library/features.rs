//! Structure features.

use hone::Silent;
use hone::features::Structure;
use hone::graph::Generator;
use hone::motif;

#[test]
fn columns_that_overflow_are_refused_by_name() {
    let names = ["edge_degree".to_owned(), "sum_edge_degree".into()];
    let check = |largest: f64| Structure::default().check_sums(&names, &[4.0, largest]);
    assert!(check(f64::from(f32::MAX)).is_ok());
    let error = check(f64::INFINITY).unwrap_err().to_string();
    assert!(
        error.contains("`sum_edge_degree`") && error.contains("depth"),
        "{error}"
    );
}

/// The columns that are computed when they are read are those that are held, to rounding.
#[test]
fn streamed_features_are_the_features() {
    let graph = Generator::Rmat {
        nodes: 600,
        degree: 6.0,
        quadrants: [0.57, 0.19, 0.19, 0.05],
    };
    let graph = graph.graph(3, &Silent).unwrap();
    let counts = motif::count(&graph, &Silent).unwrap();
    let which = [
        (true, true, true),
        (false, true, false),
        (true, false, true),
        (true, false, false),
    ];
    for (sum, mean, max) in which {
        let features = Structure {
            sum,
            mean,
            max,
            ..Structure::default()
        };
        let held = features.of(&counts).unwrap();
        let streamed = features.streamed(&counts).unwrap();
        assert_eq!(
            (&held.names, &held.origins),
            (&streamed.names, &streamed.origins)
        );
        let block = streamed.columns.to_block();
        let values = held.block.as_slice().iter().zip(block.as_slice());
        let off = values.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-5, "{off}");
    }
    let deep = Structure {
        depth: 2,
        ..Structure::default()
    };
    assert_eq!(
        deep.streamed(&counts).unwrap().columns.to_block(),
        deep.of(&counts).unwrap().block
    );
}
