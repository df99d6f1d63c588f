//! Tests in a separate network, in which every port is free, and with their own folders for sockets.

use std::env;
use std::process::Command;

/// The variable that says a test is in its network already.
const INSIDE: &str = "AGENT_APP_TEST_NETWORK";

/// Starts the loopback interface of a new network, and allows as many open files as all leased ports need.
const ENTER: &str = "
import fcntl, os, resource, socket, struct, sys
UP = struct.pack('16sh22x', b'lo', 1)
SIOCSIFFLAGS = 0x8914
with socket.socket() as any:
    fcntl.ioctl(any, SIOCSIFFLAGS, UP)
resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
os.execv(sys.argv[1], sys.argv[1:])
";

/// Empty folders in the places of those with sockets and temporary files: whatever a test makes there ends with it.
const MOUNT: &str = "mount -t tmpfs none /run && mount -t tmpfs none /tmp && exec \"$@\"";

/// Runs a test, which has this name, in a separate network and with separate mounts. Only root has the right to make
/// them and to give files to other users.
pub(crate) fn in_own_network(name: &str, test: impl FnOnce()) {
    if env::var_os(INSIDE).is_some() {
        return test();
    }
    let output = Command::new("unshare")
        .args(["--net", "--mount", "sh", "-c", MOUNT, "sh"])
        .args(["/usr/bin/python3", "-c", ENTER])
        .arg(env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{errors}"
    );
}
