//! The names of values of the contract, as files, answers and counts have them.

use super::bindings::exports::agent::engine::{daemon, run};

/// Gives each value of an enumeration its name.
macro_rules! names {
    ($($enumeration:path { $($case:ident $name:literal)* })*) => {$(
        impl $enumeration {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$case,)*];

            /// Returns the name of a value.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$case => $name,)* }
            }

            /// Returns the value of a name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.name() == name)
            }
        }
    )*};
}

names! {
    daemon::ErrorCode {
        Plan "E_PLAN" Fs "E_FS" Policy "E_POLICY" Build "E_BUILD" Runtime "E_RUNTIME" Timeout "E_TIMEOUT"
        Network "E_NETWORK" Port "E_PORT"
    }
    daemon::Language { Python "python" Node "node" Go "go" Rust "rust" }
    daemon::TaskState {
        Planned "planned" Applied "applied" Installing "installing" Starting "starting" Ready "ready"
        Failed "failed" Ended "ended"
    }
    run::DriverKind {
        Noop "noop" Http "http" McpProxy "mcp_proxy" RestrictedShell "restricted_shell"
    }
}
