//! Experiments for node embeddings: all of section 4 of the paper, also on the user's own graphs.
//!
//! | what | where |
//! |---|---|
//! | loops over graphs, methods and seeds; reports | [`experiment`] |
//! | scores of link prediction | [`link_results`] |
//! | link prediction, node labels, roles | [`task`] |
//! | methods by name | [`method`] |
//! | the best settings for one graph | [`tune`] |
//! | one way to make vectors, with its options | [`embedder`] |
//! | vectors of other tools; leak detection | [`foreign`] |
//! | saved vectors | [`save`] |
//! | DeepWalk, node2vec, LINE, GraRep, NetMF, ProNE, Spectral, RolX, GraphWave, features, heuristics | [`baseline`] |
//! | edge-removal splits that cannot leak | [`split`] |
//! | splits as files for other tools | [`export`] |
//! | node labels | [`labels`] |
//! | edge features, scaling | [`pairs`] |
//! | L2 logistic regression, binary and one-vs-rest | [`logistic`] |
//! | k-fold cross-validation, choice of C | [`validate`] |
//! | clusters | [`kmeans`] |
//! | AUC, average precision, accuracy, F1, NMI | [`metrics`] |
//! | summaries of what validation chose | [`choices`] |
//! | gains, ranks, significance over many graphs | [`compare`] |
//! | tables and plots in every format | [`report`] |
//! | mean ± std, significance, exponents | [`stats`] |
//! | finished cells on disk | [`cache`] |

pub mod baseline;
pub mod cache;
pub mod choices;
pub mod compare;
pub mod embedder;
pub mod experiment;
pub mod export;
pub mod foreign;
pub mod kmeans;
pub mod labels;
pub mod link_results;
pub mod logistic;
pub mod method;
pub mod metrics;
pub mod pairs;
pub mod random;
pub mod report;
pub mod save;
pub mod search;
pub mod split;
pub mod stats;
pub mod task;
pub mod tune;
pub mod validate;
