//! What a description of a program means for the program that is started: where its functions and variables are, and
//! what is put there (frameworks/native/beneath/sites.h).

use crate::commands::read_source;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks::nearest;
use crate::moved::{Moved, Text};
use crate::structures::{self, Found};
use crate::symbols::Symbols;
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::program::{self, Member, Passage, Program, Value};
use catapults_compiler::source::Source;
use object::{Object, ObjectSection, SectionKind};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A description, and the file that has it.
pub struct Description {
    source: Source,
    program: Program,
}

/// An object of the program.
pub struct Loaded {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// What is written into the table for the host.
#[derive(Default)]
pub struct Resolved {
    pub variables: Vec<Variable>,
    pub probes: Vec<Probe>,
}

pub struct Variable {
    pub name: String,
    /// Its object, by number, its address there, and its size; `None`: each thread has one.
    pub place: Option<(usize, Range<u64>)>,
}

pub struct Probe {
    pub object: usize,
    pub moved: Moved,
    pub actions: Vec<Action>,
}

#[derive(Clone, Copy)]
pub struct Action {
    /// By its number among those of threads.
    pub variable: usize,
    pub does: Does,
}

#[derive(Clone, Copy)]
pub enum Does {
    Add(i8),
    Set { argument: u8, place: structures::Place },
}

/// Reads a description.
pub fn read(console: &Console, path: &Path) -> Result<Description, Failure> {
    let source = read_source(path)?;
    let program = program::read(&source).map_err(|diagnostics| {
        console.diagnostics(&source, &diagnostics);
        Failure::Said
    })?;
    Ok(Description { source, program })
}

/// Resolves the variables that policies import; all of them if it is not known which.
pub fn resolve(
    description: &Description,
    objects: &[Loaded],
    imports: Option<&BTreeSet<String>>,
) -> Result<Resolved, Failure> {
    let mut resolver = Resolver {
        objects: objects.iter().map(Described::of).collect(),
        resolved: Resolved::default(),
        wrong: Diagnostics::new(),
    };
    let mut of_threads = 0;
    for variable in &description.program.variables {
        let name = &variable.name;
        if KEPT.contains(&name.text.as_str()) {
            let title = format!("the host keeps a variable `{}` itself", name.text);
            resolver.wrong.push(Diagnostic::error("E0527", title, name.at, "taken").help("choose another name"));
            continue;
        }
        if imports.is_some_and(|imports| !imports.contains(&name.text)) {
            continue;
        }
        let mut place = None;
        match &variable.value {
            Value::Global(wanted) => place = resolver.global(wanted),
            Value::Count(passages) => {
                passages.iter().for_each(|passage| resolver.passage(passage, of_threads));
            }
            Value::Member(member) => resolver.member(member, of_threads),
        }
        of_threads += usize::from(variable.is_of_threads());
        resolver.resolved.variables.push(Variable { name: name.text.clone(), place });
    }
    if resolver.wrong.has_errors() {
        return Err(Failure::Diagnostics(Box::new((description.source.clone(), resolver.wrong))));
    }
    Ok(resolver.resolved)
}

/// Those that the host itself keeps: see docs/unmodified.md.
const KEPT: [&str; 8] = ["consumed", "priority", "nice", "owns", "waiters", "waits_for", "release", "ceiling"];

/// An object, and what its files tell.
struct Described<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    /// A file with its debug information.
    debug: Option<Vec<u8>>,
    symbols: Symbols,
    /// The sections that were needed already.
    texts: Vec<Rc<Text<'a>>>,
}

struct Resolver<'a> {
    objects: Vec<Described<'a>>,
    resolved: Resolved,
    wrong: Diagnostics,
}

type Written = program::Text;

// ---- Objects --------------------------------------------------------------------------------------------------------

impl<'a> Described<'a> {
    fn of(loaded: &'a Loaded) -> Self {
        let mut symbols = Symbols::default();
        let file = object::File::parse(&*loaded.bytes).ok();
        let debug = file.as_ref().and_then(|file| debug_file(&loaded.path, file)).and_then(|path| fs::read(path).ok());
        file.iter().for_each(|file| symbols.add(file));
        if let Some(file) = debug.as_ref().and_then(|bytes| object::File::parse(&**bytes).ok()) {
            symbols.add(&file);
        }
        Described { path: &loaded.path, bytes: &loaded.bytes, debug, symbols, texts: Vec::new() }
    }

    /// The section that has the function.
    fn text(&mut self, function: &Range<u64>) -> Option<Rc<Text<'a>>> {
        if let Some(text) = self.texts.iter().find(|text| text.has(function.start)) {
            return Some(Rc::clone(text));
        }
        let file = object::File::parse(self.bytes).ok()?;
        let mut sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let section = sections.find(|one| (one.address()..one.address() + one.size()).contains(&function.start))?;
        let text = Rc::new(Text::new(section.data().ok()?, section.address()));
        self.texts.push(Rc::clone(&text));
        Some(text)
    }
}

/// Where distributions and debuggers keep it: by its build-id, or beside the object by the name that this has for it.
fn debug_file(path: &Path, file: &object::File<'_>) -> Option<PathBuf> {
    const DEBUG: &str = "/usr/lib/debug";
    let by_id = file.build_id().ok().flatten().filter(|id| id.len() > 1).map(|id| {
        let rest: String = id[1..].iter().map(|byte| format!("{byte:02x}")).collect();
        PathBuf::from(format!("{DEBUG}/.build-id/{:02x}/{rest}.debug", id[0]))
    });
    let folder = path.parent().unwrap_or(Path::new("/"));
    let by_name = file.gnu_debuglink().ok().flatten().map(|(name, _)| OsStr::from_bytes(name).to_owned());
    let by_name = by_name.iter().flat_map(|name| {
        [
            folder.join(name),
            folder.join(".debug").join(name),
            Path::new(DEBUG).join(folder.strip_prefix("/").unwrap_or(folder)).join(name),
        ]
    });
    by_id.into_iter().chain(by_name).find(|candidate| candidate.is_file() && candidate != path)
}

// ---- Names ----------------------------------------------------------------------------------------------------------

impl<'a> Resolver<'a> {
    /// The functions that are meant: copies that the compiler has made of one are the same.
    fn function(&mut self, wanted: &Written) -> Option<(usize, Vec<Range<u64>>)> {
        let find = |object: &Described<'_>| object.symbols.functions(&wanted.text);
        let names = |object: &Described<'_>| object.symbols.names_of_functions();
        self.find("function", wanted, &find, &names)
    }

    fn global(&mut self, wanted: &Written) -> Option<(usize, Range<u64>)> {
        let find = |object: &Described<'_>| object.symbols.variables(&wanted.text);
        let names = |object: &Described<'_>| object.symbols.names_of_variables();
        let (object, places) = self.find("variable", wanted, &find, &names)?;
        let place = places.into_iter().next()?;
        if ![1, 2, 4, 8].contains(&(place.end - place.start)) {
            let title = format!("the variable `{}` has {} bytes", wanted.text, place.end - place.start);
            let wrong = Diagnostic::error("E0528", title, wanted.at, "no number");
            self.wrong.push(wrong.help("name a variable of 1, 2, 4 or 8 bytes"));
            return None;
        }
        Some((object, place))
    }

    fn find(
        &mut self,
        what: &str,
        wanted: &Written,
        find: &dyn Fn(&Described<'_>) -> Vec<Range<u64>>,
        names: &dyn Fn(&Described<'_>) -> BTreeSet<String>,
    ) -> Option<(usize, Vec<Range<u64>>)> {
        let found = self.objects.iter().map(find).enumerate().find(|(_, places)| !places.is_empty());
        match found {
            Some((object, places)) if places[1..].iter().all(|place| self.objects[object].symbols.is_copy(place)) => {
                return Some((object, places));
            }
            Some((object, places)) => {
                let title = format!("{} {what}s are called `{}`", places.len(), wanted.text);
                let several = Diagnostic::error("E0528", title, wanted.at, "which of them?");
                let several = several.note(format!("they are in {}", self.objects[object].path.display()));
                let help = "in C++, give the parameters: \"begin(Transaction*)\"; or give the name as `nm` has it";
                self.wrong.push(several.help(help));
            }
            None => {
                let title = format!("the program has no {what} `{}`", wanted.text);
                let mut unknown = Diagnostic::error("E0528", title, wanted.at, "unknown name");
                let all: BTreeSet<String> = self.objects.first().map(names).unwrap_or_default();
                if let Some(meant) = nearest(&wanted.text, &all) {
                    unknown = unknown.help(format!("did you mean `{meant}`?"));
                }
                let bare = self.objects.first().is_some_and(|program| {
                    object::File::parse(program.bytes).is_ok_and(|file| file.symbols().next().is_none())
                });
                if bare && self.objects.first().is_some_and(|program| program.debug.is_none()) {
                    unknown = unknown.note("only names that its libraries need are left in its file: it is stripped");
                    unknown =
                        unknown.help("install its debug symbols (on Debian a package whose name ends in -dbgsym)");
                }
                self.wrong
                    .push(unknown.note("a function that the compiler has put into all of its callers has no name"));
            }
        }
        None
    }
}

// ---- Functions ------------------------------------------------------------------------------------------------------

impl<'a> Resolver<'a> {
    fn passage(&mut self, passage: &Passage, variable: usize) {
        let action = Action { variable, does: Does::Add(if passage.adds { 1 } else { -1 }) };
        let Some((object, places)) = self.function(&passage.function) else { return };
        for place in places {
            let Some(text) = self.text(object, &place, &passage.function) else { continue };
            if passage.enters {
                self.entry(object, &text, &place, &passage.function, action);
                continue;
            }
            let described = &self.objects[object];
            let mut starts: HashSet<u64> = described.symbols.starts().collect();
            starts.extend(stubs_of_the_linker(described.bytes));
            let exits = text.exits(&described.symbols.parts(&place), &starts);
            match exits {
                Ok(exits) => exits.into_iter().for_each(|moved| self.put(object, moved, action, &passage.function)),
                Err(why) => self.refuse(&passage.function, "where it returns cannot be noticed", why),
            }
        }
    }

    fn member(&mut self, member: &Member, variable: usize) {
        let Some((object, places)) = self.function(&member.function) else { return };
        let described = &self.objects[object];
        let structure = member.structure.text.as_str();
        let files = [Some(described.bytes), described.debug.as_deref()];
        let files = files.into_iter().flatten().filter_map(|bytes| object::File::parse(bytes).ok());
        let found = files.filter_map(|file| structures::member(&file, structure, &member.member.text)).next();
        let (at, title, help) = match found {
            Some(Found::Place(place)) => {
                let action = Action { variable, does: Does::Set { argument: member.argument, place } };
                if places.iter().any(|place| self.objects[object].symbols.is_copy(place)) {
                    let why = "the compiler has made copies of it, which may have other arguments";
                    self.refuse(&member.function, "its arguments are not known", why);
                    return;
                }
                for function in places {
                    let Some(text) = self.text(object, &function, &member.function) else { continue };
                    self.entry(object, &text, &function, &member.function, action);
                }
                return;
            }
            Some(Found::NoNumber) => (
                member.member.at,
                format!("the member `{}` of `{structure}` is no number", member.member.text),
                "name a member of an integer type".to_owned(),
            ),
            Some(Found::NoMember(names)) => (
                member.member.at,
                format!("`{structure}` has no member `{}`", member.member.text),
                match nearest(&member.member.text, &names.into_iter().collect()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "its declaration has the names".to_owned(),
                },
            ),
            Some(Found::NoStructure) => (
                member.structure.at,
                format!("the debug information has no structure `{structure}`"),
                "name a structure or class of the object that has the function".to_owned(),
            ),
            None => (
                member.structure.at,
                format!("where members of `{structure}` lie is not known: there is no debug information"),
                "compile it with -g, or install its debug symbols (on Debian a package whose name ends in -dbgsym)"
                    .to_owned(),
            ),
        };
        self.wrong.push(Diagnostic::error("E0528", title, at, "").help(help));
    }

    fn text(&mut self, object: usize, function: &Range<u64>, name: &Written) -> Option<Rc<Text<'a>>> {
        let text = self.objects[object].text(function);
        if text.is_none() {
            let title = format!("the code of `{}` cannot be read", name.text);
            self.wrong.push(Diagnostic::error("E0528", title, name.at, "").help("name another function"));
        }
        text
    }

    fn entry(&mut self, object: usize, text: &Text<'_>, place: &Range<u64>, name: &Written, action: Action) {
        match text.entry(place) {
            Ok(moved) => self.put(object, moved, action, name),
            Err(why) => self.refuse(name, "where it starts cannot be noticed", why),
        }
    }

    /// A place that is there already does this, too.
    fn put(&mut self, object: usize, moved: Moved, action: Action, name: &Written) {
        const ACTIONS: usize = 16;
        let here = self.resolved.probes.iter_mut().filter(|probe| probe.object == object);
        let Some(there) = here.into_iter().find(|probe| probe.moved.overlaps(&moved)) else {
            self.resolved.probes.push(Probe { object, moved, actions: vec![action] });
            return;
        };
        if there.moved.start != moved.start || there.moved.before != moved.before {
            self.refuse(name, "it cannot be noticed both where it starts and where it returns", "it is too short");
        } else if there.actions.len() == ACTIONS {
            self.refuse(name, "it cannot be noticed once more", "too many variables depend on it");
        } else {
            there.actions.push(action);
        }
    }

    fn refuse(&mut self, name: &Written, what: &str, why: &str) {
        let title = format!("`{}`: {what}", name.text);
        let wrong = Diagnostic::error("E0529", title, name.at, "").note(why);
        self.wrong.push(wrong.help("name another function: one that calls it, or that it calls"));
    }
}

/// Where calls of other objects' functions go through.
fn stubs_of_the_linker(bytes: &[u8]) -> Vec<u64> {
    const STUB: usize = 16;
    let Ok(file) = object::File::parse(bytes) else { return Vec::new() };
    let sections = file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".plt")));
    sections.flat_map(|one| (one.address()..one.address() + one.size()).step_by(STUB / 2)).collect()
}
