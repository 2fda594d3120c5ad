//! The HTTP server of a master: the REST interface, live updates, and the port that workers connect to.
//!
//! ```text
//! connection ──► front ──► routes ──► authorize ──► calls ──► Handle ──► the master
//!                  │      (which call)  (may they)             └──────► store, for lists
//!                  └─ application/grpc ──► the workers' service
//! ```
//!
//! Everything that arrives passes [`front`]: where it comes from, who sends it, what it asks for and whether they
//! may, in that order. A call reads what it was asked, asks the master through its handle and shows the answer in the
//! shapes of `windlass-rest`. Nothing is decided here, and nothing is remembered but what makes answers cheap.

mod server;
pub use server::{Auth, Config, Server};

mod front;
mod login;
mod loopback;
mod roles;
mod routes;

mod describe;
mod openapi;

mod answers;
mod asked;
mod complaints;
mod refusal;

mod api;
mod calls;
mod views;

mod first_token;
mod tokens;
pub use first_token::{FirstToken, FirstTokenError, first_token};

mod random;

#[cfg(test)]
mod reference;
