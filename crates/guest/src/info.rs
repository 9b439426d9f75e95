//! What a kernel tells of a connection, and of the connections of a host.

use socket2::Socket;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// `struct tcp_info` of Linux 6.12 (include/uapi/linux/tcp.h), of which a kernel fills as much as it knows.
const SIZE: usize = 248;

/// What is told of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Info {
    pub(crate) retransmissions: u64,
    pub(crate) segments_received: u64,
    pub(crate) timeouts: u32,
    /// Milliseconds in recovery from timeouts.
    pub(crate) timeout_ms: u64,
}

#[expect(unsafe_code, reason = "no crate has this call for the fields of this kernel")]
pub(crate) fn tcp_info(socket: &Socket) -> io::Result<Info> {
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
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Ok(Info {
        retransmissions: u64::from(word(100)),
        segments_received: u64::from(word(152)),
        timeouts: u32::from(u16::from_le_bytes([bytes[240], bytes[241]])),
        timeout_ms: u64::from(word(244)),
    })
}

/// Tail loss probes of a host so far: `TcpExt: TCPLossProbes` of /proc/net/netstat.
pub(crate) fn loss_probes(counters: &File) -> io::Result<u64> {
    let mut bytes = vec![0; 1 << 14];
    let size = counters.read_at(&mut bytes, 0)?;
    let text = String::from_utf8_lossy(&bytes[..size]);
    let mut rows = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, values) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
    let mut both = names.split_whitespace().zip(values.split_whitespace());
    let value = both.find(|(name, _)| *name == "TCPLossProbes").and_then(|(_, value)| value.parse().ok());
    value.ok_or_else(|| io::Error::other("the kernel tells no TCPLossProbes"))
}
