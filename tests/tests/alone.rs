//! The command where nothing else of Catapults is: what it needs is in it, and is written out when it is needed.

use catapults_tests::{catapults, root};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use catapults_tests::command::{SCENARIO, policy, said};

/// A folder with a copy of the command, a policy and a scenario. `HOME` and `TMPDIR` are in it.
struct Alone {
    folder: tempfile::TempDir,
}

impl Alone {
    fn new() -> Self {
        let alone = Alone { folder: tempfile::tempdir().unwrap() };
        // By another process: while one that has a file open to write it may be forked, nobody may start the file.
        assert!(Command::new("cp").arg(catapults()).arg(alone.path("catapults")).status().unwrap().success());
        for folder in ["home", "tmp"] {
            fs::create_dir(alone.path(folder)).unwrap();
        }
        fs::write(alone.path("fifo.sched"), policy("fifo.sched")).unwrap();
        fs::write(alone.path("fifo.scenario"), SCENARIO).unwrap();
        alone
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("catapults"));
        command.args(arguments).current_dir(self.folder.path()).env("NO_COLOR", "1");
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env_remove("CATAPULTS_FRAMEWORKS").env_remove("XDG_CACHE_HOME");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What lies in the cache: trees of frameworks.
    fn trees(&self, cache: &Path) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(cache) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.join("frameworks").is_dir()).collect()
    }
}

fn succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    said(output)
}

#[test]
fn what_only_reads_writes_nothing() {
    let alone = Alone::new();
    assert!(succeeds(&alone.run(&["framework", "list"])).contains("native    c, int 64"));
    for arguments in [
        &["check", "fifo.sched"][..],
        &["sim", "fifo.scenario"],
        &["test", "fifo.scenario"],
        &["explore", "fifo.sched"],
    ] {
        succeeds(&alone.run(arguments));
    }
    assert_eq!(fs::read_dir(alone.path("home")).unwrap().count() + fs::read_dir(alone.path("tmp")).unwrap().count(), 0);
    let objects = succeeds(&alone.run(&["framework", "list", "--message-format", "json"]));
    assert!(objects.contains("\"name\":\"native\",\"file\":null"), "{objects}");
}

#[test]
fn a_policy_is_built_for_every_framework_that_needs_a_c_compiler_only() {
    let alone = Alone::new();
    for (framework, kind) in [
        ("native", "shared"),
        ("native", "compiled_in"),
        ("pth", "shared"),
        ("freertos", "folder"),
        ("rabbit", "steps"),
        ("dask", "module"),
        ("dask", "steps"),
    ] {
        succeeds(&alone.run(&["build", "--framework", framework, "--as", kind, "--output", framework, "fifo.sched"]));
    }
    assert_eq!(alone.trees(&alone.path("home/.cache/catapults")).len(), 1);
    assert!(
        succeeds(&alone.run(&["framework", "check", "native", "pth", "freertos", "rabbit", "dask"]))
            .contains("5 framework")
    );
}

/// Several at once, and what was cleaned up in part.
#[test]
fn the_tree_is_written_out_as_a_whole() {
    let alone = Alone::new();
    let start =
        |number: usize| alone.command(&["build", "--output", &format!("out{number}"), "fifo.sched"]).spawn().unwrap();
    let mut started: Vec<_> = (0..6).map(start).collect();
    assert!(started.iter_mut().all(|child| child.wait().unwrap().success()));
    let cache = alone.path("home/.cache/catapults");
    let trees = alone.trees(&cache);
    assert_eq!((trees.len(), fs::read_dir(&cache).unwrap().count()), (1, 1), "{trees:?}");

    fs::remove_file(trees[0].join("frameworks/shared/catapults/policy.h")).unwrap();
    succeeds(&alone.run(&["build", "--output", "again", "fifo.sched"]));
    assert!(trees[0].join("frameworks/shared/catapults/policy.h").is_file());
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 1);
}

#[test]
fn without_a_home_it_keeps_things_in_a_folder_of_its_own() {
    let alone = Alone::new();
    let without = |command: &mut Command| command.env_remove("HOME").output().unwrap();
    let first = succeeds(&without(&mut alone.command(&["build", "--output", "out", "fifo.sched"])));
    assert!(
        first.contains("note: neither XDG_CACHE_HOME nor HOME names a folder: what is built is kept in "),
        "{first}"
    );
    let again = succeeds(&without(&mut alone.command(&["build", "--output", "out", "fifo.sched"])));
    assert!(!again.contains("note: neither"), "{again}");
    let private = fs::read_dir(alone.path("tmp")).unwrap().next().unwrap().unwrap();
    assert_eq!(private.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(alone.trees(&private.path()).len(), 1);

    // A home in which nothing can be made, for root as well.
    fs::write(alone.path("file"), "").unwrap();
    let mut nowhere = alone.command(&["build", "--output", "out", "fifo.sched"]);
    nowhere.env("HOME", alone.path("file"));
    succeeds(&nowhere.output().unwrap());
}

/// What somebody else could have put there would be executed.
#[test]
fn a_folder_of_somebody_else_is_refused() {
    let alone = Alone::new();
    succeeds(&alone.command(&["build", "--output", "out", "fifo.sched"]).env_remove("HOME").output().unwrap());
    let private = fs::read_dir(alone.path("tmp")).unwrap().next().unwrap().unwrap().path();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = alone.command(&["build", "--output", "out", "fifo.sched"]).env_remove("HOME").output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(
        said(&refused).contains("error[E0503]: this folder belongs to somebody else, or others can write in it"),
        "{}",
        said(&refused)
    );
    fs::rename(&private, alone.path("theirs")).unwrap();
    symlink(alone.path("theirs"), &private).unwrap();
    let refused = alone.command(&["build", "--output", "out", "fifo.sched"]).env_remove("HOME").output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
}

/// By the first that needs it, in a home with white space.
#[test]
fn an_object_to_preload_is_built_when_it_is_needed() {
    let alone = Alone::new();
    let home = alone.path("my home");
    let mut run = alone.command(&["run", "--framework", "pth", "fifo.sched", "--", "sh", "-c"]);
    run.arg("test -f \"$LD_PRELOAD\" && test -f \"$PTH_SCHED\" && echo \"$LD_PRELOAD\"").env("HOME", &home);
    let output = succeeds(&run.output().unwrap());
    let preloaded = output.lines().next().unwrap();
    assert!(preloaded.ends_with("/libcatapults_pth.so") && !preloaded.contains(' '), "{output}");
    assert!(fs::canonicalize(preloaded).unwrap().starts_with(fs::canonicalize(&home).unwrap()), "{output}");

    let mut bare = alone.command(&["run", "--framework", "pth", "fifo.sched", "--", "true"]);
    fs::create_dir(alone.path("bin")).unwrap();
    for program in ["cc", "as", "ld"] {
        symlink(Path::new("/usr/bin").join(program), alone.path("bin").join(program)).unwrap();
    }
    let bare = bare.env("PATH", alone.path("bin")).output().unwrap();
    assert!(said(&bare).contains("error[E0506]") && said(&bare).contains("apt-get install make"), "{}", said(&bare));
}

#[test]
fn folders_that_are_named_come_first_and_the_current_one_last() {
    let alone = Alone::new();
    let theirs = alone.path("elsewhere");
    fs::create_dir_all(theirs.join("native")).unwrap();
    fs::copy(root().join("frameworks/native/native.framework"), theirs.join("native/native.framework")).unwrap();
    fs::create_dir_all(alone.path("deep/frameworks/native")).unwrap();
    fs::write(alone.path("deep/frameworks/native/native.framework"), "no description").unwrap();
    let mut list = alone.command(&["framework", "list"]);
    list.current_dir(alone.path("deep"));
    assert!(!succeeds(&list.output().unwrap()).contains("cannot be used"));
    let named = succeeds(&list.env("CATAPULTS_FRAMEWORKS", &theirs).output().unwrap());
    assert!(named.contains("elsewhere/native/native.framework"), "{named}");

    // Installed: beside the folder of the program.
    let share = alone.path("usr/share/catapults");
    succeeds(&alone.run(&["unpack", "usr/share/catapults"]));
    fs::create_dir(alone.path("usr/bin")).unwrap();
    fs::rename(alone.path("catapults"), alone.path("usr/bin/catapults")).unwrap();
    symlink(alone.path("usr/bin/catapults"), alone.path("catapults")).unwrap();
    let installed = succeeds(&alone.run(&["framework", "list"]));
    assert!(installed.contains(&share.join("frameworks/pth/pth.framework").display().to_string()), "{installed}");
    fs::create_dir_all(alone.path("usr/lib/catapults/pth")).unwrap();
    fs::write(alone.path("usr/lib/catapults/pth/libcatapults_pth.so"), "").unwrap();
    let run = alone.run(&["run", "--framework", "pth", "fifo.sched", "--", "sh", "-c", "echo $LD_PRELOAD"]);
    assert!(succeeds(&run).contains("usr/lib/catapults/pth/libcatapults_pth.so"), "{}", said(&run));
}

#[test]
fn without_a_c_compiler_it_says_what_to_install() {
    let alone = Alone::new();
    for arguments in [
        &["check", "fifo.sched"][..],
        &["sim", "fifo.scenario"],
        &["test", "fifo.scenario"],
        &["explore", "fifo.sched"],
    ] {
        succeeds(&alone.command(arguments).env("PATH", alone.path("nothing")).output().unwrap());
    }
    let build = alone.command(&["build", "fifo.sched"]).env("PATH", alone.path("nothing")).output().unwrap();
    assert!(said(&build).contains("error[E0506]") && said(&build).contains("apt-get install gcc"), "{}", said(&build));
}

#[test]
fn a_tree_is_unpacked_into_a_new_folder_only() {
    let alone = Alone::new();
    assert_eq!(succeeds(&alone.run(&["unpack", "tree"])), "tree (frameworks, policies, programs)\n");
    succeeds(&alone.run(&["unpack", "tree"]));
    let other = alone.run(&["unpack", "home"]);
    assert!(said(&other).contains("error[E0520]: something of this name exists already"), "{}", said(&other));
    for program in ["freertos/tools/folder", "rabbit/tools/library"] {
        let mode = fs::metadata(alone.path("tree/frameworks").join(program)).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{program}");
    }
    assert!(alone.path("tree/policies/edf.sched").is_file() && !alone.path("tree/frameworks/native/tests").exists());
    let nowhere = alone.run(&["unpack", "fifo.sched/tree"]);
    assert!(said(&nowhere).contains("error[E0503]"), "{}", said(&nowhere));
}

/// One page for the command, and one for each of its commands.
#[test]
fn manual_pages_are_what_help_says() {
    let alone = Alone::new();
    succeeds(&alone.run(&["manual", "man"]));
    let help = succeeds(&alone.run(&["--help"]));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut pages = 0;
    for name in commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        let page = fs::read_to_string(alone.path(&format!("man/catapults-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
        pages += 1;
    }
    assert!(pages > 12 && alone.path("man/catapults-trace-show.1").is_file());
}
