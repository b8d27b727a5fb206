//! The files that a command reads, and those that it writes: none of the latter takes the place of one of the former.

use crate::failure::Failure;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Opens a file to read it. From now on nothing that is written replaces it.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if let Ok(about) = file.metadata() {
        remember(path, &about);
    }
    Ok(file)
}

/// The same of a file that will be opened later, or is open already: a command that runs for long is to be refused at once.
pub fn is_read(path: &Path) {
    if let Ok(about) = fs::metadata(path) {
        remember(path, &about);
    }
}

/// Refuses an output that is one of the files that are read, by whatever name. `option` is how another place is chosen.
pub fn apart(option: &str, output: &Path) -> Result<(), Failure> {
    let Ok(about) = fs::metadata(output) else { return Ok(()) };
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(input) = read.get(&identity(&about)) else { return Ok(()) };
    let title = match input == output {
        true => "the output would replace what is read".to_owned(),
        false => format!("the output would replace what is read: this is `{}`, too", input.display()),
    };
    Err(Failure::of_file("E0519", output, title, format!("choose another place with {option}")))
}

/// Writes a file that appears whole or not at all: what was there stays until then.
pub fn whole<T>(
    option: &str,
    output: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    apart(option, output)?;
    replace(output, &|error| unwritable(option, output, error), write)
}

/// The same of a text.
pub fn whole_text(option: &str, output: &Path, text: &str) -> Result<(), Failure> {
    whole(option, output, |out| out.write_all(text.as_bytes()).map_err(|error| unwritable(option, output, &error)))
}

/// Puts a file in the place of another one, which may be what was read. A link stays one; owner and mode stay. What is no plain
/// file, such as a pipe, is written to.
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
        // A file that must not be written must not be replaced either.
        drop(OpenOptions::new().write(true).open(&place).map_err(wrong)?);
        options.mode(0o600);
    }
    let unfinished = beside(&place);
    // Of a command that was killed, which had the same number.
    let _ = fs::remove_file(&unfinished);
    let file = options.write(true).create_new(true).open(&unfinished).map_err(wrong)?;
    let done = filled(file, unwritable, write).and_then(|value| {
        let like_before = before.as_ref().map_or(Ok(()), |before| like(&unfinished, before));
        like_before.and_then(|()| fs::rename(&unfinished, &place)).map_err(wrong)?;
        Ok(value)
    });
    if done.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    done
}

/// Where a file is made before it takes its place, whole.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(format!(".{}", std::process::id()));
    PathBuf::from(name)
}

/// What could not be written, and why. `option` is how another place is chosen.
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
        (io::ErrorKind::NotSeekable, "a recording is completed at its beginning: write it to a file, not a pipe"),
    ];
    Failure::of_system("E0503", path, "it cannot be written", error, &advice)
}

/// What has been read, by device and number, with the path that was given. A process runs one command.
static READ: Mutex<BTreeMap<(u64, u64), PathBuf>> = Mutex::new(BTreeMap::new());

fn remember(path: &Path, about: &Metadata) {
    // What is read of a pipe or a device is not lost when that is written to.
    if about.is_file() {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(identity(about)).or_insert_with(|| path.to_owned());
    }
}

fn identity(about: &Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

/// What is written to by a stream of ours is not replaced, as by `-o /dev/stdout > FILE`: what the stream has comes there, too.
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
    // Only root can give a file away; then it stays with whoever writes it.
    let _ = chown(file, Some(before.uid()), Some(before.gid()));
    fs::set_permissions(file, before.permissions())
}
