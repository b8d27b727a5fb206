//! Policies away from any host: scripts of events, the exploration of every order of them, simulations, and traces of who ran when.

pub mod event_types;
pub mod explorer;
pub mod picture;
pub mod places;
pub mod rtapp;
pub mod script;
pub mod sim;
pub mod trace;
