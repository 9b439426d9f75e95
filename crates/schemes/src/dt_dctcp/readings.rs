//! Where the paper leaves something open: what we take, and which parameters give the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "DT1",
        text: "Crossings alone do not define what happens if the queue starts beyond both thresholds. We mark packets \
               above both thresholds, and do not mark packets below both. 30 and 50 packets replace DCTCP's 40. Equal \
               values give DCTCP.",
        params: &["scheme.dt-dctcp.start", "scheme.dt-dctcp.stop"],
    },
    Reading {
        id: "DT2",
        text: "The queue is what an arriving packet finds, as in DCTCP here, so that two equal thresholds act exactly \
               as one.",
        params: &[],
    },
];
