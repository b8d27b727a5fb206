//! Somebody wants a command to end: SIGINT, SIGTERM, SIGHUP. What is unfinished is removed, and the command ends as it would have. A
//! command that has something to say of what it has done so far is told of the first of these instead.

use crate::files;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

/// The command looks whether it is to stop.
static ASKS: AtomicBool = AtomicBool::new(false);
/// It is to.
static STOP: AtomicBool = AtomicBool::new(false);
/// Since this signal came.
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);

/// The signals that are watched for.
static WATCHED: OnceLock<Handle> = OnceLock::new();

/// From now on a thread of its own waits for signals. Those that whoever started the command wanted ignored stay so.
pub fn watch() {
    let wanted: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)).collect();
    // Without it a signal ends the command all the same.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let _ = WATCHED.set(signals.handle());
    thread::spawn(move || {
        for signal in signals.forever() {
            if ASKS.load(Ordering::Relaxed) && !STOP.load(Ordering::Relaxed) {
                SIGNAL.store(signal, Ordering::Relaxed);
                STOP.store(true, Ordering::Release);
                continue;
            }
            files::give_up();
            let _ = emulate_default_handler(signal);
        }
    });
}

/// As by `nohup`, and by a shell for what it starts in the background.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    ignored & (1 << (signal - 1)) != 0
}

/// Whether it is to stop. From now on the command looks, and goes on after the first signal until it does: also where a shell that started it in
/// the background wanted SIGINT ignored, as whoever sends one then wants to know what there is.
pub fn asks() -> &'static AtomicBool {
    // It is watched for already, or cannot be.
    let _ = WATCHED.get().map(|watched| watched.add_signal(SIGINT));
    ASKS.store(true, Ordering::Relaxed);
    &STOP
}

/// The signal that it is to stop for.
pub fn signal() -> i32 {
    SIGNAL.load(Ordering::Relaxed)
}
