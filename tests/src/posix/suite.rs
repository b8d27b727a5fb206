//! The programs: those of the suite that `scripts/posix-suite` fetches, and our own.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::root;

/// Interfaces that concern threads, and what threads wait for: how their names begin.
const INTERFACES: [&str; 14] = [
    "pthread_",
    "sem_",
    "sig",
    "timer_",
    "mq_",
    "sched_",
    "clock_",
    "nanosleep",
    "kill",
    "raise",
    "fork",
    "aio_",
    "lio_",
    "fsync",
];

/// What none of these programs needs, and all that hang need. Some wait for minutes on purpose.
const LIMIT: Duration = Duration::from_secs(300);

/// A source, and the program that it becomes.
pub struct Program {
    /// `pthread_join/1-1`; the clause is the first number.
    pub name: String,
    /// The program.
    pub path: PathBuf,
    /// It hangs if it takes longer.
    pub limit: Duration,
    source: PathBuf,
    options: Vec<String>,
}

/// Those whose names contain one of the words; all, if there are none. Ours come first.
pub fn programs(words: &[String]) -> Vec<Program> {
    let mut all = own();
    all.extend(of_the_suite());
    all.retain(|program| words.is_empty() || words.iter().any(|word| program.name.contains(word.as_str())));
    all
}

fn own() -> Vec<Program> {
    let folder = root().join("tests/unmodified/posix");
    let options = ["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-lrt"];
    let sources = sources_in(&folder);
    sources
        .into_iter()
        .map(|source| program(format!("own/{}", stem(&source)), source, &options.map(str::to_owned)))
        .collect()
}

fn of_the_suite() -> Vec<Program> {
    let fetched = Command::new(root().join("scripts/posix-suite")).output().unwrap();
    assert!(fetched.status.success(), "{}", String::from_utf8_lossy(&fetched.stderr));
    let home = PathBuf::from(String::from_utf8(fetched.stdout).unwrap().trim());
    let include = format!("-I{}", home.join("include").display());
    let options = ["-std=gnu99", "-D_GNU_SOURCE", "-O1", "-w", "-pthread", "-lrt", "-lm"].map(str::to_owned);
    let options: Vec<String> = options.into_iter().chain([include]).collect();
    let mut found = Vec::new();
    for folder in sorted(&home.join("conformance/interfaces")) {
        let interface = stem(&folder);
        if !INTERFACES.iter().any(|start| interface.starts_with(start)) {
            continue;
        }
        // A clause and a number. The others are parts of these, or are only compiled.
        let sources = sources_in(&folder).into_iter().filter(|source| {
            let name = stem(source);
            name.starts_with(|first: char| first.is_ascii_digit()) && name.contains('-') && !name.ends_with("buildonly")
        });
        found.extend(sources.map(|source| program(format!("{interface}/{}", stem(&source)), source, &options)));
    }
    assert!(found.len() > 1000, "only {} programs in {}", found.len(), home.display());
    found
}

fn program(name: String, source: PathBuf, options: &[String]) -> Program {
    let path = root().join("build/posix").join(&name);
    Program { name, path, limit: LIMIT, source, options: options.to_vec() }
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn sources_in(folder: &Path) -> Vec<PathBuf> {
    sorted(folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "c")).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Compiles what is not compiled yet. Returns those that libc cannot be asked: they use what it no longer has, or are no programs.
pub fn compile(programs: &mut Vec<Program>) -> Vec<String> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let left = Mutex::new(programs.iter().collect::<VecDeque<_>>());
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(program) = { left.lock().unwrap().pop_front() } {
                    if let Err(why) = program.compile() {
                        assert!(!program.name.starts_with("own/"), "{why}");
                        failed.lock().unwrap().push(program.name.clone());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    programs.retain(|program| !failed.contains(&program.name));
    failed
}

impl Program {
    fn compile(&self) -> Result<(), String> {
        let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        if changed(&self.path) > changed(&self.source) {
            return Ok(());
        }
        fs::create_dir_all(self.path.parent().unwrap()).unwrap();
        let mut compiler = Command::new("cc");
        compiler.arg("-o").arg(&self.path).arg(&self.source).args(&self.options);
        let made = compiler.output().unwrap();
        if made.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&made.stderr).into_owned()) }
    }
}
