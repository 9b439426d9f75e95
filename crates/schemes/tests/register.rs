//! Rows of other crates, in a process of their own: what is registered is there for good.

use fanin_schemes::{REGISTRY, SchemeRow, all, find, register};

fn row(key: &'static str) -> &'static SchemeRow {
    Box::leak(Box::new(SchemeRow { key, ..REGISTRY[0] }))
}

fn registered(keys: &[&'static str]) -> Result<(), String> {
    register(keys.iter().map(|key| row(key)).collect::<Vec<_>>().leak())
}

#[test]
fn rows_are_added_once_and_not_under_a_name_that_exists() {
    for (keys, taken) in [(&["own", "dctcp"][..], "dctcp"), (&["linux-bbr"], "linux-bbr"), (&["own", "own"], "own")] {
        let why = registered(keys).expect_err("a name that exists");
        assert_eq!(why, format!("there is a scheme {taken:?} already: give yours another key"));
    }
    let rows = [row("own"), row("second")].to_vec().leak();
    assert_eq!((register(rows), register(rows)), (Ok(()), Ok(())));
    assert_eq!((find("own").key, find("second").key), ("own", "second"));
    assert_eq!(all().filter(|row| row.key == "own").count(), 1);
    let why = registered(&["late"]).expect_err("the schemes are known");
    assert!(why.starts_with("the schemes are known already"), "{why}");
}
