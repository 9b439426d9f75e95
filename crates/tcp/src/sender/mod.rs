//! The sending half of one flow: handshake, sliding window, loss recovery, timers.
//!
//! A state machine without I/O after RFC 9293 (connection, window), 5681 (congestion control), 6582 (NewReno), 3042
//! (limited transmit), 6298 (timer) and 3168 (ECN), 6675 (recovery with SACK). The window
//! itself is controlled by a [`CongestionControl`].
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | its state, and access to it |
//! | `config.rs`, `env.rs` | its configuration; its inputs and outputs |
//! | `connection.rs` | handshake and end |
//! | `acks.rs` | the effects of an acknowledgement |
//! | `loss.rs` | loss by duplicates and timeouts: NewReno |
//! | `sack_recovery.rs` | recovery with SACK |
//! | `linux/` | all of this as Linux does it |
//! | `linux_3_16.rs` | what Linux 3.16 does beside the RFCs |
//! | `output.rs` | what is sent |
//! | `bursts.rs`, `interface.rs` | bursts, pacing and small queues below the windows |
//! | `timers.rs` | retransmission timer, window probes, wake-ups |
//! | `quirks.rs`, and the files that it lists | where the TCP of other programs departs from the RFCs |
//!
//! Sequence numbers are 64 bits wide and count bytes: the SYN is 0, the first data byte 1, and the FIN takes the
//! number after the last byte. Left out, on purpose: URG, Nagle's algorithm (an application that writes whole
//! answers never waits for it), the retransmission of the receiver's own FIN, and the pause of RFC 3168 section 6.1.2
//! for an echo at a window of one segment (deployed stacks keep sending that segment).

mod acks;
mod bursts;
mod config;
mod connection;
mod departures;
mod env;
mod guesses;
mod history;
mod interface;
mod linux;
mod linux_3_16;
mod loss;
mod ns3_18;
mod ns3_36_rate;
mod ns3_44;
mod ns3_44_sack;
mod output;
mod quirks;
mod sack_recovery;
mod timers;

pub use bursts::pacing_rate;
pub use config::{BeforeRack, InterfaceConfig, LinuxConfig, SenderConfig};
pub use env::{Env, InAck, OutSegment, SenderIo, TimerOutcome};
pub use quirks::{LossRecovery, Quirks, RttOf};

use crate::FIRST_DATA;
use crate::marks::Marks;
use crate::rto::RtoEstimator;
use crate::sack::Scoreboard;
use fanin_core::packet::Flags;
use fanin_core::roles::{Asks, CongestionControl, CongestionWindow, EcnMode, PacketFacts, SenderCx, TransferFacts};
use fanin_core::units::{Time, real};
use guesses::Guesses;
use history::History;
use interface::Interface;
use linux::{CaState, Linux};
use linux_3_16::Tail;
use ns3_36_rate::RateReduction;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing was sent yet.
    Closed,
    /// SYN sent.
    SynSent,
    /// Open.
    Established,
    /// The FIN was acknowledged.
    Finished,
    /// The SYN was retransmitted too often.
    Failed,
}

/// Loss recovery in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    /// None.
    Open,
    /// RFC 6582 step 3; `partial` once a partial acknowledgement was seen.
    NewReno { partial: bool },
    /// RFC 6675 section 5.
    Sack,
    /// As in Linux: whether there is recovery is known to [`Linux`].
    Linux,
}

/// Whether the window may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    /// It may.
    Free,
    /// Not before `cwr_end` is passed: an echo has reduced it, and `transport.growth-after-echo` is off.
    AfterEcho,
    /// Not with the acknowledgement of `recover`, unless it covers a segment more: a timeout was repaired, as in ns-3.44.
    AfterRepair,
}

/// What says how far a sender may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// Both windows, and the congestion window counts as a segment at least.
    Windows,
    /// Both windows.
    Exact,
    /// The peer's window ([`CongestionControl::obeys_peer`]).
    Peer,
}

/// The sending half of one flow. What every acknowledgement needs comes first, in four cache lines.
#[repr(C)]
pub struct Sender {
    una: u64,
    nxt: u64,
    /// One past the highest sequence number ever sent.
    max_sent: u64,
    /// One past the last byte from the application; `u64::MAX / 2` for endless data.
    data_end: u64,
    /// One past the last byte that the peer's window allows.
    peer_edge: u64,
    window: CongestionWindow,
    /// When the timer expires; never, if stopped.
    deadline: Time,

    /// The earliest timer event that is pending: deadlines move without touching the event queue.
    timer_at: Time,
    /// The most that was outstanding since `round_end` was set to what had been sent then.
    most_in_flight: u64,
    /// The lesser of `round_end` and `window_end`, so that most acknowledgements look at one number only.
    next_end: u64,
    last_sent: Time,
    wake_at: Time,
    wake_armed: Time,
    cc: Box<dyn CongestionControl>,

    estimator: RtoEstimator,
    packet: PacketFacts,
    /// Segments and SYNs sent.
    pub segments_sent: u64,
    /// Segments sent that had been sent before.
    pub(crate) retransmissions: u64,

    scoreboard: Option<Box<Scoreboard>>,
    /// When each segment was sent, where acknowledgements time others than the one whose stamp they echo: by
    /// [`Quirks::rtt_of`], and those that SACK blocks report if congestion control [`Asks`].
    history: Option<Box<History>>,
    /// What lies between the windows and the host's queue, if anything.
    interface: Option<Box<Interface>>,
    /// Bytes sent by limited transmit, which do not count as outstanding when loss is detected.
    limited_bytes: u64,
    dup_acks: u32,
    /// Probes of a closed window since it last let something through.
    probes: u32,
    recovery: Recovery,
    state: State,
    /// The stream ends with a FIN after `data_end`.
    fin: bool,
    ecn: EcnMode,
    /// Set CWR on the next new data segment (RFC 3168 section 6.1.2).
    cwr_pending: bool,
    growth: Growth,
    /// When it tries again to send, if the pacing timer runs for that.
    resumes: Time,
    /// What says how far it may send.
    limit: Limit,
    /// It asks for some of what acknowledgements carry besides.
    heeds_option: bool,
    /// The bits of every segment.
    marks_segments: Flags,
    /// [`CongestionControl::push_is_only_a_request`].
    push_is_only_a_request: bool,
    /// The window is congestion control's own until the repair is over ([`Cut`](fanin_core::roles::Cut)).
    owns_window: bool,
    /// The first segment is to be sent again once pacing lets it go, before new data.
    resend_waits: bool,
    /// In ns-3.18: recovery has just begun with a retransmission, and nothing else leaves now.
    silent: bool,

    /// RFC 6582 `recover`: one past the highest sequence number sent when loss was last detected.
    recover: u64,
    /// `una` at the last timeout, 0 before: which segment it was that timed out.
    timed_out: u64,
    /// Timeouts of that segment in a row.
    times: u32,
    round_end: u64,
    /// What [`AckEvent::ends_window`](fanin_core::roles::AckEvent) goes by: `nxt` of then, which a timeout takes back, and
    /// not the highest number sent, as `round_end`.
    window_end: u64,
    /// The window was reduced for data up to this; one reduction per round trip (RFC 3168 section 6.1.2).
    cwr_end: u64,
    high_rxt: u64,
    rescue_rxt: Option<u64>,
    pace_next: Time,
    /// When the last packet left that was paced.
    paced_at: Time,
    /// The sender of Linux, where it is on.
    linux: Option<Box<Linux>>,
    /// What Linux had before RACK, where it is on.
    tail: Option<Tail>,
    /// In ns-3.44 without SACK: what duplicates are taken for.
    guesses: Option<Box<Guesses>>,
    /// In ns-3.44 with SACK: which segments are lost, and which were sent again.
    marks: Option<Box<Marks>>,
    /// In ns-3.36: the reduction of the window, where it takes a while.
    reduction: Option<Box<RateReduction>>,
    syn_timeouts: u32,
    /// [`Sender::know_open_path`].
    open_rtt: Option<Time>,
    /// [`CongestionControl::asks`].
    asks: Asks,
}

const _: () = assert!(std::mem::offset_of!(Sender, recover) <= 256);

/// The end of an endless stream.
const ENDLESS: u64 = u64::MAX / 2;

/// Whether it notes when each segment is sent.
fn times_segments(cfg: &SenderConfig, asks: Asks) -> bool {
    cfg.quirks.rtt_of != RttOf::Cause || (asks.delays && cfg.sack && cfg.linux.is_none())
}

/// What limits it.
fn limit_of(obeys_peer: bool, asks: Asks) -> Limit {
    match (obeys_peer, asks.repairs) {
        (true, _) => Limit::Peer,
        (false, true) => Limit::Exact,
        (false, false) => Limit::Windows,
    }
}

impl Sender {
    /// A closed sender without data.
    pub fn new(cfg: &SenderConfig, cc: Box<dyn CongestionControl>, ecn: EcnMode) -> Self {
        let asks = cc.asks();
        Self {
            una: 0,
            nxt: 0,
            max_sent: 0,
            data_end: FIRST_DATA,
            window: CongestionWindow { cwnd: cfg.initial_window as f64, ssthresh: cfg.initial_ssthresh as f64 },
            peer_edge: FIRST_DATA,
            packet: PacketFacts { ect: ecn != EcnMode::Off, ..PacketFacts::default() },
            limit: limit_of(cc.obeys_peer(), asks),
            push_is_only_a_request: cc.push_is_only_a_request(),
            asks,
            heeds_option: asks.needs_option(),
            marks_segments: Flags::NONE.with_if(Flags::OPTION, asks.telemetry),
            cc,
            estimator: RtoEstimator::new(),
            deadline: Time::NEVER,
            timer_at: Time::NEVER,
            recover: 0,
            most_in_flight: 0,
            next_end: 0,
            round_end: 0,
            window_end: 0,
            dup_acks: 0,
            recovery: if cfg.linux.is_some() { Recovery::Linux } else { Recovery::Open },
            state: State::Closed,
            fin: false,
            ecn,
            cwr_pending: false,
            cwr_end: 0,
            growth: Growth::Free,
            limited_bytes: 0,
            last_sent: Time::ZERO,
            pace_next: Time::ZERO,
            paced_at: Time::ZERO,
            resumes: Time::NEVER,
            wake_at: Time::NEVER,
            wake_armed: Time::NEVER,
            syn_timeouts: 0,
            open_rtt: None,
            timed_out: 0,
            times: 0,
            probes: 0,
            scoreboard: (cfg.sack && cfg.linux.is_none()).then(Box::default),
            high_rxt: 0,
            rescue_rxt: None,
            silent: false,
            owns_window: false,
            resend_waits: false,
            history: times_segments(cfg, asks).then(|| Box::new(History::new(cfg.quirks.rtt_of))),
            guesses: (cfg.quirks.recovery == LossRecovery::Ns3_44 && !cfg.sack).then(Box::default),
            marks: (cfg.quirks.recovery == LossRecovery::Ns3_44 && cfg.sack)
                .then(|| Box::new(Marks::new(cfg.quirks.ns3.lost_goes_first))),
            reduction: cfg.quirks.ns3.reduces_in_proportion.then(Box::default),
            interface: cfg.interface.is_some().then(Box::default),
            linux: cfg.linux.is_some().then(|| Box::new(Linux::new(cfg))),
            tail: cfg.before_rack.map(|_| Tail::default()),
            retransmissions: 0,
            segments_sent: 0,
        }
    }

    /// The application gives `bytes` more (none: endless data), and closes the stream after them if `fin`.
    pub fn push_data(&mut self, bytes: Option<u64>, fin: bool) {
        if let Some(interface) = &mut self.interface
            && self.nxt >= self.data_end
        {
            interface.buffered_from = self.data_end;
        }
        self.data_end = bytes.map_or(ENDLESS, |bytes| self.data_end + bytes);
        self.fin = fin;
    }

    /// The application closes an endless stream: it ends with the next full segment.
    pub fn close<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        // Something is left to send, so that what has arrived is not the end yet.
        self.data_end = self.max_sent.max(FIRST_DATA) + env.cfg.mss;
        self.on_data_ready(env);
    }

    /// The application closes the stream after it has written its data: what is sent already does not carry the FIN any more
    /// (Linux, `tcp_send_fin`).
    pub fn close_after_writing<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.fin = true;
        self.send(env);
    }

    /// Announces to congestion control the transfer whose data follow with the next [`Sender::push_data`].
    pub fn announce(&mut self, bytes: Option<u64>, deadline: Option<Time>) {
        self.cc.on_transfer(&TransferFacts { first: self.data_end, bytes, deadline });
    }

    /// One past the last sequence number of the stream so far, its FIN included.
    #[inline(always)]
    pub(crate) fn stream_end(&self) -> u64 {
        self.data_end + u64::from(self.fin)
    }

    /// One past the last byte from the application.
    pub fn data_end(&self) -> u64 {
        self.data_end
    }

    /// Whether a FIN follows the data.
    fn closing(&self) -> bool {
        self.fin
    }

    /// First unacknowledged sequence number.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Next sequence number to send.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// One past the highest sequence number ever sent.
    pub fn max_sent(&self) -> u64 {
        self.max_sent
    }

    /// Bytes sent and not acknowledged.
    #[inline(always)]
    pub fn in_flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// The most bytes that were outstanding in the present round trip, as of its last acknowledgement.
    pub fn most_in_flight(&self) -> u64 {
        self.most_in_flight
    }

    /// Whether its receiver's window admits no further segment of `mss` bytes.
    pub fn fills_peer_window(&self, mss: u64) -> bool {
        self.nxt + mss > self.peer_edge
    }

    /// The congestion window.
    pub fn window(&self) -> CongestionWindow {
        self.window
    }

    /// Sets a window that no algorithm has set, for tests of who notices one that must never be.
    #[cfg(any(test, feature = "testing"))]
    pub fn forge_window(&mut self, cwnd: f64) {
        self.window.cwnd = cwnd;
    }

    /// The least round-trip time, as Linux knows it.
    #[cfg(test)]
    pub(crate) fn least_rtt(&self) -> Option<Time> {
        self.linux.as_ref().and_then(|linux| linux.least_rtt())
    }

    /// When the timer expires; never, if it is stopped.
    pub fn deadline(&self) -> Time {
        self.deadline
    }
    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether nothing comes of this sender any more unless it is given data: all that it sent is acknowledged, and no
    /// timer that means something is pending.
    pub fn is_quiet(&self) -> bool {
        let no_timer = self.deadline.is_never();
        match self.state {
            State::Finished => no_timer,
            State::Established => {
                let done = self.una == self.max_sent && self.una == self.stream_end();
                done && no_timer && self.wake_at.is_never() && self.resumes.is_never() && !self.holds()
            }
            State::Closed | State::SynSent | State::Failed => false,
        }
    }

    /// [`CongestionControl::obeys_peer`].
    #[inline(always)]
    fn obeys_peer(&self) -> bool {
        self.limit == Limit::Peer
    }

    /// Whether loss recovery is in progress.
    pub fn in_recovery(&self) -> bool {
        match self.recovery {
            Recovery::Open => false,
            Recovery::NewReno { .. } | Recovery::Sack => true,
            Recovery::Linux => self.linux.as_ref().is_some_and(|linux| linux.state() == CaState::Recovery),
        }
    }

    /// Duplicate acknowledgements since the last new one.
    pub fn duplicate_acks(&self) -> u32 {
        self.dup_acks
    }

    /// The congestion control algorithm.
    pub fn congestion_control(&self) -> &dyn CongestionControl {
        &*self.cc
    }

    /// Smoothed round-trip time, once measured.
    pub fn srtt(&self) -> Option<Time> {
        self.estimator.srtt()
    }

    #[inline(always)]
    fn with_cc<I: SenderIo, R>(
        &mut self,
        env: &Env<'_, I>,
        call: impl FnOnce(&mut dyn CongestionControl, &mut SenderCx<'_>) -> R,
    ) -> R {
        let in_flight = self.in_flight();
        self.with_cc_flight(in_flight, env, call)
    }

    #[inline(always)]
    fn with_cc_flight<I: SenderIo, R>(
        &mut self,
        in_flight: u64,
        env: &Env<'_, I>,
        call: impl FnOnce(&mut dyn CongestionControl, &mut SenderCx<'_>) -> R,
    ) -> R {
        let mut cx = SenderCx {
            now: env.now,
            mss: real(env.cfg.mss),
            in_flight,
            una: self.una,
            nxt: self.next_number(),
            max_sent: self.max_sent,
            srtt: self.estimator.srtt(),
            window: &mut self.window,
            packet: &mut self.packet,
            wake: &mut self.wake_at,
            counting: env.cfg.counting,
        };
        call(&mut *self.cc, &mut cx)
    }
}
