//! The app: static responses at a Unix socket, as fast as they can be made.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;

/// The argument with which this program is the app.
pub(crate) const ROLE: &str = "app";

/// Serves for ever. The path of a request is the size of its response, in bytes.
pub(crate) fn serve(socket: &Path) -> io::Result<()> {
    let listener = UnixListener::bind(socket)?;
    println!("ready");
    for stream in listener.incoming() {
        let stream = stream?;
        // A connection that breaks concerns its client alone.
        thread::spawn(move || connection(stream));
    }
    Ok(())
}

fn connection(stream: UnixStream) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(64 << 10, stream);
    let mut line = String::new();
    loop {
        let (mut size, mut length) = (0, 0);
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(path) = line.strip_prefix("GET /").or(line.strip_prefix("POST /")) {
                let path = path.split(' ').next().unwrap_or_default();
                size = path.parse().unwrap_or_default();
            } else if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("Content-Length")
            {
                length = value.trim().parse().unwrap_or_default();
            } else if line == "\r\n" {
                break;
            }
        }
        io::copy(&mut (&mut reader).take(length), &mut io::sink())?;
        let mut response = format!(
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nServer: app\r\n\
             Content-Type: text/plain; charset=utf-8\r\nContent-Length: {size}\r\n\r\n"
        )
        .into_bytes();
        response.resize(response.len() + size, b'x');
        reader.get_mut().write_all(&response)?;
    }
}
