//! Apps in Go. `cargo xtask test` runs these with Debian's toolchain in `PATH`.

use crate::bed::{Bed, get, request};

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
