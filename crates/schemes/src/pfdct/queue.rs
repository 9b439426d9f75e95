//! The switch: selects a packet's band, and decides whether it is admitted and marked.

use super::active::{Active, above};
use super::bands::{BANDS, Tag, do_enqueue, is_retransmitted, prioband, set_prio};
use super::field::{Field, UNIT};
use super::oracle::Oracle;
use super::seen::Seen;
use super::settings::{BandBuffer, Marking, QueueSettings, Told};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{Admission, QueueCx, QueueDiscipline};
use fanin_core::units::{Size, Time};
use fanin_network::queue::{Notice, Red, transmission};
use std::sync::Arc;

/// The state that the ports of a switch share.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The table of sequence numbers, unless it is off.
    pub(super) seen: Option<Seen>,
}

/// The class of a packet, and its band.
#[derive(Clone, Copy, Debug)]
struct Ruling {
    tag: Option<Tag>,
    band: u8,
}

/// One egress port.
pub(super) struct Queue {
    set: QueueSettings,
    /// Size of a packet without payload, and of a full one, in bytes.
    header: u16,
    packet: u64,
    oracle: Option<Arc<Oracle>>,
    active: Active,
    /// RED of the long band.
    red: Option<Red>,
    /// RED of each higher band.
    short_red: Option<[Red; BANDS]>,
    /// Capacity of each band in packets or bytes, once the port's buffer is known.
    room: Option<[u64; BANDS]>,
    /// The ruling on the packet that found the port full, for which another one is pushed out.
    pending: Option<Ruling>,
}

impl Queue {
    pub(super) fn new(set: QueueSettings, header: u16, packet: u64, oracle: Option<Arc<Oracle>>) -> Self {
        let red = match set.marking {
            Marking::Red(config) | Marking::RedDynamic(config) | Marking::RedBetween(config) => Some(Red::new(config)),
            Marking::Off | Marking::Step => None,
        };
        let short_red = set.short_red.map(|config| [Red::new(config); BANDS]);
        let active = Active::new(set.scope, set.flow_timeout, set.initial, set.rescale);
        Self { set, header, packet, oracle, active, red, short_red, room: None, pending: None }
    }

    /// Classifies a packet: once, before it can be dropped.
    ///
    /// READING: P16. It is recorded on arrival; otherwise the retransmission of a packet dropped here would look new.
    fn rule(&mut self, cx: &mut QueueCx<'_>, packet: &Packet) -> Ruling {
        if let Some(ruling) = self.pending.take() {
            return ruling;
        }
        let tag = if self.set.by_code_point {
            // Receivers do not write a code point.
            if packet.is_ack() { Some(Tag::Short) } else { Tag::of(packet.priority) }
        } else {
            let node = cx.node.downcast_mut::<Node>();
            let seen = node.and_then(|node| node.seen.as_mut());
            let again = seen.is_some_and(|seen| is_retransmitted(seen, packet, self.header));
            Some(set_prio(again, packet.flags.ecn_field()))
        };
        self.count(cx.now, packet, tag);
        // READING: P17. There is a packet filter only if `ack-band` selects the band of acknowledgements.
        let filter = self.set.ack_band.filter(|_| packet.is_ack());
        Ruling { tag, band: do_enqueue(filter, tag, self.set.bands) }
    }

    /// Counts the long flows of this port. A retransmission of a long flow is recognised by its field.
    fn count(&mut self, now: Time, packet: &Packet, tag: Option<Tag>) {
        if packet.is_ack() {
            return;
        }
        self.active.expire(now);
        let field = Field::read(packet.field);
        if tag == Some(Tag::Long) || field.is_some_and(Field::is_long) {
            self.active.on_packet(now, packet.flow, field.and_then(Field::threshold));
            if packet.flags.has(Flags::FIN) {
                self.active.on_end(packet.flow);
            }
        }
    }

    /// The band of long flows.
    const fn long_band(&self) -> u8 {
        prioband(self.set.bands)[Tag::Long.priority() as usize]
    }

    /// Whether the packet exceeds the capacity of its band, if bands have capacities of their own.
    fn is_full(&mut self, cx: &QueueCx<'_>, band: u8, size: u16) -> bool {
        let Some(buffer) = cx.buffer.filter(|_| self.set.bands > 1) else { return false };
        if self.set.band_buffer == BandBuffer::SharedPushOut {
            return false;
        }
        let room = self.rooms(buffer);
        let (held, limit) = (cx.bands[usize::from(band)], room[usize::from(band)]);
        match buffer {
            Size::Packets(_) => u64::from(held.packets) >= limit,
            Size::Bytes(_) => held.bytes + u64::from(size) > limit,
        }
    }

    /// Capacity of each band.
    fn rooms(&mut self, buffer: Size) -> [u64; BANDS] {
        *self.room.get_or_insert_with(|| room(&self.set, buffer, self.packet))
    }

    /// `M` of `N K_u < M`: the number of waiting packets that an arriving one may find and still be admitted, at least
    /// one.
    ///
    /// READING: P7, P13. "The total threshold of concurrent traffic must be smaller than the buffer capacity M of the
    /// bottleneck switch" (section 3.2.5): that is the port's buffer, which each band has for itself if bands have
    /// their own. In a split buffer it is more than the long band holds, which then drops before it marks. With the
    /// long band's capacity for M (`kt-high = "band"`), a full band has marked before it drops.
    fn told_buffer(&mut self, buffer: Size) -> u64 {
        let own = self.set.told == Told::Band && self.set.bands > 1 && self.set.band_buffer == BandBuffer::Split;
        let band = usize::from(self.long_band());
        let room = own.then(|| self.rooms(buffer)[band]);
        // Not counted: the arriving packet and the one in transmission, which is in no band.
        let others = if own { 1 } else { 2 };
        let holds = match buffer {
            Size::Packets(packets) => room.unwrap_or(packets),
            Size::Bytes(bytes) => room.unwrap_or(bytes) / self.packet,
        };
        holds.saturating_sub(others).max(1)
    }

    /// Number of packets in the queue that is compared with the threshold, for a packet in `band`.
    fn occupancy(&self, cx: &QueueCx<'_>, band: u8) -> u32 {
        if self.set.by_port { cx.backlog.packets } else { cx.bands[usize::from(band)].packets }
    }

    /// The threshold of the queue for this packet, in sixteenths of a packet.
    fn threshold(&mut self, packet: &Packet) -> u64 {
        let told = match &self.oracle {
            Some(oracle) => self.active.true_threshold(packet.flow, oracle),
            None => self.active.threshold(Field::read(packet.field).and_then(Field::threshold)),
        };
        // READING: P7. "Maximum 60, minimum 20" packets of the switch queue.
        let clipped = told.clamp(self.set.clip.0, self.set.clip.1);
        // READING: P4. At least one packet: a threshold of zero would mark every packet at an idle port.
        clipped.max(UNIT as u64)
    }

    fn is_congested(&mut self, cx: &mut QueueCx<'_>, packet: &Packet, band: u8) -> bool {
        let occupancy = self.occupancy(cx, band);
        if let Marking::Step = self.set.marking {
            return above(occupancy, self.threshold(packet));
        }
        // READING: P14. Of the two thresholds, 20 and 60 packets, the lower one moves and the upper one with it.
        let times = match self.set.marking {
            Marking::RedDynamic(_) => Some(1.0),
            Marking::RedBetween(config) => Some((config.max / config.min).max(1.0)),
            _ => None,
        };
        let dynamic = times.map(|times| (self.threshold(packet) as f64 / UNIT, times));
        let Some(red) = &mut self.red else { return false };
        if let Some((threshold, times)) = dynamic {
            (red.config.min, red.config.max) = (threshold, threshold * times);
        }
        red.on_arrival(cx.now, occupancy, transmission(cx, packet), cx.random) != Notice::None
    }

    /// Whether RED drops a packet of a band above that of long flows; an ECN-capable packet is marked instead.
    ///
    /// READING: P13, P31. By section 3.2.2 ("both of which are RED queue discs") it does; by section 3.2.1 no threshold
    /// drops packets of short flows.
    fn is_discarded(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet, band: u8) -> bool {
        let above = band != self.long_band();
        let Some(reds) = self.short_red.as_mut().filter(|_| above) else { return false };
        let waiting = cx.bands[usize::from(band)].packets;
        let red = &mut reds[usize::from(band)];
        let notice = red.on_arrival(cx.now, waiting, transmission(cx, packet), cx.random);
        let dropped = notice != Notice::None && !cx.mark(packet, false);
        if dropped {
            red.on_drop(cx.now);
        }
        dropped
    }

    /// Writes `N` and `M` of this port into the packet's field, for the sender.
    fn stamp(&mut self, cx: &QueueCx<'_>, packet: &mut Packet) {
        if packet.is_ack() {
            return;
        }
        if let Some(field) = Field::read(packet.field) {
            let buffer = cx.buffer.map_or(0, |buffer| self.told_buffer(buffer));
            packet.field = field.through(self.active.count(), u16::try_from(buffer).unwrap_or(u16::MAX)).bits();
        }
    }
}

/// Capacity of each band, in the unit of the buffer.
///
/// READING: P13. All bands together have the capacity of the port. The packet in transmission is in no band.
fn room(set: &QueueSettings, buffer: Size, packet: u64) -> [u64; BANDS] {
    let (whole, least, unit) = match buffer {
        Size::Packets(packets) => (packets, 1, 1),
        Size::Bytes(bytes) => (bytes, packet, packet),
    };
    if set.band_buffer == BandBuffer::Own {
        return [whole; BANDS];
    }
    let whole = whole.saturating_sub(unit);
    let [high, middle] = set.shares.map(|share| (whole as f64 * share) as u64);
    let parts = [high, middle, whole.saturating_sub(high + middle)];
    let mut room = [0; BANDS];
    for (part, band) in parts.into_iter().zip(prioband(set.bands)) {
        room[usize::from(band)] += part;
    }
    room.map(|room| room.max(least))
}

impl QueueDiscipline for Queue {
    fn bands(&self) -> u8 {
        // With one band the port would be a FIFO, whose departures are fixed on arrival. A second, empty band makes it
        // a scheduled port.
        self.set.bands.max(2)
    }
    fn buffers(&self) -> u32 {
        if self.set.band_buffer == BandBuffer::Own { u32::from(self.set.bands) } else { 1 }
    }
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        let Ruling { tag, band } = self.rule(cx, packet);
        if self.is_full(cx, band, packet.size) {
            return Admission::Full;
        }
        if self.is_discarded(cx, packet, band) {
            return Admission::Drop;
        }
        self.stamp(cx, packet);
        let markable = !matches!(self.set.marking, Marking::Off) && (tag == Some(Tag::Long) || self.set.mark_all);
        if markable && !packet.is_ack() && self.is_congested(cx, packet, band) {
            cx.mark(packet, false);
        }
        Admission::Enqueue(band)
    }
    fn on_full(&mut self, cx: &mut QueueCx<'_>, packet: &Packet) -> Option<u8> {
        let ruling = self.rule(cx, packet);
        if self.set.band_buffer != BandBuffer::SharedPushOut {
            return None;
        }
        let victim = (ruling.band + 1..self.set.bands).rev().find(|band| cx.bands[usize::from(*band)].packets > 0);
        // After the push-out, `on_enqueue` is called again for this packet.
        self.pending = victim.map(|_| ruling);
        victim
    }
    fn acts_on_dequeue(&self) -> bool {
        self.red.is_some() || self.short_red.is_some()
    }
    fn on_dequeue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) {
        let left = self.occupancy(cx, self.long_band());
        let gone = cx.now + transmission(cx, packet);
        if let Some(red) = self.red.as_mut().filter(|_| left == 0) {
            red.on_empty(gone);
        }
        for (red, held) in self.short_red.iter_mut().flatten().zip(cx.bands) {
            if held.packets == 0 {
                red.on_empty(gone);
            }
        }
    }
}

#[cfg(test)]
mod tests;
