//! A proxy before the gateway: the suite can't send a bearer token, and the gateway requires one.
//!
//! Each connection carries one request. The proxy adds the token, and names the gateway where the request names
//! the proxy; a request for another host stays one.

use anyhow::{Context as _, Result, bail};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Maximum number of bytes of the head of a request.
const HEAD_BYTES: usize = 64 << 10;

/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// What the proxy does with each request.
struct Way {
    own: String,
    gateway: String,
    token: String,
}

/// Starts a proxy before the gateway at a URL, and returns its own URL. It ends with the process.
pub(super) fn start(url: &str, token: &str) -> Result<String> {
    let rest = url
        .strip_prefix("http://")
        .context("the URL is not one of HTTP")?;
    let (gateway, path) = rest.split_once('/').context("the URL has no path")?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let own = listener.local_addr()?.to_string();
    let url = format!("http://{own}/{path}");
    let way = Arc::new(Way {
        own,
        gateway: gateway.to_owned(),
        token: token.to_owned(),
    });
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let way = Arc::clone(&way);
            // A connection that breaks concerns the suite alone.
            thread::spawn(move || way.pass(client));
        }
    });
    Ok(url)
}

impl Way {
    fn pass(&self, mut client: TcpStream) -> Result<()> {
        let mut read = Vec::new();
        let end = loop {
            if let Some(end) = read.windows(END.len()).position(|it| it == END) {
                break end;
            }
            let mut part = [0; 4096];
            match client.read(&mut part)? {
                0 => return Ok(()),
                _ if read.len() > HEAD_BYTES => bail!("the head of a request is too large"),
                bytes => read.extend_from_slice(&part[..bytes]),
            }
        };
        let head = self.head(std::str::from_utf8(&read[..end])?);
        let mut server = TcpStream::connect(&self.gateway)?;
        server.write_all(head.as_bytes())?;
        server.write_all(&read[end + END.len()..])?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        let upwards = thread::spawn(move || {
            let copied = io::copy(&mut from, &mut to);
            // The gateway sees that the client is gone.
            let _ = to.shutdown(Shutdown::Both);
            copied
        });
        io::copy(&mut server, &mut client)?;
        client.shutdown(Shutdown::Both)?;
        // It ends with the connection.
        let _ = upwards.join();
        Ok(())
    }

    /// Returns the head of a request to the gateway, with its end.
    fn head(&self, head: &str) -> String {
        let port = self.own.rsplit(':').next().unwrap_or_default();
        let localhost = format!("localhost:{port}");
        let lines = head.lines().filter_map(|line| {
            let name = line.split(':').next().unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "connection" => None,
                "host" | "origin" => {
                    let line = line.replace(&self.own, &self.gateway);
                    Some(line.replace(&localhost, &self.gateway))
                }
                _ => Some(line.to_owned()),
            }
        });
        let lines: Vec<_> = lines.collect();
        let (lines, token) = (lines.join("\r\n"), &self.token);
        format!("{lines}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n")
    }
}

#[cfg(test)]
mod tests {
    use super::start;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    #[test]
    fn a_request_gets_the_token_and_the_name_of_the_gateway() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let gateway = listener.local_addr().unwrap().to_string();
        let url = start(&format!("http://{gateway}/mcp"), "t0ken").unwrap();
        let own = url
            .strip_prefix("http://")
            .unwrap()
            .strip_suffix("/mcp")
            .unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut read = String::new();
            while !read.ends_with("body") {
                let mut part = [0; 100];
                let bytes = stream.read(&mut part).unwrap();
                read.push_str(std::str::from_utf8(&part[..bytes]).unwrap());
            }
            stream.write_all(b"HTTP/1.1 202 Accepted\r\n\r\n").unwrap();
            read
        });
        let mut client = TcpStream::connect(own).unwrap();
        let head = format!("POST /mcp HTTP/1.1\r\nHost: {own}\r\nOrigin: http://evil.example\r\n");
        let rest = "Connection: keep-alive\r\ncontent-length: 4\r\n\r\nbody";
        client
            .write_all(format!("{head}{rest}").as_bytes())
            .unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "HTTP/1.1 202 Accepted\r\n\r\n");
        let expected = format!(
            "POST /mcp HTTP/1.1\r\nHost: {gateway}\r\nOrigin: http://evil.example\r\ncontent-length: 4\r\n\
             authorization: Bearer t0ken\r\nconnection: close\r\n\r\nbody"
        );
        assert_eq!(server.join().unwrap(), expected);
    }
}
