//! `catapults trace export`.

use super::unreadable;
use crate::arguments::Export;
use crate::artefact::unwritable;
use crate::console::Console;
use crate::failure::Failure;
use catapults_simulator::trace;
use std::fs::{self, File};
use std::io::{BufWriter, Write};

pub fn export(console: &Console, arguments: &Export) -> Result<(), Failure> {
    let bytes = fs::read(&arguments.file).map_err(|error| unreadable(&arguments.file, &error))?;
    let mut trace = trace::read(&bytes).map_err(|error| {
        let help = "a recording is made by running a program with CATAPULTS_TRACE=FILE.trace";
        Failure::of_file("E0509", &arguments.file, error.to_string(), help)
    })?;
    if let Some(most) = arguments.newest {
        trace = trace.newest(most);
    }
    let output = arguments.output.clone().unwrap_or_else(|| arguments.file.with_extension("json"));
    let mut file = BufWriter::new(File::create(&output).map_err(|error| unwritable(&output, &error))?);
    trace::export_chrome(&trace, &mut file).and_then(|()| file.flush()).map_err(|error| unwritable(&output, &error))?;
    console.result(&format!(
        "{} ({} records; open it in https://ui.perfetto.dev)\n",
        output.display(),
        trace.records.len()
    ))
}
