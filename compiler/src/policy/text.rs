//! The text form of a policy: close to the language, but with nothing left implicit.

use super::Policy;

/// Why a text is no policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What was expected and what was found.
    pub message: String,
}

/// A policy as text.
pub fn print(policy: &Policy) -> String {
    format!("policy {}\n", policy.name)
}

/// The policy that this text describes.
pub fn read(text: &str) -> Result<Policy, ReadError> {
    let _ = text;
    Err(ReadError { line: 1, message: "not readable yet".to_owned() })
}
