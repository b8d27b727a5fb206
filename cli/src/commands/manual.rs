//! `catapults manual`.

use crate::arguments::{Arguments, Manual};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{folder_ready, unasked, unwritable};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::fs;
use std::path::Path;

pub fn manual(console: &Console, arguments: &Manual) -> Result<(), Failure> {
    let folder = &arguments.folder;
    folder_ready("FOLDER", folder)?;
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    for page in pages(&command) {
        let path = folder.join(page);
        if !is_ours(&path) {
            unasked("FOLDER", &path, arguments.force)?;
        }
    }
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| unwritable("FOLDER", folder, &error))?;
    console.result(&format!("{} (manual pages)\n", folder.display()))
}

/// The names of the pages that are written: those of the command and of all commands in it.
fn pages(command: &Command) -> Vec<String> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.flat_map(pages).chain([Man::new(command.clone()).get_filename()]).collect()
}

/// A page of an earlier version is made anew without a word.
fn is_ours(page: &Path) -> bool {
    fs::read_to_string(page).is_ok_and(|text| text.contains(".TH catapults"))
}
