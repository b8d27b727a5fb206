//! `catapults unpack`.

use crate::arguments::Unpack;
use crate::console::Console;
use crate::embedded;
use crate::failure::Failure;
use crate::files::{folder_ready, unwritable};

pub fn unpack(console: &Console, arguments: &Unpack) -> Result<(), Failure> {
    let folder = &arguments.folder;
    folder_ready("FOLDER", folder)?;
    if folder.symlink_metadata().is_ok() && !embedded::is_whole(folder) {
        let help = "name a folder that is not there yet";
        return Err(Failure::of_file("E0520", folder, "something of this name exists already", help));
    }
    embedded::write_out(folder).map_err(|error| unwritable("FOLDER", folder, &error))?;
    console.result(&format!("{} (frameworks, policies, programs)\n", folder.display()))
}
