//! The index page and the logs.

use crate::bed::{Bed, TASK};
use agent_app_proxy::TaskSummary;
use agent_app_proxy::limits::{LISTED_TASKS, LOG_BYTES};

fn task(title: &str) -> TaskSummary {
    TaskSummary {
        task_id: TASK.to_owned(),
        title: title.to_owned(),
        lang: "python".to_owned(),
        status: "running".to_owned(),
        is_running: true,
        probes: "1 of 1 passed".to_owned(),
    }
}

#[test]
fn the_page_lists_tasks_with_links() {
    let bed = Bed::new();
    *bed.tasks.list.lock().unwrap() = vec![
        task("Says hello"),
        TaskSummary {
            task_id: "ffffff".to_owned(),
            status: "ended".to_owned(),
            ..TaskSummary::default()
        },
    ];
    let page = bed.get("/");
    assert_eq!(page.status, 200);
    let text = page.text();
    for part in [
        "<h1>AssertLang</h1>",
        "One port, five verbs, infinite software.",
        "<a href=\"/apps/ab12cd/\">ab12cd</a>",
        "<td>Says hello <span class=\"quiet\">(python)</span><td data-name=\"Status\"><span class=\"good\">running</span>\
         <td data-name=\"Probes\">1 of 1 passed",
        "<a href=\"/tasks/ab12cd/log\"",
        "<a href=\"/tasks/ab12cd/probes\"",
        "<tr><th scope=\"row\">ffffff<td><td data-name=\"Status\"><span>ended</span><td data-name=\"Probes\">none",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(!text.contains("<script") && !text.contains("/apps/ffffff/"));
}

#[test]
fn every_text_of_a_task_is_escaped() {
    let bed = Bed::new();
    let evil = "<script>alert(1)</script>\"'&\u{202e}";
    *bed.tasks.list.lock().unwrap() = vec![TaskSummary {
        task_id: evil.to_owned(),
        title: evil.to_owned(),
        lang: evil.to_owned(),
        status: evil.to_owned(),
        is_running: true,
        probes: evil.to_owned(),
    }];
    let page = bed.get("/");
    let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;&lt;U+202E&gt;";
    assert!(!page.text().contains("<script") && !page.text().contains('\u{202e}'));
    assert_eq!(page.text().matches(escaped).count(), 10, "{}", page.text());
}

#[test]
fn the_page_is_out_of_reach_of_apps() {
    let bed = Bed::new();
    bed.tasks
        .logs
        .lock()
        .unwrap()
        .insert((TASK.to_owned(), "run.log"), b"x".to_vec());
    let log = format!("/tasks/{TASK}/log");
    for path in ["/", &log] {
        for (dest, status) in [
            ("document", 200),
            ("empty", 403),
            ("iframe", 403),
            ("script", 403),
        ] {
            let mut client = bed.client();
            client.send(format!(
                "GET {path} HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Dest: {dest}\r\n\r\n",
                bed.address()
            ));
            assert_eq!(client.response().status, status, "{path} as {dest}");
        }
        let head = bed.get(path).head;
        let policy = head
            .lines()
            .find(|line| line.starts_with("Content-Security-Policy: "))
            .unwrap();
        assert!(
            policy.contains("default-src 'none'; style-src 'self';"),
            "{policy}"
        );
        // Its own origin, and no scripts.
        assert!(
            policy.contains("; sandbox") && !policy.contains("allow-same-origin"),
            "{policy}"
        );
        assert!(!policy.contains("allow-scripts"), "{policy}");
        for header in [
            "X-Content-Type-Options: nosniff",
            "X-Frame-Options: DENY",
            "Cache-Control: no-store",
        ] {
            assert!(head.contains(header), "no {header} in {head}");
        }
    }
}

#[test]
fn nothing_can_be_changed() {
    let bed = Bed::new();
    for path in ["/", "/style.css", "/tasks/ab12cd/log"] {
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let mut client = bed.client();
            client.send(format!(
                "{method} {path} HTTP/1.1\r\nHost: {}\r\n\r\n",
                bed.address()
            ));
            let response = client.response();
            assert_eq!(response.status, 405, "{method} {path}");
            assert!(response.has("Allow: GET, HEAD"));
        }
    }
}

#[test]
fn logs_are_text_and_their_ends() {
    let bed = Bed::new();
    let mut logs = bed.tasks.logs.lock().unwrap();
    logs.insert((TASK.to_owned(), "run.log"), b"<b>started</b>\n".to_vec());
    let long = [&b"first"[..], &vec![b'x'; LOG_BYTES - 4], b"last"].concat();
    logs.insert((TASK.to_owned(), "probes.log"), long);
    drop(logs);
    let log = bed.get("/tasks/ab12cd/log");
    assert!(log.has("Content-Type: text/plain; charset=utf-8"));
    assert_eq!(log.text(), "<b>started</b>\n");
    // For a person it is a page, with the way back.
    let mut client = bed.client();
    client.send(format!(
        "GET /tasks/ab12cd/log HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\n\r\n",
        bed.address()
    ));
    let page = client.response();
    assert!(page.has("Content-Type: text/html; charset=utf-8"));
    for part in [
        "&lt;b&gt;started&lt;/b&gt;\n</pre>",
        "<h1>run.log</h1>",
        "<a href=\"/\">",
    ] {
        assert!(page.text().contains(part), "no {part} in {}", page.text());
    }
    let probes = bed.get("/tasks/ab12cd/probes");
    assert_eq!(probes.body.len(), LOG_BYTES);
    assert!(probes.text().starts_with("xxx") && probes.text().ends_with("xlast"));
    assert_eq!(bed.get("/tasks/ffffff/log").status, 404);
}

#[test]
fn a_head_has_no_body() {
    let bed = Bed::new();
    let mut client = bed.client();
    let request = |method: &str| format!("{method} / HTTP/1.1\r\nHost: {}\r\n\r\n", bed.address());
    client.send(request("HEAD"));
    let head = client.head();
    client.send(request("GET"));
    let page = client.response();
    assert!(
        head.contains(&format!("Content-Length: {}\r\n", page.body.len())),
        "{head}"
    );
}

#[test]
fn a_long_list_is_cut() {
    let bed = Bed::new();
    *bed.tasks.list.lock().unwrap() = vec![task("t"); LISTED_TASKS];
    assert!(!bed.get("/").text().contains("not listed"));
    *bed.tasks.list.lock().unwrap() = vec![task("t"); LISTED_TASKS + 2];
    assert!(
        bed.get("/")
            .text()
            .contains("<p>2 more tasks are not listed.</p>")
    );
}
