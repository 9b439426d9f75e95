//! A request of a host behind the switch, whose packets the switch may hold.

use fanin_core::ids::LinkId;
use fanin_core::packet::Packet;
use fanin_core::roles::Pass;

/// The request on a connection that the client has opened.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The scheduler knows of it.
    pub(super) asked: bool,
    /// The held packets (the last one of the handshake and those of the request), each with its egress link; none once
    /// they are released.
    pub(super) waiting: Option<Vec<(Packet, LinkId)>>,
}

impl Asked {
    /// A packet of the client arrives. It is held if the request is; so is a retransmission of it.
    pub(super) fn keep(&mut self, packet: Packet, to: LinkId) -> Pass {
        match &mut self.waiting {
            Some(waiting) => {
                waiting.push((packet, to));
                Pass::Keep
            }
            None => Pass::Forward,
        }
    }

    /// Releases the held packets; later ones are not held.
    pub(super) fn release(&mut self) -> Vec<(Packet, LinkId)> {
        self.waiting.take().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_waits_with_its_handshake_until_it_is_released() {
        let mut asked = Asked { asked: true, waiting: Some(Vec::new()) };
        let packet = |seq| Packet { seq, ..Packet::default() };
        let to = LinkId::new(3);
        assert_eq!((asked.keep(packet(1), to), asked.keep(packet(2), to)), (Pass::Keep, Pass::Keep));
        assert_eq!(asked.release(), [(packet(1), to), (packet(2), to)]);
        assert_eq!((asked.keep(packet(3), to), asked.release()), (Pass::Forward, vec![]));
    }
}
