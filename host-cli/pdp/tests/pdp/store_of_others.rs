//! Decision points that share a bucket of the real NATS, which `cargo xtask test` installs.

use super::bundle::{self, END};
use super::envoy::{Became, Client, Question};
use super::ext_proc::Exchange;
use super::network::{Authority, with_certificates};
use super::openapi::{document, fits};
use super::support::{Folder, Reply, Running, reply};
use agent_syntax::members::{boolean, member, number, string};
use async_nats::ConnectOptions;
use async_nats::jetstream::kv::Config;
use async_nats::jetstream::stream::StorageType;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The calls that the folder's server takes within a minute.
const LIMIT: usize = 3;

/// The configuration of the server, in its folder.
const CONFIG: &str = "nats.conf";

/// A running server, which is killed at last.
struct Nats {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Nats {
    /// Starts a server with the usual bucket.
    fn start() -> Self {
        let nats = Self::empty();
        nats.make(usual());
        nats
    }

    fn empty() -> Self {
        Self::with("")
    }

    /// Starts a server with more lines of configuration, without a bucket.
    fn with(lines: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let store = folder.path().join("store");
        let text = format!(
            "listen: 127.0.0.1:{port}\njetstream {{ store_dir: {store:?}, sync_interval: always }}\n{lines}"
        );
        std::fs::write(folder.path().join(CONFIG), text).unwrap();
        Self {
            child: spawn(folder.path(), port),
            port,
            folder,
        }
    }

    fn make(&self, config: Config) {
        self.make_by(&self.address(), ConnectOptions::new(), config);
    }

    fn make_by(&self, address: &str, options: ConnectOptions, config: Config) {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async {
            let client = options.connect(address).await.unwrap();
            let context = async_nats::jetstream::new(client);
            context.create_key_value(config).await.unwrap();
        });
    }

    fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn restart(&mut self) {
        self.child = spawn(self.folder.path(), self.port);
    }
}

/// A port that nobody takes in between, as long as no other test asks for this one.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The bucket that decision points use if they are not given another.
fn usual() -> Config {
    Config {
        bucket: "agent-pdp".to_owned(),
        history: 1,
        ..Config::default()
    }
}

fn spawn(folder: &Path, port: u16) -> Child {
    let program = std::env::var("AGENT_TEST_NATS").expect("`cargo xtask test` names it");
    let child = Command::new(program)
        .arg("--config")
        .arg(folder.join(CONFIG))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait("the server listens", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    child
}

/// Waits until something is so.
fn wait(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        sleep(Duration::from_millis(50));
    }
}

/// Carries bytes between a decision point and its store.
struct Relay {
    port: u16,
    /// Whether bytes to the store are lost, and bytes from it.
    lost: Arc<[AtomicBool; 2]>,
    /// Whether bytes from the store are lost as soon as something is written.
    waits_for_writing: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = Self {
            port: listener.local_addr().unwrap().port(),
            lost: Arc::default(),
            waits_for_writing: Arc::default(),
            streams: Arc::default(),
        };
        let (lost, streams) = (Arc::clone(&relay.lost), Arc::clone(&relay.streams));
        let waits_for_writing = Arc::clone(&relay.waits_for_writing);
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else {
                    continue;
                };
                let copies = [&near, &far].map(|it| it.try_clone().unwrap());
                streams.lock().unwrap().extend(copies);
                let ways = [(&near, &far, 0), (&far, &near, 1)];
                for (from, to, way) in ways {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let lost = Arc::clone(&lost);
                    let waits = Arc::clone(&waits_for_writing);
                    thread::spawn(move || {
                        carry(from, to, |bytes| {
                            if is_writing(bytes) && waits.swap(false, Ordering::SeqCst) {
                                lost[1].store(true, Ordering::SeqCst);
                            }
                            !lost[way].load(Ordering::SeqCst)
                        });
                    });
                }
            }
        });
        relay
    }

    fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Loses bytes to the store, and bytes from it, from now on.
    fn lose(&self, to: bool, from: bool) {
        self.lost[0].store(to, Ordering::SeqCst);
        self.lost[1].store(from, Ordering::SeqCst);
    }

    /// Loses nothing more. What was lost is noticed on new connections alone.
    fn heal(&self) {
        self.lose(false, false);
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Returns whether a value is written by these bytes.
fn is_writing(bytes: &[u8]) -> bool {
    let wanted = b"HPUB $KV.";
    bytes.windows(wanted.len()).any(|it| it == wanted)
}

/// Carries the bytes that pass.
fn carry(mut from: TcpStream, mut to: TcpStream, passes: impl Fn(&[u8]) -> bool) {
    let mut bytes = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if passes(&bytes[..read]) && to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// A decision point of the folder under a name of its own, with a store.
fn start(folder: &Folder, name: &str, store: &str) -> Running {
    let socket = format!("{name}.sock");
    let mut command = folder.command_at(&socket);
    let child = command.args(["--store", store]).spawn().unwrap();
    Running::of(child, folder.path(&socket))
}

fn call(subject: &str, tool: &str) -> String {
    format!(r#"{{"tool":"{tool}","arguments":{{}},"subject":{{"id":"{subject}","type":"user"}}}}"#)
}

fn is_allowed(reply: &Reply) -> bool {
    let json = reply.json();
    reply.status == 200 && member(&json, "allowed").and_then(boolean) == Some(true)
}

/// Returns the code of an answer without a decision.
fn error(reply: &Reply) -> String {
    let json = reply.json();
    let error = member(&json, "error").unwrap_or_else(|| panic!("{}", reply.body));
    member(error, "code")
        .and_then(string)
        .unwrap_or_default()
        .to_owned()
}

/// Asks decision points about calls of clients at once, again and again. Returns how many calls each client may make.
fn hammer(sockets: &[PathBuf], clients: &[&str], times: usize) -> BTreeMap<String, usize> {
    let allowed = Arc::new(Mutex::new(BTreeMap::new()));
    let mut threads = Vec::new();
    for socket in sockets {
        for client in clients {
            let (socket, client) = (socket.clone(), (*client).to_owned());
            let allowed = Arc::clone(&allowed);
            threads.push(thread::spawn(move || {
                for _ in 0..times {
                    let Some(reply) = try_post(&socket, &call(&client, "records/count")) else {
                        // It was killed.
                        sleep(Duration::from_millis(20));
                        continue;
                    };
                    if is_allowed(&reply) {
                        *allowed.lock().unwrap().entry(client.clone()).or_insert(0) += 1;
                    }
                }
            }));
        }
    }
    threads.into_iter().for_each(|it| it.join().unwrap());
    Arc::into_inner(allowed).unwrap().into_inner().unwrap()
}

/// Asks a decision point that may be gone.
fn try_post(socket: &PathBuf, body: &str) -> Option<Reply> {
    let mut stream = std::os::unix::net::UnixStream::connect(socket).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let length = body.len();
    let request = format!(
        "POST /v1/decide HTTP/1.1\r\nhost: pdp\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    (!answer.is_empty()).then(|| reply(answer))
}

fn sockets(all: &[&Running]) -> Vec<PathBuf> {
    all.iter().map(|it| it.socket.clone()).collect()
}

#[test]
fn three_processes_allow_what_the_quota_allows() {
    let (nats, folder) = (Nats::start(), Folder::new());
    let all = ["a", "b", "c"].map(|name| start(&folder, name, &nats.address()));
    let clients = ["alice", "bob", "carol", "dave"];
    let allowed = hammer(&sockets(&all.each_ref()), &clients, 8);
    for client in clients {
        assert_eq!(allowed.get(client), Some(&LIMIT), "{allowed:?}");
    }
    let over = all[1].decide(&call("alice", "records/count"));
    assert_eq!(over.codes(), ["QUOTA_EXCEEDED"]);
    // What no state decides is answered without the store.
    assert_eq!(all[1].decide(&call("alice", "read")).codes(), [""; 0]);
    let status = all[2].get("/v1/status");
    let json = status.json();
    let store = member(&json, "store").unwrap();
    assert_eq!(member(store, "connected").and_then(boolean), Some(true));
}

#[test]
fn processes_and_a_store_that_are_killed_allow_no_call_more() {
    let (mut nats, folder) = (Nats::start(), Folder::new());
    let mut all = ["a", "b", "c"].map(|name| start(&folder, name, &nats.address()));
    let asked = sockets(&all.each_ref());
    let clients: Vec<_> = (0..6).map(|it| format!("client {it}")).collect();
    let hammering = thread::spawn({
        let asked = asked.clone();
        let clients = clients.clone();
        move || {
            let clients: Vec<_> = clients.iter().map(|it| &**it).collect();
            hammer(&asked, &clients, 40)
        }
    });
    for round in 0..3 {
        sleep(Duration::from_millis(150));
        nats.kill();
        let refused = loop {
            let reply = all[2].decide(&call("another", "records/count"));
            if reply.status != 200 {
                break reply;
            }
        };
        assert_eq!(
            (refused.status, &*error(&refused)),
            (503, "STATE_UNAVAILABLE")
        );
        nats.restart();
        let name = ["a", "b"][round % 2];
        let killed = round % 2;
        all[killed].child.kill().unwrap();
        all[killed].child.wait().unwrap();
        all[killed] = start(&folder, name, &nats.address());
    }
    let mut allowed = hammering.join().unwrap();
    wait("the store answers again", || {
        let asked = all[2].decide(&call("last", "records/count"));
        asked.status == 200
    });
    let clients: Vec<_> = clients.iter().map(|it| &**it).collect();
    for (client, more) in hammer(&asked, &clients, 2) {
        *allowed.entry(client).or_insert(0) += more;
    }
    assert!(!allowed.is_empty());
    assert!(allowed.values().all(|it| *it <= LIMIT), "{allowed:?}");
}

#[test]
fn a_process_without_its_store_allows_nothing() {
    let (nats, folder) = (Nats::start(), Folder::new());
    let relay = Relay::to(nats.port);
    let (near, far) = (
        start(&folder, "near", &nats.address()),
        start(&folder, "far", &relay.address()),
    );
    let asked = call("alice", "records/count");
    assert!(is_allowed(&far.decide(&asked)));
    // The store gets the next writing, and the process never learns of it.
    relay.lose(false, true);
    let lost = far.decide(&asked);
    assert_eq!((lost.status, &*error(&lost)), (503, "STATE_UNAVAILABLE"));
    relay.lose(true, true);
    let cut = far.decide(&asked);
    assert_eq!((cut.status, &*error(&cut)), (503, "STATE_UNAVAILABLE"));
    // What needs no state is still decided.
    assert!(is_allowed(&far.decide(&call("alice", "read"))));
    let allowed = hammer(&sockets(&[&near]), &["alice"], 4);
    assert!(
        allowed.get("alice").copied().unwrap_or_default() < LIMIT,
        "{allowed:?}"
    );
    relay.heal();
    wait("the process has its store again", || {
        far.decide(&asked).status == 200
    });
    assert_eq!(far.decide(&asked).codes(), ["QUOTA_EXCEEDED"]);
    assert_eq!(near.decide(&asked).codes(), ["QUOTA_EXCEEDED"]);
}

#[test]
fn a_writing_whose_answer_is_lost_counts() {
    let (nats, folder) = (Nats::start(), Folder::new());
    let relay = Relay::to(nats.port);
    let (near, far) = (
        start(&folder, "near", &nats.address()),
        start(&folder, "far", &relay.address()),
    );
    let asked = call("alice", "records/count");
    assert!(is_allowed(&far.decide(&asked)));
    relay.waits_for_writing.store(true, Ordering::SeqCst);
    let lost = far.decide(&asked);
    assert_eq!((lost.status, &*error(&lost)), (503, "STATE_UNAVAILABLE"));
    let allowed = hammer(&sockets(&[&near]), &["alice"], 4);
    assert_eq!(allowed.get("alice"), Some(&(LIMIT - 2)));
}

#[test]
fn a_human_approves_at_another_process() {
    let (nats, folder) = (Nats::start(), Folder::new());
    let [one, other] = ["a", "b"].map(|name| start(&folder, name, &nats.address()));
    let asked = call("alice", "records/sign");
    let first = one.decide(&asked);
    assert_eq!(first.codes(), ["APPROVAL_REQUIRED"]);
    let json = first.json();
    let approval = member(&json, "approval").unwrap();
    let id = member(approval, "id").and_then(string).unwrap();
    assert!(
        member(approval, "expires_unix_ms")
            .and_then(number)
            .is_some()
    );
    let shown = other.post("/v1/approval", &format!(r#"{{"id":"{id}"}}"#));
    let document = document();
    let schema = |name: &str| format!("/components/schemas/{name}");
    for (name, text) in [
        ("Decision", &first.body),
        ("Approval", &shown.body),
        ("Status", &one.get("/v1/status").body),
    ] {
        assert!(fits(&document, &schema(name), text), "{text}");
    }
    let json = shown.json();
    assert_eq!(
        member(&json, "text").and_then(string),
        Some("The client `alice` (user) calls `sign` of `records` with {}")
    );
    assert!(member(&json, "answer").is_none());
    for (body, status) in [
        (r#"{"id":"x"}"#.to_owned(), 404),
        (
            r#"{"id":"00000000000000000000000000000000-1"}"#.to_owned(),
            404,
        ),
        (format!(r#"{{"id":"{id}","answer":1}}"#), 400),
        (format!(r#"{{"id":"{id}","yes":true}}"#), 400),
    ] {
        assert_eq!(other.post("/v1/approval", &body).status, status, "{body}");
    }
    assert_eq!(one.decide(&asked).codes(), ["APPROVAL_REQUIRED"]);
    let answer = format!(r#"{{"id":"{id}","answer":true}}"#);
    assert!(fits(&document, &schema("ApprovalAnswer"), &answer));
    assert_eq!(other.post("/v1/approval", &answer).status, 200);
    other.wait_for(&format!("this user approved {id}"));
    assert_eq!(other.post("/v1/approval", &answer).status, 404);
    assert!(is_allowed(&one.decide(&asked)));
    assert_eq!(one.decide(&asked).codes(), ["APPROVAL_REQUIRED"]);
}

#[test]
fn envoy_asks_after_what_is_kept() {
    let (mut nats, folder) = (Nats::start(), Folder::new());
    let one = start(&folder, "a", &nats.address());
    let client = Client::of(&one.socket);
    let ask = || client.ask(Question::called("count", "{}"));
    let passes = |became: Became| matches!(became, Became::Passed(_));
    assert!(passes(ask()) && passes(ask()));
    let post = || {
        let text = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"count"}}"#;
        Exchange::open(&one).post(text)
    };
    // Nothing is answered in the server's place.
    assert_eq!(post(), None);
    let answered = |became: Became, expected: u16, code: &str| {
        let Became::Answered(status, body) = became else {
            panic!("it passes");
        };
        assert_eq!(status, u32::from(expected), "{body}");
        assert!(body.contains(code), "{body}");
    };
    answered(ask(), 200, "QUOTA_EXCEEDED");
    let (status, body) = post().expect("an answer");
    assert!(status == 200 && body.contains("QUOTA_EXCEEDED"), "{body}");
    // It is one count, whoever asks.
    let asked = one.decide(&call("alice", "records/count"));
    assert_eq!(asked.codes(), ["QUOTA_EXCEEDED"]);
    answered(
        client.ask(Question::called("sign", "{}")),
        200,
        "APPROVAL_REQUIRED",
    );
    nats.kill();
    wait("the store is gone", || {
        one.decide(&call("bob", "records/count")).status == 503
    });
    answered(ask(), 503, "STATE_UNAVAILABLE");
    let (status, body) = post().expect("an answer");
    assert!(
        status == 503 && body.contains("STATE_UNAVAILABLE"),
        "{body}"
    );
    assert!(passes(client.ask(Question::called("read", "{}"))));
}

#[test]
fn a_search_counts_no_call() {
    let (nats, folder) = (Nats::start(), Folder::new());
    let one = start(&folder, "a", &nats.address());
    let search = r#"{"subject":{"type":"user","id":"alice"},"action":{"name":"tools/call","properties":{"arguments":{}}},"resource":{"type":"tool"}}"#;
    for _ in 0..=LIMIT {
        let found = one.post("/access/v1/search/resource", search);
        assert!(found.body.contains("records/count"), "{}", found.body);
    }
    let evaluation = r#"{"subject":{"type":"user","id":"alice"},"action":{"name":"tools/call"},"resource":{"type":"tool","id":"records/count"}}"#;
    let decide = || one.post("/access/v1/evaluation", evaluation).decision();
    assert_eq!(
        [decide(), decide(), decide(), decide()],
        [true, true, true, false]
    );
    let found = one.post("/access/v1/search/resource", search);
    assert!(!found.body.contains("records/count"), "{}", found.body);
}

#[test]
fn a_bucket_that_may_lose_values_is_refused() {
    let (nats, folder) = (Nats::empty(), Folder::new());
    let bucket = |name: &str| Config {
        bucket: name.to_owned(),
        history: 1,
        ..Config::default()
    };
    nats.make(Config {
        storage: StorageType::Memory,
        ..bucket("memory")
    });
    nats.make(Config {
        max_age: Duration::from_secs(60),
        ..bucket("short")
    });
    let address = nats.address();
    for (more, text) in [
        (&["--store-bucket", "memory"][..], "it is kept in memory"),
        (
            &["--store-bucket", "none"],
            "the bucket `none` can't be used",
        ),
        (
            &["--store-credentials", "policy.rego"],
            "other users can read the key `policy.rego`",
        ),
    ] {
        let arguments = [&["--store", &*address], more].concat();
        let (code, said) = folder.failing(&arguments);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(text), "{said}");
    }
    let gone = format!("nats://127.0.0.1:{}", free_port());
    for (url, text) in [
        (&*gone, "onnection refused"),
        (
            "nats://user:secret@127.0.0.1",
            "the address of the store holds a secret",
        ),
        ("nats://[", "`--store` has no address"),
    ] {
        let (code, said) = folder.failing(&["--store", url]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(text) && !said.contains("user:"), "{said}");
    }
    // It keeps a quota for longer than this bucket does.
    let mut command = folder.command();
    command.args(["--store", &address, "--store-bucket", "short"]);
    let running = Running::of(command.spawn().unwrap(), folder.path("pdp.sock"));
    let refused = running.decide(&call("alice", "records/count"));
    assert_eq!(
        (refused.status, &*error(&refused)),
        (503, "STATE_UNAVAILABLE")
    );
    assert!(
        refused.body.contains("the bucket forgets after 60 s"),
        "{}",
        refused.body
    );
}

#[test]
fn a_store_is_trusted_by_its_authority_alone() {
    let folder = with_certificates(&Authority::new());
    let [certificate, key] = ["own.pem", "own.key"].map(|name| folder.path(name));
    let nats = Nats::with(&format!(
        "tls {{ cert_file: {certificate:?}, key_file: {key:?} }}\n"
    ));
    let address = format!("tls://localhost:{}", nats.port);
    let options = ConnectOptions::new().add_root_certificates(folder.path("ca.pem"));
    nats.make_by(&address, options, usual());
    let other = Authority::new();
    folder.write("other.pem", &other.pem());
    for more in [
        &[][..],
        &["--store-ca", "other.pem"],
        &["--store-ca", "none.pem"],
    ] {
        let arguments = [&["--store", &*address], more].concat();
        let (code, said) = folder.failing(&arguments);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("the store `tls://localhost:"), "{said}");
    }
    let mut command = folder.command();
    command.args(["--store", &address, "--store-ca", "ca.pem"]);
    let running = Running::of(command.spawn().unwrap(), folder.path("pdp.sock"));
    assert!(is_allowed(&running.decide(&call("alice", "records/count"))));
}

#[test]
fn a_store_on_this_machine_names_no_other() {
    let (mut nats, folder) = (Nats::start(), Folder::new());
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let named = naming(nats.port, &other.local_addr().unwrap().to_string());
    let running = start(&folder, "a", &format!("nats://127.0.0.1:{named}"));
    assert!(is_allowed(&running.decide(&call("alice", "records/count"))));
    nats.kill();
    running.wait_for("the store is gone");
    // It tries to connect again within some milliseconds.
    sleep(Duration::from_secs(1));
    let connected = other.accept().map_err(|error| error.kind());
    assert_eq!(connected.unwrap_err(), std::io::ErrorKind::WouldBlock);
}

/// Carries one connection to a server, which then names another of its cluster. Returns the port.
fn naming(port: u16, other: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let named = format!(r#""headers":true,"connect_urls":["{other}"]"#);
    thread::spawn(move || {
        let (mut near, _) = listener.accept().unwrap();
        drop(listener);
        let mut far = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut info = [0; 4 << 10];
        let read = far.read(&mut info).unwrap();
        let info = str::from_utf8(&info[..read]).unwrap();
        assert!(
            info.starts_with("INFO ") && info.ends_with("\r\n"),
            "{info}"
        );
        let info = info.replacen(r#""headers":true"#, &named, 1);
        near.write_all(info.as_bytes()).unwrap();
        let (from, to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        thread::spawn(move || carry(from, to, |_| true));
        carry(far, near, |_| true);
    });
    own
}

#[test]
fn the_store_keeps_the_highest_sequence() {
    let (nats, folder) = (Nats::start(), bundle::folder());
    bundle::make(&folder, "one", "1", END);
    std::fs::copy(folder.path("support.json"), folder.path("older.json")).unwrap();
    bundle::make(&folder, "one", "2", END);
    let address = nats.address();
    let of = |socket: &str, file: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-pdp"));
        command.current_dir(folder.root.path()).args([
            "--socket",
            socket,
            "--threads",
            "1",
            "--bundle",
            file,
            "--name",
            "support",
            "--keys",
            "keys.json",
            "--store",
            &address,
        ]);
        command.stderr(Stdio::piped());
        command
    };
    let newest = of("a.sock", "support.json").spawn().unwrap();
    let newest = Running::of(newest, folder.path("a.sock"));
    assert!(newest.first.contains("bundle support, sequence 2"));
    // Another instance knows it, without a file.
    let older = of("b.sock", "older.json").output().unwrap();
    let said = String::from_utf8(older.stderr).unwrap();
    assert_eq!(older.status.code(), Some(1), "{said}");
    assert!(said.contains("BUNDLE_OLDER"), "{said}");
    let same = of("b.sock", "support.json").spawn().unwrap();
    let same = Running::of(same, folder.path("b.sock"));
    assert!(is_allowed(&same.decide(&call("alice", "records/count"))));
    bundle::make(&folder, "one", "3", END);
    let next = std::fs::read_to_string(folder.path("support.json")).unwrap();
    let put = |it: &Running, text: &str| {
        let length = text.len();
        it.send(
            format!(
                "PUT /v1/bundle HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
            )
            .as_bytes(),
        )
    };
    assert_eq!(put(&same, &next).status, 200);
    let before = std::fs::read_to_string(folder.path("older.json")).unwrap();
    let refused = put(&newest, &before);
    assert_eq!((refused.status, &*error(&refused)), (422, "BUNDLE_OLDER"));
    // The count of calls is that of the agent, whatever the bundle.
    wait("the next bundle decides", || {
        newest.get("/v1/status").body.contains("\"sequence\":3")
    });
    let allowed = || is_allowed(&newest.decide(&call("alice", "records/count")));
    assert_eq!([allowed(), allowed(), allowed()], [true, true, false]);
}

#[test]
fn what_another_program_wrote_decides_nothing() {
    let (nats, folder) = (Nats::start(), Folder::new());
    let one = start(&folder, "a", &nats.address());
    assert!(is_allowed(&one.decide(&call("alice", "records/count"))));
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(async {
        use futures_util::TryStreamExt as _;
        let client = async_nats::connect(nats.address()).await.unwrap();
        let context = async_nats::jetstream::new(client);
        let bucket = context.get_key_value("agent-pdp").await.unwrap();
        let keys: Vec<_> = bucket.keys().await.unwrap().try_collect().await.unwrap();
        assert_eq!(keys.len(), 1);
        bucket.put(&keys[0], "{}".into()).await.unwrap();
    });
    let refused = one.decide(&call("alice", "records/count"));
    assert_eq!(
        (refused.status, &*error(&refused)),
        (503, "STATE_UNAVAILABLE")
    );
}
