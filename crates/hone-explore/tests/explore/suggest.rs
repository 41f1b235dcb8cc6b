//! Ids that may have been meant.

use hone::graph::NodeIds;
use hone_explore::{find_node, suggest};

#[test]
fn close_ids_are_suggested_and_far_ones_are_not() {
    let ids = NodeIds::from_texts(&["Alice", "Bob", "Malice Springs", "Carol"]);
    assert_eq!(suggest(&ids, "alicce"), ["Alice"]);
    assert_eq!(suggest(&ids, "lice"), ["Alice", "Malice Springs"]);
    assert!(suggest(&ids, "Zebra").is_empty());
    let error = |ids: &NodeIds, id| {
        find_node(ids, &ids.index(), id)
            .expect_err("unknown")
            .to_string()
    };
    assert_eq!(
        error(&ids, "bbo"),
        "node: no node is called `bbo`; did you mean `Bob`?"
    );
    assert!(error(&ids, "Zebra").ends_with("there are 4 nodes, from `Alice` to `Carol`"));
    assert!(error(&NodeIds::Sequential(0), "0").ends_with("there are no nodes"));
    assert_eq!(find_node(&ids, &ids.index(), "Bob").expect("known"), 1);
}
