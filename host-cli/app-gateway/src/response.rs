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
