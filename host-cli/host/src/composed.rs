//! The engine behind imports: the component that this one is composed with.
//!
//! Its values live as long as the program does, which answers one question and ends.

use crate::contract;
use crate::contract::catalogue::CodeEntry;
use crate::failure::Failure;
use crate::imported::Kept;
use std::path::Path;

/// The SHA-256 of the engine, 64 hexadecimal digits.
pub const COMPONENT_SHA256: &str = env!("AGENT_ENGINE_SHA256");

/// The engine.
#[derive(Clone, Debug)]
pub struct Engine;

impl Engine {
    /// Returns the engine that this program is composed with.
    ///
    /// # Errors
    ///
    /// None; natively there are some.
    pub fn embedded() -> Result<Self, Failure> {
        Ok(Self)
    }

    /// Refuses another engine.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn from_file(path: &Path) -> Result<Self, Failure> {
        let path = path.display();
        Err(
            Failure::new(format_args!("`{path}` can't be loaded by a component"))
                .help("leave out `--engine`, or compose another engine with the program"),
        )
    }

    /// Returns the engine's one instance.
    ///
    /// # Errors
    ///
    /// None; natively there are some.
    pub fn instantiate(&self) -> Result<Instance, Failure> {
        Ok(Instance { catalogue: None })
    }
}

/// The instance of the engine.
pub struct Instance {
    /// The catalogue of codes, after its first use.
    catalogue: Option<Vec<CodeEntry>>,
}

impl Instance {
    /// Returns the catalogue of codes, which is fetched once.
    ///
    /// # Errors
    ///
    /// None; natively there are some.
    pub fn catalogue(&mut self) -> Result<&[CodeEntry], Failure> {
        Ok(self
            .catalogue
            .get_or_insert_with(contract::catalogue::codes))
    }

    /// Gives the answer of a function of the contract the type that it has natively.
    ///
    /// # Errors
    ///
    /// None: a trap of the engine ends the program.
    pub fn answer<T: Kept>(&mut self, answer: T) -> Result<T::Kept, Failure> {
        Ok(answer.kept())
    }
}

/// Calls a function of the contract: `call!(instance, interface.resource.function(arguments))`.
///
/// The names are those of [`contract`](crate::contract); a function of the interface itself has no resource.
#[macro_export]
macro_rules! call {
    // Natively a record of handles is passed as they are.
    ($instance:expr, explanation.detailed($drifts:expr, $older:expr, $newer:expr)) => {
        $instance.answer($crate::imports::explanation::detailed($drifts, $older, &$newer))
    };
    ($instance:expr, $interface:ident.$function:ident($($argument:expr),* $(,)?)) => {
        $instance.answer($crate::imports::$interface::$function($($argument),*))
    };
    ($instance:expr, $interface:ident.$resource:ident.constructor($($argument:expr),* $(,)?)) => {
        $crate::paste! {
            $instance.answer($crate::imports::$interface::[<$resource:camel>]::new($($argument),*))
        }
    };
    ($instance:expr, $interface:ident.$resource:ident.$function:ident($($argument:expr),* $(,)?)) => {
        $crate::paste! {
            $instance.answer($crate::imports::$interface::[<$resource:camel>]::$function($($argument),*))
        }
    };
}
