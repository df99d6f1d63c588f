//! The versions of the protocol.

/// A version of the protocol. Later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25
    V2025_11_25,
    /// 2026-07-28
    V2026_07_28,
}

/// How a version establishes what both sides can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Generation {
    /// By `initialize`, for a session: up to 2025-11-25.
    Sessions,
    /// By `_meta` of each request: since 2026-07-28.
    Stateless,
}

impl Version {
    /// Every version, the latest first.
    pub const ALL: [Self; 5] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];

    /// The latest version of each request's `_meta`.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The latest version with `initialize`.
    pub const LATEST_WITH_SESSIONS: Self = Self::V2025_11_25;

    /// Returns the version's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the version of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// Returns the version's generation.
    #[must_use]
    pub fn generation(self) -> Generation {
        match self {
            Self::V2026_07_28 => Generation::Stateless,
            _ => Generation::Sessions,
        }
    }
}
