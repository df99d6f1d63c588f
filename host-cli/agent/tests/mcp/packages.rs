//! Apps with packages of the public registries: installed apart, then run without a network.

use crate::bed::{Bed, get};
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;
use std::process::{Output, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Time for everything that a call of the program does, with the installation of packages.
const INSTALLING: Duration = Duration::from_secs(300);

/// The examples of the specification, section 13, with their line ends made real.
const FLASK: &str = r#"{"files":[{"path":"app.py","content":"from flask import Flask\napp=Flask(__name__)\n@app.get('/')\ndef hi(): return 'Hello, World!'\napp.run(host='0.0.0.0')\n"}],"start":"python -m pip install flask && python app.py","lang":"python"}"#;
const EXPRESS: &str = r#"{"files":[{"path":"index.js","content":"const express=require('express');const app=express();app.get('/',(_,res)=>res.send('Hello, World!'));app.listen(0,'0.0.0.0');"}],"start":"npm init -y && npm i express && node index.js","lang":"node"}"#;

/// Answers with the versions of packages, and with whether the registry's name leads anywhere.
const OF_PYTHON: &str = "import os, socket, http.server as h\nfrom importlib.metadata import version\ntry: network = socket.getaddrinfo('pypi.org', 443) and 'online'\nexcept socket.gaierror: network = 'offline'\nbody = ' '.join([NAMES, network])\nclass A(h.BaseHTTPRequestHandler):\n def do_GET(s):\n  s.send_response(200); s.end_headers(); s.wfile.write(body.encode())\nh.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), A).serve_forever()\n";
const OF_NODE: &str = "const ms = require('ms');\nrequire('dns').lookup('npmjs.com', (error) => {\n  const body = `${ms('2 days')} ${error ? 'offline' : 'online'}`;\n  require('http').createServer((_, res) => res.end(body)).listen(process.env.PORT);\n});\n";

/// Calls the program, which has to end in time.
fn in_time(bed: &Bed, arguments: &[&str]) -> Output {
    let mut child = bed
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let out = thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let errors = thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).map(|_| bytes)
    });
    let end = Instant::now() + INSTALLING;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("{arguments:?} takes more than {INSTALLING:?}");
        }
        sleep(Duration::from_millis(100));
    };
    Output {
        status,
        stdout: out.join().unwrap().unwrap(),
        stderr: errors.join().unwrap().unwrap(),
    }
}

fn allow(bed: &Bed, allowlist: &str) {
    let policy = format!(
        "policies:\n  deps_allowlist:\n    {allowlist}\n  verbs:\n    deps.install@v1: allow\n"
    );
    fs::write(bed.path(".mcpd/policy.yaml"), policy).unwrap();
}

/// Runs an example whose packages the policy does not list, then with the list that the refusal suggests. Returns the
/// names of the list.
fn runs_with_its_packages(plan: &str, name: &str, language: &str) -> String {
    let planner = format!("print({plan:?})");
    let bed = Bed::new(&["--planner", "/usr/bin/python3", "-c", &planner]);
    let prompt = "Create a web service that responds 'Hello, World!'";
    let refused = |says: &str| {
        let output = in_time(&bed, &["run", "--lang", language, prompt]);
        assert_ne!(output.status.code(), Some(0));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains("(E_POLICY)"), "{errors}");
        assert!(errors.contains(says), "{errors}");
        errors
    };
    refused("the policy does not allow the installation of dependencies");
    allow(&bed, "go: [a.b/c]");
    refused(&format!("the policy has no allowlist for {language}"));
    allow(&bed, &format!("{language}: [{name}]"));
    let errors = refused(&format!("the policy does not list the {language} packages"));
    assert!(
        !bed.path("data/agent/packages")
            .read_dir()
            .unwrap()
            .any(|it| {
                let name = it.unwrap().file_name();
                name.to_string_lossy().starts_with("app-")
            })
    );
    let start = errors.find("help: write `").unwrap() + "help: write `".len();
    let list = errors[start..].split('`').next().unwrap().to_owned();
    allow(&bed, &list);
    let output = in_time(
        &bed,
        &["run", "--lang", language, "--timeout", "60", prompt],
    );
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let url = String::from_utf8(output.stdout).unwrap();
    let response = get(url.trim());
    assert_eq!((response.status, &*response.body), (200, "Hello, World!"));
    list
}

#[test]
fn the_example_with_flask_runs() {
    let list = runs_with_its_packages(FLASK, "flask", "python");
    for name in ["flask", "jinja2", "werkzeug"] {
        assert!(list.contains(&format!("\"{name}\"")), "{list}");
    }
}

#[test]
fn the_example_with_express_runs() {
    let list = runs_with_its_packages(EXPRESS, "express", "node");
    for name in ["express", "accepts", "qs"] {
        assert!(list.contains(&format!("\"{name}\"")), "{list}");
    }
}

#[test]
fn a_change_gets_its_packages_until_it_is_taken_back() {
    // The first plan needs no package, the second needs one, and the third needs one more and fails.
    let planner = r#"
import json, sys
change = json.load(sys.stdin).get("change", "")
source = "import os, http.server as h\nfrom importlib.metadata import distributions\nbody = ' '.join(sorted(it.name for it in distributions(path=['/deps'])))\n"
source += "raise SystemExit(3)\n" if "fail" in change else ""
source += "class A(h.BaseHTTPRequestHandler):\n def do_GET(s):\n  s.send_response(200); s.end_headers(); s.wfile.write(('has ' + body).encode())\nh.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), A).serve_forever()\n"
names = [name for name in ["itsdangerous", "idna"] if name in change]
plan = {"files": [{"path": "app.py", "content": source}], "start": "python app.py", "lang": "python"}
if names: plan["deps"] = {"python": {"requirements": names}}
json.dump(plan, sys.stdout)
"#;
    let bed = Bed::new(&["--planner", "/usr/bin/python3", "-c", planner]);
    allow(&bed, "python: [itsdangerous, idna]");
    let url = bed.done(&["run", "an app"]);
    let url = url.trim();
    let id = bed.tasks()[0]["task_id"].as_str().unwrap().to_owned();
    assert_eq!(get(url).body, "has ");
    let change = |delta: &str| in_time(&bed, &["change", &id, delta]);
    let changed = change("use itsdangerous");
    let errors = String::from_utf8_lossy(&changed.stderr);
    assert_eq!(changed.status.code(), Some(0), "{errors}");
    assert_eq!(get(url).body, "has itsdangerous");
    assert_eq!(change("use idna, and fail").status.code(), Some(1));
    assert_eq!(get(url).body, "has itsdangerous");
    // A later plan keeps what it does not name.
    assert_eq!(change("use idna").status.code(), Some(0));
    assert_eq!(get(url).body, "has idna itsdangerous");
}

/// Starts an app of files. Returns what it answers, or the code and the message.
fn started(bed: &Bed, language: &str, files: &[(&str, &str)], cmd: &str) -> Result<String, String> {
    let plan = json!({ "prompt": "hello", "constraints": { "lang_hint": [language] } });
    let plan = bed.verb("plan.create", None, &plan);
    let id = plan["data"]["task_id"].as_str().unwrap().to_owned();
    let writes = files
        .iter()
        .map(|(path, content)| json!({ "path": path, "content": content }));
    let writes = json!({ "writes": writes.collect::<Vec<_>>() });
    assert_eq!(bed.verb("fs.apply", Some(&id), &writes)["ok"], true);
    let start = json!({ "cmd": cmd, "ready": { "timeout_sec": 30 } });
    let started: Value = bed.verb("run.start", Some(&id), &start);
    if started["ok"] == true {
        let url = bed.task(&id)["url"].as_str().unwrap().to_owned();
        return Ok(get(&url).body);
    }
    let error = &started["error"];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Err(format!(
        "{}: {} {}",
        text(&error["code"]),
        text(&error["message"]),
        error["hints"]
    ))
}

#[test]
fn packages_that_a_requirements_file_declares_are_installed_with_their_extras() {
    let bed = Bed::new(&[]);
    let listed = "certifi, charset-normalizer, idna, itsdangerous, requests, urllib3";
    allow(&bed, &format!("python: [{listed}]"));
    let app = OF_PYTHON.replace("NAMES", "version('itsdangerous'), version('pysocks')");
    let files = [
        ("app.py", &*app),
        (
            "deps/all.txt",
            "# comment\nitsdangerous == 2.1.2\nrequests[socks]<3,>=2.31\n",
        ),
        (
            "deps/bad.txt",
            "itsdangerous\n\n--index-url https://a.example/simple\n",
        ),
    ];
    let cmd = "pip install -r deps/all.txt && python app.py";
    // The extra needs a package that the policy does not list.
    let refused = started(&bed, "python", &files, cmd).unwrap_err();
    assert!(refused.starts_with("E_POLICY: "), "{refused}");
    assert!(refused.contains("packages `pysocks`"), "{refused}");
    allow(&bed, &format!("python: [pysocks, {listed}]"));
    let body = started(&bed, "python", &files, cmd).unwrap();
    assert!(body.starts_with("2.1.2 1."), "{body}");
    assert!(body.ends_with(" offline"), "{body}");

    let cmd = "pip install -r deps/bad.txt && python app.py";
    let refused = started(&bed, "python", &files, cmd).unwrap_err();
    assert!(
        refused.starts_with("E_BUILD: `deps/bad.txt`, line 3: `--index-url"),
        "{refused}"
    );
    let cmd = "pip install -r missing.txt && python app.py";
    let refused = started(&bed, "python", &files, cmd).unwrap_err();
    assert!(
        refused.starts_with("E_BUILD: there is no file `missing.txt` "),
        "{refused}"
    );
}

#[test]
fn packages_of_package_json_are_installed() {
    let bed = Bed::new(&[]);
    allow(&bed, "node: [ms]");
    let declared = |more: &str| {
        format!(
            "{{\"name\":\"app\",\"scripts\":{{\"start\":\"node index.js\"}},\
             \"dependencies\":{{\"ms\":\"^2.0.0\"}}{more}}}"
        )
    };
    let manifest = declared("");
    let files = [("index.js", OF_NODE), ("package.json", &*manifest)];
    let started_by = |cmd: &str| started(&bed, "node", &files, cmd);
    assert_eq!(
        started_by("npm install && npm start").unwrap(),
        "172800000 offline"
    );
    let refused = started_by("npm ci && npm start").unwrap_err();
    assert!(
        refused.starts_with("E_BUILD: there is no file `package-lock.json` "),
        "{refused}"
    );

    // The lock file decides the version, and not from where the package comes.
    let lock = json!({
        "name": "app", "lockfileVersion": 3, "packages": {
            "": { "dependencies": { "ms": "^2.0.0" } },
            "node_modules/ms": {
                "version": "2.0.0", "resolved": "https://evil.example/ms.tgz",
                "integrity": "sha512-Tpp60P6IUJDTuOq/5Z8cdskzJujfwqfOTkrwIwj7IRISpnkJnT6SyJ4PCPnGMoFjC9ddhal5KVIYtAt97ix05A=="
            }
        }
    });
    let lock = lock.to_string();
    let app = OF_NODE.replace("ms('2 days')", "require('ms/package.json').version");
    let files = [
        ("index.js", &*app),
        ("package.json", &*manifest),
        ("package-lock.json", &*lock),
    ];
    let body = started(&bed, "node", &files, "npm ci && node index.js");
    assert_eq!(body.unwrap(), "2.0.0 offline");

    for (more, message) in [
        (",\n\"workspaces\":[\"a\"]", "line 2: `workspaces`"),
        (",\n\n\"overrides\":{\"ms\":\"1\"}", "line 3: `overrides`"),
    ] {
        let manifest = declared(more);
        let files = [("index.js", OF_NODE), ("package.json", &*manifest)];
        let refused = started(&bed, "node", &files, "npm install && npm start").unwrap_err();
        assert!(
            refused.starts_with(&format!("E_BUILD: `package.json`, {message}")),
            "{refused}"
        );
    }
}

/// Starts an app with a package while the registries of pip and npm are at this URL. Returns the failure.
fn start_with_registry_at(url: &str, language: &str, package: &str, install: &str) -> Value {
    let variables = vec![
        ("PIP_INDEX_URL", url.to_owned()),
        ("PIP_EXTRA_INDEX_URL", url.to_owned()),
        ("PIP_RETRIES", "0".to_owned()),
        ("npm_config_registry", url.to_owned()),
        ("npm_config_fetch_retries", "0".to_owned()),
    ];
    let bed = Bed::with_variables(variables, &[]);
    allow(&bed, &format!("{language}: [{package}]"));
    let plan = json!({ "prompt": "hello", "constraints": { "lang_hint": [language] } });
    let plan = bed.verb("plan.create", None, &plan);
    let id = plan["data"]["task_id"].as_str().unwrap();
    let files = json!({ "writes": plan["data"]["files"] });
    assert_eq!(bed.verb("fs.apply", Some(id), &files)["ok"], true);
    let start = plan["data"]["start"].as_str().unwrap();
    let cmd = format!("{install} && {start}");
    bed.verb("run.start", Some(id), &json!({ "cmd": cmd }))
}

#[test]
fn a_registry_that_cannot_be_reached_is_a_failure_of_the_network() {
    // Nothing listens at a port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refuses = port.local_addr().unwrap().to_string();
    drop(port);
    let refuses = (format!("http://{refuses}/"), refuses);
    let unknown = "packages.invalid:443".to_owned();
    let unknown = ("https://packages.invalid/".to_owned(), unknown);
    for (language, package, install) in [
        ("python", "idna", "pip install idna"),
        ("node", "ms", "npm install ms"),
    ] {
        for (url, address) in [&refuses, &unknown] {
            let failed = start_with_registry_at(url, language, package, install);
            let error = &failed["error"];
            assert_eq!(error["code"], "E_NETWORK", "{failed}");
            let message = error["message"].as_str().unwrap();
            assert!(
                message.contains(&format!("network: `{address}`")),
                "{failed}"
            );
            let hint = error["hints"][0].as_str().unwrap();
            assert!(hint.contains("the address of the registry"), "{failed}");
        }
    }
}
