//! The lines of a text in which values stand.

use super::error::Origin;
use std::ops::Range;

/// Turns offsets into places.
pub(crate) struct Lines<'a> {
    file: &'a Origin,
    /// Offsets of the line feeds; none if all content belongs to `file` as a whole.
    feeds: Option<Vec<usize>>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &str, file: &'a Origin) -> Self {
        Self { file, feeds: Some(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect()) }
    }
    pub(crate) fn all_at(file: &'a Origin) -> Self {
        Self { file, feeds: None }
    }
    pub(crate) fn origin(&self, span: &Range<usize>) -> Origin {
        Origin { file: self.file.file.clone(), line: self.line(span.start) }
    }
    /// The line of an offset, from 1.
    pub(crate) fn line(&self, at: usize) -> Option<usize> {
        self.feeds.as_ref().map(|feeds| feeds.partition_point(|feed| *feed < at) + 1)
    }
}
