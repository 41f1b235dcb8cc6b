//! Parquet files in the ways that other writers have: dictionaries, deltas, pages of both versions, compressions.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, GzipLevel, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

const SCHEMAS: [(&str, &str); 3] = [
    (
        "graph-parquet",
        "message m { required int64 source; optional int32 target; optional float weight; }",
    ),
    (
        "attributes-parquet",
        "message m { required int32 id; optional double age; optional binary city (UTF8); }",
    ),
    (
        "embedding-parquet",
        "message m { required binary id (UTF8); required float z0; optional float z1; }",
    ),
];
/// Rows of a table.
const ROWS: usize = 10;

/// A table of each kind in each way, with the name of its target.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    let second = || plain().set_writer_version(WriterVersion::PARQUET_2_0);
    let ways = [
        WriterProperties::builder(),
        WriterProperties::builder().set_compression(Compression::SNAPPY),
        plain().set_compression(Compression::GZIP(GzipLevel::default())),
        plain().set_compression(Compression::LZ4_RAW),
        second().set_compression(Compression::ZSTD(ZstdLevel::default())),
        deltas(second(), Encoding::DELTA_BYTE_ARRAY),
        deltas(plain(), Encoding::DELTA_LENGTH_BYTE_ARRAY),
    ];
    let tables = ways.into_iter().flat_map(|way| {
        let way = Arc::new(way.build());
        SCHEMAS.map(|(target, schema)| (target, table(schema, &way).expect("memory takes it")))
    });
    tables.collect()
}

/// Integers as differences, and texts in this encoding.
fn deltas(way: WriterPropertiesBuilder, texts: Encoding) -> WriterPropertiesBuilder {
    let columns = [
        ("source", false),
        ("target", false),
        ("id", true),
        ("city", true),
    ];
    columns.into_iter().fold(way, |way, (name, text)| {
        let encoding = if text {
            texts
        } else {
            Encoding::DELTA_BINARY_PACKED
        };
        way.set_column_encoding(ColumnPath::from(name), encoding)
    })
}

fn table(schema: &str, way: &Arc<WriterProperties>) -> Result<Vec<u8>> {
    let schema = Arc::new(parse_message_type(schema)?);
    // The ids of the attributes are integers, whatever the way says of texts.
    let integers = schema.get_fields()[0].get_physical_type() == Physical::INT32;
    let delta = way.encoding(&ColumnPath::from("source")).is_some() && integers;
    let id = ColumnPath::from("id");
    let own = WriterProperties::clone(way).into_builder();
    let own = if delta {
        own.set_column_encoding(id, Encoding::DELTA_BINARY_PACKED)
    } else {
        own
    };
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema.clone(), Arc::new(own.build()))?;
    let mut group = writer.next_row_group()?;
    for field in schema.get_fields() {
        let Some(mut column) = group.next_column()? else {
            break;
        };
        // Ends of edges are all there; of other optional columns every third value is missing.
        let some = field.is_optional() && !["target", "weight"].contains(&field.name());
        let levels: Vec<i16> = (0..ROWS).map(|i| i16::from(!some || i % 3 != 2)).collect();
        put(
            &mut column,
            field.get_physical_type(),
            field.is_optional().then_some(&levels),
        )?;
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

fn put(
    column: &mut SerializedColumnWriter<'_>,
    kind: Physical,
    levels: Option<&Vec<i16>>,
) -> Result<usize> {
    let count = levels.map_or(ROWS, |levels| {
        levels.iter().filter(|level| **level == 1).count()
    });
    let levels = levels.map(Vec::as_slice);
    match kind {
        Physical::INT32 => column.typed::<Int32Type>().write_batch(
            &(0..count as i32).collect::<Vec<_>>(),
            levels,
            None,
        ),
        Physical::INT64 => column.typed::<Int64Type>().write_batch(
            &(0..count as i64).collect::<Vec<_>>(),
            levels,
            None,
        ),
        Physical::FLOAT => column
            .typed::<FloatType>()
            .write_batch(&vec![0.5; count], levels, None),
        Physical::DOUBLE => {
            column
                .typed::<DoubleType>()
                .write_batch(&vec![2.5; count], levels, None)
        }
        _ => {
            let texts: Vec<ByteArray> = (0..count)
                .map(|i| ByteArray::from(format!("name{i}").into_bytes()))
                .collect();
            column
                .typed::<ByteArrayType>()
                .write_batch(&texts, levels, None)
        }
    }
}
