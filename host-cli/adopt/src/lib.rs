//! Configurations of MCP clients: found where these clients look for them on Linux, and changed so that the gateway stands
//! in for their servers.
//!
//! | item | content |
//! |---|---|
//! | [`CLIENTS`] | the clients with their places |
//! | [`ConfigurationFile`], [`find`] | the files that exist |
//! | [`adoptable()`], [`Adoptable`], [`Ungoverned`] | how the gateway starts a server, or why it can't |
//! | [`identify`], [`Known`] | the id of a server, which inherits nothing from another one |
//! | [`Records`], [`Record`] | what an adoption changed, so that it can be undone |
//! | [`replace()`], [`stays`] | replacing a file that a running client may write |
//! | [`lasting_program`], [`lasting_path`] | the program that clients start |

mod adoptable;
mod identity;
mod places;
mod program;
mod record;
mod replace;

pub use adoptable::{
    Adoptable, NewEntry, NewSecret, Package, Reached, Surroundings, Ungoverned, adoptable,
};
pub use identity::{Known, identify, usual_id};
pub use places::{CLIENTS, ClientPlaces, ConfigurationFile, Folders, find, is_same};
pub use program::{lasting_path, lasting_program};
pub use record::{Kept, KeptSecret, Record, Records};
pub use replace::{content, private_folder, replace, replace_of_stranger, replace_private, stays};
