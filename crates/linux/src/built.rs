//! The kernels that are there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A kernel is not there.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "Linux with HZ={hz} is not built (looked in {}): run \"make linux\" in a checkout of fanin; it takes about ten minutes. \
     FANIN_LINUX names another folder",
    folder.display()
)]
pub struct NotBuilt {
    /// Its ticks a second.
    pub hz: u64,
    /// Where it should be.
    pub folder: PathBuf,
}

/// A kernel that can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Its ticks a second.
    pub hz: u64,
    /// Its version, such as 6.12.107.
    pub release: String,
    /// The kernel itself.
    pub kernel: PathBuf,
    /// The module of links and ports.
    pub module: PathBuf,
    /// The only program that runs in it.
    pub guest: PathBuf,
    /// Its configuration.
    pub config: PathBuf,
}

/// Where kernels are built: `$FANIN_LINUX`, or `fanin/linux` in the user's cache.
pub fn folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    set("FANIN_LINUX").or_else(|| Some(cache()?.join("fanin/linux"))).unwrap_or_else(|| PathBuf::from("fanin-linux"))
}

/// All kernels that are there.
pub fn builds() -> Vec<Built> {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    let mut hz: Vec<u64> =
        entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix("hz")?.parse().ok()).collect();
    hz.sort_unstable();
    hz.into_iter().filter_map(|hz| Built::with(hz).ok()).collect()
}

impl Built {
    /// The kernel with so many ticks a second.
    ///
    /// # Errors
    ///
    /// It is not there.
    pub fn with(hz: u64) -> Result<Self, NotBuilt> {
        let folder = folder();
        Self::in_folder(&folder, hz).ok_or(NotBuilt { hz, folder })
    }

    fn in_folder(folder: &Path, hz: u64) -> Option<Self> {
        let own = folder.join(format!("hz{hz}"));
        // Written last, so that half a build is none.
        fs::metadata(own.join("built")).ok()?;
        let built = Self {
            hz,
            release: fs::read_to_string(own.join("release")).ok()?.trim().to_owned(),
            kernel: own.join("linux"),
            module: own.join("cable.ko"),
            guest: folder.join("guest"),
            config: own.join("config"),
        };
        let is_whole = [&built.kernel, &built.module, &built.guest].into_iter().all(|file| file.exists());
        is_whole.then_some(built)
    }
}
