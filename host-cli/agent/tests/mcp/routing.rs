//! Where requests lead, with real apps: by the gateway to a Unix socket, at a leased port, or nowhere.

use crate::bed::{Bed, get};
use crate::remains::{Remains, processes};
use crate::small_app::{APP, start};
use serde_json::json;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;

#[test]
fn an_app_is_reached_by_its_socket_and_its_port_until_it_ends() {
    let bed = Bed::new(&[]);
    let app = APP.replace(
        "        client.recv(65536)",
        "        deaf = b'/deaf ' in client.recv(65536)",
    );
    let app = format!(
        "{app}    if deaf:\n        break\nserver.close()\nimport time\ntime.sleep(1000)\n"
    );
    let id = bed.task_with(&[("app.py", &app)]);
    let url = bed.app_url(&id);
    // It has not started.
    assert_eq!(get(&url).status, 502);
    let unknown = url.replace(&id, if id == "ffffff" { "000000" } else { "ffffff" });
    assert_eq!(get(&unknown).status, 404);

    let started = bed.verb("run.start", Some(&id), &start("routed"));
    let data = &started["data"];
    assert_eq!(data["transport"], "uds", "{started}");
    let socket = data["socket"].as_str().unwrap();
    assert!(fs::metadata(socket).unwrap().file_type().is_socket());
    let direct = format!("http://127.0.0.1:{}/", data["port"]);
    for url in [&url, &direct] {
        let response = get(url);
        assert_eq!((response.status, &*response.body), (200, "ok"), "{url}");
    }
    assert_eq!(get(&format!("{url}_health")).status, 200);
    let manifest = fs::read_to_string(bed.path(&format!(".mcpd/{id}/manifest.json"))).unwrap();
    assert!(manifest.contains(socket), "{manifest}");

    // The app runs, and listens no more.
    assert_eq!(get(&format!("{url}deaf")).body, "ok");
    for path in ["", "_health"] {
        let status = bed.eventually("nobody listens", || {
            let status = get(&format!("{url}{path}")).status;
            (status != 200).then_some(status)
        });
        assert_eq!(status, 502, "/{path}");
    }
    assert_eq!(get(&direct).status, 502);
    assert_eq!(bed.task(&id)["state"], "ready");
    assert!(!processes("routed").is_empty());

    let remains = Remains::of(&bed, &id, "routed");
    bed.done(&["kill", &id]);
    remains.are_none(&bed);
    assert_eq!(get(&format!("{url}_health")).status, 410);
    let other = bed.task_with(&[("app.py", APP)]);
    assert_eq!(
        bed.verb(
            "run.start",
            Some(&other),
            &json!({ "cmd": "python app.py" })
        )["ok"],
        true
    );
    assert_eq!(
        get(&bed.app_url(&other)).status,
        200,
        "another task is not concerned"
    );
}
