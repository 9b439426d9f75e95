//! A capture of the sessions between switches and controller, as a pcapng file. Its times are of the kernel's clock.

use super::{now, spawn};
use crate::Result;
use fanin_engine::pcapng::{PcapNg, Resolution};
use socket2::{Domain, Protocol, Socket, Type};
use std::fs::File;
use std::io::{Read, Write};

/// `ETH_P_IP`: with it, a socket gets packets as they arrive, and not as they are sent too.
const IPV4: u16 = 0x0800;
const ETHERNET: usize = 14;

/// Captures what arrives in the caller's network namespace, which has no other packets.
pub(super) fn start() -> Result<()> {
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(i32::from(IPV4.to_be()))))?;
    let mut file = File::create("/control.pcapng")?;
    let mut capture = PcapNg::new(&[], Resolution::Nanoseconds);
    let interface = capture.add_whole_interface("OpenFlow");
    spawn("the capture", move || {
        let mut frame = vec![0; 1 << 17];
        loop {
            file.write_all(&capture.take())?;
            let size = (&socket).read(&mut frame)?;
            if let Some(packet) = frame[..size].get(ETHERNET..) {
                capture.captured(interface, now(), packet);
            }
        }
    });
    Ok(())
}
