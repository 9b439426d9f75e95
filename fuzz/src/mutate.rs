//! Parses mutated scenario files, many times faster than libFuzzer, which measures the coverage of each.
//!
//! `mutate EXECUTIONS SEED FILE|FOLDER...` takes the engine's sections of these files apart, puts a network, traffic, a run
//! and a few others together, and changes them. A panic ends it, with the text that caused it on stderr. The same arguments make the same texts.
//! It finds what sections, keys, words and values in unusual places, cut or repeated, lead to; new ways into the parser
//! are what `parse` is for, whose corpus may be among the files.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use std::{env, fs, panic, process};

use fanin_engine::rng::Stream;
use fanin_engine::scenario::{KEYS, json_schema};
use fanin_fuzz::check;

/// Texts that lead deep into the checks.
const WORDS: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "-",
    "+",
    "_",
    "#",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "\\",
    "\\u",
    "\n",
    "\r",
    "\t",
    " ",
    "\0",
    "\u{feff}",
    "µ",
    "\u{202e}",
    "e",
    "E",
    "0",
    "1",
    "-1",
    "1e999",
    "-0.0",
    "nan",
    "inf",
    "0x",
    "0b",
    "0o7",
    "1_000",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999",
    "1979-05-27",
    "07:32:00",
    "true",
    "false",
    "[1, 2]",
    "{ a = 1 }",
    "\"\"",
    "\"1/0\"",
    "\"%\"",
    "\"101%\"",
    "\"-1%\"",
    "\"0s\"",
    "\"1ms\"",
    "\"-1ms\"",
    "\"1e300s\"",
    "\"99999999999999999999s\"",
    "\"0.1ps\"",
    "\"1e18Gbps\"",
    "\"0bps\"",
    "\"0B\"",
    "\"1PiB\"",
    "\"0pkt\"",
    "\"1e30pkt\"",
    "\"2mss\"",
    "\"cdf 2KB 0%, 98KB 100%\"",
    "\"1MB 50%, 4MB 50%\"",
    "\"uniform 1KB..2KB\"",
    "\"exponential 1ms\"",
    "[topology]",
    "[[traffic]]",
    "[[fault]]",
    "[scheme.",
    "name = ",
    "kind = ",
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [executions, seed, places @ ..] = arguments.as_slice() else {
        eprintln!("usage: mutate EXECUTIONS SEED FILE|FOLDER...");
        process::exit(2);
    };
    let (Ok(executions), Ok(seed)) = (executions.parse::<u64>(), seed.parse::<u64>()) else {
        eprintln!("mutate: EXECUTIONS and SEED are whole numbers");
        process::exit(2);
    };
    let texts: Vec<String> = places
        .iter()
        .flat_map(|place| files(Path::new(place)))
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect();
    let sections: Vec<&str> = texts.iter().flat_map(|text| sections(text)).collect();
    if sections.is_empty() {
        eprintln!("mutate: no text in {places:?}");
        process::exit(2);
    }
    let words = words(&sections);
    say_text_of_panic();
    let begun = Instant::now();
    let mut random = Stream::named(seed, "mutate");
    let (mut text, mut accepted) = (String::new(), 0_u64);
    for execution in 1..=executions {
        write_text(&mut text, &mut random, &sections, &words);
        TEXT.lock().unwrap_or_else(|text| text.into_inner()).clone_from(&text);
        accepted += u64::from(check(&text).is_some());
        if execution.is_power_of_two() || execution % 10_000_000 == 0 || execution == executions {
            let seconds = begun.elapsed().as_secs_f64();
            println!("{execution} executions, {accepted} accepted, {:.0} a second", execution as f64 / seconds);
        }
    }
}

/// The text that is parsed.
static TEXT: Mutex<String> = Mutex::new(String::new());

fn say_text_of_panic() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        usual(info);
        eprintln!("the text: {:?}", TEXT.lock().unwrap_or_else(|text| text.into_inner()));
    }));
}

/// The file, or all files below the folder, in the same order each time.
fn files(place: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place) else { return vec![place.to_owned()] };
    let mut inside: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    inside.sort();
    inside.iter().flat_map(|path| files(path)).collect()
}

/// The parts of a file that the engine reads, each of which begins with a line in brackets.
fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("\n[").map(|(at, _)| at + 1).collect();
    starts.push(text.len());
    let parts = starts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
    parts.filter(|part| KEYS.iter().any(|key| part.trim_start_matches('[').starts_with(key))).collect()
}

/// What is put into texts: the words above, all keys and words of the schema, and the lines of the sections.
fn words<'a>(sections: &[&'a str]) -> Vec<std::borrow::Cow<'a, str>> {
    let schema = json_schema().to_string();
    let named = schema.split('"').skip(1).step_by(2).filter(|word| word.len() < 40 && !word.contains('\\'));
    let mut found: Vec<_> = named.map(|word| word.to_owned().into()).collect();
    found.extend(sections.iter().flat_map(|section| section.split_inclusive('\n')).map(Into::into));
    found.sort();
    found.dedup();
    // The words that are not of the format are as likely as all those that are.
    let rounds = found.len() / WORDS.len() + 1;
    found.extend(WORDS.iter().cycle().take(rounds * WORDS.len()).map(|word| (*word).into()));
    found
}

fn write_text(text: &mut String, random: &mut Stream, sections: &[&str], words: &[std::borrow::Cow<'_, str>]) {
    let mut below = |n: usize| random.below(n as u64) as usize;
    text.clear();
    for least in ["[network]", "[[traffic]]", "[run]"] {
        let of: Vec<&str> = sections.iter().copied().filter(|section| section.starts_with(least)).collect();
        text.extend((!of.is_empty()).then(|| of[below(of.len())]));
    }
    for _ in 0..below(4) {
        text.push_str(sections[below(sections.len())]);
    }
    for _ in 0..below(5) {
        let from = boundary(text, below(text.len() + 1));
        match below(4) {
            // A few characters make way for a word.
            0 | 1 => {
                let to = boundary(text, (from + below(12)).min(text.len())).max(from);
                text.replace_range(from..to, &words[below(words.len())]);
            }
            // A part is cut out.
            2 => {
                let to = boundary(text, (from + below(60)).min(text.len())).max(from);
                text.replace_range(from..to, "");
            }
            // A part is repeated elsewhere.
            _ => {
                let to = boundary(text, (from + below(60)).min(text.len())).max(from);
                let (part, at) = (text[from..to].to_owned(), boundary(text, below(text.len() + 1)));
                text.insert_str(at, &part);
            }
        }
    }
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
