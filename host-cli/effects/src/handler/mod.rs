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
mod third_party;
mod wasi;

pub use call::Call;
pub use limits::{FUEL, MEMORY_BYTES, THIRD_PARTY_MEMORY_BYTES, TICK};
pub use third_party::COMPONENT_BYTES;

use agent_host::contract::run::{DriverKind, Handler, HandlerCall};
use agent_host::output::Progress;
use agent_host::{Failure, Ticker};
use bindings::HandlersPre;
use bindings::agent::handler::{log, program, request, tool};
use call::HandlerState;
use embedded::Builtin;
use limits::Bounds;
use std::path::{Path, PathBuf};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Engine, Result};

/// The handlers of this host.
pub struct Handlers {
    engine: Engine,
    /// Advances the epoch of the engine, at which guest code yields.
    ticker: Ticker,
    /// One for each kind.
    builtin: Vec<Loaded>,
    /// Those that the operator admits.
    admitted: Vec<Admitted>,
}

/// A handler that is ready to be instantiated.
struct Loaded {
    kind: DriverKind,
    digest: String,
    component: HandlersPre<HandlerState>,
}

/// A handler of a third party.
struct Admitted {
    kind: DriverKind,
    digest: String,
    path: PathBuf,
    /// The loaded component, or why it can't be loaded. `None` until it is needed.
    component: Option<std::result::Result<HandlersPre<HandlerState>, Failure>>,
}

impl Handlers {
    /// Loads the built-in handlers, and takes note of those that the operator admits. Nothing is
    /// compiled.
    ///
    /// # Errors
    ///
    /// When wasmtime does not support this machine.
    pub fn new(admitted: &[agent_operator::Handler]) -> std::result::Result<Self, Failure> {
        let mut handlers = Self::load().map_err(|error| {
            Failure::internal(format_args!("the handlers can't be loaded: {error:#}"))
        })?;
        let admitted = admitted.iter().filter_map(|it| {
            Some(Admitted {
                kind: DriverKind::named(&it.kind)?,
                digest: it.digest.clone(),
                path: it.path.clone(),
                component: None,
            })
        });
        handlers.admitted.extend(admitted);
        Ok(handlers)
    }

    fn load() -> Result<Self> {
        let engine = Engine::new(&agent_aot::metered_config())?;
        let builtin = Builtin::ALL.iter().map(|builtin| {
            let component = builtin.component(&engine)?;
            Ok(Loaded {
                kind: builtin.kind,
                digest: builtin.digest.to_owned(),
                component: link(&linker(&engine, builtin.kind)?, &component)?,
            })
        });
        let builtin = builtin.collect::<Result<_>>()?;
        let ticker = Ticker::new(&engine, TICK)?;
        Ok(Self {
            engine,
            ticker,
            builtin,
            admitted: Vec::new(),
        })
    }

    /// Returns the handlers as a run needs to know them.
    #[must_use]
    pub fn listed(&self) -> Vec<Handler> {
        let listed = |kind, digest: &str, is_builtin| Handler {
            driver_kind: kind,
            digest: digest.to_owned(),
            is_builtin,
        };
        let builtin = self.builtin.iter();
        let builtin = builtin.map(|it| listed(it.kind, &it.digest, true));
        let admitted = self.admitted.iter();
        builtin
            .chain(admitted.map(|it| listed(it.kind, &it.digest, false)))
            .collect()
    }

    /// Loads the admitted handlers that a tool pool names. The first time, each is compiled, which takes up to
    /// half a minute; it is not part of the time of a step. A failure is reported when the handler is called.
    pub fn load_named(&mut self, pool: &[u8]) {
        let engine = &self.engine;
        for admitted in &mut self.admitted {
            // A digest that JSON spells with escapes is missed, and loaded by its first call.
            let digest = admitted.digest.as_bytes();
            if !digest.is_empty() && pool.windows(digest.len()).any(|part| part == digest) {
                let file = admitted.path.display();
                let _progress = Progress::of(format!("compiling the handler {file}"));
                let _ = admitted.component(engine);
            }
        }
    }

    /// Begins a call. Nothing runs before [`Call::next`]. The first call of a third party's handler
    /// loads it, unless [`Handlers::load_named`] has.
    ///
    /// # Errors
    ///
    /// When this host has no such handler, or it can't be loaded.
    pub fn call(&mut self, call: HandlerCall) -> std::result::Result<Call, Failure> {
        let is_wanted = |kind, digest: &String| {
            let named = call.handler.as_ref();
            kind == call.driver_kind && named.is_none_or(|named| named == digest)
        };
        let mut builtin = self.builtin.iter();
        if let Some(loaded) = builtin.find(|it| is_wanted(it.kind, &it.digest)) {
            let component = loaded.component.clone();
            return Ok(Call::new(
                &self.engine,
                &self.ticker,
                component,
                Bounds::BUILTIN,
                false,
                call,
            ));
        }
        let mut admitted = self.admitted.iter_mut();
        match admitted.find(|it| is_wanted(it.kind, &it.digest)) {
            Some(admitted) => {
                let component = admitted.component(&self.engine)?;
                let has_wasi = admitted.kind == DriverKind::Http;
                Ok(Call::new(
                    &self.engine,
                    &self.ticker,
                    component,
                    Bounds::THIRD_PARTY,
                    has_wasi,
                    call,
                ))
            }
            None => Err(Failure::new("this host has no such handler")),
        }
    }

    /// Compiles a component as a handler of a kind and keeps its code in the user's cache. Returns its
    /// digest, by which the operator admits it, or why it is not one: it imports more than the kind's
    /// world, or does not export `agent:handler/handler`.
    ///
    /// # Errors
    ///
    /// When the file can't be read.
    pub fn check(
        &self,
        kind: DriverKind,
        path: &Path,
    ) -> std::result::Result<std::result::Result<String, Failure>, Failure> {
        let (wasm, digest) = third_party::read(path)?;
        let prepared = third_party::prepare(&self.engine, kind, path, &wasm);
        Ok(prepared.map(|_| digest))
    }
}

impl Admitted {
    /// Loads the component, whose bytes must have the admitted digest.
    fn component(
        &mut self,
        engine: &Engine,
    ) -> std::result::Result<HandlersPre<HandlerState>, Failure> {
        if let Some(loaded) = &self.component {
            return loaded.clone();
        }
        let loaded = self.load(engine);
        self.component.insert(loaded).clone()
    }

    fn load(&self, engine: &Engine) -> std::result::Result<HandlersPre<HandlerState>, Failure> {
        let (wasm, digest) = third_party::read(&self.path)?;
        if digest != self.digest {
            return Err(Failure::new(format_args!(
                "`{}` has the digest {digest}, and the operator admits {}",
                self.path.display(),
                self.digest
            )));
        }
        third_party::prepare(engine, self.kind, &self.path, &wasm)
    }
}

/// The interface of an effect, and what links it.
type EffectInterface = (&'static str, fn(&mut Linker<HandlerState>) -> Result<()>);

/// Returns the interface by which handlers of a kind ask for their effect.
fn effect_interface(kind: DriverKind) -> Option<EffectInterface> {
    Some(match kind {
        DriverKind::Noop => return None,
        DriverKind::Http => ("agent:handler/request@0.1.0", |linker| {
            request::add_to_linker::<_, HasSelf<_>>(linker, |it| it)
        }),
        DriverKind::McpProxy => ("agent:handler/tool@0.1.0", |linker| {
            tool::add_to_linker::<_, HasSelf<_>>(linker, |it| it)
        }),
        DriverKind::RestrictedShell => ("agent:handler/program@0.1.0", |linker| {
            program::add_to_linker::<_, HasSelf<_>>(linker, |it| it)
        }),
    })
}

/// Returns what a handler of a kind may import: its effect and a log.
fn linker(engine: &Engine, kind: DriverKind) -> Result<Linker<HandlerState>> {
    let mut linker = Linker::<HandlerState>::new(engine);
    if let Some((_, add_to_linker)) = effect_interface(kind) {
        log::add_to_linker::<_, HasSelf<_>>(&mut linker, |it| it)?;
        add_to_linker(&mut linker)?;
    }
    Ok(linker)
}

/// Links a component; another import refuses it.
fn link(linker: &Linker<HandlerState>, component: &Component) -> Result<HandlersPre<HandlerState>> {
    HandlersPre::new(linker.instantiate_pre(component)?)
}
