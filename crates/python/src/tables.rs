//! Result tables as Arrow and as Parquet, each column with its unit and description.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Error as IoError, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchIterator, StringArray,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use fanin_engine::measure::table::{Column, Data, Table};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Compression;
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

/// Writes the table and waits until it is on the disk.
pub(crate) fn write(table: &Table, path: &Path) -> Result<(), IoError> {
    let batch = batch(table)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    // Assembled in memory: a full disk then shows as the operating system's own error, with its number.
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).map_err(IoError::other)?;
    writer.write(&batch).map_err(IoError::other)?;
    let bytes = writer.into_inner().map_err(IoError::other)?;
    let mut file = File::create(path)?;
    file.write_all(&bytes)?;
    file.sync_all()
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
