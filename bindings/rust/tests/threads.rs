//! Threads: what they are given, what they return, when they run.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by panicking")]

mod started;

use catapults::sync::{Mutex, Semaphore, unbounded};
use catapults::{Duration, Error, Instant, Options, thread};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn main() -> ExitCode {
    // Panics of threads are expected: what they print is not what the tests are about.
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |about| {
        let payload = about.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        if !payload.is::<i32>() && text.is_none_or(|text| !text.contains("expected")) {
            before(about);
        }
    }));
    let options = Options::new().seed(3).starvation_limit(Duration::from_secs(600));
    started::run(
        &options,
        tests![
            results_come_back,
            panics_carry_over,
            names_and_stacks_are_the_threads,
            a_dropped_handle_lets_the_thread_go_on,
            what_a_thread_was_called_with_is_dropped,
            scoped_threads_borrow,
            a_scope_waits_for_all,
            a_scope_panics_with_its_threads,
            a_scope_that_panics_waits_first,
            a_thread_does_not_wait_for_itself,
            yields_take_turns,
            one_can_yield_to_another,
            suspended_threads_do_not_run,
            sleeping_takes_as_long_as_it_is_said,
            jobs_are_released_a_period_apart,
            lending_joins_as_well,
            many_come_and_go,
            a_deep_stack_is_there,
            bad_names_are_refused,
            the_policy_is_named,
        ],
    )
}

fn results_come_back() {
    let moved = String::from("moved");
    let thread = thread::spawn(move || moved + " back").unwrap();
    assert_eq!(thread.join().unwrap(), "moved back");
    assert_eq!(thread::spawn(|| [1_u64; 40]).unwrap().join().unwrap(), [1; 40]);
}

fn panics_carry_over() {
    let thread = thread::spawn(|| -> u8 { std::panic::panic_any(77_i32) }).unwrap();
    assert_eq!(thread.join().unwrap_err().downcast_ref(), Some(&77));
    let thread = thread::spawn(|| panic!("expected: {}", thread::name().is_some())).unwrap();
    let payload = thread.join().unwrap_err();
    assert_eq!(payload.downcast_ref::<String>().unwrap(), "expected: false");
    assert!(!std::thread::panicking());
    // What it had is given back.
    let mutex = Arc::new(Mutex::new(1));
    let inner = mutex.clone();
    let thread = thread::spawn(move || {
        let _held = inner.lock().unwrap();
        panic!("expected")
    });
    assert!(thread.unwrap().join().is_err());
    assert_eq!(*mutex.try_lock().unwrap(), 1);
}

fn names_and_stacks_are_the_threads() {
    let named = thread::Builder::new().name("baker").stack_size(1 << 20).spawn(thread::name).unwrap();
    assert_eq!(named.join().unwrap().as_deref(), Some("baker"));
}

fn a_dropped_handle_lets_the_thread_go_on() {
    let done = Arc::new(Semaphore::new(0));
    let inner = done.clone();
    drop(thread::spawn(move || {
        thread::yield_now();
        inner.release().unwrap();
    }));
    done.acquire().unwrap();
    // Its result is dropped, even if that is the last that is heard of it.
    let counted = Arc::new(());
    let inner = counted.clone();
    drop(thread::spawn(move || inner).unwrap());
    while Arc::strong_count(&counted) > 1 {
        thread::yield_now();
    }
}

fn what_a_thread_was_called_with_is_dropped() {
    let counted = Arc::new(());
    for result in [true, false] {
        let inner = counted.clone();
        let thread = thread::spawn(move || {
            let inner = inner;
            assert!(result, "expected");
            drop(inner);
        });
        assert_eq!(thread.unwrap().join().is_ok(), result);
    }
    // Also if there is no thread: it has a name that cannot be.
    let inner = counted.clone();
    assert!(thread::Builder::new().processors(1 << 40).spawn(move || drop(inner)).is_err());
    assert_eq!(Arc::strong_count(&counted), 1);
}

fn scoped_threads_borrow() {
    let mut numbers = vec![1, 2, 3];
    let text = String::from("text");
    let (sum, length) = thread::scope(|scope| {
        let length = scope.spawn(|| text.len()).unwrap();
        let sum = scope.spawn(|| {
            numbers.push(4);
            numbers.iter().sum::<i32>()
        });
        (sum.unwrap().join().unwrap(), length.join().unwrap())
    });
    numbers.push(sum);
    assert_eq!((numbers.as_slice(), length), ([1, 2, 3, 4, 10].as_slice(), 4));
}

fn a_scope_waits_for_all() {
    let ended = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..5 {
            scope
                .spawn(|| {
                    // A thread of a scope creates more.
                    scope
                        .spawn(|| {
                            thread::sleep(Duration::from_millis(1)).unwrap();
                            ended.fetch_add(1, Ordering::Relaxed);
                        })
                        .unwrap();
                    thread::yield_now();
                    ended.fetch_add(1, Ordering::Relaxed);
                })
                .unwrap();
        }
    });
    assert_eq!(ended.into_inner(), 10);
}

fn a_scope_panics_with_its_threads() {
    let caught = std::panic::catch_unwind(|| {
        thread::scope(|scope| {
            drop(scope.spawn(|| panic!("expected")).unwrap());
        });
    });
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"a scoped thread panicked"));
    // But not with one that was joined.
    let joined = thread::scope(|scope| scope.spawn(|| panic!("expected")).unwrap().join().is_err());
    assert!(joined);
}

fn a_scope_that_panics_waits_first() {
    let ended = AtomicUsize::new(0);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        thread::scope(|scope| {
            scope
                .spawn(|| {
                    (0..5).for_each(|_| thread::yield_now());
                    ended.fetch_add(1, Ordering::Relaxed);
                })
                .unwrap();
            panic!("expected");
        })
    }));
    assert!(caught.is_err());
    assert_eq!(ended.into_inner(), 1);
}

fn a_thread_does_not_wait_for_itself() {
    let (sender, receiver) = unbounded::<thread::JoinHandle<()>>();
    let (tell, told) = unbounded();
    let thread = thread::spawn(move || {
        let own = receiver.receive().unwrap();
        let error = own.join().unwrap_err();
        tell.send(error.downcast_ref::<Error>().cloned()).unwrap();
    });
    sender.send(thread.unwrap()).unwrap();
    assert_eq!(told.receive().unwrap(), Some(Error::Deadlock));
}

fn yields_take_turns() {
    let log = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for name in ["one", "other"] {
            let log = &log;
            scope
                .spawn(move || {
                    for round in 0..3 {
                        log.lock().unwrap().push((round, name));
                        thread::yield_now();
                    }
                })
                .unwrap();
        }
    });
    let log = log.into_inner();
    assert_eq!(log.len(), 6);
    // Under the built-in FIFO both have had their first turn before one has its second.
    assert!(log.is_sorted_by_key(|(round, _)| *round), "{log:?}");
}

fn one_can_yield_to_another() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..3)
        .map(|number| {
            let log = log.clone();
            thread::spawn(move || log.lock().unwrap().push(number)).unwrap()
        })
        .collect();
    threads[2].yield_to().unwrap();
    assert!(threads[2].is_finished());
    threads[2].yield_to().unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*log.lock().unwrap(), [2, 0, 1]);
}

fn suspended_threads_do_not_run() {
    let turns = Arc::new(AtomicUsize::new(0));
    let inner = turns.clone();
    let thread = thread::spawn(move || inner.fetch_add(1, Ordering::Relaxed)).unwrap();
    thread.suspend().unwrap();
    (0..10).for_each(|_| thread::yield_now());
    assert_eq!(turns.load(Ordering::Relaxed), 0);
    thread.resume().unwrap();
    assert!(thread.resume().is_err());
    thread.join().unwrap();
    assert_eq!(turns.load(Ordering::Relaxed), 1);
}

fn sleeping_takes_as_long_as_it_is_said() {
    let before = Instant::now();
    thread::sleep(Duration::from_millis(2)).unwrap();
    assert!(before.elapsed() >= Duration::from_millis(2));
    thread::sleep_until(before + Duration::from_millis(4)).unwrap();
    assert!(Instant::now() - before >= Duration::from_millis(4));
    thread::sleep_until(before).unwrap();
}

fn jobs_are_released_a_period_apart() {
    const PERIOD: Duration = Duration::from_millis(2);
    let thread = thread::Builder::new().period(PERIOD).spawn(|| {
        let mut releases = vec![thread::release().unwrap()];
        for _ in 0..4 {
            thread::next_period().unwrap();
            releases.push(thread::release().unwrap());
        }
        releases
    });
    let releases = thread.unwrap().join().unwrap();
    assert!(releases.windows(2).all(|two| two[1] - two[0] == PERIOD), "{releases:?}");
    assert!(matches!(thread::next_period(), Err(Error::Failed { call: "catapults_next_period", .. })));
    assert!(thread::release().is_err());
    // A job that takes two periods has missed a release.
    let late = thread::spawn(|| {
        thread::set_period(PERIOD).unwrap();
        thread::sleep_until(thread::release().unwrap() + PERIOD * 2).unwrap();
        thread::next_period().unwrap()
    });
    assert!(late.unwrap().join().unwrap() >= 2);
}

fn lending_joins_as_well() {
    assert_eq!(thread::spawn(|| 3).unwrap().join_donating().unwrap(), 3);
}

fn many_come_and_go() {
    let mut sum = 0;
    for round in 0..20 {
        let threads: Vec<_> = (0..200).map(|number| thread::spawn(move || number + round).unwrap()).collect();
        sum += threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>();
    }
    assert_eq!(sum, 20 * (199 * 200 / 2) + 200 * 190);
}

fn a_deep_stack_is_there() {
    fn deep(depth: usize) -> usize {
        let room = std::hint::black_box([depth as u8; 1024]);
        if depth == 0 { 0 } else { deep(depth - 1) + usize::from(room[7] == depth as u8) }
    }
    let thread = thread::Builder::new().stack_size(8 << 20).spawn(|| deep(1_000)).unwrap();
    assert_eq!(thread.join().unwrap(), 1_000);
}

fn bad_names_are_refused() {
    let error = thread::Builder::new().name("a\0b").spawn(|| ()).err().unwrap();
    assert!(error.to_string().contains("byte 0"), "{error}");
    let error = thread::Builder::new().value("a\0b", 1).spawn(|| ()).err().unwrap();
    assert!(error.to_string().contains("byte 0"), "{error}");
}

fn the_policy_is_named() {
    assert_eq!(catapults::policy_name().unwrap(), "fifo (built-in)");
    assert_eq!(catapults::processors(), Ok(1));
}
