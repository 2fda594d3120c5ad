//! Ids, states, policies, durations: the plain data every other crate speaks in.
