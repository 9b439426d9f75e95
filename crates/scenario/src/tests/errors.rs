//! Every kind of mistake, with the exact message.

use super::{WHOLE, error_of, override_error, parse, parse_with};
use crate::{Scenario, Unused};
use fanin_param::{Document, SpecError};

#[test]
fn unknown_keys_name_the_nearest() {
    assert_eq!(error_of("buffer =", "bufer ="), "s.toml:7: network.bufer: unknown key (did you mean \"buffer\"?)");
    assert_eq!(error_of("rto-min", "rto_min"), "s.toml:14: transport.rto_min: unknown key (did you mean \"rto-min\"?)");
    assert_eq!(
        error_of("mark-threshold", "mark-treshold"),
        "s.toml:18: scheme.dctcp.mark-treshold: unknown key (did you mean \"mark-threshold\"?)"
    );
    assert_eq!(
        error_of("senders", "sender"),
        "s.toml:23: traffic.bursts.sender: unknown key (did you mean \"senders\"?)"
    );
    assert_eq!(
        error_of("seed = 7", "zzz = 7"),
        "s.toml:38: run.zzz: unknown key; valid: duration, seed, backend, steady-limit"
    );
    assert_eq!(error_of("[control]", "[contrl]"), "s.toml:30: contrl: unknown key (did you mean \"control\"?)");
    assert_eq!(
        error_of("[scheme.dctcp]", "[scheme.dctpc]"),
        "s.toml:17: scheme.dctpc: unknown scheme (did you mean \"dctcp\"?)"
    );
}

#[test]
fn top_level_keys_of_others_are_left_alone_unless_they_are_a_slip_for_one_of_ours() {
    for foreign in
        ["runs-of = \"rcc/fig2a\"", "[foo]", "[[column]]", "[quick]", "[[variant]]", "benchmark = []", "nt = 1"]
    {
        let line = WHOLE.lines().next().unwrap();
        let text =
            if foreign.starts_with('[') { format!("{WHOLE}{foreign}\n") } else { WHOLE.replacen(line, foreign, 1) };
        assert!(parse(&text).is_ok(), "{foreign}: {:?}", parse(&text).err());
    }
    for (slip, meant) in [("netwrok", "network"), ("Traffics", "traffic"), ("rnu", "run"), ("queues", "queue")] {
        let error = parse(&format!("{WHOLE}[{slip}]\n")).unwrap_err();
        assert!(error.ends_with(&format!("{slip}: unknown key (did you mean \"{meant}\"?)")), "{error}");
    }
}

#[test]
fn an_override_has_no_other_reader_than_the_engine() {
    for path in ["title", "foo.bar", "column.x"] {
        let error = override_error(path, "1");
        assert!(error.starts_with(&format!("--set: {}: unknown key", path.split('.').next().unwrap())), "{error}");
    }
}

#[test]
fn every_unknown_key_is_reported_at_once() {
    let text =
        WHOLE.replace("seed = 7", "zzz = 7\naaa = 8").replace("buffer =", "bufer =").replace("senders", "sender");
    let error = Scenario::parse(&text, "s.toml", &[]).unwrap_err();
    let lines: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "s.toml:7: network.bufer: unknown key (did you mean \"buffer\"?)",
            "s.toml:23: traffic.bursts.sender: unknown key (did you mean \"senders\"?)",
            "s.toml:27: traffic.incast.sender: unknown key (did you mean \"senders\"?)",
            "s.toml:38: run.zzz: unknown key; valid: duration, seed, backend, steady-limit",
            "s.toml:39: run.aaa: unknown key; valid: duration, seed, backend, steady-limit",
        ]
    );
    // With a mistake of another kind first, and a table of unknown kind.
    let text = WHOLE.replace("\"star\"", "\"stra\"").replace("buffer =", "bufer =").replace("seed = 7", "zzz = 7");
    let error = Scenario::parse(&text, "s.toml", &[]).unwrap_err();
    assert_eq!((error.key.as_str(), error.more.len()), ("network.topology", 1));
    assert_eq!(error.more[0].key, "run.zzz");
}

#[test]
fn every_value_that_is_not_of_its_kind_is_reported_at_once() {
    let text = WHOLE.replace("\"star\"", "\"stra\"").replace("\"150KB\"", "150").replace("\"10ms\"", "\"10\"");
    let text = text.replace("\"65pkt\"", "\"65kt\"").replace("senders = 49", "senders = -1");
    let text = text.replacen("\"incast\"\nsenders = 2", "\"incats\"\nsenders = []", 1).replace("newreno", "reno");
    let error = Scenario::parse(&text, "s.toml", &[("run.seed".to_owned(), "x".to_owned())]).unwrap_err();
    let of = |error: &SpecError| (error.line, error.key.clone());
    let found: Vec<_> = std::iter::once(&error).chain(&error.more).map(of).collect();
    let expected = [
        (Some(5), "network.topology"),
        (None, "run.seed"),
        // Every topology has a buffer, but not every kind of traffic has a number of senders.
        (Some(7), "network.buffer"),
        (Some(14), "transport.rto-min"),
        (Some(18), "scheme.dctcp.mark-threshold"),
        (Some(23), "traffic.bursts.senders"),
        (Some(26), "traffic.kind"),
        (Some(28), "traffic.scheme"),
    ];
    assert_eq!(found, expected.map(|(line, key)| (line, key.to_owned())));
}

#[test]
fn values_of_schemes_out_of_use_are_named() {
    let scenario = Scenario::parse(
        "[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"incast\"\nsenders = 1\nbytes-each = \"1KB\"\n[scheme.dctcp]\ng = \"1/8\"\n",
        "s.toml",
        &[("scheme.dctcp.mark-threshold".into(), "5pkt".into())],
    );
    let unused = scenario.unwrap().unused();
    assert!(unused.iter().all(|value| value.beside.is_none()));
    let mut unused: Vec<&str> = unused.iter().map(|value| value.path.as_str()).collect();
    unused.sort_unstable();
    assert_eq!(unused, ["scheme.dctcp.g", "scheme.dctcp.mark-threshold"]);
    let used = [("transport.scheme".into(), "dctcp".into())];
    let text = "[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"incast\"\nsenders = 1\nbytes-each = \"1KB\"\n[scheme.dctcp]\ng = \"1/8\"\n";
    assert_eq!(Scenario::parse(text, "s.toml", &used).unwrap().unused(), []);
}

#[test]
fn keys_of_the_network_beside_another_admission_are_named() {
    let text = WHOLE.replace("admission = \"static\"\n", "");
    let unused = |admission: &str, more: &[(&str, &str)]| {
        let more = more.iter().map(|(key, value)| (format!("network.{key}"), (*value).to_owned()));
        let set: Vec<_> = more.chain([("network.admission".to_owned(), admission.to_owned())]).collect();
        let beside = Some(("network.admission".to_owned(), admission.to_owned()));
        let unused = Scenario::parse(&text, "s.toml", &set).unwrap().unused().into_iter();
        let path = |value: Unused| {
            assert_eq!(value.beside.map(|(key, word)| (key, word.to_owned())), beside);
            value.path
        };
        unused.map(path).collect::<Vec<_>>()
    };
    assert_eq!(unused("static", &[]), Vec::<String>::new());
    assert_eq!(
        unused("static", &[("dt-alpha", "2.0"), ("shared-buffer", "2MB")]),
        ["network.shared-buffer", "network.dt-alpha"]
    );
    assert_eq!(unused("dynamic-threshold", &[("dt-alpha", "2.0")]), ["network.buffer"]);
    let tier = [("topology", "leaf-spine"), ("spine-buffer", "50pkt"), ("buffer-full", "reached")];
    assert_eq!(unused("dynamic-threshold", &tier), ["network.buffer", "network.buffer-full", "network.spine-buffer"]);
}

#[test]
fn a_group_that_would_send_nothing_is_refused() {
    let group = |kind: &str| {
        let text = format!("[network]\ntopology = \"star\"\n[[traffic]]\n{kind}\n");
        Scenario::parse(&text, "s.toml", &[]).unwrap_err().to_string()
    };
    let incast = group("kind = \"incast\"\nsenders = 0\nbytes-each = \"1KB\"");
    let alone = "must be at least 1, not 0, if there is no other traffic";
    assert_eq!(incast, format!("s.toml:5: traffic.incast.senders: {alone}"));
    let tree = group("kind = \"relay-tree\"\nsenders = 0\nbytes-each = \"1KB\"");
    assert_eq!(tree, "s.toml:5: traffic.relay-tree.senders: must be at least 1, not 0");
    let sessions = group("kind = \"sessions\"\nsenders = 0\nbytes-each = \"1KB\"");
    assert_eq!(sessions, "s.toml:5: traffic.sessions.senders: must be at least 1, not 0");
    let beside = "[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"incast\"\nsenders = 0\nbytes-each = \"1KB\"\n\
                  [[traffic]]\nkind = \"background\"\nflows = 1\n";
    assert!(Scenario::parse(beside, "s.toml", &[]).is_ok());
    let long = group("kind = \"background\"\nflows = 0");
    assert_eq!(long, "s.toml:5: traffic.background.flows: must be at least 1, not 0");
}

#[test]
fn keys_of_another_kind_name_it() {
    use fanin_param::Variant;
    use fanin_param::values::table::{Source, check_keys};
    use fanin_param::{Kind, Param};
    const OURS: &[Param] = &[Param::new("kind", Kind::Text, "auto", "", "")];
    const RED: &[Param] = &[Param::new("max-threshold", Kind::Size, "1pkt", "", "")];
    let row = |key, params| Variant { key, summary: "", params };
    let origin = fanin_param::error::Origin::file("s.toml");
    let table = fanin_param::document::parse("max-threshold = 3", &origin).unwrap();
    let source = Source { path: "queue".into(), table: Some(&table), origin };
    let error = check_keys(&source, &[OURS], &[row("auto", &[]), row("red", RED)]).unwrap_err();
    assert_eq!(error.to_string(), "s.toml:1: queue.max-threshold: is a key of \"red\" only");
}

#[test]
fn unknown_words_name_the_nearest() {
    assert!(error_of("\"star\"", "\"stra\"").ends_with(", not \"stra\" (did you mean \"star\"?)"));
    assert!(error_of("\"star\"", "\"stra\"").starts_with("s.toml:5: network.topology: must be one of "));
    assert!(error_of("\"drop-tail\"", "\"droptail\"").ends_with("(did you mean \"drop-tail\"?)"));
    assert!(error_of("\"dctcp\"", "\"dtcp\"").ends_with("(did you mean \"dctcp\"?)"));
    assert!(error_of("\"newreno\"", "\"reno\"").starts_with("s.toml:28: traffic.incast.scheme: must be one of "));
    assert_eq!(
        error_of("queues = \"all\"", "queues = \"most\""),
        "s.toml:34: measure.queues: must be one of bottleneck, all, none, not \"most\""
    );
}

#[test]
fn bad_values_carry_their_place() {
    assert_eq!(error_of("\"10ms\"", "10"), "s.toml:14: transport.rto-min: a time needs a unit: write \"10ms\"");
    assert_eq!(
        error_of("\"10Gbps\"", "\"10gbps\""),
        "s.toml:6: network.rate: unknown unit \"gbps\" (did you mean \"10Gbps\"?)"
    );
    assert_eq!(
        error_of("\"150KB\"", "[1]"),
        "s.toml:7: network.buffer: must be a number of packets or bytes, not a list"
    );
    assert_eq!(
        error_of("queues = \"all\"", "probes = [\"cwnd\", \"alpha\"]"),
        "s.toml:34: measure.probes: must be text, not a list: write \"cwnd,alpha\""
    );
    assert_eq!(error_of("queues = \"all\"", "probes = [3]"), "s.toml:34: measure.probes: must be text, not a list");
    assert_eq!(error_of("seed = 7", "seed = {}"), "s.toml:38: run.seed: must be a whole number, not a table");
    assert_eq!(error_of("\"1.5s\"", "\"0s\""), "s.toml:37: run.duration: must be at least 1ps, not 0s");
    assert_eq!(error_of("\"1%\"", "\"200%\""), "s.toml:31: control.loss: must be at most 1, not 2");
    assert!(error_of("sack = true", "window-scale = 15").ends_with(", 13, 14, not \"15\""));
}

#[test]
fn missing_things_are_placed_at_what_lacks_them() {
    assert_eq!(error_of("senders = 49\n", ""), "s.toml:20: traffic.bursts.senders: is required: a whole number");
    assert!(error_of("topology = \"star\"\n", "").starts_with("s.toml:4: network.topology: is required: one of "));
    assert!(parse("").unwrap_err().starts_with("s.toml: network.topology: is required: one of "));
    assert!(error_of("kind = \"incast\"\n", "").starts_with("s.toml:20: traffic.bursts.kind: is required: one of "));
    let none = "[network]\ntopology = \"star\"\n";
    assert_eq!(parse(none).unwrap_err(), "s.toml: traffic: at least one [[traffic]] is required");
    let empty = format!("traffic = []\n{none}");
    assert_eq!(parse(&empty).unwrap_err(), "s.toml:1: traffic: at least one [[traffic]] is required");
}

#[test]
fn tables_must_be_tables() {
    let network = "[network]\ntopology = \"star\"\n";
    let with = |line: &str| parse(&format!("{line}\n{network}")).unwrap_err();
    assert_eq!(error_of("[run]", "[[run]]"), "s.toml:36: run: must be a table, not a list");
    assert_eq!(with("queue = [1]"), "s.toml:1: queue: must be a table, not a list");
    assert_eq!(with("traffic = 3"), "s.toml:1: traffic: must be [[traffic]], not the number 3");
    assert_eq!(with("traffic = [3]"), "s.toml:1: traffic: must be a table, not the number 3");
    assert_eq!(
        parse(&format!("{network}[traffic]\nkind = \"incast\"")).unwrap_err(),
        "s.toml:3: traffic: is a list: write [[traffic]]"
    );
    assert_eq!(
        error_of("[scheme.dctcp]\nmark-threshold = \"65pkt\"", "[scheme]\ndctcp = 3"),
        "s.toml:18: scheme.dctcp: must be a table, not the number 3"
    );
}

#[test]
fn group_names_are_words_and_unique() {
    assert_eq!(
        error_of("name = \"bursts\"", "name = \"incast\""),
        "s.toml:25: traffic.incast.name: two groups are called \"incast\"; give each a name of its own"
    );
    for name in ["", "Bursts", "a.b", "1st", "-x", "a b"] {
        assert_eq!(
            error_of("\"bursts\"", &format!("{name:?}")),
            format!(
                "s.toml:21: traffic.name: must consist of lower-case letters, digits and hyphens and begin with a letter, not {name:?}"
            )
        );
    }
}

#[test]
fn relations_between_keys() {
    assert_eq!(
        error_of("\"10ms\"", "\"2s\"\nrto-max = \"1s\""),
        "s.toml:15: transport.rto-max: must be at least rto-min, which is 2s"
    );
    assert_eq!(
        error_of("queues = \"all\"", "warmup = \"2s\""),
        "s.toml:34: measure.warmup: must be below run.duration, which is 1500ms"
    );
}

#[test]
fn text_that_is_not_toml() {
    assert_eq!(
        error_of("seed = 7", "seed = "),
        "s.toml:38: not TOML: string values must be quoted, expected literal string"
    );
    assert!(parse("a = \"\"\"\n\n").unwrap_err().starts_with("s.toml:"));
    let quotes = "s.toml:2: not TOML: values with letters or units are written in quotes: ";
    assert_eq!(parse("[a]\nb = 5us # so\n").unwrap_err(), format!("{quotes}b = \"5us\""));
    for deep in [
        format!("a = {}{}", "[".repeat(50_000), "]".repeat(50_000)),
        format!("a = {}1{}", "{ a = ".repeat(50_000), " }".repeat(50_000)),
        format!("{}a = 1\n", "a.".repeat(50_000)),
        format!("[{}a]\n", "a.".repeat(50_000)),
    ] {
        let error = parse(&deep).unwrap_err();
        assert!(error.contains("s.toml:1: its values or keys are nested too deeply"), "{error}");
    }
    assert!(parse(&format!("a = 1\na = 2\nb = {}", "[".repeat(50_000))).is_err());
}

#[test]
fn a_file_knows_the_lines_of_its_keys() {
    let document = Document::parse(WHOLE, "s.toml").unwrap();
    let line = |path: &str| document.line(&path.split('/').map(str::to_owned).collect::<Vec<_>>());
    assert_eq!([line("network/rate"), line("traffic/1/scheme"), line("traffic/1/kind")], [Some(6), Some(28), Some(26)]);
    // Of what is not there, the innermost table; and that of lists.
    assert_eq!([line("network/nothing"), line("traffic/1/nothing"), line("nothing/at")], [Some(4), Some(25), None]);
    assert_eq!([line("sweep/traffic.bursts.senders"), line("sweep/traffic.bursts.senders/2")], [Some(41), Some(41)]);
}

#[test]
fn a_file_without_a_key_has_its_default() {
    let document = Document::parse(WHOLE, "s.toml").unwrap();
    let found = |path: &str| Scenario::of(&document.without(path), &[]).map(|scenario| scenario.resolved());
    assert_eq!(found("transport.rto-min").unwrap()["transport"]["rto-min"], "200ms");
    assert_eq!(found("scheme.dctcp.mark-threshold").unwrap()["scheme"]["dctcp"]["mark-threshold"], "65pkt");
    assert_eq!(found("nothing.at.all").unwrap(), parse(WHOLE).unwrap().resolved());
    assert!(found("network.topology").is_err_and(|error| error.message.contains("is required")));
}

#[test]
fn a_key_that_is_given_twice_names_the_line_of_the_first() {
    let twice = |text: &str| parse(text).unwrap_err();
    let told = |line: usize, key: &str, first: usize| {
        format!("s.toml:{line}: {key}: is given twice: it is in line {first} already")
    };
    assert_eq!(error_of("seed = 7", "seed = 7\nseed = 8"), told(39, "run.seed", 38));
    assert_eq!(twice("[run]\n[network]\n[run]\n"), told(3, "run", 1));
    // In inline tables, also inside others and in lists.
    assert_eq!(twice("\nrun = { seed = 1, seed = 2 }"), told(2, "run.seed", 2));
    assert_eq!(twice("[scheme]\nx = {\n a = { b = 1, c = 1, \"b\" = 2 } }"), told(3, "scheme.x.a.b", 3));
    assert_eq!(twice("traffic = [{ a = 1 }, { a = 1,\n b.c = 2,\n a = 3 }]"), told(3, "traffic.1.a", 1));
    assert_eq!(twice("x = [\"a\", [{ a = 1,\n a = 2 }]]"), told(2, "x.1.0.a", 1));
    // A dotted key makes its table.
    assert_eq!(twice("network.rate = \"1Gbps\"\n[network]\nbuffer = \"1pkt\""), told(2, "network", 1));
    assert_eq!(twice("[a]\nb.c = 1\nb.d = 1\nb.c = 2"), told(4, "a.b.c", 2));
    assert_eq!(twice("[a.b]\n[a]\nb.c = 1"), told(3, "a.b", 1));
    // Each table of a list has keys of its own.
    let list = "[[traffic]]\na = 1\n[traffic.b]\nc = 1\n[[traffic]]\na = 2\n[traffic.b]\nc = 2\n";
    assert_eq!(twice(&format!("{list}d = 1\nc = 3")), told(10, "traffic.1.b.c", 8));
    assert_eq!(twice(&format!("{list}[traffic.b]")), told(9, "traffic.1.b", 7));
    assert_eq!(twice("[[run]]\n[run]"), told(2, "run", 1));
    assert_eq!(twice("a = 1\na.b = 2"), told(2, "a", 1));
}

#[test]
fn a_repeated_key_is_found_in_a_text_that_is_no_scenario() {
    let error = |text| Document::parse(text, "s.toml").err().map(|error| error.to_string());
    let twice = error("title = \"a\"\ntitle = \"b\"");
    assert_eq!(twice.as_deref(), Some("s.toml:2: title: is given twice: it is in line 1 already"));
    assert_eq!(error("title = 1"), None);
    assert!(error("title = ").is_some_and(|error| error.starts_with("s.toml:1: not TOML: ")));
}

#[test]
fn schemes_are_found_by_the_names_that_operating_systems_give_them() {
    for (name, ours) in [("cubic", "CUBIC is \"linux\""), ("Reno", "Reno is \"linux-reno\"")] {
        let error = override_error("transport.scheme", name);
        assert!(error.ends_with(&format!(", not {name:?}; {ours} here")), "{error}");
        let error = override_error("traffic.bursts.scheme", name);
        assert!(error.ends_with(&format!(", not {name:?}; {ours} here")), "{error}");
    }
    // Nothing here is BBR.
    assert!(override_error("transport.scheme", "bbr").ends_with(", not \"bbr\""));
}

#[test]
fn structured_errors_for_the_binding() {
    let text = WHOLE.replace("buffer", "bufer");
    let error = Scenario::parse(&text, "a/b.toml", &[]).unwrap_err();
    assert_eq!((error.file.as_str(), error.line, error.key.as_str()), ("a/b.toml", Some(7), "network.bufer"));
    assert_eq!((error.message.as_str(), error.suggestion.as_deref()), ("unknown key", Some("buffer")));
}

#[test]
fn errors_of_later_checks_stand_where_the_key_does() {
    let scenario = parse_with(WHOLE, &[("transport.mss", "1000B")]).unwrap();
    let fail = |values: &fanin_param::Values, key| values.fail(key, "will not do").to_string();
    assert_eq!(fail(&scenario.network.values, "buffer"), "s.toml:7: network.buffer: will not do");
    assert_eq!(fail(&scenario.network.values, "delay"), "s.toml:4: network.delay: will not do");
    assert_eq!(fail(&scenario.transport, "mss"), "--set: transport.mss: will not do");
    assert_eq!(fail(&scenario.traffic[0].values, "senders"), "s.toml:23: traffic.bursts.senders: will not do");
    assert_eq!(fail(scenario.scheme("newreno"), "x"), "s.toml:17: scheme.newreno.x: will not do");
    let error = scenario.run.fail_with_suggestion("seed", "is unlucky", "8");
    assert_eq!(error.to_string(), "s.toml:38: run.seed: is unlucky (did you mean \"8\"?)");
}

#[test]
fn wrong_overrides() {
    assert_eq!(override_error("run.sed", "3"), "--set: run.sed: unknown key (did you mean \"seed\"?)");
    assert_eq!(override_error("run.seed", "x"), "--set: run.seed: must be a whole number, not the text \"x\"");
    assert_eq!(override_error("rnu.seed", "3"), "--set: rnu: unknown key (did you mean \"run\"?)");
    assert_eq!(override_error("scheme.dctpc.g", "3"), "--set: scheme.dctpc: unknown scheme (did you mean \"dctcp\"?)");
    assert_eq!(
        override_error("traffic.burst.senders", "3"),
        "--set: traffic.burst: no such traffic group (did you mean \"bursts\"?)"
    );
    assert_eq!(
        override_error("traffic.zzz.senders", "3"),
        "--set: traffic.zzz: no such traffic group; valid: bursts, incast"
    );
    assert_eq!(override_error("run.seed.x", "3"), "--set: run.seed: is the number 7, so it has no key \"x\"");
    assert_eq!(
        override_error("traffic.bursts", "3"),
        "--set: traffic.bursts: is a traffic group: name one of its keys as well"
    );
    assert_eq!(
        override_error("traffic.senders", "3"),
        "--set: traffic.senders: name the traffic group as well: traffic.bursts.senders or traffic.incast.senders"
    );
    assert_eq!(
        override_error("traffic.bursts.a.b", "3"),
        "--set: traffic.bursts.a.b: a traffic group has no tables inside"
    );
    for path in ["", ".", "run.", "run..seed"] {
        assert_eq!(
            parse_with(WHOLE, &[(path, "1")]).unwrap_err().rsplit_once(": ").unwrap().1,
            "not the path of a key, such as \"run.seed\""
        );
    }
    assert_eq!(override_error("run", "3"), "--set: run: must be a table, not the number 3");
}
