//! Ports that other programs have: that of the app gateway, and those that are leased.

use crate::bed::{Bed, PATIENCE, get};
use crate::failures::failed;
use crate::own_network::in_own_network;
use crate::remains::Remains;
use crate::small_app::{APP, start};
use serde_json::{Value, json};
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// The port of the app gateway, and its text.
const PORT: u16 = 23456;
const DEFAULT: &str = "23456";

fn hold(port: u16) -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap()
}

#[test]
fn without_a_free_port_an_app_fails_and_leaves_nothing() {
    in_own_network(
        "ports::without_a_free_port_an_app_fails_and_leaves_nothing",
        || {
            let mut held: Vec<_> = (61_000..=64_999).map(hold).collect();
            let bed = Bed::new(&[]);
            let id = bed.task_with(&[("app.py", APP)]);
            let started = bed.verb("run.start", Some(&id), &start("no-port"));
            failed(&started, "E_PORT", "no port from 61000 to 64999 is free");
            let hint = started["error"]["hints"][0].as_str().unwrap();
            assert!(hint.contains("from 61000 to 64999"), "{hint}");
            assert_eq!(started["error"]["task_id"], *id);
            assert_eq!(bed.task(&id)["state"], "failed");
            Remains::of(&bed, &id, "no-port").are_none(&bed);
            // The same on the command line, with the code.
            let run = bed.mcp(&["run", "It says 'hello'"]);
            assert_eq!(run.status.code(), Some(1));
            let errors = String::from_utf8(run.stderr).unwrap();
            assert!(errors.contains("(E_PORT)"), "{errors}");
            // One free port of them all is found.
            let free = held.swap_remove(1234).local_addr().unwrap().port();
            let again = bed.verb("run.start", Some(&id), &start("no-port"));
            assert_eq!(again["data"]["port"], free, "{again}");
            assert_eq!(get(&format!("http://127.0.0.1:{free}/")).body, "ok");
        },
    );
}

#[test]
fn the_gateway_has_its_own_port_or_says_which_one() {
    in_own_network(
        "ports::the_gateway_has_its_own_port_or_says_which_one",
        || {
            let mut bed = Bed::not_started();
            bed.start_at(DEFAULT, &[]);
            let url = bed.done(&["run", "It says 'hello'"]);
            let id = bed.tasks()[0]["task_id"].as_str().unwrap().to_owned();
            assert_eq!(url.trim(), format!("http://127.0.0.1:{PORT}/apps/{id}/"));
            assert_eq!(get(url.trim()).body, "hello");
            bed.kill();

            // Another program takes the port before the next daemon starts.
            let _held = hold(PORT);
            bed.start_at(DEFAULT, &[]);
            let log = fs::read_to_string(bed.path("daemon.log")).unwrap();
            let note = format!("port {PORT} is taken: apps are at http://127.0.0.1:");
            assert_eq!(log.matches(&note).count(), 1, "{log}");
            let base = log.split("apps are at ").last().unwrap();
            let base = base.lines().next().unwrap();
            let expected = format!("{base}apps/{id}/");
            assert_eq!(bed.task(&id)["url"], expected);
            assert_eq!(get(&expected).body, "hello");
            let report = bed.verb("report.finish", Some(&id), &json!({}));
            assert_eq!(report["data"]["url"], expected);
            let direct = report["data"]["direct_url"].as_str().unwrap();
            assert_eq!(get(direct).body, "hello");
            let second = bed.done(&["run", "It says 'second'"]);
            assert!(second.starts_with(base), "{second}");
            assert_eq!(get(second.trim()).body, "second");
            assert!(get(base).body.contains(&id));
        },
    );
}

#[test]
fn a_command_that_starts_the_daemon_prints_the_port_in_use() {
    in_own_network(
        "ports::a_command_that_starts_the_daemon_prints_the_port_in_use",
        || {
            let _held = hold(PORT);
            let mut bed = Bed::new(&[]);
            bed.kill();
            let url = bed.done(&["run", "It says 'hello'"]);
            assert!(!url.contains(&PORT.to_string()), "{url}");
            assert_eq!(get(url.trim()).body, "hello");
            let place = fs::read(bed.path(".mcpd/.state/daemon.json")).unwrap();
            let place: Value = serde_json::from_slice(&place).unwrap();
            let daemon = place["pid"].as_i64().unwrap().to_string();
            assert!(Command::new("kill").arg(daemon).status().unwrap().success());
        },
    );
}

#[test]
fn without_a_gateway_apps_are_at_ports_of_their_own() {
    /// The ports of this network that the system assigns to sockets without a chosen port.
    const ANY: &str = "/proc/sys/net/ipv4/ip_local_port_range";
    in_own_network(
        "ports::without_a_gateway_apps_are_at_ports_of_their_own",
        || {
            let before = fs::read_to_string(ANY).unwrap();
            let _held = hold(PORT);
            // One is left, and the daemon itself needs it.
            fs::write(ANY, "40000 40000").unwrap();
            let mut bed = Bed::not_started();
            bed.spawn(&[]);
            bed.eventually("the daemon has an address", || {
                let place = fs::read_to_string(bed.path(".mcpd/.state/daemon.json"));
                place.is_ok_and(|it| it.contains(":40000")).then_some(())
            });
            // Clients need ports, too.
            fs::write(ANY, before).unwrap();
            let log = fs::read_to_string(bed.path("daemon.log")).unwrap();
            assert!(log.contains("the app gateway has no port"), "{log}");
            let id = bed.task_with(&[("app.py", APP)]);
            let started = bed.verb("run.start", Some(&id), &start("direct"));
            let data = &started["data"];
            assert_eq!(data["transport"], "tcp", "{started}");
            assert_eq!(data.get("socket"), None, "{started}");
            let port = data["port"].as_u64().unwrap();
            assert!((61_000..=64_999).contains(&port), "{port}");
            let direct = format!("http://127.0.0.1:{port}/");
            assert_eq!(get(&direct).body, "ok");
            let report = bed.verb("report.finish", Some(&id), &json!({}));
            assert_eq!(report["data"]["direct_url"], direct);
            assert_eq!(
                report["data"].get("url").unwrap_or(&Value::Null),
                &Value::Null
            );
            let manifest = bed.path(&format!(".mcpd/{id}/manifest.json"));
            let manifest: Value = serde_json::from_slice(&fs::read(manifest).unwrap()).unwrap();
            assert_eq!(manifest["transport"]["type"], "tcp", "{manifest}");
            // The command line prints where the app is.
            let url = bed.done(&["run", "It says 'hello'"]);
            assert!(
                url.starts_with("http://127.0.0.1:6") && !url.contains("apps"),
                "{url}"
            );
            assert_eq!(get(url.trim()).body, "hello");
            bed.done(&["kill", &id]);
            let gone = format!("127.0.0.1:{port}").parse().unwrap();
            assert!(std::net::TcpStream::connect_timeout(&gone, PATIENCE).is_err());
        },
    );
}

/// Checks that the app of a task is served at its leased port alone.
fn is_leased_alone(bed: &Bed, id: &str, started: &Value) {
    let data = &started["data"];
    assert_eq!(data["transport"], "tcp", "{started}");
    assert!(data.get("socket").is_none(), "{started}");
    let direct = format!("http://127.0.0.1:{}/", data["port"]);
    assert_eq!(get(&direct).body, "ok");
    for path in ["", "_health"] {
        let response = get(&format!("{}{path}", bed.app_url(id)));
        assert_eq!(response.status, 404, "{}", response.body);
        assert!(response.body.contains("the gateway does not serve task"));
    }
    assert!(
        !get(bed.app_url(id).split("apps/").next().unwrap())
            .body
            .contains("href=\"/apps/")
    );
    let probe = json!({ "method": "GET", "path": "/", "expect_status": 200 });
    let asserted = bed.verb("httpcheck.assert", Some(id), &json!({ "probes": [probe] }));
    assert_eq!(asserted["data"]["pass"], true, "{asserted}");
    let report = bed.verb("report.finish", Some(id), &json!({}));
    assert_eq!(report["data"]["url"], Value::Null, "{report}");
    assert_eq!(report["data"]["direct_url"], direct);
    let task = bed.task(id);
    assert_eq!(
        (&task["url"], &task["direct_url"]),
        (&Value::Null, &json!(direct))
    );
    let manifest = fs::read(bed.path(&format!(".mcpd/{id}/manifest.json"))).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["transport"]["type"], "tcp");
    assert!(manifest["transport"].get("path").is_none(), "{manifest}");
}

#[test]
fn a_policy_lets_apps_be_reached_at_leased_ports_alone() {
    let mut bed = Bed::not_started();
    fs::create_dir(bed.path(".mcpd")).unwrap();
    let policy = bed.path(".mcpd/policy.yaml");
    fs::write(&policy, "policies:\n  transport: tcp\n").unwrap();
    bed.start(&[]);
    let id = bed.task_with(&[("app.py", APP)]);
    let started = bed.verb("run.start", Some(&id), &start("leased"));
    is_leased_alone(&bed, &id, &started);
    // The next daemon finds the app.
    bed.kill();
    bed.start(&[]);
    is_leased_alone(&bed, &id, &started);
    bed.done(&["kill", &id]);
    assert_eq!(get(&bed.app_url(&id)).status, 410);
    // The next start obeys the policy of its time.
    fs::write(&policy, "policies:\n  transport: uds\n").unwrap();
    let id = bed.task_with(&[("app.py", APP)]);
    let started = bed.verb("run.start", Some(&id), &start("registered"));
    assert_eq!(started["data"]["transport"], "uds", "{started}");
    assert_eq!(get(&bed.app_url(&id)).body, "ok");
}

#[test]
fn without_a_folder_for_sockets_apps_are_reached_at_leased_ports_alone() {
    in_own_network(
        "ports::without_a_folder_for_sockets_apps_are_reached_at_leased_ports_alone",
        || {
            // Folders of this mode let other users in.
            for folder in ["/run/mcpd/sock", "/tmp/mcpd", "/tmp/mcpd-0"] {
                fs::create_dir_all(folder).unwrap();
                fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
            }
            let bed = Bed::new(&[]);
            let log = fs::read_to_string(bed.path("daemon.log")).unwrap();
            assert!(log.contains("no folder for sockets can be used"), "{log}");
            let id = bed.task_with(&[("app.py", APP)]);
            let started = bed.verb("run.start", Some(&id), &start("no-folder"));
            is_leased_alone(&bed, &id, &started);
        },
    );
}
