//! The record of a run on a carrier: what happened to its transfers, as lines of text, and to its packets, as the kernel's
//! module logs them.

use super::{Act, Carrier, Ending, FIRST_ADDRESS, Fate, Happening, Line, Seen, State, What, Window};
use fanin_core::ids::{LinkId, NodeId, TransferId};
use fanin_core::packet::Flags;
use fanin_core::units::Time;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use thiserror::Error;

/// Writes down what a carrier tells.
pub struct Recorder<'a, C, W> {
    carrier: &'a mut C,
    to: W,
}

impl<'a, C: Carrier, W: Write> Recorder<'a, C, W> {
    /// Writes what `carrier` tells to `to`.
    pub fn new(carrier: &'a mut C, to: W) -> Self {
        Self { carrier, to }
    }

    fn write(&mut self, line: &str) -> Result<(), String> {
        self.to.write_all(line.as_bytes()).map_err(|error| format!("the record cannot be written: {error}"))
    }
}

fn numbers(state: &State) -> String {
    let State { delivered, retransmissions, timeouts, timer_wait, loss_probes } = state;
    format!("{delivered} {retransmissions} {timeouts} {} {loss_probes}", timer_wait.ps())
}

impl<C: Carrier, W: Write> Carrier for Recorder<'_, C, W> {
    fn begin(&mut self, lines: &[Line]) -> Result<u64, String> {
        let origin = self.carrier.begin(lines)?;
        self.write(&format!("begun {origin}\n"))?;
        Ok(origin)
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        self.carrier.act(act)
    }

    fn wait(&mut self, until: Time) -> Result<Option<Happening>, String> {
        let happening = self.carrier.wait(until)?;
        if let Some(Happening { at, transfer, what }) = &happening {
            let (word, state) = match what {
                What::Asked(state) => ("asked", state),
                What::Completed(state) => ("completed", state),
                What::Failed(state) => ("failed", state),
            };
            self.write(&format!("{word} {} {} {}\n", at.ps(), transfer.index(), numbers(state)))?;
        }
        Ok(happening)
    }

    fn states(&mut self, transfers: &[TransferId]) -> Result<Vec<State>, String> {
        let states = self.carrier.states(transfers)?;
        let mut lines = String::new();
        for state in &states {
            writeln!(lines, "state {}", numbers(state)).expect("a text grows");
        }
        self.write(&lines)?;
        Ok(states)
    }

    fn windows(&mut self, senders: &[(usize, bool)]) -> Result<Vec<Window>, String> {
        let windows = self.carrier.windows(senders)?;
        let mut lines = String::new();
        for Window { cwnd, ssthresh, in_flight, srtt, rto, allowed } in &windows {
            let (srtt, rto) = (srtt.ps(), rto.ps());
            writeln!(lines, "window {cwnd} {ssthresh} {in_flight} {srtt} {rto} {allowed}").expect("a text grows");
        }
        self.write(&lines)?;
        Ok(windows)
    }

    fn packets(&mut self, until: Time) -> Result<Vec<Seen>, String> {
        self.carrier.packets(until)
    }

    fn end(&mut self) -> Result<Ending, String> {
        let ending = self.carrier.end()?;
        let mut lines = format!("ended {}\n", ending.segments);
        for (packets, bytes) in &ending.links {
            writeln!(lines, "link {packets} {bytes}").expect("a text grows");
        }
        for (name, value) in &ending.counters {
            writeln!(lines, "counter {name} {value}").expect("a text grows");
        }
        self.write(&lines)?;
        self.to.flush().map_err(|error| format!("the record cannot be written: {error}"))?;
        Ok(ending)
    }
}

/// A record that is no record of this run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadRecord {
    /// A line is not as expected.
    #[error("line {line} of the record of the kernel's run is {found:?}, where {wanted} should be")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What it says.
        found: String,
        /// What should be there.
        wanted: &'static str,
    },
    /// The log of packets is not whole.
    #[error("the log of packets of the kernel's run {0}")]
    Log(String),
}

/// A carrier that tells what was written down.
pub struct Playback<'a, R> {
    lines: Vec<&'a str>,
    /// The next line.
    next: usize,
    log: R,
    /// The next entry of the log, if it was read too early.
    upcoming: Option<Seen>,
    /// When the run began, in nanoseconds of the log.
    origin: u64,
    links: usize,
}

/// Bytes of an entry of the log; `struct cable_entry` in linux/modules/cable.h.
const ENTRY: usize = 32;

impl<'a, R: Read> Playback<'a, R> {
    /// The run that `record` and `log` tell, in a network of so many links. The log, which may be larger than memory, is read
    /// as the run goes on.
    pub fn new(record: &'a str, log: R, links: usize) -> Self {
        Self { lines: record.lines().collect(), next: 0, log, upcoming: None, origin: 0, links }
    }

    /// The next entry of the log, if there is one.
    fn next_entry(&mut self) -> Result<Option<Seen>, BadRecord> {
        let (mut entry, mut filled) = ([0; ENTRY], 0);
        while filled < ENTRY {
            match self.log.read(&mut entry[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(BadRecord::Log("ends within an entry".to_owned())),
                Ok(more) => filled += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(BadRecord::Log(format!("cannot be read: {error}"))),
            }
        }
        read_entry(&entry, self.origin, self.links).map(Some)
    }

    fn bad(&self, wanted: &'static str) -> String {
        let found = self.lines.get(self.next).copied().unwrap_or("the end").to_owned();
        BadRecord::Line { line: self.next + 1, found, wanted }.to_string()
    }

    /// The numbers of the next line, if it begins with this word.
    fn numbers(&self, word: &str) -> Option<Vec<u64>> {
        let rest = self.lines.get(self.next)?.strip_prefix(word)?;
        rest.split_whitespace().map(|number| number.parse().ok()).collect()
    }
}

fn state(numbers: &[u64]) -> Option<State> {
    let &[delivered, retransmissions, timeouts, timer_wait, loss_probes] = numbers else { return None };
    let timeouts = u32::try_from(timeouts).ok()?;
    Some(State { delivered, retransmissions, timeouts, timer_wait: Time::from_ps(timer_wait), loss_probes })
}

impl<R: Read> Carrier for Playback<'_, R> {
    fn begin(&mut self, _: &[Line]) -> Result<u64, String> {
        let Some(&[origin]) = self.numbers("begun").as_deref() else { return Err(self.bad("\"begun\"")) };
        self.origin = origin;
        self.next += 1;
        Ok(origin)
    }

    fn act(&mut self, _: Act) -> Result<(), String> {
        Ok(())
    }

    fn wait(&mut self, until: Time) -> Result<Option<Happening>, String> {
        for word in ["asked", "completed", "failed"] {
            let Some(numbers) = self.numbers(word) else { continue };
            let read = numbers.split_at_checked(2).and_then(|(head, rest)| Some((head, state(rest)?)));
            let Some((&[at, transfer], state)) = read else { return Err(self.bad("a happening")) };
            if Time::from_ps(at) > until {
                return Ok(None);
            }
            self.next += 1;
            let transfer = TransferId::new(transfer as usize);
            let what = match word {
                "asked" => What::Asked(state),
                "completed" => What::Completed(state),
                _ => What::Failed(state),
            };
            return Ok(Some(Happening { at: Time::from_ps(at), transfer, what }));
        }
        Ok(None)
    }

    fn states(&mut self, transfers: &[TransferId]) -> Result<Vec<State>, String> {
        let mut states = Vec::with_capacity(transfers.len());
        for _ in transfers {
            let read = self.numbers("state").and_then(|numbers| state(&numbers));
            states.push(read.ok_or_else(|| self.bad("a state"))?);
            self.next += 1;
        }
        Ok(states)
    }

    fn windows(&mut self, senders: &[(usize, bool)]) -> Result<Vec<Window>, String> {
        let mut windows = Vec::with_capacity(senders.len());
        for _ in senders {
            let Some(&[cwnd, ssthresh, in_flight, srtt, rto, allowed]) = self.numbers("window").as_deref() else {
                return Err(self.bad("a window"));
            };
            let [srtt, rto] = [srtt, rto].map(Time::from_ps);
            windows.push(Window { cwnd, ssthresh, in_flight, srtt, rto, allowed });
            self.next += 1;
        }
        Ok(windows)
    }

    fn packets(&mut self, until: Time) -> Result<Vec<Seen>, String> {
        let mut seen = Vec::new();
        loop {
            let next = match self.upcoming.take() {
                Some(entry) => Some(entry),
                None => self.next_entry().map_err(|error| error.to_string())?,
            };
            match next {
                Some(entry) if entry.at <= until => seen.push(entry),
                later => {
                    self.upcoming = later;
                    return Ok(seen);
                }
            }
        }
    }

    fn end(&mut self) -> Result<Ending, String> {
        let Some(&[segments]) = self.numbers("ended").as_deref() else { return Err(self.bad("\"ended\"")) };
        self.next += 1;
        let mut links = Vec::with_capacity(self.links);
        for _ in 0..self.links {
            let Some(&[packets, bytes]) = self.numbers("link").as_deref() else { return Err(self.bad("a link")) };
            links.push((packets, bytes));
            self.next += 1;
        }
        let mut counters = Vec::new();
        while let Some(rest) = self.lines.get(self.next).and_then(|line| line.strip_prefix("counter ")) {
            let read = rest.split_once(' ').and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
            counters.push(read.ok_or_else(|| self.bad("a counter"))?);
            self.next += 1;
        }
        Ok(Ending { segments, links, counters })
    }
}

fn read_entry(entry: &[u8; ENTRY], origin: u64, links: usize) -> Result<Seen, BadRecord> {
    let half = |at: usize| u16::from_le_bytes([entry[at], entry[at + 1]]);
    let word = |at: usize| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
    let swapped = |at: usize| u32::from_be_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
    let port = |at: usize| u16::from_be_bytes([entry[at], entry[at + 1]]);
    let (head, _) = entry.split_first_chunk::<8>().expect("an entry is longer");
    let at = Time::from_ns(u64::from_le_bytes(*head).saturating_sub(origin));
    let fate = match entry[12] {
        0 => return Err(BadRecord::Log(format!("lacks {} entries", half(14)))),
        1 => Fate::Queued,
        2 => Fate::Sent,
        3 => Fate::Dropped,
        4 => Fate::Marked,
        5 => Fate::Opened,
        6 => Fate::Lost,
        7 => Fate::Refused,
        other => return Err(BadRecord::Log(format!("has an event {other}"))),
    };
    let link = word(8) as usize;
    if link >= links {
        return Err(BadRecord::Log(format!("has a link {link}")));
    }
    let host = |at: usize| NodeId::new(swapped(at).wrapping_sub(FIRST_ADDRESS) as usize);
    Ok(Seen {
        at,
        link: LinkId::new(link),
        fate,
        size: half(14),
        from: host(16),
        to: host(20),
        ports: [port(24), port(26)],
        seq: word(28),
        flags: Flags::of_tcp_byte(entry[13]),
    })
}
