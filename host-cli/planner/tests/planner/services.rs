//! File plans without a model.

use crate::request::AMPLE;
use agent_planner::{Planner, PlannerErrorKind, PlannerRequest, Template, quoted};
use agent_way_out::Cancel;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

async fn planned(prompt: &str, languages: &[&str]) -> Result<Value, PlannerErrorKind> {
    let request =
        json!({ "task": "files", "prompt": prompt, "languages": languages, "schema": true });
    let request = PlannerRequest::from_json(request.to_string().as_bytes()).unwrap();
    let planner = Planner::Template(Template::default());
    let plan = planner.plan(&request, &AMPLE, &Cancel::never()).await;
    plan.map(|plan| serde_json::from_slice(&plan).unwrap())
        .map_err(|error| error.kind)
}

#[tokio::test]
async fn the_words_of_a_prompt_choose_service_and_language() {
    for (prompt, languages, path, has) in [
        (
            "Create a web service that responds 'Hello, World!'",
            &[][..],
            "app.py",
            "\"Hello, World!\"",
        ),
        (
            "Say \"it's \\ \u{1f600}\" in text",
            &["node"],
            "index.js",
            "\"it's \\\\ \u{1f600}\"",
        ),
        ("A key-value store", &["go", "python"], "app.py", "VALUES"),
        ("A store in golang", &[], "main.go", "sync.Mutex"),
        (
            "Say 'a\u{1}\"{}'",
            &["rust"],
            "src/lib.rs",
            r#"= "a\u{1}\"{}";"#,
        ),
        ("Keys and values with Node", &[], "index.js", "values"),
    ] {
        let plan = planned(prompt, languages).await.unwrap();
        let file = &plan["files"][0];
        assert_eq!(file["path"], path, "{prompt}");
        assert!(file["content"].as_str().unwrap().contains(has), "{prompt}");
        let start = plan["start"].as_str().unwrap();
        let runs = start.ends_with(path) || start == "cargo run --release";
        assert!(runs, "{prompt}: {start}");
    }
}

#[tokio::test]
async fn what_no_template_has_is_refused() {
    let no = Err(PlannerErrorKind::NoTool);
    assert_eq!(planned("Predict the weather", &[]).await, no);
    assert_eq!(planned("Say hello", &["java"]).await, no);
}

#[test]
fn the_last_text_in_quotation_marks_is_meant() {
    for (prompt, text) in [
        ("It says 'one' and \"two\"", Some("two")),
        ("It says 'Ada's and Bob's'", Some("Ada's and Bob's")),
        ("It's Ada's", None),
        ("the users' page", None),
        ("say '' or `x`", Some("x")),
        ("“ü”", Some("ü")),
        ("an open \" mark", None),
    ] {
        assert_eq!(quoted(prompt), text, "{prompt}");
    }
}

#[tokio::test]
async fn a_change_names_a_text_or_a_service() {
    let changed = async |change: &str| {
        let request = json!({
            "task": "files", "prompt": "It says 'one'", "languages": ["python"],
            "change": change, "present": [], "schema": true,
        });
        let request = PlannerRequest::from_json(request.to_string().as_bytes()).unwrap();
        let planner = Planner::Template(Template::default());
        let plan = planner.plan(&request, &AMPLE, &Cancel::never()).await;
        plan.map(|plan| String::from_utf8(plan).unwrap())
            .map_err(|error| error.kind)
    };
    assert!(changed("say 'two'").await.unwrap().contains("two"));
    assert!(changed("make it a store").await.unwrap().contains("VALUES"));
    let no = Err(PlannerErrorKind::NoTool);
    assert_eq!(changed("make it faster").await, no);
    assert_eq!(changed("say 'two' in golang").await, no);
}

/// A running service, which ends with the test.
struct Service {
    child: Child,
    port: u16,
}

impl Service {
    /// Writes the files of a plan and starts it. The port is free when it is chosen.
    fn start(plan: &Value, folder: &Path) -> Self {
        for file in plan["files"].as_array().unwrap() {
            let path = folder.join(file["path"].as_str().unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file["content"].as_str().unwrap()).unwrap();
        }
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut words = plan["start"].as_str().unwrap().split(' ');
        let program = match words.next().unwrap() {
            "python" => "/usr/bin/python3",
            other => other,
        };
        let mut child = Command::new(program)
            .args(words)
            .current_dir(folder)
            .env("PORT", port.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert_eq!(line, format!("listening on port {port}\n"));
        Self { child, port }
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer[9..12].parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn services_do_what_they_are_for() {
    for language in ["python", "node"] {
        let start = async |prompt: &str| {
            let folder = tempfile::tempdir().unwrap();
            let plan = planned(prompt, &[language]).await.unwrap();
            (Service::start(&plan, folder.path()), folder)
        };
        let (hello, _folder) = start("It responds 'Grüße'").await;
        let (status, body) = hello.ask("GET", "/", "");
        assert_eq!(status, 200, "{language}");
        assert!(body.contains("Grüße"), "{language}: {body}");

        let (store, _folder) = start("a store").await;
        assert_eq!(store.ask("GET", "/a", "").0, 404, "{language}");
        assert_eq!(store.ask("PUT", "/a", "1").0, 204, "{language}");
        let (status, body) = store.ask("GET", "/a", "");
        assert_eq!(
            (status, body.contains('1')),
            (200, true),
            "{language}: {body}"
        );
        assert_eq!(store.ask("DELETE", "/a", "").0, 204, "{language}");
        assert_eq!(store.ask("GET", "/a", "").0, 404, "{language}");
    }
}
