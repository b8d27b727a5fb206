//! Policies without a host: scripts of events, the exploration of all their orders, simulations, and traces.

pub mod admission;
pub mod event_types;
pub mod explorer;
pub mod page;
pub mod picture;
pub mod places;
pub mod rtapp;
pub mod script;
pub mod sim;
pub mod trace;
