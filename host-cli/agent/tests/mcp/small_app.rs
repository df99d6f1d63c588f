//! An app that starts quickly and needs little memory.

use serde_json::{Value, json};

/// Answers every request with `ok`.
pub(crate) const APP: &str = "import os, socket
server = socket.create_server(('127.0.0.1', int(os.environ['PORT'])), backlog=64)
while True:
    client, _ = server.accept()
    with client:
        client.recv(65536)
        client.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok')
";

/// Returns the input that starts `app.py`, with a word that identifies its processes.
pub(crate) fn start(marker: &str) -> Value {
    let cmd = format!("python app.py {marker}");
    json!({ "cmd": cmd, "ready": { "timeout_sec": 60 } })
}
