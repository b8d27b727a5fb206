//! Does the comparison of two dispatchers find what is wrong in one of them? Each file of `tests/faults` breaks one line of either, and the
//! comparison of `tests/src/trees` has to see it.
//!
//! ```text
//! frameworks/native/core/tree.c          the file that is broken
//!      static void f(void) {             lines that stay, if the others are not alone in the file
//! -        if (leaves)                   a line that goes
//! +        if (!leaves)                  a line that comes instead
//! ```

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use crate::repository::tracked;
use crate::root;
use crate::trees::{Driver, Trees};

/// One of the files.
pub struct Fault {
    /// What it is called.
    pub name: String,
    /// The file that it breaks, from the root.
    pub path: String,
    before: String,
    after: String,
}

/// What the comparison says of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The two differ, or one of them ends otherwise than by itself.
    Found,
    /// They agree.
    Missed,
    /// What is broken does not compile, which says nothing of the comparison.
    NotCompiled,
}

/// All of them, by their names.
pub fn all() -> Vec<Fault> {
    let paths = tracked(|path| path.starts_with("tests/faults/") && path.ends_with(".fault"));
    paths.iter().map(|path| Fault::read(&root().join(path))).collect()
}

impl Fault {
    fn read(path: &Path) -> Fault {
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let broken = lines.next().unwrap_or_default().to_owned();
        let (mut before, mut after) = (String::new(), String::new());
        for line in lines {
            let (sign, line) = line.split_at_checked(1).unwrap_or((" ", ""));
            for (wanted, side) in [("-", &mut before), ("+", &mut after)] {
                if sign == " " || sign == wanted {
                    side.push_str(line);
                    side.push('\n');
                }
            }
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Fault { name, path: broken, before, after }
    }

    /// The file, broken.
    ///
    /// # Errors
    /// The fault does not fit it, with what to do.
    pub fn applied(&self, text: &str) -> Result<String, String> {
        match text.matches(&self.before).count() {
            1 if self.before != self.after => Ok(text.replacen(&self.before, &self.after, 1)),
            1 => Err(format!("tests/faults/{}.fault changes nothing", self.name)),
            0 => Err(format!(
                "tests/faults/{}.fault: {} has no such lines any more; break what stands there now, or remove the fault",
                self.name, self.path
            )),
            count => Err(format!(
                "tests/faults/{}.fault: {} has these lines {count} times; add a line before them",
                self.name, self.path
            )),
        }
    }

    fn is_native(&self) -> bool {
        self.path.starts_with("frameworks/")
    }
}

/// What becomes of each, in no particular order. Those of the native dispatcher are tried on several processors at once, those of the simulator
/// one after the other, as each compiles the test anew.
pub fn judge(faults: &[Fault], said: &(dyn Fn(&Fault, Fate) + Sync)) {
    let (native, simulated): (Vec<&Fault>, Vec<&Fault>) = faults.iter().partition(|fault| fault.is_native());
    if !native.is_empty() {
        judge_native(native, said);
    }
    if !simulated.is_empty() {
        let copy = Copy::new();
        for fault in simulated {
            said(fault, copy.judge(fault));
        }
    }
}

fn judge_native(faults: Vec<&Fault>, said: &(dyn Fn(&Fault, Fate) + Sync)) {
    let trees = Trees::new(1, RANDOM);
    let left = Mutex::new(VecDeque::from(faults));
    let next = || left.lock().unwrap().pop_front();
    let work = || {
        let folder = tempfile::tempdir().unwrap();
        copy(|path| path.starts_with("frameworks/native/") || path.starts_with("frameworks/shared/"), folder.path());
        while let Some(fault) = next() {
            let path = folder.path().join(&fault.path);
            let whole = fs::read_to_string(&path).unwrap();
            fs::write(&path, fault.applied(&whole).unwrap()).unwrap();
            let fate = match Driver::build(&folder.path().join("frameworks"), folder.path()) {
                Err(_) => Fate::NotCompiled,
                Ok(driver) if trees.difference(&driver).is_some() => Fate::Found,
                Ok(_) => Fate::Missed,
            };
            fs::write(&path, whole).unwrap();
            said(fault, fate);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
}

/// Random hierarchies, as in `tests/tests/tree.rs`.
const RANDOM: u64 = 12;

/// The repository once more, to be broken, and what is compiled of it.
struct Copy {
    folder: PathBuf,
}

impl Copy {
    fn new() -> Copy {
        // Kept for the next time: the libraries are compiled once.
        let folder = root().join("target/faults");
        let _ = fs::remove_dir_all(folder.join("tree"));
        copy(|path| !path.starts_with("applications/"), &folder.join("tree"));
        let copy = Copy { folder };
        assert!(copy.cargo(&["--no-run"]), "the copy in {} does not compile", copy.folder.display());
        copy
    }

    fn judge(&self, fault: &Fault) -> Fate {
        let path = self.folder.join("tree").join(&fault.path);
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, fault.applied(&whole).unwrap()).unwrap();
        let fate = match () {
            () if !self.cargo(&["--no-run"]) => Fate::NotCompiled,
            () if self.cargo(&[]) => Fate::Missed,
            () => Fate::Found,
        };
        fs::write(&path, whole).unwrap();
        fate
    }

    /// Compiles the comparison, or runs it. Whether that has succeeded; a dispatcher that goes round for ever has not.
    fn cargo(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("timeout");
        command
            .args([
                "--kill-after=5",
                "600",
                env!("CARGO"),
                "test",
                "--quiet",
                "-p",
                "catapults-tests",
                "--test",
                "tree",
            ])
            .args(arguments)
            .current_dir(self.folder.join("tree"))
            .env("CARGO_TARGET_DIR", self.folder.join("target"));
        command.output().unwrap().status.success()
    }
}

/// Copies these files of the repository.
fn copy(wanted: impl Fn(&str) -> bool, to: &Path) {
    for path in tracked(wanted) {
        let to = to.join(&path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root().join(&path), to).unwrap();
    }
}
