//! No text and no override, however broken, makes the parser panic; an accepted scenario resolves to itself.

use super::WHOLE;
use crate::Scenario;
use proptest::prelude::*;

/// Pieces that take a mutation deep into the checks.
const PIECES: &[&str] = &[
    "[",
    "]",
    "[[traffic]]",
    "[scheme.dctcp]",
    "=",
    "\"",
    "'''",
    "\n",
    ".",
    "-",
    "{",
    "}",
    "1e999",
    "0x",
    "nan",
    "\u{0}",
    "\"1ms\"",
    "\"1/0\"",
    "\"%\"",
    "\"99999999999999999999s\"",
    "kind = \"incast\"",
    "name = \"incast\"",
    "µ",
    "1979-05-27",
    "[1, 2]",
    "true",
    "-1",
    "topology",
    "run",
    "traffic",
    "#",
];

fn check(text: &str, overrides: &[(String, String)]) {
    if let Ok(scenario) = Scenario::parse(text, "f.toml", overrides) {
        let resolved = scenario.resolved();
        let text = toml::to_string(&resolved).expect("resolved values are TOML");
        let again = Scenario::parse(&text, "resolved", &[]).expect("a resolved scenario is a scenario");
        assert_eq!(again.resolved(), resolved);
        scenario.resolved_table();
    }
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

proptest! {
    #[test]
    fn random_text(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes), &[]);
    }

    #[test]
    fn random_pieces(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30)) {
        check(&pieces.concat(), &[]);
    }

    #[test]
    fn mutated_file(
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0..12_usize, proptest::sample::select(PIECES)), 1..4),
    ) {
        let mut text = WHOLE.to_owned();
        for (at, cut, piece) in edits {
            let from = boundary(&text, at.index(text.len() + 1));
            let to = boundary(&text, (from + cut).min(text.len())).max(from);
            text.replace_range(from..to, piece);
        }
        check(&text, &[]);
    }

    #[test]
    fn any_override(path in "[a-z.-]{0,24}", value in ".{0,12}", known in proptest::sample::select(&[
        "run.seed", "network.rate", "traffic.bursts.senders", "traffic.incast.kind", "scheme.dctcp.mark-threshold",
        "traffic", "scheme", "traffic.bursts.name", "control.loss", "traffic.incast.scheme",
    ][..])) {
        check(WHOLE, &[(path, value.clone())]);
        check(WHOLE, &[(known.to_owned(), value)]);
    }
}
