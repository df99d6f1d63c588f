//! The parts of the machine that every command may read.

use std::path::Path;

/// Folders of programs and libraries. Where one is a link, as `/bin` often is, the sandbox has the
/// same link.
pub(super) const FOLDERS: [&str; 7] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
];

/// What programs read of `/etc`: the loader, certificates, locale and names. Nothing else of it.
pub(super) const ETC: [&str; 16] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/ld.so.cache",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

/// What programs read besides to resolve names of the machine's network.
pub(super) const ETC_OF_NETWORK: [&str; 2] = ["/etc/hosts", "/etc/resolv.conf"];

/// The lists of users, which the bubblewrap tier replaces by its own.
pub(super) const ETC_OF_USERS: [&str; 2] = ["/etc/group", "/etc/passwd"];

/// Files of `/proc` about the memory, keys and timers of the whole machine, which the bubblewrap tier hides:
/// the kernel shows some to every process, and others to those of root, who keeps his files in a sandbox too.
pub(super) const MASKED: [&str; 12] = [
    "/proc/kcore",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/latency_stats",
    "/proc/pagetypeinfo",
    "/proc/sched_debug",
    "/proc/slabinfo",
    "/proc/timer_list",
    "/proc/vmallocinfo",
];

/// Files of `/proc` about the machine, for the Landlock tier, which sees the machine's `/proc`. None
/// is about a process.
pub(super) const PROC: [&str; 7] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
];

/// Devices for the Landlock tier, which sees the machine's `/dev`.
pub(super) const DEVICES: [&str; 5] = [
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];

/// Returns the first of several paths that is a file.
pub(super) fn find(paths: &[&'static str]) -> Option<&'static Path> {
    paths
        .iter()
        .copied()
        .map(Path::new)
        .find(|path| path.is_file())
}
