//! A table of points with their neighbours, in the columns that Embedding Atlas reads: `neighbors` is a struct of two lists, the
//! row numbers (`ids`) and the distances.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::{Column, Kind, Nullable, failed, field, put};
use crate::error::{Error, Result};
use hone_graph::NodeIds;

/// Neighbours of points: as many of each.
#[derive(Debug)]
pub struct Near {
    /// How many each point has.
    pub k: usize,
    /// Their row numbers, point after point.
    pub rows: Vec<i64>,
    /// Their distances.
    pub distances: Vec<f32>,
}

/// A Parquet file of a row per node: `id`, the columns, and `neighbors`. Columns hold floats or texts.
///
/// Fails when two columns have one name.
///
/// # Panics
/// When columns differ in length, or hold something else.
pub fn points(ids: &NodeIds, columns: &[(String, Nullable)], near: &Near) -> Result<Vec<u8>> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let taken = |at: &usize| {
        ["id", "neighbors"].contains(&names[*at]) || names[..*at].contains(&names[*at])
    };
    if let Some(at) = (0..names.len()).find(taken) {
        let message = format!(
            "a column is called `{}`, as another of the points; rename it",
            names[at]
        );
        return Err(Error::config("attributes", message));
    }
    let mut file = Vec::new();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let write = || -> Result<(), ParquetError> {
        let schema = Arc::new(schema(ids, columns)?);
        let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        let mut column = |write: &mut dyn FnMut(
            &mut SerializedColumnWriter<'_>,
        ) -> Result<usize, ParquetError>| {
            let mut sink = group.next_column()?.expect("a column of the schema");
            write(&mut sink)?;
            sink.close()
        };
        column(&mut |sink| put(sink, Column::Nodes((0..ids.len() as u32).collect()), ids))?;
        for (_, Nullable { values, present }) in columns {
            let levels = present.as_ref();
            let levels: Option<Vec<i16>> =
                levels.map(|there| there.iter().map(|&it| i16::from(it)).collect());
            let levels = levels.as_deref();
            column(&mut |sink| match values {
                Column::Floats(values) => {
                    sink.typed::<FloatType>().write_batch(values, levels, None)
                }
                Column::Texts(values) => {
                    let texts: Vec<ByteArray> =
                        values.iter().map(|text| text.as_str().into()).collect();
                    sink.typed::<ByteArrayType>()
                        .write_batch(&texts, levels, None)
                }
                _ => unreachable!("points have floats and texts"),
            })?;
        }
        // An empty list has one level and no value.
        let each = near.k.max(1);
        let defined = vec![i16::from(near.k > 0); each * ids.len()];
        let repeated: Vec<i16> = (0..defined.len())
            .map(|at| i16::from(at % each > 0))
            .collect();
        let levels = (Some(&defined[..]), Some(&repeated[..]));
        column(&mut |sink| {
            sink.typed::<Int64Type>()
                .write_batch(&near.rows, levels.0, levels.1)
        })?;
        column(&mut |sink| {
            sink.typed::<FloatType>()
                .write_batch(&near.distances, levels.0, levels.1)
        })?;
        group.close()?;
        writer.close().map(drop)
    };
    write().map_err(|error| failed(Path::new("points"), &error))?;
    Ok(file)
}

fn schema(ids: &NodeIds, columns: &[(String, Nullable)]) -> Result<Type, ParquetError> {
    let mut fields = vec![Arc::new(field("id", Kind::Node, ids)?)];
    for (name, Nullable { values, present }) in columns {
        let (physical, logical) = match values {
            Column::Floats(_) => (Physical::FLOAT, None),
            _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = match present {
            Some(_) => Repetition::OPTIONAL,
            None => Repetition::REQUIRED,
        };
        let column = Type::primitive_type_builder(name, physical);
        let column = column
            .with_repetition(repetition)
            .with_logical_type(logical);
        fields.push(Arc::new(column.build()?));
    }
    let lists = [("ids", Physical::INT64), ("distances", Physical::FLOAT)];
    let lists = lists.map(|(name, physical)| list(name, physical).map(Arc::new));
    let near = Type::group_type_builder("neighbors").with_repetition(Repetition::REQUIRED);
    let near = near.with_fields(lists.into_iter().collect::<Result<_, _>>()?);
    fields.push(Arc::new(near.build()?));
    Type::group_type_builder("table")
        .with_fields(fields)
        .build()
}

/// A list of three levels without nulls.
pub(super) fn list(name: &str, physical: Physical) -> Result<Type, ParquetError> {
    let element = Type::primitive_type_builder("element", physical)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder(name)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::List))
        .with_converted_type(ConvertedType::LIST)
        .with_fields(vec![Arc::new(list)])
        .build()
}
