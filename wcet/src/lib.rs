//! Worst-case execution times in clocks, from the code that a processor runs (`docs/wcet.md`).
//!
//! ```text
//! image, listings ──► Image ──► Function (instructions, where each leads) ──► loops, turns ──► Bound (formula, path)
//!                                  ▲                                            ▲
//!                               Processor                          Costs, the policy's own numbers of turns
//! ```

pub mod bound;
pub mod costs;
pub mod function;
pub mod host;
pub mod image;
pub mod loops;
pub mod path;
pub mod processors;
pub mod refused;
