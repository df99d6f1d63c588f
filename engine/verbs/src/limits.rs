//! The limits of the verbs. Each is documented in `docs/reference/limits.md`.

/// Maximum size of a request, of a planner's answer and of a manifest, in bytes.
pub const REQUEST_MAX_BYTES: usize = 16 << 20;

/// Maximum size of a policy, in bytes.
pub const POLICY_MAX_BYTES: usize = 1 << 20;

/// Maximum number of problems that a failure names. The others are counted.
pub const PROBLEMS_MAX: usize = 20;

/// Maximum number of tasks that have not ended.
pub const TASKS_MAX: usize = 256;

/// Maximum number of tasks that a failure lists.
pub const TASKS_LISTED_MAX: usize = 20;

/// Maximum size of a prompt, in bytes.
pub const PROMPT_MAX_BYTES: usize = 64 << 10;

/// Maximum number of assumptions of a file plan.
pub const ASSUMPTIONS_MAX: usize = 64;

/// Maximum size of an assumption, in bytes.
pub const ASSUMPTION_MAX_BYTES: usize = 1 << 10;

/// Maximum number of files that a request writes, and of its patches.
pub const FILES_MAX: usize = 1_024;

/// Maximum number of files in a task's `source/`.
pub const SOURCE_FILES_MAX: usize = 65_536;

/// Maximum size of a file that a request writes or patches, in bytes.
pub const FILE_MAX_BYTES: usize = 4 << 20;

/// Maximum size of all files that a request writes or patches, in bytes.
pub const FILES_MAX_BYTES: usize = 12 << 20;

/// Maximum size of a path, in bytes.
pub const PATH_MAX_BYTES: usize = 512;

/// Maximum size of a segment of a path, in bytes.
pub const PATH_SEGMENT_MAX_BYTES: usize = 128;

/// Maximum number of segments of a path.
pub const PATH_SEGMENTS_MAX: usize = 16;

/// Permissions of a file without a mode.
pub const MODE_DEFAULT: u32 = 0o644;

/// Greatest mode of a file: without setuid, setgid and sticky.
pub const MODE_MAX: u32 = 0o777;

/// Maximum number of hunks of a diff.
pub const HUNKS_MAX: usize = 10_000;

/// Maximum number of lines of a file and of a diff.
pub const LINES_MAX: usize = 1_000_000;

/// Maximum size of a command line, in bytes.
pub const COMMAND_MAX_BYTES: usize = 8 << 10;

/// Maximum number of words of a command line.
pub const COMMAND_WORDS_MAX: usize = 512;

/// Maximum number of commands that `&&` joins.
pub const COMMANDS_MAX: usize = 16;

/// Maximum number of dependencies of a plan.
pub const DEPENDENCIES_MAX: usize = 256;

/// Maximum size of the name of a package, in bytes.
pub const PACKAGE_NAME_MAX_BYTES: usize = 214;

/// Maximum size of the version of a package, in bytes.
pub const PACKAGE_VERSION_MAX_BYTES: usize = 128;

/// Maximum size of a file that declares dependencies, and of a lock file, in bytes.
pub const DECLARING_FILE_MAX_BYTES: usize = 4 << 20;

/// Maximum number of packages of a resolved closure.
pub const CLOSURE_MAX: usize = 8_192;

/// Maximum number of variables of an environment.
pub const ENV_MAX: usize = 128;

/// Maximum size of the name of a variable, in bytes.
pub const ENV_NAME_MAX_BYTES: usize = 128;

/// Maximum size of the value of a variable, in bytes.
pub const ENV_VALUE_MAX_BYTES: usize = 32 << 10;

/// Length of the longest line of an output in which readiness is searched, in bytes.
pub const READY_LINE_MAX_BYTES: usize = 64 << 10;

/// Steps of the search for readiness in the longest line: about half a second.
pub const READY_STEP_LIMIT: u64 = 20_000_000;

/// Time that an application has to become ready, unless `ready.timeout_sec` says otherwise, in seconds.
pub const READY_TIMEOUT_SEC: u32 = 30;

/// Maximum number of probes of a request.
pub const PROBES_MAX: usize = 64;

/// Maximum size of the path of a probe, in bytes.
pub const PROBE_PATH_MAX_BYTES: usize = 4 << 10;

/// Maximum number of headers of a probe.
pub const PROBE_HEADERS_MAX: usize = 32;

/// Maximum size of the name of a header, in bytes.
pub const HEADER_NAME_MAX_BYTES: usize = 128;

/// Maximum size of the value of a header, in bytes.
pub const HEADER_VALUE_MAX_BYTES: usize = 4 << 10;

/// Maximum size of an expected body, in bytes.
pub const EXPECT_BODY_MAX_BYTES: usize = 64 << 10;

/// Number of first bytes of a response in which an expected body is searched.
pub const RESPONSE_MAX_BYTES: usize = 1 << 20;

/// Maximum number of paths in `include`.
pub const INCLUDE_MAX: usize = 256;

/// Maximum number of findings that a scan lists. The others are counted.
pub const FINDINGS_MAX: usize = 1_000;

/// Number of first bytes of all files together that are scanned.
pub const SCAN_MAX_BYTES: usize = 64 << 20;

/// Maximum size of the path of a Unix socket on Linux, in bytes, without the final NUL.
pub const SOCKET_PATH_MAX_BYTES: usize = 107;
