//! What an app can reach by the interfaces of WASI: nothing of the machine.

use crate::support::{Served, app};
use agent_wasi_app::{NotSent, Outgoing, Sending, Settings};
use bytes::Bytes;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wit_component::StringEncoding;
use wit_parser::Resolve;

/// Resources of `wasi:http/types` for requests to others.
const OUTGOING: &str = "
        resource outgoing-request {
            constructor(headers: fields);
            set-authority: func(authority: option<string>) -> result;
            set-path-with-query: func(path: option<string>) -> result;
        }
        resource request-options;
        resource incoming-response;
        resource future-incoming-response {
            subscribe: func() -> pollable;
            get: func() -> option<result<result<incoming-response, error-code>>>;
        }
        resource incoming-body {";

const HANDLER: &str = "
    interface outgoing-handler {
        use types.{outgoing-request, request-options, future-incoming-response, error-code};
        handle: func(request: outgoing-request, options: option<request-options>)
            -> result<future-incoming-response, error-code>;
    }
    interface incoming-handler {";

const IMPORTS: &str = "world service {
    import wasi:cli/environment@0.2.0;
    import wasi:cli/exit@0.2.0;
    import wasi:cli/stderr@0.2.0;
    import wasi:cli/stdout@0.2.0;
    import wasi:clocks/monotonic-clock@0.2.0;
    import wasi:filesystem/preopens@0.2.0;
    import wasi:http/outgoing-handler@0.2.0;
    import wasi:io/poll@0.2.0;
    import wasi:sockets/tcp-create-socket@0.2.0;
    import wasi:sockets/udp-create-socket@0.2.0;";

/// Parts of the other interfaces.
const PACKAGES: &str = "
package wasi:cli@0.2.0 {
    interface environment { get-environment: func() -> list<tuple<string, string>>; }
    interface exit { exit: func(status: result); }
    interface stdout {
        use wasi:io/streams@0.2.0.{output-stream};
        get-stdout: func() -> output-stream;
    }
    interface stderr {
        use wasi:io/streams@0.2.0.{output-stream};
        get-stderr: func() -> output-stream;
    }
}
package wasi:clocks@0.2.0 {
    interface monotonic-clock {
        use wasi:io/poll@0.2.0.{pollable};
        subscribe-duration: func(when: u64) -> pollable;
    }
}
package wasi:filesystem@0.2.0 {
    interface types { resource descriptor; }
    interface preopens {
        use types.{descriptor};
        get-directories: func() -> list<tuple<descriptor, string>>;
    }
}
package wasi:sockets@0.2.0 {
    interface network {
        enum error-code {
            unknown, access-denied, not-supported, invalid-argument, out-of-memory, timeout, concurrency-conflict,
            not-in-progress, would-block, invalid-state, new-socket-limit, address-not-bindable, address-in-use,
            remote-unreachable, connection-refused, connection-reset, connection-aborted, datagram-too-large,
            name-unresolvable, temporary-resolver-failure, permanent-resolver-failure,
        }
        enum ip-address-family { ipv4, ipv6 }
    }
    interface tcp { resource tcp-socket; }
    interface udp { resource udp-socket; }
    interface tcp-create-socket {
        use network.{error-code, ip-address-family};
        use tcp.{tcp-socket};
        create-tcp-socket: func(address-family: ip-address-family) -> result<tcp-socket, error-code>;
    }
    interface udp-create-socket {
        use network.{error-code, ip-address-family};
        use udp.{udp-socket};
        create-udp-socket: func(address-family: ip-address-family) -> result<udp-socket, error-code>;
    }
}
";

/// Returns the app that tries, with its world.
fn reaching() -> Vec<u8> {
    let services = Path::new(env!("CARGO_MANIFEST_DIR")).join("../planner/services/rust/wasi.wit");
    let mut wit = std::fs::read_to_string(services).unwrap();
    for (place, more) in [
        ("\n        resource incoming-body {", OUTGOING),
        ("\n    interface incoming-handler {", HANDLER),
        ("world service {", IMPORTS),
        (
            "\n    interface types {\n        use wasi:io/streams",
            "\n    interface types {\n        use wasi:io/poll@0.2.0.{pollable};\n        use wasi:io/streams",
        ),
    ] {
        assert!(wit.contains(place), "{place}");
        wit = wit.replacen(place, more, 1);
    }
    wit.push_str(PACKAGES);
    let mut resolve = Resolve::default();
    let package = resolve.push_str("reaching.wit", &wit).unwrap();
    let world = resolve.select_world(&[package], Some("service")).unwrap();
    let mut module = app("reaching");
    wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .unwrap();
    module
}

/// Answers with the authority and the path of a request.
struct Echo;

impl Outgoing for Echo {
    fn send<'a>(&'a self, request: http::Request<Bytes>) -> Sending<'a> {
        Box::pin(async move {
            match request.uri().authority().map(|it| it.as_str()) {
                Some("listed.example") => Ok(http::Response::new(Bytes::from_static(b"answer"))),
                Some("gone.example") => Err(NotSent::Unreachable),
                _ => Err(NotSent::Denied),
            }
        })
    }
}

#[test]
fn requests_to_others_are_sent_by_somebody_else() {
    let settings = Settings {
        outgoing: Some(Arc::new(Echo)),
        ..Settings::new(64 << 20)
    };
    let served = Served::new(&reaching(), settings);
    let ask = |authority: &str| {
        let header = format!("x-authority: {authority}");
        served.ask("GET", "/request", &header, "").1
    };
    // An option, a result and a result, and then a resource or an error code.
    let (listed, gone, denied) = (
        ask("listed.example"),
        ask("gone.example"),
        ask("other.example"),
    );
    assert!(listed.starts_with("1 0 0 "), "{listed}");
    assert_eq!(gone, "1 0 1 3");
    assert_eq!(denied, "1 0 1 15");
}

#[test]
fn nothing_of_the_machine_is_behind_the_interfaces() {
    let settings = Settings {
        request_time: Duration::from_secs(2),
        env: vec![("NAME".to_owned(), "é".to_owned())],
        ..Settings::new(64 << 20)
    };
    let served = Served::new(&reaching(), settings);
    assert_eq!(served.get("/folders").1, "0 folders");
    assert_eq!(served.get("/environment").1, "NAME=é\n");
    // `access-denied`
    assert_eq!(served.get("/tcp").1, "1 1");
    assert_eq!(served.get("/udp").1, "1 1");
    assert_eq!(served.log(), "");

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let authority = format!("x-authority: {}", listener.local_addr().unwrap());
    // `HTTP-request-denied`
    assert_eq!(served.ask("GET", "/request", &authority, "").1, "1 0 1 15");
    assert!(listener.accept().is_err());

    assert_eq!(served.get("/print").1, "printed");
    assert_eq!(served.log(), "out\nerr\n");

    assert_eq!(served.get("/sleep").0, 500);
    assert!(
        served
            .log()
            .contains("GET /sleep: the app exceeded its time of 2 s")
    );
    assert_eq!(served.get("/exit").0, 500);
    assert!(served.log().contains("GET /exit: the app stopped"));
    assert_eq!(served.get("/folders").1, "0 folders");
}
