//! Apps in Go. `cargo xtask test` runs these with Debian's toolchain in `PATH`.

use crate::bed::{Bed, get, request};
use serde_json::json;
use std::fs;
use std::process::Command;

/// Makes a module proxy of a folder: `acme` needs `helper`.
const PROXY: &str = r#"
import os, sys, zipfile
for name, needs, code in [
    ('acme', 'require a.example/helper v1.0.0', 'package acme\nimport "a.example/helper"\nfunc Text() string { return "acme with " + helper.Text }'),
    ('helper', '', 'package helper\nconst Text = "helper"'),
]:
    module, version = f'a.example/{name}', 'v1.0.0'
    folder = f'{sys.argv[1]}/{module}/@v'
    os.makedirs(folder)
    manifest = f'module {module}\n\ngo 1.17\n\n{needs}\n'
    open(f'{folder}/list', 'w').write(version)
    open(f'{folder}/{version}.info', 'w').write(f'{{"Version":"{version}"}}')
    open(f'{folder}/{version}.mod', 'w').write(manifest)
    with zipfile.ZipFile(f'{folder}/{version}.zip', 'w') as archive:
        archive.writestr(f'{module}@{version}/go.mod', manifest)
        archive.writestr(f'{module}@{version}/code.go', code)
"#;

/// Answers with what a module says.
const APP: &str = "package main
import (\"fmt\"; \"net/http\"; \"os\"; \"a.example/acme\")
func main() {
\thttp.HandleFunc(\"/\", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, acme.Text()) })
\thttp.ListenAndServe(\":\" + os.Getenv(\"PORT\"), nil)
}
";

#[test]
fn services_of_go_are_built_without_a_network_and_served() {
    let bed = Bed::new(&[]);
    let run = |prompt: &str| {
        let url = bed.done(&[
            "run",
            "--lang",
            "go",
            "--timeout",
            "300",
            "--mem",
            "2048",
            prompt,
        ]);
        url.trim().to_owned()
    };
    assert_eq!(get(&run("It says 'hello from Go'")).body, "hello from Go");
    let key = format!("{}a", run("A key-value store"));
    assert_eq!(request("PUT", &key, &[], "1").status, 204);
    assert_eq!(get(&key).body, "1");
    // The example of the specification listens at any port, and not at `PORT`.
    let source = "package main\nimport (\n\t\"fmt\"\n\t\"net/http\"\n)\nfunc main(){http.HandleFunc(\"/\",func(w http.ResponseWriter,r *http.Request){fmt.Fprint(w,\"Hello, World!\")});http.ListenAndServe(\":0\",nil)}\n";
    let plan = serde_json::json!({ "prompt": "hello", "constraints": { "lang_hint": ["go"] } });
    let plan = bed.verb("plan.create", None, &plan);
    let task = plan["data"]["task_id"].as_str();
    let writes = serde_json::json!({ "writes": [{ "path": "main.go", "content": source }] });
    assert_eq!(bed.verb("fs.apply", task, &writes)["ok"], true);
    let start = serde_json::json!({
        "cmd": "go run main.go", "ready": { "timeout_sec": 300 }, "limits": { "mem_mb": 2048 },
    });
    let started = bed.verb("run.start", task, &start);
    assert_eq!(started["ok"], true, "{started}");
    let url = bed.task(task.unwrap())["url"].as_str().unwrap().to_owned();
    assert_eq!(get(&url).body, "Hello, World!");
}

#[test]
fn modules_are_decided_on_and_then_built_without_a_network() {
    let mut bed = Bed::not_started();
    let proxy = bed.path("modules");
    let made = Command::new("/usr/bin/python3")
        .args(["-c", PROXY, proxy.to_str().unwrap()])
        .status();
    assert!(made.unwrap().success());
    // The user's configuration of Go names it.
    fs::create_dir_all(bed.path("config/go")).unwrap();
    let configuration = format!("GOPROXY=file://{}\nGOSUMDB=off\n", proxy.display());
    fs::write(bed.path("config/go/env"), configuration).unwrap();
    bed.start(&[]);

    let plan = json!({ "prompt": "hello", "constraints": { "lang_hint": ["go"] } });
    let plan = bed.verb("plan.create", None, &plan);
    let task = plan["data"]["task_id"].as_str();
    let writes = json!({ "writes": [{ "path": "main.go", "content": APP }] });
    assert_eq!(bed.verb("fs.apply", task, &writes)["ok"], true);
    let start = |cmd: &str| {
        let start = json!({
            "cmd": cmd, "ready": { "timeout_sec": 300 }, "limits": { "mem_mb": 2048 },
        });
        bed.verb("run.start", task, &start)
    };
    let named = "go mod init app && go get a.example/acme@v1.0.0 && go run .";
    for (allowed, refused) in [
        ("a.example/helper", "a.example/acme"),
        ("a.example/acme", "a.example/helper"),
    ] {
        let policy = format!(
            "policies:\n  deps_allowlist:\n    go: [{allowed}]\n  verbs:\n    deps.install: allow\n"
        );
        fs::write(bed.path(".mcpd/policy.yaml"), policy).unwrap();
        let answer = start(named);
        assert_eq!(answer["error"]["code"], "E_POLICY", "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{refused}`")), "{message}");
    }
    let policy = "policies:\n  deps_allowlist:\n    go: [a.example/acme, a.example/helper]\n  verbs:\n    deps.install: allow\n";
    fs::write(bed.path(".mcpd/policy.yaml"), policy).unwrap();
    let started = start(named);
    assert_eq!(started["ok"], true, "{started}");
    let url = bed.task(task.unwrap())["url"].as_str().unwrap().to_owned();
    assert_eq!(get(&url).body, "acme with helper");

    // The file of the app names it, and `go run` alone installs it.
    let manifest = "module app\n\nrequire a.example/acme v1.0.0\n";
    let declared = json!({ "writes": [{ "path": "go.mod", "content": manifest }] });
    assert_eq!(bed.verb("fs.apply", task, &declared)["ok"], true);
    for cmd in ["go mod tidy && go run .", "go run ."] {
        let started = start(cmd);
        assert_eq!(started["ok"], true, "{started}");
        assert_eq!(get(&url).body, "acme with helper");
    }
    let source = bed.path(&format!(".mcpd/{}/source", task.unwrap()));
    assert_eq!(fs::read_to_string(source.join("go.mod")).unwrap(), manifest);
    assert!(!source.join("go.sum").exists());
}
