//! The RFCs, with fanin's own choices where they leave a value open.

use super::EnvironmentRow;

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "rfc",
    summary: "What the RFCs say: the declared default of every key.",
    manual: "\
No tool in particular. Every key has its declared default, whose source `fanin check --resolved` shows. Exceptions are values that a
scheme requires: `linux` uses the stack `linux-6.12` here.",
    stack: &[],
    switch: &[],
};
