//! What the unsafe options turn on. Each is tried in a process of its own, because the runtime starts once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by panicking")]

use catapults::sync::Mutex;
use catapults::{Options, thread};
use std::cell::Cell;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("preemptive") => preemptive(),
        Some("processors") => processors(),
        Some("activations") => activations(),
        Some("own") => own_thread_locals(),
        Some(_) | None => {
            for option in ["preemptive", "processors", "activations", "own"] {
                let status = Command::new(std::env::current_exe().unwrap()).arg(option).status().unwrap();
                assert!(status.success(), "{option}: {status}");
                println!("{option}: done");
            }
        }
    }
}

/// Two threads that wait for each other without giving up the processor: only if both have turns do they end.
fn hand_over() {
    let turn = Arc::new(AtomicUsize::new(0));
    let threads = [0, 1].map(|own| {
        let turn = turn.clone();
        thread::spawn(move || {
            for _ in 0..5 {
                while turn.load(Ordering::Acquire) % 2 != own {
                    std::hint::spin_loop();
                }
                turn.fetch_add(1, Ordering::Release);
            }
        })
        .unwrap()
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(turn.load(Ordering::Relaxed), 10);
}

/// `TURNS_POLICY`: round_robin, built.
fn preemptive() {
    let policy = std::env::var_os("TURNS_POLICY").unwrap();
    // SAFETY: threads use no thread_local! variable.
    unsafe { Options::new().preemptive() }.policy(policy).start().unwrap();
    hand_over();
    assert_eq!(thread::undisturbed(|| 3), 3);
}

fn processors() {
    // SAFETY: no reference to a thread_local! variable is held across calls.
    unsafe { Options::new().processors(Some(2)) }.start().unwrap();
    assert_eq!(catapults::processors(), Ok(2));
    let sum = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope
                .spawn(|| {
                    for _ in 0..200 {
                        *sum.lock().unwrap() += 1;
                        thread::yield_now();
                    }
                })
                .unwrap();
        }
    });
    assert_eq!(sum.into_inner(), 1600);
    let panics = thread::spawn(|| std::panic::resume_unwind(Box::new(5))).unwrap();
    assert_eq!(panics.join().map(|()| 0).unwrap_err().downcast_ref(), Some(&5));
}

/// A thread that blocks in the kernel leaves the processor to the one for which it waits.
fn activations() {
    // SAFETY: threads use no thread_local! variable of the program.
    unsafe { Options::new().activations() }.start().unwrap();
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let reads = thread::spawn(move || {
        let mut byte = [0];
        std::io::Read::read_exact(&mut reader, &mut byte).unwrap();
        byte[0]
    })
    .unwrap();
    let began = Arc::new(AtomicBool::new(false));
    let inner = began.clone();
    let writes = thread::spawn(move || {
        inner.store(true, Ordering::Relaxed);
        std::io::Write::write_all(&mut writer, &[7]).unwrap();
    })
    .unwrap();
    assert_eq!(reads.join().unwrap(), 7);
    writes.join().unwrap();
    assert!(began.load(Ordering::Relaxed));
}

thread_local! {
    static OWN: Cell<u32> = const { Cell::new(1) };
}

fn own_thread_locals() {
    // SAFETY: no other thread uses a reference to `OWN`.
    unsafe { Options::new().own_thread_locals() }.start().unwrap();
    OWN.set(2);
    let other = thread::spawn(|| {
        let first = OWN.get();
        OWN.set(3);
        thread::yield_now();
        (first, OWN.get())
    })
    .unwrap();
    thread::yield_now();
    assert_eq!(OWN.get(), 2);
    assert_eq!(other.join().unwrap(), (1, 3));
}
