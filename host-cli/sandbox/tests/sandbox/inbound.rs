//! A network of its own that the caller can connect to, folders at other paths, a share of processor time,
//! and a request to end.

use crate::support::{self, ample, python, run_unprivileged};
use agent_sandbox::{Child, Command, Inside, Limits, MAX_SOCKETS, Mount, Network, Sandbox, Tier};
use std::fs;
use std::io::Read;
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Answers one connection at an address.
const SERVER: &str = r#"
import socket
server = socket.create_server(('ADDRESS', 8080), family=socket.FAMILY)
connection, _ = server.accept()
connection.sendall(b'hello')
"#;

async fn start(command: Command) -> Child {
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    sandbox.spawn(command, ample()).await.unwrap()
}

fn listening(inside: &Inside) -> SocketAddr {
    let begin = Instant::now();
    loop {
        if let Some(address) = inside.listening().unwrap().first() {
            return *address;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing listens");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Connects a socket of a command's network.
fn connect(inside: &Inside, address: SocketAddr) -> TcpStream {
    let socket = inside.sockets(1).unwrap().pop().unwrap();
    let ip = match address {
        SocketAddr::V4(address) => address.ip().to_ipv6_mapped(),
        SocketAddr::V6(address) => *address.ip(),
    };
    socket.set_nonblocking(false).unwrap();
    rustix::net::connect(socket.as_fd(), &SocketAddr::new(ip.into(), address.port())).unwrap();
    socket
}

#[tokio::test]
async fn a_command_is_reached_at_both_loopback_addresses() {
    for (address, family) in [("127.0.0.1", "AF_INET"), ("::1", "AF_INET6")] {
        let program = SERVER.replace("ADDRESS", address).replace("FAMILY", family);
        let mut command = python(&program);
        command.network = Network::Inbound;
        let child = start(command).await;
        let inside = child.inside().unwrap();
        let found = listening(&inside);
        assert_eq!(found.ip().to_string(), address);
        assert_eq!(found.port(), 8080);
        let mut answer = String::new();
        connect(&inside, found).read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "hello");
        assert!(child.wait().await.unwrap().0.success());
    }
}

#[tokio::test]
async fn its_sockets_reach_nothing_of_the_machine() {
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = python("import time; time.sleep(1000)");
    command.network = Network::Inbound;
    let child = start(command).await;
    let inside = child.inside().unwrap();
    let sockets = inside.sockets(MAX_SOCKETS).unwrap();
    assert_eq!(sockets.len(), MAX_SOCKETS);
    assert!(inside.sockets(MAX_SOCKETS + 1).is_err());
    let port = outside.local_addr().unwrap().port();
    let to = |ip: Ipv6Addr| SocketAddr::new(ip.into(), port);
    for socket in sockets.iter().take(2) {
        socket.set_nonblocking(false).unwrap();
        let mapped = to("::ffff:127.0.0.1".parse().unwrap());
        assert!(rustix::net::connect(socket.as_fd(), &mapped).is_err());
    }
    child.kill();
    let _ = child.wait().await;
    assert!(inside.listening().is_err(), "the network is gone");
}

#[tokio::test]
async fn a_folder_has_another_path_inside() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "content").unwrap();
    for writable in [true, false] {
        let mut command = python(
            "import os
print(os.getcwd(), open('file').read())
try:
    open('new', 'w').write('x')
except OSError as error:
    print(error.errno)",
        );
        let folder = folder.path().to_owned();
        command
            .mounts
            .insert("/app".into(), Mount { folder, writable });
        command.cwd = Some("/app".into());
        let output =
            support::output_of(Sandbox::of(Tier::Bubblewrap).await.unwrap(), command).await;
        let refused = if writable { "" } else { "30\n" };
        assert_eq!(output, format!("/app content\n{refused}"));
    }
    assert_eq!(fs::read(folder.path().join("new")).unwrap(), b"x");
}

#[tokio::test]
async fn a_request_to_end_reaches_the_command() {
    let program = "
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
sys.stdout.write('ready')
sys.stdout.flush()
time.sleep(1000)";
    let mut child = start(python(program)).await;
    let mut ready = [0; 5];
    let mut stdout = child.stdout.take().unwrap();
    tokio::io::AsyncReadExt::read_exact(&mut stdout, &mut ready)
        .await
        .unwrap();
    let handle = child.handle();
    assert!(handle.id().is_some());
    handle.terminate();
    let (exit, _) = child.wait().await.unwrap();
    assert_eq!(exit, agent_sandbox::Exit::Code(7));
}

#[tokio::test]
async fn a_share_of_processor_time_is_kept() {
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let limits = Limits {
        cpu_percent: Some(20),
        ..ample()
    };
    let program = "
import time
end = time.monotonic() + 1
while time.monotonic() < end: pass
print(time.process_time())";
    let without = sandbox.without_control_groups();
    let refused = support::run_within(without, python(program), limits.clone()).await;
    assert!(refused.unwrap_err().to_string().contains("share"));
    if !agent_sandbox::check().await.control_groups.cpu_percent {
        return;
    }
    let finished = support::run_within(sandbox, python(program), limits).await;
    let used: f64 = String::from_utf8(finished.unwrap().stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(used < 0.5, "{used} s of 1 s");
}

#[tokio::test]
async fn the_tier_without_namespaces_refuses() {
    let sandbox = Sandbox::of(Tier::Landlock).await.unwrap();
    let mut inbound = python("");
    inbound.network = Network::Inbound;
    let mut moved = python("");
    let (folder, writable) = ("/usr".into(), false);
    moved
        .mounts
        .insert("/app".into(), Mount { folder, writable });
    for command in [inbound, moved] {
        let refused = support::run(sandbox, command).await.unwrap_err();
        assert!(refused.to_string().contains("install bubblewrap"));
    }
}

#[test]
fn the_same_holds_for_a_user_without_rights() {
    run_unprivileged("both_loopback", "user_without_rights");
}
