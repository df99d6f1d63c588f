//! The invariants of the architecture about absences, checked in the sources.

use agent_diagnostic::Code;
use agent_tests::corpus::{Failures, blessing};
use agent_tests::plan::contract_case;
use agent_tests::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers of the engine, a crate each: each depends only on those before it. No decision sees
/// `syntax`, though it comes before `decide`: how a text was written decides nothing.
const LAYERS: [&str; 20] = [
    "text",
    "diagnostic",
    "answer",
    "syntax",
    "json-schema",
    "model",
    "lower",
    "decide",
    "rego",
    "explain",
    "render",
    "import",
    "api",
    "record",
    "turns",
    "run",
    "session",
    "bundle",
    "audit",
    "verbs",
];

/// What would make the engine more than a function of its arguments.
const IMPURE: [&str; 13] = [
    "std::time",
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::io",
    "SystemTime",
    "Instant::",
    "HashMap",
    "HashSet",
    "RandomState",
    "thread_local",
];

/// The exceptions of files. The policy evaluator has one clock for the whole program; the counter
/// that replaces it must be separate for each evaluation, and an evaluation stays on its thread.
/// Each evaluation resets it first. Tests read how many bytes the readers of their thread have read: no answer depends on
/// it, and release builds do not contain it.
const EXCEPTIONS: [(&str, &str); 2] = [
    ("engine/rego/src/budget.rs", "thread_local"),
    ("engine/syntax/src/json/bytes_read.rs", "thread_local"),
];

/// The files of a folder that end with an extension, by path.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no .{extension} in {}", folder.display());
    found
}

/// The code of a file without its comments, with the numbers of its lines.
fn code(path: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().zip(1..);
    lines
        .map(|(line, number)| {
            (
                number,
                line.split("//").next().unwrap_or_default().to_owned(),
            )
        })
        .collect()
}

#[test]
fn a_layer_of_the_engine_depends_only_on_those_before_it() {
    let mut failures = Failures::default();
    for (place, layer) in LAYERS.iter().enumerate() {
        let manifest = root().join("engine").join(layer).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).expect("the manifest of a layer");
        for name in dependencies(&text) {
            let Some(named) = name.strip_prefix("agent-") else {
                continue;
            };
            if !LAYERS[..place].contains(&named) || (*layer, named) == ("decide", "syntax") {
                failures.add(layer, format!("depends on {named}"));
            }
        }
    }
    failures.finish();
    let mut folders: Vec<_> = fs::read_dir(root().join("engine"))
        .expect("the engine")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    folders.sort();
    let mut layers = LAYERS;
    layers.sort_unstable();
    assert_eq!(folders, layers, "every crate of the engine is a layer");
}

#[test]
fn the_engine_is_a_function_of_its_arguments() {
    let mut failures = Failures::default();
    let sources = LAYERS.map(|layer| root().join("engine").join(layer).join("src"));
    for path in sources.iter().flat_map(|source| files(source, "rs")) {
        for (number, line) in code(&path) {
            // `FxHashMap` has no random state; that it is never iterated is for reviews.
            let line = line.replace("FxHashMap", "").replace("FxHashSet", "");
            for impure in IMPURE.iter().filter(|impure| line.contains(**impure)) {
                let excepted = EXCEPTIONS
                    .iter()
                    .any(|(file, what)| path.ends_with(file) && what == impure);
                if excepted {
                    continue;
                }
                failures.add(&format!("{}:{number}", path.display()), *impure);
            }
        }
    }
    failures.finish();
    for layer in LAYERS {
        let lib = root().join("engine").join(layer).join("src/lib.rs");
        let lib = fs::read_to_string(lib).expect("lib.rs");
        assert!(lib.contains("#![forbid(unsafe_code)]"), "{layer}");
    }
}

/// The packages that a `Cargo.toml` names as dependencies of any kind.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut within = false;
    for line in manifest.lines() {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            within = table.ends_with("dependencies");
            names.extend(
                table
                    .split_once("dependencies.")
                    .map(|(_, name)| name.to_owned()),
            );
        } else if within && line.contains('=') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            names.push(name.trim_matches('"').to_owned());
            // Under another name.
            names.extend(
                line.split_once("package = \"")
                    .and_then(|(_, rest)| Some(rest.split_once('"')?.0.to_owned())),
            );
        }
    }
    names
}

#[test]
fn a_package_is_named_after_its_folder() {
    let mut failures = Failures::default();
    for parent in ["engine", "host-cli", "playground"] {
        let entries = fs::read_dir(root().join(parent)).expect("a folder of packages");
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            let Ok(manifest) = fs::read_to_string(path.join("Cargo.toml")) else {
                continue;
            };
            let folder = path.file_name().unwrap_or_default().display().to_string();
            let name = match &*folder {
                "agent" => folder.clone(),
                _ => format!("agent-{folder}"),
            };
            if !manifest.contains(&format!("\nname = \"{name}\"\n")) {
                failures.add(&folder, format!("its package is not `{name}`"));
            }
        }
    }
    failures.finish();
}

#[test]
fn the_host_does_not_depend_on_the_engine() {
    let mut failures = Failures::default();
    // What each of our packages may depend on of ours, in any way, tests included.
    // The strict reader and its texts decide nothing, and reading peers' JSON is the protocol's task.
    let allowed: &[(&str, &[&str])] = &[
        (
            "component",
            &[
                "agent-api",
                "agent-audit",
                "agent-bundle",
                "agent-run",
                "agent-session",
                "agent-verbs",
            ],
        ),
        // It has no code.
        ("component/pack", &["agent-shared-features"]),
        ("host-cli/aot", &["agent-shared-features"]),
        ("host-cli/app-proxy", &["agent-text"]),
        (
            "host-cli/adopt",
            &["agent-host", "agent-operator", "agent-ownership"],
        ),
        (
            "host-cli/agent",
            &[
                "agent-adopt",
                "agent-app",
                "agent-effects",
                "agent-evidence",
                "agent-serve",
                "agent-host",
                "agent-login",
                "agent-operator",
                "agent-ownership",
                "agent-pack",
                "agent-packages",
                "agent-page-server",
                "agent-runners",
                "agent-sandbox",
                "agent-mcp-server",
                "agent-syntax",
                "agent-text",
            ],
        ),
        (
            "host-cli/daemon",
            &[
                "agent-app-proxy",
                "agent-effects",
                "agent-host",
                "agent-mcp-protocol",
                "agent-ownership",
                "agent-packages",
                "agent-planner",
                "agent-runners",
                "agent-sandbox",
                "agent-mcp-server",
                "agent-syntax",
                "agent-tasks",
                "agent-telemetry",
                "agent-wasi-app",
                "agent-way-out",
            ],
        ),
        (
            "host-cli/app",
            &[
                "agent-daemon",
                "agent-effects",
                "agent-host",
                "agent-planner",
                "agent-syntax",
            ],
        ),
        (
            "host-cli/effects",
            &[
                "agent-aot",
                "agent-evidence",
                "agent-host",
                "agent-login",
                "agent-mcp-protocol",
                "agent-operator",
                "agent-pack",
                "agent-packages",
                "agent-planner",
                "agent-sandbox",
                "agent-syntax",
                "agent-telemetry",
                "agent-way-out",
            ],
        ),
        ("host-cli/evidence", &["agent-host"]),
        (
            "host-cli/serve",
            &[
                "agent-effects",
                "agent-host",
                "agent-mcp-protocol",
                "agent-mcp-server",
                "agent-operator",
                "agent-ownership",
                "agent-syntax",
                "agent-telemetry",
            ],
        ),
        (
            "host-cli/pdp",
            &[
                "agent-evidence",
                "agent-host",
                "agent-mcp-protocol",
                "agent-mcp-server",
                "agent-operator",
                "agent-ownership",
                "agent-syntax",
            ],
        ),
        ("host-cli/handlers", &[]),
        ("examples/handler", &[]),
        (
            "host-cli/host",
            &["agent-aot", "agent-ownership", "agent-pack", "agent-text"],
        ),
        (
            "host-cli/login",
            &[
                "agent-host",
                "agent-mcp-protocol",
                "agent-operator",
                "agent-ownership",
                "agent-syntax",
                "agent-way-out",
            ],
        ),
        (
            "host-cli/operator",
            &[
                "agent-diagnostic",
                "agent-ownership",
                "agent-syntax",
                "agent-text",
            ],
        ),
        ("host-cli/ownership", &[]),
        (
            "host-cli/packages",
            &["agent-ownership", "agent-sandbox", "agent-way-out"],
        ),
        ("host-cli/page-server", &["agent-host", "agent-mcp-server"]),
        (
            "host-cli/planner",
            &["agent-smallest-value", "agent-way-out"],
        ),
        ("host-cli/language-runners", &[]),
        (
            "host-cli/runners",
            &["agent-aot", "agent-host", "agent-pack", "agent-sandbox"],
        ),
        ("host-cli/sandbox", &[]),
        ("host-cli/smallest-value", &[]),
        (
            "host-cli/mcp-protocol",
            &[
                "agent-diagnostic",
                "agent-syntax",
                "agent-text",
                "agent-way-out",
            ],
        ),
        (
            "host-cli/mcp-server",
            &[
                "agent-host",
                "agent-mcp-protocol",
                "agent-ownership",
                "agent-syntax",
            ],
        ),
        (
            "host-cli/tasks",
            &[
                "agent-host",
                "agent-ownership",
                "agent-runners",
                "agent-sandbox",
                "agent-wasi-app",
                "agent-way-out",
            ],
        ),
        ("host-cli/telemetry", &["agent-host", "agent-syntax"]),
        (
            "host-cli/wasi-app",
            &["agent-aot", "agent-host", "agent-pack"],
        ),
        ("host-cli/way-out", &["agent-text"]),
        (
            "playground",
            &["agent-ui", "agent-answer", "agent-worker-protocol"],
        ),
        ("playground/ui", &["agent-answer", "agent-worker-protocol"]),
        (
            "playground/plans-page",
            &["agent-ui", "agent-answer", "agent-worker-protocol"],
        ),
        (
            "playground/session-page",
            &["agent-ui", "agent-answer", "agent-worker-protocol"],
        ),
        (
            "playground/review-page",
            &["agent-ui", "agent-answer", "agent-worker-protocol"],
        ),
        ("playground/worker-protocol", &["agent-answer"]),
        (
            "playground/worker",
            &[
                "agent-answer",
                "agent-api",
                "agent-worker-protocol",
                // For the run of a plan, and for sessions, which are separate modules.
                "agent-run",
                "agent-session",
                "agent-smallest-value",
                "agent-syntax",
            ],
        ),
    ];
    for (package, allowed) in allowed {
        let path = root().join(package).join("Cargo.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let found = dependencies(&text);
        assert!(!found.is_empty(), "{package} has dependencies");
        for name in found.iter().filter(|name| name.starts_with("agent-")) {
            if !allowed.contains(&&**name) {
                failures.add(package, format!("depends on {name}"));
            }
        }
    }
    failures.finish();
}

/// The files of the host without their tests that name something, with what they name, in order. Tests and the
/// programs for them connect to their own servers.
fn naming(names: &[&'static str]) -> Vec<(String, &'static str)> {
    let host = root().join("host-cli");
    let mut found: Vec<_> = files(&host, "rs")
        .into_iter()
        .map(|path| path.strip_prefix(&host).expect("inside").to_owned())
        .filter(|path| {
            !path
                .components()
                .any(|part| part.as_os_str() == "tests" || part.as_os_str() == "examples")
        })
        .flat_map(|path| {
            let mut lines = code(&host.join(&path));
            let tests = lines
                .windows(2)
                .position(|pair| pair[0].1 == "#[cfg(test)]" && pair[1].1 == "mod tests {");
            lines.truncate(tests.unwrap_or(lines.len()));
            let named = names
                .iter()
                .filter(move |name| lines.iter().any(|(_, line)| line.contains(**name)));
            named.map(move |name| (path.display().to_string(), *name))
        })
        .collect();
    found.sort();
    found
}

/// A unit test in a library that runs none would never fail.
#[test]
fn libraries_without_unit_tests_say_so() {
    let mut count = 0;
    let folders = ["component", "engine", "host-cli", "playground", "tests"];
    let manifests = folders.map(|folder| files(&root().join(folder), "toml"));
    for manifest in manifests.into_iter().flatten() {
        if manifest.file_name().is_none_or(|name| name != "Cargo.toml") {
            continue;
        }
        let text = fs::read_to_string(&manifest).expect("a manifest");
        let Some((_, lib)) = text.split_once("[lib]\n") else {
            continue;
        };
        let lib = lib.split("\n[").next().unwrap_or_default();
        let sources = manifest.with_file_name("src");
        if !lib.lines().any(|line| line == "test = false") || !sources.is_dir() {
            continue;
        }
        count += 1;
        for path in files(&sources, "rs") {
            let tests = code(&path).iter().any(|(_, line)| line == "#[cfg(test)]");
            assert!(!tests, "{} has tests that do not run", path.display());
        }
    }
    assert!(count > 2, "{count} libraries without unit tests");
}

#[test]
fn clocks_random_bytes_and_signals_have_one_home() {
    const READINGS: [&str; 5] = [
        "SystemTime::now",
        "getrandom::",
        "jiff::",
        "signal::unix",
        "signal::ctrl_c",
    ];
    let expected = [
        ("host/src/clock.rs", "SystemTime::now"),
        ("host/src/random.rs", "getrandom::"),
        ("host/src/signals.rs", "signal::unix"),
        ("host/src/zone.rs", "jiff::"),
    ];
    let expected = expected.map(|(path, name)| (path.to_owned(), name));
    assert_eq!(naming(&READINGS), expected);
}

#[test]
fn the_resolver_alone_has_no_other_interface() {
    let world = fs::read_to_string(root().join("wit/engine/world.wit")).unwrap();
    let (_, whole) = world.split_once("include resolver-only;").unwrap();
    let source = fs::read_to_string(root().join("component/src/lib.rs")).unwrap();
    let exports = whole
        .lines()
        .filter_map(|line| line.trim().strip_prefix("export "));
    let modules: Vec<_> = exports
        .map(|it| it.trim_end_matches(';').replace('-', "_"))
        .collect();
    assert!(modules.len() > 10, "{modules:?}");
    for module in modules {
        let gated = format!("#[cfg(feature = \"full\")]\nmod {module};");
        assert!(
            source.contains(&gated),
            "`{module}` is in the resolver alone"
        );
    }
}

#[test]
fn every_layer_is_fast_in_the_component() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let layers_of = |profile: &str| {
        let head = format!("[profile.{profile}.package.agent-");
        let sections = manifest.lines().filter_map(|line| line.strip_prefix(&head));
        let mut layers: Vec<_> = sections.map(|rest| rest.trim_end_matches(']')).collect();
        layers.sort_unstable();
        layers
    };
    let mut layers = LAYERS;
    layers.sort_unstable();
    assert_eq!(layers_of("component"), layers);
    for layer in layers_of("dev") {
        assert!(layers.contains(&layer), "{layer} is no layer");
    }
}

#[test]
fn no_example_of_the_documentation_is_left_out() {
    let mut failures = Failures::default();
    for parent in ["component", "engine", "host-cli", "playground", "tests"] {
        for manifest in files(&root().join(parent), "toml") {
            let text = fs::read_to_string(&manifest).expect("a manifest");
            let source = manifest.with_file_name("src");
            if !text.contains("\ndoctest = false\n") || !source.is_dir() {
                continue;
            }
            for path in files(&source, "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                // Rust is the language of a block without another one.
                let mut is_open = false;
                for line in text.lines().map(str::trim_start) {
                    let fence = line
                        .strip_prefix("/// ```")
                        .or(line.strip_prefix("//! ```"));
                    if let Some(language) = fence {
                        if !is_open && matches!(language, "" | "rust" | "no_run" | "should_panic") {
                            failures.add(&path.display().to_string(), "its example is not run");
                        }
                        is_open = !is_open;
                    }
                }
            }
        }
    }
    failures.finish();
}

#[test]
fn only_the_way_out_opens_connections() {
    const NETWORK: [&str; 25] = [
        "SYS_connect",
        "SYS_socket,",
        "TcpListener",
        "TcpSocket",
        "TcpStream",
        "ToSocketAddrs",
        "UdpSocket",
        "UnixDatagram",
        "UnixListener",
        "UnixStream",
        "getaddrinfo",
        "hyper::client",
        "hyper_util::client",
        "hyper::server",
        "libc::bind",
        "libc::connect",
        "libc::listen",
        "libc::socket",
        "lookup_host",
        "mio::",
        "reqwest",
        "rustix::net",
        "socket2",
        "tokio_rustls",
        "ureq",
    ];
    let found = naming(&NETWORK);
    let mut expected = vec![
        // The gateway of apps listens on loopback, and connects to the Unix sockets of tasks.
        ("app-proxy/src/app.rs", "UnixStream"),
        ("app-proxy/src/app.rs", "hyper::client"),
        ("app-proxy/src/connection.rs", "TcpStream"),
        ("app-proxy/src/connection.rs", "hyper::server"),
        ("app-proxy/src/listener.rs", "TcpListener"),
        ("app-proxy/src/pool.rs", "UnixStream"),
        ("app-proxy/src/stream.rs", "TcpStream"),
        // The answer of a login comes from the user's browser, on loopback.
        ("login/src/redirect.rs", "TcpListener"),
        // The gateway says its status at a socket of this user.
        ("serve/src/control.rs", "UnixListener"),
        ("serve/src/control.rs", "UnixStream"),
        // The test of a runner asks its app, in a network that has loopback only.
        ("runners/src/conformance/client.rs", "TcpSocket"),
        // The socket of a proxy goes on to the supervisor of a task.
        ("runners/src/session.rs", "TcpListener"),
        // Clients are served on loopback.
        ("mcp-server/src/listener.rs", "TcpListener"),
        ("mcp-server/src/listener.rs", "hyper::server"),
        // Enforcement points ask the decision point at a socket of this user. A left one is tried.
        ("mcp-server/src/private_socket.rs", "UnixListener"),
        ("mcp-server/src/private_socket.rs", "UnixStream"),
        // Callers reach the decision point over TLS. The status of a fleet is asked at sockets of this user.
        ("pdp/src/fleet.rs", "UnixStream"),
        ("pdp/src/fleet.rs", "hyper::client"),
        ("pdp/src/network.rs", "TcpListener"),
        ("pdp/src/network.rs", "TcpStream"),
        ("pdp/src/network.rs", "tokio_rustls"),
        // The socket at which a sandbox's proxy listens goes from the command's network to the way out.
        ("sandbox/src/child.rs", "TcpListener"),
        ("sandbox/src/linux/launch.rs", "TcpListener"),
        ("sandbox/src/linux/listener.rs", "TcpListener"),
        ("sandbox/src/linux/listener.rs", "rustix::net"),
        // Sockets of a command's network, which reach its ports.
        ("sandbox/src/inside.rs", "TcpStream"),
        ("sandbox/src/linux/network_namespace.rs", "rustix::net"),
        ("sandbox/src/linux/supervisor.rs", "TcpListener"),
        // The filter of system calls names the call that it limits.
        ("sandbox/src/linux/seccomp.rs", "SYS_socket,"),
        // A supervisor passes bytes between a task's socket and its app's network, which has loopback only.
        ("tasks/src/sockets.rs", "UnixListener"),
        ("tasks/src/sockets.rs", "UnixStream"),
        ("tasks/src/supervisor/bridge.rs", "TcpSocket"),
        ("tasks/src/supervisor/bridge.rs", "TcpStream"),
        ("tasks/src/supervisor/bridge.rs", "UnixListener"),
        ("tasks/src/supervisor/bridge.rs", "UnixStream"),
        ("tasks/src/supervisor/connections.rs", "UnixListener"),
        ("tasks/src/supervisor/connections.rs", "UnixStream"),
        ("tasks/src/supervisor/mod.rs", "UnixListener"),
        ("tasks/src/supervisor/waiting.rs", "UnixListener"),
        ("tasks/src/supervisor/waiting.rs", "UnixStream"),
        // Apps that are components are served at a stream that their supervisor accepted.
        ("wasi-app/src/app.rs", "hyper::server"),
        // A trial run must not reach a listener outside of its sandbox.
        ("sandbox/src/linux/trial.rs", "TcpListener"),
        ("way-out/src/connection.rs", "hyper::client"),
        ("way-out/src/proxy.rs", "TcpListener"),
        ("way-out/src/proxy.rs", "TcpStream"),
        ("way-out/src/resolve.rs", "ToSocketAddrs"),
        ("way-out/src/way_out.rs", "TcpStream"),
        ("way-out/src/way_out.rs", "tokio_rustls"),
    ];
    expected.sort_unstable();
    let expected = expected
        .into_iter()
        .map(|(path, name)| (path.to_owned(), name));
    assert_eq!(found, Vec::from_iter(expected));
}

#[test]
fn the_host_has_one_client_of_http_and_one_of_tls() {
    /// Clients of HTTP, implementations of TLS and resolvers that nothing may bring along.
    const OTHERS: [&str; 20] = [
        "attohttpc",
        "boring",
        "curl",
        "h3",
        "hickory-resolver",
        "hyper-rustls",
        "hyper-tls",
        "isahc",
        "minreq",
        "native-tls",
        "openssl",
        "openssl-sys",
        "quinn",
        "reqwest",
        "s2n-tls",
        "surf",
        "tokio-tungstenite",
        "trust-dns-resolver",
        "tungstenite",
        "ureq",
    ];
    /// The client of registries, which the program for fleets alone has: what depends on it, and what it brings along.
    const REGISTRY: (&str, [&str; 1]) = ("oci-client", ["agent-pdp"]);
    const BROUGHT: [(&str, &str); 2] = [("oci-client", "reqwest"), ("reqwest", "hyper-rustls")];
    /// The chosen ones, with the packages that depend on them.
    const CHOSEN: [(&str, &[&str]); 7] = [
        (REGISTRY.0, &REGISTRY.1),
        // Decision points share a store, which speaks a protocol of its own over TLS.
        ("async-nats", &["agent-bench", "agent-pdp"]),
        // Envoy asks the decision point by gRPC. Its tests ask like Envoy.
        ("tonic", &["agent-pdp", "envoy-types", "tonic-prost"]),
        // Clients are served, also those of apps; the gateway answers requests for its page, and the daemon those for
        // verbs. A measurement compares the gateway with a proxy of others. A test of
        // `agent-mcp-protocol` serves a peer that is not ours. `wasmtime-wasi-http` has types of
        // hyper, and its requests go to a hook of ours.
        (
            "hyper",
            &[
                "agent-app-proxy",
                "agent-bench",
                "agent-daemon",
                "agent-mcp-protocol",
                "agent-mcp-server",
                "agent-page-server",
                "agent-pdp",
                "agent-serve",
                "agent-wasi-app",
                "agent-way-out",
                "hyper-rustls",
                "hyper-timeout",
                "hyper-util",
                "reqwest",
                "tonic",
                "wasmtime-wasi-http",
            ],
        ),
        (
            "hyper-util",
            &[
                "agent-app-proxy",
                "agent-bench",
                "agent-mcp-protocol",
                "agent-mcp-server",
                "agent-pdp",
                "agent-wasi-app",
                "agent-way-out",
                "hyper-rustls",
                "hyper-timeout",
                "reqwest",
                "tonic",
            ],
        ),
        // The decision point serves its callers.
        (
            "rustls",
            &[
                "agent-pdp",
                "agent-way-out",
                "hyper-rustls",
                "reqwest",
                "rustls-platform-verifier",
                "tokio-rustls",
            ],
        ),
        (
            "tokio-rustls",
            &[
                "agent-pdp",
                "agent-way-out",
                "async-nats",
                "hyper-rustls",
                "reqwest",
            ],
        ),
    ];
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("the lock");
    let packages: Vec<_> = lock.split("[[package]]").skip(1).map(locked).collect();
    assert!(packages.len() > 100, "the lock is read");
    let mut failures = Failures::default();
    for (name, dependencies) in &packages {
        let others = dependencies.iter().filter(|it| OTHERS.contains(it));
        for other in others.filter(|it| !BROUGHT.contains(&(name, it))) {
            failures.add(name, format!("depends on {other}"));
        }
    }
    for (chosen, users) in CHOSEN {
        let mut found: Vec<_> = packages
            .iter()
            .filter(|(_, dependencies)| dependencies.contains(&chosen))
            .map(|(name, _)| *name)
            .collect();
        found.dedup();
        if found != users {
            failures.add(chosen, format!("is used by {found:?}"));
        }
    }
    failures.finish();
}

/// Returns the name and the dependencies of a package in `Cargo.lock`.
fn locked(package: &str) -> (&str, Vec<&str>) {
    let name = package
        .lines()
        .find(|line| line.starts_with("name = "))
        .and_then(|line| line.split('"').nth(1));
    let listed = package.split_once("dependencies = [").map(|(_, list)| list);
    let listed = listed.and_then(|list| list.split_once(']'));
    let entries = listed.map_or("", |(list, _)| list).lines();
    // An entry is a name, with a version where there are several.
    let names = entries.filter_map(|line| line.split('"').nth(1)?.split(' ').next());
    (name.unwrap_or_default(), names.collect())
}

#[test]
fn one_module_of_each_page_knows_its_engine_and_one_for_all_the_editor() {
    let playground = root().join("playground");
    let naming = |what: &str| -> Vec<_> {
        let sources = [
            "src",
            "plans-page/src",
            "review-page/src",
            "session-page/src",
            "ui/src",
        ];
        sources
            .into_iter()
            .flat_map(|source| files(&playground.join(source), "rs"))
            .filter(|path| code(path).iter().any(|(_, line)| line.contains(what)))
            .map(|path| path.strip_prefix(&playground).expect("inside").to_owned())
            .collect()
    };
    let path = |path: &str| vec![PathBuf::from(path)];
    assert_eq!(naming("engine/worker.js"), path("src/engine.rs"));
    assert_eq!(
        naming("engine/plans/worker.js"),
        path("plans-page/src/engine.rs")
    );
    assert_eq!(
        naming("engine/session/worker.js"),
        path("session-page/src/engine.rs")
    );
    assert_eq!(
        naming("engine/policy/review.js"),
        path("review-page/src/engine.rs")
    );
    assert_eq!(naming("WorkerOptions"), path("ui/src/worker.rs"));
    assert_eq!(naming("editor/editor.js"), path("ui/src/editor.rs"));
}

#[test]
fn dependencies_are_found_in_every_spelling() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = \"1\"\n\
                    [dev-dependencies]\nc = { package = \"d\", version = \"1\" }\n\
                    [target.'cfg(unix)'.dependencies]\n\"e\" = \"1\"\n[build-dependencies.f]\nversion = \"1\"\n\
                    [features]\ng = []\n";
    assert_eq!(dependencies(manifest), ["a", "b", "c", "d", "e", "f"]);
}

#[test]
fn the_world_of_the_component_imports_nothing() {
    let mut worlds = 0;
    for path in files(&root().join("wit/engine"), "wit") {
        for (number, line) in code(&path) {
            let line = line.trim();
            worlds += usize::from(line.starts_with("world "));
            // The one world includes the other, and nothing from elsewhere.
            let included = line.strip_prefix("include ");
            assert!(
                !line.starts_with("import ") && included.is_none_or(|it| it == "resolver-only;"),
                "{}:{number}: {line}",
                path.display()
            );
        }
    }
    assert_eq!(
        worlds, 2,
        "the components of these worlds are built, and refused if they have an import"
    );
}

/// Compares a list of codes in a file with the catalogue. `cargo xtask bless` adds what is missing, behind the last entry.
fn lists_the_catalogue(
    path: &str,
    named: impl Fn(&str) -> Option<String>,
    entry: impl Fn(Code) -> (String, String),
) {
    let text = fs::read_to_string(root().join(path)).expect("a list of codes");
    let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
    let found: Vec<_> = lines.iter().map(|line| named(line.trim())).collect();
    let last = found.iter().rposition(Option::is_some).expect("codes");
    let found: BTreeSet<_> = found.into_iter().flatten().collect();
    let entries = Code::ALL.iter().map(|code| entry(*code));
    let entries: BTreeMap<_, _> = entries.collect();
    let other: Vec<_> = found
        .iter()
        .filter(|it| !entries.contains_key(*it))
        .collect();
    assert!(
        other.is_empty(),
        "{path} has no codes of the catalogue: {other:?}"
    );
    let missing = entries
        .into_iter()
        .filter(|(name, _)| !found.contains(name));
    let missing: Vec<_> = missing.map(|(_, entry)| entry).collect();
    if blessing() && !missing.is_empty() {
        lines.splice(last + 1..last + 1, missing);
        fs::write(root().join(path), lines.concat()).expect("the list is written");
    } else {
        assert!(
            missing.is_empty(),
            "{path} lacks, and `cargo xtask bless` adds: {missing:?}"
        );
    }
}

#[test]
fn the_contract_lists_the_catalogue() {
    let text = fs::read_to_string(root().join("wit/engine/diagnostic.wit")).expect("the contract");
    let (before, codes) = text.split_once("enum code {").expect("the codes");
    let (codes, _) = codes.split_once('}').expect("their end");
    let cases: BTreeSet<_> = codes.lines().map(str::trim).collect();
    assert!(
        !before
            .lines()
            .any(|line| cases.contains(line.trim()) && line.ends_with(','))
    );
    let named = |line: &str| {
        let case = line.strip_suffix(',').filter(|_| cases.contains(line))?;
        Some(case.to_uppercase().replace('-', "_"))
    };
    lists_the_catalogue("wit/engine/diagnostic.wit", named, |code| {
        let name = contract_case(code);
        let (first, rest) = code.title().split_at(1);
        let case = name.to_lowercase().replace('_', "-");
        let doc = format!("{}{rest}", first.to_uppercase());
        (name, format!("        /// {doc}.\n        {case},\n"))
    });
}

#[test]
fn the_summary_of_the_book_lists_the_catalogue() {
    let named = |line: &str| {
        let (name, path) = line.strip_prefix("- [")?.split_once("](reference/codes/")?;
        (path != "index.md)").then(|| name.to_owned())
    };
    lists_the_catalogue("docs/SUMMARY.md", named, |code| {
        let (name, page) = (code.name().to_owned(), code.page());
        let entry = format!("  - [{name}](reference/codes/{page}.md)\n");
        (name, entry)
    });
}

#[test]
fn every_item_of_the_contract_says_since_when_it_is_there() {
    let mut failures = Failures::default();
    for path in files(&root().join("wit/engine"), "wit") {
        let lines = code(&path);
        for (before, (number, line)) in lines.iter().map(|(_, line)| line.trim()).zip(&lines[1..]) {
            let line = line.trim();
            let item = [
                "interface ",
                "world ",
                "record ",
                "variant ",
                "enum ",
                "resource ",
                "export ",
                "flags ",
            ]
            .iter()
            .any(|keyword| line.starts_with(keyword))
                || line.contains(": func(")
                || line.contains(": static func(")
                || line.starts_with("constructor(");
            if item && !before.starts_with("@since(version = ") && !line.starts_with("export ") {
                failures.add(&format!("{}:{number}", path.display()), line);
            }
        }
    }
    failures.finish();
}
