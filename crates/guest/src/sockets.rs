//! The transfers: sockets of all hosts in one program, which waits for all of them at once.

use crate::info::{Info, counters, loss_probes, tcp_info, window};
use crate::network::{Node, address, faults_count_from};
use crate::openflow::Switches;
use fanin_engine::backend::{Act, Carrier, Ending, Happening, LISTENING, Line, Seen, State, What, Window};
use fanin_engine::ids::TransferId;
use fanin_engine::units::Time;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddrV4};

/// The mark of the timer among the sockets.
const TIMER: u64 = u64::MAX;
/// Set in the mark of a socket that listens.
const LISTENS: u64 = 1 << 62;
/// Bytes that are written or read at once.
const PIECE: usize = 1 << 18;
/// Rounds of waiting after which the log is written down, which has room for far more.
const ROUNDS_PER_DRAIN: u32 = 512;
/// When connections are opened at the earliest, on the kernel's clock. It starts at zero, and a SYN that was sent in its first
/// microsecond gives no round-trip time (`tcp_clean_rtx_queue` takes a time of zero for none).
const OPENING: u64 = 100_000_000;
/// How long connections are idle before a run, so that no timer of theirs is left.
const SETTLING: u64 = 1_000_000_000;

/// What the ports of switches have counted beside TCP: packets by PFDCT's class.
const TAGGED: [&str; 3] = ["PortRetransmissions", "PortShortFlows", "PortLongFlows"];

/// Bytes that one end of a connection sends.
struct Message {
    transfer: TransferId,
    /// Bytes that have not been written; none without an end.
    unwritten: Option<u64>,
    /// Bytes that the other end has not read.
    unread: Option<u64>,
    is_request: bool,
    read: u64,
    /// What the sender's kernel had counted before.
    before: Info,
    probes: u64,
}

/// One end of a connection.
struct End {
    socket: Socket,
    is_open: bool,
    /// Whether it waits until it can write.
    waits_to_write: bool,
}

struct Connection {
    line: Line,
    /// It could not be opened, or has broken.
    failed: bool,
    /// The client's end and the server's.
    ends: [Option<End>; 2],
    /// What each of them sends.
    messages: [VecDeque<Message>; 2],
}

impl Connection {
    fn is_open(&self) -> bool {
        self.ends.iter().all(|end| end.as_ref().is_some_and(|end| end.is_open))
    }
}

/// Linux as a carrier.
pub(crate) struct Sockets {
    nodes: Vec<Node>,
    congestion: Vec<&'static str>,
    epoll: Epoll,
    timer: TimerFd,
    listeners: Vec<(usize, usize, Socket)>,
    connections: Vec<Connection>,
    /// The connection of a client's node and port.
    by_port: BTreeMap<(u32, u16), usize>,
    /// The connection of a transfer, and the end that sends.
    sending: BTreeMap<TransferId, (usize, usize)>,
    ready: VecDeque<(u64, TransferId, What)>,
    /// Zero of the run on the kernel's clock.
    origin: u64,
    /// The latest time that was returned.
    last: Time,
    /// By node, the probes that have been told.
    probes: Vec<u64>,
    segments: u64,
    log: File,
    log_to: File,
    /// Switches that speak OpenFlow.
    switches: Option<Switches>,
    rounds: u32,
    piece: Vec<u8>,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Whether a connection has ended as a connection should not.
fn is_broken(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, HostUnreachable, TimedOut};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | HostUnreachable | TimedOut)
}

/// The kernel's clock in nanoseconds.
fn clock() -> u64 {
    let now = clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).expect("every kernel has this clock");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

impl Sockets {
    pub(crate) fn new(
        nodes: Vec<Node>,
        hosts: &[bool],
        congestion: Vec<&'static str>,
        log_to: File,
        switches: Option<Switches>,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::empty())?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER))?;
        let mut listeners = Vec::new();
        for (node, _) in hosts.iter().enumerate().filter(|(_, is_host)| **is_host) {
            nodes[node].enter()?;
            for (group, congestion) in congestion.iter().enumerate() {
                let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
                socket.set_tcp_congestion(congestion.as_bytes())?;
                socket.bind(&SockAddr::from(SocketAddrV4::new(address(node), LISTENING + group as u16)))?;
                socket.listen(65_535)?;
                epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLIN, LISTENS | listeners.len() as u64))?;
                listeners.push((node, group, socket));
            }
        }
        Ok(Self {
            probes: vec![0; nodes.len()],
            nodes,
            congestion,
            epoll,
            timer,
            listeners,
            connections: Vec::new(),
            by_port: BTreeMap::new(),
            sending: BTreeMap::new(),
            ready: VecDeque::new(),
            origin: 0,
            last: Time::ZERO,
            segments: 0,
            log: File::open("/proc/cable_log")?,
            log_to,
            switches,
            rounds: 0,
            piece: vec![0; PIECE],
        })
    }

    fn now(&self) -> Time {
        Time::from_ns(clock().saturating_sub(self.origin))
    }

    fn open(&mut self, line: Line) -> io::Result<()> {
        let client = line.client.index();
        self.nodes[client].enter()?;
        let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        socket.set_tcp_congestion(self.congestion[line.group.index()].as_bytes())?;
        socket.set_reuse_address(true)?;
        socket.set_tcp_nodelay(true)?;
        socket.bind(&SockAddr::from(SocketAddrV4::new(address(client), line.port())))?;
        let port = LISTENING + line.group.index() as u16;
        match socket.connect(&SockAddr::from(SocketAddrV4::new(address(line.server.index()), port))) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        let number = self.connections.len();
        self.epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLOUT, 2 * number as u64))?;
        self.by_port.insert((address(client).to_bits(), line.port()), number);
        let end = End { socket, is_open: false, waits_to_write: true };
        self.connections.push(Connection {
            line,
            failed: false,
            ends: [Some(end), None],
            messages: Default::default(),
        });
        Ok(())
    }

    fn accept(&mut self, listener: usize) -> io::Result<()> {
        loop {
            let (socket, from) = match self.listeners[listener].2.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            let from = from.as_socket_ipv4().ok_or_else(|| io::Error::other("no IPv4 address"))?;
            let Some(number) = self.by_port.get(&(from.ip().to_bits(), from.port())).copied() else { continue };
            socket.set_nonblocking(true)?;
            socket.set_tcp_nodelay(true)?;
            self.epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLIN, 2 * number as u64 + 1))?;
            self.connections[number].ends[1] = Some(End { socket, is_open: true, waits_to_write: false });
            self.write(number, 1)?;
            self.read(number, 1)?;
        }
    }

    /// Puts a message into the queue of an end, and writes what can be written.
    fn send(&mut self, connection: usize, end: usize, message: Message) -> io::Result<()> {
        if self.connections[connection].failed {
            self.ready.push_back((clock(), message.transfer, What::Failed(State::default())));
            return Ok(());
        }
        self.sending.insert(message.transfer, (connection, end));
        self.connections[connection].messages[end].push_back(message);
        self.write(connection, end)
    }

    fn message(
        &mut self,
        transfer: TransferId,
        connection: usize,
        end: usize,
        bytes: Option<u64>,
    ) -> io::Result<Message> {
        let Connection { ends, .. } = &self.connections[connection];
        let before = ends[end].as_ref().map(|end| tcp_info(&end.socket)).transpose()?.unwrap_or_default();
        Ok(Message { transfer, unwritten: bytes, unread: bytes, is_request: false, read: 0, before, probes: 0 })
    }

    /// Writes what an end has to send, as far as the kernel takes it.
    fn write(&mut self, number: usize, which: usize) -> io::Result<()> {
        let Connection { line, ends, messages, .. } = &mut self.connections[number];
        let Some(end) = ends[which].as_mut().filter(|end| end.is_open) else { return Ok(()) };
        let mut full = false;
        for message in &mut messages[which] {
            while !full && message.unwritten != Some(0) {
                let piece = message.unwritten.map_or(PIECE, |left| PIECE.min(left as usize));
                match (&end.socket).write(&self.piece[..piece]) {
                    Ok(written) => message.unwritten = message.unwritten.map(|left| left - written as u64),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => full = true,
                    Err(error) if is_broken(&error) => return self.fail(number),
                    Err(error) => return Err(error),
                }
            }
        }
        // A server closes after its answer, and a client that only sends after its data.
        let is_last = messages[which].back().is_some_and(|message| !message.is_request && message.unwritten == Some(0));
        if line.fresh && is_last && !full {
            end.socket.shutdown(Shutdown::Write)?;
        }
        if full != end.waits_to_write {
            end.waits_to_write = full;
            let wanted = if full { EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN };
            let mut event = EpollEvent::new(wanted, 2 * number as u64 + which as u64);
            self.epoll.modify(&end.socket, &mut event)?;
        }
        Ok(())
    }

    /// Reads what has arrived at an end.
    fn read(&mut self, number: usize, which: usize) -> io::Result<()> {
        loop {
            let Connection { ends, messages, .. } = &mut self.connections[number];
            let Some(end) = &ends[which] else { return Ok(()) };
            let size = match (&end.socket).read(&mut self.piece) {
                Ok(0) => {
                    // The other end sends no more: that is how endless data end.
                    self.epoll.delete(&end.socket)?;
                    let endless = messages[1 - which].front().filter(|message| message.unread.is_none());
                    let Some(transfer) = endless.map(|message| message.transfer) else { return Ok(()) };
                    return self.on_arrived(number, 1 - which, transfer);
                }
                Ok(size) => size,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if is_broken(&error) => return self.fail(number),
                Err(error) => return Err(error),
            };
            let mut size = size as u64;
            let mut arrived = Vec::new();
            for message in &mut messages[1 - which] {
                let taken = message.unread.map_or(size, |unread| unread.min(size));
                message.read += taken;
                message.unread = message.unread.map(|unread| unread - taken);
                size -= taken;
                if message.unread == Some(0) && taken > 0 {
                    arrived.push(message.transfer);
                }
            }
            for transfer in arrived {
                self.on_arrived(number, 1 - which, transfer)?;
            }
        }
    }

    /// All bytes of the first message of an end have arrived.
    fn on_arrived(&mut self, number: usize, sender: usize, transfer: TransferId) -> io::Result<()> {
        let state = self.state(number, sender, transfer)?;
        let Connection { line, messages, .. } = &mut self.connections[number];
        let Some(message) = messages[sender].pop_front() else { return Ok(()) };
        let what = if message.is_request { What::Asked(state) } else { What::Completed(state) };
        self.ready.push_back((clock(), transfer, what));
        if line.fresh && !message.is_request {
            self.close(number)?;
        }
        Ok(())
    }

    /// Closes both ends; their kernels finish the connection.
    fn close(&mut self, number: usize) -> io::Result<()> {
        for end in std::mem::take(&mut self.connections[number].ends).into_iter().flatten() {
            self.segments += tcp_info(&end.socket)?.segments_received;
        }
        Ok(())
    }

    /// What is known of a message.
    fn state(&mut self, number: usize, sender: usize, transfer: TransferId) -> io::Result<State> {
        let Connection { line, ends, messages, .. } = &mut self.connections[number];
        let node = [line.client, line.server][sender].index();
        let Some(message) = messages[sender].iter_mut().find(|message| message.transfer == transfer) else {
            return Ok(State::default());
        };
        let now = ends[sender].as_ref().map(|end| tcp_info(&end.socket)).transpose()?.unwrap_or(message.before);
        // A host tells its probes together: they count for the transfer that is looked at first.
        let probes = loss_probes(&self.nodes[node].counters)?;
        message.probes += probes - self.probes[node];
        self.probes[node] = probes;
        Ok(State {
            delivered: if message.is_request { 0 } else { message.read },
            retransmissions: now.retransmissions - message.before.retransmissions,
            timeouts: now.timeouts - message.before.timeouts,
            // The kernel has been seen to tell less at the end of a message than at its beginning.
            timer_wait: Time::from_ms(now.timeout_ms.saturating_sub(message.before.timeout_ms)),
            loss_probes: message.probes,
        })
    }

    /// Writes the log down.
    fn drain(&mut self) -> io::Result<()> {
        loop {
            let size = self.log.read(&mut self.piece)?;
            if size == 0 {
                return Ok(());
            }
            self.log_to.write_all(&self.piece[..size])?;
        }
    }

    /// Waits for sockets, or for the timer; returns whether that has expired.
    fn poll(&mut self) -> io::Result<bool> {
        let mut events = [EpollEvent::empty(); 64];
        let count = self.epoll.wait(&mut events, EpollTimeout::NONE)?;
        let mut expired = false;
        for event in &events[..count] {
            let mark = event.data();
            if mark == TIMER {
                expired = true;
            } else if mark & LISTENS != 0 {
                self.accept((mark & !LISTENS) as usize)?;
            } else {
                self.on_socket((mark / 2) as usize, (mark % 2) as usize, event.events())?;
            }
        }
        self.rounds += 1;
        if self.rounds >= ROUNDS_PER_DRAIN {
            self.rounds = 0;
            self.drain()?;
        }
        Ok(expired)
    }

    fn on_socket(&mut self, number: usize, which: usize, events: EpollFlags) -> io::Result<()> {
        let Some(end) = &mut self.connections[number].ends[which] else { return Ok(()) };
        if events.contains(EpollFlags::EPOLLERR) {
            return self.fail(number);
        }
        if !end.is_open && events.contains(EpollFlags::EPOLLOUT) {
            end.is_open = true;
        }
        if events.contains(EpollFlags::EPOLLOUT) {
            self.write(number, which)?;
        }
        if events.intersects(EpollFlags::EPOLLIN | EpollFlags::EPOLLHUP) {
            self.read(number, which)?;
        }
        Ok(())
    }

    /// A connection could not be opened, or has broken.
    fn fail(&mut self, number: usize) -> io::Result<()> {
        self.connections[number].failed = true;
        for sender in 0..2 {
            let waiting: Vec<TransferId> =
                self.connections[number].messages[sender].iter().map(|message| message.transfer).collect();
            for transfer in waiting {
                let state = self.state(number, sender, transfer)?;
                self.ready.push_back((clock(), transfer, What::Failed(state)));
            }
            self.connections[number].messages[sender].clear();
        }
        self.close(number)
    }

    /// Lets the timer expire at a time of the kernel's clock.
    fn set_timer(&self, at: u64) -> io::Result<()> {
        let at = TimeSpec::new((at / 1_000_000_000) as i64, (at % 1_000_000_000) as i64);
        Ok(self.timer.set(Expiration::OneShot(at), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?)
    }

    fn sleep_until(&mut self, at: u64) -> io::Result<()> {
        self.set_timer(at)?;
        while clock() < at {
            self.poll()?;
        }
        Ok(self.timer.unset()?)
    }

    /// Opens these connections, waits until they are open and idle, and begins. One is opened after another, so that none waits
    /// for others: the least round-trip time that TCP keeps is then that of its idle path. TCP counts whole microseconds, so
    /// each begins with one; a fraction would make that time longer by one.
    fn start(&mut self, lines: &[Line]) -> io::Result<()> {
        self.sleep_until(OPENING)?;
        for (number, line) in lines.iter().enumerate() {
            self.sleep_until((clock() + 1).next_multiple_of(1000))?;
            self.open(*line)?;
            while !self.connections[number].is_open() {
                self.poll()?;
            }
        }
        // On a whole second, so that timers have the same phase in all runs.
        self.origin = (clock() + SETTLING).next_multiple_of(1_000_000_000);
        faults_count_from(self.origin)?;
        if let Some(switches) = &self.switches {
            switches.begin()?;
        }
        self.sleep_until(self.origin)
    }

    fn take(&mut self, until: Time) -> io::Result<Option<Happening>> {
        loop {
            if let Some((at, transfer, what)) = self.ready.front().copied() {
                // Later than all before, also where several things happen at once.
                let next = Time::from_ps(self.last.ps() + 1);
                let at = Time::from_ns(at.saturating_sub(self.origin)).max(next);
                if at > until {
                    return Ok(None);
                }
                self.last = at;
                self.ready.pop_front();
                return Ok(Some(Happening { at, transfer, what }));
            }
            if self.now() >= until {
                self.last = self.last.max(until);
                return Ok(None);
            }
            self.set_timer(self.origin + until.ps().div_ceil(1000))?;
            self.poll()?;
        }
    }
}

impl Carrier for Sockets {
    fn begin(&mut self, lines: &[Line]) -> Result<u64, String> {
        self.start(lines).map_err(text)?;
        Ok(self.origin)
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Open(line) => self.open(line),
            Act::Ask(transfer, connection, bytes) => {
                self.say(connection, 0, Some(bytes), None).map_err(text)?;
                let message = self.message(transfer, connection, 0, Some(bytes)).map_err(text)?;
                self.send(connection, 0, Message { is_request: true, ..message })
            }
            Act::Send { transfer, line, bytes, by_client, deadline } => {
                let end = usize::from(!by_client);
                self.say(line, end, bytes, deadline).map_err(text)?;
                let message = self.message(transfer, line, end, bytes).map_err(text)?;
                self.send(line, end, message)
            }
            Act::Stop(transfer) => self.stop(transfer),
        }
        .map_err(text)
    }

    fn wait(&mut self, until: Time) -> Result<Option<Happening>, String> {
        self.take(until).map_err(text)
    }

    fn states(&mut self, transfers: &[TransferId]) -> Result<Vec<State>, String> {
        let state = |id: &TransferId| match self.sending.get(id).copied() {
            Some((connection, end)) => self.state(connection, end, *id).map_err(text),
            None => Ok(State::default()),
        };
        transfers.iter().map(state).collect()
    }

    fn windows(&mut self, senders: &[(usize, bool)]) -> Result<Vec<Window>, String> {
        let of = |(line, by_client): &(usize, bool)| match &self.connections[*line].ends[usize::from(!by_client)] {
            Some(end) => window(&end.socket).map_err(text),
            None => Ok(Window::default()),
        };
        senders.iter().map(of).collect()
    }

    fn packets(&mut self, _: Time) -> Result<Vec<Seen>, String> {
        Ok(Vec::new())
    }

    fn end(&mut self) -> Result<Ending, String> {
        // Before connections are closed, which counts too.
        let mut counters = self.counters().map_err(text)?;
        for number in 0..self.connections.len() {
            self.close(number).map_err(text)?;
        }
        self.drain().map_err(text)?;
        let ends = std::fs::read_to_string("/proc/cable_ends").map_err(text)?;
        let mut links = Vec::new();
        let mut tagged = TAGGED.map(|name| (name, 0));
        for line in ends.lines() {
            let numbers: Vec<u64> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
            let &[_, packets, bytes, _, _, again, short, long] = numbers.as_slice() else {
                return Err(format!("/proc/cable_ends: {line}"));
            };
            links.push((packets, bytes));
            for (sum, more) in tagged.iter_mut().zip([again, short, long]) {
                sum.1 += more;
            }
        }
        counters.extend(tagged.into_iter().filter(|(_, packets)| *packets > 0).map(|(name, of)| (name.to_owned(), of)));
        if self.switches.is_some() {
            counters.extend(Switches::counters().map_err(text)?);
        }
        Ok(Ending { segments: self.segments, links, counters })
    }
}

impl Sockets {
    /// The counters of all hosts together that are not zero, by name.
    fn counters(&self) -> io::Result<Vec<(String, u64)>> {
        let mut sums = BTreeMap::new();
        for node in &self.nodes {
            for (name, value) in counters(&node.counters)?.into_iter().filter(|(_, value)| *value > 0) {
                *sums.entry(name).or_insert(0) += value;
            }
        }
        Ok(sums.into_iter().collect())
    }

    /// Says by its socket's mark what a congestion control wants to know of what an end sends next: the deadline, as
    /// `linux/modules/tcp_d2tcp.c` reads it, or how many bytes there are, as `linux/modules/tcp_pfdct.c` does.
    fn say(&mut self, number: usize, which: usize, bytes: Option<u64>, deadline: Option<Time>) -> io::Result<()> {
        let Connection { line, ends, .. } = &self.connections[number];
        let Some(end) = &ends[which] else { return Ok(()) };
        match self.congestion[line.group.index()] {
            "d2tcp" => {
                end.socket.set_mark(deadline.map_or(0, |deadline| ((self.origin + deadline.ps() / 1000) / 1000) as u32))
            }
            "pfdct" => end.socket.set_mark(bytes.map_or(0, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX))),
            _ => Ok(()),
        }
    }

    /// The sender of endless data stops; what it has written is on its way.
    fn stop(&mut self, transfer: TransferId) -> io::Result<()> {
        let Some((number, which)) = self.sending.get(&transfer).copied() else { return Ok(()) };
        let Connection { messages, ends, .. } = &mut self.connections[number];
        let Some(message) = messages[which].iter_mut().find(|message| message.transfer == transfer) else {
            return Ok(());
        };
        message.unwritten = Some(0);
        if let Some(end) = &ends[which] {
            end.socket.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }
}
