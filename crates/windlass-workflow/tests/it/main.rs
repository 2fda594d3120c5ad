//! Outside tests of the workflow language.
