//! Servers.

use crate::Place;
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// The name of a server. Id and version are unique together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct ServerName {
    /// The id.
    pub id: String,
    /// The version.
    pub version: String,
}

/// The properties of an index entry that decisions compare. Lists are sorted, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// The id.
    pub id: String,
    /// The version.
    pub version: String,
    /// The URL of the server.
    pub endpoint: String,
    /// The categories that the server offers.
    pub categories: Vec<String>,
    /// The scopes that the server supports.
    pub scopes: Vec<String>,
    /// The regions in which the server keeps data.
    pub residency: Vec<String>,
    /// The highest permitted sensitivity of data.
    pub max_sensitivity: String,
    /// Whether the publisher signed the entry.
    pub signed: bool,
    /// The publisher.
    pub publisher: String,
    /// The place of the entry in the index.
    pub place: Place,
}
