//! Embeds what the command needs, so that it works alone: the pages of `docs/errors` for `catapults explain`, the library in
//! `policies` for `catapults new` and for `use`, and the tree of frameworks, policies and descriptions of programs. A file is registered by being there.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    written("pages.rs", pages(&root)?.as_bytes())?;
    written("policies.rs", policies(&root)?.as_bytes())?;
    written("functions.rs", functions(&root.join("policies"))?.as_bytes())?;
    let tree = tree(&root)?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&tree);
    println!("cargo::rustc-env=CATAPULTS_EMBEDDED={:016x}", hasher.finish());
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&tree)?;
    written("embedded.tar.gz", &packed.finish()?)
}

fn pages(root: &Path) -> io::Result<String> {
    let is_numbered =
        |code: &str| code.len() == 5 && code.starts_with('E') && code[1..].bytes().all(|byte| byte.is_ascii_digit());
    let mut table = String::from("&[\n");
    for (code, path) in files(&root.join("docs/errors"), "md")? {
        if is_numbered(&code) {
            let _ = writeln!(table, "    ({code:?}, {}),", embedded(&path));
        }
    }
    Ok(table + "]\n")
}

fn policies(root: &Path) -> io::Result<String> {
    let mut table = String::from("&[\n");
    for (name, path) in files(&root.join("policies"), "sched")? {
        let scenario = Some(path.with_extension("scenario")).filter(|path| path.is_file());
        let scenario = scenario.map_or("None".to_owned(), |path| format!("Some({})", embedded(&path)));
        let _ = writeln!(table, "    Entry {{ name: {name:?}, policy: {}, scenario: {scenario} }},", embedded(&path));
    }
    Ok(table + "]\n")
}

/// The files of functions, which are in folders below that of the policies: their paths and texts.
fn functions(policies: &Path) -> io::Result<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(policies)? {
        let folder = entry?.path();
        if folder.is_dir() {
            collect(&folder, &mut found)?;
        }
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "sched"));
    found.sort();
    let mut table = String::from("&[\n");
    for path in found {
        let name = path.strip_prefix(policies).map_err(io::Error::other)?.display().to_string();
        let _ = writeln!(table, "    ({name:?}, {}),", embedded(&path));
    }
    Ok(table + "]\n")
}

/// The files of a folder that have this ending, by their names, in order.
fn files(folder: &Path, ending: &str) -> io::Result<Vec<(String, PathBuf)>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_some_and(|extension| extension == ending) {
            files.push((name, path));
        }
    }
    files.sort();
    Ok(files)
}

/// The expression that is the file's text.
fn embedded(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    format!("include_str!({:?})", path.display().to_string())
}

fn written(name: &str, content: &[u8]) -> io::Result<()> {
    let output = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&output).join(name), content)
}

/// An archive of what is written out where nothing else of Catapults is. It is a function of names and contents.
fn tree(root: &Path) -> io::Result<Vec<u8>> {
    let mut files = vec![root.join("scripts/built-for.mk"), root.join("LICENSE-APACHE"), root.join("LICENSE-MIT")];
    for folder in ["frameworks", "policies", "programs"] {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut archive = tar::Builder::new(Vec::new());
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let content = fs::read(&file)?;
        let is_program = fs::metadata(&file)?.permissions().mode() & 0o100 != 0;
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(if is_program { 0o755 } else { 0o644 });
        archive.append_data(&mut header, file.strip_prefix(root).map_err(io::Error::other)?, content.as_slice())?;
    }
    archive.into_inner()
}

/// The files below a folder. Of tests, only the programs that take a policy's steps: framework descriptions name them.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let of_tests = folder.ends_with("tests");
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if name.starts_with(['.', '_']) || (of_tests && !name.starts_with("steps")) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
