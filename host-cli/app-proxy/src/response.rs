//! Heads of an app's responses: read strictly, as an app is not trusted, and written for the client.

use crate::chunked::{Decoder, has_only_crlf};
use crate::date;
use crate::field::{Options, ResponseField, of_response};
use crate::flow::{Framing, Source};
use crate::limits::{HEAD_BYTES, HEADERS};
use crate::request::{Facts, content_length, without_zeros};
use httparse::{Header, Status};
use std::mem::MaybeUninit;

/// A response that can't be passed on: 502.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadResponse(pub(crate) &'static str);

/// What remains of a response's head when it has been written for the client.
#[derive(Debug)]
pub(crate) enum Answer {
    /// 1xx: a further head follows.
    Interim,
    /// 101: both sides leave HTTP.
    Upgraded,
    Final {
        source: Source,
        framing: Framing,
        /// Whether the app's connection can be used again.
        is_kept: bool,
        /// Whether the client's connection ends with the body.
        is_close: bool,
    },
}

/// Reads a head and appends it for the client. Returns its size, or nothing if it is not complete.
///
/// `is_shared` says that the apps of other tasks have the same origin. `is_close` says that the client's connection
/// ends with this response.
pub(crate) fn translate(
    bytes: &[u8],
    request: &Facts,
    is_shared: bool,
    is_close: bool,
    out: &mut Vec<u8>,
) -> Result<Option<(usize, Answer)>, BadResponse> {
    let mut room = [const { MaybeUninit::uninit() }; HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, &mut room);
    let length = match parsed {
        Ok(Status::Complete(length)) if length <= HEAD_BYTES => length,
        Ok(Status::Partial) if bytes.len() <= HEAD_BYTES => {
            return if has_only_crlf(bytes) {
                Ok(None)
            } else {
                Err(BARE_LF)
            };
        }
        Ok(_) => return Err(BadResponse("the head of the app's response is too large")),
        Err(_) => return Err(BadResponse("the head of the app's response is malformed")),
    };
    if !has_only_crlf(&bytes[..length]) {
        return Err(BARE_LF);
    }
    let status = response.code.unwrap_or_default();
    let fields = Fields::read(response.headers)?;
    let reason = response.reason.unwrap_or_default();
    let is_http_11 = response.version == Some(1);
    let answer = answer(status, &fields, request, is_http_11, is_close)?;
    if matches!(answer, Answer::Interim) && !request.is_http_11 {
        return Ok(Some((length, answer)));
    }
    let digits = [status / 100, status / 10 % 10, status % 10];
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend(digits.map(|digit| b'0' + u8::try_from(digit).unwrap_or_default()));
    out.push(b' ');
    out.extend_from_slice(reason.as_bytes());
    out.extend_from_slice(b"\r\n");
    // A length of nothing would be one of the next response.
    let has_length = status != 204 && status >= 200;
    for header in response.headers {
        let value = match of_response(header.name) {
            ResponseField::Date | ResponseField::Other if !fields.options.name(header.name) => {
                header.value
            }
            ResponseField::ContentLength if has_length => without_zeros(header.value),
            ResponseField::OfOrigin if !is_shared => header.value,
            _ => continue,
        };
        for part in [header.name.as_bytes(), b": ", value, b"\r\n"] {
            out.extend_from_slice(part);
        }
    }
    write_own(&answer, fields.has_date, out);
    Ok(Some((length, answer)))
}

const BARE_LF: BadResponse = BadResponse("a line of the app's response does not end with CR LF");

/// Writes the headers that this gateway adds, and the end of the head.
fn write_own(answer: &Answer, has_date: bool, out: &mut Vec<u8>) {
    match answer {
        Answer::Interim => {}
        Answer::Upgraded => out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n"),
        Answer::Final {
            framing, is_close, ..
        } => {
            if !has_date {
                out.extend_from_slice(b"Date: ");
                date::write(out);
                out.extend_from_slice(b"\r\n");
            }
            if matches!(framing, Framing::Chunked { .. }) {
                out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
            }
            if *is_close {
                out.extend_from_slice(b"Connection: close\r\n");
            }
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// The headers that mean something here.
#[derive(Default)]
struct Fields<'b> {
    length: Option<u64>,
    is_chunked: bool,
    has_date: bool,
    is_websocket: bool,
    options: Options<'b>,
}

impl<'b> Fields<'b> {
    fn read(headers: &[Header<'b>]) -> Result<Self, BadResponse> {
        let mut fields = Self::default();
        for header in headers {
            match of_response(header.name) {
                ResponseField::ContentLength => {
                    let length = content_length(header.value);
                    if length.is_none() || fields.length.is_some() {
                        let why = "`Content-Length` of the app's response is not one number";
                        return Err(BadResponse(why));
                    }
                    fields.length = length;
                }
                ResponseField::TransferEncoding => {
                    if fields.is_chunked || !header.value.eq_ignore_ascii_case(b"chunked") {
                        let why = "`Transfer-Encoding` of the app's response is not `chunked`";
                        return Err(BadResponse(why));
                    }
                    fields.is_chunked = true;
                }
                ResponseField::Connection => fields.options.read(header.value),
                ResponseField::Upgrade => {
                    fields.is_websocket |= header.value.eq_ignore_ascii_case(b"websocket");
                }
                ResponseField::Date => fields.has_date = true,
                _ => {}
            }
        }
        if fields.is_chunked && fields.length.is_some() {
            let why = "the app's response has both `Content-Length` and `Transfer-Encoding`";
            return Err(BadResponse(why));
        }
        Ok(fields)
    }
}

fn answer(
    status: u16,
    fields: &Fields<'_>,
    request: &Facts,
    is_http_11: bool,
    is_close: bool,
) -> Result<Answer, BadResponse> {
    match status {
        101 => {
            let is_agreed = request.is_upgrade && fields.is_websocket && fields.options.is_upgrade;
            return match is_agreed {
                true => Ok(Answer::Upgraded),
                false => Err(BadResponse(
                    "the app switched to a protocol that nobody asked for",
                )),
            };
        }
        100..=199 => return Ok(Answer::Interim),
        200..=599 => {}
        _ => {
            return Err(BadResponse(
                "the status of the app's response is not one of HTTP",
            ));
        }
    }
    if fields.is_chunked && !is_http_11 {
        return Err(BadResponse(
            "the app's response in HTTP/1.0 has `Transfer-Encoding`",
        ));
    }
    let mut is_kept = is_http_11 && !fields.options.is_close;
    let source = if request.is_head || status == 204 || status == 304 {
        Source::Done
    } else if fields.is_chunked {
        Source::Chunked(Decoder::default())
    } else if let Some(length) = fields.length {
        Source::Length(length)
    } else {
        is_kept = false;
        Source::UntilEnd
    };
    let is_framed = matches!(source, Source::Done | Source::Length(_));
    let framing = if is_framed || !request.is_http_11 {
        Framing::Plain
    } else {
        let trailers = request.has_trailers;
        Framing::Chunked { trailers }
    };
    Ok(Answer::Final {
        source,
        framing,
        is_kept,
        is_close: is_close || (!is_framed && !request.is_http_11),
    })
}

#[cfg(test)]
mod tests {
    use super::{Answer, translate};
    use crate::flow::{Framing, Source};
    use crate::reply::Wanted;
    use crate::request::{Body, Facts};
    use proptest::prelude::*;

    /// Parts of responses that parsers read in different ways.
    const PARTS: [&str; 24] = [
        "Content-Length: 3\r\n",
        "content-length:\t03\r\n",
        "Content-Length: 3, 3\r\n",
        "Content-Length : 3\r\n",
        "Transfer-Encoding: chunked\r\n",
        "transfer-encoding:CHUNKED\r\n",
        "Transfer-Encoding: identity\r\n",
        "Connection: close, content-length, transfer-encoding, date\r\n",
        "Connection: Upgrade\r\n",
        "Upgrade: websocket\r\n",
        "Keep-Alive: a\r\n",
        "Proxy-Connection: a\r\n",
        "Date: a\r\n",
        "Set-Cookie: a\r\n",
        "Clear-Site-Data: a\r\n",
        "a: b\n",
        "a: b\rc: d\r\n",
        " folded\r\n",
        ": no name\r\n",
        "no colon\r\n",
        "a: \u{e4}\0\r\n",
        "\r\n",
        "\r\nHTTP/1.1 200 OK\r\n",
        "x",
    ];

    const STATUSES: [&str; 8] = ["100", "101", "103", "200", "204", "304", "599", "600"];

    fn facts(is_http_11: bool, is_head: bool) -> Facts {
        Facts {
            length: 0,
            body: Body::None,
            is_head,
            is_http_11,
            is_close: false,
            is_upgrade: false,
            is_repeatable: true,
            has_trailers: false,
            wanted: Wanted::Json,
        }
    }

    /// Checks what is written for the client, with nothing of the reader.
    fn check(text: &str, answer: &Answer, request: &Facts) {
        let (head, rest) = text.split_once("\r\n\r\n").expect("a head has an end");
        assert_eq!(rest, "");
        let mut lines = head.split("\r\n");
        assert!(
            lines
                .next()
                .is_some_and(|first| first.starts_with("HTTP/1.1 "))
        );
        let (mut lengths, mut codings) = (0, 0);
        for line in lines {
            let (name, value) = line.split_once(": ").expect("a header has a colon");
            assert!(!line.contains(['\r', '\n', '\0']), "{line:?}");
            match &*name.to_ascii_lowercase() {
                "content-length" => {
                    lengths += 1;
                    assert_eq!(value, "3");
                }
                "transfer-encoding" => codings += 1,
                "connection" => assert_eq!(value, "close"),
                "keep-alive" | "proxy-connection" | "upgrade" | "clear-site-data" => {
                    panic!("{line:?}")
                }
                _ => {}
            }
        }
        let Answer::Final {
            source,
            framing,
            is_kept,
            is_close,
        } = answer
        else {
            assert_eq!((lengths, codings), (0, 0), "{head:?}");
            return;
        };
        assert!(lengths <= 1, "{head:?}");
        let is_chunked = matches!(framing, Framing::Chunked { .. });
        assert_eq!(codings, usize::from(is_chunked), "{head:?}");
        assert!(
            !is_chunked || (lengths == 0 && request.is_http_11),
            "{head:?}"
        );
        match source {
            Source::Length(length) => assert_eq!((*length, lengths), (3, 1), "{head:?}"),
            // The client learns where the body ends: by chunks, or by the end of its connection.
            Source::Chunked(_) => assert!(is_chunked || *is_close, "{head:?}"),
            Source::UntilEnd => assert!((is_chunked || *is_close) && !is_kept, "{head:?}"),
            Source::Done => assert!(!is_chunked, "{head:?}"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn a_client_gets_one_framing(
            version in 0..2_u8,
            status in prop::sample::select(&STATUSES[..]),
            parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..6),
            is_http_11: bool,
            is_head: bool,
        ) {
            let response = format!("HTTP/1.{version} {status} OK\r\n{}\r\n", parts.concat());
            let (request, mut out) = (facts(is_http_11, is_head), Vec::new());
            let translated = translate(response.as_bytes(), &request, true, false, &mut out);
            match translated {
                Ok(Some((length, answer))) => {
                    prop_assert!(length <= response.len());
                    if !out.is_empty() {
                        check(&String::from_utf8_lossy(&out), &answer, &request);
                    }
                }
                // The client may get another response then.
                Ok(None) | Err(_) => prop_assert!(out.is_empty()),
            }
        }
    }
}
