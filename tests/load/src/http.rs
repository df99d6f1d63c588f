//! HTTP/1.1 with keep-alive, by blocking streams.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Maximum size of a head, in bytes.
const HEAD_BYTES: u64 = 64 << 10;

/// Maximum size of a body, in bytes.
const BODY_BYTES: usize = 64 << 20;

/// A connection of a client, for several requests one after the other.
#[derive(Debug)]
pub struct Connection {
    reader: BufReader<TcpStream>,
}

/// The head and the body of a request or of an answer.
#[derive(Debug, Default)]
pub struct Received {
    /// The first line: of an answer its version, status and reason, of a request its method, path and version.
    pub first: String,
    /// The headers, whose names are in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// An answer of a server.
#[derive(Debug)]
pub struct Reply {
    /// The status with its reason, such as `200 OK`.
    pub status: &'static str,
    /// More headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Connection {
    /// Connects. Each read waits for at most `patience`.
    ///
    /// # Errors
    ///
    /// When the address refuses the connection.
    pub fn open(address: SocketAddr, patience: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, patience)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        Ok(Self {
            reader: BufReader::new(stream),
        })
    }

    /// Sends a request, as [`request`] writes it.
    ///
    /// # Errors
    ///
    /// When the connection is closed.
    pub fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(request)
    }

    /// Reads the answer to the request that was sent.
    ///
    /// # Errors
    ///
    /// When the connection ends before the answer does, or the answer does not come in time.
    pub fn answer(&mut self) -> io::Result<Received> {
        receive(&mut self.reader)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Sends a request and reads its answer.
    ///
    /// # Errors
    ///
    /// As [`Connection::send`] and [`Connection::answer`].
    pub fn ask(&mut self, request: &[u8]) -> io::Result<Received> {
        self.send(request)?;
        self.answer()
    }
}

impl Received {
    /// Returns the status of an answer; 0 without one.
    #[must_use]
    pub fn status(&self) -> u16 {
        let status = self.first.split(' ').nth(1);
        status.and_then(|it| it.parse().ok()).unwrap_or(0)
    }

    /// Returns a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| &**value)
    }

    /// Returns the last message of the body: the body itself, or the data of the last event of a stream.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        let kind = self.header("content-type").unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            return &self.body;
        }
        let lines = self.body.split(|byte| *byte == b'\n');
        let mut data = lines.filter_map(|line| line.strip_prefix(b"data: "));
        data.next_back().unwrap_or_default()
    }
}

/// Writes a request.
#[must_use]
pub fn request(
    method: &str,
    path: &str,
    host: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    let mut request = head.into_bytes();
    request.extend_from_slice(body);
    request
}

/// Answers the requests of all connections, for ever. A request without a reply closes its connection.
pub fn serve(
    listener: &TcpListener,
    answer: impl Fn(&Received) -> Option<Reply> + Send + Sync + 'static,
) {
    let answer = Arc::new(answer);
    for stream in listener.incoming().flatten() {
        let answer = Arc::clone(&answer);
        thread::spawn(move || {
            // A client may close its connection at any time.
            let _ = serve_one(stream, &*answer);
        });
    }
}

fn serve_one(
    stream: TcpStream,
    answer: &(impl Fn(&Received) -> Option<Reply> + ?Sized),
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = receive(&mut reader)? {
        let Some(reply) = answer(&request) else {
            return Ok(());
        };
        let mut head = format!("HTTP/1.1 {}\r\n", reply.status);
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", reply.body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&reply.body);
        reader.get_mut().write_all(&bytes)?;
    }
    Ok(())
}

/// Reads a request or an answer; `None` at the end of the connection.
fn receive(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Received>> {
    let mut received = Received::default();
    let mut head = reader.by_ref().take(HEAD_BYTES);
    let mut line = String::new();
    loop {
        line.clear();
        if head.read_line(&mut line)? == 0 {
            return match received.first.is_empty() {
                true => Ok(None),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
        let text = line.trim_end();
        if received.first.is_empty() {
            text.clone_into(&mut received.first);
        } else if text.is_empty() {
            break;
        } else if let Some((name, value)) = text.split_once(':') {
            let name = name.to_ascii_lowercase();
            received.headers.push((name, value.trim().to_owned()));
        }
    }
    received.body = match received.header("transfer-encoding") {
        Some(_) => chunks(reader)?,
        None => {
            let length = received.header("content-length");
            let length = length.and_then(|it| it.parse().ok()).unwrap_or(0);
            read(reader, length)?
        }
    };
    Ok(Some(received))
}

/// Reads a body in chunks.
fn chunks(reader: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        reader.by_ref().take(HEAD_BYTES).read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        body.extend(read(reader, size)?);
        read(reader, 2)?;
        if size == 0 {
            return Ok(body);
        }
        if body.len() > BODY_BYTES {
            return Err(io::Error::other("the body is too large"));
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>, length: usize) -> io::Result<Vec<u8>> {
    if length > BODY_BYTES {
        return Err(io::Error::other("the body is too large"));
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}
