//! Experiments for node embeddings: all of section 4 of the paper, also on the user's own graphs.
//!
//! | what | where |
//! |---|---|
//! | loops over graphs, methods and seeds; reports | [`experiment`] |
//! | link prediction, node labels, roles | [`task`] |
//! | methods by name | [`method`] |
//! | the best settings for one graph | [`tune`] |
//! | vectors of other tools and saved ones; leak detection | [`vectors`] |
//! | DeepWalk, node2vec, LINE, GraRep, NetMF, ProNE, FastRP, Spectral, RolX, GraphWave, features, heuristics | [`baseline`] |
//! | edge-removal splits that cannot leak, and their files | [`split`] |
//! | node labels | [`labels`] |
//! | edge features, scaling | [`pairs`] |
//! | L2 logistic regression, binary and one-vs-rest, and the choice of C | [`classify`] |
//! | clusters | [`kmeans`] |
//! | AUC, average precision, accuracy, F1, NMI | [`metrics`] |
//! | gains, ranks, significance over many graphs | [`compare`] |
//! | tables and plots in every format | [`report`] |
//! | mean ± std, significance, exponents | [`stats`] |
//! | finished cells on disk | [`cache`] |

pub mod baseline;
pub mod cache;
pub mod classify;
pub mod compare;
pub mod experiment;
pub mod kmeans;
pub mod labels;
pub mod method;
pub mod metrics;
pub mod pairs;
mod plot;
pub mod random;
pub mod report;
pub mod split;
pub mod stats;
pub mod task;
pub mod tune;
pub mod vectors;

/// A value by its name in files.
fn named<T: serde::de::DeserializeOwned>(field: &str, text: &str, names: &str) -> hone::Result<T> {
    let message = |_| hone::Error::config(field, format!("`{text}` is not one of {names}"));
    serde_json::from_value(text.into()).map_err(message)
}

/// Makes a folder, unless it is there.
fn make_folder(folder: &std::path::Path, field: &str) -> hone::Result<()> {
    if folder.exists() && !folder.is_dir() {
        let message = format!("{} is a file; give a folder", folder.display());
        return Err(hone::Error::config(field, message));
    }
    std::fs::create_dir_all(folder).map_err(|e| hone::Error::io(folder, e))
}
