//! Embeds the pages of `docs/errors`, so that `catapults explain` needs no file, and the frameworks and policies, so that the
//! command works alone. A file's existence is its registration.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let output = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    fs::write(output.join("pages.rs"), pages(&root.join("docs/errors"))?)?;
    let tree = tree(&root)?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&tree);
    println!("cargo::rustc-env=CATAPULTS_EMBEDDED={:016x}", hasher.finish());
    fs::write(output.join("embedded.tar"), tree)
}

fn pages(folder: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let code = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let numbered = code.len() == 5 && code.starts_with('E') && code[1..].bytes().all(|byte| byte.is_ascii_digit());
        if numbered && path.extension().is_some_and(|extension| extension == "md") {
            pages.push((code, path));
        }
    }
    pages.sort();
    let mut table = String::from("&[\n");
    for (code, path) in pages {
        println!("cargo::rerun-if-changed={}", path.display());
        let _ = writeln!(table, "    ({code:?}, include_str!({:?})),", path.display().to_string());
    }
    table.push_str("]\n");
    Ok(table)
}

/// An archive of what is written out where nothing else of Catapults is. It is a function of names and contents.
fn tree(root: &Path) -> io::Result<Vec<u8>> {
    let mut files = vec![root.join("scripts/built-for.mk"), root.join("LICENSE-APACHE"), root.join("LICENSE-MIT")];
    for folder in ["frameworks", "policies"] {
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
