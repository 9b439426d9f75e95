//! Result tables as Arrow and as Parquet, each column with its unit and description.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Error as IoError, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchIterator, StringArray,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use fanin_engine::measure::table::{Column, Data, Table};
use fanin_engine::sim::FlowTable;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

const UNIT: &str = "unit";
const DESCRIPTION: &str = "description";

/// The table as an Arrow C stream of one batch.
pub(crate) fn stream(table: &Table) -> Result<FFI_ArrowArrayStream, IoError> {
    let batch = batch(table)?;
    let schema = batch.schema();
    Ok(FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema))))
}

/// Writes the table and waits until it is on disk.
pub(crate) fn write(table: &Table, path: &Path) -> Result<(), IoError> {
    let mut file = ParquetFile::create(path)?;
    file.add(table)?;
    file.close()
}

/// Writes the table of flows in batches and waits until it is on disk.
pub(crate) fn write_flows(flows: &FlowTable, path: &Path) -> Result<(), IoError> {
    let mut file = ParquetFile::create(path)?;
    flows.parts(|part| file.add(part))?;
    file.close()
}

/// The content of the file that [`write`] writes.
pub(crate) fn content(table: &Table) -> Result<Vec<u8>, IoError> {
    let batch = batch(table)?;
    let mut writer = writer(Vec::new(), &batch).map_err(IoError::other)?;
    writer.write(&batch).map_err(IoError::other)?;
    writer.into_inner().map_err(IoError::other)
}

fn writer<W: Write + Send>(sink: W, batch: &RecordBatch) -> Result<ArrowWriter<W>, ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    ArrowWriter::try_new(sink, batch.schema(), Some(properties))
}

/// A Parquet file that is being written, a row group at a time.
struct ParquetFile {
    file: Noting,
    writer: Option<ArrowWriter<Noting>>,
}

impl ParquetFile {
    fn create(path: &Path) -> Result<Self, IoError> {
        let file = Noting { file: Arc::new(File::create(path)?), error: Arc::default() };
        Ok(Self { file, writer: None })
    }

    fn add(&mut self, table: &Table) -> Result<(), IoError> {
        let batch = batch(table)?;
        if self.writer.is_none() {
            self.writer = Some(writer(self.file.clone(), &batch).map_err(|error| self.file.own(error))?);
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.write(&batch).and_then(|()| writer.flush()).map_err(|error| self.file.own(error))
    }

    fn close(self) -> Result<(), IoError> {
        if let Some(writer) = self.writer {
            writer.close().map_err(|error| self.file.own(error))?;
        }
        self.file.file.sync_all()
    }
}

/// A file that remembers its error: Parquet's own error has no number that shows whether the disk is full.
#[derive(Clone)]
struct Noting {
    file: Arc<File>,
    error: Arc<Mutex<Option<IoError>>>,
}

impl Noting {
    /// The operating system's error, if there was one.
    fn own(&self, error: ParquetError) -> IoError {
        let noted = self.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        noted.unwrap_or_else(|| IoError::other(error))
    }

    fn note<T>(&self, result: Result<T, IoError>) -> Result<T, IoError> {
        result.map_err(|error| {
            let told = IoError::new(error.kind(), error.to_string());
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            told
        })
    }
}

impl Write for Noting {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, IoError> {
        self.note((&*self.file).write(bytes))
    }
    fn flush(&mut self) -> Result<(), IoError> {
        self.note((&*self.file).flush())
    }
}

/// Columns and row count of a Parquet file.
pub(crate) fn describe(path: &Path) -> Result<Value, IoError> {
    let file = File::open(path)?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
        .map_err(|error| IoError::new(std::io::ErrorKind::InvalidData, error))?;
    let columns: Vec<Value> = metadata
        .schema()
        .fields()
        .iter()
        .map(|field| {
            let text = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
            json!({
                "name": field.name(),
                "type": type_name(field.data_type()),
                "unit": text(UNIT),
                "description": text(DESCRIPTION),
            })
        })
        .collect();
    let file_metadata = metadata.metadata().file_metadata();
    Ok(json!({ "rows": file_metadata.num_rows(), "columns": columns }))
}

fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Dictionary(_, _) | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".to_string(),
        DataType::Boolean => "bool".to_string(),
        other => other.to_string().to_lowercase(),
    }
}

fn batch(table: &Table) -> Result<RecordBatch, IoError> {
    let mut description = HashMap::new();
    description.insert(DESCRIPTION.to_string(), table.description.to_string());
    let fields: Vec<Field> = table.columns.iter().map(field).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, description));
    let arrays = table.columns.iter().map(|column| array(&column.data)).collect();
    RecordBatch::try_new(schema, arrays).map_err(IoError::other)
}

fn field(column: &Column) -> Field {
    let (data_type, nullable) = match &column.data {
        Data::U64(_) => (DataType::UInt64, false),
        Data::OptU64(_) => (DataType::UInt64, true),
        Data::F64(_) => (DataType::Float64, false),
        Data::OptF64(_) => (DataType::Float64, true),
        Data::Bool(_) => (DataType::Boolean, false),
        Data::Text(_) => (DataType::Utf8, false),
        Data::Label { .. } => (DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)), false),
    };
    Field::new(column.name.to_string(), data_type, nullable).with_metadata(HashMap::from([
        (UNIT.to_string(), column.unit.to_string()),
        (DESCRIPTION.to_string(), column.description.to_string()),
    ]))
}

fn array(data: &Data) -> ArrayRef {
    match data {
        Data::U64(values) => Arc::new(UInt64Array::from(values.clone())),
        Data::OptU64(values) => Arc::new(UInt64Array::from(values.clone())),
        Data::F64(values) => Arc::new(Float64Array::from(values.clone())),
        Data::OptF64(values) => Arc::new(Float64Array::from(values.clone())),
        Data::Bool(values) => Arc::new(BooleanArray::from(values.clone())),
        Data::Text(values) => Arc::new(StringArray::from_iter_values(values)),
        Data::Label { codes, names } => {
            let keys: Int32Array = codes.iter().map(|&code| Some(code as i32)).collect();
            let names = Arc::new(StringArray::from_iter_values(names));
            Arc::new(DictionaryArray::<Int32Type>::new(keys, names))
        }
    }
}
