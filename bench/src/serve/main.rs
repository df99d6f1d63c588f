//! Measures calls through `agent serve` and other proxies, and what more tools and clients cost.
//!
//! Prints tables and writes them as JSON to `target/bench-serve.json`. `cargo xtask bench --serve`
//! builds its tools and passes their paths: of `agent`, of the server that is called, of a proxy by
//! the Rust SDK, and of nginx. All of them are separate processes on loopback. Every client keeps
//! its connection.

#![expect(clippy::print_stdout, reason = "the program prints tables")]

mod clients;
mod comparison;
mod lists;
mod memory;
mod proxies;
#[path = "../random.rs"]
mod random;
mod stubs;
#[path = "../tool.rs"]
mod tool;

use agent_load::message::Generation;
use agent_load::project::{Gateway, Member, Project};
use agent_load::server::Server;
use clients::Load;
use comparison::{Comparison, DIRECT, GATEWAY, IN_MEMORY, RMCP};
use proxies::{Running, Subject};
use serde_json::json;
use std::error::Error;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Numbers of locked tools.
const TOOLS: [usize; 3] = [1, 100, 1_000];

/// Number of tools of the lock that is compared with other proxies.
const USUAL_TOOLS: usize = 10;

/// Numbers of sessions, or of connections where the protocol has no sessions.
const SESSIONS: [usize; 3] = [1, 8, 32];

/// Number of syncs of which the usual one counts, and the bytes before each.
const SYNCS: usize = 201;
const SYNCED_BYTES: usize = 1_500;

/// A folder in memory: nothing that is written there has to be brought to a disk.
const MEMORY: &str = "/dev/shm";

/// The programs that are measured.
struct Programs {
    agent: PathBuf,
    server: PathBuf,
    rmcp: PathBuf,
    nginx: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [agent, server, rmcp, nginx] = <[_; 4]>::try_from(arguments)
        .map_err(|_| "the paths of agent, agent-load-server, rmcp-proxy and nginx are missing")?;
    let programs = Programs {
        agent,
        server,
        rmcp,
        nginx,
    };
    let mut comparison = Comparison::default();
    for generation in [Generation::Stateless, Generation::Sessions] {
        compare(&programs, generation, &mut comparison)?;
    }
    println!("{comparison}");
    let tools = tools(&programs)?;
    println!("{tools}");
    let notes = [memory::measure(&programs)?, lists::measure(&programs)?];
    println!("{}\n", notes.join("\n\n"));
    let stubs = stubs::measure(&programs)?;
    println!("{stubs}");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    std::fs::create_dir_all(&target)?;
    let written = json!({
        "comparison": comparison.json(), "tools": tools, "notes": notes, "stubs": stubs,
    });
    let path = target.join("bench-serve.json");
    std::fs::write(path, serde_json::to_string_pretty(&written)?)?;
    println!("written as JSON to target/bench-serve.json");
    Ok(())
}

/// A gateway before a server over HTTP, with the folder of its project.
struct Served {
    gateway: Gateway,
    _server: Running,
    _folder: tempfile::TempDir,
}

impl Served {
    /// Starts a gateway whose audit log is in a folder.
    fn start(
        programs: &Programs,
        generation: Generation,
        tools: usize,
        log: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let server = server(generation, tools);
        let running = Running::server(programs, &server)?;
        let folder = tempfile::tempdir()?;
        let member = Member {
            server,
            url: Some(running.url.clone()),
        };
        let project = Project::new(&programs.agent, &programs.server, folder.path(), &[member])?;
        let gateway = Gateway::start(&project, &log.join("audit.jsonl"), "")?;
        Ok(Self {
            gateway,
            _server: running,
            _folder: folder,
        })
    }

    fn subject(&self, name: &'static str) -> Subject {
        Subject {
            name,
            endpoint: self.gateway.endpoint.clone(),
            pid: self.gateway.child.id(),
        }
    }
}

fn server(generation: Generation, tools: usize) -> Server {
    Server {
        name: "s".to_owned(),
        generation,
        echoes: tools,
        is_odd: false,
        start: Duration::ZERO,
    }
}

/// Measures the gateway and other proxies before servers of the same kind, by clients of one generation.
fn compare(
    programs: &Programs,
    generation: Generation,
    comparison: &mut Comparison,
) -> Result<(), Box<dyn Error>> {
    let running = Running::server(programs, &server(generation, USUAL_TOOLS))?;
    let rmcp = Running::rmcp(programs, &running.url, generation)?;
    let nginx = proxies::nginx(&programs.nginx, &running.url)?;
    let (disk, memory) = (tempfile::tempdir()?, tempfile::tempdir_in(MEMORY)?);
    let on_disk = Served::start(programs, generation, USUAL_TOOLS, disk.path())?;
    let in_memory = Served::start(programs, generation, USUAL_TOOLS, memory.path())?;
    let subjects = [
        running.subject(DIRECT)?,
        nginx.subject(),
        on_disk.subject(GATEWAY),
        in_memory.subject(IN_MEMORY),
        rmcp.subject(RMCP)?,
    ];
    for sessions in SESSIONS {
        let load = Load::of(generation, sessions);
        let costs = clients::cheapest(load, &subjects)?;
        let names = subjects.iter().map(|subject| subject.name);
        comparison.add(load, names.zip(costs).collect());
    }
    comparison.sync(generation, sync_time(disk.path())?);
    Ok(())
}

/// Returns the usual time of one `fdatasync` of some appended bytes on the disk of a folder.
fn sync_time(folder: &Path) -> io::Result<Duration> {
    let mut file = File::create(folder.join("synced"))?;
    let mut times = Vec::new();
    for _ in 0..SYNCS {
        file.write_all(&[b' '; SYNCED_BYTES])?;
        let began = Instant::now();
        file.sync_data()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(SYNCS / 2).copied().unwrap_or_default())
}

/// Measures calls with more and more locked tools. Returns a table.
fn tools(programs: &Programs) -> Result<String, Box<dyn Error>> {
    let mut table = "8 clients, log in memory\n\n".to_owned();
    table.push_str("| locked tools | µs of a processor |\n|--:|--:|\n");
    for tools in TOOLS {
        let log = tempfile::tempdir_in(MEMORY)?;
        let served = Served::start(programs, Generation::Stateless, tools, log.path())?;
        let load = Load::of(Generation::Stateless, 8);
        for cost in clients::cheapest(load, &[served.subject(GATEWAY)])? {
            table.push_str(&format!("| {tools} | {} |\n", cost.processor.as_micros()));
        }
    }
    Ok(table)
}
