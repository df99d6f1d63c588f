//! The fields of an entry that a document or an overlay can set.

/// A field of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Id,
    Version,
    Endpoint,
    Categories,
    Scopes,
    Class,
    Residency,
    MaxSensitivity,
    Signed,
    Publisher,
    RateLimit,
}

/// The meaning of a plain YAML scalar in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalars {
    /// A string, by its source text.
    Strings,
    /// A boolean if it is `true` or `false`.
    Booleans,
    /// A number if it is one in JSON.
    Numbers,
}

/// Returns the fields that an overlay may set, for a server or as defaults, each with the mapping that it is in.
pub fn overlay_fields() -> impl Iterator<Item = (Option<&'static str>, &'static str)> {
    Field::ALL.into_iter().map(Field::path)
}

impl Field {
    /// Every field, in the order of reports about missing ones.
    pub(super) const ALL: [Self; 11] = [
        Self::Id,
        Self::Version,
        Self::Endpoint,
        Self::Categories,
        Self::Scopes,
        Self::Class,
        Self::Residency,
        Self::MaxSensitivity,
        Self::Signed,
        Self::Publisher,
        Self::RateLimit,
    ];

    /// Returns the mapping of the field, unless that is the entry itself, its key, and in JSON a value
    /// that the loader accepts and a placeholder that it does not.
    fn row(
        self,
    ) -> (
        Option<&'static str>,
        &'static str,
        &'static str,
        &'static str,
    ) {
        match self {
            Self::Id => (None, "id", "\"acme-reports\"", "\"<id>\""),
            Self::Version => (None, "version", "\"1.0.0\"", "\"<version>\""),
            Self::Endpoint => (
                None,
                "endpoint",
                "\"https://mcp.example/reports\"",
                "\"<endpoint>\"",
            ),
            Self::Categories => (None, "categories", "[\"reporting\"]", "[\"<category>\"]"),
            Self::Scopes => (None, "scopes", "[\"read:reports\"]", "[\"<scope>\"]"),
            Self::Class => (None, "class", "\"local\"", "\"<class>\""),
            Self::Residency => (
                Some("data"),
                "residency",
                "\"any\"",
                "\"<any, eu-only or us-only>\"",
            ),
            Self::MaxSensitivity => (
                Some("data"),
                "maxSensitivity",
                "\"public\"",
                "\"<public, internal, confidential, pii.low, pii.moderate or pii.high>\"",
            ),
            Self::Signed => (Some("trust"), "signed", "false", "\"<true or false>\""),
            Self::Publisher => (
                Some("trust"),
                "publisher",
                "\"Acme, Inc.\"",
                "\"<publisher>\"",
            ),
            Self::RateLimit => (Some("policy"), "rateLimitPerMin", "600", "\"<number>\""),
        }
    }

    /// Returns the mapping of the field, unless that is the entry itself, and its key.
    pub(super) fn path(self) -> (Option<&'static str>, &'static str) {
        let (parent, key, ..) = self.row();
        (parent, key)
    }

    /// Returns the field's name for a message.
    pub(super) fn name(self) -> String {
        match self.path() {
            (Some(parent), key) => format!("{parent}.{key}"),
            (None, key) => key.to_owned(),
        }
    }

    /// Returns whether every entry requires the field.
    pub(super) fn required(self) -> bool {
        !matches!(self, Self::Class | Self::RateLimit)
    }

    /// Returns whether the field is specific to one server, so that no default of it is suggested.
    pub(super) fn own(self) -> bool {
        matches!(self, Self::Id | Self::Version | Self::Endpoint)
    }

    /// Returns the meaning of a plain YAML scalar in the field.
    pub(super) fn scalars(self) -> Scalars {
        match self {
            Self::Signed => Scalars::Booleans,
            Self::RateLimit => Scalars::Numbers,
            _ => Scalars::Strings,
        }
    }

    /// Returns the value, in JSON, of a server for which nothing sets the field: it promises nothing \[0\].
    pub(super) fn unrated(self) -> Option<&'static str> {
        match self {
            Self::Scopes | Self::Residency => Some("[]"),
            Self::MaxSensitivity => Some("\"public\""),
            Self::Signed => Some("false"),
            Self::Publisher => Some("\"unknown\""),
            _ => None,
        }
    }

    /// Returns a value that stands for a missing one, in JSON.
    pub(super) fn stand_in(self) -> &'static str {
        self.row().2
    }

    /// Returns a placeholder to replace with a value, in JSON.
    pub(super) fn placeholder(self) -> &'static str {
        self.row().3
    }
}
