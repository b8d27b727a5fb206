//! may: stackful coroutines in Rust, on one worker. The loops are those of `bench/peers/loops.h`.

#[path = "../../peer.rs"]
mod peer;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use may::coroutine::{self, JoinHandle, yield_now};
use may::sync::{Condvar, Mutex};

use peer::{Gate, LOCKERS, each, fail, report, share};

const STACK: usize = 64 << 10;

fn main() {
    may::config().set_workers(1).set_stack_size(STACK / size_of::<usize>());
    peer::main(
        "may 0.3.51",
        &[
            ("yield_2", |count| run(move || yield_among("yield_2", 2, count)), 2_000_000),
            ("yield_100", |count| run(move || yield_among("yield_100", 100, count)), 2_000_000),
            ("yield_10000", |count| run(move || yield_among("yield_10000", 10_000, count)), 2_000_000),
            ("create_join", |count| run(move || create_join(count)), 100_000),
            ("mutex", |count| run(move || mutex(count)), 10_000_000),
            ("condition", |count| run(move || condition(count)), 200_000),
            ("lock", |count| run(move || lock_among("lock", count, false)), 200_000),
            ("lock_held", |count| run(move || lock_among("lock_held", count, true)), 200_000),
            ("memory", |count| run(move || memory(count)), 10_000),
        ],
    );
}

/// In a coroutine, as all that it creates, and not in the thread of the system that `main` is.
fn run(body: impl FnOnce() + Send + 'static) {
    join(create(body));
}

fn create<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    // SAFETY: as coroutine::spawn wants it: no thread-local variables are used, and the stacks are large enough.
    unsafe { coroutine::spawn(body) }
}

fn join<T>(coroutine: JoinHandle<T>) -> T {
    coroutine.join().unwrap_or_else(|_| fail("a coroutine has panicked"))
}

fn pass(gate: &Gate) {
    gate.arrive();
    while !gate.is_open() {
        yield_now();
    }
}

/// A coroutine that yields may be next again itself for as long as it likes, while new ones wait elsewhere: hence asleep.
fn wait_until(arrived: &AtomicUsize, count: usize) {
    while arrived.load(Relaxed) < count {
        coroutine::sleep(Duration::from_millis(1));
    }
}

fn yield_among(name: &str, threads: usize, count: usize) {
    let (gate, share) = (Arc::new(Gate::new(threads)), share(count, threads));
    let yielder = |gate: Arc<Gate>| {
        create(move || {
            pass(&gate);
            for _ in 0..share {
                gate.turn();
                yield_now();
            }
            gate.check(share);
            gate.end();
        })
    };
    let all: Vec<_> = (0..threads).map(|_| yielder(gate.clone())).collect();
    all.into_iter().for_each(join);
    gate.report(name, threads * share);
}

fn create_join(count: usize) {
    let start = Instant::now();
    for _ in 0..count {
        join(create(|| ()));
    }
    report("create_join", each(start, count));
}

type Flag = Arc<(Mutex<usize>, Condvar)>;

fn mutex(count: usize) {
    let shared = Mutex::new(());
    let flag: Flag = Arc::default();
    let arrived = Arc::new(AtomicUsize::new(0));
    let waiter = {
        let (flag, arrived) = (flag.clone(), arrived.clone());
        create(move || {
            let mut state = flag.0.lock().unwrap();
            arrived.store(1, Relaxed);
            while *state == 0 {
                state = flag.1.wait(state).unwrap();
            }
        })
    };
    wait_until(&arrived, 1);
    let start = Instant::now();
    for _ in 0..count {
        drop(shared.lock().unwrap());
    }
    report("mutex", each(start, count));
    *flag.0.lock().unwrap() = 1;
    flag.1.notify_one();
    join(waiter);
}

fn condition(count: usize) {
    let gate = Arc::new(Gate::new(2));
    let flag: Flag = Arc::default();
    let player = |side: usize| {
        let (gate, flag) = (gate.clone(), flag.clone());
        create(move || {
            pass(&gate);
            let mut state = flag.0.lock().unwrap();
            for _ in 0..count {
                while *state != side {
                    state = flag.1.wait(state).unwrap();
                }
                *state = 1 - side;
                flag.1.notify_one();
            }
            drop(state);
            gate.end();
        })
    };
    let both = [player(0), player(1)];
    both.into_iter().for_each(join);
    gate.report("condition", 2 * count);
}

fn lock_among(name: &str, count: usize, held: bool) {
    let (gate, share) = (Arc::new(Gate::new(LOCKERS)), share(count, LOCKERS));
    let counted = Arc::new(Mutex::new(0));
    let locker = |gate: Arc<Gate>, counted: Arc<Mutex<usize>>| {
        create(move || {
            pass(&gate);
            for _ in 0..share {
                let mut counter = counted.lock().unwrap();
                *counter += 1;
                if held {
                    yield_now();
                }
                drop(counter);
                if !held {
                    yield_now();
                }
            }
            gate.end();
        })
    };
    let all: Vec<_> = (0..LOCKERS).map(|_| locker(gate.clone(), counted.clone())).collect();
    all.into_iter().for_each(join);
    if *counted.lock().unwrap() != LOCKERS * share {
        fail("a lock that two had at once");
    }
    gate.report(name, LOCKERS * share);
}

fn memory(count: usize) {
    let flag: Flag = Arc::default();
    let arrived = Arc::new(AtomicUsize::new(0));
    let mut all = Vec::with_capacity(count);
    let before = peer::bytes();
    let start = Instant::now();
    for _ in 0..count {
        let (flag, arrived) = (flag.clone(), arrived.clone());
        all.push(create(move || {
            let mut state = flag.0.lock().unwrap();
            arrived.fetch_add(1, Relaxed);
            while *state == 0 {
                state = flag.1.wait(state).unwrap();
            }
        }));
    }
    report("create", each(start, count));
    wait_until(&arrived, count);
    peer::report_bytes(before, count);
    *flag.0.lock().unwrap() = 1;
    flag.1.notify_all();
    all.into_iter().for_each(join);
}
