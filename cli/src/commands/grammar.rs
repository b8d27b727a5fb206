//! `catapults grammar`.

use crate::arguments::Grammar;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks;
use catapults_compiler::framework;

pub fn grammar(console: &Console, arguments: &Grammar) -> Result<(), Failure> {
    if arguments.framework_language {
        return console.result(&framework::grammar().to_string());
    }
    let found = frameworks::find(console, &arguments.framework.framework)?;
    console.result(&found.framework.grammar().to_string())
}
