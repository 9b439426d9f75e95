//! The scenario file: what is simulated.

mod params;

pub use params::{Kind, Param, Value, Window};
