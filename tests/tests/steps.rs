//! The steps of `docs/tutorial.md` and of `README.md` work as written, in order, for somebody who has nothing but a clone in which `make build` was done;
//! and a page that is wrong is said to be so.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use catapults_tests::root;
use catapults_tests::steps::{Outcome, follow, follow_at};

fn works(page: &str) -> Outcome {
    let outcome = follow_at(page, false, &mut |_| ()).unwrap_or_else(|missing| panic!("{missing}"));
    if let Some(wrong) = &outcome.wrong {
        panic!("{wrong}");
    }
    assert_eq!(outcome.done, outcome.all);
    outcome
}

/// Every command shows what it prints.
#[test]
fn the_tutorial_works_as_written() {
    assert_eq!(works("docs/tutorial.md").unseen, 0);
}

/// Three commands for each of four readers.
#[test]
fn the_readme_works_as_written() {
    assert_eq!(works("README.md").unseen, 12);
}

fn done(page: &str, update: bool) -> Result<Outcome, String> {
    follow("page.md", page, &root().join("build"), update, &mut |_| ())
}

/// What is wrong with a page, after so many steps that are right.
fn wrong(page: &str, steps: usize) -> String {
    let outcome = done(page, false).unwrap();
    assert_eq!(outcome.done, steps, "{outcome:?}");
    outcome.wrong.unwrap_or_else(|| panic!("nothing is wrong with {page}"))
}

#[test]
fn steps_build_on_those_before() {
    let page = "Save `a.c`:\n\n```c\none\ntwo\n\n```\n\nChange `a.c`:\n\n```diff\n one\n-two\n+2\n+3\n \n```\n\n```console\n$ cat a.c\none\n2\n3\n\n\
                $ export WORD=there && mkdir new && cd new\n$ echo $WORD \\\n  ${PWD##*/}\nthere new\n$ cat ../a.c | head -1; false\none\n```\n\n\
                ```sh\necho seen by nobody\ntest -e ../a.c\n```\n";
    let outcome = done(page, false).unwrap();
    assert_eq!((outcome.wrong, outcome.done, outcome.all, outcome.unseen), (None, 8, 8, 2));
}

#[test]
fn what_differs_is_said_with_its_line() {
    let page = "```console\n$ true\n$ echo a; echo b\na\nc\n```\n";
    let said = wrong(page, 1);
    assert_eq!(
        said,
        "page.md:3: `echo a; echo b` does not print what is shown\nline 5 shows: `c`\nprinted instead: `b`\nAll that it printed:\na\nb"
    );
    let said = wrong("```console\n$ true\na\n```\n", 0);
    assert!(said.contains("line 3 shows: `a`\nprinted instead: nothing more\n"), "{said}");
    let said = wrong("```console\n$ echo a\n```\n", 0);
    assert!(said.contains("line 3 shows: nothing more\nprinted instead: `a`\n"), "{said}");
    let said = wrong("```console\n$ false\n```\n", 0);
    assert_eq!(said, "page.md:2: `false` ended with status 1, and printed\nnothing");
    let said = wrong("```console\n$ no-such-tool\nbash: [..]\n```\n", 0);
    assert!(said.contains("ended with status 127, and printed\n"), "{said}");
    let said = wrong("```sh\ntrue\necho a; false\n```\n", 1);
    assert_eq!(said, "page.md:3: `echo a; false` ended with status 1, and printed\na");
    let said = wrong("`a.c`:\n```c\nb\nb\n```\n`a.c`:\n```diff\n-b\n+c\n```\n", 1);
    assert!(said.starts_with("page.md:7: `a.c` has 2 places to change, and not one"), "{said}");
    let said = wrong("`a.c`:\n```diff\n-b\n```\n", 0);
    assert!(said.starts_with("page.md:2: `a.c` cannot be read: "), "{said}");
}

#[test]
fn placeholders_stand_for_what_varies_alone() {
    let prints = |shown: &str| done(&format!("```console\n$ echo 12 of 34 s\n{shown}\n```\n"), false).unwrap().wrong;
    for shown in ["12 of 34 s", "[..] of [..] s", "[..]", "12[..]s", "[..]34 s", "12 of [..]", "12[..] of 34 s[..]"] {
        assert_eq!(prints(shown), None, "{shown}");
    }
    for shown in ["12 of 34", "[..] of [..] ms", "2[..]", "[..]of 3", "12 [..]34 [..]34 s", "12 of 34 s [..]"] {
        assert!(prints(shown).is_some(), "{shown}");
    }
}

#[test]
fn blocks_that_are_no_steps_are_refused() {
    for (page, said) in [
        ("Text.\n", "page.md: there is no step"),
        ("```c\nb\n```\n", "page.md:1: the line before the block names no file; it has to end with `NAME`:"),
        ("Not `a`:\n```c\n```\n", "page.md:2: the line before the block names no file; it has to end with `NAME`:"),
        ("```console\na\n```\n", "page.md:2: a block of commands begins with `$ ` and a command"),
        ("```python\n```\n", "page.md:1: a block `python` is no step; write console, sh, diff, c, sched or scenario"),
    ] {
        assert_eq!(done(page, false).unwrap_err(), said);
    }
}

#[test]
fn what_is_not_built_is_named() {
    let empty = tempfile::tempdir().unwrap();
    let said = follow("page.md", "```sh\ntrue\n```\n", empty.path(), false, &mut |_| ()).unwrap_err();
    assert_eq!(said, format!("there is no {}/native/libcatapults.a; `make build` makes it", empty.path().display()));
}

#[test]
fn a_page_can_be_written_anew() {
    let page = "# One\n\n```console\n$ echo 1 s; echo b\n[..] s\na\n$ echo c; false\n$ true\nold\n```\n\nThe end.\n";
    let outcome = done(page, true).unwrap();
    assert_eq!(outcome.wrong, None);
    let renewed = "# One\n\n```console\n$ echo 1 s; echo b\n[..] s\nb\n$ echo c; false\nc\n$ true\n```\n\nThe end.\n";
    assert_eq!(outcome.renewed, renewed);
    assert_eq!(done(renewed, false).unwrap().wrong, None);
}
