//! Configurations of MCP clients, found where these clients look for them on Linux.
//!
//! | item | content |
//! |---|---|
//! | [`CLIENTS`] | the clients with their places |
//! | [`ConfigurationFile`], [`find`] | the files that exist |

mod places;

pub use places::{CLIENTS, ClientPlaces, ConfigurationFile, Folders, find};
