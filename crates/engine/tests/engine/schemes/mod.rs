//! Each scheme at work in the simulator: what its paper promises, and what each of its mechanisms is for.

mod rcc;
mod sab;
