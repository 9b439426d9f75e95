//! Feeds arbitrary bytes to the reader of lists of flows, which must answer with flows in order or name a line.

#![no_main]

use fanin_engine::traffic::flow_file::FlowFile;
use fanin_engine::units::Time;
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
    let mut file = match FlowFile::new(Box::new(Cursor::new(bytes.to_vec()))) {
        Ok(file) => file,
        Err(bad) => return assert!(bad.line <= lines + 1),
    };
    let mut last = Time::ZERO;
    loop {
        match file.next_flow() {
            Ok(Some(flow)) => {
                assert!(flow.start >= last && flow.bytes > 0 && flow.line <= lines);
                last = flow.start;
            }
            Ok(None) => return,
            Err(bad) => return assert!(bad.line <= lines + 1),
        }
    }
});
