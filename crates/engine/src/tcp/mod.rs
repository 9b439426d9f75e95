//! TCP as state machines without I/O.
