//! Translation into what a host loads. A file or folder per target language, chosen by the framework's `language`.

mod c;

use crate::framework::Framework;
use crate::policy::Policy;
use crate::verify::Verified;
use std::fmt;

/// A generated file; whoever asked for it decides where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, without a folder: `fifo.c`.
    pub name: String,
    /// Its whole text.
    pub text: String,
}

/// The framework asks for a language that nothing here translates into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLanguage {
    /// After `language` in the framework description.
    pub language: String,
}

/// The languages that there are, as frameworks name them.
pub const LANGUAGES: &[&str] = &["c"];

/// Translates a policy for the host that the framework describes. The first file is the one that the host builds.
///
/// # Errors
/// The framework's language is none of [`LANGUAGES`].
pub fn emit(policy: &Verified<Policy>, framework: &Framework) -> Result<Vec<File>, UnknownLanguage> {
    match framework.language.as_str() {
        "c" => Ok(vec![c::emit(policy, framework)]),
        _ => Err(UnknownLanguage { language: framework.language.clone() }),
    }
}

impl fmt::Display for UnknownLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no policy can be translated into `{}`; languages: {}", self.language, LANGUAGES.join(", "))
    }
}

impl std::error::Error for UnknownLanguage {}
