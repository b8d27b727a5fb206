//! `catapults grammar`.

use crate::arguments::Grammar;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks;

pub fn grammar(console: &Console, arguments: &Grammar) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    console.result(&found.framework.grammar().to_string())
}
