//! Measures the gateway of apps and nginx before the same Unix socket, and the stages of `mcp run`.
//!
//! Prints tables and writes them as JSON to `target/bench-apps.json`. `cargo xtask bench --apps` passes the paths of
//! nginx and `agent`. The app, the gateway and nginx are separate processes; this program starts itself for the
//! first two.

#![expect(clippy::print_stdout, reason = "the program prints tables")]

mod app;
mod load;
mod pipeline;
mod proxies;
#[path = "../table.rs"]
mod table;

use load::{Cost, Load, ROUNDS};
use proxies::{Proxy, Running};
use std::error::Error;
use std::path::Path;
use table::Table;

/// The names of what is compared.
const NGINX: &str = "nginx";
const GATEWAY: &str = "gateway of apps";

/// The most that the gateway may cost, as a multiple of nginx.
const TARGET: f64 = 1.2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(|it| &**it).collect();
    match arguments[..] {
        [app::ROLE, socket] => Ok(app::serve(Path::new(socket))?),
        [proxies::ROLE, socket] => Ok(proxies::serve(Path::new(socket))?),
        [nginx, agent] => measure(Path::new(nginx), Path::new(agent)),
        _ => Err("the paths of nginx and `agent` are missing".into()),
    }
}

fn measure(nginx: &Path, agent: &Path) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("app.sock");
    let _app = Running::app(&socket)?;
    let nginx = Proxy::nginx(nginx, &socket, folder.path())?;
    let gateway = Proxy::gateway(&socket)?;
    let proxies = [(NGINX, &nginx), (GATEWAY, &gateway)];
    let mut tables = Vec::new();
    for load in Load::ALL {
        let costs = load::measure(&load, &proxies)?;
        tables.extend(compare(&load, &costs));
    }
    tables.extend(pipeline::measure(agent)?);
    for table in &tables {
        println!("{table}");
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    std::fs::create_dir_all(&target)?;
    std::fs::write(target.join("bench-apps.json"), table::json(&tables)?)?;
    println!("written as JSON to target/bench-apps.json");
    Ok(())
}

/// Returns a table of processor time and one of latency. The first cost is that of nginx.
fn compare(load: &Load, [nginx, gateway]: &[Cost; 2]) -> [Table; 2] {
    let title = load.title;
    let mut cost = Table::new(
        format!("processor time of a thousand: {title}"),
        NGINX,
        nginx.processor,
    );
    cost.add_target(GATEWAY, gateway.processor, TARGET);
    let mut time = Table::new(format!("time of one: {title}"), NGINX, nginx.median);
    time.add(GATEWAY, gateway.median);
    let slowest = [
        "nginx: 99 of 100 are faster",
        "gateway of apps: 99 of 100 are faster",
    ];
    time.add(slowest[0], nginx.slowest);
    time.add(slowest[1], gateway.slowest);
    time.compare("gateway ÷ nginx: 99 of 100", slowest[1], slowest[0], 2.0);
    let (clients, requests) = (load.clients, load.requests);
    time.note(format!(
        "Each of {clients} clients sends {requests} requests over its own connection, in each of {ROUNDS} rounds."
    ));
    [cost, time]
}
