//! Results as typed columns, each with its unit and definition.
//!
//! The engine knows no file format: a binding converts a table into the format of its users.

use super::fingerprint::Fingerprint;
use super::total::Heading;

/// A table of results.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Short name, as in a file name: `flows`.
    pub name: &'static str,
    /// What one row stands for.
    pub description: &'static str,
    /// The columns, all of the same length.
    pub columns: Vec<Column>,
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, unique within the table.
    pub name: &'static str,
    /// Unit of every value: `s`, `B`, `pkt`, `bit/s`, `1` for a plain number, empty for names and the like.
    pub unit: &'static str,
    /// Definition of the value, exact enough to compare it with another tool's.
    pub description: &'static str,
    /// Label and display unit.
    pub heading: Heading,
    /// The values.
    pub data: Data,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Counts and identifiers.
    U64(Vec<u64>),
    /// Counts that may be missing in a row.
    OptU64(Vec<Option<u64>>),
    /// Real numbers.
    F64(Vec<f64>),
    /// Real numbers that may be missing in a row, such as the mean of no values.
    OptF64(Vec<Option<f64>>),
    /// Booleans.
    Bool(Vec<bool>),
    /// Free text.
    Text(Vec<String>),
    /// Text from a small set that is stored once: row `i` is `names[codes[i]]`.
    Label {
        /// One index into `names` per row.
        codes: Vec<u32>,
        /// The set.
        names: Vec<String>,
    },
}

/// An inconsistency within a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The columns have different lengths.
    #[error("table {table}: column {column} has {found} rows, the first column has {expected}")]
    Length {
        /// The table's name.
        table: &'static str,
        /// The column's name.
        column: &'static str,
        /// Its length.
        found: usize,
        /// The length of the first column.
        expected: usize,
    },
    /// A label column refers to a name that it does not have.
    #[error("table {table}: column {column} has label {code} of {names}")]
    Label {
        /// The table's name.
        table: &'static str,
        /// The column's name.
        column: &'static str,
        /// The code without a name.
        code: u32,
        /// The number of names.
        names: usize,
    },
    /// Two columns share a name.
    #[error("table {table}: two columns are called {column}")]
    Name {
        /// The table's name.
        table: &'static str,
        /// The name.
        column: &'static str,
    },
}

impl Table {
    /// The number of rows, zero for a table without columns.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Checks that all columns have the same length, that their names differ, and that every label exists.
    ///
    /// # Errors
    /// The first inconsistency, in column order.
    pub fn check(&self) -> Result<(), TableError> {
        let (table, expected) = (self.name, self.rows());
        for (i, column) in self.columns.iter().enumerate() {
            let (column, found) = (column.name, column.data.len());
            if found != expected {
                return Err(TableError::Length { table, column, found, expected });
            }
            if self.columns[..i].iter().any(|other| other.name == column) {
                return Err(TableError::Name { table, column });
            }
            if let Data::Label { codes, names } = &self.columns[i].data
                && let Some(&code) = codes.iter().find(|code| **code as usize >= names.len())
            {
                return Err(TableError::Label { table, column, code, names: names.len() });
            }
        }
        Ok(())
    }

    /// Feeds the table to a hash: names, units and every value to the last bit, but no descriptions and headings, so
    /// that a reworded definition does not change the hash of a result.
    ///
    /// Each item is preceded by its length or its kind, so different tables never feed the same bytes.
    pub fn digest(&self, hasher: &mut Fingerprint) {
        digest_name(hasher, self.name, self.columns.len());
        for column in &self.columns {
            digest_head(hasher, column, column.data.len());
            column.data.digest_values(hasher);
        }
    }
}

/// The first part of [`Table::digest`]: name and number of columns.
pub fn digest_name(hasher: &mut Fingerprint, name: &str, columns: usize) {
    text(hasher, name);
    length(hasher, columns);
}

/// What [`Table::digest`] feeds of a column before its `rows` values.
pub fn digest_head(hasher: &mut Fingerprint, column: &Column, rows: usize) {
    text(hasher, column.name);
    text(hasher, column.unit);
    hasher.add(&[column.data.kind()]);
    length(hasher, rows);
    if let Data::Label { names, .. } = &column.data {
        length(hasher, names.len());
        each(names, |name| text(hasher, name));
    }
}

impl Column {
    /// A column without a heading.
    pub const fn new(name: &'static str, unit: &'static str, description: &'static str, data: Data) -> Self {
        Self { name, unit, description, heading: Heading::NONE, data }
    }
    /// The same column with a heading.
    #[must_use]
    pub fn headed(self, heading: Heading) -> Self {
        Self { heading, ..self }
    }
}

impl Data {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::OptU64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::OptF64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Label { codes, .. } => codes.len(),
        }
    }

    /// What [`Table::digest`] feeds of a column's values, which may come in parts.
    pub fn digest_values(&self, hasher: &mut Fingerprint) {
        match self {
            Self::U64(values) => each(values, |value| hasher.add(&value.to_le_bytes())),
            Self::OptU64(values) => each(values, |value| optional(hasher, *value)),
            Self::F64(values) => each(values, |value| hasher.add(&bits(*value).to_le_bytes())),
            Self::OptF64(values) => each(values, |value| optional(hasher, value.map(bits))),
            Self::Bool(values) => each(values, |value| hasher.add(&[u8::from(*value)])),
            Self::Text(values) => each(values, |value| text(hasher, value)),
            Self::Label { codes, .. } => each(codes, |code| hasher.add(&code.to_le_bytes())),
        }
    }

    /// The byte for the type in a hash. It is part of every result hash, so it is never renumbered.
    const fn kind(&self) -> u8 {
        match self {
            Self::U64(_) => 1,
            Self::OptU64(_) => 2,
            Self::F64(_) => 3,
            Self::OptF64(_) => 4,
            Self::Bool(_) => 5,
            Self::Text(_) => 6,
            Self::Label { .. } => 7,
        }
    }
}

fn each<T>(values: &[T], feed: impl FnMut(&T)) {
    values.iter().for_each(feed);
}

/// The bits of a number. All NaNs count as one, because processors differ in which one an operation yields.
fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

fn optional(hasher: &mut Fingerprint, value: Option<u64>) {
    hasher.add(&[u8::from(value.is_some())]);
    if let Some(value) = value {
        hasher.add(&value.to_le_bytes());
    }
}

fn text(hasher: &mut Fingerprint, text: &str) {
    length(hasher, text.len());
    hasher.add(text.as_bytes());
}

fn length(hasher: &mut Fingerprint, length: usize) {
    hasher.add(&(length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: Vec<Data>) -> Table {
        const NAMES: [&str; 3] = ["a", "b", "c"];
        let columns = NAMES.iter().zip(columns).map(|(name, data)| Column::new(name, "1", "", data)).collect();
        Table { name: "t", description: "", columns }
    }

    fn hash(table: &Table) -> [u8; 32] {
        let mut hasher = Fingerprint::new();
        table.digest(&mut hasher);
        hasher.finish()
    }

    fn label(codes: &[u32]) -> Data {
        Data::Label { codes: codes.to_vec(), names: vec!["x".into(), "y".into()] }
    }

    #[test]
    fn a_consistent_table_passes() {
        let table = table(vec![Data::U64(vec![1, 2]), Data::OptF64(vec![None, Some(0.5)]), label(&[1, 0])]);
        assert_eq!(table.check(), Ok(()));
        assert_eq!(table.rows(), 2);
        assert_eq!(table.column("b").map(|column| column.data.len()), Some(2));
        assert!(table.column("d").is_none());
    }

    #[test]
    fn contradictions_are_named() {
        let uneven = table(vec![Data::U64(vec![1, 2]), Data::Bool(vec![true])]);
        assert_eq!(uneven.check(), Err(TableError::Length { table: "t", column: "b", found: 1, expected: 2 }));
        let dangling = table(vec![label(&[0, 2])]);
        assert_eq!(dangling.check(), Err(TableError::Label { table: "t", column: "a", code: 2, names: 2 }));
        let mut twins = table(vec![Data::U64(vec![1]), Data::U64(vec![1])]);
        twins.columns[1].name = "a";
        assert_eq!(twins.check(), Err(TableError::Name { table: "t", column: "a" }));
    }

    #[test]
    fn the_hash_sees_every_bit_and_every_boundary() {
        let texts = |values: &[&str]| table(vec![Data::Text(values.iter().map(ToString::to_string).collect())]);
        let tables = [
            table(vec![]),
            table(vec![Data::U64(vec![])]),
            table(vec![Data::U64(vec![1])]),
            table(vec![Data::U64(vec![1]), Data::U64(vec![])]),
            table(vec![Data::OptU64(vec![Some(1)])]),
            table(vec![Data::OptU64(vec![None])]),
            table(vec![Data::F64(vec![0.1 + 0.2])]),
            table(vec![Data::F64(vec![0.3])]),
            table(vec![Data::F64(vec![0.0])]),
            table(vec![Data::F64(vec![-0.0])]),
            table(vec![Data::OptF64(vec![Some(0.3)])]),
            table(vec![Data::Bool(vec![true, false])]),
            table(vec![Data::Bool(vec![false, true])]),
            texts(&["ab", "c"]),
            texts(&["a", "bc"]),
            table(vec![label(&[0, 1])]),
            table(vec![label(&[1, 0])]),
        ];
        for (i, one) in tables.iter().enumerate() {
            assert!(tables[..i].iter().all(|other| hash(one) != hash(other)), "table {i}");
            assert_eq!(hash(one), hash(&one.clone()));
        }
    }

    #[test]
    fn the_hash_ignores_descriptions_and_the_kind_of_nan() {
        let mut one = table(vec![Data::F64(vec![f64::NAN])]);
        let before = hash(&one);
        one.columns[0].description = "clearer";
        one.columns[0].data = Data::F64(vec![-f64::NAN]);
        assert_eq!(hash(&one), before);
        one.columns[0].unit = "s";
        assert_ne!(hash(&one), before);
    }
}
