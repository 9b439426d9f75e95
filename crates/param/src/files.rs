//! Files that a scenario names; the caller opens them.

use std::fmt;
use std::io::{BufRead, Result};
use std::sync::Arc;

type Open = dyn Fn(&str) -> Result<Box<dyn BufRead + Send>> + Send + Sync;

/// How to open the files that a scenario names; by default none can be opened.
#[derive(Clone, Default)]
pub struct Files(Option<Arc<Open>>);

impl Files {
    /// Files opened with `open` by their name in the scenario.
    pub fn new(open: impl Fn(&str) -> Result<Box<dyn BufRead + Send>> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(open)))
    }

    /// The file called `name`, or why it cannot be opened.
    pub fn open(&self, name: &str) -> std::result::Result<Box<dyn BufRead + Send>, String> {
        let open = self.0.as_ref().ok_or("no files can be opened here")?;
        open(name).map_err(|error| error.to_string())
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Files(opened by the caller)" } else { "Files(none)" })
    }
}
