//! The files that a command reads and writes. No output replaces an input.

use crate::commands::is_standard_input;
use crate::failure::Failure;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Opens a file for reading. From now on, no output replaces it.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if let Ok(about) = file.metadata() {
        remember(path, &about);
    }
    Ok(file)
}

/// Like `open`, for a file that is opened later, or is open already, so that a long command is refused at once.
pub fn is_read(path: &Path) {
    if let Ok(about) = fs::metadata(path) {
        remember(path, &about);
    }
}

/// Refuses an output that is also an input, whatever its path. `option` chooses another output.
pub fn apart(option: &str, output: &Path) -> Result<(), Failure> {
    is_no_input(option, output, "write /dev/stdout for standard output, or ./- for a file of this name")?;
    let Ok(about) = fs::metadata(output) else { return Ok(()) };
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(input) = read.get(&identity(&about)) else { return Ok(()) };
    let title = match input == output {
        true => "the output would replace an input".to_owned(),
        false => format!("the output would replace an input: this is also `{}`", input.display()),
    };
    Err(Failure::of_file("E0519", output, title, format!("choose another place with {option}")))
}

fn is_no_input(option: &str, output: &Path, help: &str) -> Result<(), Failure> {
    if !is_standard_input(output) {
        return Ok(());
    }
    let title = "`-` is standard input, not an output";
    Err(Failure::of_usage(option, Diagnostic::error("E0503", title, At::default(), "").help(help)))
}

/// Refuses an output that is also another output, whatever its path: one would replace the other.
fn no_other(option: &'static str, output: &Path) -> Result<(), Failure> {
    let about = fs::metadata(output).ok();
    // Writing to a pipe or a device replaces nothing.
    if about.as_ref().is_some_and(|about| !about.is_file()) {
        return Ok(());
    }
    let written = Written { option, place: place(output), identity: about.as_ref().map(identity) };
    let mut known = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |other: &&Written| {
        other.place == written.place || (written.identity.is_some() && other.identity == written.identity)
    };
    if let Some(other) = known.iter().find(is_same).map(|other| other.option) {
        let title = format!("one output would replace the other: `{}` is also that of {other}", output.display());
        let help = format!("choose another place with {option}");
        return Err(Failure::of_usage(option, Diagnostic::error("E0519", title, At::default(), "").help(help)));
    }
    known.push(written);
    Ok(())
}

/// Where a file is or will be, after all links.
fn place(output: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut place = output.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match fs::read_link(&place) {
            Ok(to) => place = folder.join(to),
            Err(_) => {
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
                return place.file_name().map_or_else(|| place.clone(), |name| folder.join(name));
            }
        }
    }
    place
}

/// Refuses an output that cannot be written, before there is anything to write. `option` chooses another output.
pub fn ready(option: &'static str, output: &Path) -> Result<(), Failure> {
    apart(option, output)?;
    no_other(option, output)?;
    let wrong = |error: io::Error| unwritable(option, output, &error);
    match fs::metadata(output) {
        Ok(about) if about.is_dir() => Err(wrong(io::Error::from(io::ErrorKind::IsADirectory))),
        Ok(about) if about.is_file() => {
            drop(OpenOptions::new().write(true).open(output).map_err(wrong)?);
            let place = output.canonicalize().unwrap_or_else(|_| output.to_owned());
            can_have_another(&place).map_err(wrong)
        }
        // Opening a pipe, for instance, would wait for its reader.
        Ok(_) => Ok(()),
        Err(_) => can_have_another(output).map_err(wrong),
    }
}

/// Like `ready`, for a folder, which may be missing.
pub fn folder_ready(option: &str, folder: &Path) -> Result<(), Failure> {
    is_no_input(option, folder, "name a folder; write ./- for one of this name")?;
    let wrong = |error: io::Error| unwritable(option, folder, &error);
    let existing = folder.ancestors().find(|above| above.as_os_str().is_empty() || above.exists());
    let existing = existing.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match fs::metadata(folder) {
        Ok(about) if !about.is_dir() => Err(wrong(io::Error::from(io::ErrorKind::NotADirectory))),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(wrong(error)),
        Ok(_) | Err(_) => can_have_another(&existing.join("catapults")).map_err(wrong),
    }
}

/// Whether the temporary file can be made that later replaces a file.
fn can_have_another(place: &Path) -> io::Result<()> {
    let unfinished = Unfinished::beside(place);
    drop(OpenOptions::new().write(true).create(true).truncate(true).open(&unfinished.path)?);
    Ok(())
}

/// Refuses an output that exists and was not named by the user, unless `force` is given. Pipes and devices are allowed.
pub fn unasked(option: &str, output: &Path, force: bool) -> Result<(), Failure> {
    let Ok(about) = fs::symlink_metadata(output) else { return Ok(()) };
    if force || !(about.is_file() || about.is_symlink() || about.is_dir()) {
        return Ok(());
    }
    let what = if about.is_dir() { "folder" } else { "file" };
    let title = format!("a {what} of this name exists already");
    let help = format!("`--force` replaces it; or say where to write with {option}");
    Err(Failure::of_file("E0520", output, title, help))
}

/// Writes a file that appears as a whole or not at all. Until then, the old one stays.
pub fn whole<T>(
    option: &str,
    output: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    apart(option, output)?;
    replace(output, &|error| unwritable(option, output, error), write)
}

/// Like `whole`, for a text.
pub fn whole_text(option: &str, output: &Path, text: &str) -> Result<(), Failure> {
    whole(option, output, |out| out.write_all(text.as_bytes()).map_err(|error| unwritable(option, output, &error)))
}

/// Replaces a file, which may be an input. A link stays a link; owner and mode stay the same. What is no plain file,
/// such as a pipe, is written to.
pub fn replace<T>(
    output: &Path,
    unwritable: &dyn Fn(&io::Error) -> Failure,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let wrong = |error: io::Error| unwritable(&error);
    let before = fs::metadata(output).ok();
    if let Some(stream) = before.as_ref().and_then(standard) {
        return filled(stream, unwritable, write);
    }
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return filled(File::create(output).map_err(wrong)?, unwritable, write);
    }
    let place = output.canonicalize().unwrap_or_else(|_| output.to_owned());
    let mut options = OpenOptions::new();
    if before.is_some() {
        // A file that cannot be written must not be replaced, either.
        drop(OpenOptions::new().write(true).open(&place).map_err(wrong)?);
        options.mode(0o600);
    }
    let unfinished = Unfinished::beside(&place);
    // Left by a killed command with the same process number.
    let _ = fs::remove_file(&unfinished.path);
    let file = options.write(true).create_new(true).open(&unfinished.path).map_err(wrong)?;
    let value = filled(file, unwritable, write)?;
    before.as_ref().map_or(Ok(()), |before| like(&unfinished.path, before)).map_err(wrong)?;
    fs::rename(&unfinished.path, &place).map_err(wrong)?;
    Ok(value)
}

/// Makes new files, and tells of them: all of it or nothing. `unwritable` says why a file could not be made, such as
/// that there is one.
pub fn all_new(
    files: &[(&Path, &str)],
    unwritable: &dyn Fn(&Path, &io::Error) -> Failure,
    tell: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut made = Vec::new();
    for (path, text) in files {
        let wrong = |error: io::Error| unwritable(path, &error);
        let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(wrong)?;
        made.push(Unfinished::at(path));
        file.write_all(text.as_bytes()).map_err(wrong)?;
    }
    tell()?;
    made.into_iter().for_each(Unfinished::finished);
    Ok(())
}

/// A file for this command alone. It has no name any more, so nothing is left of it.
pub fn scratch() -> Result<File, Failure> {
    let path = std::env::temp_dir().join(format!("catapults-{}", std::process::id()));
    let _ = fs::remove_file(&path);
    let made = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
    made.and_then(|file| fs::remove_file(&path).map(|()| file)).map_err(|error| unwritable("TMPDIR", &path, &error))
}

/// A temporary file or folder, which later moves to its place. If it does not, it is removed, even after an interrupt.
pub struct Unfinished {
    pub path: PathBuf,
}

impl Unfinished {
    pub fn beside(place: &Path) -> Self {
        Unfinished::at(&beside(place))
    }

    fn at(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        Unfinished { path: path.to_owned() }
    }

    /// It stays where it is.
    fn finished(self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.path);
        std::mem::forget(self);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        removed(&self.path);
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.path);
    }
}

/// Removes what is unfinished.
pub fn give_up() {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|path| removed(path));
}

/// Moves a file or folder that is finished to its place. An older folder is moved out of the way, and then removed.
pub fn to_its_place(finished: &Path, place: &Path) -> io::Result<()> {
    if !(finished.is_dir() && place.is_dir()) {
        return fs::rename(finished, place);
    }
    let mut old = beside(place).into_os_string();
    old.push(".old");
    fs::rename(place, &old)?;
    fs::rename(finished, place)?;
    fs::remove_dir_all(&old)
}

fn removed(path: &Path) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
}

/// The paths of what is unfinished.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The temporary path of a file.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(format!(".{}", std::process::id()));
    PathBuf::from(name)
}

/// What could not be written, and why. `option` chooses another output.
pub fn unwritable(option: &str, path: &Path, error: &io::Error) -> Failure {
    let elsewhere = format!("choose another place with {option}, or make this one writable");
    let in_the_way = format!("a file stands where a folder should be; choose another place with {option}");
    let advice = [
        (io::ErrorKind::NotFound, elsewhere.as_str()),
        (io::ErrorKind::PermissionDenied, &elsewhere),
        (io::ErrorKind::ReadOnlyFilesystem, &elsewhere),
        (io::ErrorKind::NotADirectory, &in_the_way),
        (io::ErrorKind::AlreadyExists, &in_the_way),
        (io::ErrorKind::IsADirectory, "a folder of this name is in the way; remove it, or choose another place"),
        (io::ErrorKind::StorageFull, "make room on the disk"),
        (io::ErrorKind::NotSeekable, "the beginning of a recording is written last: write it to a file, not a pipe"),
    ];
    Failure::of_system("E0503", path, "it cannot be written", error, &advice)
}

/// The inputs, by device and number, with their paths. A process runs one command.
static READ: Mutex<BTreeMap<(u64, u64), PathBuf>> = Mutex::new(BTreeMap::new());

/// An output.
struct Written {
    option: &'static str,
    place: PathBuf,
    /// Of the file that exists already.
    identity: Option<(u64, u64)>,
}

/// The outputs.
static WRITTEN: Mutex<Vec<Written>> = Mutex::new(Vec::new());

fn remember(path: &Path, about: &Metadata) {
    // Writing to a pipe or device does not destroy what was read from it.
    if about.is_file() {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(identity(about)).or_insert_with(|| path.to_owned());
    }
}

fn identity(about: &Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

/// A file to which one of our streams goes is not replaced, as in `-o /dev/stdout > FILE`: the stream's output is
/// there, too.
fn standard(about: &Metadata) -> Option<File> {
    let (output, error) = (io::stdout(), io::stderr());
    let streams = [output.as_fd().try_clone_to_owned(), error.as_fd().try_clone_to_owned()];
    let mut streams = streams.into_iter().filter_map(|stream| stream.ok().map(File::from));
    streams.find(|stream| stream.metadata().is_ok_and(|open| identity(&open) == identity(about)))
}

fn filled<T>(
    file: File,
    unwritable: &dyn Fn(&io::Error) -> Failure,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut out = BufWriter::new(file);
    let value = write(&mut out)?;
    out.flush().map_err(|error| unwritable(&error))?;
    Ok(value)
}

/// Gives a file the owner and the mode of another one.
fn like(file: &Path, before: &Metadata) -> io::Result<()> {
    // Only root can give a file away. Otherwise, it belongs to its writer.
    let _ = chown(file, Some(before.uid()), Some(before.gid()));
    fs::set_permissions(file, before.permissions())
}
