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

/// A kernel, its module or its guest was built from other sources than this engine.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "the kernel was built from other sources: run \"make linux\" again, in the checkout that this engine is from (HZ={hz} in \
     {})",
    folder.display()
)]
pub struct OtherSources {
    /// Its ticks a second.
    pub hz: u64,
    /// Where it is.
    pub folder: PathBuf,
}

/// What the engine was built with; `linux/sources.sh` prints it too. Empty if it was built without the kernel's sources.
pub(crate) const SOURCES: &str = env!("FANIN_LINUX_SOURCES");

/// A kernel that can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Its ticks a second.
    pub hz: u64,
    /// Its version, such as 6.12.107.
    pub release: String,
    /// The kernel itself.
    pub kernel: PathBuf,
    /// The folder of its modules: that of links and ports, and those of congestion controls.
    pub modules: PathBuf,
    /// The only program that runs in it.
    pub guest: PathBuf,
    /// Its configuration.
    pub config: PathBuf,
    /// Whether it, its module and the guest were built from the sources that this engine has.
    pub is_current: bool,
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

    /// An error for a kernel that was built from other sources.
    ///
    /// # Errors
    ///
    /// It was.
    pub fn check_sources(&self) -> Result<(), OtherSources> {
        if self.is_current { Ok(()) } else { Err(OtherSources { hz: self.hz, folder: folder() }) }
    }

    fn in_folder(folder: &Path, hz: u64) -> Option<Self> {
        let own = folder.join(format!("hz{hz}"));
        // Written last, so that half a build is none.
        fs::metadata(own.join("built")).ok()?;
        let built = Self {
            hz,
            release: fs::read_to_string(own.join("release")).ok()?.trim().to_owned(),
            kernel: own.join("linux"),
            modules: own.clone(),
            guest: folder.join("guest"),
            config: own.join("config"),
            is_current: SOURCES.is_empty() || [&own, folder].iter().all(|place| sources(place) == SOURCES),
        };
        let is_whole = [&built.kernel, &own.join("cable.ko"), &built.guest].into_iter().all(|file| file.exists());
        is_whole.then_some(built)
    }
}

/// The name of the sources of what is in a folder.
fn sources(folder: &Path) -> String {
    fs::read_to_string(folder.join("sources")).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_script_and_the_engine_name_the_same_sources() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../linux/sources.sh");
        let said = Command::new("bash").arg(script).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap().trim(), SOURCES);
        assert_eq!(SOURCES.len(), 16);
    }

    #[test]
    fn a_kernel_of_other_sources_is_there_and_is_refused() {
        let folder = tempfile::TempDir::new().unwrap();
        let own = folder.path().join("hz1000");
        fs::create_dir(&own).unwrap();
        for file in ["built", "release", "linux", "cable.ko"] {
            fs::write(own.join(file), "").unwrap();
        }
        fs::write(folder.path().join("guest"), "").unwrap();
        let with = |kernel: &str, guest: &str| {
            fs::write(own.join("sources"), kernel).unwrap();
            fs::write(folder.path().join("sources"), guest).unwrap();
            Built::in_folder(folder.path(), 1000).unwrap()
        };
        let whole = format!("{SOURCES}\n");
        assert_eq!(with(&whole, &whole).check_sources(), Ok(()));
        for [kernel, guest] in [[&whole, "0123456789abcdef"], ["0123456789abcdef", &whole], ["", ""]] {
            let error = with(kernel, guest).check_sources().unwrap_err().to_string();
            assert!(error.starts_with("the kernel was built from other sources: run \"make linux\" again"), "{error}");
        }
    }
}
