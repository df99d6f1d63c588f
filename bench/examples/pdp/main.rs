//! Measures decision points: one, two behind Envoy, and with a store; beside regorus and Cedar; and what more tools and bundles
//! cost.
//!
//! Prints tables. `cargo xtask bench --pdp` builds and unpacks its tools, and passes their paths: of `agent`, `agent-pdp`, the server of
//! the other engines, Envoy and NATS. All of them are separate processes on this machine. Each server has one worker thread, and every
//! client keeps its connection.

#![expect(clippy::print_stdout, reason = "the program prints tables")]

mod documents;
mod load;
mod subject;

use async_nats::jetstream::kv::Config;
use documents::folder;
use load::{Target, Times, ask, check_request};
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use subject::Running;

/// How long clients ask, after a shorter time that is not measured.
const TIME: Duration = Duration::from_secs(4);

const WARM_UP: Duration = Duration::from_millis(500);

/// Numbers of clients that ask at once.
const CLIENTS: [usize; 2] = [1, 16];

/// Numbers of locked tools.
const TOOLS: [usize; 4] = [10, 100, 1_000, 10_000];

/// Numbers of decision points that run, each with documents of its own.
const BUNDLES: [usize; 3] = [1, 10, 100];

const ARGUMENTS: &str = r#"{"record":"customer 17","status":"active","limit":10}"#;

/// The programs that are measured.
struct Programs {
    agent: PathBuf,
    pdp: PathBuf,
    policies: PathBuf,
    envoy: PathBuf,
    nats: PathBuf,
}

fn question(tool: &str) -> String {
    format!(
        r#"{{"tool":"{tool}","arguments":{ARGUMENTS},"subject":{{"id":"alice","type":"user","properties":{{"department":"support"}}}}}}"#
    )
}

fn call(tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{ARGUMENTS}}}}}"#
    )
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [agent, pdp, policies, envoy, nats] = <[_; 5]>::try_from(arguments).map_err(
        |_| "the paths of agent, agent-pdp, the other engines, Envoy and NATS are missing",
    )?;
    let programs = Programs {
        agent,
        pdp,
        policies,
        envoy,
        nats,
    };
    println!("| asked | clients | decisions/s | µs of a processor | p50 ms | p99 ms |");
    println!("|:--|--:|--:|--:|--:|--:|");
    one(&programs).await?;
    behind_envoy(&programs).await?;
    with_a_store(&programs).await?;
    println!("\n| locked tools | µs of a processor | start, s | MiB |");
    println!("|--:|--:|--:|--:|");
    tools(&programs).await?;
    println!("\n| bundles, a process each | MiB in all | MiB of one |");
    println!("|--:|--:|--:|");
    bundles(&programs)
}

/// Measures one decision point, and the other engines, over a socket.
async fn one(programs: &Programs) -> Result<(), Box<dyn Error>> {
    let folder = folder(&programs.agent, 10)?;
    let socket = |name: &str| folder.path().join(format!("{name}.sock"));
    let pdp = Running::pdp(&programs.pdp, folder.path(), (&socket("pdp"), &[]))?;
    let http = Target::Http(socket("pdp"), question("s0/t0"));
    let grpc = Target::Grpc(socket("pdp"), check_request(&call("t0")));
    show("agent-pdp, HTTP", &http, &[("", &pdp)]).await?;
    show("agent-pdp, gRPC of `ext_authz`", &grpc, &[("", &pdp)]).await?;
    for engine in ["regorus", "cedar"] {
        let other = Running::other(&programs.policies, engine, &socket(engine))?;
        let target = Target::Http(socket(engine), question("s0/t0"));
        show(&format!("{engine}, HTTP"), &target, &[("", &other)]).await?;
    }
    Ok(())
}

/// Measures requests that pass Envoy, which asks two decision points in turn.
async fn behind_envoy(programs: &Programs) -> Result<(), Box<dyn Error>> {
    let folder = folder(&programs.agent, 10)?;
    let sockets = ["a.sock", "b.sock"].map(|it| folder.path().join(it));
    let [a, b] = &sockets;
    let first = Running::pdp(&programs.pdp, folder.path(), (a, &[]))?;
    let second = Running::pdp(&programs.pdp, folder.path(), (b, &[]))?;
    let (envoy, port) = Running::envoy(&programs.envoy, folder.path(), &sockets)?;
    let target = Target::Proxy(port, call("t0"));
    let of = [("two", &first), ("", &second), ("Envoy", &envoy)];
    show("two agent-pdp behind Envoy", &target, &of).await
}

/// Measures decisions on a tool that is rate limited, each client for itself.
async fn with_a_store(programs: &Programs) -> Result<(), Box<dyn Error>> {
    let folder = folder(&programs.agent, 10)?;
    let (nats, address) = Running::nats(&programs.nats, folder.path())?;
    let client = async_nats::connect(&address).await?;
    let config = Config {
        bucket: "agent-pdp".to_owned(),
        history: 1,
        ..Config::default()
    };
    let context = async_nats::jetstream::new(client);
    context.create_key_value(config).await?;
    let socket = folder.path().join("pdp.sock");
    let url = format!("nats://{address}");
    let more = ["--store", &*url];
    let pdp = Running::pdp(&programs.pdp, folder.path(), (&socket, &more))?;
    let target = Target::Http(socket, question("s0/t1").replace("alice\"", "CLIENT\""));
    // `CLIENT` is not `alice`, so another rule allows it.
    let target = match target {
        Target::Http(socket, text) => Target::Http(
            socket,
            text.replace(r#""department":"support""#, r#""role":"admin""#),
        ),
        other => other,
    };
    let of = [("agent-pdp", &pdp), ("NATS", &nats)];
    show("agent-pdp with a store", &target, &of).await
}

/// Asks, and prints a row for each number of clients. Processor time is that of each subject with a name, and of those without one
/// behind it.
async fn show(
    name: &str,
    target: &Target,
    subjects: &[(&str, &Running)],
) -> Result<(), Box<dyn Error>> {
    for clients in CLIENTS {
        ask(target, clients, WARM_UP).await?;
        let before: Vec<_> = subjects.iter().map(|(_, it)| it.processor_time()).collect();
        let times = ask(target, clients, TIME).await?;
        let mut used: Vec<(String, Duration)> = Vec::new();
        for ((name, subject), before) in subjects.iter().zip(before) {
            let time = subject.processor_time().saturating_sub(before);
            match (used.last_mut(), *name) {
                (Some((_, sum)), "") => *sum += time,
                (_, name) => used.push((name.to_owned(), time)),
            }
        }
        let used: Vec<_> = used
            .iter()
            .map(|(name, time)| {
                format!("{:.0} {name}", micros(&times, *time))
                    .trim()
                    .to_owned()
            })
            .collect();
        println!(
            "| {name} | {clients} | {:.0} | {} | {:.3} | {:.3} |",
            times.rate(),
            used.join(", "),
            times.at(50).as_secs_f64() * 1e3,
            times.at(99).as_secs_f64() * 1e3,
        );
    }
    Ok(())
}

/// Returns processor time of one decision, in microseconds.
fn micros(times: &Times, used: Duration) -> f64 {
    used.as_secs_f64() * 1e6 / times.each.len() as f64
}

/// Measures a decision, the start and the memory with more and more locked tools.
async fn tools(programs: &Programs) -> Result<(), Box<dyn Error>> {
    for tools in TOOLS {
        let folder = folder(&programs.agent, tools)?;
        let socket = folder.path().join("pdp.sock");
        let began = Instant::now();
        let pdp = Running::pdp(&programs.pdp, folder.path(), (&socket, &[]))?;
        let start = began.elapsed();
        let target = Target::Http(socket, question("s0/t0"));
        ask(&target, 1, WARM_UP).await?;
        let before = pdp.processor_time();
        let times = ask(&target, 1, TIME).await?;
        let used = pdp.processor_time().saturating_sub(before);
        println!(
            "| {tools} | {:.0} | {:.2} | {:.0} |",
            micros(&times, used),
            start.as_secs_f64(),
            pdp.memory(),
        );
    }
    Ok(())
}

/// Measures the memory of decision points with 10 locked tools each.
fn bundles(programs: &Programs) -> Result<(), Box<dyn Error>> {
    let folder = folder(&programs.agent, 10)?;
    let mut running = Vec::new();
    for bundles in BUNDLES {
        while running.len() < bundles {
            let socket = folder.path().join(format!("{}.sock", running.len()));
            running.push(Running::pdp(&programs.pdp, folder.path(), (&socket, &[]))?);
        }
        let all: Option<Vec<_>> = running.iter().map(Running::own_memory).collect();
        let all: f64 = all.ok_or("memory can't be read")?.iter().sum();
        println!("| {bundles} | {all:.0} | {:.1} |", all / bundles as f64);
    }
    Ok(())
}
