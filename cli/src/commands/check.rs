//! `catapults check`.

use super::read_source;
use crate::arguments::Check;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks;

/// Judges every file, whatever is wrong with those before it.
pub fn check(console: &Console, arguments: &Check) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let (mut errors, mut warnings, mut refused) = (0, 0, 0);
    for path in &arguments.files {
        let wrong = match read_source(path) {
            Err(failure) => {
                console.failure(&failure);
                1
            }
            Ok(source) => {
                let judged = catapults_compiler::compile(&source, &found.framework);
                let diagnostics = match &judged {
                    Ok((_, diagnostics)) | Err(diagnostics) => diagnostics,
                };
                console.diagnostics(&source, diagnostics);
                warnings += diagnostics.warnings();
                diagnostics.errors()
            }
        };
        errors += wrong;
        refused += usize::from(wrong > 0);
    }
    let files = arguments.files.len();
    if refused > 0 {
        let place = if files == 1 { String::new() } else { format!(" in {refused} of {}", counted(files, "file")) };
        console.summary(&format!("{}{place}", counted(errors, "error")));
        return Err(Failure::Said);
    }
    let also = if warnings > 0 { format!(", {}", counted(warnings, "warning")) } else { String::new() };
    console.result(&format!(
        "{} safe to run{also}\n",
        if files == 1 { "1 policy is".to_owned() } else { format!("{files} policies are") }
    ))
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
