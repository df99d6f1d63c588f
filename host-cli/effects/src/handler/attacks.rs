//! Guests that attack their host, by the table `tests/attacks/guests.json`.

use super::call::Call;
use super::limits::{Bounds, TICK};
use super::{Loaded, link, linker};
use agent_host::Ticker;
use agent_host::contract::run::{DriverKind, FailureKind, HandlerCall, HandlerEvent};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use wasmtime::Engine;
use wasmtime::component::Component;

/// Time and bytes that a guest gets.
const TIMEOUT_MS: u64 = 400;
const OUTPUT_BYTES: u64 = 1024;
const LOG_BYTES: u64 = 64;

/// How late a guest may end.
const LATE: Duration = Duration::from_secs(8);

#[test]
fn guests_end_in_their_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/attacks/guests.json");
    let table = std::fs::read_to_string(path).expect("the table");
    let rows: Vec<Value> = serde_json::from_str(&table).expect("JSON");
    assert!(rows.len() >= 40, "{}", rows.len());
    let engine = Engine::new(&agent_aot::metered_config()).expect("wasmtime");
    let ticker = Ticker::new(&engine, TICK).expect("a thread");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut failures = Vec::new();
    for row in &rows {
        let began = Instant::now();
        let found = runtime.block_on(end_of(&engine, &ticker, row));
        let spent = began.elapsed();
        let wanted = row["code"].as_str().unwrap_or("returned");
        let is_linked = row["linked"] != false;
        let is_as_wanted = found.code == wanted && found.is_linked == is_linked;
        if !is_as_wanted || found.log_bytes > LOG_BYTES as usize || spent > LATE {
            let End { code, message, .. } = &found;
            let name = &row["name"];
            failures.push(format!("{name}: {code} {message:?}, {found:?}, {spent:?}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// How a guest ended.
#[derive(Debug)]
struct End {
    code: &'static str,
    message: String,
    /// Whether it could be linked, so that it ran.
    is_linked: bool,
    log_bytes: usize,
}

/// Runs a guest.
async fn end_of(engine: &Engine, ticker: &Ticker, row: &Value) -> End {
    let kind = row["kind"].as_str().and_then(DriverKind::named);
    let kind = kind.expect("a kind");
    let component = wat::parse_str(guest(row)).unwrap_or_else(|e| panic!("{}: {e}", row["name"]));
    let linked = Component::new(engine, component).and_then(|it| link(&linker(engine, kind)?, &it));
    let component = match linked {
        Ok(component) => component,
        // The host reports it as an effect that failed.
        Err(error) => {
            return End {
                code: "handler_failed",
                message: format!("{error:#}"),
                is_linked: false,
                log_bytes: 0,
            };
        }
    };
    let loaded = Loaded {
        kind,
        digest: String::new(),
        component,
    };
    let call = HandlerCall {
        driver_kind: loaded.kind,
        handler: Some(loaded.digest),
        input: "{}".to_owned(),
        max_output_bytes: OUTPUT_BYTES,
        max_log_bytes: LOG_BYTES,
        timeout_ms: TIMEOUT_MS,
    };
    let bounds = Bounds::BUILTIN;
    let mut call = Call::new(engine, ticker, loaded.component, bounds, false, call);
    let handled = call.next().await;
    let (code, message) = match handled.event {
        HandlerEvent::Returned(output) => {
            ("returned", String::from_utf8_lossy(&output).into_owned())
        }
        HandlerEvent::Failed(failure) => match failure.kind {
            FailureKind::Timeout => ("timeout", failure.message),
            FailureKind::LimitExceeded => ("limit_exceeded", failure.message),
            FailureKind::Failed | FailureKind::Unavailable => ("handler_failed", failure.message),
        },
        other => ("asked", format!("{other:?}")),
    };
    End {
        code,
        message,
        is_linked: true,
        log_bytes: handled.log.len(),
    }
}

/// Returns the component of a row, as text: a whole one, or a handler with the parts of the row.
fn guest(row: &Value) -> String {
    let part = |name: &str, usual: &str| match row.get(name) {
        Some(part) => text(part),
        None => usual.to_owned(),
    };
    let whole = part("component", "");
    if !whole.is_empty() {
        return whole;
    }
    let (import, lower, with, call) = imports(&part("imports", ""));
    format!(
        r#"(component
            {import}
            (core module $memory
                (memory (export "memory") 1)
                (func (export "allocate") (param i32 i32 i32 i32) (result i32) {allocate}))
            (core instance $memory (instantiate $memory))
            {lower}
            (core module $code
                {call}
                (import "memory" "memory" (memory 1))
                {core}
                (func (export "handle") (param i32 i32) (result i32) {body}))
            (core instance $code (instantiate $code
                (with "memory" (instance $memory)) {with}))
            (func $handle (param "input" string) (result (result string (error string)))
                (canon lift (core func $code "handle")
                    (memory (core memory $memory "memory")) (realloc (core func $memory "allocate"))))
            (instance $handler (export "handle" (func $handle)))
            (export "agent:handler/handler@0.1.0" (instance $handler))
            {more})"#,
        allocate = part("allocate", "(i32.const 1024)"),
        core = part("core", ""),
        body = part("body", "unreachable"),
        more = part("more", ""),
    )
}

/// Returns the parts of a component that import an interface.
fn imports(name: &str) -> (String, &'static str, &'static str, &'static str) {
    match name {
        "" => (String::new(), "", "", ""),
        "log" => (
            r#"(import "agent:handler/log@0.1.0" (instance $log
                (export "write" (func (param "line" string)))))"#
                .to_owned(),
            r#"(core func $log (canon lower (func $log "write") (memory (core memory $memory "memory"))))"#,
            r#"(with "log" (instance (export "write" (func $log))))"#,
            r#"(import "log" "write" (func $log (param i32 i32)))"#,
        ),
        name => {
            let name = match name {
                "program" | "tool" | "request" => format!("agent:handler/{name}@0.1.0"),
                other => other.to_owned(),
            };
            let import = format!(r#"(import "{name}" (instance (export "call" (func))))"#);
            (import, "", "", "")
        }
    }
}

/// Returns a text of the table: a string, or parts, of which `[n, "x"]` is `x` so many times.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => match &parts[..] {
            [Value::Number(times), Value::String(part)] => {
                part.repeat(usize::try_from(times.as_u64().expect("a size")).expect("a size"))
            }
            parts => parts.iter().map(text).collect(),
        },
        other => panic!("{other} is no text"),
    }
}
