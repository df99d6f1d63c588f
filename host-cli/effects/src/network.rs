//! The network of programs that reach only listed hosts: our proxy, and the engine as its gate.

use agent_host::contract::network::Refusal;
use agent_host::{Engine, Failure, Instance, call};
use agent_way_out::{Gate, Proxy, ProxyLimits, Resolver, Serving};
use std::net::IpAddr;

/// Returns a proxy that connects to the listed `host:port`, as the engine decides.
///
/// # Errors
///
/// When an entry is invalid, or the engine can't be started.
pub fn proxy(engine: &Engine, allowed: Vec<String>, resolver: Resolver) -> Result<Proxy, Failure> {
    proxy_within(engine, allowed, resolver, ProxyLimits::default())
}

/// Returns the proxy of an app, which may live for long: each refused destination is kept, up to 1,024.
///
/// # Errors
///
/// As of [`proxy`].
pub fn app_proxy(engine: &Engine, allowed: Vec<String>) -> Result<Proxy, Failure> {
    let limits = ProxyLimits {
        refusals: 1024,
        ..ProxyLimits::default()
    };
    proxy_within(engine, allowed, Resolver::system(), limits)
}

fn proxy_within(
    engine: &Engine,
    allowed: Vec<String>,
    resolver: Resolver,
    limits: ProxyLimits,
) -> Result<Proxy, Failure> {
    let mut gate = EngineGate {
        engine: engine.instantiate()?,
        allowed,
    };
    // Deciding on an entry itself reads all of them.
    if let Some(first) = gate.allowed.first().cloned() {
        gate.admit(&first).map_err(Failure::new)?;
    }
    Ok(Proxy::new(gate, resolver, limits))
}

/// The engine's decisions on a program's connections.
struct EngineGate {
    engine: Instance,
    allowed: Vec<String>,
}

impl Gate for EngineGate {
    fn admit(&mut self, wanted: &str) -> Result<(String, u16), String> {
        let Self { engine, allowed } = self;
        let decided = call!(engine, network.admit(allowed, wanted));
        let decided = decided.map_err(|failure| failure.message)?;
        decided
            .map(|admitted| (admitted.host, admitted.port))
            .map_err(|refusal| refusal.message)
    }

    fn authorize(&mut self, wanted: &str, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, String> {
        let Self { engine, allowed } = self;
        let texts: Vec<_> = addresses.iter().map(IpAddr::to_string).collect();
        let decided = call!(engine, network.authorize(allowed, wanted, &texts));
        let decided = decided.map_err(|failure| failure.message)?;
        let authorized = decided.map_err(|refusals| {
            let messages = refusals.into_iter().map(|Refusal { message, .. }| message);
            messages.collect::<Vec<_>>().join("; ")
        })?;
        // Only what was resolved is an address to connect to.
        let is_authorized = |address: &&IpAddr| authorized.contains(&address.to_string());
        Ok(addresses.iter().filter(is_authorized).copied().collect())
    }
}

/// Returns a line of a log for each reason why connections were refused or failed.
pub(crate) fn log(serving: &Serving) -> String {
    let refusals = serving.refusals();
    let lines = refusals
        .iter()
        .map(|why| format!("network: {}\n", why.message));
    lines.collect()
}
