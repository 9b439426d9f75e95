//! Reads lists of flows line by line: CSV with a header, in order of start.
//!
//! Only the current line is kept, so a file may have any length. Every error names its line.

use fanin_core::units::Time;
use std::io::{BufRead, Read as _};

/// Maximum length of a line in bytes; a file with longer lines is not a list of flows.
const LONGEST: u64 = 4096;
/// Maximum size of a flow in bytes, and latest time in picoseconds, so that sums do not overflow.
const LARGEST: u64 = 1 << 53;
const LATEST: u64 = 1_000_000_000_000_000_000;

/// One flow of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFlow {
    /// Its start.
    pub start: Time,
    /// Index of its sending host.
    pub src: usize,
    /// Index of its receiving host.
    pub dst: usize,
    /// Its payload bytes.
    pub bytes: u64,
    /// Its class; empty for none.
    pub class: String,
    /// Its query; empty for none.
    pub query: String,
    /// Deadline relative to its start, if it has one.
    pub deadline: Option<Time>,
    /// Its line, from 1.
    pub line: u64,
}

/// A line that is not a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub message: String,
}

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// The start, in units of this many picoseconds.
    Start(u64),
    Src,
    Dst,
    Bytes,
    Class,
    Query,
    Deadline(u64),
}

const COLUMNS: &str = "start, src, dst, bytes and, if wanted, class, deadline and query";

/// A list of flows, read line by line.
pub struct FlowFile {
    input: Box<dyn BufRead + Send>,
    columns: Vec<Field>,
    line: u64,
    last: Time,
    raw: Vec<u8>,
}

impl std::fmt::Debug for FlowFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FlowFile").field("columns", &self.columns).field("line", &self.line).finish_non_exhaustive()
    }
}

impl FlowFile {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// The header is missing, cannot be read, or lacks a column.
    pub fn new(input: Box<dyn BufRead + Send>) -> Result<Self, BadLine> {
        let mut file = Self { input, columns: Vec::new(), line: 0, last: Time::ZERO, raw: Vec::new() };
        let header = file.read_line()?;
        let header =
            header.ok_or_else(|| file.bad(format!("empty: a header is needed, with the columns {COLUMNS}")))?;
        for name in header.split(',') {
            let column = column(name.trim());
            let column =
                column.ok_or_else(|| file.bad(format!("no column {:?}; the header names {COLUMNS}", name.trim())))?;
            if file.columns.iter().any(|other| std::mem::discriminant(other) == std::mem::discriminant(&column)) {
                return Err(file.bad(format!("two columns {:?}", name.trim())));
            }
            file.columns.push(column);
        }
        for (name, column) in
            [("start", Field::Start(0)), ("src", Field::Src), ("dst", Field::Dst), ("bytes", Field::Bytes)]
        {
            if !file.columns.iter().any(|other| std::mem::discriminant(other) == std::mem::discriminant(&column)) {
                return Err(file.bad(format!("no column \"{name}\"; the header names {COLUMNS}")));
            }
        }
        Ok(file)
    }

    /// The next flow, or none at the end.
    ///
    /// # Errors
    ///
    /// The line is not a flow, or starts before the previous one.
    pub fn next_flow(&mut self) -> Result<Option<ListedFlow>, BadLine> {
        let Some(text) = self.read_line()? else { return Ok(None) };
        let given = text.split(',').count();
        if given != self.columns.len() {
            return Err(self.bad(format!("{given} fields, and the header has {}", self.columns.len())));
        }
        let (start, class, query, line) = (Time::ZERO, String::new(), String::new(), self.line);
        let mut flow = ListedFlow { start, src: 0, dst: 0, bytes: 0, class, query, deadline: None, line };
        for (column, field) in self.columns.iter().zip(text.split(',').map(str::trim)) {
            let read = match column {
                Field::Start(scale) => time(field, *scale).map(|start| flow.start = start),
                Field::Src => host(field).map(|host| flow.src = host),
                Field::Dst => host(field).map(|host| flow.dst = host),
                Field::Bytes => bytes(field).map(|bytes| flow.bytes = bytes),
                Field::Class => {
                    field.clone_into(&mut flow.class);
                    Ok(())
                }
                Field::Query => {
                    field.clone_into(&mut flow.query);
                    Ok(())
                }
                Field::Deadline(_) if field.is_empty() => Ok(()),
                Field::Deadline(scale) => {
                    time(field, *scale).map(|time| flow.deadline = (time > Time::ZERO).then_some(time))
                }
            };
            read.map_err(|message| self.bad(message))?;
        }
        if flow.start < self.last {
            return Err(self.bad(format!("begins at {}, before the line above; sort the file by start", flow.start)));
        }
        self.last = flow.start;
        Ok(Some(flow))
    }

    /// The next line that is neither empty nor a comment.
    fn read_line(&mut self) -> Result<Option<String>, BadLine> {
        loop {
            self.raw.clear();
            self.line += 1;
            let read = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.raw);
            match read.map_err(|error| self.bad(error.to_string()))? {
                0 => return Ok(None),
                read if read as u64 == LONGEST && self.raw.last() != Some(&b'\n') => {
                    return Err(self.bad(format!("longer than {LONGEST} bytes")));
                }
                _ => {}
            }
            let text = std::str::from_utf8(&self.raw).map_err(|_| self.bad("no UTF-8 text".to_owned()))?.trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(Some(text.to_owned()));
            }
        }
    }

    fn bad(&self, message: String) -> BadLine {
        BadLine { line: self.line, message }
    }
}

fn column(name: &str) -> Option<Field> {
    let (word, unit) = name.split_once('_').unwrap_or((name, "s"));
    let scale = match unit {
        "s" => 1_000_000_000_000,
        "ms" => 1_000_000_000,
        "us" => 1_000_000,
        "ns" => 1_000,
        "ps" => 1,
        _ => return None,
    };
    match (word, name) {
        ("start", _) => Some(Field::Start(scale)),
        ("deadline", _) => Some(Field::Deadline(scale)),
        (_, "src") => Some(Field::Src),
        (_, "dst") => Some(Field::Dst),
        (_, "bytes") => Some(Field::Bytes),
        (_, "class") => Some(Field::Class),
        (_, "query") => Some(Field::Query),
        _ => None,
    }
}

/// A decimal number of units. Fractions of a picosecond are truncated, because other tools print more digits than are
/// significant.
fn time(field: &str, scale: u64) -> Result<Time, String> {
    let no_time = || format!("{field:?} is no time: write digits, with a point if need be");
    let (whole, part) = field.split_once('.').unwrap_or((field, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return Err(no_time());
    }
    let part = &part[..part.len().min(12)];
    let whole: u128 = whole.parse().map_err(|_| no_time())?;
    let fraction: u128 = part.parse().map_err(|_| no_time())?;
    let below = fraction * u128::from(scale) / 10_u128.pow(part.len() as u32);
    let ps = whole.checked_mul(u128::from(scale)).and_then(|ps| ps.checked_add(below));
    let ps = ps.and_then(|ps| u64::try_from(ps).ok()).filter(|ps| *ps <= LATEST);
    ps.map(Time::from_ps).ok_or_else(|| format!("{field} is later than {}", Time::from_ps(LATEST)))
}

/// `3` or `host-3`.
fn host(field: &str) -> Result<usize, String> {
    let number = field.strip_prefix("host-").unwrap_or(field);
    number.parse::<u32>().map(|host| host as usize).map_err(|_| format!("{field:?} is no host: write its number"))
}

fn bytes(field: &str) -> Result<u64, String> {
    let bytes = field.parse::<u64>().ok().filter(|bytes| (1..=LARGEST).contains(bytes));
    bytes.ok_or_else(|| format!("{field:?} is no number of bytes: a whole one, 1 at least"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<ListedFlow>, BadLine> {
        let mut file = FlowFile::new(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())))?;
        let mut flows = Vec::new();
        while let Some(flow) = file.next_flow()? {
            flows.push(flow);
        }
        Ok(flows)
    }

    #[test]
    fn columns_come_in_any_order_and_unit() {
        let flows = read("# a list\nbytes,start_us,src,dst,deadline_ms,class\n\n1500,2.5,0,host-3,10,web\n7,3,1,2,,\n");
        let flows = flows.expect("sound");
        let first = &flows[0];
        assert_eq!((first.start, first.src, first.dst, first.bytes), (Time::from_ns(2500), 0, 3, 1500));
        assert_eq!((first.class.as_str(), first.deadline, first.line), ("web", Some(Time::from_ms(10)), 4));
        assert_eq!((flows[1].class.as_str(), flows[1].deadline, flows[1].line), ("", None, 5));
        let flows = read("start,src,dst,bytes,query\n0,0,1,9,job 7\n0,0,1,9,\n").expect("sound");
        assert_eq!([&flows[0].query, &flows[1].query], ["job 7", ""]);
    }

    #[test]
    fn seconds_are_exact() {
        let flows = read("start,src,dst,bytes\n2.000000123456789,0,1,9\n").expect("sound");
        assert_eq!(flows[0].start, Time::from_ps(2_000_000_123_456));
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, line, message) in [
            ("", 1, "a header is needed"),
            ("start,src,dst\n", 1, "no column \"bytes\""),
            ("start,src,dst,bytes,size\n", 1, "no column \"size\""),
            ("start,start_us,src,dst,bytes\n", 1, "two columns"),
            ("start,src,dst,bytes\n1,2,3\n", 2, "3 fields, and the header has 4"),
            ("start,src,dst,bytes\n1,0,1,10\n\n# x\n0.5,0,1,10\n", 5, "before the line above"),
            ("start,src,dst,bytes\n-1,0,1,10\n", 2, "\"-1\" is no time"),
            ("start,src,dst,bytes\n1e3,0,1,10\n", 2, "is no time"),
            ("start,src,dst,bytes\n99999999999999999999999999,0,1,10\n", 2, "later than"),
            ("start,src,dst,bytes\n1,a,1,10\n", 2, "\"a\" is no host"),
            ("start,src,dst,bytes\n1,0,1,0\n", 2, "is no number of bytes"),
            ("start,src,dst,bytes\n1,0,1,1.5\n", 2, "is no number of bytes"),
        ] {
            let bad = read(text).expect_err(text);
            assert!(bad.line == line && bad.message.contains(message), "{bad:?} for {text:?}");
        }
        let long = read(&format!("start,src,dst,bytes\n{}", "1".repeat(5000))).expect_err("long");
        assert_eq!((long.line, long.message.as_str()), (2, "longer than 4096 bytes"));
    }
}
