//! The frameworks, policies and descriptions of programs that are in this command, for machines where nothing else of Catapults is.

use crate::cache;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{Unfinished, to_its_place, unwritable};
use flate2::read::GzDecoder;
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tar::{Archive, Entry};

/// Written by the build script: a tree like that of the repository, packed.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/embedded.tar.gz"));

/// The version, and a number that only this content has.
const NAME: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("CATAPULTS_EMBEDDED"));

type Entries = Archive<Cursor<&'static [u8]>>;

fn archive() -> Entries {
    static ARCHIVE: OnceLock<Vec<u8>> = OnceLock::new();
    let archive = ARCHIVE.get_or_init(|| {
        let mut archive = Vec::new();
        // It is what the build script has written: nothing of it is wrong.
        let _ = GzDecoder::new(PACKED).read_to_end(&mut archive);
        archive
    });
    Archive::new(Cursor::new(archive))
}

/// The names of the frameworks.
pub fn frameworks() -> Vec<String> {
    let name = |path: &Path| {
        let name = path.file_stem()?.to_str()?.to_owned();
        (path == description_path(&name)).then_some(name)
    };
    let mut names = Vec::new();
    // It is what the build script has written: nothing of it is wrong.
    let _ = each(&mut archive(), |entry| {
        names.extend(name(&entry.path()?));
        Ok(())
    });
    names
}

/// The text of a framework description.
pub fn description(framework: &str) -> Option<String> {
    let wanted = description_path(framework);
    let mut text = None;
    let _ = each(&mut archive(), |entry| {
        if *entry.path()? == *wanted {
            let mut found = String::new();
            entry.read_to_string(&mut found)?;
            text = Some(found);
        }
        Ok(())
    });
    text
}

/// The path of a framework description in the tree.
pub fn description_path(framework: &str) -> PathBuf {
    Path::new("frameworks").join(framework).join(framework).with_extension("framework")
}

/// The folder of the tree, which is written out when it is needed for the first time.
pub fn folder(console: &Console) -> Result<&'static Path, Failure> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    if let Some(known) = FOLDER.get() {
        return Ok(known);
    }
    let mut there = cache::places().into_iter().map(|place| place.join(NAME));
    let found = match there.find(|folder| is_whole(folder)) {
        Some(folder) => folder,
        None => {
            let folder = cache::folder(console)?.join(NAME);
            write_out(&folder).map_err(|error| unwritable(cache::OPTION, &folder, &error))?;
            folder
        }
    };
    Ok(FOLDER.get_or_init(|| found))
}

/// Writes the tree out. It appears as a whole, even if several commands do this at once.
pub fn write_out(folder: &Path) -> io::Result<()> {
    let unfinished = Unfinished::beside(folder);
    let mut archive = archive();
    archive.set_preserve_mtime(false);
    archive.unpack(&unfinished.path)?;
    // Another command may be quicker, and its folder is in use then.
    if is_whole(folder) {
        return Ok(());
    }
    to_its_place(&unfinished.path, folder).or_else(|error| if is_whole(folder) { Ok(()) } else { Err(error) })
}

/// Whether a folder has all of the tree: what cleans up folders of temporary files removes single ones.
pub fn is_whole(folder: &Path) -> bool {
    let same = |entry: &mut Entry<'_, Cursor<&'static [u8]>>| {
        let about = fs::metadata(folder.join(entry.path()?))?;
        let same = about.is_file() && about.len() == entry.size();
        if same { Ok(()) } else { Err(io::Error::from(io::ErrorKind::InvalidData)) }
    };
    each(&mut archive(), same).is_ok()
}

fn each(
    archive: &mut Entries,
    mut visit: impl FnMut(&mut Entry<'_, Cursor<&'static [u8]>>) -> io::Result<()>,
) -> io::Result<()> {
    archive.entries_with_seek()?.try_for_each(|entry| visit(&mut entry?))
}
