//! Schemes: one room per published system.

use crate::spec::{Kind, Param};

/// A scheme that a scenario can name.
#[derive(Debug)]
pub struct SchemeRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of its `[scheme.<key>]` table.
    pub params: &'static [Param],
    /// Manual page body, Markdown: what it is, who acts, readings taken. Parameters are appended from `params`.
    pub manual: &'static str,
}

/// Every scheme.
pub const REGISTRY: &[SchemeRow] = &[
    SchemeRow { key: "newreno", summary: "TCP NewReno (RFC 5681, RFC 6582).", params: &[], manual: "" },
    SchemeRow {
        key: "dctcp",
        summary: "DCTCP (RFC 8257).",
        params: &[Param::new(
            "mark-threshold",
            Kind::Size,
            "20pkt",
            "Queue at which arriving packets are marked.",
            "Alizadeh et al. 2010, section 4.4: 20 packets at 1 Gbps",
        )
        .at_least(0.0)],
        manual: "",
    },
];
