//! The file that keeps rows of finished transfers until the end of a run.

use std::fs::{File, OpenOptions, remove_file};
use std::io::{Read as _, Result, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use fanin_engine::sim::Spill;

/// A file that is created on the first write and deleted with the run.
pub(crate) struct SpillFile {
    path: PathBuf,
    file: Option<Mutex<File>>,
}

impl SpillFile {
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }
}

impl Spill for SpillFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = OpenOptions::new().read(true).write(true).create_new(true).open(&self.path)?;
                none.insert(Mutex::new(file))
            }
        };
        let file = file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let Some(file) = &self.file else { return Err(std::io::ErrorKind::NotFound.into()) };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // A failure is harmless: leftovers are removed like those of a killed run.
            let _ = remove_file(&self.path);
        }
    }
}
