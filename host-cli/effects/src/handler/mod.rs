//! Handlers: components that execute steps, under wasmtime.
//!
//! A handler runs until it asks for an effect or ends. Its request goes to the run, which decides on
//! it; only the reply that comes of that lets the handler go on.

#[cfg(test)]
mod attacks;
mod bindings;
mod call;
mod embedded;
mod limits;

pub use call::Call;
pub use limits::{FUEL, MEMORY_BYTES, TICK};

use agent_host::Failure;
use agent_host::contract::run::{DriverKind, Handler, HandlerCall};
use bindings::HandlersPre;
use bindings::agent::handler::{log, program, request, tool};
use call::State;
use embedded::Builtin;
use std::thread;
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Engine, Result};

/// The handlers of this host.
pub struct Handlers {
    engine: Engine,
    /// One for each kind.
    builtin: Vec<Loaded>,
}

/// A handler that is ready to be instantiated.
struct Loaded {
    kind: DriverKind,
    digest: String,
    component: HandlersPre<State>,
}

impl Handlers {
    /// Loads the built-in handlers. Nothing is compiled.
    ///
    /// # Errors
    ///
    /// When wasmtime does not support this machine.
    pub fn new() -> std::result::Result<Self, Failure> {
        Self::load().map_err(|error| {
            Failure::internal(format_args!("the handlers can't be loaded: {error:#}"))
        })
    }

    fn load() -> Result<Self> {
        let engine = Engine::new(&agent_aot::handler_config())?;
        let builtin = Builtin::ALL.iter().map(|builtin| {
            let component = builtin.component(&engine)?;
            Ok(Loaded {
                kind: builtin.kind,
                digest: builtin.digest.to_owned(),
                component: link(&engine, builtin.kind, &component)?,
            })
        });
        let builtin = builtin.collect::<Result<_>>()?;
        tick(&engine);
        Ok(Self { engine, builtin })
    }

    /// Returns the handlers as a run needs to know them.
    #[must_use]
    pub fn listed(&self) -> Vec<Handler> {
        let listed = self.builtin.iter().map(|loaded| Handler {
            driver_kind: loaded.kind,
            digest: loaded.digest.clone(),
            is_builtin: true,
        });
        listed.collect()
    }

    /// Begins a call. Nothing runs before [`Call::next`].
    ///
    /// # Errors
    ///
    /// When this host has no such handler.
    pub fn call(&self, call: HandlerCall) -> std::result::Result<Call, Failure> {
        let wanted = |it: &&Loaded| {
            let named = call.handler.as_ref();
            it.kind == call.driver_kind && named.is_none_or(|digest| *digest == it.digest)
        };
        match self.builtin.iter().find(wanted) {
            Some(loaded) => Ok(Call::new(&self.engine, loaded.component.clone(), call)),
            None => Err(Failure::new("this host has no such handler")),
        }
    }
}

/// Links a component with what its kind may import; another import refuses it.
fn link(engine: &Engine, kind: DriverKind, component: &Component) -> Result<HandlersPre<State>> {
    let mut linker = Linker::<State>::new(engine);
    match kind {
        DriverKind::Noop => {}
        DriverKind::Http => {
            log::add_to_linker::<_, HasSelf<_>>(&mut linker, |it| it)?;
            request::add_to_linker::<_, HasSelf<_>>(&mut linker, |it| it)?;
        }
        DriverKind::McpProxy => {
            log::add_to_linker::<_, HasSelf<_>>(&mut linker, |it| it)?;
            tool::add_to_linker::<_, HasSelf<_>>(&mut linker, |it| it)?;
        }
        DriverKind::RestrictedShell => {
            log::add_to_linker::<_, HasSelf<_>>(&mut linker, |it| it)?;
            program::add_to_linker::<_, HasSelf<_>>(&mut linker, |it| it)?;
        }
    }
    HandlersPre::new(linker.instantiate_pre(component)?)
}

/// Advances the engine's epoch, at which guest code yields, until the engine is dropped.
fn tick(engine: &Engine) {
    let engine = engine.weak();
    thread::spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    });
}
