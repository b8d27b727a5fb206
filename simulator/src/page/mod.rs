//! A page for a browser: which threads ran when and why, in one or two traces, under one time axis. It is one file, which
//! loads nothing else.
//!
//! ```text
//! Reader ── records ──► Recording ── columns of numbers, as JSON ──► page.html + page.css + *.js
//! ```
//!
//! What a trace contains is text that nobody has checked. It reaches the page as JSON without any `<`, and the scripts put
//! it into text nodes and onto canvases alone.

mod columns;
mod recording;

use std::io::{self, Write};

use serde::Serialize;

use crate::picture::looks;
use columns::Columns;
pub use recording::{Asked, recording};

/// How many changes of one recording a page shows at most: some 12 MB, and at least 100,000 turns.
pub const MOST: usize = 600_000;

/// What a page shows of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recording {
    title: String,
    policy: String,
    host: String,
    clock: String,
    /// The part that is shown, in nanoseconds since recording began.
    from: i64,
    until: i64,
    /// When what was read ended.
    #[serde(skip)]
    end: i64,
    /// What is missing, in sentences. The first ones are what was to be left out.
    notes: Vec<String>,
    #[serde(skip)]
    wanted: usize,
    #[serde(flatten)]
    columns: Columns,
}

impl Recording {
    /// What it is a recording of.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What is missing from the page though nobody asked for that, in sentences.
    pub fn notes(&self) -> &[String] {
        self.notes.get(self.wanted..).unwrap_or_default()
    }

    /// How many turns are shown.
    pub fn turns(&self) -> usize {
        self.columns.turns()
    }

    /// When the recording ended, as far as it was read, in nanoseconds since it began.
    pub fn end(&self) -> i64 {
        self.end
    }

    /// The columns, as the page gets them.
    ///
    /// # Errors
    /// None is known.
    pub fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}

/// How a kind of threads looks.
#[derive(Serialize)]
struct Look {
    colour: &'static str,
    ink: &'static str,
    /// A path in a square of 6 by 6.
    hatch: &'static str,
}

#[derive(Serialize)]
struct Data<'a> {
    recordings: &'a [Recording],
    looks: Vec<Look>,
}

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// In the order in which they use each other.
const SCRIPTS: [&str; 6] = [
    include_str!("words.js"),
    include_str!("model.js"),
    include_str!("view.js"),
    include_str!("draw.js"),
    include_str!("details.js"),
    include_str!("controls.js"),
];

/// Writes the page. Recordings are shown in their order.
///
/// # Errors
/// Those of `out`.
pub fn write(recordings: &[Recording], out: &mut dyn Write) -> io::Result<()> {
    for (number, piece) in PAGE.split('@').enumerate() {
        // What stands between two signs names what goes there.
        match piece {
            "STYLE" => out.write_all(STYLE.as_bytes())?,
            "SCRIPT" => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
            "DATA" => data(recordings, out)?,
            _ if number % 2 == 0 => out.write_all(piece.as_bytes())?,
            _ => {}
        }
    }
    Ok(())
}

fn data(recordings: &[Recording], out: &mut dyn Write) -> io::Result<()> {
    let looks = looks().map(|(colour, ink, hatch)| Look { colour, ink, hatch }).collect();
    serde_json::to_writer(Escaped(out), &Data { recordings, looks }).map_err(io::Error::from)
}

/// Writes JSON without any `<`, so that nothing in it ends or begins an element. Only texts can have one.
struct Escaped<'a>(&'a mut dyn Write);

impl Write for Escaped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (number, piece) in bytes.split(|byte| *byte == b'<').enumerate() {
            if number > 0 {
                self.0.write_all(b"\\u003c")?;
            }
            self.0.write_all(piece)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
