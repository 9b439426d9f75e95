//! Tests of the whole simulator that bring parts of their own: schemes, disciplines, a network with two paths.

mod bench;
mod grid;
mod random;
