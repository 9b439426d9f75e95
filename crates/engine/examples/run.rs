//! Runs a scenario file without Python: `cargo run --release --example run -- FILE [key=value ...]`.
//!
//! Prints the totals as JSON. A file that takes its scenario from another (`runs-of`) runs that one; one that has none, such
//! as a diagram's, has nothing to run. Sweeps and variants are not looked at: what runs is the scenario as it stands in the
//! file. With `--reference` the reference core runs it; with `--again=N` it runs N times more before that, so that a
//! measurement from outside counts little of the start. Meant for profilers and debuggers.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use fanin_engine::param::Files;
use fanin_engine::scenario::{KEYS, Scenario};
use fanin_engine::sim;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let reference = args.iter().position(|arg| arg == "--reference").map(|i| args.remove(i)).is_some();
    let again = args.iter().position(|arg| arg.starts_with("--again=")).map(|i| args.remove(i));
    let again = again.and_then(|arg| arg["--again=".len()..].parse().ok()).unwrap_or(0);
    let Some(file) = args.first() else {
        eprintln!("usage: run FILE [key=value ...] [--reference] [--again=N]");
        return ExitCode::from(2);
    };
    let pairs = args[1..].iter().filter_map(|arg| arg.split_once('='));
    let overrides: Vec<_> = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let scenario = match read(Path::new(file), &overrides) {
        Ok(Some(scenario)) => scenario,
        Ok(None) => {
            eprintln!("{file}: has no scenario, so there is nothing to run");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(3);
        }
    };
    let run = || if reference { sim::run_reference(&scenario) } else { sim::run(&scenario, None) };
    for _ in 0..again {
        let _ = std::hint::black_box(run());
    }
    let start = Instant::now();
    let outcome = run();
    match outcome {
        Ok(outcome) => {
            let seconds = start.elapsed().as_secs_f64();
            println!("{}", serde_json::to_string_pretty(&outcome.summary).unwrap_or_default());
            eprintln!("{seconds:.3} s, {:.1} ns per packet-hop", seconds * 1e9 / outcome.number("packet_hops"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The scenario of an experiment, if it has one. Files that it names are beside it.
fn read(file: &Path, overrides: &[(String, String)]) -> Result<Option<Scenario>, String> {
    let text = |file: &Path| std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()));
    let (mut file, mut toml) = (file.to_path_buf(), text(file)?);
    // What is not TOML the engine complains of, with the line.
    let keys = |toml: &str| toml::from_str::<toml::Table>(toml).ok();
    if let Some(origin) = keys(&toml).and_then(|keys| keys.get("runs-of")?.as_str().map(str::to_owned)) {
        file = experiment(&file, &origin);
        toml = text(&file)?;
    }
    if keys(&toml).is_some_and(|keys| keys.keys().all(|key| !KEYS.contains(&key.as_str()))) {
        return Ok(None);
    }
    let scenario = Scenario::parse(&toml, &file.display().to_string(), overrides).map_err(|error| error.to_string())?;
    Ok(Some(scenario.with_files(Files::new(move |name| {
        let input = File::open(file.with_file_name(name))?;
        Ok(Box::new(BufReader::new(input)))
    }))))
}

/// The file of the experiment that another calls `paper/figure`: papers have a folder each, side by side.
fn experiment(from: &Path, name: &str) -> PathBuf {
    let folder = from.parent().unwrap_or(Path::new(""));
    folder.join("..").join(format!("{name}.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every experiment that comes with the Python package.
    fn shipped() -> Vec<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/fanin/experiments");
        let list = |folder: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(folder).expect("a folder of experiments");
            entries.map(|entry| entry.expect("a file or folder").path()).collect()
        };
        let folders = list(&root).into_iter().filter(|path| path.is_dir());
        let files = folders.flat_map(|folder| list(&folder));
        let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|end| end == "toml")).collect();
        files.sort();
        files
    }

    #[test]
    fn every_shipped_experiment_runs() {
        let brief: Vec<_> = [("run.duration", "200us"), ("measure.warmup", "0s")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .to_vec();
        let (mut run, mut without) = (0, Vec::new());
        for file in shipped() {
            match read(&file, &brief).unwrap_or_else(|error| panic!("{error}")) {
                Some(scenario) => {
                    sim::run(&scenario, None).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                    run += 1;
                }
                None => without.push(file.file_stem().expect("a name").to_string_lossy().into_owned()),
            }
        }
        assert!(run >= 80, "{run} ran");
        // Message formats are drawn, and the controller is measured by a program.
        assert_eq!(without, ["fig16-scale", "fig16", "fig4-7"]);
    }
}
