//! Every unit, exactness, and rejected values.

use crate::document::{Content, Scalar};
use crate::values::quantity::{noun, read, read_text};
use crate::{Kind, Param, Value, Window};
use fanin_core::units::{Bytes, Rate, Size, Time};
use proptest::prelude::*;

const fn key(kind: Kind) -> Param {
    Param::new("key", kind, "", "A key.", "required")
}

fn value(kind: Kind, text: &str) -> Value {
    read_text(&key(kind), text).unwrap_or_else(|fault| panic!("{text:?}: {fault:?}"))
}

/// The message of the fault, with the suggestion as a user sees it.
fn fault(kind: Kind, given: Scalar) -> String {
    match read(&key(kind), &Content::Scalar(given)) {
        Ok(value) => panic!("accepted as {value:?}"),
        Err(fault) => match fault.suggestion {
            Some(suggestion) => format!("{} -> {suggestion}", fault.message),
            None => fault.message,
        },
    }
}

fn text_fault(kind: Kind, text: &str) -> String {
    fault(kind, Scalar::Text(text.to_owned()))
}

#[test]
fn times_in_every_unit() {
    let ps = |text| match value(Kind::Time, text) {
        Value::Time(time) => time.ps(),
        other => panic!("{other:?}"),
    };
    assert_eq!(ps("7ps"), 7);
    assert_eq!(ps("7ns"), 7_000);
    assert_eq!(ps("33us"), 33_000_000);
    assert_eq!(ps("1.5ms"), 1_500_000_000);
    assert_eq!(ps("30s"), 30_000_000_000_000);
    assert_eq!(ps("0s"), 0);
    assert_eq!(ps("0.000000000001s"), 1);
    assert_eq!(ps("1.50 us"), 1_500_000);
    assert_eq!(ps("1000000s"), 1_000_000_000_000_000_000);
    assert_eq!(value(Kind::Time, "0.1us"), Value::Time(Time::from_ns(100)));
}

#[test]
fn sizes_in_every_unit() {
    for (text, bytes) in [
        ("1B", 1),
        ("512KB", 512_000),
        ("512kB", 512_000),
        ("1.5MB", 1_500_000),
        ("2GB", 2_000_000_000),
        ("1TB", 1_000_000_000_000),
        ("64KiB", 65_536),
        ("0.5KiB", 512),
        ("1MiB", 1 << 20),
        ("1GiB", 1 << 30),
        ("1TiB", 1 << 40),
        ("3 KB", 3_000),
    ] {
        assert_eq!(value(Kind::Bytes, text), Value::Bytes(Bytes::new(bytes)), "{text}");
        assert_eq!(value(Kind::Size, text), Value::Size(Size::Bytes(bytes)), "{text}");
        assert_eq!(value(Kind::Window, text), Value::Window(Window::Bytes(bytes)), "{text}");
    }
    assert_eq!(value(Kind::Size, "100pkt"), Value::Size(Size::Packets(100)));
    assert_eq!(value(Kind::Window, "2mss"), Value::Window(Window::Segments(2)));
}

#[test]
fn rates_in_every_unit() {
    for (text, bps) in [
        ("8000bps", 8_000),
        ("64kbps", 64_000),
        ("64Kbps", 64_000),
        ("100Mbps", 100_000_000),
        ("1Gbps", 1_000_000_000),
        ("2.5Gbps", 2_500_000_000),
        ("1Tbps", 1_000_000_000_000),
        ("8000b/s", 8_000),
        ("100Mb/s", 100_000_000),
        ("1 Gb/s", 1_000_000_000),
        ("8000bit/s", 8_000),
        ("10Gbit/s", 10_000_000_000),
        ("125MBps", 1_000_000_000),
        ("125MB/s", 1_000_000_000),
        ("1KiB/s", 8_192),
    ] {
        assert_eq!(value(Kind::Rate, text), Value::Rate(Rate::from_bps(bps)), "{text}");
    }
}

#[test]
fn numbers_shares_and_flags() {
    assert_eq!(value(Kind::Fraction, "30%"), Value::Number(0.3));
    assert_eq!(value(Kind::Fraction, "12.34%"), Value::Number(0.1234));
    assert_eq!(value(Kind::Fraction, "100 %"), Value::Number(1.0));
    assert_eq!(value(Kind::Fraction, "1/16"), Value::Number(0.0625));
    assert_eq!(value(Kind::Fraction, "0.3"), Value::Number(0.3));
    assert_eq!(value(Kind::Number, "-0.0").to_string(), "0");
    assert_eq!(value(Kind::Integer, "18446744073709551615"), Value::Integer(u64::MAX));
    assert_eq!(value(Kind::Bool, "true"), Value::Bool(true));
    let words = Kind::Choice(&["auto", "7"]);
    assert_eq!(read(&key(words), &Content::Scalar(Scalar::Integer("7".into()))), Ok(Value::Text("7".into())));
    let loose = key(Kind::Fraction).at_most(2.0);
    assert_eq!(read_text(&loose, "150%"), Ok(Value::Number(1.5)));
}

#[test]
fn values_that_no_integer_holds_lose_precision() {
    let message = |text, unit| format!("{text:?} would lose precision: it is not a whole number of {unit}");
    assert_eq!(text_fault(Kind::Time, "0.1ps"), message("0.1ps", "picoseconds"));
    assert_eq!(text_fault(Kind::Time, "0.0000000000001s"), message("0.0000000000001s", "picoseconds"));
    assert_eq!(text_fault(Kind::Bytes, "1.5B"), message("1.5B", "bytes"));
    assert_eq!(text_fault(Kind::Bytes, "0.3KiB"), message("0.3KiB", "bytes"));
    assert_eq!(text_fault(Kind::Size, "1.5pkt"), message("1.5pkt", "packets or bytes"));
    assert_eq!(text_fault(Kind::Window, "0.5mss"), message("0.5mss", "segments or bytes"));
    assert_eq!(text_fault(Kind::Rate, "0.5bps"), message("0.5bps", "bits per second"));
    let long = format!("0.{}1s", "0".repeat(60));
    assert_eq!(text_fault(Kind::Time, &long), message(&long, "picoseconds"));
}

#[test]
fn bare_numbers_need_a_unit() {
    let bare = |kind, number: &str| fault(kind, Scalar::Integer(number.into()));
    assert_eq!(bare(Kind::Time, "10"), "a time needs a unit: write \"10ms\"");
    assert_eq!(bare(Kind::Bytes, "10"), "a number of bytes needs a unit: write \"10KB\"");
    assert_eq!(bare(Kind::Bytes, "64000"), "a number of bytes needs a unit: write \"64000B\"");
    assert_eq!(bare(Kind::Size, "10"), "a number of packets or bytes needs a unit: write \"10pkt\" or \"10KB\"");
    assert_eq!(bare(Kind::Rate, "10"), "a rate needs a unit: write \"10Gbps\"");
    assert_eq!(bare(Kind::Window, "10"), "a number of segments or bytes needs a unit: write \"10mss\"");
    assert_eq!(fault(Kind::Time, Scalar::Float("1.5".into())), "a time needs a unit: write \"1.5ms\"");
    assert_eq!(text_fault(Kind::Time, "10"), "a time needs a unit: write \"10ms\"");
    assert_eq!(text_fault(Kind::Time, "0"), "a time needs a unit: write \"0s\"");
    assert_eq!(text_fault(Kind::Rate, "10e9"), "a rate needs a unit: write \"10Gbps\"");
    assert_eq!(text_fault(Kind::Rate, "10 "), "a rate needs a unit: write \"10Gbps\"");
}

#[test]
fn bare_numbers_get_the_unit_in_which_they_are_plausible() {
    for (kind, number, written) in [
        (Kind::Rate, "10000000000.0", "10Gbps"),
        (Kind::Rate, "10e9", "10Gbps"),
        (Kind::Rate, "2.5e9", "2500Mbps"),
        (Kind::Rate, "100", "100Gbps"),
        (Kind::Rate, "1000000", "1Mbps"),
        (Kind::Time, "0.01", "0.01s"),
        (Kind::Time, "1e-6", "0.000001s"),
        (Kind::Time, "200.0", "200ms"),
        (Kind::Time, "50000", "50000us"),
        (Kind::Time, "1e9", "1000000000ns"),
        (Kind::Bytes, "1e6", "1000000B"),
        (Kind::Sizes, "20000", "20000B"),
        (Kind::Sizes, "20.0", "20KB"),
        (Kind::Size, "150000.0", "150000B"),
        (Kind::Size, "1.5", "1.5KB"),
        (Kind::Window, "14600", "14600B"),
        (Kind::Window, "0.5", "0.5KB"),
    ] {
        let message = format!("{} needs a unit: write \"{written}\"", noun(kind));
        assert_eq!(fault(kind, Scalar::Float(number.into())), message, "{number}");
        assert!(read(&key(kind), &Content::Scalar(Scalar::Text(written.into()))).is_ok(), "{written}");
    }
    for number in ["inf", "nan", "1e300"] {
        let message = format!("must be a time such as \"10ms\", not {number}");
        assert_eq!(fault(Kind::Time, Scalar::Float(number.into())), message);
    }
}

#[test]
fn wrong_units_get_the_intended_one() {
    for (kind, text, message) in [
        (Kind::Rate, "1gbps", "unknown unit \"gbps\" -> 1Gbps"),
        (Kind::Rate, "1Gb", "unknown unit \"Gb\" -> 1Gbps"),
        (Kind::Rate, "1GB", "unknown unit \"GB\" -> 1GBps"),
        (Kind::Rate, "1G", "unknown unit \"G\" -> 1Gbps"),
        (Kind::Size, "1Gb", "\"Gb\" counts bits, and this is a number of packets or bytes -> 1GB"),
        (Kind::Bytes, "8 kb", "\"kb\" counts bits, and this is a number of bytes -> 8KB"),
        (Kind::Bytes, "8kib", "\"kib\" counts bits, and this is a number of bytes -> 8KiB"),
        (Kind::Size, "8packets", "unknown unit \"packets\" -> 8pkt"),
        (Kind::Window, "8pkt", "unknown unit \"pkt\" -> 8mss"),
        (Kind::Time, "5 µs", "unknown unit \"µs\" -> 5us"),
        (Kind::Time, "5MS", "unknown unit \"MS\" -> 5ms"),
        (Kind::Time, "5sec", "unknown unit \"sec\" -> 5s"),
        (Kind::Time, "5KB", "\"5KB\" is a number of bytes, and this is a time; valid units: ms, ps, ns, us, s"),
        (
            Kind::Bytes,
            "5 pkt",
            concat!(
                "\"5 pkt\" is a number of packets, and this is a number of bytes; ",
                "valid units: KB, B, MB, GB, TB, kB, KiB, MiB, GiB, TiB",
            ),
        ),
        (
            Kind::Rate,
            "10ms",
            concat!(
                "\"10ms\" is a time, and this is a rate; ",
                "valid units: Gbps, bps, kbps, Kbps, Mbps, Tbps, Bps, kBps, KBps, MBps, GBps, TBps",
            ),
        ),
        (Kind::Time, "5h", "unknown unit \"h\"; valid: ms, ps, ns, us, s"),
        (Kind::Time, "1e3us", "unknown unit \"e3us\"; valid: ms, ps, ns, us, s"),
        (Kind::Time, "5  ms", "unknown unit \" ms\"; valid: ms, ps, ns, us, s"),
    ] {
        assert_eq!(text_fault(kind, text), message, "{text}");
    }
}

#[test]
fn malformed_and_extreme_values() {
    for (kind, text, message) in [
        (Kind::Time, "", "is empty; write a time such as \"10ms\""),
        (Kind::Time, " ", "is empty; write a time such as \"10ms\""),
        (Kind::Time, "-5ms", "cannot be negative, as \"-5ms\" is"),
        (Kind::Time, "fast", "must be a time such as \"10ms\", not \"fast\""),
        (Kind::Time, ".5s", "must be a time such as \"10ms\", not \".5s\""),
        (Kind::Time, "5.s", "must be a time such as \"10ms\", not \"5.s\""),
        (Kind::Time, "1.2.3s", "must be a time such as \"10ms\", not \"1.2.3s\""),
        (Kind::Time, "1000001s", "1000001s is too large"),
        (Kind::Bytes, "10000TB", "10000TB is too large"),
        (Kind::Size, "9999999999999pkt", "9999999999999pkt is too large"),
        (
            Kind::Rate,
            "99999999999999999999999999999999999999999bps",
            "99999999999999999999999999999999999999999bps is too large",
        ),
        (Kind::Fraction, "", "must be a share such as \"30%\", \"1/16\" or 0.3, not \"\""),
        (Kind::Fraction, "%", "must be a share such as \"30%\", \"1/16\" or 0.3, not \"%\""),
        (Kind::Rate, "0bps", "must be above zero, not \"0bps\""),
        (Kind::Rate, "0.0Gbps", "must be above zero, not \"0.0Gbps\""),
        (Kind::Fraction, "1/0", "must be a share such as \"30%\", \"1/16\" or 0.3, not \"1/0\""),
        (Kind::Fraction, "1e9%", "must be a share such as \"30%\", \"1/16\" or 0.3, not \"1e9%\""),
        (Kind::Fraction, "-1%", "cannot be negative, as \"-1%\" is"),
        (Kind::Fraction, "101%", "must be at most 1, not 1.01"),
        (Kind::Fraction, "0.3", "write 0.3 without quotes"),
        (Kind::Number, "0.3", "write 0.3 without quotes"),
        (Kind::Number, "many", "must be a number, not the text \"many\""),
        (Kind::Integer, "3", "write 3 without quotes"),
        (Kind::Integer, "three", "must be a whole number, not the text \"three\""),
        (Kind::Bool, "true", "write true without quotes"),
        (Kind::Bool, "yes", "must be true or false, not the text \"yes\""),
        (Kind::Choice(&["off", "on"]), "onn", "must be one of off, on, not \"onn\" -> on"),
        (Kind::Choice(&["off", "on"]), "maybe", "must be one of off, on, not \"maybe\""),
    ] {
        assert_eq!(text_fault(kind, text), message, "{text}");
    }
    for (kind, scalar, message) in [
        (Kind::Integer, Scalar::Integer("-3".into()), "cannot be negative, as -3 is"),
        (Kind::Integer, Scalar::Float("3.0".into()), "must be a whole number, not the number 3.0"),
        (Kind::Integer, Scalar::Integer("18446744073709551616".into()), "18446744073709551616 is too large"),
        (Kind::Number, Scalar::Float("nan".into()), "must be a finite number, not nan"),
        (Kind::Number, Scalar::Float("inf".into()), "must be a finite number, not inf"),
        (Kind::Number, Scalar::Float("-0.5".into()), "must be at least 0, not -0.5"),
        (Kind::Time, Scalar::Integer("-3".into()), "cannot be negative, as -3 is"),
        (Kind::Time, Scalar::Bool(true), "must be a time, not true"),
        (Kind::Text, Scalar::Date("2026-01-01".into()), "must be text, not the date 2026-01-01"),
    ] {
        assert_eq!(fault(kind, scalar.clone()), message, "{scalar:?}");
    }
}

#[test]
fn rates_at_which_a_byte_lasts_no_whole_picosecond_name_their_neighbours() {
    let message = |rate, nearest| {
        format!("at {rate} a byte does not take a whole number of ps that fits 32 bits; nearest: {nearest}")
    };
    assert_eq!(text_fault(Kind::Rate, "3Gbps"), message("3Gbps", "\"2560Mbps\" and \"3125Mbps\""));
    assert_eq!(text_fault(Kind::Rate, "1MiB/s"), message("8388608bps", "\"8Mbps\" and \"9765625bps\""));
    assert_eq!(text_fault(Kind::Rate, "9Tbps"), message("9000Gbps", "\"8000Gbps\""));
    assert_eq!(text_fault(Kind::Rate, "1000bps"), message("1kbps", "\"2kbps\""));
}

#[test]
fn bounds_are_printed_in_the_unit_of_the_value() {
    let fault = |param: Param, text| read_text(&param, text).unwrap_err().message;
    assert_eq!(fault(key(Kind::Time).at_least(1e7), "1us"), "must be at least 10us, not 1us");
    assert_eq!(fault(key(Kind::Bytes).at_most(9000.0), "9001B"), "must be at most 9000B, not 9001B");
    assert_eq!(fault(key(Kind::Size).at_least(1.0), "0pkt"), "must be at least 1pkt, not 0pkt");
    assert_eq!(fault(key(Kind::Size).at_least(1.0), "0KB"), "must be at least 1B, not 0B");
    assert_eq!(fault(key(Kind::Window).at_least(1.0), "0mss"), "must be at least 1mss, not 0mss");
    assert_eq!(fault(key(Kind::Rate).at_most(1e9), "10Gbps"), "must be at most 1Gbps, not 10Gbps");
    assert_eq!(fault(key(Kind::Integer).at_most(255.0), "256"), "must be at most 255, not 256");
    assert_eq!(fault(key(Kind::Number).at_least(0.5), "0.25"), "must be at least 0.5, not 0.25");
}

proptest! {
    /// A printed value reads back as the same value.
    #[test]
    fn printed_values_read_back(n in 0_u64..1 << 39, share in 0.0..=1.0) {
        let values = [
            (Kind::Time, Value::Time(Time::from_ps(n * 1000 + n % 7))),
            (Kind::Bytes, Value::Bytes(Bytes::new(n))),
            (Kind::Size, Value::Size(Size::Packets(n))),
            (Kind::Size, Value::Size(Size::Bytes(n))),
            (Kind::Window, Value::Window(Window::Segments(n))),
            (Kind::Window, Value::Window(Window::Bytes(n))),
            (Kind::Integer, Value::Integer(n)),
            (Kind::Fraction, Value::Number(share)),
        ];
        for (kind, printed) in values {
            prop_assert_eq!(&value(kind, &printed.to_string()), &printed);
        }
    }

    /// Decimal times agree with integer arithmetic.
    #[test]
    fn decimals_are_exact(whole in 0_u64..100_000, micros in 0_u64..1_000_000) {
        let text = format!("{whole}.{micros:06}s");
        let exact = Time::from_us(whole * 1_000_000 + micros);
        prop_assert_eq!(value(Kind::Time, &text), Value::Time(exact));
    }

    /// No text makes a kind panic.
    #[test]
    fn any_text_is_a_value_or_a_fault(text in ".{0,20}") {
        for kind in [Kind::Time, Kind::Bytes, Kind::Size, Kind::Rate, Kind::Fraction, Kind::Number, Kind::Integer,
            Kind::Bool, Kind::Text, Kind::Choice(&["on", "off"]), Kind::Window] {
            let _ = read(&key(kind), &Content::Scalar(Scalar::Text(text.clone())));
            let _ = read_text(&key(kind), &text);
        }
    }
}
