//! A worker with real processes, files and clocks, and a master made of channels.

mod attempts;
mod deaths;
mod hostile;
mod http;
mod logs;
mod world;
