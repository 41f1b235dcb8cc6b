//! The corpus: tiny sound files of every format, made here, and the inputs of past failures.

use std::fs;
use std::path::{Path, PathBuf};

use hone::config::Config;
use hone::dense::Block;
use hone::graph::NodeIds;
use hone::motif::Sample;
use hone::output::Existing;
use hone::store::{Embedding, Format};
use hone::{Error, Hone, Result, Silent};

use crate::checkpoint;
use crate::folders;
use crate::karate::karate;
use crate::models;
use crate::pack::gzip;
use crate::tables;
use crate::target::Target;

/// The folder of a target's files.
pub(crate) fn folder(target: &Target) -> PathBuf {
    corpus().join(target.name)
}

/// That of the project in which this runs, else of the one it was built in.
fn corpus() -> PathBuf {
    let here = Path::new("experiments/fuzz/corpus");
    if here.is_dir() {
        here.to_path_buf()
    } else {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
    }
}

/// All files of a target, in the order of their names, and those that are made anew.
pub(crate) fn read(target: &Target) -> Result<Vec<Vec<u8>>> {
    let folder = folder(target);
    let mut all = fresh(target)?;
    if !folder.exists() && !all.is_empty() {
        return Ok(all);
    }
    let wrong = |e| Error::io(&folder, e);
    let files = fs::read_dir(&folder).map_err(wrong)?;
    let mut files = files
        .map(|file| file.map(|file| file.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(wrong)?;
    files.sort();
    for file in &files {
        all.push(fs::read(file).map_err(|e| Error::io(file, e))?);
    }
    Ok(all)
}

/// Files that hold the settings and the checksums of a run: old ones would be refused at the door, and nothing behind it tried.
fn fresh(target: &Target) -> Result<Vec<Vec<u8>>> {
    if let Some((_, file)) = checkpoint::SEEDS
        .iter()
        .find(|(name, _)| *name == target.name)
    {
        return Ok(vec![checkpoint::seed(file)]);
    }
    let models = if target.name == models::NAME {
        models::seeds()?
    } else {
        Vec::new()
    };
    Ok(models)
}

/// Writes all seeds again; past failures stay.
pub(crate) fn write() -> Result<()> {
    let mut seeds: Vec<(&str, Vec<u8>)> = Vec::new();
    texts(&mut seeds);
    arrays(&mut seeds)?;
    seeds.extend(tables::all());
    runs(&mut seeds)?;
    for (i, (target, bytes)) in seeds.iter().enumerate() {
        let folder = corpus().join(target);
        fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, e))?;
        let number = seeds[..i].iter().filter(|(name, _)| name == target).count();
        let file = folder.join(format!("seed-{number}"));
        fs::write(&file, bytes).map_err(|e| Error::io(&file, e))?;
    }
    Ok(())
}

/// Files of text.
fn texts(seeds: &mut Vec<(&str, Vec<u8>)>) {
    let texts: &[(&str, &str)] = &[
        ("edges", "1 2\n2 3 \n# c\n3 1\n"),
        (
            "edges",
            "source,target,weight\n1,2,0.5\n\"a,\"\"b\",3,1e3\n",
        ),
        ("edges", "a\tb\t1\r\nb\tc\t2\r\n"),
        ("edges", "-9223372036854775808 4294967296\n7 8\n"),
        ("edges-copy", "a\\tb\tC:\\\\x\t0.5\n#x\t\\x41\t1\n\\.\n"),
        (
            "mtx",
            "%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 2\n2 1 0.5\n3 2 1\n",
        ),
        (
            "mtx",
            "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n",
        ),
        ("metis", "3 2\n2\n1 3\n2\n"),
        ("metis", "3 2 011 2\n9 9 2 5\n9 9 1 5 3 7\n9 9 2 7\n"),
        ("nodes", "id,name\n3,c\n2,b\n1,a\n9,z\n"),
        ("nodes", "# c\n1\n2\n3\n\"x y\"\n"),
        (
            "attributes-text",
            "id,age,city\n0,30,Rome\n1,,Oslo\n2,NA,\"R,o\"\n99,1,x\n",
        ),
        ("attributes-text", "0 1 2.5\n1 3 nan\n2 -1 0\n"),
        (
            "attributes-mtx",
            "%%MatrixMarket matrix coordinate real general\n34 3 3\n1 1 0.5\n2 3 1\n34 2 -1\n",
        ),
        ("attributes-svm", "1 1:0.5 3:2\n0 2:1 # c\n"),
        (
            "embedding-tsv",
            "id\tz0\tz1\n0\t1\t2.5\n\"a\tb\"\t-1e3\tNaN\n",
        ),
        ("embedding-csv", "id,z0\n\"x,\"\"y\"\"\nz\",1\n7,2\n"),
        ("embedding-w2v", "2 3\na 1 2 3\nb 0.5 -1 1e-9\n"),
        ("labels", "# c\n0\ta,b\n1 b\n2\tc\n"),
        ("labels", "0 1\n1 2\n33\t10\n"),
        ("map-labels", "id\tclub\n0\tHi\n1\tOfficer\n33\t\"a\tb\"\n"),
        ("map-labels", "0 1\n1 2\n33 1\n"),
        (
            "map-attributes",
            "id,age,city\n0,30,Rome\n1,,Oslo\n2,NA,\"R,o\"\n99,1,x\n",
        ),
    ];
    seeds.extend(
        texts
            .iter()
            .map(|&(target, text)| (target, text.as_bytes().to_vec())),
    );
    let lines: String = (0..34)
        .map(|i| format!("{} 1:{i} 4:0.5\n", i % 2))
        .collect();
    seeds.push(("attributes-svm", lines.into_bytes()));
    let values: String = (0..68)
        .map(|i| format!("{}\n", f64::from(i) / 4.0))
        .collect();
    seeds.push((
        "attributes-mtx",
        format!("%%MatrixMarket matrix array real general\n34 2\n{values}").into_bytes(),
    ));
    seeds.push(("graph-gz", gzip(b"1 2\n2 3\n3 4\n").unwrap_or_default()));
    seeds.push(("graph-gz", gzip(&b"5 6\n".repeat(2000)).unwrap_or_default()));
    seeds.push((
        "graph-zst",
        zstd::encode_all(&b"3 2\n2\n1 3\n2\n"[..], 1).unwrap_or_default(),
    ));
    seeds.push((
        "graph-zst",
        zstd::encode_all(&b"%\n".repeat(2000)[..], 1).unwrap_or_default(),
    ));
}

/// Arrays and archives, as our own writers make them.
fn arrays(seeds: &mut Vec<(&str, Vec<u8>)>) -> Result<()> {
    let folder = tempfile::tempdir().map_err(|e| Error::io("corpus", e))?;
    let written = |embedding: &Embedding, name: &str, format: Format| -> Result<Vec<u8>> {
        let path = folder.path().join(name);
        embedding.write_as(&path, format, Existing::Replace)?;
        fs::read(&path).map_err(|e| Error::io(&path, e))
    };
    let vectors =
        |rows: usize| Block::from_vec(rows, 2, (0..2 * rows).map(|i| i as f32 / 4.0).collect());
    let numbered = Embedding::new(NodeIds::from_integers(vec![4, 9, 2]), vectors(3));
    let named = Embedding::new(NodeIds::from_texts(&["a", "b c", "é"]), vectors(3));
    let all = Embedding::new(karate().ids().clone(), vectors(karate().nodes()));
    for embedding in [&numbered, &named] {
        seeds.push(("embedding-npz", written(embedding, "z.npz", Format::Npz)?));
        seeds.push((
            "embedding-safetensors",
            written(embedding, "z.safetensors", Format::Safetensors)?,
        ));
        seeds.push((
            "embedding-parquet",
            written(embedding, "z.parquet", Format::Parquet)?,
        ));
        let text = written(embedding, "z.pgvector", Format::Pgvector)?;
        seeds.push(("embedding-pgvector", text));
        for format in [Format::Pgcopy, Format::PgcopyHalf] {
            let binary = written(embedding, "z.pgcopy", format)?;
            seeds.push(("embedding-pgcopy", binary));
        }
    }
    seeds.push(("embedding-npy", written(&numbered, "z.npy", Format::Npy)?));
    seeds.push(("attributes-npy", written(&all, "x.npy", Format::Npy)?));
    seeds.push((
        "attributes-parquet",
        written(&all, "x.parquet", Format::Parquet)?,
    ));
    Ok(())
}

/// Configurations, reports, counts and the files of a checkpoint.
fn runs(seeds: &mut Vec<(&str, Vec<u8>)>) -> Result<()> {
    for preset in ["hone", "hone-p+x"] {
        let config = Config::preset(preset)?;
        let report = Hone::new(config.clone())?.embed(karate(), &Silent)?.report;
        seeds.push(("config", config.to_toml().into_bytes()));
        seeds.push(("run-json", serde_json::to_vec(&report).expect("plain data")));
    }
    for sample in [Sample::Exact, Sample::Cap(4)] {
        let mut bytes = Vec::new();
        sample
            .count(karate(), 0, &Silent)?
            .save(&mut bytes)
            .map_err(|e| Error::io("counts", e))?;
        seeds.push(("counts", bytes));
    }
    seeds.extend(folders::seeds()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::read;
    use crate::child;
    use crate::target::TARGETS;

    /// What is refused at the door says nothing of what is behind it.
    #[test]
    fn every_target_accepts_some_of_its_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for target in TARGETS {
            let file = child::input_file(folder.path(), target);
            let accepted = |bytes: &Vec<u8>| {
                fs::write(&file, bytes).expect("written");
                (target.run)(&file).is_ok()
            };
            let name = target.name;
            assert!(
                read(target).expect("there").iter().any(accepted),
                "{name}: `hone-fuzz seeds` writes them again"
            );
        }
    }
}
