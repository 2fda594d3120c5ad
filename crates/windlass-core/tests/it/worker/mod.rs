//! The worker machine.

mod behaviour;
mod gangs;
mod random;
mod slots;
mod world;
