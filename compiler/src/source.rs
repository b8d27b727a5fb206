//! A source text and its name.

mod used;

pub use used::File;
pub(crate) use used::Used;

use used::Uses;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::vocabulary::At;

/// The text of a file: a policy, a hierarchy, a scenario, a framework description, or a workload of rt-app.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as the user gave it, for messages.
    pub name: String,
    /// The text of the file itself.
    pub text: String,
    /// The files whose functions it uses: see [`crate::syntax::bring`].
    pub(crate) uses: Box<Uses>,
}

/// Bytes that are not a source: the reason, and a source to show it in.
#[derive(Debug)]
pub struct Unreadable {
    /// The bytes as text, unchanged up to the first bad one.
    pub source: Source,
    /// One error.
    pub diagnostics: Diagnostics,
}

impl Source {
    /// The longest source that is accepted, in bytes. Offsets are kept in 32 bits, and no scheduler is this long.
    pub const LONGEST: usize = 4 << 20;

    /// The longest file of scenarios. One made from a recording has a word for everything that a thread did.
    pub const LONGEST_SCENARIOS: usize = 64 << 20;

    /// The longest source that is accepted, in bytes, by the ending of its name.
    pub fn longest(name: &str) -> usize {
        if name.ends_with(".scenario") { Self::LONGEST_SCENARIOS } else { Self::LONGEST }
    }

    /// A source from text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Source { name: name.into(), text: text.into(), uses: Box::default() }
    }

    /// A source from the bytes of a file: they must be UTF-8, and no more than [`Self::longest`].
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, Box<Unreadable>> {
        let name = name.into();
        let longest = Self::longest(&name);
        if bytes.len() > longest {
            let refused = too_long(&name, bytes.len(), longest);
            return Err(Unreadable::new(Source::new(name, ""), refused));
        }
        String::from_utf8(bytes).map(|text| Source::new(name.as_str(), text)).map_err(|error| {
            let good = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let lossy = String::from_utf8_lossy(bytes).into_owned();
            let refused = not_text(&name, bytes, good, lossy[good..].chars().next().map_or(0, char::len_utf8));
            Unreadable::new(Source::new(name, lossy), refused)
        })
    }

    /// The refusal of a source of more bytes than `longest`.
    pub(crate) fn too_long(&self, longest: usize) -> Option<Diagnostic> {
        (self.text.len() > longest).then(|| too_long(&self.name, self.text.len(), longest))
    }
}

impl Unreadable {
    fn new(source: Source, refused: Diagnostic) -> Box<Self> {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(refused);
        Box::new(Unreadable { source, diagnostics })
    }
}

fn too_long(name: &str, length: usize, longest: usize) -> Diagnostic {
    let title = format!("the file is too long: {length} bytes, at most {longest} are accepted");
    let help = match Kind::of(name) {
        Kind::Policy => "is this a `.sched` file? A scheduler has some hundred lines at most",
        Kind::Hierarchy => "is this a hierarchy? It has some lines for each scheduler",
        Kind::Framework => "is this a framework description? It has some hundred lines at most",
        Kind::Scenario => {
            "write `thread A * 100` for many equal threads, and `repeat` for what they repeat; for a recording, give `catapults trace to-scenario` a lower number after `--most`"
        }
        Kind::Workload => {
            "is this a workload of rt-app? Write `instance` for many equal tasks, and `loop` for what they repeat"
        }
    };
    Diagnostic::error("E0105", title, At::default(), "").help(help)
}

/// What a file should be, by its name.
#[derive(Clone, Copy)]
enum Kind {
    Policy,
    Hierarchy,
    Framework,
    Scenario,
    Workload,
}

impl Kind {
    /// A policy may have any name, as on standard input.
    fn of(name: &str) -> Self {
        match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "hierarchy" => Kind::Hierarchy,
            "framework" => Kind::Framework,
            "scenario" => Kind::Scenario,
            "json" => Kind::Workload,
            _ => Kind::Policy,
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Kind::Policy => ".sched",
            Kind::Hierarchy => ".hierarchy",
            Kind::Framework => ".framework",
            Kind::Scenario => ".scenario",
            Kind::Workload => ".json",
        }
    }
}

/// `good` bytes are text; the replacement of the first bad one is `width` bytes long.
fn not_text(name: &str, bytes: &[u8], good: usize, width: usize) -> Diagnostic {
    let line = bytes[..good].iter().filter(|byte| **byte == b'\n').count() + 1;
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let at = At { start: count(good), end: count(good + width), line: count(line) };
    let diagnostic =
        Diagnostic::error("E0103", "the file is not text in UTF-8", at, format!("the byte 0x{:02x}", bytes[good]))
            .note(format!("it is byte {good} of the file, counted from 0"));
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        diagnostic.help("the file seems to be UTF-16; save it as UTF-8")
    } else if bytes.contains(&0) {
        diagnostic.help(format!("the file seems to be binary; is this a `{}` file?", Kind::of(name).ending()))
    } else {
        diagnostic.help("save the file as UTF-8, or use ASCII only")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_first_bad_byte() {
        let unreadable = Source::from_bytes("x.sched", b"a\nb \xff c".to_vec()).unwrap_err();
        let diagnostic = unreadable.diagnostics.iter().next().unwrap();
        assert_eq!(diagnostic.code, "E0103");
        assert_eq!(diagnostic.primary.0, At { start: 4, end: 7, line: 2 });
    }

    #[test]
    fn asks_whether_the_file_is_of_its_kind() {
        let hint = |name: &str, bytes: &[u8]| {
            let unreadable = Source::from_bytes(name, bytes.to_vec()).unwrap_err();
            unreadable.diagnostics.iter().next().unwrap().help.join("")
        };
        let endings = ["sched", "hierarchy", "scenario", "framework", "json"];
        for ending in endings {
            let name = format!("some.d/x.{ending}");
            assert!(hint(&name, b"\0\xff").contains(&format!("`.{ending}`")), "{ending}");
            let long = hint(&name, &vec![b' '; Source::longest(&name) + 1]);
            assert_eq!(long.contains("`.sched`"), ending == "sched", "{long}");
        }
        assert!(hint("/bin/true", b"\0\xff").contains("`.sched`"));
    }

    #[test]
    fn refuses_what_is_too_long() {
        let unreadable = Source::from_bytes("x.sched", vec![b' '; Source::LONGEST + 1]).unwrap_err();
        assert_eq!(unreadable.diagnostics.iter().next().unwrap().code, "E0105");
        assert!(Source::from_bytes("x.sched", vec![b' '; Source::LONGEST]).is_ok());
        assert!(Source::from_bytes("x.scenario", vec![b' '; Source::LONGEST + 1]).is_ok());
        let unreadable = Source::from_bytes("x.scenario", vec![b' '; Source::LONGEST_SCENARIOS + 1]).unwrap_err();
        assert!(unreadable.diagnostics.iter().next().unwrap().help[0].contains("--most"));
    }
}
