//! Servers.

use crate::Place;
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// What names a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct ServerName {
    /// Unique together with the version.
    pub id: String,
    /// The version.
    pub version: String,
}

/// All that the engine looks at of an entry of the index. Lists are sorted, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// Unique together with the version.
    pub id: String,
    /// The version.
    pub version: String,
    /// Where the server is reached.
    pub endpoint: String,
    /// The categories that it offers.
    pub categories: Vec<String>,
    /// The scopes that it supports.
    pub scopes: Vec<String>,
    /// Where it keeps data.
    pub residency: Vec<String>,
    /// How sensitive data may be.
    pub max_sensitivity: String,
    /// Whether its publisher signed it.
    pub signed: bool,
    /// Who published it.
    pub publisher: String,
    /// Where its entry stands.
    pub place: Place,
}
