//! Each scheme at work in the simulator: what its paper promises, and what each of its mechanisms is for.

mod d2tcp;
mod dcqcn;
mod dctcp;
mod dt_cwa;
mod dt_dctcp;
mod homa;
mod hpcc;
mod ictcp;
mod l2dct;
mod linux;
mod ndp;
mod pfdct;
mod rcc;
mod rcce;
mod sab;
mod sdtcp;
mod swift;
