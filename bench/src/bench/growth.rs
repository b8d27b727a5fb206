//! What costs more the more threads there are, though it concerns only a few of them: the same with 100 threads asleep and with 100,000.
//! The measuring is done in C, by `bench/native/growth.c`.

use std::collections::BTreeMap;
use std::ffi::OsString;

use anyhow::{Context, Result};
use serde_json::Value;

use super::switch::run_with;
use crate::place::Place;
use crate::process::Processors;
use crate::results::Goal;
use crate::statistics::median;

const REPEATS: usize = 5;
const FEW: u32 = 100;
const MANY: u32 = 100_000;

/// What is measured, under which policy, and what it is called.
const QUESTIONS: [(&str, Option<&str>, &str); 3] = [
    ("timeout", None, "an instant in the middle of a chain of locks"),
    ("steal", Some("least_loaded"), "a turn of a bound thread, while another processor looks for work"),
    ("turn", Some("round_robin"), "a turn on two processors"),
];

/// All figures, a number for each run.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    let two = Processors::first_two()?;
    let mut figures = BTreeMap::<String, Vec<f64>>::new();
    for repeat in 0..REPEATS {
        eprintln!("bench: growth, {} of {REPEATS}", repeat + 1);
        for (what, policy, _) in QUESTIONS {
            for sleepers in [FEW, MANY] {
                let mut arguments: Vec<OsString> = vec![what.into(), sleepers.to_string().into()];
                if let Some(policy) = policy {
                    arguments.push(place.built(&format!("policies/{policy}.so"), "build")?.into());
                }
                let program = place.built("bench/growth", "bench")?;
                for (what, value) in run_with(program, &arguments, &[two.server, two.client])? {
                    figures.entry(format!("{what}_{sleepers}")).or_default().push(value);
                }
            }
        }
    }
    let mut goals = Vec::new();
    for (what, _, title) in QUESTIONS {
        let of = |sleepers: u32| {
            figures.get(&format!("{what}_{sleepers}")).with_context(|| format!("nothing was said of {what}"))
        };
        let ratios: Vec<f64> = of(MANY)?.iter().zip(of(FEW)?).map(|(many, few)| many / few).collect();
        let what = format!("{title}: with {MANY} threads asleep / with {FEW}");
        goals.push(Goal { what, value: median(&ratios), target: 1.5, at_most: true, unit: "×", why: None });
    }
    Ok((serde_json::to_value(&figures)?, goals))
}
