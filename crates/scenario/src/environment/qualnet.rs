//! `QualNet`, in which DT-CWA was simulated.

use super::{EnvironmentRow, set};

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "qualnet",
    summary: "QualNet: delayed acknowledgements, segments of 512 bytes, windows of 16 KiB (DT-CWA).",
    manual: "\
[QualNet](https://web.scalable-networks.com/) is a commercial simulator; its manuals are not public. The values here are those that its
editor writes into every scenario file unless the user changes them. They were read in two sets of files that users have published:
`SelectLink.test.config` (github.com/yichao0319/Qualnet_TrafficReengineering, written by version 6.1 of EXata, its sibling) and
`make_scenario.rb` (github.com/bfrggit/qualnet-up-scripts), which agree in every line on TCP: `TCP LITE`, `TCP-DELAY-ACKS YES`,
`TCP-MSS 512`, `TCP-SEND-BUFFER 16384`, `TCP-RECEIVE-BUFFER 16384`, `TCP-USE-RFC1323 NO`, `TCP-USE-NAGLE-ALGORITHM YES`.

**Inferred.** Those files do not give the delayed-ACK timeout; 200 ms is that of BSD's TCP and of most implementations of that
time. `LITE` is taken to have neither SACK nor limited transmit, because `SACK` is another value of the same key.

**Not known**, and therefore as in `rfc`: the initial window, the timers' granularity and the order of simultaneous events. The same goes
for what a marking queue does with packets that are not ECT.

**Left out.** Nagle's algorithm, which delays the last, short segment of a transfer until everything else is acknowledged.",
    stack: &[
        set("mss", "512B", "TCP-MSS 512 in scenario files as QualNet's editor writes them, version 6.1"),
        set("receive-buffer", "16384B", "TCP-RECEIVE-BUFFER 16384 in the same files; the sender's is as large"),
        set("window-scale", "0", "TCP-USE-RFC1323 NO in the same files"),
        set("ack-every", "2", "TCP-DELAY-ACKS YES in the same files; every second segment by RFC 1122, section 4.2.3.2"),
        set("ack-delay", "200ms", "not publicly documented; the delayed-ACK timeout of BSD's TCP"),
        set("rto-backoff-reset", "sample", "TCP-USE-RFC1323 NO in the same files: no time stamps (RFC 6298, sections 3 and 5)"),
        set("sack", "false", "TCP LITE in the same files, of which SACK is an alternative"),
        set("limited-transmit", "false", "not publicly documented; TCP LITE is older than RFC 3042"),
    ],
    switch: &[set(
        "network.buffer",
        "150000B",
        "IP-QUEUE-PRIORITY-QUEUE-SIZE 150000 in the same files: queues are sized in bytes",
    )],
};
