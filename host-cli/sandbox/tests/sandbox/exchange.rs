//! What passes between a command and its caller: arguments, input, output, and the exit.

use agent_sandbox::{Command, Exit, Limits, RunError, Sandbox, Tier, check};
use std::ffi::OsString;
use std::fs;
use std::future;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::support::{self, PYTHON, ample, places, python, run, tiers};

#[tokio::test]
async fn arguments_arrive_byte_for_byte() {
    let odd: Vec<Vec<u8>> = vec![
        Vec::new(),
        b" ".to_vec(),
        b"-".to_vec(),
        b"--".to_vec(),
        b"--ro-bind".to_vec(),
        b"a b\tc\nd".to_vec(),
        b"$HOME `id` $(id) ; | & > < * ? ' \" \\".to_vec(),
        "ü\u{200b}\u{202e}".as_bytes().to_vec(),
        (1..=255).collect(),
        vec![b'x'; 100_000],
    ];
    let program = "
import os, sys
for argument in sys.argv[1:]: print(os.fsencode(argument).hex())";
    for sandbox in tiers().await {
        let mut command = python(program);
        command
            .arguments
            .extend(odd.iter().cloned().map(OsString::from_vec));
        let output = support::output_of(sandbox, command).await;
        let expected: String = odd
            .iter()
            .map(|bytes| {
                bytes
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<String>()
                    + "\n"
            })
            .collect();
        assert_eq!(output, expected, "{sandbox:?}");
    }
}

#[tokio::test]
async fn variables_arrive_byte_for_byte() {
    let value: Vec<u8> = (1..=255).collect();
    let program = "import os; print(os.environb[b'--odd name'].hex())";
    for sandbox in tiers().await {
        let mut command = python(program);
        let value = OsString::from_vec(value.clone());
        command.env = [("--odd name".into(), value)].into();
        let output = support::output_of(sandbox, command).await;
        assert_eq!(output.trim().len(), 510, "{sandbox:?}");
        assert!(output.starts_with("010203") && output.ends_with("feff\n"));
    }
}

#[tokio::test]
async fn input_arrives_whole_and_ends() {
    let input: Vec<u8> = (0..3_000_000u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let program = "
import sys
while block := sys.stdin.buffer.read(65536): sys.stdout.buffer.write(block)";
    for sandbox in tiers().await {
        let (command, never) = (python(program), future::pending());
        let finished = sandbox
            .run(command, input.clone(), ample(), never)
            .await
            .unwrap();
        assert!(finished.stdout == input, "{sandbox:?}");
    }
}

#[tokio::test]
async fn input_need_not_be_read() {
    for sandbox in tiers().await {
        let (command, never) = (python("print('done')"), future::pending());
        let finished = sandbox
            .run(command, vec![0; 3_000_000], ample(), never)
            .await
            .unwrap();
        assert_eq!(finished.stdout, b"done\n", "{sandbox:?}");
    }
}

#[tokio::test]
async fn a_server_answers_line_by_line() {
    let program = "
import sys
print('ready', file=sys.stderr, flush=True)
for line in sys.stdin: print(line.strip().upper(), flush=True)
sys.exit(3)";
    for sandbox in places().await {
        let mut child = sandbox.spawn(python(program), ample()).await.unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        for word in ["one", "two", "three"] {
            let input = child.stdin.as_mut().unwrap();
            input
                .write_all(format!("{word}\n").as_bytes())
                .await
                .unwrap();
            let answer = output.next_line().await.unwrap().unwrap();
            assert_eq!(answer, word.to_uppercase(), "{sandbox:?}");
        }
        assert_eq!(child.log().bytes, b"ready\n");
        let (exit, log) = child.wait().await.unwrap();
        assert_eq!(exit, Exit::Code(3));
        assert_eq!(log.bytes, b"ready\n");
    }
}

#[tokio::test]
async fn exit_codes_and_signals_are_reported() {
    for sandbox in tiers().await {
        let exit = async |program: String| run(sandbox, python(&program)).await.unwrap().exit;
        for code in [0, 1, 2, 77, 126, 127, 128, 193, 255] {
            let program = format!("import os; os._exit({code})");
            assert_eq!(exit(program).await, Exit::Code(code), "{sandbox:?}");
        }
        for signal in [1, 2, 6, 9, 11, 13, 15] {
            let program = format!(
                "import os, signal
if {signal} != 9: signal.signal({signal}, signal.SIG_DFL)
os.kill(os.getpid(), {signal})"
            );
            assert_eq!(exit(program).await, Exit::Signal(signal), "{sandbox:?}");
        }
    }
}

/// The reason why a command is not started, in every tier.
async fn not_started(command: &Command) -> Vec<String> {
    let mut reasons = Vec::new();
    for sandbox in tiers().await {
        match run(sandbox, command.clone()).await {
            Err(RunError::NotStarted(reason)) => reasons.push(reason),
            other => panic!("{sandbox:?}: {other:?}"),
        }
    }
    reasons
}

#[tokio::test]
async fn a_program_that_can_not_be_started_is_named() {
    for reason in not_started(&Command::new("/usr/bin/no-such-program")).await {
        assert!(reason.contains("/usr/bin/no-such-program"), "{reason}");
        assert!(reason.contains("No such file"), "{reason}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let mut command = Command::new(&file);
    command.read = vec![folder.path().into()];
    for reason in not_started(&command).await {
        assert!(reason.contains("Permission denied"), "{reason}");
    }
    for reason in not_started(&Command::new("python3")).await {
        assert!(reason.contains("absolute"), "{reason}");
    }
    let mut command = Command::new(PYTHON);
    command.cwd = Some("/no/such/folder".into());
    for reason in not_started(&command).await {
        assert!(reason.contains("/no/such/folder"), "{reason}");
    }
}

#[tokio::test]
async fn a_server_that_can_not_be_started_says_why_in_the_end() {
    for sandbox in tiers().await {
        let command = Command::new("/usr/bin/no-such-program");
        let error = match sandbox.spawn(command, ample()).await {
            Ok(child) => child.wait().await.unwrap_err(),
            Err(error) => error,
        };
        assert!(matches!(error, RunError::NotStarted(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_message_of_the_command_is_no_failure_to_start() {
    let program = "
import sys
sys.stderr.write('bwrap: execvp /x: No such file or directory\\n')
sys.exit(1)";
    for sandbox in tiers().await {
        let finished = run(sandbox, python(program)).await.unwrap();
        assert_eq!(finished.exit, Exit::Code(1), "{sandbox:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_commands_run_at_once() {
    const COMMANDS: usize = 20;
    for sandbox in places().await {
        let runs = (0..COMMANDS).map(|number| {
            tokio::spawn(async move {
                let program = "
import os, sys
print(sys.stdin.read(), os.environ['NUMBER'], sorted(os.listdir(os.environ['TMPDIR'])))
open(os.environ['TMPDIR'] + '/file', 'w')";
                let mut command = python(program);
                command.env = [("NUMBER".into(), number.to_string().into())].into();
                let input = format!("input {number}").into_bytes();
                let never = future::pending();
                let finished = sandbox.run(command, input, ample(), never).await.unwrap();
                (number, String::from_utf8(finished.stdout).unwrap())
            })
        });
        for run in runs.collect::<Vec<_>>() {
            let (number, output) = run.await.unwrap();
            assert_eq!(
                output,
                format!("input {number} {number} []\n"),
                "{sandbox:?}"
            );
        }
    }
}

#[test]
fn a_command_outlives_the_threads_of_a_runtime() {
    // The kernel ends a child with the thread that started it, and this runtime ends such threads
    // as soon as they are idle.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_keep_alive(Duration::from_millis(1))
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        for sandbox in tiers().await {
            let start = async move { sandbox.spawn(python("input()"), ample()).await.unwrap() };
            let handle = tokio::runtime::Handle::current();
            let start = tokio::task::spawn_blocking(move || handle.block_on(start));
            let mut child = start.await.unwrap();
            tokio::time::sleep(Duration::from_millis(300)).await;
            child
                .stdin
                .as_mut()
                .unwrap()
                .write_all(b"\n")
                .await
                .unwrap();
            let (exit, _) = child.wait().await.unwrap();
            assert_eq!(exit, Exit::Code(0), "{sandbox:?}");
        }
    });
}

#[tokio::test]
async fn the_report_names_both_tiers_and_what_is_weaker() {
    let report = check().await;
    assert_eq!(report.best(), Some(Tier::Bubblewrap));
    assert!(report.kernel.starts_with("Linux "), "{report:?}");
    assert!(
        report
            .bubblewrap
            .as_deref()
            .is_some_and(|text| text.contains("bubblewrap"))
    );
    assert!(report.seccomp && report.landlock.is_some_and(|version| version > 0));
    let tiers: Vec<_> = report
        .tiers
        .iter()
        .map(|tier| (tier.tier, tier.trial.clone()))
        .collect();
    assert_eq!(tiers, Tier::ALL.map(|tier| (tier, Ok(()))));
    let weaknesses = |tier: usize| report.tiers[tier].weaknesses.len();
    assert!(weaknesses(0) < weaknesses(1));
    for weakness in report.tiers.iter().flat_map(|tier| &tier.weaknesses) {
        assert!(!weakness.to_string().is_empty());
    }
    assert_eq!(Sandbox::best().await.unwrap().tier(), Tier::Bubblewrap);
}

#[tokio::test]
async fn limits_too_small_to_start_anything_are_refused() {
    let limits = Limits {
        open_files: 0,
        ..ample()
    };
    for sandbox in tiers().await {
        let result = support::run_within(sandbox, python("print(1)"), limits.clone()).await;
        let refused = match &result {
            Err(_) => true,
            Ok(finished) => !finished.exit.success(),
        };
        assert!(refused, "{sandbox:?}: {result:?}");
    }
}

#[tokio::test]
async fn the_largest_limits_are_none() {
    let limits = Limits {
        wall_time: Some(Duration::MAX),
        cpu_time: Some(Duration::MAX),
        cpu_percent: None,
        memory_bytes: u64::MAX,
        processes: u32::MAX,
        file_bytes: u64::MAX,
        open_files: u32::MAX,
        stdout_bytes: u64::MAX,
        stderr_bytes: u64::MAX,
    };
    let program = "
import os
open(os.environ['HOME'] + '/file', 'w').write('x')
print(1)";
    for sandbox in places().await {
        let result = support::run_within(sandbox, python(program), limits.clone()).await;
        assert_eq!(result.unwrap().stdout, b"1\n", "{sandbox:?}");
    }
}
