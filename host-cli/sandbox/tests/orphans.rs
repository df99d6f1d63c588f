//! A process that adopts orphans, as the first one of a container does, gets none from a command. In
//! a file of its own: it concerns the whole process.

mod support;

use rustix::io::Errno;
use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};

use support::{output, places};

#[tokio::test]
async fn no_ended_process_is_left_to_its_adopter() {
    set_child_subreaper(Some(getpid())).unwrap();
    let program = "
import os, time
if os.fork() == 0:
    if os.fork() == 0:
        os.close(0); os.close(1); os.close(2)
        time.sleep(1000)
    os._exit(0)
os.wait()
print('end')";
    for sandbox in places().await {
        assert_eq!(output(sandbox, program).await, "end\n");
        assert_eq!(
            wait(WaitOptions::NOHANG).unwrap_err(),
            Errno::CHILD,
            "{sandbox:?}"
        );
    }
}
