//! Finds libcatapults: the one that `make build` has made in this clone, else an installed one, by pkg-config.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "libcatapults is not installed: install it (in a clone of Catapults: `make build && sudo make install`, or the Debian package libcatapults-dev). If it is installed in another place, let PKG_CONFIG_PATH name the folder of its catapults.pc";

fn main() -> ExitCode {
    println!("cargo::rerun-if-env-changed=CATAPULTS_LIBRARY_DIR");
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/native");
    // The tests name one with checks in it.
    match env::var_os("CATAPULTS_LIBRARY_DIR").map(PathBuf::from) {
        Some(named) => return link(&named),
        None if built.join("libcatapults.a").exists() => return link(&built),
        None => {}
    }
    match pkg_config::Config::new().atleast_version(env!("CARGO_PKG_VERSION")).probe("catapults") {
        Ok(_) => ExitCode::SUCCESS,
        Err(why) => {
            println!("cargo::error={HELP}");
            println!("cargo::error={}", why.to_string().lines().next().unwrap_or_default());
            ExitCode::FAILURE
        }
    }
}

/// The static library of this folder, and what it needs.
fn link(folder: &Path) -> ExitCode {
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static=catapults");
    println!("cargo::rustc-link-lib=uring");
    println!("cargo::rerun-if-changed={}", folder.join("libcatapults.a").display());
    ExitCode::SUCCESS
}
