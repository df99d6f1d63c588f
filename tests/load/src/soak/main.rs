//! The soak test of `agent serve`: many clients, and servers that are killed, stopped, slow or answer garbage.
//!
//! `agent-soak AGENT SERVER [--seconds N] [--seed N]` starts the program `AGENT` as gateways and `agent-load-server` as
//! servers. Every request has to be answered, or refused with a code; no memory, descriptor or process may be left; and
//! the audit logs have to verify. The first line printed has the seed, from which every choice follows; times do not.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people: results on standard output, failures on standard error"
)]

mod chaos;
mod client;
mod gateways;
mod over_http;
mod over_stdio;
mod request;
mod tally;
mod watch;

use agent_load::message::Generation;
use agent_load::project::{Member, Project, Result};
use agent_load::random::Random;
use agent_load::server::Server;
use chaos::Chaos;
use gateways::Gateways;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tally::Tally;
use watch::Watch;

/// Number of clients over HTTP, half of them of each generation.
const HTTP_CLIENTS: u64 = 48;

/// Number of clients over standard streams, each of which starts a gateway.
const STDIO_CLIENTS: u64 = 2;

/// Number of servers, half of them over HTTP.
const SERVERS: usize = 10;

/// Number of well-behaved tools of each server.
const ECHOES: usize = 3;

/// What has to happen at least once.
const REQUIRED: [(&str, &str); 10] = [
    ("echo", "answered"),
    ("echo", "HEALTH_VETO"),
    ("slow", "answered"),
    ("cancelled", "cancelled"),
    ("another form", "OUTPUT_INVALID"),
    ("invalid arguments", "ARGUMENT_INVALID"),
    ("unknown tool", "-32602"),
    ("list", "answered"),
    ("malformed", "-32700"),
    ("unknown token", "401"),
];

/// The time that a soak takes, if nothing else is said.
const SECONDS: u64 = 600;

fn main() -> ExitCode {
    match soak() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("the soak test can't be run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the number behind an option.
fn option(name: &str) -> Result<Option<u64>> {
    let mut arguments = std::env::args().skip_while(|it| it != name);
    let number = arguments.nth(1).map(|it| it.parse());
    Ok(number.transpose()?)
}

/// Returns whether everything is as it has to be.
fn soak() -> Result<bool> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(agent), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err("usage: agent-soak AGENT SERVER [--seconds N] [--seed N]".into());
    };
    let time = Duration::from_secs(option("--seconds")?.unwrap_or(SECONDS));
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let seed = option("--seed")?.unwrap_or(now.as_secs());
    println!("soak for {} s, --seed {seed}", time.as_secs());

    let folder = std::env::temp_dir().join(format!("agent-soak-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let members = (0..SERVERS).map(member);
    let mut chaos = Chaos::new(&program, members, Random::new(seed, 0))?;
    let project = Project::new(&agent, &program, &folder, chaos.members())?;
    let tally = Tally::default();
    let mut gateways = Gateways::start(&project, STDIO_CLIENTS)?;
    let mut watch = Watch::new(&gateways, chaos.started(), &program);
    watch.settle(&tally);
    watch.begin();
    let stop = AtomicBool::new(false);
    let end = Instant::now() + time;
    thread::scope(|scope| {
        for client in 0..HTTP_CLIENTS {
            let (endpoint, tally, stop) = (&gateways.endpoint, &tally, &stop);
            scope.spawn(move || over_http::run(client, seed, endpoint, tally, stop));
        }
        for (client, pipes) in (HTTP_CLIENTS..).zip(&mut gateways.pipes) {
            let (tally, stop) = (&tally, &stop);
            scope.spawn(move || over_stdio::run(client, seed, pipes, tally, stop));
        }
        while Instant::now() < end {
            chaos.strike(&watch.servers(), end);
            watch.look(&tally, end.saturating_duration_since(Instant::now()), time);
            thread::sleep(watch::PAUSE);
        }
        stop.store(true, Ordering::Relaxed);
    });
    chaos.calm()?;
    watch.settle(&tally);
    watch.judge(&tally);
    gateways.end(&tally, &mut watch);
    println!("{}", chaos.report());
    drop(chaos);
    gateways::verify(&project, &tally)?;
    tally.require(&REQUIRED);
    println!("{}", tally.report());
    println!("{}", watch.report());
    let failures = tally.failures();
    for failure in &failures {
        eprintln!("{failure}");
    }
    match failures.is_empty() {
        true => std::fs::remove_dir_all(&folder)?,
        false => eprintln!("the files are in {}", folder.display()),
    }
    Ok(failures.is_empty())
}

/// Returns a server by its number: over both transports, of both generations.
fn member(number: usize) -> Member {
    Member {
        server: Server {
            name: format!("s{number}"),
            generation: match number / 2 % 2 {
                0 => Generation::Sessions,
                _ => Generation::Stateless,
            },
            echoes: ECHOES,
            is_odd: true,
            start: Duration::ZERO,
        },
        url: number.is_multiple_of(2).then(String::new),
    }
}
