//! What an acknowledgement says of the segments in flight: `tcp_ack`, `tcp_sacktag_write_queue` and `tcp_clean_rtx_queue`.

use super::scoreboard::Segment;
use super::{CaState, Linux, MAX_REORDERING, PERSIST, Resend, stamp, tick};
use crate::sack::SackBlocks;
use crate::sender::{Env, InAck, Sender, SenderIo, pacing_rate};
use fanin_core::packet::Flags;
use fanin_core::roles::{AckEvent, Cwr, EcnMode};
use fanin_core::units::Time;

/// More than the error of a stamp in a packet ([`fanin_core::packet::Stamp`]), and less than any timer tells.
const STAMP_ERROR: Time = Time::from_ns(1);

/// The news of one acknowledgement: the flags of `tcp_ack` and `struct tcp_sacktag_state`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    /// `FLAG_SND_UNA_ADVANCED`
    pub(super) advanced: bool,
    /// `FLAG_WIN_UPDATE` of an acknowledgement that does not advance.
    window: bool,
    pub(super) ece: bool,
    pub(super) data_sacked: bool,
    data_acked: bool,
    retrans_acked: bool,
    /// `FLAG_ORIG_SACK_ACKED`: something was delivered that was sent once, before the present episode.
    pub(super) original: bool,
    dsack: bool,
    /// `FLAG_DSACK_TLP`
    pub(super) dsack_of_probe: bool,
    /// `FLAG_SET_XMIT_TIMER`
    pub(super) rearm: bool,
    /// `FLAG_LOST_RETRANS`
    pub(super) lost_retrans: bool,
    /// `sack_delivered`
    sack_delivered: u32,
    delivered_bytes: u64,
    /// When the first and the last newly reported segment was sent that was sent once, in us.
    sacked_at: Option<(u64, u64)>,
    /// `prior_delivered` of the newest delivered segment, and when that was sent.
    prior_delivered: Option<(u32, (u64, u64))>,
    rtt: Option<u64>,
}

impl News {
    /// `FLAG_NOT_DUP`
    pub(super) fn not_duplicate(&self) -> bool {
        self.window || self.data_acked
    }

    /// The round-trip time that an acknowledgement shows: of the segment whose time stamp it echoes, if it acknowledges that
    /// (`tcp_rtt_tsopt_us`, with stamps in microseconds or better), else of the newest that its blocks report.
    fn rtt_shown(&self, ack: &InAck<'_>, now: Time) -> Option<Time> {
        let echoed = ack.echo.filter(|_| self.data_acked).map(|sent| now.saturating_sub(sent));
        echoed.or(self.rtt.map(Time::from_us))
    }

    /// `tcp_rate_skb_delivered`
    fn on_delivered(&mut self, segment: &Segment) {
        let sent = (segment.sent, segment.end);
        if self.prior_delivered.is_none_or(|(_, newest)| sent > newest) {
            self.prior_delivered = Some((segment.delivered, sent));
        }
    }
}

impl Linux {
    /// `tcp_rack_advance`
    fn rack_advance(&mut self, segment: &Segment, now: u64) {
        let rtt = now.saturating_sub(segment.sent);
        if segment.ever_resent && rtt < self.least_us() {
            // Its original was delivered, and the retransmission was needless.
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt = rtt;
        self.rack.newest = self.rack.newest.max((segment.sent, segment.end));
    }

    /// `tcp_min_rtt`
    fn least_us(&self) -> u64 {
        if self.rtt.least == 0 { u64::MAX } else { self.rtt.least }
    }

    /// `tcp_check_sack_reordering`
    pub(super) fn check_reordering(&mut self, low: u64, una: u64, mss: u64) {
        let fack = self.board.highest_sack(una);
        if low >= fack {
            return;
        }
        let metric = fack - low;
        if metric > u64::from(self.reordering) * mss {
            self.reordering = (metric.div_ceil(mss) as u32).min(MAX_REORDERING);
        }
        self.reordering_seen = true;
    }

    /// `tcp_check_dsack` and `tcp_dsack_seen`, of the block `start..end`. Returns whether it counts.
    fn take_dsack(&mut self, (start, end): (u64, u64), prior_una: u64, mss: u64, news: &mut News) -> bool {
        let segments = (end - start).div_ceil(mss).max(1) as u32;
        if segments == 1 && self.probe.is_some_and(|(high, _)| high == end) {
            news.dsack_of_probe = true;
        }
        self.dsack_dups += segments;
        if self.dsack_dups > self.total_retrans {
            return false;
        }
        if self.reordering_seen && !news.dsack_of_probe {
            self.rack.dsack_seen = true;
        }
        news.dsack = true;
        news.sack_delivered += segments;
        if let (Some(marker), Some(count)) = (self.undo_marker, self.undo_retrans)
            && end <= prior_una
            && end > marker
        {
            self.undo_retrans = Some(count.saturating_sub(segments));
        }
        true
    }

    /// `tcp_sacktag_write_queue`
    fn take_blocks(
        &mut self,
        blocks: &SackBlocks,
        una: u64,
        prior_una: u64,
        now: u64,
        mss: u64,
        news: &mut News,
    ) -> u64 {
        let mut low = u64::MAX;
        if let Some(duplicate) = blocks.dsack()
            && self.take_dsack(duplicate, prior_una, mss, news)
        {
            self.take_needless(duplicate, &mut low);
        }
        let mut reported = std::mem::take(&mut self.news);
        reported.clear();
        for &(start, end) in blocks.as_slice() {
            if end > una && end > start {
                self.board.report(start.max(una), end, &mut reported);
            }
        }
        reported.sort_unstable();
        for &index in &reported {
            self.take_report(index, una, now, &mut low, news);
        }
        self.news = reported;
        low
    }

    /// `tcp_sacktag_one` of segments that arrived twice.
    fn take_needless(&mut self, (start, end): (u64, u64), low: &mut u64) {
        for index in self.board.within(start, end) {
            let segment = *self.board.get(index);
            if segment.ever_resent {
                if let (Some(marker), Some(count)) = (self.undo_marker, self.undo_retrans)
                    && segment.end > marker
                {
                    self.undo_retrans = Some(count.saturating_sub(1));
                }
                if segment.sacked {
                    *low = (*low).min(segment.start);
                }
                self.board.forget_resent(index);
            }
        }
    }

    /// `tcp_sacktag_one` of a segment that is newly reported.
    fn take_report(&mut self, index: usize, una: u64, now: u64, low: &mut u64, news: &mut News) {
        let segment = *self.board.get(index);
        self.rack_advance(&segment, now);
        if !segment.ever_resent {
            if segment.start < self.board.highest_sack(una) {
                *low = (*low).min(segment.start);
            }
            news.original |= segment.end <= self.high_seq;
            let first = news.sacked_at.map_or(segment.sent, |(first, _)| first);
            news.sacked_at = Some((first, segment.sent));
        }
        news.on_delivered(&segment);
        news.data_sacked = true;
        news.sack_delivered += 1;
        news.delivered_bytes += segment.len;
        self.board.mark_sacked(index);
    }

    /// `tcp_rack_update_reo_wnd`
    fn update_reordering_window(&mut self, news: &News) {
        let Some((prior, _)) = news.prior_delivered.filter(|(prior, _)| *prior > 0) else { return };
        if prior < self.rack.last_delivered {
            self.rack.dsack_seen = false;
        }
        if self.rack.dsack_seen {
            self.rack.steps = (self.rack.steps + 1).min(255);
            self.rack.dsack_seen = false;
            self.rack.last_delivered = self.delivered;
            self.rack.persist = PERSIST;
        } else if self.rack.persist == 0 {
            self.rack.steps = 1;
        }
    }
}

impl Sender {
    /// An acceptable acknowledgement of an open connection: `tcp_ack`, and `tcp_data_snd_check` after it.
    #[inline(never)]
    pub(in crate::sender) fn on_linux_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        if self.push_is_only_a_request && ack.flags.has(Flags::PSH) {
            return self.on_linux_request(ack.window, env);
        }
        let prior_una = self.una;
        let edge = ack.ack + ack.window;
        let mut news = News {
            advanced: ack.ack > prior_una,
            window: edge > self.peer_edge,
            ece: ack.flags.has(Flags::ECE) && self.ecn != EcnMode::Off,
            ..News::default()
        };
        self.una = ack.ack;
        self.nxt = self.nxt.max(self.una);
        self.peer_edge = edge;
        let (una, now) = (self.una, env.now.us());
        let linux = self.linux();
        // Stamps in packets are coarser than the clock, and must not fall into the millisecond before.
        linux.echo = ack.echo.map(|sent| stamp((sent + STAMP_ERROR).us()));
        if news.advanced {
            linux.retransmits = 0;
        }
        if linux.board.packets_out() == 0 {
            return self.on_idle_ack(ack, prior_una, &mut news, env);
        }
        let prior_fack = linux.board.highest_sack(prior_una);
        let (delivered, lost) = (linux.delivered, linux.lost);
        if let Some(blocks) = ack.sack() {
            let low = linux.take_blocks(blocks, una, prior_una, now, env.cfg.mss, &mut news);
            if linux.state != CaState::Loss || linux.undo_marker.is_some() {
                linux.check_reordering(low, una, env.cfg.mss);
            }
            linux.delivered += news.sack_delivered;
        }
        self.clean_queue(prior_fack, &mut news, env);
        let linux = self.linux();
        linux.update_reordering_window(&news);
        if linux.probe.is_some() {
            self.on_probe_ack(&news, env);
        }
        let requested = ack.flags.has(Flags::PSH) && self.linux().deem_first_lost();
        let alert = news.data_sacked || news.ece || news.dsack || requested;
        let mut resend = Resend::Nothing;
        if !news.not_duplicate() || alert || self.linux().state != CaState::Open {
            resend = self.alert(prior_una, &mut news, env);
        }
        if news.rearm {
            self.set_linux_timer(env);
        }
        let linux = self.linux();
        let (delivered, lost) = (linux.delivered - delivered, linux.lost - lost);
        self.control_congestion(delivered, lost, &news, ack, env);
        if self.closing() && self.una == self.stream_end() && self.nxt == self.una {
            return self.finish(env);
        }
        self.resend_after_ack(resend, env);
        self.linux_output(env);
    }

    /// Whether [`on_idle_data`](Self::on_idle_data) changes anything.
    pub fn heeds_idle_data(&self) -> bool {
        self.ecn == EcnMode::Accurate && self.nxt == self.una
    }

    /// A segment of the other direction has arrived, and acknowledges nothing new. An idle socket has no memory in reserve
    /// for it, so `tcp_rcv_established` takes it to `tcp_in_ack_event`.
    pub fn on_idle_data<I: SenderIo>(&mut self, env: &Env<'_, I>) {
        self.with_cc(env, |cc, cx| cc.on_idle_data(cx));
    }

    /// Nothing is outstanding: what a DSACK shows still counts.
    fn on_idle_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, prior_una: u64, news: &mut News, env: &mut Env<'_, I>) {
        if let Some(duplicate) = ack.sack().and_then(SackBlocks::dsack)
            && self.linux().take_dsack(duplicate, prior_una, env.cfg.mss, news)
        {
            self.alert(prior_una, news, env);
        }
        if self.linux().probe.is_some() {
            self.on_probe_ack(news, env);
        }
        self.tell_quiet_ack(ack, env);
        self.linux_output(env);
    }

    /// `tcp_clean_rtx_queue`
    fn clean_queue<I: SenderIo>(&mut self, prior_fack: u64, news: &mut News, env: &Env<'_, I>) {
        let (una, nxt, now) = (self.una, self.nxt, env.now.us());
        let linux = self.linux();
        let (mut low, mut acked_at) = (u64::MAX, None);
        while let Some(segment) = linux.board.pop_acknowledged(una) {
            news.data_acked = true;
            if segment.ever_resent {
                news.retrans_acked = true;
            } else if !segment.sacked {
                let (first, _) = acked_at.unwrap_or((segment.sent, 0));
                acked_at = Some((first, segment.sent));
                low = low.min(segment.start);
                news.original |= segment.end <= linux.high_seq;
            }
            if !segment.sacked {
                linux.delivered += 1;
                news.delivered_bytes += segment.len;
                let spurious = segment.ever_resent && linux.echo.is_some_and(|echo| echo < stamp(segment.sent));
                if !spurious {
                    linux.rack_advance(&segment, now);
                }
                news.on_delivered(&segment);
            }
        }
        linux.board.drop_reports_below(una);
        let since = |at: u64| now.saturating_sub(at);
        let mut sample = acked_at.filter(|_| !news.retrans_acked).map(|(first, last)| (since(first), since(last)));
        let sacked = news.sacked_at.map(|(first, last)| (since(first), since(last)));
        if let Some((first, last)) = sacked {
            sample = Some((sample.map_or(first, |(first, _)| first), last));
        }
        if sample.is_none() && news.data_acked {
            // `tcp_rtt_tsopt_us`: a time stamp has ticks of a millisecond, and tells at least one.
            sample = linux.echo.map(|echo| 1000 * (stamp(now) - echo).max(1)).map(|us| (us, us));
        }
        news.rtt = sample.map(|(_, newest)| newest);
        if let Some((us, newest)) = sample {
            self.take_rtt(us, newest, una, nxt, env.cfg);
        }
        let linux = self.linux();
        if news.data_acked {
            news.rearm = true;
            if low < prior_fack {
                linux.check_reordering(low, una, env.cfg.mss);
            }
        } else if let (Some(first), Some((us, _))) = (linux.board.first(), sacked)
            && us > since(first.sent)
        {
            news.rearm = true;
        }
    }

    /// `tcp_cong_control`, with what `tcp_in_ack_event` and `pkts_acked` tell before.
    fn control_congestion<I: SenderIo>(
        &mut self,
        delivered: u32,
        lost: u32,
        news: &News,
        ack: &InAck<'_>,
        env: &mut Env<'_, I>,
    ) {
        let flight = self.in_flight() + news.delivered_bytes;
        let ends_window = self.una > self.next_end && self.pass_end(flight);
        self.most_in_flight = self.most_in_flight.max(flight);
        let (limited, now) = (self.is_window_limited(env.cfg), tick(env));
        let linux = self.linux();
        let disordered = linux.reordering > env.cfg.duplicate_ack_threshold;
        let may_grow = news.data_acked || disordered && news.data_sacked;
        let (in_recovery, in_loss) = (linux.reduces(), linux.state == CaState::Loss);
        let begins = linux.reduction.is_some();
        let cwr = (linux.state == CaState::Cwr).then_some(if begins { Cwr::Begins } else { Cwr::Continues });
        if may_grow && !in_recovery {
            // `tcp_cong_avoid`, whether the window grows or not.
            linux.window_stamp = now;
        }
        if delivered > 0 || news.ece || news.rtt.is_some() {
            let event = AckEvent {
                acked: news.delivered_bytes,
                ece: news.ece,
                in_recovery,
                in_loss,
                cwr,
                window_limited: limited && may_grow,
                ends_window,
                rtt: news.rtt.map(Time::from_us),
                field: ack.field,
            };
            if self.heeds_option {
                self.tell_delay_of(news.rtt_shown(ack, env.now).filter(|_| self.asks.delays), ack, env);
                self.tell_telemetry(ack, env);
            }
            self.with_cc(env, |cc, cx| cc.on_ack(cx, &event));
            self.arm_wake(env);
        } else {
            self.tell_quiet_ack(ack, env);
        }
        self.reduce(env);
        if in_recovery {
            self.pace_reduction(delivered, lost, news.advanced, env.cfg);
        }
        let rate = pacing_rate(self.window, self.in_flight(), self.srtt());
        self.linux().pacing_rate = rate;
    }

    /// A packet that requests the first segment and acknowledges nothing (RCC).
    fn on_linux_request<I: SenderIo>(&mut self, window: u64, env: &mut Env<'_, I>) {
        self.peer_edge = self.una + window;
        let una = self.una;
        if self.linux().deem_first_lost() {
            let resend = self.alert(una, &mut News::default(), env);
            self.reduce(env);
            self.resend_after_ack(resend, env);
        }
        self.linux_output(env);
    }
}
