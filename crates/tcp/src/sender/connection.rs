//! A sender's connection: the three-way handshake, adopting an open connection, and closing (RFC 9293).

use super::linux::SYN_LINEAR_TIMEOUTS;
use super::{Env, InAck, OutSegment, Recovery, Sender, SenderConfig, SenderIo, State, TimerOutcome};
use crate::FIRST_DATA;
use fanin_core::packet::Flags;
use fanin_core::roles::EcnMode;
use fanin_core::units::Time;

impl Sender {
    /// Starts the three-way handshake.
    pub fn connect<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        debug_assert_eq!(self.state, State::Closed);
        self.state = State::SynSent;
        self.send_syn(env);
    }

    /// Adopts a connection that is already open, with the peer's window in bytes.
    pub fn adopt<I: SenderIo>(&mut self, peer_window: u64, env: &mut Env<'_, I>) {
        self.nxt = FIRST_DATA;
        self.max_sent = FIRST_DATA;
        // Nothing was advertised yet on a connection that nobody saw being opened. A sender with no window of its own
        // takes the initial one for that.
        let peer_window = if self.obeys_peer() { peer_window.min(env.cfg.initial_window) } else { peer_window };
        if let Some(rtt) = self.open_rtt {
            self.take_first_rtt(rtt, env);
        }
        self.establish(peer_window, env);
        self.write(env);
        self.after_sending(env);
    }

    /// What a sender knows if it begins on a connection that is already open: the round-trip time of its idle path.
    pub const fn know_open_path(&mut self, rtt: Time) {
        self.open_rtt = Some(rtt);
    }

    /// Of the sender of Linux: how long before the run its host's first tick began.
    pub fn begin_tick_before(&mut self, begun: Time) {
        if let Some(linux) = &mut self.linux {
            linux.begin_tick_before(begun);
        }
    }

    /// The round-trip time of a handshake, or what stands for it.
    fn take_first_rtt<I: SenderIo>(&mut self, rtt: Time, env: &mut Env<'_, I>) {
        if self.recovery == Recovery::Linux {
            self.take_linux_handshake(rtt, env);
        } else {
            self.sample(Some(rtt), 0, env);
        }
    }

    /// The request that was answered told the peer's window in bytes.
    pub fn hear_window(&mut self, window: u64) {
        self.peer_edge = self.peer_edge.max(self.una + window);
    }

    /// New data may be available on an open connection.
    pub fn on_data_ready<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        if self.state != State::Established {
            return;
        }
        if self.recovery == Recovery::Linux {
            self.restart_after_idle(env);
        } else if env.cfg.idle_restart && self.in_flight() == 0 && self.max_sent > FIRST_DATA {
            // RFC 5681 s4.1: after an idle period longer than the timer value the window is at most the initial one.
            let idle = env.now.saturating_sub(self.last_sent);
            if idle > self.rto(env.cfg) {
                self.window.cwnd = self.window.cwnd.min(env.cfg.initial_window as f64);
            }
        }
        self.with_cc(env, |cc, cx| cc.on_later_transfer(cx));
        if self.recovery == Recovery::Linux {
            return self.linux_write(env);
        }
        self.send(env);
        self.after_sending(env);
    }

    /// Sends what the application has written, as far as the windows let it go.
    fn write<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        if self.recovery == Recovery::Linux { self.linux_write(env) } else { self.send(env) }
    }

    pub(super) fn send_syn<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        // RFC 3168 s6.1.1: an ECN-setup SYN carries ECE and CWR; ECT on it only by RFC 5562 or the like.
        // Linux does not try again where its SYN was lost (`tcp_ecn_clear_syn`).
        let negotiates = self.ecn != EcnMode::Off && (self.syn_timeouts == 0 || self.linux.is_none());
        let flags = Flags::SYN
            .with_if(Flags::ECE.with(Flags::CWR), negotiates)
            .with_if(Flags::ECT, negotiates && env.cfg.ecn_syn)
            .with_if(Flags::RETRANSMITTED, self.syn_timeouts > 0);
        self.nxt = FIRST_DATA;
        self.max_sent = FIRST_DATA;
        self.segments_sent += 1;
        env.io.transmit(OutSegment { seq: 0, len: 0, flags }, &self.packet, env.now);
        if self.linux.is_some() {
            self.arm_syn(env);
        } else {
            self.arm(env.now.saturating_add(self.syn_timer(env.cfg)), env);
        }
    }

    /// How long the timer of the SYN runs that was sent last.
    pub(super) fn syn_timer(&self, cfg: &SenderConfig) -> Time {
        let doublings = self.syn_timeouts.saturating_sub(if self.linux.is_some() { SYN_LINEAR_TIMEOUTS } else { 0 });
        Time::from_ps(cfg.syn_timeout.ps().saturating_mul(1 << doublings.min(63)))
    }

    pub(super) fn establish<I: SenderIo>(&mut self, peer_window: u64, env: &mut Env<'_, I>) {
        self.una = FIRST_DATA;
        self.window_end = FIRST_DATA;
        self.peer_edge = FIRST_DATA + peer_window;
        self.state = State::Established;
        self.deadline = Time::NEVER;
        if let Some(linux) = &mut self.linux {
            linux.clear_timer();
        }
        self.last_sent = env.now;
        self.with_cc(env, |cc, cx| cc.on_start(cx));
        self.arm_wake(env);
    }

    pub(super) fn on_syn_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        // After a second SYN Linux goes by the time stamp, which counts milliseconds from one on (`tcp_rtt_tsopt_us`).
        let by_stamp = |rtt: Time| Time::from_ms((rtt.us() / 1000).max(1));
        let rtt = match (self.syn_timeouts, self.linux.is_some()) {
            (0, _) => ack.rtt,
            (_, true) => ack.rtt.map(by_stamp),
            (_, false) => None,
        };
        if let Some(rtt) = rtt {
            self.take_first_rtt(rtt, env);
        }
        if self.ecn != EcnMode::Off && !ack.flags.has(Flags::ECE) {
            // RFC 3168 s6.1.1: the peer did not agree to ECN.
            self.ecn = EcnMode::Off;
        }
        // RFC 5681 s3.1: a lost SYN or SYN-ACK limits the initial window to one segment. Linux forgives the first one.
        if self.syn_timeouts > u32::from(self.linux.is_some()) {
            self.window.cwnd = env.cfg.mss as f64;
        }
        // The last packet of the handshake is a segment of its own, as in deployed stacks.
        self.segments_sent += 1;
        env.io.transmit(
            OutSegment { seq: FIRST_DATA, len: 0, flags: self.of_pure_acks(env.cfg) },
            &self.packet,
            env.now,
        );
        self.establish(ack.window, env);
        self.with_cc(env, |cc, cx| cc.on_syn_ack(cx, ack.field));
        self.arm_wake(env);
        self.write(env);
    }

    /// The SYN-ACK has arrived and the following packets are held elsewhere: the SYN is not retransmitted meanwhile.
    pub fn rest(&mut self) {
        debug_assert_eq!(self.state, State::SynSent);
        self.deadline = Time::NEVER;
    }

    pub(super) fn on_syn_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        if self.syn_timeouts == env.cfg.syn_retries {
            self.state = State::Failed;
            return TimerOutcome::Failed;
        }
        self.syn_timeouts += 1;
        self.retransmissions += 1;
        self.send_syn(env);
        TimerOutcome::SynTimeout
    }

    /// The FIN is acknowledged; the last packet of the connection acknowledges the receiver's own FIN.
    pub(super) fn finish<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.state = State::Finished;
        self.segments_sent += 1;
        env.io.transmit(OutSegment { seq: self.nxt, len: 0, flags: self.of_pure_acks(env.cfg) }, &self.packet, env.now);
    }

    /// Flags of the acknowledgements without data that a sender sends: at the ends of the handshake and of the connection.
    fn of_pure_acks(&self, cfg: &SenderConfig) -> Flags {
        Flags::NONE.with_if(Flags::ECT, self.ecn != EcnMode::Off && cfg.ecn_ack)
    }
}
