//! Experiments for node embeddings: everything of section 4 of the paper, and of any user's own
//! graph.
//!
//! | what | where |
//! |---|---|
//! | AUC, average precision, accuracy, F1, NMI | [`metrics`] |
//! | L2 logistic regression, binary and one-vs-rest | [`logistic`] |
//! | k-fold cross-validation, choice of C | [`validate`] |

pub mod logistic;
pub mod metrics;
pub mod random;
pub mod validate;
