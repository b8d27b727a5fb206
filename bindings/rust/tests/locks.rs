//! Mutexes, read-write locks, conditions, semaphores, barriers and channels.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by panicking")]

mod started;

use catapults::sync::{Barrier, Condvar, Mutex, RwLock, Semaphore, bounded, unbounded};
use catapults::{Duration, Error, Instant, Options, thread};
use std::num::{NonZeroU16, NonZeroUsize};
use std::process::ExitCode;

const SOON: Duration = Duration::from_millis(1);

fn main() -> ExitCode {
    started::run(
        &Options::new(),
        tests![
            mutexes_exclude,
            mutexes_find_deadlocks,
            a_mutex_that_was_left_locked_can_be_moved,
            readers_share,
            conditions_wait,
            semaphores_count,
            barriers_gather,
            channels_carry_values,
            bounded_channels_hold_back,
            closed_channels_say_so,
            values_that_nobody_received_are_dropped,
            locks_tell_what_they_protect,
        ],
    )
}

fn mutexes_exclude() {
    static MUTEX: Mutex<(u32, u32)> = Mutex::new((0, 0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope
                .spawn(|| {
                    for _ in 0..20 {
                        let mut held = MUTEX.lock().unwrap();
                        held.0 += 1;
                        held.1 = held.1.max(held.0);
                        thread::yield_now();
                        held.0 -= 1;
                    }
                })
                .unwrap();
        }
    });
    assert_eq!(*MUTEX.lock().unwrap(), (0, 1));
    let held = MUTEX.lock().unwrap();
    thread::scope(|scope| {
        scope
            .spawn(|| {
                assert_eq!(MUTEX.try_lock().err(), Some(Error::Busy));
                assert_eq!(MUTEX.lock_timeout(SOON).err(), Some(Error::TimedOut));
            })
            .unwrap();
    });
    drop(held);
    let mut own = Mutex::new(vec![1]);
    own.get_mut().push(2);
    assert_eq!(own.into_inner(), [1, 2]);
}

fn mutexes_find_deadlocks() {
    let (one, other) = (Mutex::new(()), Mutex::new(()));
    let held = one.lock().unwrap();
    assert_eq!(one.lock().err(), Some(Error::Deadlock));
    thread::scope(|scope| {
        let thread = scope
            .spawn(|| {
                let _other = other.lock().unwrap();
                one.lock().map(drop)
            })
            .unwrap();
        thread::yield_now();
        // Whoever closes the circle is told.
        assert_eq!(other.lock().err(), Some(Error::Deadlock));
        drop(held);
        assert_eq!(thread.join().unwrap(), Ok(()));
    });
}

fn a_mutex_that_was_left_locked_can_be_moved() {
    let mutex = Mutex::new(5);
    std::mem::forget(mutex.lock().unwrap());
    let moved = Box::new(mutex);
    assert_eq!(moved.try_lock().err(), Some(Error::Busy));
    assert_eq!(moved.lock().err(), Some(Error::Deadlock));
    assert_eq!(moved.into_inner(), 5);
    thread::yield_now();
}

fn readers_share() {
    let lock = RwLock::new(1);
    {
        let reads = lock.read().unwrap();
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let also = *lock.try_read().unwrap();
                assert_eq!(lock.try_write().err(), Some(Error::Busy));
                assert_eq!(lock.write_timeout(SOON).err(), Some(Error::TimedOut));
                also
            });
            assert_eq!(thread.unwrap().join().unwrap(), *reads);
        });
    }
    let mut writes = lock.write().unwrap();
    *writes += 1;
    assert_eq!(lock.read().err(), Some(Error::Deadlock));
    thread::scope(|scope| {
        scope
            .spawn(|| {
                assert_eq!(lock.try_read().err(), Some(Error::Busy));
                assert_eq!(lock.read_until(Instant::now() + SOON).err(), Some(Error::TimedOut));
            })
            .unwrap();
    });
    drop(writes);
    assert_eq!(*lock.read().unwrap(), 2);
    assert_eq!(lock.into_inner(), 2);
}

fn conditions_wait() {
    let (mutex, changed) = (Mutex::new(None), Condvar::new());
    thread::scope(|scope| {
        scope
            .spawn(|| {
                *mutex.lock().unwrap() = Some(5);
                changed.notify_all();
            })
            .unwrap();
        let held = changed.wait_while(mutex.lock().unwrap(), |value| value.is_none()).unwrap();
        assert_eq!(*held, Some(5));
        let (held, notified) = changed.wait_timeout(held, SOON).unwrap();
        assert!(!notified);
        assert!(mutex.try_lock().is_err());
        let waits = scope.spawn(|| {
            let held = mutex.lock().unwrap();
            changed.notify_one();
            *changed.wait(held).unwrap()
        });
        let (mut held, notified) = changed.wait_until(held, Instant::FOREVER).unwrap();
        assert!(notified);
        *held = Some(6);
        drop(held);
        changed.notify_one();
        assert_eq!(waits.unwrap().join().unwrap(), Some(6));
    });
}

fn semaphores_count() {
    let semaphore = Semaphore::new(1);
    assert_eq!(semaphore.try_acquire(), Ok(()));
    assert_eq!(semaphore.try_acquire(), Err(Error::Busy));
    assert_eq!(semaphore.acquire_timeout(SOON), Err(Error::TimedOut));
    thread::scope(|scope| {
        scope.spawn(|| semaphore.release()).unwrap();
        semaphore.acquire().unwrap();
    });
}

fn barriers_gather() {
    let barrier = Barrier::new(NonZeroU16::new(3).unwrap());
    let last = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope
                .spawn(|| {
                    let came_last = barrier.wait().unwrap();
                    *last.lock().unwrap() += i32::from(came_last);
                })
                .unwrap();
        }
    });
    assert_eq!(last.into_inner(), 2);
}

fn channels_carry_values() {
    let (sender, receiver) = unbounded();
    let sum = thread::scope(|scope| {
        for producer in 0..3 {
            let sender = sender.clone();
            scope
                .spawn(move || {
                    for value in 0..50 {
                        sender.send(producer * 50 + value).unwrap();
                        thread::yield_now();
                    }
                })
                .unwrap();
        }
        drop(sender);
        let receivers: Vec<_> = (0..2)
            .map(|_| {
                let receiver = receiver.clone();
                scope.spawn(move || receiver.iter().sum::<i32>()).unwrap()
            })
            .collect();
        receivers.into_iter().map(|thread| thread.join().unwrap()).sum::<i32>()
    });
    assert_eq!(sum, 149 * 150 / 2);
}

fn bounded_channels_hold_back() {
    let (sender, receiver) = bounded(NonZeroUsize::new(2).unwrap());
    sender.send(1).unwrap();
    sender.try_send(2).unwrap();
    let error = sender.try_send(3).unwrap_err();
    assert_eq!((error.value, error.why), (3, Error::Busy));
    let error = sender.send_until(3, Instant::now() + SOON).unwrap_err();
    assert_eq!((error.value, error.why), (3, Error::TimedOut));
    thread::scope(|scope| {
        scope.spawn(|| sender.send(3)).unwrap();
        assert_eq!((0..3).map(|_| receiver.receive().unwrap()).collect::<Vec<_>>(), [1, 2, 3]);
    });
    assert_eq!(receiver.try_receive(), Err(Error::Busy));
    assert_eq!(receiver.receive_timeout(SOON), Err(Error::TimedOut));
}

fn closed_channels_say_so() {
    let (sender, receiver) = unbounded();
    sender.send(1).unwrap();
    drop(sender);
    assert_eq!((receiver.receive(), receiver.receive()), (Ok(1), Err(Error::Closed)));
    let (sender, receiver) = bounded(NonZeroUsize::new(1).unwrap());
    sender.send("first").unwrap();
    thread::scope(|scope| {
        let waits = scope.spawn(move || sender.send("second")).unwrap();
        thread::yield_now();
        drop(receiver);
        let error = waits.join().unwrap().unwrap_err();
        assert_eq!((error.value, error.why), ("second", Error::Closed));
    });
    // A receiver that waits is told, too.
    let (sender, receiver) = unbounded::<()>();
    thread::scope(|scope| {
        let waits = scope.spawn(move || receiver.receive()).unwrap();
        thread::yield_now();
        drop(sender);
        assert_eq!(waits.join().unwrap(), Err(Error::Closed));
    });
}

fn values_that_nobody_received_are_dropped() {
    let counted = std::sync::Arc::new(());
    let (sender, receiver) = unbounded();
    sender.send(counted.clone()).unwrap();
    drop((sender, receiver));
    assert_eq!(std::sync::Arc::strong_count(&counted), 1);
}

fn locks_tell_what_they_protect() {
    let (mutex, lock) = (Mutex::new(3), RwLock::new("text"));
    assert_eq!(format!("{mutex:?} {lock:?}"), "Mutex(3) RwLock(\"text\")");
    let held = mutex.lock().unwrap();
    assert_eq!(format!("{mutex:?} {held:?}"), "Mutex(<locked>) 3");
}
