//! Hierarchies of schedulers: in the native dispatcher (`tests/hierarchies/driver.c`) happens what happens in that of the simulator, to every
//! thread and to every scheduler as the thread that it is to its parent. Each is written without regard to the other.
//!
//! A script is a line for each step. Whoever runs takes the next one; while nobody does, it happens outside.
//!
//! ```text
//! with period 20000000      the next thread that is created has this value, if its policy imports such a variable
//! create 2                  a thread, under the scheduler of this index
//! yield, yield_to 7, exit, block.lock, suspend 7, resume 7, tick
//! lock 3                    the word 3 names it, or it lends its turns to whom the word names
//! unlock 3 7                the word names thread 7, which waits by it; 0: nobody
//! redirect 7 3              thread 7, which waits by a word, waits by this one
//! remove 2, add 2           a scheduler goes, and comes again
//! replace 2 5               it gets the policy of scheduler 5
//! attach 2                  who runs is under it from now on
//! changed 7 priority 3      a variable of thread 7 is this from now on
//! released 7 5000000        a job of thread 7 begins, which was released then
//! also 7, decide            thread 7 is unblocked like others before it and after it; then a decision follows
//! unblock 7, at 5000000     anybody's, and all that can happen outside
//! ```
//!
//! Each script is followed twice: what happens is recorded, and who asks for each step is compared where nothing is recorded, as the
//! dispatcher then goes down and up the tree by a shorter way.
//!
//! Schedulers that are shipped, and random trees of the library's policies.

mod native;
mod script;
mod simulated;

use std::fs;
use std::path::PathBuf;

use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::source::Source;
use fastrand::Rng;

use crate::hierarchies::{judge, random, said};
use crate::{native as description, root};
pub use native::Driver;
pub use script::Seen;
use script::{Followed, follow};
use simulated::{Log, Simulated};

/// Scripts for each hierarchy.
const SCRIPTS: usize = 40;

/// Hierarchies with scripts, which the simulator has followed.
pub struct Trees {
    all: Vec<Tree>,
    /// What steps have come to.
    pub seen: Seen,
    /// Has the objects of the hierarchies.
    folder: tempfile::TempDir,
}

struct Tree {
    text: String,
    object: PathBuf,
    scripts: Vec<Followed>,
}

impl Trees {
    /// Those that are shipped, and some random ones, in which this seed has all that is random. Each has so many scripts.
    pub fn new(seed: u64, random_ones: u64) -> Self {
        let framework = description();
        let mut rng = Rng::with_seed(seed);
        let mut texts = Vec::new();
        for name in ["desktop", "isolation"] {
            let text = fs::read_to_string(root().join(format!("policies/{name}.hierarchy"))).unwrap();
            texts.push((name.to_owned(), text));
        }
        texts.extend((0..random_ones).map(|index| {
            let name = format!("random{index}");
            (name.clone(), random(&mut rng, &name))
        }));
        let mut trees = Trees { all: Vec::new(), seen: Seen::default(), folder: tempfile::tempdir().unwrap() };
        for (name, text) in texts {
            let judged = judge(&Source::new(format!("{name}.hierarchy"), text.as_str()), &framework);
            let hierarchy = judged.hierarchy.as_ref().unwrap_or_else(|| panic!("{}\n{text}", said(&judged)));
            trees.adds(hierarchy, &framework, text, &mut rng);
        }
        trees
    }

    fn adds(&mut self, hierarchy: &Hierarchy, framework: &Framework, text: String, rng: &mut Rng) {
        // Some policies refuse some schedulers, as they refuse threads.
        if let Err(refused) = Simulated::new(hierarchy, framework, &mut Log::default()) {
            assert!(refused.event == "newthread", "{refused:?}\n{text}");
            return;
        }
        let object = native::build(hierarchy, framework, self.folder.path());
        let scripts = (0..SCRIPTS).map(|_| follow(hierarchy, framework, rng, &mut self.seen)).collect();
        self.all.push(Tree { text, object, scripts });
    }

    /// How many hierarchies there are, and scripts.
    pub fn count(&self) -> (usize, usize) {
        (self.all.len(), self.scripts().count())
    }

    /// How often something has happened.
    pub fn events(&self) -> usize {
        self.scripts().map(|followed| followed.events.len()).sum()
    }

    /// How many scripts end because a policy is out.
    pub fn out(&self) -> usize {
        self.scripts().filter(|followed| followed.events.last().is_some_and(|last| last.starts_with("out"))).count()
    }

    fn scripts(&self) -> impl Iterator<Item = &Followed> {
        self.all.iter().flat_map(|tree| &tree.scripts)
    }

    /// The first script that the native dispatcher follows otherwise, and how. `None`: there is none.
    pub fn difference(&self, driver: &Driver) -> Option<String> {
        self.all.iter().find_map(|tree| tree.scripts.iter().find_map(|followed| tree.difference(driver, followed)))
    }
}

impl Tree {
    fn difference(&self, driver: &Driver, followed: &Followed) -> Option<String> {
        for (print, expected) in [("events", &followed.events), ("steps", &followed.steps)] {
            let mut happened = match driver.run(&self.object, print, &followed.script) {
                Ok(happened) => happened,
                Err(said) => return Some(format!("native: {said}\n{}\n{}", self.text, followed.script.join("\n"))),
            };
            if print == "events" {
                happened.retain(|line| followed.has_such(line));
            }
            if happened == *expected {
                continue;
            }
            let place = happened.iter().zip(expected).take_while(|(left, right)| left == right).count();
            let from = place.saturating_sub(12);
            let line = if print == "steps" { place } else { followed.before.partition_point(|count| *count <= place) };
            let part = |of: &[String]| format!("{:?}", &of[from.min(of.len())..(place + 4).min(of.len())]);
            let asks = driver.run(&self.object, "steps", &followed.script).unwrap_or_default();
            return Some(format!(
                "{print} {place}, line {line}:\nnative: {}\nsimulator: {}\n{}\n{}",
                part(&happened),
                part(expected),
                self.text,
                followed.told(&asks)
            ));
        }
        None
    }
}
