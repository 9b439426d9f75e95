//! The states of recovery: `tcp_fastretrans_alert`, and what it asks.

use super::acks::News;
use super::{CaState, Linux, PERSIST, Pending, Reduction, Resend, tick};
use crate::sender::{Env, Sender, SenderIo};

impl Linux {
    /// `tcp_rack_reo_wnd`, in us.
    fn reordering_window(&self) -> u64 {
        if !self.reordering_seen && (self.state >= CaState::Recovery || self.board.sacked_out >= self.reordering) {
            return 0;
        }
        ((self.rtt.least >> 2) * self.rack.steps).min(self.rtt.eightfold().unwrap_or(0) >> 3)
    }

    /// `tcp_rack_detect_loss`: deems lost what was sent well before the newest segment that is delivered. Returns how long to
    /// wait for others, in us.
    pub(super) fn detect_losses(&mut self, now: u64) -> Option<u64> {
        let patience = (self.rack.rtt + self.reordering_window()) as i64;
        let (lost, wait) = self.board.detect(self.rack.newest, |sent| patience - now.saturating_sub(sent) as i64);
        self.lost += lost;
        wait
    }

    /// `tcp_rack_skb_timeout` without a reordering window: whether what was sent at `sent` is not overdue yet.
    pub(super) fn is_recent(&self, sent: u64, now: u64) -> bool {
        self.rack.rtt > now.saturating_sub(sent)
    }

    /// Deems the first segment lost on other evidence than time. Returns whether it was in flight.
    pub(super) fn deem_first_lost(&mut self) -> bool {
        let waits = self.state == CaState::Open && self.board.first().is_some_and(|first| !first.sacked && !first.lost);
        if waits && self.board.mark_lost(0) {
            self.lost += 1;
        }
        waits
    }
}

impl Sender {
    /// `tcp_fastretrans_alert`
    pub(super) fn alert<I: SenderIo>(&mut self, prior_una: u64, news: &mut News, env: &mut Env<'_, I>) -> Resend {
        let una = self.una;
        let linux = self.linux();
        if news.ece {
            linux.prior_ssthresh = None;
        }
        if linux.state == CaState::Open {
            linux.retrans_stamp = None;
        } else if una >= linux.high_seq {
            match linux.state {
                // Held until something above is acknowledged, so that the CWR has arrived.
                CaState::Cwr if una > linux.high_seq => {
                    self.end_reduction(tick(env));
                    self.linux().state = CaState::Open;
                }
                CaState::Recovery => {
                    self.try_undo_recovery(env);
                    self.end_reduction(tick(env));
                }
                _ => {}
            }
        }
        match self.linux().state {
            CaState::Recovery => {
                if news.advanced && self.try_undo_partial(prior_una, env) {
                    return Resend::Nothing;
                }
                if self.try_undo_dsack(env) {
                    self.try_to_open(news, env);
                }
                self.identify_losses(news, env);
                if self.linux().state != CaState::Recovery {
                    if self.linux().board.lost_out == 0 {
                        return Resend::Nothing;
                    }
                    self.enter_linux_recovery(news.ece, env.cfg);
                }
                return Resend::Lost;
            }
            CaState::Loss => {
                let resend = self.process_loss(news, env);
                self.identify_losses(news, env);
                if self.linux().state != CaState::Open && !news.lost_retrans {
                    return resend;
                }
            }
            _ => {}
        }
        if self.linux().state <= CaState::Disorder {
            self.try_undo_dsack(env);
        }
        self.identify_losses(news, env);
        if self.linux().board.lost_out == 0 {
            self.try_to_open(news, env);
            return Resend::Nothing;
        }
        self.enter_linux_recovery(news.ece, env.cfg);
        Resend::Lost
    }

    /// `tcp_identify_packet_loss` and `tcp_rack_mark_lost`
    fn identify_losses<I: SenderIo>(&mut self, news: &mut News, env: &mut Env<'_, I>) {
        let now = env.now.us();
        let linux = self.linux();
        if linux.board.packets_out() == 0 || !std::mem::take(&mut linux.rack.advanced) {
            return;
        }
        let resent = linux.board.retrans_out;
        let wait = linux.detect_losses(now);
        news.lost_retrans |= resent > linux.board.retrans_out;
        if let Some(wait) = wait {
            self.arm_search(wait, env);
            news.rearm = false;
        }
    }

    /// `tcp_process_loss`
    fn process_loss<I: SenderIo>(&mut self, news: &News, env: &mut Env<'_, I>) -> Resend {
        let (una, nxt, ended) = (self.una, self.nxt, self.nxt >= self.stream_end());
        let room = self.peer_edge > nxt;
        let linux = self.linux();
        let recovered = una >= linux.high_seq;
        if news.advanced && self.try_undo_loss(false, env) {
            return Resend::Nothing;
        }
        let linux = self.linux();
        if linux.frto {
            // RFC 5682 s3.1, with SACK.
            if news.original && self.try_undo_loss(true, env) {
                return Resend::Nothing;
            }
            let linux = self.linux();
            let duplicate = !news.advanced && !news.not_duplicate();
            if nxt > linux.high_seq {
                if news.data_sacked || duplicate {
                    linux.frto = false;
                }
            } else if news.advanced && !recovered {
                linux.high_seq = nxt;
                if !ended && room {
                    return Resend::NewFirst;
                }
                linux.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(env);
            return Resend::Nothing;
        }
        Resend::Lost
    }

    fn try_undo_recovery<I>(&mut self, env: &Env<'_, I>) {
        if self.linux().may_undo() {
            self.undo_reduction(false, tick(env), env.cfg);
        } else {
            let linux = self.linux();
            linux.rack.persist = linux.rack.persist.saturating_sub(1);
        }
        self.linux().state = CaState::Open;
    }

    fn try_undo_loss<I>(&mut self, spurious: bool, env: &Env<'_, I>) -> bool {
        if !spurious && !self.linux().may_undo() {
            return false;
        }
        self.undo_reduction(true, tick(env), env.cfg);
        let linux = self.linux();
        linux.retransmits = 0;
        linux.state = CaState::Open;
        true
    }

    /// `tcp_try_undo_partial`: a hole is filled by a packet that was late. Returns whether to wait for retransmissions.
    fn try_undo_partial<I>(&mut self, prior_una: u64, env: &Env<'_, I>) -> bool {
        let una = self.una;
        let linux = self.linux();
        if linux.undo_marker.is_none() || !linux.was_delayed() {
            return false;
        }
        linux.check_reordering(prior_una, una, env.cfg.mss);
        if linux.board.retrans_out > 0 {
            return true;
        }
        if !linux.board.any_resent() {
            linux.retrans_stamp = None;
        }
        self.undo_reduction(true, tick(env), env.cfg);
        self.keep_open();
        false
    }

    fn try_undo_dsack<I>(&mut self, env: &Env<'_, I>) -> bool {
        let linux = self.linux();
        if linux.undo_marker.is_none() || linux.undo_retrans != Some(0) {
            return false;
        }
        linux.rack.persist = (linux.rack.persist + 1).min(PERSIST);
        self.undo_reduction(false, tick(env), env.cfg);
        true
    }

    fn try_to_open<I>(&mut self, news: &News, env: &Env<'_, I>) {
        let linux = self.linux();
        if !linux.board.any_resent() {
            linux.retrans_stamp = None;
        }
        if news.ece {
            self.enter_cwr(env.cfg);
        }
        if self.linux().state != CaState::Cwr {
            self.keep_open();
        }
    }

    /// `tcp_try_keep_open`
    fn keep_open(&mut self) {
        let nxt = self.nxt;
        let linux = self.linux();
        let disorder = linux.board.left_out() > 0 || linux.board.any_resent();
        let state = if disorder { CaState::Disorder } else { CaState::Open };
        if linux.state != state {
            linux.state = state;
            linux.high_seq = nxt;
        }
    }

    /// `tcp_process_tlp_ack`
    pub(super) fn on_probe_ack<I: SenderIo>(&mut self, news: &News, env: &mut Env<'_, I>) {
        let una = self.una;
        let linux = self.linux();
        let Some((high, again)) = linux.probe.filter(|(high, _)| una >= *high) else { return };
        if !again || news.dsack_of_probe {
            linux.probe = None;
        } else if una > high {
            // It repaired a loss that nothing else shows, which is congestion all the same.
            self.init_reduction(Reduction::Echo, env.cfg);
            self.reduce(env);
            self.linux().state = CaState::Cwr;
            self.end_reduction(tick(env));
            self.keep_open();
        } else if !news.advanced && !news.not_duplicate() && !news.data_sacked {
            linux.probe = None;
        }
    }

    /// `tcp_rack_reo_timeout`: segments that might only have been late are overdue.
    pub(super) fn on_search_timer<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let now = env.now.us();
        let linux = self.linux();
        let (in_flight, lost) = (linux.board.in_flight(), linux.lost);
        linux.detect_losses(now);
        if in_flight != linux.board.in_flight() {
            if linux.state != CaState::Recovery {
                self.enter_linux_recovery(false, env.cfg);
                self.reduce(env);
                let lost = self.linux().lost - lost;
                self.pace_reduction(1, lost, false, env.cfg);
            }
            self.resend_lost(env);
        }
        if self.linux().pending != Some(Pending::Retransmission) {
            self.rearm_retransmission(env);
        }
    }
}
