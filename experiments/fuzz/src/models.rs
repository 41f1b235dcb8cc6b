//! Models: damaged files, and files whose checksums are right although what they say is not.

use std::path::Path;

use hone::config::Layers;
use hone::{Error, Hone, Like, Model, Result, Silent, graph};
use serde_json::Value;

use crate::karate::karate;

/// The name of the target.
pub(crate) const NAME: &str = "model";

/// Reads a model as it is and with checksums made right; what is accepted places a graph.
pub(crate) fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let sealed =
        sealed(&bytes).map_or_else(|| "not to be sealed".into(), |bytes| used(&bytes, path));
    Model::from_bytes(&bytes, path)
        .map(|model| format!("{} nodes, {sealed}", model.ids().len().min(9)))
}

/// What becomes of karate in the space of a model.
fn used(bytes: &[u8], path: &Path) -> String {
    let Ok(model) = Model::from_bytes(bytes, path) else {
        return "refused".into();
    };
    match model.embed(karate(), &Like::default(), &Silent) {
        Ok(run) => {
            assert!(
                run.embedding
                    .vectors
                    .as_slice()
                    .iter()
                    .all(|value| value.is_finite()),
                "vectors are numbers"
            );
            "used".into()
        }
        Err(_) => "of no use".into(),
    }
}

/// The file with right checksums, where its header can be read at all.
fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = usize::try_from(u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?)).ok()?;
    let data = bytes.get(8usize.checked_add(length)?..)?;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).ok()?;
    let mut head: Value =
        serde_json::from_str(header.get("__metadata__")?.get("head")?.as_str()?).ok()?;
    for (name, tensor) in header
        .as_object()?
        .iter()
        .filter(|(name, _)| *name != "__metadata__")
    {
        let ends = tensor.get("data_offsets")?;
        let end = |i: usize| usize::try_from(ends.get(i)?.as_u64()?).ok();
        let sum = crc32fast::hash(data.get(end(0)?..end(1)?)?);
        *head
            .get_mut("checksums")?
            .as_object_mut()?
            .entry(name)
            .or_insert(Value::Null) = sum.into();
    }
    let head = head.to_string();
    let metadata = header.get_mut("__metadata__")?.as_object_mut()?;
    metadata.insert(
        "checksum".into(),
        crc32fast::hash(head.as_bytes()).to_string().into(),
    );
    metadata.insert("head".into(), head.into());
    let mut text = header.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    Some([&(text.len() as u64).to_le_bytes()[..], &text, data].concat())
}

/// Small models: of numbered and of named nodes, and of several motifs.
pub(crate) fn seeds() -> Result<Vec<Vec<u8>>> {
    let of = |name: &str, settings: &[(&str, &str)]| {
        let layers = Layers::new().preset("hone")?.set("global.dim", "6")?;
        let layers = settings
            .iter()
            .try_fold(layers, |layers, (key, value)| layers.set(key, value))?;
        let (_, model) = Hone::new(layers.build()?)?.fit(&graph::builtin(name)?, &Silent)?;
        let mut bytes = Vec::new();
        model
            .write_to(&mut bytes)
            .map_err(|e| Error::io("model", e))?;
        Ok(bytes)
    };
    let motifs = [
        ("motifs", "[\"edge\", \"triangle\"]"),
        ("local.dim", "3"),
        ("first-step", "1"),
        ("steps", "2"),
    ];
    Ok(vec![
        of("petersen", &[])?,
        of("florentine", &[])?,
        of("karate", &motifs)?,
    ])
}
