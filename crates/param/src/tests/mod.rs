//! Tests of values and their declarations.

mod quantities;
