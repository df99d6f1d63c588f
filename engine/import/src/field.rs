//! The fields of an entry that a document or an overlay can give.

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

/// What a plain scalar of YAML is in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalars {
    /// A string, by its source text.
    Strings,
    /// A boolean if it is `true` or `false`.
    Booleans,
    /// A number if it is one in JSON.
    Numbers,
}

impl Field {
    /// Every field, in the order in which missing ones are named.
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

    /// The mapping that it stands in, if it is not the entry itself, and its key.
    pub(super) fn path(self) -> (Option<&'static str>, &'static str) {
        match self {
            Self::Id => (None, "id"),
            Self::Version => (None, "version"),
            Self::Endpoint => (None, "endpoint"),
            Self::Categories => (None, "categories"),
            Self::Scopes => (None, "scopes"),
            Self::Class => (None, "class"),
            Self::Residency => (Some("data"), "residency"),
            Self::MaxSensitivity => (Some("data"), "maxSensitivity"),
            Self::Signed => (Some("trust"), "signed"),
            Self::Publisher => (Some("trust"), "publisher"),
            Self::RateLimit => (Some("policy"), "rateLimitPerMin"),
        }
    }

    /// How it is named in a message.
    pub(super) fn name(self) -> String {
        match self.path() {
            (Some(parent), key) => format!("{parent}.{key}"),
            (None, key) => key.to_owned(),
        }
    }

    /// Whether an entry must have it.
    pub(super) fn required(self) -> bool {
        !matches!(self, Self::Class | Self::RateLimit)
    }

    /// Whether it is of one server alone, so that there can be no default.
    pub(super) fn own(self) -> bool {
        matches!(self, Self::Id | Self::Version | Self::Endpoint)
    }

    /// What a plain scalar of YAML is in it.
    pub(super) fn scalars(self) -> Scalars {
        match self {
            Self::Signed => Scalars::Booleans,
            Self::RateLimit => Scalars::Numbers,
            _ => Scalars::Strings,
        }
    }

    /// A value that it could have, in JSON.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Id => "\"acme-reports\"",
            Self::Version => "\"1.0.0\"",
            Self::Endpoint => "\"https://mcp.example/reports\"",
            Self::Categories => "[\"reporting\"]",
            Self::Scopes => "[\"read:reports\"]",
            Self::Class => "\"local\"",
            Self::Residency => "\"any\"",
            Self::MaxSensitivity => "\"public\"",
            Self::Signed => "false",
            Self::Publisher => "\"Acme, Inc.\"",
            Self::RateLimit => "600",
        }
    }
}
