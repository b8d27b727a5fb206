//! Programs that were compiled for POSIX threads, and know nothing of Catapults, under policies: `catapults run`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use catapults_tests::command::said;
use catapults_tests::{catapults, limited, root};

/// A folder for what is compiled.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program of C that was compiled as usual.
    fn compiled(&self, source: &Path, options: &[&str]) -> PathBuf {
        let program = self.path(&source.file_stem().unwrap().to_string_lossy());
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
        let made = compiler.arg(&program).arg(source).args(options).output().unwrap();
        assert!(made.status.success(), "{}", said(&made));
        program
    }

    fn run(&self, policy: &Path, program: &[&OsStr]) -> Output {
        self.command(policy, program).output().unwrap()
    }

    fn command(&self, policy: &Path, program: &[&OsStr]) -> Command {
        let mut run = limited(catapults());
        run.env("CATAPULTS_FRAMEWORKS", root().join("frameworks")).env("XDG_CACHE_HOME", self.path("cache"));
        run.env("NO_COLOR", "1").arg("run").arg(policy).arg("--").args(program);
        run
    }

    fn described(&self, description: &Path, policy: &Path, program: &Path) -> Command {
        let mut run = limited(catapults());
        run.env("CATAPULTS_FRAMEWORKS", root().join("frameworks")).env("XDG_CACHE_HOME", self.path("cache"));
        run.env("NO_COLOR", "1").arg("run").arg("--program").arg(description).arg(policy).arg("--").arg(program);
        run
    }

    /// What the program cannot be scheduled for, before it has said anything.
    fn refused(&self, program: &Path, why: &str) {
        let done = self.run(&library("fifo"), &[program.as_os_str()]);
        let text = said(&done);
        assert_eq!(done.status.code(), Some(1), "{text}");
        assert!(text.contains("error[E0526]: the program cannot be scheduled: ") && text.contains(why), "{text}");
        assert!(text.contains(" = help: ") && done.stdout.is_empty(), "{text}");
    }
}

fn library(policy: &str) -> PathBuf {
    root().join(format!("policies/{policy}.sched"))
}

fn here(file: &str) -> PathBuf {
    root().join("tests/unmodified").join(file)
}

/// What the object is made of that is loaded into programs. Two tests at a time would build it twice.
fn build() {
    let build = root().join("build").display().to_string(); // where it is already, after `make build`
    let mut make = Command::new("make");
    make.args(["--silent", "-j2", "-C"]).arg(root().join("frameworks/native")).arg(format!("BUILD={build}"));
    let made = make.arg("beneath").env_remove("MAKEFLAGS").env_remove("OUT").output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
}

fn succeeds(place: &Place, policy: &Path, program: &[&OsStr]) -> String {
    succeeds_on(place, 1, policy, program)
}

fn succeeds_on(place: &Place, processors: usize, policy: &Path, program: &[&OsStr]) -> String {
    let done = place.command(policy, program).env("CATAPULTS_PROCESSORS", processors.to_string()).output().unwrap();
    assert!(
        done.status.success() && done.stderr.is_empty(),
        "{policy:?} {program:?} on {processors} processors: {}: {}",
        done.status,
        said(&done)
    );
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn programs_for_posix_threads_run_under_policies() {
    build();
    let place = Place::new();
    programs_do_what_they_do(&place);
    several_processors_run_threads_at_a_time(&place);
    the_order_is_the_policys(&place);
    priorities_are_those_of_posix(&place);
    what_threads_wait_for_is_told(&place);
    variables_of_programs_are_told(&place);
    descriptions_that_cannot_be_used_are_refused(&place);
    locks_for_which_others_wait_are_told(&place);
    python_runs(&place);
    what_a_program_starts_is_its_own(&place);
    what_cannot_be_run_is_refused(&place);
    code_that_must_not_be_written_is_replaced(&place);
    filters_must_leave_what_the_runtime_needs(&place);
}

fn programs_do_what_they_do(place: &Place) {
    let folders = ["", "posix"].map(|folder| fs::read_dir(here(folder)).unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut sources: Vec<PathBuf> = files.filter(|path| path.extension() == Some(OsStr::new("c"))).collect();
    sources.sort();
    assert!(sources.len() > 10, "{sources:?}");
    for source in sources {
        let program = place.compiled(&source, &[]);
        for policy in ["fifo", "round_robin", "edf"] {
            succeeds(place, &library(policy), &[program.as_os_str()]);
        }
        for (policy, processors) in [("fifo", 2), ("round_robin", 2), ("per_processor_fifo", 3)] {
            succeeds_on(place, processors, &library(policy), &[program.as_os_str()]);
        }
    }
}

/// Its name is that of a command, too, which would only start others.
fn several_processors_run_threads_at_a_time(place: &Place) {
    let program = place.compiled(&here("several/parallel.c"), &[]);
    for policy in ["fifo", "round_robin", "per_processor_fifo"] {
        succeeds_on(place, 2, &library(policy), &[program.as_os_str()]);
    }
}

fn the_order_is_the_policys(place: &Place) {
    let program = place.compiled(&here("order/order.c"), &[]);
    let order = |policy: &Path| succeeds(place, policy, &[program.as_os_str()]);
    assert_eq!(order(&library("fifo")), " 0 1 2 3 4, 0 1 2 3 4\n");
    assert_eq!(order(&here("order/newest_first.sched")), " 4 3 2 1 0, 4 3 2 1 0\n");
}

/// The policy knows who has such locks, and how many wait; and when nobody does any more.
fn locks_for_which_others_wait_are_told(place: &Place) {
    let program = place.compiled(&here("locks/owners.c"), &[]);
    let order = |policy: &Path| succeeds(place, policy, &[program.as_os_str()]);
    assert_eq!(order(&library("fifo")), " one two three, one two three\n");
    assert_eq!(order(&here("locks/locks_first.sched")), " two three one, one two three\n");
}

fn what_threads_wait_for_is_told(place: &Place) {
    let program = place.compiled(&here("variables/waits.c"), &[]);
    let order = |policy: &Path| succeeds(place, policy, &[program.as_os_str()]);
    assert_eq!(order(&library("fifo")), " condition thread\n");
    assert_eq!(order(&here("variables/joins_first.sched")), " thread condition\n");
}

/// As the description of the program says, whether it was compiled to be fast, to be debugged, or at a fixed address, and
/// where its symbols are in another file.
fn variables_of_programs_are_told(place: &Place) {
    const LATER: &str = " 0 1 2 3, 3 2 1 0\n";
    let source = here("variables/served.c");
    let order = |program: &Path, description: &str, policy: &str| {
        let mut run = place.described(&here(&format!("variables/{description}.program")), &here(policy), program);
        let done = run.output().unwrap();
        assert!(done.status.success() && done.stderr.is_empty(), "{description}: {}", said(&done));
        String::from_utf8(done.stdout).unwrap()
    };
    for options in [&["-O0"][..], &["-O2"], &["-O2", "-fcf-protection"], &["-O2", "-no-pie", "-fno-pie"]] {
        let program = place.compiled(&source, options);
        if !options.contains(&"-O0") {
            assert_eq!(order(&program, "served", "variables/most_first.sched"), " 3 2 1 0, 0 1 2 3\n", "{options:?}");
        }
        assert_eq!(order(&program, "entered", "variables/most_first.sched"), " 3 2 1 0, 0 1 2 3\n", "{options:?}");
        assert_eq!(order(&program, "members", "variables/most_first.sched"), " 3 2 1 0, 3 2 1 0\n", "{options:?}");
        assert_eq!(order(&program, "signed", "variables/most_first.sched"), " 0 1 2 3, 0 1 2 3\n", "{options:?}");
        assert_eq!(order(&program, "members", "variables/served.sched"), LATER, "{options:?}");
        assert_eq!(succeeds(place, &here("variables/served.sched"), &[program.as_os_str()]), " 0 1 2 3, 0 1 2 3\n");
    }

    let program = place.compiled(&source, &[]);
    let symbols = place.path("served.debug");
    let objcopy = |options: &[&OsStr]| assert!(Command::new("objcopy").args(options).status().unwrap().success());
    objcopy(&["--only-keep-debug".as_ref(), program.as_os_str(), symbols.as_os_str()]);
    let mut linked = OsStr::new("--add-gnu-debuglink=").to_owned();
    linked.push(&symbols);
    objcopy(&["--strip-all".as_ref(), linked.as_os_str(), program.as_os_str()]);
    assert_eq!(order(&program, "served", "variables/most_first.sched"), " 3 2 1 0, 0 1 2 3\n");
    assert_eq!(order(&program, "members", "variables/served.sched"), LATER);
}

/// With a code and a place, and the program has not started.
fn descriptions_that_cannot_be_used_are_refused(place: &Place) {
    let program = place.compiled(&here("variables/served.c"), &[]);
    let slow = place.path("slow");
    fs::rename(place.compiled(&here("variables/served.c"), &["-O0"]), &slow).unwrap();
    let fast = place.compiled(&here("variables/served.c"), &[]);
    assert_eq!(fast, program);
    let refused = |program: &Path, text: &str, code: &str, why: &str| {
        let description = place.path("refused.program");
        fs::write(&description, format!("program served for \"served\" {{\n  {text}\n}}\n")).unwrap();
        let done = place.described(&description, &here("variables/most_first.sched"), program).output().unwrap();
        let said = said(&done);
        assert_eq!(done.status.code(), Some(1), "{text}: {said}");
        assert!(done.stdout.is_empty() && said.contains(&format!("error[{code}]: ")) && said.contains(why), "{said}");
        assert!(said.contains("refused.program:2:"), "{said}");
    };
    let count = |function: &str| format!("thread int under_way = entered \"{function}\";");
    refused(&program, "thread time under_way = entered \"take\";", "E0527", "of type `int`");
    refused(&program, "int under_way = entered \"take\";", "E0527", "write `thread int`");
    refused(&program, "thread int under_way = variable \"served\";", "E0527", "without `thread`");
    refused(
        &program,
        "thread int under_way = called \"take\";",
        "E0527",
        "expected `entered`, `left`, `variable` or `member`",
    );
    refused(&program, "thread int owns = entered \"take\";", "E0527", "the host keeps a variable `owns` itself");
    let twice = format!("{0}\n  {0}", count("take"));
    let description = place.path("twice.program");
    fs::write(&description, format!("program served for \"served\" {{ {twice} }}")).unwrap();
    let done = place.described(&description, &here("variables/most_first.sched"), &program).output().unwrap();
    assert!(said(&done).contains("error[E0527]: the variable `under_way` is described twice"), "{}", said(&done));
    refused(&program, &count("begin_reqest"), "E0528", "did you mean `begin_request`?");
    refused(
        &program,
        "thread int under_way = member \"requests\" \"weight\" of argument 1 of \"take\";",
        "E0528",
        "no structure `requests`",
    );
    refused(
        &program,
        "thread int under_way = member \"request\" \"wait\" of argument 1 of \"take\";",
        "E0528",
        "no member `wait`",
    );
    refused(
        &program,
        "thread int under_way = member \"request\" \"kind\" of argument 9 of \"take\";",
        "E0527",
        "the numbers 1 to 6",
    );
    refused(&slow, "thread int under_way = left \"end_request\";", "E0529", "no room for a jump");

    // A policy imports something else: it is said, and the program runs.
    let description = place.path("other.program");
    fs::write(&description, "program served for \"served\" { thread int under_way = entered \"take\"; }").unwrap();
    let done = place.described(&description, &here("variables/served.sched"), &program).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    assert!(String::from_utf8_lossy(&done.stderr).contains("has no variable `served`"), "{}", said(&done));
}

/// The owner of a mutex goes on before a thread of a priority between its own and that of a thread that waits for it.
fn priorities_are_those_of_posix(place: &Place) {
    let program = place.compiled(&here("priorities/inversion.c"), &[]);
    let said = succeeds(place, &library("fixed_priority"), &[program.as_os_str()]);
    assert_eq!(said, "low locks\nmain waits\nhigh waits\nlow unlocks\nhigh has it\nmiddle\nlow ends\n");
}

/// An interpreter with locks of its own, which starts programs with vfork. All of its threads are one of the kernel.
fn python_runs(place: &Place) {
    const PROGRAM: &str = "
import os, queue, subprocess, threading, time
results = queue.Queue()
def work(number):
    time.sleep(0.001 * number)
    results.put(subprocess.run(['echo', str(number)], capture_output=True).stdout)
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
print(len(os.listdir('/proc/self/task')))
for thread in threads: thread.join()
print(sorted(int(results.get()) for _ in threads))
";
    let python = ["/usr/bin/python3", "-c", PROGRAM].map(OsStr::new);
    for policy in ["fifo", "round_robin"] {
        assert_eq!(succeeds(place, &library(policy), &python), "1\n[0, 1, 2, 3, 4, 5, 6, 7]\n");
    }
}

fn what_a_program_starts_is_its_own(place: &Place) {
    let source = place.path("environment.c");
    let text =
        "#include <stdlib.h>\nint main(void) { return system(\"echo ${LD_PRELOAD-none} ${CATAPULTS_SITES-none}\"); }\n";
    fs::write(&source, text).unwrap();
    let program = place.compiled(&source, &[]);
    assert_eq!(succeeds(place, &library("fifo"), &[program.as_os_str()]), "none none\n");
}

fn what_cannot_be_run_is_refused(place: &Place) {
    let source = place.path("plain.c");
    fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(\"started\") < 0; }\n").unwrap();
    place.refused(&place.compiled(&source, &["-static"]), "it is linked statically");
    place.refused(&place.compiled(&source, &["-fsanitize=address"]), "it has a sanitizer");
    place.refused(&place.compiled(&source, &["-fsanitize=thread"]), "it has a sanitizer");
    place.refused(&place.compiled(&source, &["-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"]), "not glibc");

    let program = place.compiled(&source, &[]);
    let mut activated = place.command(&library("fifo"), &[program.as_os_str()]);
    let activated = activated.env("CATAPULTS_ACTIVATIONS", "1").output().unwrap();
    assert_eq!(activated.status.code(), Some(1));
    assert!(said(&activated).starts_with("catapults: the program is not started: CATAPULTS_ACTIVATIONS is 1"));
    let edited = |name: &str, edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(&program).unwrap();
        edit(&mut bytes);
        let path = place.path(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    // The machine, in the head of the file: aarch64.
    place.refused(&edited("foreign", &|bytes| bytes[18] = 183), "it is not for x86-64 in 64 bits");
    let set_id = edited("set_id", &|_| ());
    fs::set_permissions(&set_id, fs::Permissions::from_mode(0o4755)).unwrap();
    place.refused(&set_id, "it is set-user-id");

    // As the linker of Go marks its programs.
    let note = place.path("note.s");
    fs::write(&note, ".section .note.go.buildid, \"a\", @note\n.long 4, 4, 4\n.ascii \"Go\\0\\0\"\n.long 0\n").unwrap();
    place.refused(&place.compiled(&source, &[note.to_str().unwrap()]), "it was written in Go");
}

/// The kernel refuses to execute what was written: the changed pages are those of a file then.
fn code_that_must_not_be_written_is_replaced(place: &Place) {
    let starter = place.compiled(&here("sandbox/no_new_code.c"), &[]);
    let program = place.compiled(&here("mutex.c"), &[]);
    let run = place.command(&library("round_robin"), &[program.as_os_str()]);
    let mut command = Command::new(starter);
    command.arg(run.get_program()).args(run.get_args());
    command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = command.output().unwrap();
    assert!(done.status.success() && done.stderr.is_empty(), "{}: {}", done.status, said(&done));
}

/// What a program forbids itself it would forbid the runtime, too: that is told when it does, and the program goes on (E0533).
fn filters_must_leave_what_the_runtime_needs(place: &Place) {
    let program = place.compiled(&here("sandbox/filters.c"), &[]);
    for processors in ["1", "2"] {
        let mut command = place.command(&library("round_robin"), &[program.as_os_str()]);
        let done = command.env("CATAPULTS_PROCESSORS", processors).output().unwrap();
        let text = said(&done);
        assert!(done.status.success() && text.starts_with("goes on\n"), "{}: {text}", done.status);
        for call in ["ppoll", "rt_sigprocmask"] {
            let told = format!(
                "error[E0533]: a filter of seccomp is not installed, because it forbids {call}, which the runtime needs"
            );
            assert!(text.contains(&told), "{text}");
        }
    }
}
