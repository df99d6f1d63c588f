//! Measures calls through `agent serve` and other proxies, and what more tools and clients cost.
//!
//! Prints tables and writes them as JSON to `target/bench-serve.json`. `cargo xtask bench --serve`
//! builds its tools and passes their paths: of `agent`, of the server that is called, of a proxy by
//! the Rust SDK, and of nginx. All of them are separate processes on loopback. Every client keeps
//! its connection.

#![expect(clippy::print_stdout, reason = "the program prints tables")]

mod clients;
mod memory;
mod proxies;
#[path = "../table.rs"]
mod table;

use agent_load::message::Generation;
use agent_load::project::{Gateway, Member, Project};
use agent_load::server::Server;
use clients::{Cost, Load};
use proxies::{Running, Subject};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use table::Table;

/// Numbers of locked tools.
const TOOLS: [usize; 3] = [1, 100, 1_000];

/// Number of tools of the lock that is compared with other proxies.
const USUAL_TOOLS: usize = 10;

/// The names of what is compared.
const GATEWAY: &str = "agent serve";
const RMCP: &str = "a proxy with rmcp";

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
    let mut tables = compare(&programs)?;
    let mut tools = tools(&programs)?;
    tools.note(memory::measure(&programs)?);
    tables.push(tools);
    for table in &tables {
        println!("{table}");
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    std::fs::create_dir_all(&target)?;
    std::fs::write(target.join("bench-serve.json"), table::json(&tables)?)?;
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
    fn start(programs: &Programs, tools: usize, log: &Path) -> Result<Self, Box<dyn Error>> {
        let server = server(tools);
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

fn server(tools: usize) -> Server {
    Server {
        name: "s".to_owned(),
        generation: Generation::Stateless,
        echoes: tools,
        is_odd: false,
    }
}

/// Measures the gateway and other proxies before a server of the same kind.
fn compare(programs: &Programs) -> Result<Vec<Table>, Box<dyn Error>> {
    let running = Running::server(programs, &server(USUAL_TOOLS))?;
    let rmcp = Running::rmcp(programs, &running.url)?;
    let nginx = proxies::nginx(&programs.nginx, &running.url)?;
    let (disk, memory) = (tempfile::tempdir()?, tempfile::tempdir_in(MEMORY)?);
    let on_disk = Served::start(programs, USUAL_TOOLS, disk.path())?;
    let in_memory = Served::start(programs, USUAL_TOOLS, memory.path())?;
    let direct = running.subject("no proxy")?;
    let subjects = [
        nginx.subject(),
        on_disk.subject(GATEWAY),
        in_memory.subject("agent serve, log in memory"),
        rmcp.subject(RMCP)?,
    ];
    let many = clients::shortest(&Load::MANY, &subjects)?;
    let one = clients::shortest(&Load::ONE, &[&[direct][..], &subjects[..]].concat())?;
    let [(nginx, unit), others @ ..] = &many[..] else {
        return Err("nothing was measured".into());
    };
    let title = "processor time for a call, 16 clients";
    let mut cost = Table::new(title.to_owned(), nginx, unit.processor);
    for (name, of) in others {
        match *name {
            GATEWAY => cost.add_target(name, of.processor, 2.0),
            _ => cost.add(name, of.processor),
        }
    }
    cost.compare("agent serve ÷ rmcp", GATEWAY, RMCP, 0.33);
    let latency = |title, costs: &[(&'static str, Cost)]| {
        let mut table = table(title, costs, |cost| cost.median);
        for (name, cost) in costs {
            table.add(&format!("{name}: 99 of 100"), cost.slowest);
        }
        table
    };
    Ok(vec![
        cost,
        latency("time of a call, one client", &one),
        latency("time of a call, 16 clients", &many),
    ])
}

/// Measures calls with more and more locked tools.
fn tools(programs: &Programs) -> Result<Table, Box<dyn Error>> {
    let mut costs = Vec::new();
    for (tools, name) in TOOLS
        .into_iter()
        .zip(["1 tool", "100 tools", "1,000 tools"])
    {
        let log = tempfile::tempdir_in(MEMORY)?;
        let served = Served::start(programs, tools, log.path())?;
        costs.extend(clients::shortest(&Load::MANY, &[served.subject(name)])?);
    }
    let title = "processor time for a call, by the number of locked tools";
    Ok(table(title, &costs, |cost| cost.processor))
}

/// Returns a table of costs, of which the first is the unit.
fn table(title: &str, costs: &[(&'static str, Cost)], of: impl Fn(&Cost) -> Duration) -> Table {
    let mut costs = costs.iter().map(|(name, cost)| (*name, of(cost)));
    let (name, unit) = costs.next().unwrap_or(("nothing", Duration::ZERO));
    let mut table = Table::new(title.to_owned(), name, unit);
    costs.for_each(|(name, time)| table.add(name, time));
    table
}
