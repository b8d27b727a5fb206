//! The command line and hierarchies of schedulers: what is shipped is safe, and built into one object with its table.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use catapults_tests::{catapults, limited, root};

/// The hierarchies that are shipped.
fn shipped() -> Vec<PathBuf> {
    let paths = fs::read_dir(root().join("policies")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension() == Some(OsStr::new("hierarchy"))).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn command(arguments: &[&OsStr]) -> Output {
    let mut command = Command::new(catapults());
    command.current_dir(root()).env("NO_COLOR", "1").env_remove("CATAPULTS_FRAMEWORKS");
    command.args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn what_is_shipped_is_safe_and_built() {
    let folder = tempfile::tempdir().unwrap();
    for path in shipped() {
        let output = folder.path().as_os_str();
        let built = command(&["build".as_ref(), path.as_os_str(), "--output".as_ref(), output]);
        assert!(built.status.success(), "{}", said(&built));
        let name = path.file_stem().unwrap().to_string_lossy();
        let object = folder.path().join(format!("{name}.so"));
        let symbols = Command::new("nm").args(["--dynamic", "--defined-only"]).arg(&object).output().unwrap();
        let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
        // Nothing else is seen from outside: two hierarchies can be loaded at once.
        let names: Vec<&str> =
            symbols.lines().filter_map(|line| line.split_once(" D ")).map(|(_, name)| name).collect();
        assert_eq!(names, ["catapults_hierarchy", "catapults_hierarchy_traced"], "{symbols}");
        assert_eq!(symbols.lines().count(), 2, "{symbols}");
    }
}

/// A scheduler that is called as another is, from another folder; policies that are called the same.
#[test]
fn policies_of_one_name_are_two() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = fs::read_to_string(root().join("policies/fifo.sched")).unwrap();
    fs::create_dir(folder.path().join("other")).unwrap();
    for path in ["fifo.sched", "other/fifo.sched"] {
        fs::write(folder.path().join(path), &fifo).unwrap();
    }
    let hierarchy = folder.path().join("fifo.hierarchy");
    let text = "hierarchy fifo {\n  scheduler a : fifo;\n  scheduler b : \"other/fifo.sched\" under a;\n  scheduler c : fifo under b;\n}\n";
    fs::write(&hierarchy, text).unwrap();
    let output = folder.path().join("build");
    let built = command(&["build".as_ref(), hierarchy.as_os_str(), "--output".as_ref(), output.as_os_str()]);
    assert!(built.status.success(), "{}", said(&built));
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut files: Vec<_> = fs::read_dir(&output).unwrap().map(name).collect();
    files.sort();
    let twice =
        ["fifo-fifo.c", "fifo-fifo_2.c", "fifo.c"].map(|name| [name.to_owned(), name.replace(".c", "-traced.c")]);
    let mut expected = twice.concat();
    expected.push("fifo.so".to_owned());
    expected.sort();
    assert_eq!(files, expected);
}

#[test]
fn the_errors_of_policies_are_those_of_the_hierarchy() {
    let folder = tempfile::tempdir().unwrap();
    let hierarchy = folder.path().join("bad.hierarchy");
    fs::write(&hierarchy, "hierarchy bad {\n  scheduler a : broken;\n  scheduler b : brokn under a;\n}\n").unwrap();
    fs::write(folder.path().join("broken.sched"), "scheduler broken { }\n").unwrap();
    let fifo = root().join("policies/fifo.sched");
    let checked = command(&["check".as_ref(), hierarchy.as_os_str(), fifo.as_os_str()]);
    let said = said(&checked);
    assert_eq!(checked.status.code(), Some(1), "{said}");
    for part in
        ["broken.sched:1:1", "[E0307]", "bad.hierarchy:2:17", "[E0605]", "did you mean `broken`?", "in 1 of 2 files"]
    {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
}

#[test]
fn what_is_for_a_single_policy_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = &shipped()[0];
    let output = folder.path().as_os_str();
    let arguments =
        ["build".as_ref(), path.as_os_str(), "--as".as_ref(), "compiled_in".as_ref(), "--output".as_ref(), output];
    let built = command(&arguments);
    let what = said(&built);
    assert!(
        !built.status.success() && what.contains("error[E0504]: the build `compiled_in` is for a single policy"),
        "{what}"
    );
    let elsewhere = command(&["grammar".as_ref(), "--hierarchies".as_ref(), "--framework".as_ref(), "pth".as_ref()]);
    let what = said(&elsewhere);
    assert!(!elsewhere.status.success() && what.contains("error[E0108]: framework `pth` has no hierarchies"), "{what}");
}

/// A host that generated code is included by has one scheduler, whatever its description says.
#[test]
fn a_description_cannot_promise_what_its_language_has_not() {
    let folder = tempfile::tempdir().unwrap();
    let home = root().join("frameworks/rabbit");
    let description = fs::read_to_string(home.join("rabbit.framework")).unwrap();
    let path = folder.path().join("rabbit.framework");
    let includes = format!("\"-I{}\"", home.join("include").display());
    let promised =
        description.replacen("loops; }", "loops; hierarchies; }", 1).replace("\"-I{framework}/include\"", &includes);
    assert!(promised != description);
    fs::write(&path, promised).unwrap();
    let checked = command(&["framework".as_ref(), "check".as_ref(), path.as_os_str()]);
    let said = said(&checked);
    let expected = "error[E0505]: no hierarchy, and no policy with nodes, can be translated into `embedded_c`, whose hosts have one scheduler";
    assert!(!checked.status.success() && said.contains(expected), "{said}");
}

/// The same of nodes, and each promise is told by itself.
#[test]
fn a_description_cannot_promise_nodes_where_there_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let description = fs::read_to_string(root().join("frameworks/native/native.framework")).unwrap();
    let path = folder.path().join("native.framework");
    fs::write(&path, description.replacen("language c;", "language embedded_c;", 1)).unwrap();
    let checked = command(&["framework".as_ref(), "check".as_ref(), path.as_os_str()]);
    let said = said(&checked);
    for feature in ["hierarchies", "nodes"] {
        let help = format!("take `{feature}` out of `dialect`");
        assert!(!checked.status.success() && said.contains("error[E0505]") && said.contains(&help), "{said}");
    }
}

/// What a program of `tests/hierarchies` prints under the shipped hierarchy of its name.
fn ran(name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let native = root().join("frameworks/native");
    let build = root().join("build").display().to_string(); // where it is already, after `make build`
    let mut make = Command::new("make");
    make.args(["--silent", "-j2", "-C"]).arg(&native).arg(format!("BUILD={build}")).arg("all").env_remove("MAKEFLAGS");
    let made = make.env_remove("OUT").output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
    let program = folder.path().join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
    compiler.arg("-I").arg(native.join("include")).arg("-I").arg(root().join("frameworks/shared"));
    compiler.arg(root().join(format!("tests/hierarchies/{name}.c")));
    let compiled = compiler.arg(format!("{build}/native/libcatapults.a")).arg("-luring").output().unwrap();
    assert!(compiled.status.success(), "{}", said(&compiled));
    let mut run = limited(catapults());
    run.current_dir(root()).env("XDG_CACHE_HOME", folder.path()).env_remove("CATAPULTS_FRAMEWORKS");
    run.args(["run", &format!("policies/{name}.hierarchy"), "--"]).arg(&program);
    let result = run.output().unwrap();
    assert!(result.status.success() && result.stderr.is_empty(), "{}", said(&result));
    String::from_utf8(result.stdout).unwrap()
}

/// Two at a time would build the library twice.
#[test]
fn programs_run_under_what_is_shipped() {
    // Whoever runs has lost the processor when it has woken somebody who is above.
    assert_eq!(ran("desktop"), "rest: 200 of 200 at once\n");
    let shares = ran("isolation");
    let words: Vec<&str> = shares.split_whitespace().collect();
    let (interactive, taken): (u32, u32) = (words[1].parse().unwrap(), words[5].parse().unwrap());
    // A share of 60, of 2 threads beside 20. What other programs take goes from whoever runs, beyond the end of a window, too.
    assert!(interactive.abs_diff(60) <= 8 + taken && interactive >= 30, "{shares}");
}
