//! Values: the meaning of a scenario file's text for a declared key.
//!
//! | file | what |
//! |---|---|
//! | `quantity.rs` | from text to a value with its unit, and back |
//! | `sizes.rs`, `workload.rs` | sizes to draw from, and published distributions |
//! | `table.rs` | one table of the file, checked against its declarations |
//! | `checked.rs` | what came of it: the checked values of one table, by key |

mod checked;
pub mod quantity;

mod sizes;
pub mod table;
pub mod workload;

pub use checked::Values;
pub use checked::path_of;
pub use quantity::quantity;
pub use sizes::Sizes;
pub use workload::{KEYS as WORKLOADS, workloads};

use fanin_core::units::{Bytes, Rate, Size, Time};

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a [`Kind::Time`](crate::Kind::Time) or [`Kind::Start`](crate::Kind::Start) key.
    Time(Time),
    /// The word of a [`Kind::Start`](crate::Kind::Start) key.
    Steady,
    /// Of a [`Kind::Bytes`](crate::Kind::Bytes) key.
    Bytes(Bytes),
    /// Of a [`Kind::Size`](crate::Kind::Size) key.
    Size(Size),
    /// Of a [`Kind::Rate`](crate::Kind::Rate) key.
    Rate(Rate),
    /// Of a [`Kind::Fraction`](crate::Kind::Fraction) or [`Kind::Number`](crate::Kind::Number) key.
    Number(f64),
    /// Of a [`Kind::Integer`](crate::Kind::Integer) key.
    Integer(u64),
    /// Of a [`Kind::Bool`](crate::Kind::Bool) key.
    Bool(bool),
    /// Of a [`Kind::Text`](crate::Kind::Text) or [`Kind::Choice`](crate::Kind::Choice) key.
    Text(String),
    /// Of a [`Kind::Window`](crate::Kind::Window) key, in segments or bytes.
    Window(Window),
    /// Of a [`Kind::Sizes`](crate::Kind::Sizes) key.
    Sizes(Sizes),
}

/// A window, in segments or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Full segments.
    Segments(u64),
    /// Bytes.
    Bytes(u64),
}

impl Window {
    /// The window in bytes for segments of `mss` bytes.
    pub const fn bytes(self, mss: u64) -> u64 {
        match self {
            Self::Segments(n) => n * mss,
            Self::Bytes(n) => n,
        }
    }
}
