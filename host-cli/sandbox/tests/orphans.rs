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
        let ended = wait(WaitOptions::NOHANG);
        assert!(
            matches!(ended, Ok(None) | Err(Errno::CHILD)),
            "{ended:?} of {sandbox:?}"
        );
        // The guard alone may live.
        let living = children();
        assert!(living.iter().all(|name| name == "sh"), "{living:?}");
        assert!(living.len() <= 1, "{living:?}");
    }
}

/// Returns the names of the programs of this process's children.
fn children() -> Vec<String> {
    let own = format!("PPid:\t{}\n", std::process::id());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok())
        .filter(|status| status.contains(&own))
        .filter_map(|status| status.lines().next()?.split('\t').nth(1).map(str::to_owned))
        .collect()
}
