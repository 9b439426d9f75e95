//! What a kernel tells of a connection, and of the connections of a host.

use fanin_engine::backend::Window;
use fanin_engine::units::Time;
use socket2::Socket;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// `struct tcp_info` of Linux 6.12 (include/uapi/linux/tcp.h), of which a kernel fills as much as it knows.
const SIZE: usize = 248;

/// The slow-start threshold of a sender that has none yet (include/net/tcp.h).
const INFINITE: u64 = 0x7FFF_FFFF;

/// The state of a connection that has been asked for (`TCP_SYN_SENT`).
const SYN_SENT: u8 = 2;

/// What is told of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Info {
    pub(crate) retransmissions: u64,
    pub(crate) segments_received: u64,
    pub(crate) timeouts: u32,
    /// Milliseconds in recovery from timeouts.
    pub(crate) timeout_ms: u64,
}

/// `struct tcp_info` of a connection.
#[expect(unsafe_code, reason = "no crate has this call for the fields of this kernel")]
fn tcp_info_bytes(socket: &Socket) -> io::Result<[u8; SIZE]> {
    let mut bytes = [0_u8; SIZE];
    let mut size = SIZE as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes, and `bytes` has so many.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(bytes)
}

/// A field of 32 bits at this offset.
fn word(bytes: &[u8; SIZE], at: usize) -> u64 {
    u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

pub(crate) fn tcp_info(socket: &Socket) -> io::Result<Info> {
    let bytes = tcp_info_bytes(socket)?;
    Ok(Info {
        retransmissions: word(&bytes, 100),
        segments_received: word(&bytes, 152),
        timeouts: u32::from(u16::from_le_bytes([bytes[240], bytes[241]])),
        timeout_ms: word(&bytes, 244),
    })
}

/// What a sender has in its mind. The kernel counts in segments and microseconds.
pub(crate) fn window(socket: &Socket) -> io::Result<Window> {
    let bytes = tcp_info_bytes(socket)?;
    if bytes[0] == SYN_SENT {
        // It knows neither its segments nor its first window.
        return Ok(Window::default());
    }
    let [rto, mss, unacked, sacked, lost, retransmitted, srtt, ssthresh, cwnd, allowed] =
        [8, 16, 24, 28, 32, 36, 68, 76, 80, 228].map(|at| word(&bytes, at));
    Ok(Window {
        cwnd: cwnd * mss,
        ssthresh: if ssthresh >= INFINITE { u64::MAX } else { ssthresh * mss },
        in_flight: (unacked + retransmitted).saturating_sub(sacked + lost) * mss,
        srtt: Time::from_us(srtt),
        rto: Time::from_us(rto),
        allowed,
    })
}

/// Counters of a host so far: names and values of `TcpExt` in /proc/net/netstat.
pub(crate) fn counters(of: &File) -> io::Result<Vec<(String, u64)>> {
    let mut bytes = vec![0; 1 << 14];
    let size = of.read_at(&mut bytes, 0)?;
    let text = String::from_utf8_lossy(&bytes[..size]);
    let mut rows = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let (names, values) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
    let both = names.split_whitespace().zip(values.split_whitespace());
    Ok(both.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect())
}

/// Tail loss probes of a host so far.
pub(crate) fn loss_probes(of: &File) -> io::Result<u64> {
    let found = counters(of)?.into_iter().find(|(name, _)| name == "TCPLossProbes");
    found.map(|(_, value)| value).ok_or_else(|| io::Error::other("the kernel tells no TCPLossProbes"))
}
