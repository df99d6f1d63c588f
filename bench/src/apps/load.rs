//! Clients that ask again and again, each over its own connection.

use super::proxies::{PREFIX, Proxy};
use agent_load::http::Connection;
use std::error::Error;
use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// The time in which a request is answered.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of requests whose processor time is reported.
const THOUSAND: u32 = 1_000;

/// Number of rounds, each of which measures every proxy.
pub(crate) const ROUNDS: usize = 9;

/// Clients with their requests.
pub(crate) struct Load {
    pub(crate) title: &'static str,
    pub(crate) clients: usize,
    /// Requests of each client.
    pub(crate) requests: usize,
    /// Size of the body of a request, in bytes.
    sent: usize,
    /// Size of the body of a response, in bytes.
    received: usize,
}

impl Load {
    pub(crate) const ALL: [Self; 4] = [
        Self {
            title: "a GET of 512 bytes, 16 clients",
            clients: 16,
            requests: 4_000,
            sent: 0,
            received: 512,
        },
        Self {
            title: "a GET of 512 bytes, one client",
            clients: 1,
            requests: 20_000,
            sent: 0,
            received: 512,
        },
        Self {
            title: "a POST of 16 KiB answered with 16 KiB, 16 clients",
            clients: 16,
            requests: 2_000,
            sent: 16 << 10,
            received: 16 << 10,
        },
        Self {
            title: "a GET of 1 MiB, 4 clients",
            clients: 4,
            requests: 500,
            sent: 0,
            received: 1 << 20,
        },
    ];
}

/// What a request costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Processor time of the proxy for a thousand requests.
    pub(crate) processor: Duration,
    /// The time until the response is there: that of every second request.
    pub(crate) median: Duration,
    /// That of 99 requests of 100.
    pub(crate) slowest: Duration,
}

/// Measures proxies in turn. Returns for each the round with the middle processor time: where the system puts the threads
/// of a round changes its cost by half, for any proxy.
pub(crate) fn measure(
    load: &Load,
    proxies: &[(&'static str, &Proxy); 2],
) -> Result<[Cost; 2], Box<dyn Error>> {
    let mut rounds = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for ((name, proxy), rounds) in proxies.iter().zip(&mut rounds) {
            rounds.push(round(load, proxy).map_err(|why| format!("{name}: {why}"))?);
        }
    }
    Ok(rounds.map(|mut rounds| {
        rounds.sort_unstable_by_key(|cost| cost.processor);
        rounds[ROUNDS / 2]
    }))
}

fn round(load: &Load, proxy: &Proxy) -> Result<Cost, String> {
    requests(load, load.requests / 10, proxy)?;
    let processor = || processor_time(proxy.pid()).map_err(|error| error.to_string());
    let before = processor()?;
    let mut times = requests(load, load.requests, proxy)?;
    let used = processor()?.saturating_sub(before);
    times.sort_unstable();
    let number = u32::try_from(times.len()).unwrap_or(u32::MAX);
    let at = |percent: usize| times.get(times.len() * percent / 100).copied();
    Ok(Cost {
        processor: used * THOUSAND / number.max(1),
        median: at(50).unwrap_or_default(),
        slowest: at(99).unwrap_or_default(),
    })
}

/// Returns the time that all threads of a process were on a processor, in their own code and in the system. Ticks of 10 ms,
/// which other measurements count, hit a thread that sleeps and wakes with the load too seldom.
fn processor_time(pid: u32) -> io::Result<Duration> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(thread?.path().join("schedstat"))?;
        let first = text.split(' ').next().and_then(|it| it.parse::<u64>().ok());
        nanoseconds += first.ok_or(io::ErrorKind::InvalidData)?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// Lets clients ask at the same time. Returns the time of each request.
fn requests(load: &Load, number: usize, proxy: &Proxy) -> Result<Vec<Duration>, String> {
    thread::scope(|scope| {
        let clients: Vec<_> = (0..load.clients)
            .map(|_| scope.spawn(|| one_after_the_other(load, number, proxy)))
            .collect();
        let mut times = Vec::new();
        for client in clients {
            times.extend(client.join().map_err(|_| "a client panicked")??);
        }
        Ok(times)
    })
}

fn one_after_the_other(load: &Load, number: usize, proxy: &Proxy) -> Result<Vec<Duration>, String> {
    let address = proxy.address;
    let connection = Connection::open(address, PATIENCE);
    let mut connection = connection.map_err(|error| error.to_string())?;
    let method = if load.sent == 0 { "GET" } else { "POST" };
    let length = match load.sent {
        0 => String::new(),
        sent => format!("Content-Length: {sent}\r\n"),
    };
    // The headers of a browser.
    let mut request = format!(
        "{method} {PREFIX}/{} HTTP/1.1\r\nHost: {address}\r\n{length}\
         User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
         Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
         Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\
         Connection: keep-alive\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n\
         Sec-Fetch-Site: none\r\n\r\n",
        load.received
    )
    .into_bytes();
    request.resize(request.len() + load.sent, b'y');
    let mut times = Vec::with_capacity(number);
    for _ in 0..number {
        let began = Instant::now();
        let answer = connection.ask(&request);
        let time = began.elapsed();
        let answer = answer.map_err(|error| error.to_string())?;
        if answer.status() != 200 || answer.body.len() != load.received {
            return Err(format!(
                "`{}` with {} bytes",
                answer.first,
                answer.body.len()
            ));
        }
        times.push(time);
    }
    Ok(times)
}
