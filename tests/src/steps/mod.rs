//! Pages whose steps are done in order, as a reader does them: a test that they work as written.
//!
//! A step is a block of the page:
//!
//! - ```` ```console ````: each line that begins with `$ ` is a command, and below it stands what it prints. One that ends in `\` goes on
//!   in the next line. Where `[..]` stands in a line, anything may be printed. A command fails if it ends with another status than 0 and
//!   the page shows nothing of it.
//! - ```` ```sh ````: each line is a command that has to end with status 0, whatever it prints.
//! - ```` ```c ````, ```` ```sched ```` and ```` ```scenario ````: a file, which the line before the block names at its end, as `` `NAME`: ``.
//! - ```` ```diff ````: a change of a file, which is named likewise. The lines that begin with a space or with `-` stand in the file once,
//!   one below the other, and become those that begin with a space or with `+`.
//!
//! Variables that a command exports, and the folder that it changes to, are there for the next one.

mod page;
mod reader;

use std::path::Path;

use crate::root;

use page::{Kind, Step};
use reader::Reader;

/// The pages that are done so.
pub const PAGES: [&str; 2] = ["README.md", "docs/tutorial.md"];

/// What came of a page.
#[derive(Debug)]
pub struct Outcome {
    /// The steps that were as the page says: all of them, or those before the first that was not.
    pub done: usize,
    /// The steps of the page.
    pub all: usize,
    /// How many of them are commands whose output is not compared.
    pub unseen: usize,
    /// Which line of the page is wrong, what it says, and what came instead.
    pub wrong: Option<String>,
    /// The page with what was printed. What `[..]` stands for stays so.
    pub renewed: String,
}

/// Does the steps of a page at a path from the root, where what `make build` makes is there.
///
/// # Errors
/// What is missing, or cannot be read.
pub fn follow_at(path: &str, update: bool, tell: &mut dyn FnMut(&str)) -> Result<Outcome, String> {
    let text = std::fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))?;
    follow(path, &text, &root().join("build"), update, tell)
}

/// Does the steps of a page in a clone, in which `built` is the folder of what was built. `update`: what is printed is not compared.
///
/// # Errors
/// What is missing, or cannot be read.
pub fn follow(
    path: &str,
    text: &str,
    built: &Path,
    update: bool,
    tell: &mut dyn FnMut(&str),
) -> Result<Outcome, String> {
    let steps = page::read(path, text)?;
    let reader = Reader::new(built)?;
    let unseen = steps.iter().filter(|step| matches!(step.kind, Kind::Command { shown: None, .. })).count();
    let mut outcome = Outcome { done: 0, all: steps.len(), unseen, wrong: None, renewed: String::new() };
    let mut printed = Vec::new();
    for step in &steps {
        tell(&format!("{path}:{}: {}", step.line, step.title()));
        match reader.does(step, update) {
            Ok(lines) => printed.push(lines),
            Err(wrong) => {
                outcome.wrong = Some(format!("{path}:{}: {wrong}", step.line));
                break;
            }
        }
        outcome.done += 1;
    }
    outcome.renewed = renewed(text, &steps, &printed);
    Ok(outcome)
}

/// The page with what the commands have printed.
fn renewed(text: &str, steps: &[Step], printed: &[Vec<String>]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (step, printed) in steps.iter().zip(printed).rev() {
        if let Kind::Command { shown: Some(shown), first, .. } = &step.kind {
            let new = printed.iter().enumerate().map(|(index, line)| {
                let kept = shown.get(index).filter(|shown| page::is_as_shown(shown, line));
                kept.unwrap_or(line).clone()
            });
            lines.splice(first - 1..first - 1 + shown.len(), new);
        }
    }
    lines.join("\n") + "\n"
}
