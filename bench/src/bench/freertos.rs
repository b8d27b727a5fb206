//! What a policy costs on FreeRTOS, in bytes and in instructions for a switch, beside the kernel's own scheduler: what
//! `bench/freertos/run` prints.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::place::Place;

/// The table, and the same as it is kept. Exact figures: one run tells all.
pub fn measure(place: &Place) -> Result<(String, Value)> {
    eprintln!("bench: FreeRTOS");
    let output = Command::new(place.source("bench/freertos/run"))
        .env("CATAPULTS", place.built("bin/catapults", "build")?)
        .output()
        .context("cannot start bench/freertos/run")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        bail!("bench/freertos/run failed ({}):\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    let rows = text.lines().skip(1).map(row).collect::<Option<Vec<Value>>>();
    let rows = rows.with_context(|| format!("what bench/freertos/run printed:\n{text}"))?;
    Ok((text, Value::Array(rows)))
}

/// The name can be of several words, five numbers follow.
fn row(line: &str) -> Option<Value> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, numbers) = words.split_at_checked(words.len().checked_sub(5)?)?;
    let number = |index: usize| numbers[index].parse::<i64>().ok();
    Some(json!({
        "scheduler": name.join(" "),
        "bytes": number(0)?,
        "more_bytes": number(1)?,
        "instructions_of_a_yield_of_2": number(2)?,
        "instructions_of_a_yield_of_8": number(3)?,
        "instructions_of_a_semaphore": number(4)?,
    }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_have_several_words() {
        let row = super::row("FreeRTOS's own         2624       +0           65           66          210").unwrap();
        assert_eq!(row["scheduler"], "FreeRTOS's own");
        assert_eq!(row["instructions_of_a_semaphore"], 210);
        assert!(super::row("1 2 3").is_none());
    }
}
