//! Where what was made once is kept: built policies, and what is in this command.

use crate::console::Console;
use crate::failure::Failure;
use crate::files::{folder_ready, unwritable};
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, io};

/// The option that chooses another place.
pub const OPTION: &str = "XDG_CACHE_HOME";

/// The folder of what is kept, in which this command can write. It exists.
pub fn folder(console: &Console) -> Result<&'static Path, Failure> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    if let Some(known) = FOLDER.get() {
        return Ok(known);
    }
    let found = find(console)?;
    Ok(FOLDER.get_or_init(|| found))
}

/// The folders in which something that is kept may be, best first; they may be missing.
pub fn places() -> Vec<PathBuf> {
    usual().into_iter().chain(Some(private()).filter(|folder| is_own(folder))).collect()
}

fn find(console: &Console) -> Result<PathBuf, Failure> {
    let why = match usual() {
        Some(folder) => match folder_ready(OPTION, &folder).and_then(|()| made(&folder)) {
            Ok(()) => return Ok(folder),
            Err(_) => format!("{} cannot be written", folder.display()),
        },
        None => "neither XDG_CACHE_HOME nor HOME names a folder".to_owned(),
    };
    let folder = private();
    let is_new = own(&folder).map_err(|error| unwritable(OPTION, &folder, &error))?;
    if !is_own(&folder) {
        let title = "this folder belongs to somebody else, or others can write in it";
        let help = format!("remove it, or choose another place with {OPTION}");
        return Err(Failure::of_file("E0503", &folder, title, help));
    }
    folder_ready(OPTION, &folder)?;
    if is_new {
        let title = format!("{why}: what is built is kept in {}", folder.display());
        let said = Diagnostic::remark(title, At::default(), "").help(format!("{OPTION} chooses another folder"));
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(said);
        console.diagnostics(&Source::new(OPTION, ""), &diagnostics);
    }
    Ok(folder)
}

fn made(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| unwritable(OPTION, folder, &error))
}

fn usual() -> Option<PathBuf> {
    let given = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")));
    base.map(|folder| folder.join("catapults"))
}

/// Others can write in the folder of temporary files, too.
fn private() -> PathBuf {
    env::temp_dir().join(format!("catapults-{}", rustix::process::geteuid().as_raw()))
}

/// Makes a folder that nobody else can read, unless something of its name is there. Returns whether it was made.
fn own(folder: &Path) -> io::Result<bool> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|()| true),
    }
}

/// Whether nobody else can change this folder, or has put it there: what is in it is executed.
fn is_own(folder: &Path) -> bool {
    let about = fs::symlink_metadata(folder);
    about.is_ok_and(|about| {
        about.is_dir() && about.uid() == rustix::process::geteuid().as_raw() && about.mode() & 0o022 == 0
    })
}

/// The same folder by a path without white space and colons, which Makefiles and lists in the environment need: its own, or that
/// of a link.
pub fn plain(folder: &Path) -> io::Result<PathBuf> {
    let is_plain =
        |path: &Path| path.to_str().is_some_and(|path| !path.contains([' ', '\t', '\n', ':', '#', '$', '%', '\\']));
    if is_plain(folder) {
        return Ok(folder.to_owned());
    }
    let links = private();
    own(&links)?;
    if !is_own(&links) {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let link = links.join(format!("{:016x}", hasher.finish()));
    match symlink(folder, &link) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ if is_plain(&link) && fs::read_link(&link)? == folder => Ok(link),
        _ => Err(io::Error::from(io::ErrorKind::InvalidFilename)),
    }
}
