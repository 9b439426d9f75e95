//! One kernel, from its start to its end.

use crate::{Built, Error, Source, stopped};
use fanin_engine::backend::Site;
use fanin_engine::sim::Progress;
use nix::sys::personality::{self, Persona};
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, absolute};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// How often `progress` is asked while the kernel says nothing.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// Bytes of what the kernel says that an error shows.
const SHOWN: usize = 2_000;

/// Where a machine's memory is fastest.
const SHARED: &str = "/dev/shm";

/// What the names of the folders of runs begin with.
const PREFIX: &str = "fanin-linux-";
/// A file in each of them that is locked while its run is alive.
const ALIVE: &str = "alive";

/// A kernel's folder, which goes with it.
pub(crate) struct Machine {
    root: TempDir,
    _alive: File,
    kernel: std::path::PathBuf,
}

impl Machine {
    /// Prepares the folder of a run.
    pub(crate) fn new(source: &Source<'_>, site: &Site, built: &Built) -> Result<Self, Error> {
        let fail = |what: &str| {
            let what = what.to_owned();
            move |error: io::Error| Error::Folder { what, error }
        };
        sweep(&env::temp_dir());
        let root = TempDir::with_prefix(PREFIX).map_err(fail("making a folder"))?;
        let alive = locked(root.path()).map_err(fail("locking a folder"))?;
        for name in ["proc", "sys", "files", "host"] {
            fs::create_dir(root.path().join(name)).map_err(fail("making a folder"))?;
        }
        fs::copy(&built.guest, root.path().join("init")).map_err(fail("copying the guest"))?;
        for module in std::iter::once("cable").chain(site.modules.iter().map(|(module, _)| *module)) {
            let name = format!("{module}.ko");
            fs::copy(built.modules.join(&name), root.path().join(&name)).map_err(fail("copying a module"))?;
        }
        let folder = absolute(source.file).ok().and_then(|file| Some(file.parent()?.to_owned()));
        let input = json!({
            "text": source.text,
            "file": source.file,
            "changes": source.changes,
            "folder": folder,
            "on_the_way": source.on_the_way,
            "site": site.fingerprint(),
        });
        fs::write(root.path().join("scenario.json"), input.to_string()).map_err(fail("writing the scenario"))?;
        Ok(Self { root, _alive: alive, kernel: built.kernel.clone() })
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Runs the kernel with so many MiB until it switches itself off.
    pub(crate) fn run(&self, memory: u64, mut progress: Option<Progress<'_>>) -> Result<(), Error> {
        let mut running = self.start(memory)?;
        let (mut said, lines) = (String::new(), running.lines());
        let mut share = 0.0;
        loop {
            match lines.recv_timeout(ASK_EVERY) {
                Ok(line) => match line.strip_prefix("progress ").and_then(|number| number.trim().parse().ok()) {
                    Some(number) => share = number,
                    None => said.push_str(&line),
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if progress.as_mut().is_some_and(|progress| !progress(share)) {
                return Err(stopped());
            }
        }
        running.wait()?;
        let outcome = fs::read_to_string(self.root().join("outcome")).unwrap_or_default();
        match outcome.strip_prefix("error: ") {
            None if outcome == "done" => Ok(()),
            Some(error) => Err(Error::Machine(error.to_owned())),
            None => {
                let from = said.len().saturating_sub(SHOWN);
                let last = said.get(from..).unwrap_or(&said).trim();
                Err(Error::Machine(format!("the kernel ended before its run; it said: {last}")))
            }
        }
    }

    fn start(&self, memory: u64) -> Result<Running, Error> {
        let root = self.root();
        let mut command = dying_with_us(&self.kernel);
        command
            .arg(format!("mem={memory}M"))
            .args(["rootfstype=hostfs", "rw", "init=/init", "time-travel=inf-cpu", "time-travel-start=0"])
            .args(["con=null", "con0=fd:0,fd:1", "quiet", "panic=-1"])
            // Random numbers depend on the command line, so the folder has no name in it.
            .args(["rootflags=/proc/self/cwd", "uml_dir=/proc/self/cwd/", "umid=kernel"])
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // The kernel's processes are one group, which is ended as a whole.
            .process_group(0);
        // The machine's memory is a file there, which has no name.
        let temporary = env::temp_dir();
        command.env("TMPDIR", with_room(memory, &[Path::new(SHARED), &temporary])?);
        let child = at_fixed_addresses(|| command.spawn());
        let what = || format!("starting {}", self.kernel.display());
        Ok(Running(child.map_err(|error| Error::Folder { what: what(), error })?))
    }
}

/// The first of these folders that has room for so many MiB; a kernel whose memory finds none there would end in a panic.
fn with_room<'a>(memory: u64, folders: &[&'a Path]) -> Result<&'a Path, Error> {
    let mebibytes: Vec<u64> = folders.iter().map(|folder| room(folder) >> 20).collect();
    let fits = folders.iter().zip(&mebibytes).find(|(_, room)| **room >= memory);
    let said = |(folder, room): (&&Path, &u64)| format!("{} has {room} MiB", folder.display());
    fits.map(|(folder, _)| *folder).ok_or_else(|| {
        let rooms: Vec<String> = folders.iter().zip(&mebibytes).map(said).collect();
        Error::Machine(format!(
            "the kernel needs {memory} MiB for its memory, and {}: give a container more (docker run --shm-size={}m), or set \
             TMPDIR to a folder with room",
            rooms.join(", "),
            memory.next_multiple_of(256)
        ))
    })
}

/// Free bytes of a folder from which a program can run; the kernel runs from its memory.
fn room(folder: &Path) -> u64 {
    statvfs(folder)
        .map_or(0, |of| if of.f_flag.contains(StatVfsMountFlags::NOEXEC) { 0 } else { of.f_bavail * of.f_frsize })
}

/// Starts something whose memory is at the same addresses each time.
///
/// The kernel's memory begins behind its heap. Where that is decides how its pages are divided, by which TCP counts what a
/// socket holds. Some containers forbid this; there, long transfers with losses may differ from run to run.
fn at_fixed_addresses<T>(start: impl FnOnce() -> T) -> T {
    let before = personality::get().and_then(|now| personality::set(now | Persona::ADDR_NO_RANDOMIZE));
    let started = start();
    // Only what was started, and not this thread, keeps it.
    let _ = before.and_then(personality::set);
    started
}

/// Locks the file that says that a run is alive. It has its name when it is locked, so that none is found unlocked.
fn locked(folder: &Path) -> io::Result<File> {
    let unnamed = folder.join("locking");
    let file = File::create(&unnamed)?;
    file.lock()?;
    fs::rename(unnamed, folder.join(ALIVE))?;
    Ok(file)
}

/// Removes the folders of runs that were killed.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let of_a_run = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let alive = of_a_run.then(|| File::open(entry.path().join(ALIVE)).ok()).flatten();
        if alive.is_some_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A program that is killed when the thread that starts it ends, where util-linux is installed: a run that is killed has no
/// time to end its kernel.
fn dying_with_us(program: &Path) -> Command {
    static WRAPPER: OnceLock<bool> = OnceLock::new();
    const WORDS: [&str; 2] = ["--pdeathsig", "KILL"];
    let quiet = || Command::new("setpriv").args(WORDS).arg("true").stderr(Stdio::null()).status();
    if !*WRAPPER.get_or_init(|| quiet().is_ok_and(|status| status.success())) {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(WORDS).arg(program);
    command
}

/// A kernel that runs; it ends with this.
struct Running(Child);

impl Running {
    /// What it says, line by line.
    fn lines(&mut self) -> Receiver<String> {
        let (send, receive) = mpsc::channel();
        if let Some(said) = self.0.stdout.take() {
            thread::spawn(move || {
                let mut said = BufReader::new(said);
                let mut line = Vec::new();
                while said.by_ref().take(1 << 16).read_until(b'\n', &mut line).is_ok_and(|size| size > 0) {
                    if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                        break;
                    }
                    line.clear();
                }
            });
        }
        receive
    }

    fn wait(&mut self) -> Result<(), Error> {
        let ended = self.0.wait();
        ended.map(drop).map_err(|error| Error::Folder { what: "waiting for the kernel".to_owned(), error })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_where_it_has_room_and_the_error_names_what_gives_more() {
        let folder = TempDir::new().unwrap();
        // Nothing can be written to the first one.
        let folders = [Path::new("/proc"), folder.path()];
        assert_eq!(with_room(1, &folders).unwrap(), folder.path());
        assert_eq!(with_room(1, &[folder.path(), Path::new("/proc")]).unwrap(), folder.path());
        let error = with_room(1 << 40, &folders).unwrap_err().to_string();
        assert!(error.contains("/proc has 0 MiB") && error.contains("--shm-size=1099511627776m"), "{error}");
    }

    #[test]
    fn folders_of_runs_that_are_over_are_swept_and_no_others() {
        let place = TempDir::new().unwrap();
        let made = |name: &str| {
            let path = place.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let [alive, dead, new, other] = ["fanin-linux-a", "fanin-linux-b", "fanin-linux-c", "other"].map(made);
        let lock = locked(&alive).unwrap();
        drop(locked(&dead).unwrap());
        drop(locked(&other).unwrap());
        sweep(place.path());
        assert_eq!([&alive, &dead, &new, &other].map(|path| path.exists()), [true, false, true, true]);
        drop(lock);
        sweep(place.path());
        assert!(!alive.exists());
    }
}
