//! Programs that were not written for a host: whether its `run other programs` can start one, and what it is told.

use crate::described::{self, Description, Does, Loaded, Resolved};
use crate::failure::Failure;
use crate::program;
use crate::sites;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use object::{Architecture, Object};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a program cannot be run: what it is, and what can be done.
struct Refusal {
    what: &'static str,
    help: &'static str,
}

/// What is to be known of the program and its libraries.
struct Objects {
    program: PathBuf,
    bytes: Vec<u8>,
    libraries: Vec<PathBuf>,
}

/// The number of a descriptor, which stays open in the program: where its objects call the kernel, and what a description
/// of it says. `imports`: the names of variables that policies import, if they are known.
pub fn sites_for(
    program: &OsStr,
    description: Option<&Description>,
    imports: Option<&BTreeSet<String>>,
) -> Result<String, Failure> {
    let name = program.display().to_string();
    let Some(objects) = objects(program) else { return Ok(String::new()) };
    if let Some(refusal) = refusal(&objects) {
        let title = format!("the program cannot be scheduled: {}", refusal.what);
        return Err(Failure::of(&name, Diagnostic::error("E0526", title, At::default(), "").help(refusal.help)));
    }
    let loaded = loaded(&objects);
    let resolved = match description {
        Some(_) if loaded.first().is_none_or(|first| first.path != objects.program) => {
            let title = "the program has no build-id, by which its description is applied";
            let help = "link it with -Wl,--build-id, as most compilers do unasked";
            return Err(Failure::of(&name, Diagnostic::error("E0528", title, At::default(), "").help(help)));
        }
        Some(description) => described::resolve(description, &loaded, imports)?,
        None => Resolved::default(),
    };
    let linker = program::dynamic_linker(&objects.bytes).map(PathBuf::from);
    descriptor(&table(&loaded, linker.as_deref(), &resolved)).map_err(|error| {
        Failure::of_system("E0526", Path::new(program), "what the program is to be told cannot be kept", &error, &[])
    })
}

/// `None`: it cannot be read or is no program, which starting it will say.
fn objects(program: &OsStr) -> Option<Objects> {
    // Where it lies itself: from there the linker looks for libraries that are beside it.
    let program = program::find(program)?.canonicalize().ok()?;
    let bytes = fs::read(&program).ok().filter(|bytes| bytes.starts_with(b"\x7fELF"))?;
    let libraries = program::libraries(&program, &bytes)?;
    Some(Objects { program, bytes, libraries })
}

// ---- What cannot be run ---------------------------------------------------------------------------------------------

fn refusal(objects: &Objects) -> Option<Refusal> {
    const ELSEWHERE: &str = "run it without `catapults run`, or write it to catapults.h (frameworks/native/README.md)";
    let refuse = |what| Some(Refusal { what, help: ELSEWHERE });
    let Ok(file) = object::File::parse(&*objects.bytes) else { return refuse("it is no ELF program") };
    if file.architecture() != Architecture::X86_64 || !file.is_64() || cfg!(not(target_arch = "x86_64")) {
        return refuse("it is not for x86-64 in 64 bits");
    }
    if file.section_by_name(".note.go.buildid").is_some() {
        return refuse("it was written in Go, which calls the kernel without libc");
    }
    let Some(linker) = program::dynamic_linker(&objects.bytes) else {
        let help = "link it with shared libraries: without -static";
        return Some(Refusal { what: "it is linked statically, and nothing can be loaded into it", help });
    };
    if Path::new(linker).file_name().is_none_or(|name| name != "ld-linux-x86-64.so.2") {
        return refuse("its C library is not glibc");
    }
    const SET_ID: u32 = 0o6000;
    if fs::metadata(&objects.program).is_ok_and(|metadata| metadata.mode() & SET_ID != 0) {
        let help = "run a copy without the set-user-id bit (chmod ug-s), as its owner";
        return Some(Refusal { what: "it is set-user-id, and nothing is loaded into such programs", help });
    }
    if has_sanitizer(objects, &file) {
        let help = "compile it without -fsanitize";
        return Some(Refusal { what: "it has a sanitizer, which keeps threads in its own way", help });
    }
    glibc(objects).or_else(machine)
}

fn has_sanitizer(objects: &Objects, file: &object::File<'_>) -> bool {
    let names = ["libasan.", "libtsan.", "liblsan.", "libhwasan.", "libclang_rt."];
    let of_a_sanitizer = |path: &PathBuf| {
        path.file_name().and_then(OsStr::to_str).is_some_and(|file| names.iter().any(|name| file.starts_with(name)))
    };
    let starts = |name: &[u8]| {
        name.ends_with(b"_init") && [&b"__asan"[..], b"__tsan", b"__msan"].iter().any(|start| name.starts_with(start))
    };
    let own = file.dynamic_symbols().any(|symbol| object::ObjectSymbol::name_bytes(&symbol).is_ok_and(starts));
    own || objects.libraries.iter().any(of_a_sanitizer)
}

/// The versions of glibc are names in it.
fn glibc(objects: &Objects) -> Option<Refusal> {
    let bytes = objects.libraries.iter().find(|path| is_named(path, "libc.so.6")).and_then(|path| fs::read(path).ok());
    let has =
        |version: &[u8]| bytes.as_ref().is_some_and(|bytes| bytes.windows(version.len()).any(|part| part == version));
    (!has(b"GLIBC_2.36\0") || has(b"GLIBC_2.42\0")).then_some(Refusal {
        what: "its glibc is none of the versions 2.36 to 2.41",
        help: "run it on a system with such a glibc, for instance Debian 12 or 13",
    })
}

#[cfg(target_arch = "x86_64")]
fn machine() -> Option<Refusal> {
    const FSGSBASE: usize = 2; // in AT_HWCAP2
    let lacks = rustix::param::linux_hwcap().1 & FSGSBASE == 0 || !std::is_x86_feature_detected!("xsavec");
    lacks.then_some(Refusal {
        what: "this processor, or its kernel, has no FSGSBASE or no XSAVEC",
        help: "run it on a processor made since 2017, with Linux 5.9 or newer",
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn machine() -> Option<Refusal> {
    None // refused before
}

// ---- The table ------------------------------------------------------------------------------------------------------

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|file| file == name)
}

/// The program, then its libraries: those that can be told from others.
fn loaded(objects: &Objects) -> Vec<Loaded> {
    let linker = program::dynamic_linker(&objects.bytes).map(PathBuf::from);
    let paths = std::iter::once(&objects.program).chain(&objects.libraries).chain(&linker);
    let loaded = paths.filter_map(|path| Some(Loaded { path: path.clone(), bytes: fs::read(path).ok()? }));
    loaded.filter(|one| object::File::parse(&*one.bytes).is_ok_and(|file| sites::identity(&file).is_some())).collect()
}

/// As frameworks/native/beneath/sites.h has it.
fn table(loaded: &[Loaded], linker: Option<&Path>, resolved: &Resolved) -> Vec<u8> {
    const MAGIC: u64 = 0x3253_4554_4953_5443;
    let (mut objects, mut found) = (Vec::new(), Vec::new());
    let mut sites_count = 0;
    for one in loaded {
        let file = object::File::parse(&*one.bytes).ok();
        let id = file.as_ref().and_then(sites::identity).unwrap_or_default();
        let trusted = is_named(&one.path, "libc.so.6") || linker == Some(&*one.path);
        let sites = file.as_ref().map(|file| sites::sites(file, trusted)).unwrap_or_default();
        let mut padded = id.to_vec();
        padded.resize(32, 0);
        objects.extend(padded);
        objects
            .extend([word(id.len()), word(sites_count), word(sites.len()), u32::from(trusted).to_ne_bytes()].concat());
        sites_count += sites.len();
        for site in sites {
            found.extend(site.start.to_ne_bytes());
            found.extend([site.size, site.call, 0, 0]);
        }
    }
    let mut bytes = Vec::new();
    let variables = variables(resolved, &mut bytes);
    let (probes, actions) = probes(resolved, &mut bytes);
    let actions_count = resolved.probes.iter().map(|probe| probe.actions.len()).sum();
    let counts =
        [loaded.len(), sites_count, resolved.variables.len(), resolved.probes.len(), actions_count, bytes.len()];
    let head = MAGIC.to_ne_bytes().into_iter().chain(counts.into_iter().flat_map(word));
    head.chain(objects).chain(found).chain(variables).chain(probes).chain(actions).chain(bytes).collect()
}

/// Numbers in the table have 32 bits.
fn word(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_ne_bytes()
}

fn address(number: u64) -> [u8; 4] {
    word(usize::try_from(number).unwrap_or(usize::MAX))
}

fn variables(resolved: &Resolved, bytes: &mut Vec<u8>) -> Vec<u8> {
    let (mut table, mut of_threads) = (Vec::new(), 0);
    for variable in &resolved.variables {
        table.extend(word(bytes.len()));
        bytes.extend(variable.name.bytes().chain([0]));
        if let Some((object, place)) = &variable.place {
            let size = place.end - place.start;
            table.extend([word(*object), address(place.start), [size.to_le_bytes()[0], 1, 0, 0]].concat());
        } else {
            table.extend([u32::MAX.to_ne_bytes(), word(of_threads), [8, 1, 0, 0]].concat());
            of_threads += 1;
        }
    }
    table
}

fn probes(resolved: &Resolved, bytes: &mut Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    const FIXUPS: usize = 8;
    const NO_FIXUP: u8 = 255;
    let small = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
    let (mut table, mut actions, mut count) = (Vec::new(), Vec::new(), 0);
    for probe in &resolved.probes {
        let moved = &probe.moved;
        table.extend([word(probe.object), address(moved.start), word(bytes.len()), word(count)].concat());
        table.extend([small(probe.actions.len()), moved.size.to_le_bytes()[0], small(moved.code.len())]);
        table.push(small(moved.before));
        let fixups = moved.fixups.iter().map(|place| small(*place)).chain(std::iter::repeat(NO_FIXUP));
        table.extend(fixups.take(FIXUPS));
        bytes.extend(&moved.code);
        count += probe.actions.len();
        for action in &probe.actions {
            let (offset, rest) = match action.does {
                Does::Add(by) => (0, [by.to_ne_bytes()[0], 0, 0, 0]),
                Does::Set { argument, place } => (place.offset, [0, argument, place.size, u8::from(place.is_signed)]),
            };
            actions.extend([word(action.variable), address(offset), rest].concat());
        }
    }
    (table, actions)
}

/// In memory, and open until the program has read it.
fn descriptor(table: &[u8]) -> io::Result<String> {
    let memory = rustix::fs::memfd_create("catapults-sites", rustix::fs::MemfdFlags::empty())?;
    let mut file = File::from(memory);
    file.write_all(table)?;
    Ok(file.into_raw_fd().to_string())
}
