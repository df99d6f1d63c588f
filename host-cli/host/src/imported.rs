//! The contract as this component imports it, with the handles that the program's code expects.

#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated"
)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/engine",
        inline: "
            package agent:command;

            /// What the commands ask the engine.
            world questions {
                import agent:engine/audit@0.1.0;
                import agent:engine/capability@0.1.0;
                import agent:engine/catalogue@0.1.0;
                import agent:engine/clients@0.1.0;
                import agent:engine/diagnostic@0.1.0;
                import agent:engine/expansion@0.1.0;
                import agent:engine/explanation@0.1.0;
                import agent:engine/fixes@0.1.0;
                import agent:engine/grounding@0.1.0;
                import agent:engine/importer@0.1.0;
                import agent:engine/inputs@0.1.0;
                import agent:engine/lockfile@0.1.0;
                import agent:engine/plan@0.1.0;
                import agent:engine/policy@0.1.0;
                import agent:engine/resolver@0.1.0;
                import agent:engine/schemas@0.1.0;
                import agent:engine/session@0.1.0;
                import agent:engine/view@0.1.0;
            }
        ",
        world: "agent:command/questions",
        generate_all,
    });
}

pub use self::bindings::agent::engine as imports;

/// An answer whose resources are kept, so that their handles can be copied as they can natively.
pub trait Kept {
    /// The answer with handles.
    type Kept;

    /// Keeps its resources.
    fn kept(self) -> Self::Kept;
}

impl<T: Kept> Kept for Option<T> {
    type Kept = Option<T::Kept>;

    fn kept(self) -> Self::Kept {
        self.map(T::kept)
    }
}

impl<T: Kept, E> Kept for Result<T, E> {
    type Kept = Result<T::Kept, E>;

    fn kept(self) -> Self::Kept {
        self.map(T::kept)
    }
}

impl<T> Kept for Vec<T> {
    type Kept = Self;

    fn kept(self) -> Self {
        self
    }
}

macro_rules! values {
    ($($value:ty)*) => {$(
        impl Kept for $value {
            type Kept = Self;

            fn kept(self) -> Self {
                self
            }
        }
    )*};
}

values! {
    () bool u64 String
    imports::audit::CalledTool imports::audit::LogCompared imports::audit::LogReplayed imports::audit::Verified imports::expansion::Answer imports::expansion::Exposed
    imports::fixes::Redaction imports::grounding::Grounding imports::importer::Imported
    imports::lockfile::Drift imports::lockfile::UnreadableLock imports::plan::CallAnswer imports::plan::PlanAnswer
    imports::policy::AskedTool imports::policy::CallExplanation imports::policy::PolicyDifference imports::policy::Tested
    imports::policy::WrittenPolicy imports::schemas::Listing
}

macro_rules! interfaces {
    ($($interface:ident { $($resource:ident)* $(; $record:ident)* })*) => {
        $($(
            impl Kept for imports::$interface::$resource {
                type Kept = contract::$interface::$resource;

                fn kept(self) -> Self::Kept {
                    Box::leak(Box::new(self))
                }
            }
        )*)*

        /// The types of the contract, with handles in the place of resources.
        pub mod contract {
            $(
                #[allow(missing_docs, reason = "the contract has them")]
                pub mod $interface {
                    pub use super::super::imports::$interface::*;
                    $(pub type $resource = &'static super::super::imports::$interface::$resource;)*
                    $(pub type $record = super::super::imports::$interface::$record<'static>;)*
                }
            )*
        }
    };
}

interfaces! {
    audit { LogCalledTools LogComparison LogReplay LogVerification }
    capability { EvaluationContext Health Matching Task Tenant }
    catalogue {}
    clients {}
    diagnostic {}
    expansion {}
    explanation { ; Former ; Origin ; Stored }
    fixes {}
    grounding {}
    importer {}
    inputs { Index Manifest }
    lockfile { Lock }
    plan { AuthorizedCall AuthorizedPlan CallPlan PlanPolicy ToolsSnapshot }
    policy { Context Policy }
    resolver { Resolution }
    schemas { Core }
    session {}
    view {}
}
