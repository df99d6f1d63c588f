//! Costs of proxies under the same loads, and the ratios that have targets.

use super::clients::{Cost, Load};
use agent_load::message::Generation;
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// The names of what is compared.
pub(super) const DIRECT: &str = "no proxy";
pub(super) const NGINX: &str = "nginx";
pub(super) const GATEWAY: &str = "agent serve";
pub(super) const IN_MEMORY: &str = "agent serve, log in memory";
pub(super) const RMCP: &str = "a proxy with rmcp";

/// What was measured, in the order of measurement.
#[derive(Default)]
pub(super) struct Comparison {
    loads: Vec<(Load, Vec<(&'static str, Cost)>)>,
    ratios: Vec<Ratio>,
}

/// A figure with a target.
struct Ratio {
    what: String,
    ratio: f64,
    target: Target,
}

#[derive(Clone, Copy)]
enum Target {
    AtMost(f64),
    AtLeast(f64),
}
use Target::{AtLeast, AtMost};

impl Comparison {
    /// Adds the costs under a load.
    pub(super) fn add(&mut self, load: Load, costs: Vec<(&'static str, Cost)>) {
        let of = |name: &str| costs.iter().find(|it| it.0 == name).map(|it| it.1);
        let all = (of(DIRECT), of(GATEWAY), of(IN_MEMORY), of(RMCP));
        let (Some(direct), Some(gateway), Some(in_memory), Some(rmcp)) = all else {
            return;
        };
        let (version, sessions) = (load.generation.version(), load.sessions);
        let mut ratio = |what: &str, ratio: f64, target: Target| {
            self.ratios.push(Ratio {
                what: format!("{version}, {sessions}: {what}"),
                ratio,
                target,
            });
        };
        let processor = divided(gateway.processor, rmcp.processor);
        ratio("processor time, agent serve ÷ rmcp", processor, AtMost(1.3));
        ratio(
            "calls a second, agent serve ÷ rmcp",
            gateway.rate / rmcp.rate,
            AtLeast(0.8),
        );
        if sessions == 1 {
            let added = |cost: Cost| cost.median.saturating_sub(direct.median);
            let p50 = divided(added(in_memory), added(rmcp));
            ratio(
                "p50 added, log in memory, agent serve ÷ rmcp",
                p50,
                AtMost(1.2),
            );
        }
        self.loads.push((load, costs));
    }

    /// Adds what the log on a disk costs one client, beside the time of one sync of that disk.
    pub(super) fn sync(&mut self, generation: Generation, sync: Duration) {
        let one = self
            .loads
            .iter()
            .find(|(load, _)| load.generation == generation && load.sessions == 1);
        let median = |name: &str| {
            let costs = one.map(|(_, costs)| costs)?;
            let cost = costs.iter().find(|it| it.0 == name)?;
            Some(cost.1.median)
        };
        let (Some(on_disk), Some(in_memory)) = (median(GATEWAY), median(IN_MEMORY)) else {
            return;
        };
        let micros = sync.as_micros();
        self.ratios.push(Ratio {
            what: format!(
                "{}, 1: p50 added by the log on disk ÷ one fdatasync of {micros} µs",
                generation.version()
            ),
            ratio: divided(on_disk.saturating_sub(in_memory), sync),
            target: AtMost(1.2),
        });
    }

    /// Returns everything as JSON.
    pub(super) fn json(&self) -> Value {
        let loads = self.loads.iter().flat_map(|(load, costs)| {
            costs.iter().map(|(name, cost)| {
                json!({
                    "name": name,
                    "protocol": load.generation.version(),
                    "sessions": load.sessions,
                    "calls_per_second": cost.rate,
                    "processor_microseconds": micros(cost.processor),
                    "p50_milliseconds": micros(cost.median) / 1e3,
                    "p99_milliseconds": micros(cost.slowest) / 1e3,
                    "memory_bytes": cost.memory,
                })
            })
        });
        let ratios = self.ratios.iter().map(
            |it| json!({ "name": it.what, "ratio": it.ratio, "target": it.target.to_string() }),
        );
        json!({ "costs": loads.collect::<Vec<_>>(), "ratios": ratios.collect::<Vec<_>>() })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AtMost(bound) => write!(f, "≤ {bound}"),
            AtLeast(bound) => write!(f, "≥ {bound}"),
        }
    }
}

/// Renders the Markdown tables of the documentation.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| protocol | sessions | | calls/s | µs of a processor | p50 ms | p99 ms | MiB |"
        )?;
        writeln!(f, "|:--|--:|:--|--:|--:|--:|--:|--:|")?;
        for (load, costs) in &self.loads {
            for (name, cost) in costs {
                writeln!(
                    f,
                    "| {} | {} | {name} | {:.0} | {:.0} | {:.3} | {:.3} | {} |",
                    load.generation.version(),
                    load.sessions,
                    cost.rate,
                    micros(cost.processor),
                    micros(cost.median) / 1e3,
                    micros(cost.slowest) / 1e3,
                    cost.memory >> 20,
                )?;
            }
        }
        writeln!(
            f,
            "\n| protocol, sessions: figure | ratio | target |\n|:--|--:|--:|"
        )?;
        self.ratios
            .iter()
            .try_for_each(|it| writeln!(f, "| {} | {:.2} | {} |", it.what, it.ratio, it.target))
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn divided(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
