//! The faults of `tests/faults` fit what they break, and the comparison of the two dispatchers finds some of them; `make faults` tries all.

use std::fs;
use std::sync::Mutex;

use catapults_tests::faults::{Fate, all, judge};
use catapults_tests::repository::none;
use catapults_tests::root;

#[test]
fn each_fits_the_file_that_it_breaks() {
    let faults = all();
    let wrong: Vec<String> = faults
        .iter()
        .filter_map(|fault| match fs::read_to_string(root().join(&fault.path)) {
            Err(error) => Some(format!("tests/faults/{}.fault: {}: {error}", fault.name, fault.path)),
            Ok(text) => fault.applied(&text).err(),
        })
        .collect();
    none(&wrong, "faults have to fit");
    assert!(faults.len() >= 100, "{}", faults.len());
}

/// Each sixteenth of those that need no test to be compiled anew.
#[test]
fn some_are_found() {
    let mut faults = all();
    faults.retain(|fault| fault.path.starts_with("frameworks/"));
    let mut place = 0;
    faults.retain(|_| {
        place += 1;
        place % 16 == 1
    });
    let wrong = Mutex::new(Vec::new());
    judge(&faults, &|fault, fate| {
        if fate != Fate::Found {
            wrong.lock().unwrap().push(format!("{}: {fate:?}", fault.name));
        }
    });
    none(&wrong.into_inner().unwrap(), "the comparison does not find these faults");
}
