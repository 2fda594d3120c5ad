//! Named limits on how many jobs run at once.

use serde::{Deserialize, Serialize};

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// How many permits there are.
    pub limit: u32,
    /// How many of them are held.
    pub taken: u32,
    /// How many jobs wait for one.
    #[serde(default)]
    pub waiting: u64,
    /// Who holds them, as `RUN.JOB`; at most a hundred.
    #[serde(default)]
    pub holders: Vec<String>,
}

/// Body of `PUT /pools/{name}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetPool {
    /// How many permits there are. Fewer than are held takes none back.
    #[serde(deserialize_with = "crate::whole::required")]
    #[cfg_attr(feature = "openapi", schema(maximum = 4_294_967_295_u32))]
    pub limit: u32,
}
