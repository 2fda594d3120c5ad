//! Nothing lives here: the checks are in `it/`.
