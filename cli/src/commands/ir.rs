//! `catapults ir`.

use super::compile;
use crate::arguments::Ir;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks;
use catapults_compiler::policy::text;

pub fn ir(console: &Console, arguments: &Ir) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let policy = compile(console, &arguments.file, &found.framework)?;
    console.data(&text::print(policy.policy()))
}
