//! The effects of an acknowledgement: on the window (RFC 5681), on ECN (RFC 3168), and as a signal of loss.

use super::quirks::{LossRecovery, RttOf};
use super::{Env, Growth, InAck, Recovery, Sender, SenderConfig, SenderIo, State};
use crate::FIRST_DATA;
use fanin_core::packet::Flags;
use fanin_core::roles::{AckEvent, CongestionWindow, Delay, EcnMode, HostDelay, QuietAck};
use fanin_core::units::{Time, real};

impl Sender {
    /// An acknowledgement arrived.
    #[inline(always)]
    pub fn on_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        if self.state == State::Established {
            // RFC 9293 s3.10.7.4: numbers never sent are ignored, and so are old ones.
            if ack.ack > self.max_sent || ack.ack < self.una || ack.flags.has(Flags::SYN) {
                return;
            }
            if self.recovery == Recovery::Linux {
                return self.on_linux_ack(ack, env);
            }
            if self.tail.is_some() {
                self.judge_probe(ack, env);
                self.count_needless(ack);
            }
            let request = self.push_is_only_a_request && ack.flags.has(Flags::PSH);
            if request {
                self.peer_edge = self.una + ack.window;
            } else if ack.ack > self.una {
                self.on_new_ack(ack, env);
            } else {
                self.on_old_ack(ack, env);
            }
            if ack.flags.has(Flags::PSH) && ack.ack < self.nxt {
                self.on_push(env);
            }
            if self.state == State::Established {
                self.undo_needless();
                self.send(env);
                self.after_sending(env);
            }
        } else if self.state == State::SynSent && ack.flags.has(Flags::SYN) && ack.ack == FIRST_DATA {
            self.on_syn_ack(ack, env);
            self.after_sending(env);
        }
    }

    #[inline(always)]
    pub(super) fn on_new_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        let acked = ack.ack - self.una;
        self.una = ack.ack;
        // After going back, the acknowledgement may cover what was sent before the timeout.
        self.nxt = self.nxt.max(self.una);
        self.peer_edge = ack.ack + ack.window;
        let rtt = match &mut self.history {
            None => ack.rtt,
            Some(history) => {
                let echoed = ack.echo.filter(|_| history.covers_oldest(ack.ack));
                let rtt = history.on_ack(ack.ack, env.now);
                if env.cfg.quirks.rtt_of == RttOf::Cause {
                    ack.rtt
                } else if env.cfg.stamps_time_all() {
                    echoed.map(|sent| env.now.saturating_sub(sent))
                } else {
                    rtt
                }
            }
        };
        self.sample(rtt, acked, env);
        let news = self.scoreboard.as_mut().is_some_and(|board| board.update(ack.sack(), self.una) > 0);
        let mut in_recovery = self.recovery != Recovery::Open && self.in_recovery();
        let mut counted = acked;
        if env.cfg.quirks.recovery != LossRecovery::Rfc {
            counted = self.take_new_ack_first(acked, news, env.cfg);
            if env.cfg.quirks.ns3.full_ack_grows {
                in_recovery = self.in_recovery();
            }
            in_recovery |= news && self.stays_in_disorder();
        }
        self.tell_ack(acked, counted, ack, rtt, in_recovery, env);
        if env.cfg.quirks.ns3.reduces_in_proportion {
            self.follow_in_cwr(acked, env.cfg);
        }
        let restart = match self.recovery {
            Recovery::Open => {
                self.dup_acks = 0;
                self.limited_bytes = 0;
                // RFC 6675 s2: blocks with news make a duplicate, even of an acknowledgement that moves on.
                if news {
                    self.on_duplicate(env);
                }
                true
            }
            Recovery::NewReno { partial } => self.on_recovery_ack(acked, partial, env),
            Recovery::Sack => self.on_sack_recovery_ack(ack, env),
            Recovery::Linux => true,
        };
        self.react_to_echo(ack, env);
        if self.una == self.max_sent {
            // RFC 6298 s5.2: all outstanding data acknowledged, timer off.
            self.deadline = Time::NEVER;
            if self.fin && self.una == self.stream_end() {
                self.finish(env);
            }
        } else if restart {
            // RFC 6298 s5.3: restart when an acknowledgement brings news.
            self.restart_timer(env);
        }
        if news {
            self.consider_early_retransmit(ack, env);
        }
    }

    /// An acknowledgement of nothing new: a duplicate, a window update, or RCC's request to retransmit.
    pub(super) fn on_old_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        let edge = ack.ack + ack.window;
        // RFC 6675 s2: with SACK a duplicate is what reports news. RFC 5681 s2 (e): else what repeats the window too, as
        // an update of it says nothing of segments. Receivers that move it with each segment need the other rule.
        let duplicate = match &mut self.scoreboard {
            Some(board) => board.update(ack.sack(), self.una) > 0,
            None => edge == self.peer_edge || env.cfg.any_window_is_duplicate,
        };
        if duplicate && self.marks.is_some() {
            self.note_delivered();
            self.mark_deemed_lost(env.cfg);
        }
        self.peer_edge = edge;
        // RFC 5681 s2 (a): without data outstanding there are no duplicates. A request is dealt with elsewhere.
        if self.nxt == self.una || ack.flags.has(Flags::PSH) {
            return self.tell_quiet_ack(ack, env);
        }
        if duplicate || env.cfg.quirks.repairs_as_ns3_44() {
            self.tell_ack(0, 0, ack, ack.rtt, self.in_recovery(), env);
        } else {
            self.tell_quiet_ack(ack, env);
        }
        if !env.cfg.quirks.repairs_as_ns3_44() {
            self.react_to_echo(ack, env);
        }
        match self.recovery {
            _ if !duplicate => {}
            Recovery::Open => {
                self.on_duplicate(env);
                self.consider_early_retransmit(ack, env);
            }
            // RFC 5681 s3.2 step 4: one more segment has left the network.
            Recovery::NewReno { .. } => self.inflate(env.cfg),
            // The pipe has shrunk, which `send` takes into account.
            Recovery::Sack => self.follow_delivery(false, env.cfg),
            Recovery::Linux => {}
        }
    }

    /// RCC section 1.3 with its correction: equivalent to three duplicates at once, or to one more in recovery.
    pub(super) fn on_push<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        match self.recovery {
            Recovery::Open => self.enter_recovery(env),
            Recovery::NewReno { .. } => self.inflate(env.cfg),
            Recovery::Sack | Recovery::Linux => {}
        }
    }

    /// Tells congestion control of an acknowledgement, which counts for `counted` bytes and gives `rtt` as a round-trip time.
    #[inline(always)]
    pub(super) fn tell_ack<I: SenderIo>(
        &mut self,
        acked: u64,
        counted: u64,
        ack: &InAck<'_>,
        rtt: Option<Time>,
        in_recovery: bool,
        env: &mut Env<'_, I>,
    ) {
        if self.heeds_option {
            self.tell_option(acked, ack, env);
        }
        let ece = ack.flags.has(Flags::ECE) && self.ecn != EcnMode::Off;
        let flight = self.in_flight() + acked;
        let lacked = self.interface.as_ref().is_some_and(|interface| interface.lacks_window);
        let ends_window = self.una > self.next_end && self.pass_end(flight);
        self.most_in_flight = self.most_in_flight.max(flight);
        let limits = lacked || self.fills_window(env.cfg) || !env.cfg.window_validation;
        let window_limited = limits && (self.growth == Growth::Free || self.may_grow_again(env.cfg));
        let event = AckEvent {
            acked: counted,
            ece,
            in_recovery,
            in_loss: false,
            cwr: None,
            window_limited,
            ends_window,
            rtt,
            field: ack.field,
        };
        self.with_cc(env, |cc, cx| cc.on_ack(cx, &event));
        self.cut_fractions(env.cfg);
        self.arm_wake(env);
    }

    /// Tells congestion control of an acknowledgement that says nothing of segments, if it asks for such.
    pub(super) fn tell_quiet_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        if self.asks.quiet_acks {
            let ece = ack.flags.has(Flags::ECE) && self.ecn != EcnMode::Off;
            let quiet = QuietAck { window: ack.window, ece, field: ack.field };
            self.with_cc(env, |cc, cx| cc.on_quiet_ack(cx, &quiet));
            self.arm_wake(env);
        }
    }

    /// Tells congestion control what an acknowledgement carries besides, as far as it asks for that.
    #[cold]
    fn tell_option<I: SenderIo>(&mut self, acked: u64, ack: &InAck<'_>, env: &Env<'_, I>) {
        if self.asks.delays {
            self.tell_delay(acked, ack, env);
        }
        self.tell_telemetry(ack, env);
    }

    /// Tells congestion control the telemetry that an acknowledgement brings, which it does if that is asked for.
    pub(super) fn tell_telemetry<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &Env<'_, I>) {
        if let Some(telemetry) = ack.telemetry {
            self.with_cc(env, |cc, cx| cc.on_telemetry(cx, telemetry));
        }
    }

    /// Tells congestion control the delay that an acknowledgement of `acked` bytes shows. RFC 7323 section 4.1: the time stamp
    /// that it echoes is of a segment that it acknowledges only if it acknowledges new data; what blocks report is timed by
    /// when it was sent.
    fn tell_delay<I: SenderIo>(&mut self, acked: u64, ack: &InAck<'_>, env: &Env<'_, I>) {
        let rtt = if acked > 0 {
            ack.echo.map(|sent| env.now.saturating_sub(sent))
        } else {
            let newest = ack.sack().and_then(|sack| sack.as_slice().first().copied());
            newest.zip(self.history.as_mut()).and_then(|(block, history)| history.on_report(block, env.now))
        };
        self.tell_delay_of(rtt, ack, env);
    }

    /// The same, where the round-trip time is known.
    pub(super) fn tell_delay_of<I: SenderIo>(&mut self, rtt: Option<Time>, ack: &InAck<'_>, env: &Env<'_, I>) {
        if let Some(rtt) = rtt {
            let delay = Delay { rtt, hosts: ack.option.map_or_else(HostDelay::default, |option| option.hosts) };
            self.with_cc(env, |cc, cx| cc.on_delay(cx, &delay));
        }
    }

    /// Whether the window may grow, given what is acknowledged.
    #[cold]
    fn may_grow_again(&self, cfg: &SenderConfig) -> bool {
        match self.growth {
            Growth::Free => true,
            Growth::AfterEcho => self.una > self.cwr_end,
            Growth::AfterRepair => self.una < self.recover || self.una >= self.recover + cfg.mss,
        }
    }

    /// The end of a round trip or of a window of data is acknowledged, where `flight` was outstanding before. Returns
    /// whether it was that of a window of data.
    #[inline(always)]
    pub(super) fn pass_end(&mut self, flight: u64) -> bool {
        if self.una > self.round_end {
            self.round_end = self.max_sent;
            self.most_in_flight = flight;
            if let Some(interface) = &mut self.interface {
                interface.lacks_window = false;
            }
        }
        let ends_window = self.una > self.window_end;
        if ends_window {
            self.window_end = self.next_number();
        }
        self.next_end = self.round_end.min(self.window_end);
        ends_window
    }

    /// Whether the congestion window is in use: in slow start half of it, as it doubles in a round trip, and in
    /// congestion avoidance all of it but less than a segment. What counts is the most that was outstanding in the
    /// present round trip, because the last segments of a transfer leave nothing to send behind them. A window that had
    /// too little room left for a burst of segmentation offload is in use as well (`tcp_cwnd_validate` of Linux), also
    /// for the acknowledgement that ends the round trip.
    #[inline(always)]
    fn fills_window(&self, cfg: &SenderConfig) -> bool {
        let (used, CongestionWindow { cwnd, ssthresh }) = (real(self.most_in_flight), self.window);
        if cwnd < ssthresh { cwnd < 2.0 * used } else { cwnd < used + real(cfg.mss) }
    }

    /// RFC 3168 section 6.1.2: at most one reduction per round trip.
    ///
    /// The acknowledgement that ends the round trip is still part of it: the receiver sent it before it can have
    /// seen the CWR, which comes with the next segment. A loss sets this end as well, so recovery has no echoes.
    #[inline(always)]
    pub(super) fn react_to_echo<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        if ack.flags.has(Flags::ECE) && self.una > self.cwr_end && self.ecn != EcnMode::Off {
            self.reduce_for_echo(env);
        }
    }

    #[inline(never)]
    pub(super) fn reduce_for_echo<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let replaces = env.cfg.quirks.echoes_end_recovery() && self.replace_recovery(env);
        if !replaces {
            self.with_cc(env, |cc, cx| cc.on_ecn_echo(cx));
        }
        self.cut_fractions(env.cfg);
        if env.cfg.quirks.ns3.reduces_in_proportion {
            self.begin_cwr(env.cfg);
        }
        self.arm_wake(env);
        self.cwr_end = self.max_sent;
        self.cwr_pending = true;
        self.growth = if env.cfg.growth_after_echo { Growth::Free } else { Growth::AfterEcho };
    }
}
