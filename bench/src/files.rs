//! The files that are served.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// A file, as a client asks for it.
#[derive(Clone, Debug)]
pub struct Served {
    /// From the server's root.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// How often it is asked for, relative to the others of its load.
    pub weight: f64,
}

/// One file of `bytes`, made in `root` unless it is there.
///
/// # Errors
///
/// Those of writing it.
pub fn single(root: &Path, name: &str, bytes: u64) -> Result<Vec<Served>> {
    Ok(vec![make(root, name, bytes, 1.0)?])
}

/// Files of 4 KiB to 4 MiB whose sizes are heavy-tailed as those of the web are: Pareto with exponent 1.1, cut at both ends.
/// Half of the requests ask for less than 8 KiB; half of the bytes are in files of more than 64 KiB, which one request in
/// twenty-four asks for.
///
/// # Errors
///
/// Those of writing them.
pub fn heavy_tailed(root: &Path) -> Result<Vec<Served>> {
    let classes = 24;
    let edge = |class: u32| SMALLEST * (LARGEST / SMALLEST).powf(f64::from(class) / f64::from(classes));
    (0..classes)
        .map(|class| {
            let (low, high) = (edge(class), edge(class + 1));
            make(root, &format!("mix-{class:02}"), (low * high).sqrt() as u64, beyond(low) - beyond(high))
        })
        .collect()
}

const SMALLEST: f64 = 4.0 * 1024.0;
const LARGEST: f64 = 4.0 * 1024.0 * 1024.0;

/// The probability that a file is larger than `bytes`, up to a constant factor.
fn beyond(bytes: f64) -> f64 {
    (SMALLEST / bytes).powf(1.1)
}

fn make(root: &Path, name: &str, bytes: u64, weight: f64) -> Result<Served> {
    let file = root.join(name);
    if fs::metadata(&file).is_ok_and(|there| there.len() == bytes) {
        return Ok(Served { path: format!("/{name}"), bytes, weight });
    }
    // Any bytes do; these are the same each time and compress badly.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    let content: Vec<u8> = (0..bytes).map(|_| next()).collect();
    fs::write(&file, content).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Served { path: format!("/{name}"), bytes, weight })
}
