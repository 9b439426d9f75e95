//! The only program that runs in the kernel of the Linux backend: it is started as init, builds the network of a scenario,
//! carries its transfers, writes down what happens, and switches the machine off.
//!
//! Its root is a folder of the host: `scenario.json` and the modules are there, and `record`, `log` and `outcome` come there.
#![expect(clippy::print_stdout, reason = "the console is how the host follows the run")]

mod info;
mod netlink;
mod network;
mod openflow;
mod sockets;

use fanin_engine::backend::{Recorder, Site, drive};
use fanin_engine::param::{Document, Files};
use fanin_engine::scenario::Scenario;
use nix::kmod::{ModuleInitFlags, finit_module};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::resource::{Resource, setrlimit};
use serde_json::Value;
use sockets::Sockets;
use std::error::Error;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::Path;

/// Files that may be open: three of each host, and two of each connection.
const FILES: u64 = 1_000_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() {
    match run() {
        Ok(()) => end("done"),
        Err(error) => fail(&error.to_string()),
    }
}

/// Ends the run with an error.
fn fail(error: &str) {
    end(&format!("error: {error}"));
}

fn end(outcome: &str) {
    // The host reads it; without it the run has failed.
    let _ = fs::write("/outcome", outcome);
    nix::unistd::sync();
    let _ = reboot(RebootMode::RB_POWER_OFF);
}

fn run() -> Result<()> {
    for (kind, at) in [("proc", "/proc"), ("sysfs", "/sys")] {
        mount(Some(kind), at, Some(kind), MsFlags::empty(), None::<&str>)?;
    }
    setrlimit(Resource::RLIMIT_NOFILE, FILES, FILES)?;
    let input: Value = serde_json::from_str(&fs::read_to_string("/scenario.json")?)?;
    let scenario = scenario(&input)?;
    load("cable", "")?;
    let site = Site::of(&scenario)?;
    if input["site"] != site.fingerprint() {
        return Err("the guest was built from other sources, whose defaults differ: run \"make linux\" again".into());
    }
    for (module, parameters) in &site.modules {
        load(module, parameters)?;
    }
    let nodes = network::build(&site)?;
    network::faults(&site)?;
    let start = |open_flow| openflow::Switches::start(&site, open_flow, &scenario, &nodes);
    let switches = site.open_flow.as_ref().map(start).transpose()?;
    let mut sockets = Sockets::new(nodes, &site.hosts, site.congestion.clone(), File::create("/log")?, switches)?;
    let mut recorder = Recorder::new(&mut sockets, BufWriter::new(File::create("/record")?));
    let mut told = 0.0;
    let mut progress = |share: f64| {
        if share >= told + 0.01 {
            told = share;
            println!("progress {share:.2}");
        }
        true
    };
    drive(&scenario, &mut recorder, Some(&mut progress))?;
    Ok(())
}

/// Loads a module.
fn load(module: &str, parameters: &str) -> Result<()> {
    let file = File::open(format!("/{module}.ko"))?;
    let loaded = finit_module(&file, &CString::new(parameters)?, ModuleInitFlags::empty());
    loaded.map_err(|error| format!("loading {module} with {parameters:?}: {error}").into())
}

/// The scenario that the host has put there: `text`, `file`, `changes`; files that it names are in `folder` of the host.
fn scenario(input: &Value) -> Result<Scenario> {
    let text = |value: &Value| value.as_str().map(str::to_owned).ok_or("no text in scenario.json");
    let document = Document::parse(&text(&input["text"])?, &text(&input["file"])?)?;
    let mut changes = Vec::new();
    for change in input["changes"].as_array().ok_or("no changes in scenario.json")? {
        changes.push((text(&change[0])?, text(&change[1])?));
    }
    if let Some(folder) = input["folder"].as_str() {
        mount(Some("none"), "/files", Some("hostfs"), MsFlags::MS_RDONLY, Some(folder))?;
    }
    let files = Files::new(|name| Ok(Box::new(BufReader::new(File::open(Path::new("/files").join(name))?))));
    let scenario = Scenario::of(&document, &changes)?.with_files(files);
    Ok(if input["on_the_way"] == true { scenario.with_queues_on_the_way() } else { scenario })
}
