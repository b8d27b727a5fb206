//! tokio, its runtime of one thread: tasks without stacks of their own. The loops are those of `bench/peers/loops.h`;
//! `Notify` stands for the condition, which tokio has not.

#[path = "../../peer.rs"]
mod peer;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use tokio::sync::{Mutex, Notify};
use tokio::task::{JoinHandle, spawn, yield_now};

use peer::{Gate, LOCKERS, each, fail, report, share};

fn main() {
    peer::main(
        "tokio, one thread 1.54.1",
        &[
            ("yield_2", |count| run(yield_among("yield_2", 2, count)), 2_000_000),
            ("yield_100", |count| run(yield_among("yield_100", 100, count)), 2_000_000),
            ("yield_10000", |count| run(yield_among("yield_10000", 10_000, count)), 2_000_000),
            ("create_join", |count| run(create_join(count)), 100_000),
            ("mutex", |count| run(mutex(count)), 10_000_000),
            ("condition", |count| run(condition(count)), 200_000),
            ("lock", |count| run(lock_among("lock", count, false)), 200_000),
            ("lock_held", |count| run(lock_among("lock_held", count, true)), 200_000),
            ("memory", |count| run(memory(count)), 10_000),
        ],
    );
}

fn run(body: impl Future<Output = ()>) {
    match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime.block_on(body),
        Err(error) => fail(&error.to_string()),
    }
}

async fn join<T>(task: JoinHandle<T>) -> T {
    task.await.unwrap_or_else(|_| fail("a task has panicked"))
}

async fn pass(gate: &Gate) {
    gate.arrive();
    while !gate.is_open() {
        yield_now().await;
    }
}

async fn yield_among(name: &str, threads: usize, count: usize) {
    let (gate, share) = (Arc::new(Gate::new(threads)), share(count, threads));
    let yielder = |gate: Arc<Gate>| async move {
        pass(&gate).await;
        for _ in 0..share {
            gate.turn();
            yield_now().await;
        }
        gate.check(share);
        gate.end();
    };
    let all: Vec<_> = (0..threads).map(|_| spawn(yielder(gate.clone()))).collect();
    for task in all {
        join(task).await;
    }
    gate.report(name, threads * share);
}

async fn create_join(count: usize) {
    let start = Instant::now();
    for _ in 0..count {
        join(spawn(async {})).await;
    }
    report("create_join", each(start, count));
}

async fn mutex(count: usize) {
    let shared = Mutex::new(());
    let (notify, arrived) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let waiter = {
        let (notify, arrived) = (notify.clone(), arrived.clone());
        spawn(async move {
            arrived.store(1, Relaxed);
            notify.notified().await;
        })
    };
    while arrived.load(Relaxed) == 0 {
        yield_now().await;
    }
    let start = Instant::now();
    for _ in 0..count {
        drop(shared.lock().await);
    }
    report("mutex", each(start, count));
    notify.notify_one();
    join(waiter).await;
}

async fn condition(count: usize) {
    let gate = Arc::new(Gate::new(2));
    let state = Arc::new((Mutex::new(0), [Notify::new(), Notify::new()]));
    let player = |side: usize| {
        let (gate, state) = (gate.clone(), state.clone());
        spawn(async move {
            pass(&gate).await;
            for _ in 0..count {
                let mut turn = state.0.lock().await;
                while *turn != side {
                    drop(turn);
                    state.1[side].notified().await;
                    turn = state.0.lock().await;
                }
                *turn = 1 - side;
                state.1[1 - side].notify_one();
            }
            gate.end();
        })
    };
    let both = [player(0), player(1)];
    for task in both {
        join(task).await;
    }
    gate.report("condition", 2 * count);
}

async fn lock_among(name: &str, count: usize, held: bool) {
    let (gate, share) = (Arc::new(Gate::new(LOCKERS)), share(count, LOCKERS));
    let counted = Arc::new(Mutex::new(0));
    let locker = |gate: Arc<Gate>, counted: Arc<Mutex<usize>>| async move {
        pass(&gate).await;
        for _ in 0..share {
            let mut counter = counted.lock().await;
            *counter += 1;
            if held {
                yield_now().await;
            }
            drop(counter);
            if !held {
                yield_now().await;
            }
        }
        gate.end();
    };
    let all: Vec<_> = (0..LOCKERS).map(|_| spawn(locker(gate.clone(), counted.clone()))).collect();
    for task in all {
        join(task).await;
    }
    if *counted.lock().await != LOCKERS * share {
        fail("a lock that two had at once");
    }
    gate.report(name, LOCKERS * share);
}

async fn memory(count: usize) {
    let (notify, arrived) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let mut all = Vec::with_capacity(count);
    let before = peer::bytes();
    let start = Instant::now();
    for _ in 0..count {
        let (notify, arrived) = (notify.clone(), arrived.clone());
        all.push(spawn(async move {
            arrived.fetch_add(1, Relaxed);
            notify.notified().await;
        }));
    }
    report("create", each(start, count));
    while arrived.load(Relaxed) < count {
        yield_now().await;
    }
    peer::report_bytes(before, count);
    notify.notify_waiters();
    for task in all {
        join(task).await;
    }
}
