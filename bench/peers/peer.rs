//! What the peers in Rust share. The loops themselves are those of `bench/peers/loops.h`.
#![allow(dead_code, reason = "each crate uses what it needs")]

use std::process::exit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

pub const LOCKERS: usize = 100;

/// A loop: its name, how it is run, how many operations unless told.
pub type Loop = (&'static str, fn(usize), usize);

/// Says what there is, or runs what is asked for.
pub fn main(name: &str, loops: &[Loop]) {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(asked) = arguments.get(1) else {
        println!("{name}");
        loops.iter().for_each(|(name, _, count)| println!("{name} {count}"));
        return;
    };
    let Some((_, run, count)) = loops.iter().find(|(name, ..)| name == asked) else { fail("no such loop") };
    run(arguments.get(2).map_or(*count, |count| count.parse().expect("a number of operations")));
}

pub fn report(name: &str, value: f64) {
    println!("{name} {value:.3}");
}

pub fn fail(why: &str) -> ! {
    eprintln!("{why}");
    exit(1);
}

/// Nanoseconds for each of `count` operations since `start`.
pub fn each(start: Instant, count: usize) -> f64 {
    start.elapsed().as_nanos() as f64 / count as f64
}

pub fn share(count: usize, threads: usize) -> usize {
    (count / threads).max(1)
}

/// A gate through which all threads go when the last has come. All run on one processor and none is preempted.
pub struct Gate {
    pub threads: usize,
    arrived: AtomicUsize,
    ended: AtomicUsize,
    turns: AtomicUsize,
    times: Mutex<[Option<Instant>; 2]>,
}

impl Gate {
    pub const fn new(threads: usize) -> Gate {
        Gate {
            threads,
            arrived: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            turns: AtomicUsize::new(0),
            times: Mutex::new([None; 2]),
        }
    }

    pub fn arrive(&self) {
        if self.arrived.fetch_add(1, Relaxed) + 1 == self.threads {
            self.times.lock().unwrap()[0] = Some(Instant::now());
        }
    }

    pub fn is_open(&self) -> bool {
        self.arrived.load(Relaxed) >= self.threads
    }

    pub fn turn(&self) {
        self.turns.store(self.turns.load(Relaxed) + 1, Relaxed);
    }

    /// Who is through with its share has let the others take theirs: a yield that does not switch is no yield.
    pub fn check(&self, share: usize) {
        if self.turns.load(Relaxed) - share < share / 2 * (self.threads - 1) {
            fail("a yield lets nobody else run");
        }
    }

    pub fn end(&self) {
        if self.ended.fetch_add(1, Relaxed) + 1 == self.threads {
            self.times.lock().unwrap()[1] = Some(Instant::now());
        }
    }

    pub fn report(&self, name: &str, operations: usize) {
        let [Some(start), Some(end)] = *self.times.lock().unwrap() else { fail("the threads have not ended") };
        report(name, (end - start).as_nanos() as f64 / operations as f64);
    }
}

/// Bytes, by the kernel: resident, in tables of pages, in stacks of the kernel (of all processes).
pub fn bytes() -> [f64; 3] {
    let says = |file: &str, name: &str| -> f64 {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
    };
    [says("/proc/self/status", "VmRSS:"), says("/proc/self/status", "VmPTE:"), says("/proc/meminfo", "KernelStack:")]
}

/// What `count` threads have added.
pub fn report_bytes(before: [f64; 3], count: usize) {
    let now = bytes();
    for (index, name) in ["resident_bytes", "table_bytes", "kernel_stack_bytes"].iter().enumerate() {
        report(name, (now[index] - before[index]) / count as f64);
    }
}
