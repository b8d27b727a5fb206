//! Interrupts: SIGINT, SIGTERM, SIGHUP. What is unfinished is removed before the signal ends the command. A command
//! that can report what it has done so far is told of the first interrupt instead.

use crate::files;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

/// The command checks whether it must stop.
static ASKS: AtomicBool = AtomicBool::new(false);
/// It must.
static STOP: AtomicBool = AtomicBool::new(false);
/// Because of this signal.
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);

/// The signals that are watched.
static WATCHED: OnceLock<Handle> = OnceLock::new();

/// Starts a thread that waits for signals. Signals that were ignored when the command started stay ignored.
pub fn watch() {
    let wanted: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)).collect();
    // Without it, a signal still ends the command.
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

/// As by `nohup`, and by shells for background commands.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    ignored & (1 << (signal - 1)) != 0
}

/// The flag that tells the command to stop. From now on, the first signal only sets it. This includes SIGINT if a shell
/// that started the command in the background had it ignored: whoever sends it then wants to see the results so far.
pub fn asks() -> &'static AtomicBool {
    // It is already watched, or cannot be.
    let _ = WATCHED.get().map(|watched| watched.add_signal(SIGINT));
    ASKS.store(true, Ordering::Relaxed);
    &STOP
}

/// The signal because of which it must stop.
pub fn signal() -> i32 {
    SIGNAL.load(Ordering::Relaxed)
}
