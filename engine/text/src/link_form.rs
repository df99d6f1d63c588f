//! The form of links that hold documents, which the playground and the program make.
//!
//! A link ends in `#`, the name of an area with a point unless it is the first, [`VERSION`], and base64url of the
//! compressed fields as a JSON object of texts (RFC 1951). Links stay in use: nothing here changes.

/// The version of the form.
pub const VERSION: &str = "1.";

/// Maximum length of a link, in characters. Chats and trackers cut longer ones.
pub const LENGTH_LIMIT: usize = 32_000;

/// Maximum size of the fields before compression, in bytes.
pub const SIZE_LIMIT: u32 = 8 << 20;

/// The field with the version of the engine. A link without it is not opened.
pub const ENGINE: &str = "engine";

/// The field with the name of the area, unless it is the first.
pub const AREA: &str = "area";

/// The field with the id of the tenant.
pub const TENANT_ID: &str = "tenant_id";
