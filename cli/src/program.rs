//! What a program's file tells about it: whether it contains a host's library.

use object::read::elf::{FileHeader, ProgramHeader};
use object::{FileKind, elf};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Whether one of the texts is in the program's file, in a library that it loads, or in a program that it gets as an
/// argument to start (`timeout 5 ./server`). If a file cannot be read, it may be.
pub fn may_have(program: &OsStr, arguments: &[OsString], texts: &[String]) -> bool {
    let Some(file) = find(program).filter(|_| !texts.is_empty()) else { return true };
    let started = arguments.iter().map(PathBuf::from).filter(|path| path.is_file());
    std::iter::once(file).chain(started).any(|file| {
        let Ok(bytes) = fs::read(&file) else { return true };
        let in_file = |library: &PathBuf| fs::read(library).is_ok_and(|bytes| contains(&bytes, texts));
        contains(&bytes, texts) || libraries(&file, &bytes).is_none_or(|libraries| libraries.iter().any(in_file))
    })
}

/// Whether a program exists to start others: a shell, a program that runs another in some other way, or a script.
pub fn starts_others(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_script = || {
        let mut start = [0; 2];
        let read = find(program).and_then(|file| fs::File::open(file).ok()?.read_exact(&mut start).ok());
        read.is_some() && start == *b"#!"
    };
    (STARTERS.contains(&name) && is_a_command(program)) || is_script()
}

/// Whether it lies where commands do. A program of one's own may have any name.
fn is_a_command(program: &OsStr) -> bool {
    let folder = Path::new(program).parent().filter(|folder| !folder.as_os_str().is_empty());
    let Some(folder) = folder else { return true };
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|one| one == folder))
}

const STARTERS: [&str; 33] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "env", "nice", "nohup", "timeout", "time", "setsid",
    "stdbuf", "taskset", "chrt", "ionice", "numactl", "unshare", "setpriv", "prlimit", "chroot", "sudo", "doas",
    "runuser", "xargs", "parallel", "make", "ninja", "watch", "script", "perf", "strace",
];

/// Looks for it as a shell does. If it is not found, starting it will say so.
pub fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(program));
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn contains(bytes: &[u8], texts: &[String]) -> bool {
    texts.iter().any(|text| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

/// The libraries that the dynamic linker would load with the program. It lists them without starting anything. None: one
/// of them is not found, which may be the host's; the linker will say so when the program is started.
pub fn libraries(file: &Path, bytes: &[u8]) -> Option<Vec<PathBuf>> {
    let Some(linker) = dynamic_linker(bytes) else { return Some(Vec::new()) };
    let Ok(listed) = Command::new(linker).arg("--list").arg(file).env("LC_ALL", "C").output() else {
        return Some(Vec::new());
    };
    let said = String::from_utf8_lossy(&listed.stderr);
    // It says the same of a program of another machine.
    let itself = format!("libraries: {}: ", file.display());
    if said.contains("cannot open shared object file") && !said.contains(&itself) {
        return None;
    }
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let paths = listed.lines().filter_map(|line| line.split_once(" => ")?.1.split(" (").next());
    Some(paths.map(PathBuf::from).collect())
}

/// The linker that a program names, if it has libraries.
pub fn dynamic_linker(bytes: &[u8]) -> Option<&OsStr> {
    let name = match FileKind::parse(bytes).ok()? {
        FileKind::Elf32 => named_linker::<elf::FileHeader32<object::Endianness>>(bytes),
        FileKind::Elf64 => named_linker::<elf::FileHeader64<object::Endianness>>(bytes),
        _ => None,
    };
    name.map(OsStr::from_bytes)
}

fn named_linker<Elf: FileHeader>(bytes: &[u8]) -> Option<&[u8]> {
    let header = Elf::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, bytes).ok()?;
    segments.iter().find_map(|segment| segment.interpreter(endian, bytes).ok().flatten())
}
