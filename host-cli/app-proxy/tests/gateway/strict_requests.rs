//! Requests that break a rule of RFC 9110 or 9112, each sent raw.

use crate::bed::{Bed, Client, OK, Recorder, joined};
use std::io::Write as _;

/// What an app gets of a request.
enum Got {
    Nothing,
    /// One request that contains all of the first texts, and none of the others.
    One(&'static [&'static str], &'static [&'static str]),
}
use Got::{Nothing, One};

const PATH: &str = "/apps/ab12cd/p";

/// A name, a request, the status of its response, and what the app gets. `H` is the header `Host` with its line end.
const ROWS: &[(&str, &str, u16, Got)] = &[
    // Framing.
    (
        "length and coding",
        "POST P HTTP/1.1\r\nHContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "coding and length",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "two lengths",
        "POST P HTTP/1.1\r\nHContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        400,
        Nothing,
    ),
    (
        "two equal lengths",
        "POST P HTTP/1.1\r\nHContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        400,
        Nothing,
    ),
    (
        "a list of lengths",
        "POST P HTTP/1.1\r\nHContent-Length: 3, 3\r\n\r\nabc",
        400,
        Nothing,
    ),
    (
        "a signed length",
        "POST P HTTP/1.1\r\nHContent-Length: +3\r\n\r\nabc",
        400,
        Nothing,
    ),
    (
        "a negative length",
        "POST P HTTP/1.1\r\nHContent-Length: -3\r\n\r\nabc",
        400,
        Nothing,
    ),
    (
        "a hexadecimal length",
        "POST P HTTP/1.1\r\nHContent-Length: 0x3\r\n\r\nabc",
        400,
        Nothing,
    ),
    (
        "a length with a space",
        "POST P HTTP/1.1\r\nHContent-Length: 3 0\r\n\r\nabc",
        400,
        Nothing,
    ),
    (
        "a length with zeros",
        "POST P HTTP/1.1\r\nHContent-Length: 0010\r\n\r\n0123456789",
        200,
        One(&["\r\nContent-Length: 10\r\n", "\r\n\r\n0123456789"], &[]),
    ),
    (
        "a length of zeros",
        "POST P HTTP/1.1\r\nHContent-Length: 00\r\n\r\n",
        200,
        One(&["\r\nContent-Length: 0\r\n"], &[]),
    ),
    (
        "an empty length",
        "POST P HTTP/1.1\r\nHContent-Length:\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a length beyond 64 bits",
        "POST P HTTP/1.1\r\nHContent-Length: 99999999999999999999\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a coding other than chunked",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: gzip\r\n\r\n",
        501,
        Nothing,
    ),
    (
        "a coding before chunked",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        501,
        Nothing,
    ),
    (
        "chunked twice",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        501,
        Nothing,
    ),
    (
        "two codings",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "an obscured coding",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a coding in quotes",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
        501,
        Nothing,
    ),
    (
        "a coding in HTTP/1.0",
        "POST P HTTP/1.0\r\nHTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "coding with an underscore",
        "POST P HTTP/1.1\r\nHTransfer_Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
        200,
        One(&["Content-Length: 3\r\n", "\r\n\r\nabc"], &["chunked"]),
    ),
    (
        "length with an underscore",
        "GET P HTTP/1.1\r\nHContent_Length: 3\r\n\r\n",
        200,
        One(&["GET /p "], &["Content_Length"]),
    ),
    // Chunks.
    (
        "chunks",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        200,
        One(
            &[
                "Transfer-Encoding: chunked\r\n",
                "\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            ],
            &["Content-Length"],
        ),
    ),
    (
        "chunks in capitals",
        "POST P HTTP/1.1\r\nHtransfer-encoding: CHUNKED\r\n\r\n0003\r\nabc\r\n0\r\n\r\n",
        200,
        One(&["\r\n\r\n3\r\nabc\r\n0\r\n\r\n"], &[]),
    ),
    (
        "a chunk extension",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0;c\r\n\r\n",
        200,
        One(&["\r\n\r\n3\r\nabc\r\n0\r\n\r\n"], &["a=b"]),
    ),
    (
        "trailers",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\n\r\n0\r\nX-Forwarded-For: evil\r\nA: b\r\n\r\n",
        200,
        One(&["\r\n\r\n0\r\n\r\n"], &["evil", "A: b"]),
    ),
    (
        "a chunk with a bare LF",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a chunk that is too short",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a chunk size with a sign",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a chunk size beyond 64 bits",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\n\r\n10000000000000003\r\nabc\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a bare LF in a chunk extension",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\n\r\n3;a\n\r\nabc\r\n0\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a folded trailer",
        "POST P HTTP/1.1\r\nHTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n c\r\n\r\n",
        400,
        Nothing,
    ),
    // Lines.
    (
        "a bare LF behind the first line",
        "GET P HTTP/1.1\nH\r\n",
        400,
        Nothing,
    ),
    (
        "a bare LF behind a header",
        "GET P HTTP/1.1\r\nHA: b\nC: d\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a bare LF at the end",
        "GET P HTTP/1.1\r\nHA: b\r\n\n",
        400,
        Nothing,
    ),
    (
        "bare LFs throughout",
        "GET P HTTP/1.1\nA: b\n\n",
        400,
        Nothing,
    ),
    (
        "a bare CR in a value",
        "GET P HTTP/1.1\r\nHA: b\rC: d\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a bare CR behind the first line",
        "GET P HTTP/1.1\rH\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a NUL in a value",
        "GET P HTTP/1.1\r\nHA: b\0c\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a folded header",
        "GET P HTTP/1.1\r\nHA: b\r\n c\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a header folded by a tab",
        "GET P HTTP/1.1\r\nHA: b\r\n\tc\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a space before the first header",
        "GET P HTTP/1.1\r\n H\r\n",
        400,
        Nothing,
    ),
    (
        "a space before the colon",
        "GET P HTTP/1.1\r\nHContent-Length : 3\r\n\r\nabc",
        400,
        Nothing,
    ),
    (
        "a tab before the colon",
        "GET P HTTP/1.1\r\nHA\t: b\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a header without a colon",
        "GET P HTTP/1.1\r\nHA\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a header without a name",
        "GET P HTTP/1.1\r\nH: b\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a name with a space",
        "GET P HTTP/1.1\r\nHA b: c\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "a name that is not ASCII",
        "GET P HTTP/1.1\r\nH\u{e4}: c\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "two spaces in the first line",
        "GET  P HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "a tab in the first line",
        "GET\tP HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    ("HTTP/0.9", "GET P\r\n\r\n", 400, Nothing),
    ("HTTP/2.0", "GET P HTTP/2.0\r\nH\r\n", 505, Nothing),
    (
        "the preface of HTTP/2",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        505,
        Nothing,
    ),
    (
        "a version in lower case",
        "GET P http/1.1\r\nH\r\n",
        505,
        Nothing,
    ),
    ("TLS", "\x16\x03\x01\x02\0\x01\0\x01\r\n\r\n", 400, Nothing),
    (
        "an empty line first",
        "\r\nGET P HTTP/1.1\r\nH\r\n",
        200,
        One(&["GET /p HTTP/1.1\r\n"], &[]),
    ),
    // Hosts.
    ("no host", "GET P HTTP/1.1\r\nA: b\r\n\r\n", 400, Nothing),
    (
        "no host in HTTP/1.0",
        "GET P HTTP/1.0\r\n\r\n",
        400,
        Nothing,
    ),
    ("two hosts", "GET P HTTP/1.1\r\nHH\r\n", 400, Nothing),
    (
        "another host",
        "GET P HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        421,
        Nothing,
    ),
    (
        "another host with our port",
        "GET P HTTP/1.1\r\nHost: evil.example:PORT\r\n\r\n",
        421,
        Nothing,
    ),
    (
        "a host with user info",
        "GET P HTTP/1.1\r\nHost: a@127.0.0.1:PORT\r\n\r\n",
        421,
        Nothing,
    ),
    (
        "a host that only begins like ours",
        "GET P HTTP/1.1\r\nHost: 127.0.0.1:PORT.evil.example\r\n\r\n",
        421,
        Nothing,
    ),
    (
        "no port",
        "GET P HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        421,
        Nothing,
    ),
    (
        "an empty host",
        "GET P HTTP/1.1\r\nHost:\r\n\r\n",
        421,
        Nothing,
    ),
    (
        "localhost",
        "GET P HTTP/1.1\r\nHost: LocalHost:PORT\r\n\r\n",
        200,
        One(
            &[
                "\r\nHost: LocalHost:PORT\r\n",
                "X-Forwarded-Host: LocalHost:PORT\r\n",
            ],
            &[],
        ),
    ),
    // Targets.
    (
        "an absolute target",
        "GET http://127.0.0.1:PORTP HTTP/1.1\r\nH\r\n",
        200,
        One(&["GET /p HTTP/1.1\r\n"], &["http://"]),
    ),
    (
        "an absolute target of another host",
        "GET http://evil.example/ HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "an absolute target with another host",
        "GET http://127.0.0.1:PORTP HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
        400,
        Nothing,
    ),
    (
        "an absolute target of another scheme",
        "GET https://127.0.0.1:PORTP HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "a target of an authority",
        "CONNECT 127.0.0.1:PORT HTTP/1.1\r\nH\r\n",
        501,
        Nothing,
    ),
    ("TRACE", "TRACE P HTTP/1.1\r\nH\r\n", 501, Nothing),
    ("an asterisk", "OPTIONS * HTTP/1.1\r\nH\r\n", 400, Nothing),
    ("a fragment", "GET P#a HTTP/1.1\r\nH\r\n", 400, Nothing),
    (
        "a dot segment",
        "GET /apps/ab12cd/../ab12ce/ HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "an encoded dot segment",
        "GET /apps/ab12cd/%2e%2E/x HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "a dot segment with an encoded slash",
        "GET /apps/ab12cd/..%2fx HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "a dot segment with a backslash",
        "GET /apps/ab12cd/..%5cx HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "a dot segment with a parameter",
        "GET /apps/ab12cd/..;a/x HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "one dot",
        "GET /apps/ab12cd/. HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "dots in a query",
        "GET P?a=/../b HTTP/1.1\r\nH\r\n",
        200,
        One(&["GET /p?a=/../b "], &[]),
    ),
    ("an encoded NUL", "GET P%00 HTTP/1.1\r\nH\r\n", 400, Nothing),
    (
        "a bad percent-encoding",
        "GET P%4 HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    ("a backslash", "GET P\\a HTTP/1.1\r\nH\r\n", 400, Nothing),
    (
        "a target that is not ASCII",
        "GET P\u{e4} HTTP/1.1\r\nH\r\n",
        400,
        Nothing,
    ),
    (
        "an encoded task",
        "GET /apps/%61b12cd/ HTTP/1.1\r\nH\r\n",
        404,
        Nothing,
    ),
    // Headers that end here.
    (
        "hop by hop",
        "GET P HTTP/1.1\r\nHConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nProxy-Connection: x\r\n\
        Proxy-Authorization: a\r\nTrailer: b\r\nProxy: c\r\nHTTP2-Settings: d\r\n\r\n",
        200,
        One(
            &["GET /p "],
            &["Connection", "Keep-Alive", "Proxy", "Trailer", "HTTP2"],
        ),
    ),
    (
        "named by Connection",
        "GET P HTTP/1.1\r\nHConnection: X-Secret, Cookie, close\r\nX-Secret: a\r\ncookie: b\r\nX-Open: c\r\n\r\n",
        200,
        One(&["X-Open: c\r\n"], &["X-Secret", "ookie", "close"]),
    ),
    (
        "Connection can't name what is stated here",
        "GET P HTTP/1.1\r\nHConnection: Host, X-Forwarded-For, Via\r\n\r\n",
        200,
        One(
            &[
                "Host: ",
                "X-Forwarded-For: 127.0.0.1\r\n",
                "Via: 1.1 agent\r\n",
            ],
            &[],
        ),
    ),
    (
        "Connection can't name the framing",
        "POST P HTTP/1.1\r\nHConnection: Content-Length\r\nContent-Length: 3\r\n\r\nabc",
        200,
        One(&["Content-Length: 3\r\n", "\r\n\r\nabc"], &[]),
    ),
    (
        "the proxies before",
        "GET P HTTP/1.1\r\nHVia: 1.0 other\r\nA: b\r\nA: c\r\n\r\n",
        200,
        One(
            &[
                "\r\nVia: 1.0 other\r\nVia: 1.1 agent\r\n",
                "\r\nA: b\r\nA: c\r\n",
            ],
            &[],
        ),
    ),
    (
        "forwarded",
        "GET P HTTP/1.1\r\nHX-Forwarded-For: evil\r\nX-Forwarded-Prefix: /evil\r\nX-Forwarded-Host: evil\r\n\
        x-forwarded-proto: evil\r\nX-Forwarded-Port: evil\r\nForwarded: for=evil\r\nX-Real-IP: evil\r\n\r\n",
        200,
        One(
            &[
                "X-Forwarded-For: 127.0.0.1\r\n",
                "X-Forwarded-Prefix: /apps/ab12cd\r\n",
                // In the spelling of the client.
                "x-forwarded-proto: http\r\n",
            ],
            &["evil"],
        ),
    ),
    (
        "forwarded with underscores",
        "GET P HTTP/1.1\r\nHX_Forwarded_For: evil\r\nX-Forwarded_Prefix: evil\r\nmy_own: a\r\n\r\n",
        200,
        One(&["my_own: a\r\n"], &["evil"]),
    ),
    (
        "an upgrade to h2c",
        "GET P HTTP/1.1\r\nHConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: a\r\n\r\n",
        200,
        One(&["GET /p "], &["Upgrade", "h2c", "HTTP2"]),
    ),
    (
        "an upgrade that Connection does not name",
        "GET P HTTP/1.1\r\nHUpgrade: websocket\r\n\r\n",
        200,
        One(&["GET /p "], &["Upgrade"]),
    ),
    (
        "an upgrade with a body",
        "GET P HTTP/1.1\r\nHConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n\r\nabc",
        200,
        One(&["\r\n\r\nabc"], &["Upgrade"]),
    ),
    (
        "TE",
        "GET P HTTP/1.1\r\nHTE: gzip;q=0.5, trailers\r\n\r\n",
        200,
        One(&["\r\nConnection: TE\r\nTE: trailers\r\n"], &["gzip"]),
    ),
    (
        "an unknown expectation",
        "POST P HTTP/1.1\r\nHExpect: coffee\r\nContent-Length: 3\r\n\r\nabc",
        417,
        Nothing,
    ),
    (
        "an expectation in HTTP/1.0",
        "POST P HTTP/1.0\r\nHExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
        200,
        One(&["\r\n\r\nabc"], &["Expect"]),
    ),
    // A body of another request is no request.
    (
        "a request within a body",
        "GET P HTTP/1.1\r\nHConnection: close\r\nContent-Length: 37\r\n\r\nGET /apps/ab12cd/evil HTTP/1.1\r\nHost:",
        200,
        One(
            &["Content-Length: 37\r\n", "\r\n\r\nGET /apps/ab12cd/evil"],
            &["GET /evil"],
        ),
    ),
];

#[test]
fn requests_are_read_in_one_way_only() {
    assert!(ROWS.len() > 40);
    check(|client, request| client.send(request));
}

#[test]
fn requests_that_drip_in_are_read_in_the_same_way() {
    check(|client, request| {
        for byte in request.as_bytes() {
            // A refused request is not read to its end.
            if client.stream.write_all(&[*byte]).is_err() {
                return;
            }
        }
    });
}

#[test]
fn a_request_behind_another_is_read_as_strictly() {
    let body = "POST PATH HTTP/1.1\r\nHOSTContent-Length: 3\r\n\r\nabc";
    for first in ["GET PATH HTTP/1.1\r\nHOST\r\n", body] {
        for second in [
            "GET PATH HTTP/1.1\nHOST\r\n",
            "POST PATH HTTP/1.1\r\nHOSTContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
            "POST PATH HTTP/1.1\r\nHOSTContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            let bed = Bed::new();
            let recorder = Recorder::start(&bed, OK);
            let host = format!("Host: {}\r\n", bed.address());
            let mut client = bed.client();
            let both = format!("{first}{second}");
            client.send(both.replace("HOST", &host).replace("PATH", PATH));
            assert_eq!(client.response().status, 200);
            assert_eq!(client.response().status, 400, "{both:?}");
            assert_eq!(client.rest(), b"");
            assert_eq!(recorder.got(bed).len(), 1);
        }
    }
}

/// Only `hyper` knows where chunks end, so nothing behind them is a request.
#[test]
fn nothing_follows_chunks() {
    let bed = Bed::new();
    let recorder = Recorder::start(&bed, OK);
    let host = format!("Host: {}\r\n", bed.address());
    let mut client = bed.client();
    client.send(format!(
        "POST {PATH} HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n\
         GET {PATH} HTTP/1.1\n{host}\n"
    ));
    let response = client.response();
    assert!(response.status == 200 && response.has("Connection: close"));
    assert_eq!(client.rest(), b"");
    assert_eq!(recorder.got(bed).len(), 1);
}

fn check(send: impl Fn(&mut Client, &str)) {
    let mut failures = Vec::new();
    for (name, request, status, expected) in ROWS {
        let bed = Bed::new();
        let recorder = Recorder::start(&bed, OK);
        let address = bed.address();
        let port = address.port().to_string();
        // Longer names first: `H` and `P` are parts of them.
        let host = format!("Host: {address}\r\n");
        let request = fill(request, &host, &port);
        let mut client = bed.client();
        send(&mut client, &request);
        let response = client.response();
        if response.status != *status {
            failures.push(format!(
                "{name}: {} and not {status}: {}",
                response.status,
                response.text()
            ));
        }
        // A refused head says nothing of where the next one begins.
        if response.has("Connection: close") {
            assert_eq!(client.rest(), b"", "{name}: nothing follows");
        } else {
            assert!(
                matches!(status, 200 | 404 | 421),
                "{name}: a refused request ends the connection"
            );
        }
        let got = recorder.got(bed);
        match (expected, &got[..]) {
            (Nothing, []) => {}
            // A body is refused while it passes: the app sees that it breaks off.
            (Nothing, [part]) if request.contains("chunked") && !part.contains("\r\n0\r\n") => {}
            (One(with, without), [one]) => {
                let one = in_one_chunk(one);
                for text in with.iter().map(|it| it.replace("PORT", &port)) {
                    if !one.contains(&text) {
                        failures.push(format!("{name}: no {text:?} in {one:?}"));
                    }
                }
                for text in *without {
                    if one.contains(text) {
                        failures.push(format!("{name}: {text:?} in {one:?}"));
                    }
                }
            }
            (_, got) => failures.push(format!("{name}: the app got {got:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Joins the chunks of a request that dripped in.
fn in_one_chunk(request: &str) -> String {
    match request.split_once("\r\n\r\n") {
        // The name passes on as the client wrote it.
        Some((head, body)) if head.to_lowercase().contains("transfer-encoding: chunked") => {
            let data = String::from_utf8(joined(body.as_bytes())).unwrap();
            let chunk = match data.len() {
                0 => String::new(),
                length => format!("{length:x}\r\n{data}\r\n"),
            };
            format!("{head}\r\n\r\n{chunk}0\r\n\r\n")
        }
        _ => request.to_owned(),
    }
}

/// Fills in `Host`, path and port, which a row names at the start of a line or behind a method.
fn fill(request: &str, host: &str, port: &str) -> String {
    let request = request.replace("PORTP", &format!("PORT{PATH}"));
    let request = request.replace("\r\nHH", &format!("\r\n{host}{host}"));
    let mut out = String::new();
    for (number, line) in request.split_inclusive('\n').enumerate() {
        let line = match line
            .strip_prefix('H')
            .filter(|rest| !rest.starts_with("ost:"))
        {
            // HTTP2-Settings at the start of a line is a header.
            Some(rest) if !rest.starts_with("TTP") && number > 0 => format!("{host}{rest}"),
            _ => line.to_owned(),
        };
        out.push_str(&line);
    }
    for (from, to) in [
        (" P ", " PATH "),
        ("\tP ", "\tPATH "),
        (" P?", " PATH?"),
        (" P#", " PATH#"),
        (" P%", " PATH%"),
        (" P\\", " PATH\\"),
        (" P\r", " PATH\r"),
        (" P\u{e4}", " PATH\u{e4}"),
    ] {
        out = out.replacen(from, &to.replace("PATH", PATH), 1);
    }
    out.replace("PORT", port)
}
