//! Priority flow control (IEEE 802.1Qbb): what a lossless switch counts of each ingress, and when it pauses the port at the
//! other end of that cable.
//!
//! All packets are of one class, so a pause holds whatever the port has to send. It holds until the switch takes it back:
//! the time in the frame, and the frames that renew it, are left out.

use fanin_core::ids::LinkId;
use std::collections::VecDeque;

/// Bytes of a frame that pauses or resumes a port: Ethernet's smallest.
pub const FRAME: u16 = 64;

/// The thresholds of one ingress, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// Beyond it the switch pauses the port that fills the ingress.
    pub xoff: u64,
    /// At it, or below, the switch lets the port send again.
    pub xon: u64,
    /// Room above XOFF, for what arrives until the pause takes effect.
    pub headroom: u64,
}

/// Where packets of one link wait in the switch at its end.
#[derive(Debug)]
struct Ingress {
    thresholds: Thresholds,
    held: u64,
    pausing: bool,
    /// Frames under way, each of which pauses or resumes.
    frames: VecDeque<bool>,
}

/// The ingresses of all switches, by link; empty without flow control.
#[derive(Debug, Default)]
pub struct Lossless(Vec<Option<Ingress>>);

impl Lossless {
    /// Those of a network: by link, the thresholds of the switch at its end.
    pub fn new(thresholds: impl Iterator<Item = Option<Thresholds>>) -> Self {
        let empty = |thresholds| Ingress { thresholds, held: 0, pausing: false, frames: VecDeque::new() };
        Self(thresholds.map(|thresholds| thresholds.map(empty)).collect())
    }

    /// Whether any switch is lossless.
    pub fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// The ingress of packets that came over `link`; none if their switch has [made](fanin_core::packet::Packet::MADE_HERE) them.
    fn of(&mut self, link: LinkId) -> Option<&mut Ingress> {
        let ingress = self.0.get_mut(link.index())?;
        Some(ingress.as_mut().expect("a packet comes into a switch over a link that ends there"))
    }

    /// Whether a packet that came over `link` has room.
    pub fn fits(&mut self, link: LinkId, size: u16) -> bool {
        self.of(link).is_none_or(|Ingress { thresholds: Thresholds { xoff, headroom, .. }, held, .. }| {
            *held + u64::from(size) <= *xoff + *headroom
        })
    }

    /// A packet that came over `link` enters a port. Returns whether a frame leaves now, to pause the port of that link.
    pub fn enter(&mut self, link: LinkId, size: u16) -> bool {
        let Some(ingress) = self.of(link) else { return false };
        ingress.held += u64::from(size);
        let pauses = !ingress.pausing && ingress.held > ingress.thresholds.xoff;
        if pauses {
            ingress.pausing = true;
            ingress.frames.push_back(true);
        }
        pauses
    }

    /// It has left the switch. Returns whether a frame leaves now, to resume the port of that link.
    pub fn leave(&mut self, link: LinkId, size: u16) -> bool {
        let Some(ingress) = self.of(link) else { return false };
        ingress.held -= u64::from(size);
        let resumes = ingress.pausing && ingress.held <= ingress.thresholds.xon;
        if resumes {
            ingress.pausing = false;
            ingress.frames.push_back(false);
        }
        resumes
    }

    /// The oldest frame under way reaches the port of `link`. Returns whether that is paused now.
    pub fn frame(&mut self, link: LinkId) -> bool {
        self.of(link).and_then(|ingress| ingress.frames.pop_front()).expect("a frame was sent")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::ids::FlowId;
    use fanin_core::packet::Packet;
    use fanin_core::roles::ControlPacket;
    use fanin_core::units::Time;

    const LINK: LinkId = LinkId::new(1);

    fn lossless() -> Lossless {
        let thresholds = Thresholds { xoff: 3000, xon: 1500, headroom: 2000 };
        Lossless::new([None, Some(thresholds)].into_iter())
    }

    #[test]
    fn an_ingress_pauses_beyond_xoff_and_resumes_at_xon() {
        let mut lossless = lossless();
        assert!(!lossless.enter(LINK, 1500) && !lossless.enter(LINK, 1500), "XOFF itself is not beyond it");
        assert!(lossless.enter(LINK, 1));
        assert!(!lossless.enter(LINK, 500), "a port is paused once");
        assert!(!lossless.leave(LINK, 1500) && !lossless.leave(LINK, 500), "1,501 bytes are above XON");
        assert!(lossless.leave(LINK, 1));
        assert!(!lossless.leave(LINK, 1499));
    }

    #[test]
    fn what_does_not_fit_the_headroom_has_no_room() {
        let mut lossless = lossless();
        lossless.enter(LINK, 4000);
        assert!(lossless.fits(LINK, 1000));
        assert!(!lossless.fits(LINK, 1001));
    }

    #[test]
    fn what_a_switch_has_made_counts_for_no_ingress() {
        let made = Packet::control(FlowId::new(0), &ControlPacket::default(), Time::ZERO).came_over();
        let mut lossless = lossless();
        assert!(lossless.fits(made, 9000) && !lossless.enter(made, 9000) && !lossless.leave(made, 9000));
        assert!(!lossless.enter(LINK, 3000));
    }

    #[test]
    fn frames_arrive_in_the_order_in_which_they_left() {
        let mut lossless = lossless();
        for _ in 0..2 {
            lossless.enter(LINK, 4000);
            lossless.leave(LINK, 4000);
        }
        assert_eq!([0; 4].map(|_| lossless.frame(LINK)), [true, false, true, false]);
    }
}
