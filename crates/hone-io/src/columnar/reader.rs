//! Reading whole columns of a table.

use std::path::{Path, PathBuf};

use parquet::basic::{ConvertedType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};

use super::sound::decoded;
use super::{Column, Data, Nullable, Opened};
use crate::error::{Error, Result};
use crate::hashing::SeededMap;
use crate::memory::Allowance;

/// Values decoded at once.
const BATCH: usize = 1 << 16;

/// An open table.
pub struct TableReader {
    path: PathBuf,
    opened: Opened,
    names: Vec<String>,
    /// Where each name stands.
    places: SeededMap<String, usize>,
}

impl TableReader {
    /// Opens a Parquet file and reads its schema; reading columns takes no more memory than `allowance` has.
    pub fn open(path: &Path, allowance: Allowance) -> Result<Self> {
        let opened = Opened::new(path, Data::open(path, allowance)?, allowance)?;
        let names: Vec<String> = opened
            .schema()
            .columns()
            .iter()
            .map(|column| column.path().string())
            .collect();
        let mut places = SeededMap::default();
        for (j, name) in names.iter().enumerate() {
            if places.insert(name.clone(), j).is_some() {
                return Err(Error::input(
                    path,
                    format!("two columns are called `{name}`"),
                    "rename one of them",
                ));
            }
        }
        Ok(TableReader {
            path: path.to_path_buf(),
            opened,
            names,
            places,
        })
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.opened.rows()
    }

    /// All values of the column called `name`; nulls are refused.
    pub fn column(&self, name: &str) -> Result<Column> {
        let Nullable { values, present } = self.nullable(name)?;
        match present {
            None => Ok(values),
            Some(present) => {
                let message = format!(
                    "column `{name}` has {} values in {} rows",
                    values.len(),
                    present.len()
                );
                Err(Error::input(
                    &self.path,
                    message,
                    "nulls are not supported: fill or drop them",
                ))
            }
        }
    }

    /// The column called `name`, which may have nulls but no lists.
    pub fn nullable(&self, name: &str) -> Result<Nullable> {
        let Some(&j) = self.places.get(name) else {
            let known = self
                .names
                .iter()
                .take(20)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ");
            return Err(Error::input(
                &self.path,
                format!("no column `{name}`"),
                format!("the file has: {known}"),
            ));
        };
        if self.opened.schema().column(j).max_rep_level() > 0 {
            let message = format!("column `{name}` has lists");
            return Err(Error::input(
                &self.path,
                message,
                "lists are not supported: write one column per entry",
            ));
        }
        self.decode(name, j)
    }

    fn decode(&self, name: &str, j: usize) -> Result<Nullable> {
        let descriptor = self.opened.schema().column(j);
        let (mut parts, mut levels) = (Vec::new(), Vec::new());
        for (g, group) in self.opened.groups().iter().enumerate() {
            let rows = group.num_rows() as usize;
            let mut own = Vec::new();
            let part = self.part(
                name,
                self.opened.column(g, j)?,
                descriptor.converted_type(),
                &mut own,
            )?;
            if descriptor.max_def_level() == 0 {
                own = vec![0; part.len()];
            }
            let present = own
                .iter()
                .filter(|&&level| level == descriptor.max_def_level())
                .count();
            if own.len() != rows || present != part.len() {
                let what = format!("column `{name}` has {} values in {rows} rows", own.len());
                return Err(self.opened.damaged(what));
            }
            levels.extend(own.iter().map(|&level| level == descriptor.max_def_level()));
            parts.push(part);
        }
        let mut parts = parts.into_iter();
        let mut values = parts.next().unwrap_or_else(|| self.empty(j));
        if !parts.all(|part| values.append(part)) {
            return Err(self
                .opened
                .damaged(format!("column `{name}` changes its type")));
        }
        let present = (values.len() < levels.len()).then_some(levels);
        Ok(Nullable { values, present })
    }

    fn part(
        &self,
        name: &str,
        reader: ColumnReader,
        converted: ConvertedType,
        levels: &mut Vec<i16>,
    ) -> Result<Column> {
        Ok(match reader {
            ColumnReader::BoolColumnReader(r) => {
                let values = self.drain::<BoolType>(name, r, levels)?;
                Column::Integers(values.into_iter().map(i64::from).collect())
            }
            ColumnReader::Int64ColumnReader(r) => {
                let values = self.drain::<Int64Type>(name, r, levels)?;
                match converted {
                    ConvertedType::UINT_64 => {
                        Column::Counts(values.into_iter().map(i64::cast_unsigned).collect())
                    }
                    _ => Column::Integers(values),
                }
            }
            ColumnReader::Int32ColumnReader(r) => {
                let values = self.drain::<Int32Type>(name, r, levels)?.into_iter();
                match converted {
                    ConvertedType::UINT_32 => {
                        Column::Integers(values.map(|v| v.cast_unsigned().into()).collect())
                    }
                    _ => Column::Integers(values.map(i64::from).collect()),
                }
            }
            ColumnReader::FloatColumnReader(r) => {
                Column::Floats(self.drain::<FloatType>(name, r, levels)?)
            }
            ColumnReader::DoubleColumnReader(r) => {
                let values = self.drain::<DoubleType>(name, r, levels)?;
                Column::Floats(values.into_iter().map(|v| v as f32).collect())
            }
            ColumnReader::ByteArrayColumnReader(r) => {
                self.texts(name, &self.drain::<ByteArrayType>(name, r, levels)?)?
            }
            _ => {
                let message = format!("column `{name}` has a type that is not supported");
                return Err(Error::input(
                    &self.path,
                    message,
                    "use integers, floats or text",
                ));
            }
        })
    }

    /// All non-null values of a column chunk without lists; `levels` gets the definition level of every row. Few bytes may
    /// stand for many values.
    fn drain<T: DataType>(
        &self,
        name: &str,
        mut reader: ColumnReaderImpl<T>,
        levels: &mut Vec<i16>,
    ) -> Result<Vec<T::T>> {
        let broken = |what: String| self.opened.damaged(format!("column `{name}`: {what}"));
        let batch = if size_of::<T::T>() > size_of::<u64>() {
            BATCH / 16
        } else {
            BATCH
        };
        let mut values = Vec::new();
        loop {
            self.opened
                .check_memory((batch * size_of::<T::T>()) as u64)?;
            let read = decoded(|| reader.read_records(batch, Some(levels), None, &mut values))
                .map_err(broken)?;
            if read.0 == 0 {
                return Ok(values);
            }
        }
    }

    /// Texts of their own; a dictionary may have made many of few bytes.
    fn texts(&self, name: &str, values: &[ByteArray]) -> Result<Column> {
        self.opened
            .check_memory(values.iter().map(|value| value.len() as u64 + 24).sum())?;
        let texts = values
            .iter()
            .map(|b| String::from_utf8(b.data().to_vec()))
            .collect::<Result<_, _>>();
        let message = || format!("column `{name}` has text that is not UTF-8");
        texts
            .map(Column::Texts)
            .map_err(|_| Error::input(&self.path, message(), "write the column as UTF-8"))
    }

    /// A column of no values, of the kind that the schema gives column `j`.
    fn empty(&self, j: usize) -> Column {
        match self.opened.schema().column(j).physical_type() {
            Physical::FLOAT | Physical::DOUBLE => Column::Floats(Vec::new()),
            Physical::BYTE_ARRAY => Column::Texts(Vec::new()),
            _ => Column::Integers(Vec::new()),
        }
    }
}
