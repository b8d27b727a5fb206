//! What to type next.

use crate::artefact::quoted;
use std::env;

/// A line for each command of this program, which is called as it was called now: so they work as they are written.
pub fn lines(commands: &[Vec<&str>]) -> String {
    let program = env::args_os().next().map_or("catapults".to_owned(), |name| name.to_string_lossy().into_owned());
    let line = |command: &Vec<&str>| {
        let words: Vec<String> =
            std::iter::once(program.as_str()).chain(command.iter().copied()).map(str::to_owned).collect();
        format!("  {}\n", quoted(&words))
    };
    commands.iter().map(line).collect()
}
