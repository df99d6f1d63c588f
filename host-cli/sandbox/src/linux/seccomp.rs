//! The filter of system calls: a program in classic BPF, written here because one filter has to give
//! several error numbers and to refuse the x32 numbers of x86-64.
//!
//! The filter lists what is refused, as the fences proper are namespaces and Landlock. It closes what
//! they leave open: kernel interfaces with a large attack surface, and sockets.
//!
//! A command gets no `AF_UNIX` socket, only pairs of connected ones, which runtimes use between
//! their processes. A socket could connect to a service through a granted folder, even a read-only
//! one, and with the network of the machine to every abstract address. So could a pair of datagram
//! sockets: each message may have an address of its own.
//!
//! No file gets the bits by which others run it as its user or group: outside of the sandbox, where the
//! file may lie in a granted folder, they would have their effect.

use libc::{c_long, sock_filter};

use crate::{Network, Tier};

/// The last system call that was considered for this list: `mseal` of Linux 6.10. Calls
/// after it don't exist, as on an older kernel. The numbers are the same on both architectures.
const LAST_KNOWN_CALL: u32 = 462;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// The first number of the x32 interface, which calls the same functions by other numbers.
#[cfg(target_arch = "x86_64")]
const FIRST_X32_CALL: u32 = 0x4000_0000;

/// Calls that `libc` does not list for all C libraries and architectures.
const FCHMODAT2: c_long = 452;
#[cfg(target_arch = "x86_64")]
const KEXEC_FILE_LOAD: c_long = 320;
#[cfg(target_arch = "aarch64")]
const KEXEC_FILE_LOAD: c_long = 294;

/// All flags of `clone` that make a namespace. `CLONE_NEWTIME` is none of them: in `clone` its bit
/// belongs to the signal.
const NAMESPACE_FLAGS: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32;

/// The bits of a file's mode by which others run it as its user or group.
const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;

/// Calls that give a file a mode, with the argument that has the mode.
const OF_MODES: &[(c_long, u32)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
];

/// Calls that may make a file, with the argument that has the flags. The mode follows it.
const OF_NEW_FILES: &[(c_long, u32)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// The flags by which a file is made, and its mode is read.
const NEW_FILE: u32 = (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY) as u32;

/// The type of a socket without its flags.
const SOCKET_TYPE: u32 = 0xF;

/// Types of `AF_UNIX` sockets whose messages may have addresses. To the kernel a raw one is a datagram
/// socket.
const WITH_ADDRESSES: [i32; 2] = [libc::SOCK_DGRAM, libc::SOCK_RAW];

/// Terminal requests that type into a terminal.
const TYPING_REQUESTS: [u32; 2] = [0x5412 /* TIOCSTI */, 0x541C /* TIOCLINUX */];

/// Calls that both tiers refuse with `EPERM`.
const REFUSED: &[c_long] = &[
    // Asynchronous calls, which no filter sees.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Keys, which namespaces don't separate.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // Programs and events in the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    // Files by handle, which no path leads to.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // The machine.
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls that the Landlock tier refuses besides, as it has no namespaces.
const REFUSED_WITHOUT_NAMESPACES: &[c_long] = &[
    // The process group holds the tree together: a signal to it ends everything at once.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Landlock does not see changes of modes, owners and attributes, not even outside of its rules.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    // Queues, semaphores and memory that are shared by key or by id with every process of the machine.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // The priority of other processes.
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
];

/// Calls about the process in their first argument, which the Landlock tier allows about the calling
/// process only.
const OF_OTHERS: &[c_long] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// A refused call.
struct Rule {
    call: c_long,
    when: When,
    error: i32,
}

/// The arguments with which a call is refused. The kernel reads the lower half of each of these
/// arguments only, so the filter does too.
enum When {
    Always,
    AnyBit {
        argument: u32,
        bits: u32,
    },
    /// Each of two arguments has any of its bits.
    AnyBitOfEach([(u32, u32); 2]),
    OneOf {
        argument: u32,
        values: Vec<u32>,
    },
    NoneOf {
        argument: u32,
        values: Vec<u32>,
    },
    Masked {
        argument: u32,
        mask: u32,
        value: u32,
    },
}

/// What of Landlock the filter has to make up for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    /// Landlock permits `truncate` of files that it does not permit to write.
    pub(super) truncation: bool,
}

/// Returns the filter for a command. It is for this machine's architecture.
pub(super) fn filter(tier: Tier, network: Network, gaps: Gaps) -> Vec<sock_filter> {
    let mut rules = rules(tier, network);
    if gaps.truncation {
        rules.extend(truncation());
    }
    assemble(&rules)
}

/// Returns the bytes of a filter, as bubblewrap reads it.
pub(super) fn to_bytes(filter: &[sock_filter]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(filter));
    for instruction in filter {
        bytes.extend(instruction.code.to_ne_bytes());
        bytes.extend([instruction.jt, instruction.jf]);
        bytes.extend(instruction.k.to_ne_bytes());
    }
    bytes
}

fn rules(tier: Tier, network: Network) -> Vec<Rule> {
    let rule = |call, when, error| Rule { call, when, error };
    let refuse = |call: &c_long| rule(*call, When::Always, libc::EPERM);
    let mut rules: Vec<Rule> = REFUSED.iter().map(refuse).collect();

    // The flags of `clone3` are in memory, where no filter can read them. The C library then calls
    // `clone`.
    rules.push(rule(libc::SYS_clone3, When::Always, libc::ENOSYS));
    let bits = NAMESPACE_FLAGS;
    let when = When::AnyBit { argument: 0, bits };
    rules.push(rule(libc::SYS_clone, when, libc::EPERM));
    let values = TYPING_REQUESTS.to_vec();
    let when = When::OneOf {
        argument: 1,
        values,
    };
    rules.push(rule(libc::SYS_ioctl, when, libc::EPERM));

    // In a network namespace of its own the internet reaches only the command itself.
    let values = match (tier, network) {
        (Tier::Landlock, network) if network.is_own() => Vec::new(),
        (Tier::Bubblewrap | Tier::Landlock, _) => {
            vec![libc::AF_INET as u32, libc::AF_INET6 as u32]
        }
    };
    let when = When::NoneOf {
        argument: 0,
        values,
    };
    rules.push(rule(libc::SYS_socket, when, libc::EACCES));
    let values = vec![libc::AF_UNIX as u32];
    let when = When::NoneOf {
        argument: 0,
        values,
    };
    rules.push(rule(libc::SYS_socketpair, when, libc::EACCES));
    for kind in WITH_ADDRESSES {
        let (mask, value) = (SOCKET_TYPE, kind as u32);
        let when = When::Masked {
            argument: 1,
            mask,
            value,
        };
        rules.push(rule(libc::SYS_socketpair, when, libc::EACCES));
    }

    let bits = SET_ID;
    for (call, argument) in OF_MODES.iter().copied() {
        let when = When::AnyBit { argument, bits };
        rules.push(rule(call, when, libc::EPERM));
    }
    for (call, flags) in OF_NEW_FILES.iter().copied() {
        let when = When::AnyBitOfEach([(flags, NEW_FILE), (flags + 1, bits)]);
        rules.push(rule(call, when, libc::EPERM));
    }
    // Its flags and mode are in memory, where no filter can read them. Programs then call `openat`.
    rules.push(rule(libc::SYS_openat2, When::Always, libc::ENOSYS));

    // One call could fill a disk before its use is measured. Programs then write instead.
    rules.push(rule(libc::SYS_fallocate, When::Always, libc::EOPNOTSUPP));

    if tier == Tier::Landlock {
        rules.extend(REFUSED_WITHOUT_NAMESPACES.iter().map(refuse));
        // A signal to every process. Landlock limits signals since its version 6 only.
        let values = vec![-1i32 as u32];
        let when = When::OneOf {
            argument: 0,
            values,
        };
        rules.push(rule(libc::SYS_kill, when, libc::EPERM));
        // Limits and scheduling of other processes.
        for call in OF_OTHERS {
            let when = When::NoneOf {
                argument: 0,
                values: vec![0],
            };
            rules.push(rule(*call, when, libc::EPERM));
        }
    }
    rules
}

/// Refuses to cut files without opening them for writing, which Landlock judges.
fn truncation() -> Vec<Rule> {
    let cut = |call, argument| Rule {
        call,
        when: When::Masked {
            argument,
            mask: (libc::O_TRUNC | libc::O_ACCMODE) as u32,
            value: (libc::O_TRUNC | libc::O_RDONLY) as u32,
        },
        error: libc::EACCES,
    };
    let truncate = Rule {
        call: libc::SYS_truncate,
        when: When::Always,
        error: libc::EACCES,
    };
    vec![
        truncate,
        cut(libc::SYS_openat, 2),
        #[cfg(target_arch = "x86_64")]
        cut(libc::SYS_open, 1),
    ]
}

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IF_GREATER: u16 = (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16;
const IF_ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Offsets in `struct seccomp_data`.
const OFFSET_OF_CALL: u32 = 0;
const OFFSET_OF_ARCHITECTURE: u32 = 4;
const OFFSET_OF_ARGUMENTS: u32 = 16;
const SIZE_OF_ARGUMENT: u32 = 8;

/// Returns one instruction; `jt` and `jf` count the instructions to skip.
const fn step(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

const fn refuse(error: i32) -> sock_filter {
    step(RETURN, libc::SECCOMP_RET_ERRNO | error as u32, 0, 0)
}

fn assemble(rules: &[Rule]) -> Vec<sock_filter> {
    let mut program = vec![
        step(LOAD, OFFSET_OF_ARCHITECTURE, 0, 0),
        step(IF_EQUAL, ARCHITECTURE, 1, 0),
        step(RETURN, libc::SECCOMP_RET_KILL_PROCESS, 0, 0),
        step(LOAD, OFFSET_OF_CALL, 0, 0),
    ];
    // As unsigned numbers, the calls of x32 come after the last known one.
    #[cfg(target_arch = "x86_64")]
    const {
        assert!(FIRST_X32_CALL > LAST_KNOWN_CALL)
    };
    program.push(step(IF_GREATER, LAST_KNOWN_CALL, 0, 1));
    program.push(refuse(libc::ENOSYS));
    for rule in rules {
        let then = condition(&rule.when, rule.error);
        // Each condition is a few instructions long; a skip fits in a byte.
        let skip = u8::try_from(then.len()).expect("a condition is short");
        let call = u32::try_from(rule.call).expect("system calls have small numbers");
        program.push(step(IF_EQUAL, call, 0, skip));
        program.extend(then);
    }
    program.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0));
    program
}

/// Returns the instructions for a call whose number matched. They leave the number loaded.
fn condition(when: &When, error: i32) -> Vec<sock_filter> {
    let argument = |index: u32| step(LOAD, OFFSET_OF_ARGUMENTS + index * SIZE_OF_ARGUMENT, 0, 0);
    let reload = step(LOAD, OFFSET_OF_CALL, 0, 0);
    match when {
        When::Always => vec![refuse(error)],
        When::AnyBit { argument: a, bits } => vec![
            argument(*a),
            step(IF_ANY_BIT, *bits, 0, 1),
            refuse(error),
            reload,
        ],
        When::AnyBitOfEach([(a, bits), (other, other_bits)]) => vec![
            argument(*a),
            step(IF_ANY_BIT, *bits, 0, 3),
            argument(*other),
            step(IF_ANY_BIT, *other_bits, 0, 1),
            refuse(error),
            reload,
        ],
        When::Masked {
            argument: a,
            mask,
            value,
        } => vec![
            argument(*a),
            step(AND, *mask, 0, 0),
            step(IF_EQUAL, *value, 0, 1),
            refuse(error),
            reload,
        ],
        When::OneOf {
            argument: a,
            values,
        } => {
            let mut steps = vec![argument(*a)];
            for value in values {
                steps.extend([step(IF_EQUAL, *value, 0, 1), refuse(error)]);
            }
            steps.push(reload);
            steps
        }
        When::NoneOf {
            argument: a,
            values,
        } => {
            let mut steps = vec![argument(*a)];
            for (index, value) in values.iter().enumerate() {
                // Over the remaining values and the refusal.
                let skip = u8::try_from(values.len() - index).expect("few values");
                steps.push(step(IF_EQUAL, *value, skip, 0));
            }
            steps.extend([refuse(error), reload]);
            steps
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        AND, ARCHITECTURE, Gaps, IF_ANY_BIT, IF_EQUAL, IF_GREATER, LAST_KNOWN_CALL, LOAD,
        OF_OTHERS, REFUSED, REFUSED_WITHOUT_NAMESPACES, RETURN, filter, to_bytes,
    };
    use crate::{Network, Tier};
    use libc::{
        SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS, c_long, sock_filter,
    };

    const TIERS: [Tier; 2] = [Tier::Bubblewrap, Tier::Landlock];
    const NETWORKS: [Network; 5] = [
        Network::None,
        Network::Proxy,
        Network::Inbound,
        Network::InboundAndProxy,
        Network::Host,
    ];

    /// What the filter of a command answers.
    fn decide(tier: Tier, network: Network, data: (u32, u32, [u64; 6])) -> u32 {
        run(&filter(tier, network, Gaps::default()), &memory(data))
    }

    /// The kernel's `struct seccomp_data`.
    fn memory((architecture, call, arguments): (u32, u32, [u64; 6])) -> Vec<u8> {
        let mut memory = Vec::new();
        memory.extend(call.to_le_bytes());
        memory.extend(architecture.to_le_bytes());
        memory.extend([0; 8]);
        memory.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        memory
    }

    /// Runs a filter as the kernel does.
    fn run(program: &[sock_filter], memory: &[u8]) -> u32 {
        let (mut at, mut loaded) = (0, 0);
        loop {
            let step = program[at];
            at += 1;
            let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
            match step.code {
                LOAD => {
                    let from = step.k as usize;
                    loaded = u32::from_le_bytes(memory[from..from + 4].try_into().unwrap());
                }
                IF_EQUAL => at += jump(loaded == step.k),
                IF_GREATER => at += jump(loaded > step.k),
                IF_ANY_BIT => at += jump(loaded & step.k != 0),
                AND => loaded &= step.k,
                RETURN => return step.k,
                other => panic!("unknown instruction {other}"),
            }
        }
    }

    fn call(tier: Tier, network: Network, call: c_long, first: [u64; 2]) -> u32 {
        let arguments = [first[0], first[1], 0, 0, 0, 0];
        decide(tier, network, (ARCHITECTURE, call as u32, arguments))
    }

    const fn error(number: i32) -> u32 {
        SECCOMP_RET_ERRNO | number as u32
    }

    #[test]
    fn everyday_calls_are_allowed() {
        let calls = [
            libc::SYS_read,
            libc::SYS_openat,
            libc::SYS_execve,
            libc::SYS_clone,
            libc::SYS_ioctl,
            libc::SYS_futex,
            libc::SYS_kill,
            libc::SYS_prlimit64,
        ];
        for tier in TIERS {
            for number in calls {
                assert_eq!(call(tier, Network::None, number, [0, 0]), SECCOMP_RET_ALLOW);
            }
        }
    }

    #[test]
    fn listed_calls_are_refused() {
        for tier in TIERS {
            for network in NETWORKS {
                for number in REFUSED {
                    assert_eq!(call(tier, network, *number, [0, 0]), error(libc::EPERM));
                }
                let answer = call(tier, network, libc::SYS_clone3, [0, 0]);
                assert_eq!(answer, error(libc::ENOSYS));
            }
        }
        for number in REFUSED_WITHOUT_NAMESPACES {
            let landlock = call(Tier::Landlock, Network::None, *number, [0, 0]);
            assert_eq!(landlock, error(libc::EPERM));
            let bubblewrap = call(Tier::Bubblewrap, Network::None, *number, [0, 0]);
            assert_eq!(bubblewrap, SECCOMP_RET_ALLOW);
        }
    }

    #[test]
    fn other_architectures_and_interfaces_are_refused() {
        for tier in TIERS {
            let getpid = libc::SYS_getpid as u32;
            let decide =
                |architecture, call| decide(tier, Network::None, (architecture, call, [0; 6]));
            assert_eq!(decide(ARCHITECTURE, getpid), SECCOMP_RET_ALLOW);
            // i386, x32, and a call of the future.
            assert_eq!(decide(0x4000_0003, getpid), SECCOMP_RET_KILL_PROCESS);
            assert_eq!(
                decide(ARCHITECTURE, getpid | 0x4000_0000),
                error(libc::ENOSYS)
            );
            assert_eq!(
                decide(ARCHITECTURE, LAST_KNOWN_CALL + 1),
                error(libc::ENOSYS)
            );
        }
    }

    #[test]
    fn namespaces_can_not_be_made_by_clone() {
        for flag in [libc::CLONE_NEWUSER, libc::CLONE_NEWNS, libc::CLONE_NEWNET] {
            let flags = (flag | libc::SIGCHLD) as u64;
            let answer = call(Tier::Bubblewrap, Network::None, libc::SYS_clone, [flags, 0]);
            assert_eq!(answer, error(libc::EPERM));
        }
        let flags = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;
        let answer = call(Tier::Bubblewrap, Network::None, libc::SYS_clone, [flags, 0]);
        assert_eq!(answer, SECCOMP_RET_ALLOW);
    }

    #[test]
    fn typing_into_a_terminal_is_refused_also_with_set_upper_bits() {
        for request in [0x5412, 0x541C, 0x5412 | 1 << 32] {
            let answer = call(Tier::Landlock, Network::None, libc::SYS_ioctl, [0, request]);
            assert_eq!(answer, error(libc::EPERM));
        }
        let answer = call(Tier::Landlock, Network::None, libc::SYS_ioctl, [0, 0x5401]);
        assert_eq!(answer, SECCOMP_RET_ALLOW);
    }

    #[test]
    fn sockets_are_of_the_families_that_a_network_has() {
        for tier in TIERS {
            for network in NETWORKS {
                let internet = tier == Tier::Bubblewrap || network == Network::Host;
                for family in 0..64u64 {
                    let is_internet =
                        [libc::AF_INET as u64, libc::AF_INET6 as u64].contains(&family);
                    let socket = call(tier, network, libc::SYS_socket, [family, 0]);
                    let allowed = is_internet && internet;
                    assert_eq!(socket == SECCOMP_RET_ALLOW, allowed, "{tier} {family}");
                    let kinds = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET, libc::SOCK_DGRAM];
                    for kind in kinds.into_iter().chain([libc::SOCK_RAW]) {
                        let argument = (kind | libc::SOCK_CLOEXEC) as u64;
                        let pair = call(tier, network, libc::SYS_socketpair, [family, argument]);
                        let has_addresses = [libc::SOCK_DGRAM, libc::SOCK_RAW].contains(&kind);
                        let allowed = family == libc::AF_UNIX as u64 && !has_addresses;
                        assert_eq!(pair == SECCOMP_RET_ALLOW, allowed, "{tier} {family}");
                    }
                }
            }
        }
    }

    #[test]
    fn files_that_run_as_their_owner_can_not_be_made() {
        for network in NETWORKS {
            let answer = |number: c_long, arguments: [i32; 4]| {
                let [a, b, c, d] = arguments.map(|argument| argument as u64);
                let data = (ARCHITECTURE, number as u32, [a, b, c, d, 0, 0]);
                decide(Tier::Bubblewrap, network, data)
            };
            for mode in [0o755, 0o1777, 0o4755, 0o2755, 0o6000] {
                let expected = match mode & 0o6000 {
                    0 => SECCOMP_RET_ALLOW,
                    _ => error(libc::EPERM),
                };
                assert_eq!(answer(libc::SYS_fchmod, [3, mode, 0, 0]), expected);
                assert_eq!(answer(libc::SYS_fchmodat, [-100, 0, mode, 0]), expected);
                assert_eq!(answer(452, [-100, 0, mode, 0]), expected);
                assert_eq!(
                    answer(libc::SYS_mknodat, [-100, 0, mode | 0o100_000, 0]),
                    expected
                );
                for flags in [libc::O_CREAT, libc::O_TMPFILE] {
                    let flags = flags | libc::O_WRONLY;
                    assert_eq!(answer(libc::SYS_openat, [-100, 0, flags, mode]), expected);
                }
                // Without a new file the mode is not read, and may be anything.
                let flags = libc::O_WRONLY | libc::O_DIRECTORY;
                let opened = answer(libc::SYS_openat, [-100, 0, flags, mode]);
                assert_eq!(opened, SECCOMP_RET_ALLOW);
            }
            assert_eq!(answer(libc::SYS_openat2, [0; 4]), error(libc::ENOSYS));
        }
    }

    #[test]
    fn signals_to_all_and_limits_of_others_are_refused_without_namespaces() {
        let all = -1i64 as u64;
        let call = |number, first| call(Tier::Landlock, Network::None, number, [first, 0]);
        assert_eq!(call(libc::SYS_kill, all), error(libc::EPERM));
        assert_eq!(
            call(libc::SYS_kill, u64::from(u32::MAX)),
            error(libc::EPERM)
        );
        for number in OF_OTHERS {
            assert_eq!(call(*number, 1), error(libc::EPERM));
            assert_eq!(call(*number, 0), SECCOMP_RET_ALLOW);
        }
    }

    #[test]
    fn files_are_not_cut_where_landlock_does_not_see_it() {
        let answer = |truncation, call: c_long, arguments: [i32; 3]| {
            let [a, b, c] = arguments.map(|argument| argument as u64);
            let data = (ARCHITECTURE, call as u32, [a, b, c, 0, 0, 0]);
            let filter = filter(Tier::Landlock, Network::None, Gaps { truncation });
            run(&filter, &memory(data))
        };
        let (open, cut) = (libc::SYS_openat, libc::O_TRUNC | libc::O_CLOEXEC);
        assert_eq!(answer(true, open, [0, 0, cut]), error(libc::EACCES));
        assert_eq!(answer(false, open, [0, 0, cut]), SECCOMP_RET_ALLOW);
        // Landlock judges these.
        assert_eq!(
            answer(true, open, [0, 0, cut | libc::O_WRONLY]),
            SECCOMP_RET_ALLOW
        );
        assert_eq!(
            answer(true, open, [0, 0, libc::O_CLOEXEC]),
            SECCOMP_RET_ALLOW
        );
        assert_eq!(
            answer(true, libc::SYS_truncate, [0; 3]),
            error(libc::EACCES)
        );
        assert_eq!(answer(true, libc::SYS_openat2, [0; 3]), error(libc::ENOSYS));
    }

    #[test]
    fn the_bytes_of_a_filter_are_eight_for_each_instruction() {
        let filter = filter(Tier::Bubblewrap, Network::None, Gaps::default());
        let bytes = to_bytes(&filter);
        assert_eq!(bytes.len(), filter.len() * 8);
        assert_eq!(bytes[..8], [0x20, 0, 0, 0, 4, 0, 0, 0]);
    }
}
