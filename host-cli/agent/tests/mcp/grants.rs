//! What a policy gives apps: a way out, secrets, and files that they can only read.

use crate::bed::{Bed, get, request};
use crate::foreign;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::thread;

/// An app in Python. `/?URL` answers with what a request for the URL came to, `/env` with its environment, `/write` with
/// whether it can write.
const PYTHON: &str = r#"
import http.server, json, os, socket, urllib.error, urllib.request
def fetched(url):
    try:
        return urllib.request.urlopen(url, timeout=30).read().decode()
    except urllib.error.HTTPError as error:
        return 'status %d: %s' % (error.code, error.read().decode())
def direct(port):
    try:
        socket.create_connection(('127.0.0.1', port), 5)
        return 'reached'
    except OSError:
        return 'nothing'
def written():
    done = []
    for path in ('app.py', 'new', '/tmp/new', os.path.expanduser('~/new')):
        try:
            open(path, 'a').close()
            done.append(path)
        except OSError:
            pass
    return ' '.join(done)
class App(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, _, rest = self.path[1:].partition('?')
        body = {
            '': lambda: fetched(rest),
            'direct': lambda: direct(int(rest)),
            'env': lambda: json.dumps(dict(os.environ)),
            'write': written,
        }[kind]().encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), App).serve_forever()
"#;

/// An app in Node.js. `fetch` obeys the environment since 22.21 and 24; older versions have to be told of the proxy.
const NODE: &str = r#"
const http = require('http');
const [major, minor] = process.versions.node.split('.').map(Number);
const obeys = major >= 24 || (major === 22 && minor >= 21);
const fetched = (url) => obeys
  ? fetch(url).then((response) => response.text())
  : new Promise((done, failed) => {
      const { hostname, port } = new URL(process.env.HTTP_PROXY);
      const headers = { host: new URL(url).host };
      http.get({ hostname, port, path: url, headers }, (response) => {
        let text = '';
        response.on('data', (data) => { text += data; });
        response.on('end', () => done(text));
      }).on('error', failed);
    });
http.createServer((request, response) => {
  fetched(request.url.slice(2)).then((text) => response.end(text), (error) => response.end(String(error)));
}).listen(process.env.PORT, '127.0.0.1');
"#;

/// A server of this machine that answers `outside` to everybody. It ends with the tests. Returns its port.
fn outside() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut head = [0; 4096];
            let _ = connection.read(&mut head);
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\noutside";
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    port
}

fn allow(bed: &Bed, policy: &str) {
    let path = bed.path(".mcpd/policy.yaml");
    fs::write(&path, policy).unwrap();
    // Else it gives no secrets.
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

fn started(bed: &Bed, id: &str, input: Value) -> String {
    let started = bed.verb("run.start", Some(id), &input);
    assert_eq!(started["ok"], true, "{started}");
    bed.task(id)["url"].as_str().unwrap().to_owned()
}

fn log(bed: &Bed, id: &str) -> String {
    fs::read_to_string(bed.path(&format!(".mcpd/{id}/run.log"))).unwrap()
}

#[test]
fn an_app_reaches_the_hosts_of_the_policy_and_no_other() {
    let mut bed = Bed::new(&[]);
    let (open, closed) = (outside(), outside());
    allow(
        &bed,
        &format!("policies:\n  egress: ['127.0.0.1:{open}', 'localhost:{closed}']\n"),
    );
    let id = bed.task_with(&[("app.py", PYTHON)]);
    let start = json!({ "cmd": "python app.py", "ready": { "timeout_sec": 30 } });
    let url = started(&bed, &id, start.clone());
    let fetch = |wanted: &str| get(&format!("{url}?{wanted}")).body;
    assert_eq!(fetch(&format!("http://127.0.0.1:{open}/")), "outside");
    let denied = fetch(&format!("http://127.0.0.1:{closed}/"));
    assert!(denied.starts_with("status 403: "), "{denied}");
    assert!(fetch("http://denied.example/").starts_with("status 403: "));
    // A name that the policy has still leads to no address of this machine.
    let private = fetch(&format!("http://localhost:{closed}/"));
    assert!(private.starts_with("status 403: "), "{private}");
    assert_eq!(get(&format!("{url}direct?{open}")).body, "nothing");
    let wanted = [
        format!("127.0.0.1:{closed}"),
        "denied.example:80".to_owned(),
        format!("localhost:{closed}"),
    ];
    bed.eventually("the log names every denied host", || {
        let log = log(&bed, &id);
        let is_named = |host| log.contains(&format!("mcpd: egress denied: `{host}`"));
        wanted.iter().all(is_named).then_some(())
    });
    // The way out lives as long as the app, whatever becomes of the daemon.
    bed.kill();
    bed.start(&[]);
    let url = bed.task(&id)["url"].as_str().unwrap().to_owned();
    let fetch = |wanted: String| get(&format!("{url}?{wanted}")).body;
    assert_eq!(fetch(format!("http://127.0.0.1:{open}/")), "outside");

    let mut without = start;
    without["egress"] = "deny".into();
    let url = started(&bed, &id, without);
    let env: Value = serde_json::from_str(&get(&format!("{url}env")).body).unwrap();
    assert_eq!(env.get("HTTP_PROXY"), None, "{env}");
    assert_eq!(get(&format!("{url}direct?3128")).body, "nothing");
}

#[test]
fn an_app_in_node_reaches_the_hosts_of_the_policy() {
    let bed = Bed::new(&[]);
    let (open, closed) = (outside(), outside());
    allow(
        &bed,
        &format!("policies:\n  egress: ['127.0.0.1:{open}']\n"),
    );
    let id = bed.task_with(&[("index.js", NODE)]);
    let url = started(&bed, &id, json!({ "cmd": "node index.js" }));
    let fetch = |port: u16| get(&format!("{url}?http://127.0.0.1:{port}/")).body;
    assert_eq!(fetch(open), "outside");
    assert_ne!(fetch(closed), "outside");
    let denied = format!("mcpd: egress denied: `127.0.0.1:{closed}`");
    bed.eventually("the log names it", || {
        log(&bed, &id).contains(&denied).then_some(())
    });
}

#[test]
fn the_command_line_takes_the_network_of_an_app_away() {
    let planner = format!(
        "import json\njson.dump({{'files': [{{'path': 'app.py', 'content': {}}}], 'start': 'python app.py', 'lang': 'python'}}, open('/dev/stdout', 'w'))",
        json!(PYTHON.replace(
            "'': lambda: fetched(rest)",
            "'': lambda: os.environ.get('HTTP_PROXY', 'none')"
        ))
    );
    let bed = Bed::new(&["--planner", "/usr/bin/python3", "-c", &planner]);
    allow(&bed, "policies:\n  egress: ['api.example.com:443']\n");
    for (options, proxy) in [
        (&[][..], "http://127.0.0.1:3128"),
        (&["--no-egress"], "none"),
    ] {
        let arguments = [&["run", "say it"], options].concat();
        assert_eq!(get(bed.done(&arguments).trim()).body, proxy);
    }
}

/// A value with bytes that are encoded in URLs and in base64.
const SECRET: &str = "hunter2/&+ \u{e4}=secret";

/// Returns the files below a folder that contain a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let found = Command::new("grep")
        .args(["-rlF", "--", text])
        .arg(folder)
        .output()
        .unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    found.lines().map(str::to_owned).collect()
}

#[test]
fn secrets_reach_the_environment_of_an_app_and_nothing_else() {
    let bed = Bed::new(&[]);
    let config = bed.path("config/agent");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("key"), SECRET).unwrap();
    let key = config.join("key");
    let operator = format!(
        "secrets:\n  API_KEY: {{ file: {} }}\n  OTHER: {{ file: {} }}\n",
        key.display(),
        key.display()
    );
    fs::write(config.join("servers.local.yaml"), operator).unwrap();
    allow(&bed, "policies:\n  tools: { secrets: [API_KEY] }\n");
    let app = format!(
        "import base64, os, sys, urllib.parse\nkey = os.environ['API_KEY']\nprint('key', key)\n\
         print('quoted', urllib.parse.quote(key))\nprint('base64', base64.b64encode(key.encode()).decode())\n\
         [print(part, end='', flush=True) for part in key]\nprint(flush=True)\n{PYTHON}"
    );
    let id = bed.task_with(&[("app.py", &app)]);
    let start =
        json!({ "cmd": "python app.py", "env": { "API_KEY": "of the request", "MORE": "1" } });
    let url = started(&bed, &id, start.clone());
    let env: Value = serde_json::from_str(&get(&format!("{url}env")).body).unwrap();
    assert_eq!(env["API_KEY"], SECRET);
    assert_eq!(env["MORE"], "1");
    assert_eq!(env.get("OTHER"), None, "{env}");
    let hidden = format!("{{present, len: {}}}", SECRET.len());
    bed.eventually("the log is written", || {
        let log = log(&bed, &id);
        (log.matches(&hidden).count() == 4).then_some(())
    });
    let crash = json!({ "writes": [{ "path": "app.py", "content": "import os\nraise SystemExit(os.environ['API_KEY'])\n" }] });
    assert_eq!(bed.verb("fs.apply", Some(&id), &crash)["ok"], true);
    let crashed = bed.verb("run.start", Some(&id), &start).to_string();
    assert!(
        crashed.contains(&hidden) && !crashed.contains("hunter2"),
        "{crashed}"
    );
    for form in ["hunter2", "aHVudGVyM", "h1bnRlcjIv", "odW50ZXIyL"] {
        assert_eq!(files_with(&bed.path(".mcpd"), form), [""; 0], "{form}");
        assert_eq!(files_with(&bed.path("daemon.log"), form), [""; 0], "{form}");
    }

    // A file with the value would be exported, recorded and sent to planners.
    let kept = json!({ "writes": [{ "path": "data.txt", "content": format!("x{SECRET}") }] });
    assert_eq!(bed.verb("fs.apply", Some(&id), &kept)["ok"], true);
    let refused = bed.verb("run.start", Some(&id), &start);
    assert_eq!(refused["error"]["code"], "E_POLICY", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert_eq!(message, "`data.txt` contains the secret `API_KEY`");
    let change = bed.daemon(
        "POST",
        &format!("/tasks/{id}/plan-change"),
        r#"{"prompt":"hello"}"#,
    );
    assert_eq!(change.status, 403, "{}", change.body);

    // A policy that came with a repository gives none.
    let policy = bed.path(".mcpd/policy.yaml");
    fs::set_permissions(&policy, Permissions::from_mode(0o644)).unwrap();
    let refused = bed.verb("run.start", Some(&id), &start);
    assert_eq!(refused["error"]["code"], "E_POLICY", "{refused}");
    let hint = refused["error"]["hints"][0].as_str().unwrap();
    assert!(hint.contains("chmod 600"), "{hint}");

    allow(
        &bed,
        "policies:\n  tools: { secrets: [API_KEY, MISSING] }\n",
    );
    let refused = bed.verb("run.start", Some(&id), &start);
    assert_eq!(refused["error"]["code"], "E_POLICY", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert_eq!(message, "the operator has no secret `MISSING`");
    assert!(!refused.to_string().contains("hunter2"));
}

#[test]
fn an_app_may_be_kept_from_changing_its_files() {
    let bed = Bed::new(&[]);
    let id = bed.task_with(&[("app.py", PYTHON)]);
    for (policy, written) in [
        ("task", "app.py new /tmp/new /home/agent/new"),
        ("readonly", "/tmp/new /home/agent/new"),
    ] {
        allow(
            &bed,
            &format!("policies:\n  tools: {{ filesystem: {policy} }}\n"),
        );
        let url = started(&bed, &id, json!({ "cmd": "python app.py" }));
        assert_eq!(
            request("GET", &format!("{url}write"), &[], "").body,
            written,
            "{policy}"
        );
    }
    // The daemon still writes.
    let write = json!({ "writes": [{ "path": "more", "content": "x" }] });
    assert_eq!(bed.verb("fs.apply", Some(&id), &write)["ok"], true);
}

#[test]
fn an_app_of_a_foreign_runner_gets_the_same() {
    let (bed, _runner) = foreign::bed(&[]);
    let config = bed.path("config/agent");
    fs::create_dir_all(&config).unwrap();
    let key = config.join("key");
    fs::write(&key, SECRET).unwrap();
    let operator = format!("secrets:\n  API_KEY: {{ file: {} }}\n", key.display());
    fs::write(config.join("servers.local.yaml"), operator).unwrap();
    let port = outside();
    let policy = format!(
        "policies:\n  egress: ['127.0.0.1:{port}']\n  tools: {{ filesystem: readonly, secrets: [API_KEY] }}\n"
    );
    allow(&bed, &policy);
    let app = format!("import os\nprint('key', os.environ['API_KEY'], flush=True)\n{PYTHON}");
    let id = bed.task_with(&[("app.py", &app)]);
    let url = started(&bed, &id, json!({ "cmd": "python app.py" }));
    let fetched = get(&format!("{url}?http://127.0.0.1:{port}/")).body;
    assert_eq!(fetched, "outside");
    let denied = get(&format!("{url}?http://denied.example/")).body;
    assert!(denied.starts_with("status 403: "), "{denied}");
    let written = get(&format!("{url}write")).body;
    assert_eq!(written, "/tmp/new /home/agent/new");
    let hidden = format!("key {{present, len: {}}}", SECRET.len());
    bed.eventually("the log has what it should", || {
        let log = log(&bed, &id);
        let is_named = log.contains("mcpd: egress denied: `denied.example:80`");
        (is_named && log.contains(&hidden)).then_some(())
    });
    assert_eq!(files_with(&bed.path(".mcpd"), "hunter2"), [""; 0]);
}
