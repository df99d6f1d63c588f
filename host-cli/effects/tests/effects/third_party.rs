//! Handlers of third parties: the worked example, and components that are no handlers.

use agent_effects::block_on;
use agent_effects::handler::{Call, Handlers};
use agent_host::contract::run::{DriverKind, HandlerCall, HandlerEvent, HttpResponse, Reply};
use agent_operator::Handler;
use agent_pack::{Build, ExampleApi, Toolchain, Workspace, World, pack};
use std::fs;
use std::path::{Path, PathBuf};

/// Builds `examples/handler` as its author does.
fn example(folder: &Path, api: ExampleApi) -> PathBuf {
    let workspace = Workspace::of_this_build();
    let toolchain = Toolchain::find(&workspace).unwrap();
    let target = workspace.component_target_dir();
    let component = pack(
        &workspace,
        &toolchain,
        &target,
        World::ExampleHandler(api),
        Build::Quick,
    )
    .unwrap();
    let path = folder.join("example.wasm");
    fs::write(&path, component.bytes()).unwrap();
    path
}

fn admitted(digest: &str, kind: &str, path: &Path) -> Handler {
    Handler {
        digest: digest.to_owned(),
        kind: kind.to_owned(),
        path: path.to_owned(),
    }
}

fn call_of(driver_kind: DriverKind, digest: &str, input: &str) -> HandlerCall {
    HandlerCall {
        driver_kind,
        handler: Some(digest.to_owned()),
        input: input.to_owned(),
        max_output_bytes: 1 << 10,
        max_log_bytes: 1 << 10,
        timeout_ms: 60_000,
    }
}

async fn next(call: &mut Call) -> (HandlerEvent, String) {
    let handled = call.next().await;
    (handled.event, String::from_utf8(handled.log).unwrap())
}

#[test]
fn the_example_asks_for_a_request_and_counts_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = example(folder.path(), ExampleApi::Own);
    block_on(async { Ok(assert_counts_lines(&path).await) }).unwrap();
    // A handler of another kind may not import a request.
    let checks = Handlers::new(&[]).unwrap();
    let refused = checks.check(DriverKind::McpProxy, &path).unwrap();
    let refused = refused.unwrap_err().message;
    assert!(
        refused.contains("it imports `agent:handler/request@0.1.0`"),
        "{refused}"
    );
}

#[test]
fn over_wasi_http_the_example_asks_for_the_same_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = example(folder.path(), ExampleApi::Wasi);
    let call = || block_on(async { Ok(assert_counts_lines(&path).await) }).unwrap();
    let (one, other) = (call(), call());
    assert!(one.starts_with("time 0, random bytes ["), "{one}");
    assert_eq!(one, other);
    let checks = Handlers::new(&[]).unwrap();
    let refused = checks.check(DriverKind::Noop, &path).unwrap();
    let refused = refused.unwrap_err().message;
    assert!(
        refused.contains("`wasi:http/outgoing-handler@"),
        "{refused}"
    );
}

/// Calls the example, and returns what it logged before its request.
async fn assert_counts_lines(path: &Path) -> String {
    let checks = Handlers::new(&[]).unwrap();
    let digest = checks.check(DriverKind::Http, path).unwrap().unwrap();

    let mut handlers = Handlers::new(&[admitted(&digest, "http", path)]).unwrap();
    let listed = handlers.listed();
    assert!(
        listed
            .iter()
            .any(|it| it.digest == digest && !it.is_builtin)
    );
    let input = r#"{"url": "https://example.com/text"}"#;
    let call = call_of(DriverKind::Http, &digest, input);
    let mut call = handlers.call(call).unwrap();
    let (request, first) = match next(&mut call).await {
        (HandlerEvent::Request(request), log) => (request, log),
        (other, _) => panic!("{other:?} is no request"),
    };
    assert_eq!(request.url, "https://example.com/text");
    assert_eq!(request.method, "GET");
    let accept = ("accept".to_owned(), "text/plain".to_owned());
    assert_eq!(request.headers, [accept]);
    assert_eq!(request.body, None);
    call.resume(Reply::Response(HttpResponse {
        status: 200,
        content_type: "text/plain".to_owned(),
        body: b"a\nb\nc\n".to_vec(),
    }));
    let (output, log) = match next(&mut call).await {
        (HandlerEvent::Returned(output), log) => (output, log),
        (other, _) => panic!("{other:?} is no output"),
    };
    assert_eq!(output, br#"{"body":{"lines":3},"status":200}"#);
    assert_eq!(log, "6 bytes\n");
    first
}

#[test]
fn a_file_with_other_bytes_than_the_admitted_ones_is_not_called() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("handler.wasm");
    fs::write(&path, b"\0asm\x0d\0\x01\0").unwrap();
    let digest = format!("sha256-{}=", "A".repeat(43));
    let mut handlers = Handlers::new(&[admitted(&digest, "noop", &path)]).unwrap();
    let refused = handlers.call(call_of(DriverKind::Noop, &digest, "1"));
    let refused = refused.err().expect("it is refused").message;
    assert!(refused.contains("has the digest sha256-"), "{refused}");
    assert!(refused.contains(&digest), "{refused}");
}

#[test]
fn what_is_no_handler_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("handler.wasm");
    let imports = |name: &str| {
        wat::parse_str(format!(r#"(component (import "{name}" (instance)))"#)).unwrap()
    };
    let cases = [
        (b"#!/bin/sh\n".to_vec(), "it is not WebAssembly"),
        (
            b"\0asm\x01\0\0\0".to_vec(),
            "attempted to parse a wasm module",
        ),
        (b"\0asm\x0d\0\x01\0".to_vec(), "agent:handler/handler@0.1.0"),
        (
            imports("wasi:sockets/tcp@0.2.6"),
            "it imports `wasi:sockets/tcp@0.2.6`",
        ),
        (
            imports("wasi:filesystem/types@0.2.6"),
            "it imports `wasi:filesystem/types@0.2.6`",
        ),
        (
            imports("agent:handler/program@0.1.0"),
            "it imports `agent:handler/program@0.1.0`",
        ),
    ];
    let handlers = Handlers::new(&[]).unwrap();
    for (bytes, reason) in cases {
        fs::write(&path, bytes).unwrap();
        let refused = handlers.check(DriverKind::Http, &path).unwrap();
        let refused = refused.unwrap_err().message;
        assert!(refused.contains(reason), "no {reason:?} in {refused:?}");
    }
}

#[test]
fn the_memory_of_a_call_is_limited_in_all() {
    // Two memories of 150 MiB each: 2400 pages.
    let memory = "(core module (memory 2400))";
    let wasm = wat::parse_str(format!(
        r#"(component
            {0} {0}
            (core instance (instantiate 0))
            (core instance (instantiate 1))
            (core module $code
                (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
                (func (export "handle") (param i32 i32) (result i32) i32.const 16))
            (core instance $i (instantiate $code))
            (func $handle (param "input" string) (result (result string (error string)))
                (canon lift (core func $i "handle") (memory (core memory $i "memory"))
                    (realloc (core func $i "realloc"))))
            (instance $handler (export "handle" (func $handle)))
            (export "agent:handler/handler@0.1.0" (instance $handler)))"#,
        memory
    ));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("handler.wasm");
    fs::write(&path, wasm.unwrap()).unwrap();
    let checks = Handlers::new(&[]).unwrap();
    let digest = checks.check(DriverKind::Noop, &path).unwrap().unwrap();
    let mut handlers = Handlers::new(&[admitted(&digest, "noop", &path)]).unwrap();
    let mut call = handlers
        .call(call_of(DriverKind::Noop, &digest, "1"))
        .unwrap();
    let (event, _) = block_on(async { Ok(next(&mut call).await) }).unwrap();
    let HandlerEvent::Failed(failure) = event else {
        panic!("{event:?}, with too much memory");
    };
    assert!(
        failure.message.contains("limit of 256 MiB"),
        "{}",
        failure.message
    );
}
