//! `catapults manual`.

use crate::arguments::{Arguments, Manual};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{folder_ready, unwritable};
use clap::CommandFactory;
use std::fs;

pub fn manual(console: &Console, arguments: &Manual) -> Result<(), Failure> {
    let folder = &arguments.folder;
    folder_ready("FOLDER", folder)?;
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| unwritable("FOLDER", folder, &error))?;
    console.result(&format!("{} (manual pages)\n", folder.display()))
}
