//! What several processors cost: a thread that another one wakes, beside a futex; a mutex that is free, beside that of pthreads.
//! The measuring is done in C, by `bench/native/processors.c`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::switch::run_on;
use crate::place::Place;
use crate::process::Processors;
use crate::results::Goal;
use crate::statistics::median;

const REPEATS: usize = 5;

/// All figures, a number for each run.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    let two = Processors::first_two()?;
    let mut figures = BTreeMap::<String, Vec<f64>>::new();
    for repeat in 0..REPEATS {
        eprintln!("bench: processors, {} of {REPEATS}", repeat + 1);
        for (what, value) in run_on(place.built("bench/processors", "bench")?, None, &[two.server, two.client])? {
            figures.entry(what).or_default().push(value);
        }
    }
    let mut goals = Vec::new();
    for (ours, theirs, what, target) in [
        ("wake", "wake_futex", "waking a thread on another processor / a futex", 1.2),
        ("mutex", "mutex_pthreads", "a free mutex, on two processors / pthreads", 1.0),
    ] {
        let of = |name| figures.get(name).with_context(|| format!("nothing was said of {name}"));
        let ratios: Vec<f64> = of(ours)?.iter().zip(of(theirs)?).map(|(ours, theirs)| ours / theirs).collect();
        goals
            .push(Goal { what: what.to_owned(), value: median(&ratios), target, at_most: true, unit: "×", why: None });
    }
    Ok((serde_json::to_value(&figures)?, goals))
}
