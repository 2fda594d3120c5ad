//! Lists, a page at a time.

use serde::{Deserialize, Serialize};

/// The most items that one page may have.
pub const MOST_ITEMS: u32 = 1000;

/// How many items a page has when nobody says.
pub const USUAL_ITEMS: u32 = 100;

/// Some items of a list, and where to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page<T> {
    /// The items, in the order of the list.
    pub items: Vec<T>,
    /// Pass it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// A list that fits one page.
    pub fn whole(items: Vec<T>) -> Page<T> {
        Page { items, next_cursor: None }
    }
}

/// Which part of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// At most this many items, up to 1000; 100 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
