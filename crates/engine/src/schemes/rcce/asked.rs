//! A request that a host behind the switch sends, and what of it waits there.

use crate::ids::LinkId;
use crate::packet::Packet;
use crate::roles::Pass;

/// The client's part of a connection on which it asks.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The scheduler has been told.
    pub(super) asked: bool,
    /// The last packet of the handshake and the request, with the links on which they leave; none once they may.
    pub(super) waiting: Option<Vec<(Packet, LinkId)>>,
}

impl Asked {
    /// A packet of the client comes. One that is repeated while it waits is kept besides.
    pub(super) fn keep(&mut self, packet: Packet, to: LinkId) -> Pass {
        match &mut self.waiting {
            Some(waiting) => {
                waiting.push((packet, to));
                Pass::Keep
            }
            None => Pass::Forward,
        }
    }

    /// What has waited may go, and so may what follows.
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
