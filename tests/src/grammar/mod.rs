//! The printed grammar at work: it says of a text whether it is a policy, and it makes policies.

pub mod generator;
pub mod recogniser;
mod tokens;
