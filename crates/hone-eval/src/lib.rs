//! Experiments for node embeddings: everything of section 4 of the paper, and of any user's own
//! graph.
//!
//! | what | where |
//! |---|---|
//! | AUC, average precision, accuracy, F1, NMI | [`metrics`] |
//! | L2 logistic regression, binary and one-vs-rest | [`logistic`] |
//! | edge-removal splits that cannot leak | [`split`] |
//! | node labels | [`labels`] |
//! | edge features, scaling | [`pairs`] |
//! | k-fold cross-validation, choice of C | [`validate`] |

pub mod baseline;
pub mod labels;
pub mod logistic;
pub mod metrics;
pub mod pairs;
pub mod random;
pub mod split;
pub mod validate;
