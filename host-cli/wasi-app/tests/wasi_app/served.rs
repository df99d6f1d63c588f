//! Components that the compiler of this machine builds, served as apps.

use crate::support::{self, Served, app};
use agent_wasi_app::Settings;
use std::time::{Duration, Instant};

/// Memory of most apps, in bytes.
const MEMORY: usize = 64 << 20;

fn settings() -> Settings {
    Settings {
        request_time: Duration::from_secs(20),
        ..Settings::new(MEMORY)
    }
}

#[test]
fn each_request_has_an_instance_and_the_store_outlives_it() {
    let served = Served::new(&app("hostile"), settings());
    assert_eq!(served.get("/calls"), (200, "0".to_owned()));
    assert_eq!(served.get("/calls"), (200, "0".to_owned()));
    assert_eq!(
        served.ask("PATCH", "/method", "", ""),
        (200, "PATCH".to_owned())
    );
    assert_eq!(
        served.ask("PURGE", "/method", "", ""),
        (200, "PURGE".to_owned())
    );
    assert_eq!(
        served.ask("GET", "/header", "x-name: é", ""),
        (200, "é".to_owned())
    );
    assert_eq!(served.get("/get").1, "");
    assert_eq!(served.get("/set").1, "true");
    assert_eq!(served.get("/get").1, "value");
    assert_eq!(served.get("/delete").1, "true");
    assert_eq!(served.get("/delete").1, "false");
    assert_eq!(served.log(), "");
}

#[test]
fn bodies_of_any_size_pass_in_both_directions() {
    let served = Served::new(&app("hostile"), settings());
    let body = "x".repeat(5 << 20);
    let (status, length) = served.ask("POST", "/length", "", &body);
    assert_eq!((status, &*length), (200, "Some(5242880)"));
    assert_eq!(served.get("/large").1.len(), 8 << 20);
    assert_eq!(served.log(), "");
}

#[test]
fn a_request_that_exceeds_its_limits_fails_alone() {
    let small = Settings {
        fuel: 100_000_000,
        ..settings()
    };
    let served = Served::new(&app("hostile"), small);
    for (path, reason) in [
        (
            "/spin",
            "GET /spin: the app exceeded its limit of 100000000 units of fuel",
        ),
        (
            "/bomb",
            "GET /bomb: the app exceeded its memory limit of 64 MiB",
        ),
        ("/trap", "GET /trap: the app stopped: "),
        ("/stack", "GET /stack: the app stopped: "),
    ] {
        assert_eq!(served.get(path).0, 500, "{path}");
        let log = served.log();
        assert!(
            log.contains(&format!("mcpd: E_RUNTIME: {reason}")),
            "{path}: {log}"
        );
        assert_eq!(served.get("/calls"), (200, "0".to_owned()), "after {path}");
    }
}

#[test]
fn the_store_has_half_of_the_memory() {
    let served = Served::new(&app("hostile"), settings());
    let count: usize = served.get("/fill").1.parse().unwrap();
    // Half of the memory, for values of 1 MiB and a little more.
    assert_eq!(count, 31);
    assert_eq!(served.get("/clear").1, count.to_string());
    assert_eq!(served.get("/fill").1, count.to_string());
}

#[test]
fn a_share_of_processor_time_slows_an_app_down() {
    let time = |cpu_percent: u32| {
        let settings = Settings {
            cpu_percent,
            fuel: 400_000_000,
            ..settings()
        };
        let served = Served::new(&app("hostile"), settings);
        let begin = Instant::now();
        assert_eq!(served.get("/spin").0, 500);
        begin.elapsed()
    };
    // The machine may have been busy in a measurement of the whole.
    let whole = [time(100), time(100), time(100)].into_iter().min().unwrap();
    let part = time(10);
    assert!(part > 3 * whole, "{whole:?} {part:?}");
}

#[test]
fn other_requests_are_answered_beside_slow_ones() {
    let served = Served::new(&app("hostile"), settings());
    // A body that does not come, a client that does not read, and one that computes.
    let mut slow: Vec<_> = (0..4)
        .map(|_| served.send("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"))
        .collect();
    slow.push(served.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n"));
    slow.push(served.send("GET /spin HTTP/1.1\r\nHost: x\r\n\r\n"));
    let begin = Instant::now();
    assert_eq!(served.get("/calls").1, "0");
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_request_has_a_time() {
    let short = Settings {
        request_time: Duration::from_secs(1),
        ..settings()
    };
    let served = Served::new(&app("hostile"), short);
    let mut stream = served.send("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    let answer = support::read(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
    assert!(
        served
            .log()
            .contains("POST /length: the app exceeded its time of 1 s"),
        "{}",
        served.log()
    );
}

#[test]
fn a_request_without_a_host_is_refused() {
    let served = Served::new(&app("hostile"), settings());
    let mut stream = served.send("GET /calls HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert!(support::read(&mut stream).starts_with("HTTP/1.1 400 "));
}
