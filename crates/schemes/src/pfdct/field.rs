//! PFDCT's in-band field: 64 bits, as a TCP option would carry them.
//!
//! | bits | meaning | written by |
//! |---|---|---|
//! | 63-60 | `1010`: the field is PFDCT's | sender |
//! | 59 | the flow is long | sender |
//! | 58 | bits 51-32 hold a threshold; otherwise the flow counts with its share of the initial one | sender |
//! | 57-52 | zero | |
//! | 51-32 | its threshold `K_t` in sixteenths of a packet | sender |
//! | 31-16 | `N`: long flows at the narrowest port of the path | switches |
//! | 15-0 | `M`: packets that a long flow's packet may find there and still be admitted; 0 if unknown | switches |
//!
//! The receiver echoes the whole field in its acknowledgements. The narrowest port is the one with the least `M / N`,
//! the bound of the threshold's upper limit `K_u` (section 3.2.5).

/// Thresholds are in 1/`UNIT` of a packet on the wire and in switches.
pub(super) const UNIT: f64 = 16.0;

const MARKER: u64 = 0b1010 << 60;
const MARKER_BITS: u64 = 0b1111 << 60;
const LONG: u64 = 1 << 59;
const TOLD: u64 = 1 << 58;
const THRESHOLD_MAX: u64 = (1 << 20) - 1;

/// The in-band field of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field(u64);

impl Field {
    /// The field that a sender writes: its class, and its threshold in packets if it has one.
    pub(super) fn new(long: bool, threshold: Option<f64>) -> Self {
        let told = threshold.map_or(0, |packets| TOLD | u64::from(sixteenths(packets)) << 32);
        Self(MARKER | if long { LONG } else { 0 } | told)
    }
    /// The field of a packet, if it is PFDCT's.
    #[inline]
    pub(super) const fn read(bits: u64) -> Option<Self> {
        if bits & MARKER_BITS == MARKER { Some(Self(bits)) } else { None }
    }
    /// The bits in the packet.
    pub(super) const fn bits(self) -> u64 {
        self.0
    }
    /// Its flow is long.
    pub(super) const fn is_long(self) -> bool {
        self.0 & LONG != 0
    }
    /// The sender's threshold in sixteenths of a packet.
    pub(super) const fn threshold(self) -> Option<u32> {
        if self.0 & TOLD == 0 { None } else { Some((self.0 >> 32 & THRESHOLD_MAX) as u32) }
    }
    /// Long flows at the narrowest port.
    pub(super) const fn flows(self) -> u16 {
        (self.0 >> 16) as u16
    }
    /// Packets that an arriving one may find at the narrowest port and still be admitted; 0 if unknown.
    pub(super) const fn buffer(self) -> u16 {
        self.0 as u16
    }
    /// The field after a port with `flows` long flows, which still admits a packet that finds `buffer` others (0:
    /// unknown).
    #[must_use]
    pub(super) fn through(self, flows: u16, buffer: u16) -> Self {
        let share =
            |flows: u16, buffer: u16| (if buffer == 0 { u64::MAX } else { u64::from(buffer) }, u64::from(flows));
        let ((here, n), (before, before_n)) = (share(flows, buffer), share(self.flows(), self.buffer()));
        // here / n < before / before_n without a division; if they are equal or unknown, the larger number of flows
        // counts.
        let narrower = here.saturating_mul(before_n.max(1)).cmp(&before.saturating_mul(n.max(1)));
        if narrower.is_gt() || (narrower.is_eq() && n <= before_n) {
            return self;
        }
        Self(self.0 & !0xFFFF_FFFF | u64::from(flows) << 16 | u64::from(buffer))
    }
}

/// Converts a threshold to the unit of the wire.
pub(super) fn sixteenths(packets: f64) -> u32 {
    (packets * UNIT).round().clamp(0.0, THRESHOLD_MAX as f64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_survives_the_wire_to_a_sixteenth() {
        let field = Field::read(Field::new(true, Some(0.36)).bits()).expect("PFDCT's own");
        assert!(field.is_long());
        assert_eq!(field.threshold(), Some(6));
        assert_eq!(Field::new(true, Some(1e9)).threshold(), Some(THRESHOLD_MAX as u32), "the largest that fits");
        assert_eq!(Field::new(false, None).threshold(), None);
        assert!(!Field::new(false, None).is_long());
    }

    #[test]
    fn fields_of_other_schemes_are_left_alone() {
        assert_eq!(Field::read(0), None);
        assert_eq!(Field::read(20 << 32), None);
    }

    #[test]
    fn the_narrowest_port_on_the_way_tells_its_flows_and_its_buffer() {
        let field = Field::new(true, Some(2.0)).through(4, 100);
        assert_eq!((field.flows(), field.buffer()), (4, 100));
        let narrower = field.through(10, 100);
        assert_eq!((narrower.flows(), narrower.buffer()), (10, 100));
        let wider = narrower.through(2, 250).through(0, 0);
        assert_eq!(wider, narrower);
        assert_eq!((wider.is_long(), wider.threshold()), (true, Some(32)), "the sender's part is untouched");
        assert_eq!(Field::new(true, None).through(3, 0).flows(), 3, "a shared memory has no limit to tell");
    }
}
