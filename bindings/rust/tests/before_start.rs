//! What calls say before the start, and on kernel threads that are not the runtime's.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by panicking")]

use catapults::sync::{Mutex, Semaphore, unbounded};
use catapults::{Error, Options, thread};
use std::process::Command;
use std::time::Duration;

fn main() {
    // A program of its own for each, because the runtime starts once.
    match std::env::args().nth(1).as_deref() {
        Some("environment") => return println!("{}", catapults::start().unwrap_err()),
        Some("policy") => return println!("{}", Options::new().policy("no/such.so").start().unwrap_err()),
        Some("name") => return println!("{}", Options::new().policy("a\0b").start().unwrap_err()),
        Some(_) | None => {}
    }
    before();
    elsewhere_cannot_start();
    the_environment_turns_on_nothing_unsafe();
    a_policy_that_is_not_there_is_named();
    catapults::start().unwrap();
    assert!(matches!(catapults::start(), Err(Error::Failed { call: "catapults_init", .. })));
    elsewhere();
    println!("before_start: done");
}

fn before() {
    assert!(matches!(thread::spawn(|| ()), Err(Error::NotStarted)));
    let mutex = Mutex::new(());
    assert_eq!(mutex.lock().err(), Some(Error::NotStarted));
    assert_eq!(thread::sleep(Duration::ZERO), Err(Error::NotStarted));
    assert_eq!(catapults::policy_name(), Err(Error::NotStarted));
    thread::yield_now();
    assert_eq!(thread::undisturbed(|| 3), 3);
    assert_eq!(thread::scope(|_| 4), 4);
    let said = Error::NotStarted.to_string();
    assert!(said.contains("catapults::start"), "{said}");
}

fn elsewhere_cannot_start() {
    let error = std::thread::spawn(|| catapults::start().unwrap_err()).join().unwrap();
    assert!(matches!(error, Error::Unusable(ref why) if why.contains("main")), "{error}");
}

/// What this program prints, given this argument.
fn said(argument: &str, environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.arg(argument).envs(environment.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn the_environment_turns_on_nothing_unsafe() {
    for (name, value) in [("CATAPULTS_ACTIVATIONS", "1"), ("CATAPULTS_THREAD_LOCAL", "own")] {
        let said = said("environment", &[(name, value)]);
        assert!(said.contains(&format!("{name}={value} is set")) && said.contains("Options::"), "{said}");
    }
}

fn a_policy_that_is_not_there_is_named() {
    assert!(said("policy", &[]).contains("catapults_init"));
    assert!(said("name", &[]).contains("byte 0"));
}

fn elsewhere() {
    let (mutex, semaphore) = (Mutex::new(1), Semaphore::new(1));
    let (sender, receiver) = unbounded::<i32>();
    let handle = thread::spawn(|| 7).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(mutex.lock().err(), Some(Error::Elsewhere));
            assert_eq!(mutex.try_lock().err(), Some(Error::Elsewhere));
            assert_eq!(semaphore.acquire(), Err(Error::Elsewhere));
            assert!(matches!(thread::spawn(|| ()), Err(Error::Elsewhere)));
            assert_eq!(sender.send(1).unwrap_err().why, Error::Elsewhere);
            assert_eq!(receiver.receive(), Err(Error::Elsewhere));
            assert!(handle.suspend().is_err());
            assert_eq!(thread::name(), None);
            thread::yield_now();
            let payload = handle.join().unwrap_err();
            assert_eq!(payload.downcast_ref(), Some(&Error::Elsewhere));
        });
    });
    assert_eq!(*mutex.lock().unwrap(), 1);
}
