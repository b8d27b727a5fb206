//! `catapults completions`.

use crate::arguments::{Arguments, Completions};
use crate::console::Console;
use crate::failure::Failure;
use clap::CommandFactory;

pub fn completions(console: &Console, arguments: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "catapults", &mut script);
    console.data(&String::from_utf8_lossy(&script))
}
