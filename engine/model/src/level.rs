//! Enumerations with names in files: sensitivity and residency of data, and those of capabilities.

/// An enumeration whose values have names in files.
pub trait Keyword: Sized + 'static {
    /// Returns the value of a name in files.
    fn parse(text: &str) -> Option<Self>;

    /// Returns the names of all values in files, in order.
    fn names() -> impl Iterator<Item = &'static str> + Clone;
}

macro_rules! keywords {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident $text:literal)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$case_doc])* $case,)*
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &[Self] = &[$(Self::$case,)*];

            /// Returns the value's name in files.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$case => $text,)* }
            }
        }

        impl $crate::level::Keyword for $name {
            fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$case),)* _ => None }
            }

            fn names() -> impl Iterator<Item = &'static str> + Clone {
                Self::ALL.iter().map(|value| value.as_str())
            }
        }
    };
}

pub(crate) use keywords;

keywords! {
    /// The sensitivity of data, lowest first \[0, 1.1\].
    Sensitivity {
        /// Anyone may see it.
        Public "public"
        /// For members of the organisation.
        Internal "internal"
        /// For some of them.
        Confidential "confidential"
        /// Personal data of low risk.
        PiiLow "pii.low"
        /// Personal data of moderate risk.
        PiiModerate "pii.moderate"
        /// Personal data of high risk.
        PiiHigh "pii.high"
    }
}

keywords! {
    /// The region where data is kept \[0, 1.1\], ordered by name.
    Residency {
        /// No restriction.
        Any "any"
        /// In the European Union only.
        EuOnly "eu-only"
        /// In the United States only.
        UsOnly "us-only"
    }
}

/// The residencies that a server offers: at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResidencySet(u8);

impl ResidencySet {
    /// Collects residencies. The empty set promises nothing.
    pub fn new(values: impl IntoIterator<Item = Residency>) -> Self {
        let values = values.into_iter();
        Self(values.fold(0, |bits, value| bits | 1 << value as u8))
    }

    /// Returns the residencies in order, without duplicates.
    pub fn iter(self) -> impl Iterator<Item = Residency> {
        Residency::ALL
            .iter()
            .copied()
            .filter(move |value| self.contains(*value))
    }

    /// Returns whether the set contains a residency.
    pub fn contains(self, value: Residency) -> bool {
        self.0 & 1 << value as u8 != 0
    }

    /// Returns whether the set satisfies a requirement. None and `any` are always satisfied; another
    /// one needs the same value or `any` in the set \[0, 2.2\].
    pub fn satisfies(self, required: Option<Residency>) -> bool {
        match required {
            None | Some(Residency::Any) => true,
            Some(value) => self.contains(value) || self.contains(Residency::Any),
        }
    }

    /// Returns the set as three bits.
    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// Returns the set of [`ResidencySet::bits`].
    pub(super) fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}
