#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::names::HELPERS;
use crate::compile;
use crate::emit::{Refusal, emit, is_generated};
use crate::framework::{self, Feature, Framework};
use crate::source::Source;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap()
}

/// The host that is written in Python, with some of its description changed.
fn described(old: &str, new: &str) -> Framework {
    let text = read("frameworks/dask/dask.framework");
    assert!(text.contains(old));
    framework::read(&Source::new("dask.framework", text.replace(old, new))).unwrap()
}

fn translated(text: &str, framework: &Framework) -> Result<String, Refusal> {
    let source = Source::new("policy.sched", text.to_owned());
    let (policy, _) = compile(&source, framework).unwrap_or_else(|said| panic!("{}", said.render(&source, false)));
    emit(&policy, framework).map(|files| files[0].text.clone())
}

const SCHEDULE: &str = "event schedule { ready => current; dispatch current; }";

#[test]
fn lines_say_where_they_come_from_and_numbers_wrap_as_a_whole() {
    let text = format!(
        "scheduler small {{\n  thread {{ int cost = 2; }}\n  data {{ threadref current; pqueue ready sortable on cost; int all; }}\n  \
         event newthread(t) {{\n    if (all / 3 > 7)\n      fail \"{{all}} of {{t.cost}}\";\n    all = all + t.cost * 2 - 1;\n    t => ready;\n  }}\n  {SCHEDULE}\n}}\n"
    );
    let python = translated(&text, &described("int 64;", "int 16;")).unwrap();
    for line in [
        "        self.ready: Pqueue[SmallThread] = Pqueue(READY, highest(\"cost\"))\n",
        "        if quotient(self.all, 3) > 7:  # policy.sched:5\n",
        "            raise Refused(6, f\"{self.all} of {t.cost}\")  # policy.sched:6\n",
        "        self.all = int16(self.all + t.cost * 2 - 1)  # policy.sched:7\n",
        "        self.ready.put(t)  # policy.sched:8\n",
        "        self.current.put(self.ready.first)  # policy.sched:10\n",
    ] {
        assert!(python.contains(line), "{line}\nis not in\n{python}");
    }
    assert!(is_generated(&python));
}

#[test]
fn names_that_python_or_the_host_has_taken_get_an_underscore() {
    let text = format!(
        "scheduler pass_on {{\n  thread {{ int container; int lambda; }}\n  data {{ const int None = 3; threadref current; queue ready, send : READY; int tick; }}\n  \
         event newthread(self) {{\n    self.container = None;\n    self.lambda = |send|;\n    tick = 1;\n    self => ready;\n  }}\n  {SCHEDULE}\n}}\n"
    );
    let python = translated(&text, &described("int 64;", "int 32;")).unwrap();
    for line in [
        "None_: Final = 3\n",
        "    def newthread(self, self_: PassOnThread) -> None:\n        self_.container_ = None_  #",
        "        self_.lambda_ = min(len(self.send_), 2147483647)  #",
        "        self.ready.put(self_)  #",
    ] {
        assert!(python.contains(line), "{line}\nis not in\n{python}");
    }
}

/// A name that only one of the two has is not imported, or hides one of the policy. `Final` comes from Python's own `typing`.
#[test]
fn the_host_has_what_is_imported_from_it() {
    let module = read("frameworks/dask/catapults_dask/policy.py");
    let all = module.split("\n__all__ = [").nth(1).unwrap().split(']').next().unwrap();
    let offered: BTreeSet<&str> = all.split('"').skip(1).step_by(2).collect();
    let known: BTreeSet<&str> = HELPERS.iter().copied().filter(|name| *name != "Final").collect();
    assert_eq!(offered, known);
}

/// What is in no translation is refused, whatever the description promises.
#[test]
fn text_of_another_language_and_timers_are_refused() {
    let framework = described("dialect { failure;", "dialect { verbatim; failure;");
    let text = format!(
        "scheduler small {{\n  data {{ threadref current; queue ready; }}\n  \
         event newthread(t) {{ verbatim python {{ pass }} t => ready; }}\n  {SCHEDULE}\n}}\n"
    );
    let refused = translated(&text, &framework).unwrap_err();
    assert_eq!(refused, Refusal::Untranslated { language: "python".to_owned(), feature: Feature::Verbatim });
    assert_eq!(refused.to_string(), "no policy with verbatim can be translated into `python`");
    assert!(super::super::can_have(&framework, Feature::Timers).is_err());
}
