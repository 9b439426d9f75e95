//! Actions on packets, and the instruction that applies them (sections 7.2.4 and 7.2.5).

use super::bytes::{Reader, pad, set_length};
use super::{EXPERIMENTER, Malformed};

const OUTPUT: u16 = 0;
const EXPERIMENTAL: u16 = 0xFFFF;
/// Experimenter action: advertise at most this many bytes.
const LIMIT_WINDOW: u16 = 1;
/// Instruction: apply these actions now.
const APPLY_ACTIONS: u16 = 4;
/// Number of bytes to send to the controller; without meaning for other outputs.
const NO_LENGTH: u16 = 0;

/// An action on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send it on this port.
    Output(u32),
    /// Limit its window to this many bytes.
    LimitWindow(u32),
}

/// Appends actions.
pub(super) fn write_actions(actions: &[Action], out: &mut Vec<u8>) {
    for action in actions {
        let (kind, length) = match action {
            Action::Output(_) => (OUTPUT, 16_u16),
            Action::LimitWindow(_) => (EXPERIMENTAL, 16),
        };
        out.extend(kind.to_be_bytes());
        out.extend(length.to_be_bytes());
        match action {
            Action::Output(port) => {
                out.extend(port.to_be_bytes());
                out.extend(NO_LENGTH.to_be_bytes());
                pad(out, 6);
            }
            Action::LimitWindow(bytes) => {
                out.extend(EXPERIMENTER.to_be_bytes());
                out.extend(LIMIT_WINDOW.to_be_bytes());
                pad(out, 2);
                out.extend(bytes.to_be_bytes());
            }
        }
    }
}

/// Reads all remaining actions.
pub(super) fn read_actions(mut reader: Reader<'_>) -> Result<Vec<Action>, Malformed> {
    let mut actions = Vec::new();
    while reader.left() > 0 {
        let (kind, length) = (reader.u16()?, reader.u16()?);
        if length != 16 {
            return Err(Malformed::Length);
        }
        let mut body = reader.part(12)?;
        actions.push(match kind {
            OUTPUT => Action::Output(body.u32()?),
            EXPERIMENTAL if body.u32()? == EXPERIMENTER && body.u16()? == LIMIT_WINDOW => {
                body.skip(2)?;
                Action::LimitWindow(body.u32()?)
            }
            _ => return Err(Malformed::Value("action")),
        });
    }
    Ok(actions)
}

/// Appends the only instruction that entries have: apply actions.
pub(super) fn write_instructions(actions: &[Action], out: &mut Vec<u8>) {
    if actions.is_empty() {
        return;
    }
    let start = out.len();
    out.extend(APPLY_ACTIONS.to_be_bytes());
    pad(out, 6);
    write_actions(actions, out);
    set_length(out, start + 2, start);
}

/// Reads all remaining instructions.
pub(super) fn read_instructions(reader: &mut Reader<'_>) -> Result<Vec<Action>, Malformed> {
    if reader.left() == 0 {
        return Ok(Vec::new());
    }
    let (kind, length) = (reader.u16()?, usize::from(reader.u16()?));
    if kind != APPLY_ACTIONS {
        return Err(Malformed::Value("instruction"));
    }
    let mut body = reader.part(length.checked_sub(4).ok_or(Malformed::Length)?)?;
    body.skip(4)?;
    if reader.left() > 0 {
        return Err(Malformed::Length);
    }
    read_actions(body)
}
