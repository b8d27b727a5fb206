//! Asks a program that runs under a policy (frameworks/native/process/live.h says how).

#![allow(unsafe_code, reason = "no library sends a signal with a value to a process that cannot become another one")]

use crate::failure::{Failure, plain};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, ReadCache};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags,
    SocketType, accept_with, bind, getsockname, listen, recv, sendmsg, socket_with,
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Of what is said, as the runtime has it.
const VERSION: u32 = 1;
/// The upper half of the signal's value.
const MARK: u64 = 0x6361_7461;
/// What a program can take to answer at first, and each time.
const PATIENCE: Duration = Duration::from_secs(5);
/// Until the signal is sent again: as many may talk to it as it can talk to.
const AGAIN: Duration = Duration::from_millis(100);

/// A program that answers.
pub struct Live {
    process: u32,
    socket: OwnedFd,
}

/// Why it does not do what it is asked.
pub enum Refusal {
    /// Its words.
    Said(String),
    /// It cannot be asked any more.
    Lost(Failure),
}

impl Live {
    /// Begins to talk to the process.
    pub fn open(process: u32) -> Result<Self, Failure> {
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| gone(process))?;
        // From here on it cannot be another process that has got the number.
        let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(|_| gone(process))?;
        let signal = signal_of(process)?;
        let refuse = |error: Errno| unanswered(process, &format!("a socket cannot be had: {}", plain(&error.into())));
        let listening =
            socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).map_err(refuse)?;
        bind(&listening, &SocketAddrUnix::new_unnamed()).map_err(refuse)?;
        listen(&listening, 4).map_err(refuse)?;
        let name = getsockname(&listening).ok().and_then(|address| SocketAddrUnix::try_from(address).ok());
        let name = name.as_ref().and_then(SocketAddrUnix::abstract_name);
        let name = name.and_then(|name| u64::from_str_radix(str::from_utf8(name).ok()?, 16).ok());
        let name = name.ok_or_else(|| unanswered(process, "the kernel gives a socket no name"))?;
        let value = MARK << 32 | name;
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            send(&handle, signal, value).map_err(|error| unsent(process, &error))?;
            let Some(socket) = accept(&listening, &handle, process)? else { continue };
            let live = Live { process, socket };
            let hello = live.packet()?;
            return match hello.strip_prefix("catapults ").and_then(|version| version.trim().parse().ok()) {
                Some(VERSION) => Ok(live),
                Some(version) => Err(other_version(process, version)),
                None => Err(unanswered(process, "it says something else than is expected")),
            };
        }
        Err(unanswered(process, "it was told, and does not answer"))
    }

    /// Asks for something, and returns what it says of it.
    pub fn ask(&self, request: &str, descriptor: Option<BorrowedFd<'_>>) -> Result<String, Refusal> {
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        let descriptors: Vec<BorrowedFd<'_>> = descriptor.into_iter().collect();
        if !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let parts = [IoSlice::new(request.as_bytes())];
        sendmsg(&self.socket, &parts, &mut control, SendFlags::NOSIGNAL)
            .map_err(|error| Refusal::Lost(self.lost(error)))?;
        let mut text = String::new();
        loop {
            let packet = self.packet().map_err(Refusal::Lost)?;
            if packet == "done" {
                return Ok(text);
            }
            if let Some(why) = packet.strip_prefix("refused ") {
                return Err(Refusal::Said(why.to_owned()));
            }
            text.push_str(&packet);
        }
    }

    fn packet(&self) -> Result<String, Failure> {
        let mut room = vec![0_u8; 64 << 10];
        match recv(&self.socket, room.as_mut_slice(), RecvFlags::empty()) {
            Ok((0, _)) => Err(gone(self.process)),
            Ok((length, _)) => Ok(String::from_utf8_lossy(&room[..length]).into_owned()),
            Err(error) => Err(self.lost(error)),
        }
    }

    fn lost(&self, error: Errno) -> Failure {
        match error {
            Errno::AGAIN => unanswered(self.process, "it has begun to answer, and does not go on"),
            Errno::PIPE | Errno::CONNRESET => gone(self.process),
            _ => unanswered(self.process, &plain(&error.into())),
        }
    }
}

// ---- Who is asked ---------------------------------------------------------------------------------------------------

/// The signal by which the process is told, if it contains a runtime that can be asked and has started.
fn signal_of(process: u32) -> Result<u32, Failure> {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let status = fs::read_to_string(folder.join("status")).map_err(|_| gone(process))?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if field("State:").is_some_and(|state| state.starts_with(['Z', 'X'])) {
        return Err(gone(process));
    }
    let maps = fs::read_to_string(folder.join("maps")).map_err(|error| unsent(process, &error))?;
    let runtimes = runtimes(&folder, &maps);
    let caught = field("SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let ours: Vec<&Runtime> = runtimes.iter().filter(|runtime| runtime.version == VERSION).collect();
    if ours.is_empty() {
        return Err(match runtimes.first() {
            Some(other) => other_version(process, other.version),
            None => no_runtime(process, "it contains no runtime of Catapults, or one that is too old to be asked"),
        });
    }
    let started = ours.iter().filter(|runtime| caught & (1 << (runtime.signal - 1)) != 0);
    let asked = started.max_by_key(|runtime| runtime.beneath).map(|runtime| runtime.signal);
    asked.ok_or_else(|| no_runtime(process, "its runtime has not started, or the program has taken the signal of it"))
}

/// What a file says of the runtime in it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Runtime {
    version: u32,
    signal: u32,
    beneath: bool,
}

/// Those in the files that the process has mapped.
fn runtimes(folder: &Path, maps: &str) -> BTreeSet<Runtime> {
    let mapped = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let libraries: BTreeSet<&str> = mapped.filter(|path| path.contains(".so")).collect();
    let libraries = libraries.into_iter().map(|path| folder.join("root").join(&path[1..]));
    [folder.join("exe")].into_iter().chain(libraries).filter_map(|file| noted(&file)).collect()
}

/// The note that the runtime has in each file that contains it.
fn noted(file: &Path) -> Option<Runtime> {
    let cache = ReadCache::new(File::open(file).ok()?);
    let elf = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    let (endian, header) = (elf.endian(), elf.elf_header());
    for segment in header.program_headers(endian, &cache).ok()? {
        use object::read::elf::ProgramHeader;
        let Ok(Some(mut notes)) = segment.notes(endian, &cache) else { continue };
        while let Ok(Some(note)) = notes.next() {
            let words: Vec<u32> =
                note.desc().chunks_exact(4).filter_map(|four| four.try_into().ok().map(u32::from_ne_bytes)).collect();
            if let (b"Catapults", [version, signal, beneath]) = (note.name(), words.as_slice()) {
                let signal = (1..=64).contains(signal).then_some(*signal)?;
                return Some(Runtime { version: *version, signal, beneath: *beneath != 0 });
            }
        }
    }
    None
}

/// The kernel's `siginfo_t` of a signal with a value.
fn send(process: &OwnedFd, signal: u32, value: u64) -> io::Result<()> {
    const SI_QUEUE: i32 = -1;
    let mut info = [0_u32; 32];
    info[0] = signal;
    info[2] = SI_QUEUE as u32;
    info[4] = std::process::id();
    info[5] = rustix::process::getuid().as_raw();
    info[6] = value as u32;
    info[7] = (value >> 32) as u32;
    // SAFETY: the kernel reads the 128 bytes of `info`, and nothing else of this process.
    let result = unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, process.as_fd().as_raw_fd(), signal, info.as_ptr(), 0_u32)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The process's end of the conversation. `None`: nobody has come.
fn accept(listening: &OwnedFd, handle: &OwnedFd, process: u32) -> Result<Option<OwnedFd>, Failure> {
    let mut waits = [PollFd::new(listening, PollFlags::IN), PollFd::new(handle, PollFlags::IN)];
    let limit = Timespec::try_from(AGAIN).ok();
    if poll(&mut waits, limit.as_ref()).unwrap_or(0) == 0 {
        return Ok(None);
    }
    if waits[0].revents().is_empty() {
        return Err(gone(process));
    }
    let Ok(socket) = accept_with(listening, SocketFlags::CLOEXEC) else { return Ok(None) };
    // Anybody can connect to it.
    let same = socket_peercred(&socket).is_ok_and(|other| other.pid.as_raw_nonzero().get().unsigned_abs() == process);
    if !same || set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE)).is_err() {
        return Ok(None);
    }
    Ok(Some(socket))
}

// ---- Why not --------------------------------------------------------------------------------------------------------

fn refused(process: u32, title: &str, help: &str) -> Failure {
    Failure::of(&process.to_string(), Diagnostic::error("E0530", title, At::default(), "").help(help))
}

fn gone(process: u32) -> Failure {
    refused(process, "there is no such process, or it has ended", "`ps` lists the processes that there are")
}

fn another_users(process: u32) -> Failure {
    refused(process, "the process is another user's", "only its user, and root, may see and change it")
}

fn no_runtime(process: u32, why: &str) -> Failure {
    let help = "start it by `catapults run POLICY -- PROGRAM`";
    refused(process, &format!("the process does not run under a policy: {why}"), help)
}

fn other_version(process: u32, version: u32) -> Failure {
    let title =
        format!("the process is asked by version {version} of the protocol, this command has version {VERSION}");
    refused(process, &title, "use the command that belongs to the runtime, or start the program anew")
}

fn unsent(process: u32, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::PermissionDenied { another_users(process) } else { gone(process) }
}

fn unanswered(process: u32, why: &str) -> Failure {
    let help = "is it stopped, or in another network namespace? `docs/live.md` says what it needs to answer";
    refused(process, &format!("the process does not answer: {why}"), help)
}
