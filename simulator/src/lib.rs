//! Traces of who ran when.
