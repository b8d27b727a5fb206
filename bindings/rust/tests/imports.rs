//! What a policy reads of the program.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by panicking")]

mod started;

use catapults::imports::{Bool, Float, Int, Time, Variable};
use catapults::sync::Mutex;
use catapults::{Duration, Error, Options, thread};
use std::process::ExitCode;
use std::sync::Arc;

catapults::imports! {
    /// In another order than the policy has them.
    #[derive(Default)]
    struct Ranked {
        heaviness as "weight": Float,
        first: Bool,
        unknown_to_the_policy: Int,
        rank: Int,
        due: Time,
    }
}

catapults::imports! {
    struct Other {
        rank: Int,
    }
}

static MOST: Int = Int::new(1_000);
static OPEN: Bool = Bool::new(true);
static RATE: Float = Float::new(1.0);

/// `RANKED_POLICY`: tests/ranked.sched, built.
fn main() -> ExitCode {
    let Some(policy) = std::env::var_os("RANKED_POLICY") else {
        eprintln!(
            "imports: error: RANKED_POLICY is the built tests/ranked.sched; `make -C bindings/rust test` sets it"
        );
        return ExitCode::FAILURE;
    };
    started::run(
        &Options::new().policy(policy),
        tests![
            the_policy_decides_by_fields,
            values_do_without_fields,
            a_policy_is_told_of_changes,
            objects_live_as_long_as_they_are_read,
            one_struct_is_for_all,
            variables_of_the_program_are_read,
            another_type_is_refused,
        ],
    )
}

/// In which order threads run that have these.
fn order(of: Vec<(&'static str, thread::Builder)>) -> Vec<&'static str> {
    let log = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (name, builder) in of {
            let log = &log;
            scope.spawn_with(builder, move || log.lock().unwrap().push(name)).unwrap();
        }
    });
    log.into_inner()
}

fn ranked(ranked: Ranked) -> thread::Builder {
    thread::Builder::new().imports(Arc::new(ranked))
}

fn the_policy_decides_by_fields() {
    let millisecond = Duration::from_millis(1);
    let order = order(vec![
        ("usual", ranked(Ranked { heaviness: Float::new(1.0), ..Ranked::default() })),
        ("light", ranked(Ranked { heaviness: Float::new(0.5), ..Ranked::default() })),
        ("late", ranked(Ranked { due: Time::new(2 * millisecond), rank: Int::new(3), ..Ranked::default() })),
        ("early", ranked(Ranked { due: Time::new(millisecond), rank: Int::new(3), ..Ranked::default() })),
        ("first", ranked(Ranked { first: Bool::new(true), rank: Int::new(-1), ..Ranked::default() })),
    ]);
    assert_eq!(order, ["first", "early", "late", "light", "usual"]);
}

fn values_do_without_fields() {
    let with = |name, value: catapults::imports::Value| thread::Builder::new().value(name, value);
    let order = order(vec![
        ("usual", thread::Builder::new()),
        ("light", with("weight", 0.25.into())),
        ("ranked", with("rank", 2.into())),
        ("first", with("first", true.into())),
        ("late", with("due", Duration::from_millis(1).into())),
        ("unknown", with("no_such_import", 1.into()).value("rank", 1)),
    ]);
    assert_eq!(order, ["first", "ranked", "unknown", "light", "usual", "late"]);
    let error = with("rank", true.into()).spawn(|| ()).err().unwrap();
    assert!(matches!(error, Error::Failed { call: "catapults_create", number: libc::EINVAL }), "{error}");
}

fn a_policy_is_told_of_changes() {
    let (one, other) = (Arc::new(Ranked::default()), Arc::new(Ranked::default()));
    let log = Arc::new(Mutex::new(Vec::new()));
    let threads = [("one", &one), ("other", &other)].map(|(name, object)| {
        let log = log.clone();
        let builder = thread::Builder::new().imports(object.clone());
        builder.spawn(move || log.lock().unwrap().push(name)).unwrap()
    });
    other.rank.set(5);
    threads[1].changed().unwrap();
    one.rank.add(7);
    threads[0].changed().unwrap();
    other.first.set(true);
    threads[1].changed().unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*log.lock().unwrap(), ["other", "one"]);
    let thread = thread::spawn(|| 1).unwrap();
    thread.set_value("rank", 9).unwrap();
    assert!(thread.set_value("rank", 0.5).is_err());
    thread.join().unwrap();
    catapults::imports::changed().unwrap();
}

fn objects_live_as_long_as_they_are_read() {
    let object = Arc::new(Ranked::default());
    let thread = thread::Builder::new().imports(object.clone()).spawn(|| ()).unwrap();
    assert_eq!(Arc::strong_count(&object), 2);
    thread.join().unwrap();
    assert_eq!(Arc::strong_count(&object), 1);
    drop(thread::Builder::new().imports(object.clone()).spawn(|| panic!("expected")).unwrap());
    while Arc::strong_count(&object) > 1 {
        thread::yield_now();
    }
}

fn one_struct_is_for_all() {
    catapults::imports::register::<Ranked>().unwrap();
    let error = thread::Builder::new().imports(Arc::new(Other { rank: Int::new(1) })).spawn(|| ()).err().unwrap();
    assert!(matches!(error, Error::Unusable(ref why) if why.contains("one struct")), "{error}");
}

fn variables_of_the_program_are_read() {
    MOST.register("most").unwrap();
    OPEN.register("open").unwrap();
    MOST.set(2);
    let waits = thread::spawn(thread::yield_now).unwrap();
    assert_eq!(thread::spawn(|| ()).err(), Some(Error::Refused("there are too many".to_owned())));
    waits.join().unwrap();
    assert!(thread::spawn(|| ()).unwrap().join().is_ok());
    OPEN.set(false);
    assert_eq!(thread::spawn(|| ()).err(), Some(Error::Refused("nobody is let in".to_owned())));
    OPEN.set(true);
    MOST.set(1_000);
}

fn another_type_is_refused() {
    assert!(matches!(RATE.register("most"), Err(Error::Failed { .. })));
    assert_eq!(RATE.register("no_such_import"), Ok(()));
}
