//! A network of its own whose one service is a proxy outside.

use crate::support::{self, ample, python, run_unprivileged};
use agent_sandbox::{Command, Network, PROXY_PORT, RunError, Sandbox, Tier};
use std::io::Read;
use std::net::TcpListener;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;

/// Writes what reaches the proxy, and whether a port outside is reached.
const PROGRAM: &str = r#"
import os, socket, sys
with socket.create_connection(('127.0.0.1', PROXY)) as proxy:
    proxy.sendall(b'hello')
for host in ('127.0.0.1', OUTSIDE):
    try:
        socket.create_connection((host, PORT), 5)
        print('reached', host)
    except OSError:
        pass
print(os.environ['HTTP_PROXY'], os.environ['https_proxy'], os.environ['NODE_USE_ENV_PROXY'])
"#;

fn command(port: u16) -> Command {
    let program = PROGRAM
        .replace("PROXY)", &format!("{PROXY_PORT})"))
        .replace("OUTSIDE", "'192.0.2.1'")
        .replace("PORT", &port.to_string());
    let mut command = python(&program);
    command.network = Network::Proxy;
    command
}

#[tokio::test]
async fn a_command_reaches_its_proxy_and_nothing_else() {
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    outside.set_nonblocking(true).unwrap();
    let port = outside.local_addr().unwrap().port();
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let mut child = sandbox.spawn(command(port), ample()).await.unwrap();
    let proxy = child.proxy.take().unwrap();
    let address = proxy.local_addr().unwrap();
    assert_eq!(address.to_string(), format!("127.0.0.1:{PROXY_PORT}"));

    let begin = Instant::now();
    let mut connection = loop {
        match proxy.accept() {
            Ok((connection, _)) => break connection,
            Err(error) => assert!(begin.elapsed() < Duration::from_secs(60), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    connection.set_nonblocking(false).unwrap();
    let mut received = String::new();
    connection.read_to_string(&mut received).unwrap();
    assert_eq!(received, "hello");

    let mut output = String::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut output).await.unwrap();
    let (exit, log) = child.wait().await.unwrap();
    assert!(exit.success(), "{}", String::from_utf8_lossy(&log.bytes));
    assert_eq!(
        output, "http://127.0.0.1:3128 http://127.0.0.1:3128 1\n",
        "no port outside is reached"
    );
    assert!(outside.accept().is_err());
}

#[tokio::test]
async fn a_command_that_is_reached_may_have_a_proxy_too() {
    let program = format!(
        "
import socket
server = socket.create_server(('127.0.0.1', 8080))
with socket.create_connection(('127.0.0.1', {PROXY_PORT})) as proxy:
    proxy.sendall(b'hello')
server.accept()
"
    );
    let mut command = python(&program);
    command.network = Network::InboundAndProxy;
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let mut child = sandbox.spawn(command, ample()).await.unwrap();
    let proxy = child.proxy.take().unwrap();
    let inside = child.inside().unwrap();
    let begin = Instant::now();
    let mut received = String::new();
    while received.is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing arrives");
        if let Ok((mut connection, _)) = proxy.accept() {
            connection.set_nonblocking(false).unwrap();
            connection.read_to_string(&mut received).unwrap();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(received, "hello");
    // The socket of the proxy is not one of the command.
    let listening = inside.listening().unwrap();
    assert_eq!(listening, ["127.0.0.1:8080".parse().unwrap()]);
    let socket = inside.sockets(1).unwrap().pop().unwrap();
    socket.set_nonblocking(false).unwrap();
    let target = "[::ffff:127.0.0.1]:8080"
        .parse::<std::net::SocketAddr>()
        .unwrap();
    rustix::net::connect(std::os::fd::AsFd::as_fd(&socket), &target).unwrap();
    assert!(child.wait().await.unwrap().0.success());
}

#[tokio::test]
async fn the_tier_without_networks_refuses() {
    let sandbox = Sandbox::of(Tier::Landlock).await.unwrap();
    let refused = support::run(sandbox, command(1)).await;
    let Err(RunError::NotStarted(reason)) = refused else {
        panic!("{refused:?}");
    };
    assert!(reason.contains("install bubblewrap"), "{reason}");
}

#[test]
fn the_same_holds_for_a_user_without_rights() {
    run_unprivileged("proxy::a_command", "user_without_rights");
}
