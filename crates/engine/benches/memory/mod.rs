//! What the benchmarks of memory share: a child process that does one thing, and its peak.

use std::process::Command;

/// Peak resident memory of this process in KiB.
pub(crate) fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

/// What this program prints when it is started again with other arguments.
pub(crate) fn child(args: &[&str]) -> Option<String> {
    let output = Command::new(std::env::current_exe().ok()?).args(args).output().ok()?;
    String::from_utf8(output.stdout).ok()
}
