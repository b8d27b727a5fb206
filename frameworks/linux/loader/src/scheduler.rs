//! A policy as the kernel's scheduler: loaded, watched, and taken out. Why it ended is said as other hosts say it.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;
use std::{fmt, fs, io};

use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::programs::{open, refused};
use crate::texts::{Texts, filled};

const STATE: &str = "/sys/kernel/sched_ext/state";
const NAME: &str = "/sys/kernel/sched_ext/root/ops";
/// Where a scheduler says what it does.
const TOLD: &str = ".bss.told";
/// Whose policy schedules: the number of the loader's process.
const LOADER: &str = "/run/catapults-linux.pid";
const WATCHES: Duration = Duration::from_millis(100);
/// `CATAPULTS_SPENT` of bpf/raise.bpf.h.
const SPENT: u64 = u32::MAX as u64;
const EJECTED: u8 = 3;
/// For how many seconds a thread may wait, and where bpf/ops.bpf.c says so in milliseconds: `timeout_ms` of `struct sched_ext_ops` in
/// include/linux_sched.h.
pub const LONGEST_WAIT: u32 = 10;
const TIMEOUT: std::ops::Range<usize> = 112..116;

/// Kinds of the kernel's `enum scx_exit_kind`.
mod ended {
    pub const DONE: u64 = 1;
    pub const BY_LOADER: u64 = 64;
    pub const BY_KERNEL: u64 = 66;
    pub const BY_KEYS: u64 = 67;
    pub const ERROR: u64 = 1025;
    pub const STALL: u64 = 1026;
}

/// Whom a policy schedules, by the name of the map in bpf/ops.bpf.c.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    Whole,
    Program,
}

/// A policy that schedules.
pub struct Loaded {
    object: Object,
    link: Option<Link>,
    texts: Texts,
    /// As the object names them.
    policy: String,
    source: String,
    machine: Machine,
}

/// What the scheduler says: `struct catapults_told` of bpf/raise.bpf.h.
struct Told {
    kind: u64,
    stop: u64,
    thread: u64,
    events: u64,
    dispatches: u64,
    refused: u64,
    lost: u64,
    unlocked: u64,
    refusal: u64,
    values: [i64; 4],
    reason: String,
    message: String,
}

impl fmt::Display for Told {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Told { events, dispatches, refused, lost, unlocked, .. } = self;
        write!(
            out,
            "{events} events, {dispatches} dispatches, {refused} refused, {lost} lost, {unlocked} without the lock"
        )
    }
}

impl Told {
    fn of(map: &impl MapCore) -> Result<Self, String> {
        let bytes = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(|error| error.to_string())?;
        bytes.as_deref().and_then(Told::read).ok_or_else(|| "the object is of another version".to_owned())
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let word = |index: usize| {
            let bytes = bytes.get(index * 8..index * 8 + 8)?;
            Some(u64::from_ne_bytes(bytes.try_into().ok()?))
        };
        let text = |start: usize, length: usize| {
            let text = bytes.get(start..start + length)?.split(|byte| *byte == 0).next()?;
            Some(String::from_utf8_lossy(text).into_owned())
        };
        Some(Told {
            kind: word(0)?,
            stop: word(2)?,
            thread: word(3)?,
            events: word(4)?,
            dispatches: word(5)?,
            refused: word(6)?,
            lost: word(7)?,
            unlocked: word(8)?,
            refusal: word(9)?,
            values: [word(10)?, word(11)?, word(12)?, word(13)?].map(u64::cast_signed),
            reason: text(112, 64)?,
            message: text(176, 192)?,
        })
    }
}

/// Schedules the whole machine until a signal, or until the kernel ends it.
pub fn load(object: &str, longest_wait: u32) -> Result<ExitCode, String> {
    let mut loaded = Loaded::attach(object, Machine::Whole, longest_wait)?;
    // Whoever stops reading does not stop the policy.
    let _ = writeln!(io::stdout(), "catapults: policy {} schedules this machine", loaded.policy);
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stopped)).map_err(|error| error.to_string())?;
    }
    let ended = loaded.until(|| stopped.load(Ordering::Relaxed))?;
    Ok(ended.unwrap_or(ExitCode::SUCCESS))
}

/// Says which scheduler the kernel has, and what a policy has done since it was loaded. `watch`: then each second, until it is out,
/// what it does in that time.
pub fn status(watch: bool) -> Result<(), String> {
    let state = read(STATE).ok_or("this kernel has no sched_ext")?;
    match (state.as_str(), read(NAME)) {
        ("disabled", _) => say(format_args!("the kernel's own scheduler")),
        (_, Some(name)) if loader().is_some() => {
            say(format_args!("policy {name}: {state}"))?;
            let map = told_by_another().ok_or("what the policy does can only be seen by root (CAP_SYS_ADMIN)")?;
            say(format_args!("{}", Told::of(&map)?))?;
            if watch { each_second(&map) } else { Ok(()) }
        }
        (_, name) => say(format_args!("another scheduler, {}: {state}", name.unwrap_or_default())),
    }
}

fn each_second(map: &MapHandle) -> Result<(), String> {
    let mut before = Told::of(map)?;
    say(format_args!("{:>12} {:>12} {:>12}", "events/s", "dispatches/s", "refused/s"))?;
    loop {
        sleep(Duration::from_secs(1));
        let now = Told::of(map)?;
        // The map outlives the policy as long as somebody looks at it.
        if now.kind != 0 || read(STATE).is_none_or(|state| state == "disabled") {
            return Ok(());
        }
        let [events, dispatches, refused] =
            [now.events - before.events, now.dispatches - before.dispatches, now.refused - before.refused];
        say(format_args!("{events:>12} {dispatches:>12} {refused:>12}"))?;
        before = now;
    }
}

/// A line of output. Nobody reads it any more: this ends, as other programs do.
fn say(line: fmt::Arguments<'_>) -> Result<(), String> {
    writeln!(io::stdout(), "{line}").map_err(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // What signal 13, SIGPIPE, would have made of it.
            std::process::exit(128 + 13);
        }
        format!("the output cannot be written: {error}")
    })
}

/// What the policy says that another process has loaded. The kernel has one at a time; others are being loaded, or are refused, and
/// have done nothing.
fn told_by_another() -> Option<MapHandle> {
    let told = MapInfoIter::default().filter(|map| map.name == TOLD);
    let maps = told.filter_map(|map| MapHandle::from_map_id(map.id).ok());
    maps.max_by_key(|map| Told::of(map).map_or(0, |told| told.events))
}

/// Ends the loader, and with it its policy.
pub fn stop() -> Result<(), String> {
    let loader = loader().ok_or("no policy is loaded")?;
    kill_process(loader, Signal::TERM).map_err(|error| match error {
        Errno::PERM => "the policy was loaded by root, and only root can stop it: sudo".to_owned(),
        error => format!("the loader cannot be told: {error}"),
    })?;
    while is_there(loader) && read(STATE).is_some_and(|state| state != "disabled") {
        sleep(WATCHES);
    }
    Ok(())
}

/// The process of the loader that runs, if one does.
fn loader() -> Option<Pid> {
    let pid = Pid::from_raw(read(LOADER)?.parse().ok()?)?;
    is_there(pid).then_some(pid)
}

/// Another user's process is there, too.
fn is_there(process: Pid) -> bool {
    matches!(test_kill_process(process), Ok(()) | Err(Errno::PERM))
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

impl Loaded {
    /// Loads an object, and makes it the kernel's scheduler.
    pub fn attach(object: &str, machine: Machine, longest_wait: u32) -> Result<Self, String> {
        let mut open = open(object)?;
        let (wanted, other) = match machine {
            Machine::Whole => ("catapults_machine", "catapults_program"),
            Machine::Program => ("catapults_program", "catapults_machine"),
        };
        let mut texts = None;
        for mut map in open.maps_mut() {
            if map.name() == other {
                map.set_autocreate(false).map_err(|error| error.to_string())?;
            } else if map.name() == wanted {
                let timeout = map.initial_value_mut().and_then(|value| value.get_mut(TIMEOUT));
                let timeout = timeout.filter(|timeout| **timeout == (LONGEST_WAIT * 1000).to_ne_bytes());
                let timeout = timeout.ok_or_else(|| format!("{object} is of another version: build it anew"))?;
                timeout.copy_from_slice(&(longest_wait * 1000).to_ne_bytes());
            } else if map.name() == ".rodata.texts" {
                texts = map.initial_value().map(Texts::read);
            }
        }
        let texts = texts.ok_or_else(|| format!("{object} is no policy: it has no section `.rodata.texts`"))??;
        let mut loaded = open.load().map_err(|error| refused(object, &error.to_string()))?;
        let mut map =
            loaded.maps_mut().find(|map| map.name() == wanted).ok_or_else(|| format!("{object} is no scheduler"))?;
        let link = map.attach_struct_ops();
        let (policy, source) = (texts.policy.clone(), texts.source.clone());
        let mut this = Loaded { object: loaded, link: None, texts, policy, source, machine };
        match link {
            Ok(link) => this.link = Some(link),
            Err(error) if this.told()?.kind != 0 => {
                return Err(this.why()?.map_or_else(|| error.to_string(), |(said, _)| said));
            }
            Err(error) => return Err(not_attached(&format!("{error:#}"))),
        }
        // Only `status` and `stop` need it.
        let _ = fs::write(LOADER, std::process::id().to_string());
        Ok(this)
    }

    /// Watches until the caller has seen enough, and then takes the policy out. If the kernel has ended it before: the exit status.
    pub fn until(&mut self, enough: impl FnMut() -> bool) -> Result<Option<ExitCode>, String> {
        let ended = self.watch(enough)?;
        self.link = None;
        let _ = fs::remove_file(LOADER);
        let told = self.told()?;
        if self.machine == Machine::Whole {
            let _ = writeln!(io::stdout(), "catapults: policy {}: {told}", self.policy);
        }
        Ok(ended)
    }

    fn watch(&self, mut enough: impl FnMut() -> bool) -> Result<Option<ExitCode>, String> {
        let mut refused = 0;
        while !enough() {
            let told = self.told()?;
            if told.refused > refused {
                refused = told.refused;
                eprintln!("catapults: {}", self.refusal(&told));
            }
            if let Some((said, status)) = self.why()? {
                eprintln!("catapults: {said}");
                return Ok(Some(status));
            }
            sleep(WATCHES);
        }
        Ok(None)
    }

    /// Why the last thread was refused. Who asked for it was told EAGAIN.
    fn refusal(&self, told: &Told) -> String {
        let (policy, refused) = (&self.policy, told.refused);
        let stop = usize::try_from(told.refusal).ok().and_then(|stop| self.texts.stops.get(stop.checked_sub(1)?));
        let why = stop.map_or_else(String::new, |stop| {
            format!(": {} ({})", filled(&stop.text, &told.values), self.place(&stop.line))
        });
        format!("policy {policy}: it has refused {refused} threads, the last one{why}")
    }

    /// `edf.sched:76`
    fn place(&self, line: &str) -> String {
        format!("{}:{line}", self.source.rsplit('/').next().unwrap_or_default())
    }

    fn told(&self) -> Result<Told, String> {
        let map = self.object.maps().find(|map| map.name().to_string_lossy().ends_with(TOLD));
        let map = map.ok_or_else(|| format!("the object does not say what it does: it has no section `{TOLD}`"))?;
        Told::of(&map)
    }

    /// Why the policy has ended, and the exit status; `None`: it has not.
    fn why(&self) -> Result<Option<(String, ExitCode)>, String> {
        const REST: &str = "all threads continue under the kernel's scheduler";
        let told = self.told()?;
        let policy = &self.policy;
        let said = match told.kind {
            0 => return Ok(None),
            ended::DONE | ended::BY_LOADER => {
                return Ok(Some((format!("policy {policy}: stopped"), ExitCode::SUCCESS)));
            }
            ended::BY_KEYS => "stopped by SysRq-S".to_owned(),
            ended::BY_KERNEL => format!("stopped by the kernel: {}", told.message),
            ended::ERROR if told.stop == SPENT => "a handler has used up what the kernel allows a loop".to_owned(),
            ended::ERROR if told.stop != 0 => {
                let index = usize::try_from(told.stop - 1).unwrap_or(usize::MAX);
                match self.texts.stops.get(index) {
                    Some(stop) => {
                        // An event of no thread, such as `schedule`, has none.
                        let whose = if told.thread == 0 { String::new() } else { format!(" (thread {})", told.thread) };
                        format!("guard failed at {}: {}{whose}", self.place(&stop.line), stop.text)
                    }
                    None => "a handler stopped for a reason without a text".to_owned(),
                }
            }
            ended::STALL => format!("a thread waited too long: {}", told.message),
            _ => format!("{}: {}", told.reason, told.message),
        };
        Ok(Some((format!("policy {policy}: {said}; {REST}"), ExitCode::from(EJECTED))))
    }
}

/// What the kernel means by an error when it does not take a scheduler.
fn not_attached(error: &str) -> String {
    if error.contains("busy") || error.contains("EBUSY") {
        let name = read(NAME).unwrap_or_default();
        return format!("another scheduler is active, {name}: the kernel has one at a time (catapults-linux stop)");
    }
    format!("the kernel does not take the scheduler: {error}")
}
