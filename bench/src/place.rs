//! Where things are, and which make target makes what is missing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The repository, as seen from its root.
#[derive(Debug)]
pub struct Place {
    root: PathBuf,
}

impl Place {
    /// The repository at `root`.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn at(root: &Path) -> Result<Place> {
        let root = root.canonicalize().with_context(|| format!("cannot find the folder {}", root.display()))?;
        if !root.join("policies/fifo.sched").exists() {
            bail!("{} is not the root of the repository; change there, or say --root FOLDER", root.display());
        }
        Ok(Place { root })
    }

    /// A file that is kept in the repository.
    pub fn source(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A file that `make target` makes.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub fn built(&self, name: &str, target: &str) -> Result<PathBuf> {
        let path = self.root.join("build").join(name);
        if !path.exists() {
            bail!("{} is not there; `make {target}` makes it", path.display());
        }
        Ok(path)
    }

    /// A folder for what a run leaves behind, made when it is not there.
    ///
    /// # Errors
    ///
    /// Those of making it.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.root.join(name);
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(path)
    }

    /// A path as a reader at the root would write it.
    pub fn short<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}

/// A program of the system.
///
/// # Errors
///
/// When it is on no folder of the search path.
pub fn installed(program: &str, target: &str) -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    // A server's folder is not on everybody's path.
    let candidates = std::env::split_paths(&folders).chain([PathBuf::from("/usr/sbin")]);
    candidates
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
        .with_context(|| format!("{program} is not installed; `make {target}` installs it"))
}
