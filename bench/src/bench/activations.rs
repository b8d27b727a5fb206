//! How soon a thread that blocks in the kernel is noticed, and what the noticing costs while nothing blocks. The measuring
//! is done in C, by `bench/native/activations.c`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::switch::run;
use crate::place::Place;
use crate::process::Processors;
use crate::results::Goal;
use crate::statistics::median;

const REPEATS: usize = 5;

/// All figures, a number for each run.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    let processor = Processors::first_two()?.server;
    let mut figures = BTreeMap::<String, Vec<f64>>::new();
    for repeat in 0..REPEATS {
        eprintln!("bench: activations, {} of {REPEATS}", repeat + 1);
        for (what, value) in run(place.built("bench/activations", "bench")?, None, processor)? {
            figures.entry(what).or_default().push(value);
        }
    }
    let mut goals = Vec::new();
    for (name, what, scale, target, unit) in [
        ("blocked_upcall_cold_read", "the upcall `blocked` after a cold read", 1000.0, 5.0, "µs"),
        // A hundredth is what cannot be told from chance.
        ("slowdown_computing", "computing while nothing blocks / without activations", 1.0, 1.01, "×"),
    ] {
        let values = figures.get(name).with_context(|| format!("nothing was said of {name}"))?;
        goals.push(Goal {
            what: what.to_owned(),
            value: median(values) / scale,
            target,
            at_most: true,
            unit,
            why: None,
        });
    }
    Ok((serde_json::to_value(&figures)?, goals))
}
