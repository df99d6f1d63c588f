"""An app that tries to leave its sandbox.

It is posted what is outside, makes each attempt in a separate process, and answers with one line of JSON for
each: its name, and the error or the value that came of it. With the argument `outside`, it makes the attempts
that are listed in its input without a sandbox: they show that an attempt finds what it looks for.

Calls that could harm a machine have arguments with which the kernel refuses them anyway.
"""

import ctypes
import errno
import http.server
import json
import mmap
import os
import platform
import resource
import signal
import socket
import struct
import subprocess
import sys
import time

# Before anything else is opened.
DESCRIPTORS = {name: os.readlink(f'/proc/self/fd/{name}') for name in os.listdir('/proc/self/fd')
               if os.path.exists(f'/proc/self/fd/{name}')}

LIBC = ctypes.CDLL(None, use_errno=True)
IS_X86 = platform.machine() == 'x86_64'
MIB = 1 << 20
# Longer than any attempt takes, in seconds.
LONGEST = 20
# The size of a file, and of a private folder, that the sandbox allows, in bytes.
FILE_LIMIT = 256 * MIB
# What an attempt fills at most, in bytes.
MOST = 400 * MIB

# By name, the number of a system call on x86-64 and on AArch64.
NUMBERS = {
    'acct': (163, 89), 'add_key': (248, 217), 'adjtimex': (159, 171), 'bpf': (321, 280),
    'capset': (126, 91), 'chroot': (161, 51), 'clock_settime': (227, 112), 'clone': (56, 220),
    'clone3': (435, 435), 'delete_module': (176, 106), 'fanotify_init': (300, 262),
    'fchmodat2': (452, 452), 'finit_module': (313, 273), 'fsopen': (430, 430), 'future': (470, 470),
    'init_module': (175, 105), 'io_uring_setup': (425, 425), 'ioprio_set': (251, 30),
    'ioperm': (173, None), 'iopl': (172, None), 'kcmp': (312, 272),
    'kexec_file_load': (320, 294), 'kexec_load': (246, 104),
    'keyctl': (250, 219), 'migrate_pages': (256, 238), 'modify_ldt': (154, None),
    'mount': (165, 40), 'mount_setattr': (442, 442), 'move_mount': (429, 429),
    'move_pages': (279, 239), 'name_to_handle_at': (303, 264), 'open_by_handle_at': (304, 265),
    'open_tree': (428, 428), 'openat2': (437, 437), 'perf_event_open': (298, 241),
    'pidfd_getfd': (438, 438), 'pidfd_open': (434, 434), 'pivot_root': (155, 41),
    'process_madvise': (440, 440), 'process_vm_readv': (310, 270), 'process_vm_writev': (311, 271),
    'ptrace': (101, 117), 'quotactl': (179, 60), 'reboot': (169, 142), 'request_key': (249, 218),
    'sethostname': (170, 161), 'setdomainname': (171, 162), 'setns': (308, 268),
    'settimeofday': (164, 170), 'shmget': (29, 194), 'swapoff': (168, 225), 'swapon': (167, 224),
    'syslog': (103, 116), 'umount2': (166, 39), 'unshare': (272, 97), 'userfaultfd': (323, 282),
    'x32': (0x40000000 + 39, None),
}

ATTEMPTS = {}
# Those that the process of the app makes itself.
OF_THE_APP = set()


def attempt(name, action=None):
    """Names an attempt. The action gets what is outside, and returns what it has seen."""
    def add(action):
        assert name not in ATTEMPTS, name
        ATTEMPTS[name] = action
        return action
    return add(action) if action else add


def outcome_of(name, outside):
    """Makes an attempt here."""
    try:
        seen = ATTEMPTS[name](outside)
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
    except Exception as error:
        return f'{type(error).__name__}: {error}'
    return seen if isinstance(seen, str) else f'passed: {seen!r}'


def make(name, outside):
    """Makes an attempt in a separate process."""
    if name in OF_THE_APP:
        return outcome_of(name, outside)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(LONGEST)
        os.write(writer, outcome_of(name, outside).encode()[:4000])
        os._exit(0)
    os.close(writer)
    with open(reader, 'rb') as file:
        seen = file.read().decode()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return f'killed by {signal.Signals(os.WTERMSIG(status)).name}'
    return seen


def call(name, *arguments):
    """Makes a system call."""
    words = [argument if isinstance(argument, bytes) else ctypes.c_long(argument)
             for argument in arguments]
    ctypes.set_errno(0)
    answer = LIBC.syscall(ctypes.c_long(NUMBERS[name][0 if IS_X86 else 1]), *words)
    if answer < 0:
        raise OSError(ctypes.get_errno(), name)
    return answer


def read(path):
    with open(path, 'rb') as file:
        return file.read(200)


def look(path):
    """Reads a file or lists a folder."""
    return os.listdir(path)[:10] if os.path.isdir(path) else read(path)


def open_to_write(path):
    """Opens a file for writing, and writes nothing."""
    os.close(os.open(path, os.O_WRONLY))
    return 'opened'


def new_name():
    return f'escape-{os.getpid()}'


def new_file():
    with open(new_name(), 'wb') as file:
        file.write(b'x')
    return new_name()


# Files outside.

for name, path in {
    'shadow': '/etc/shadow', 'root-home': '/root', 'log-folder': '/var/log', 'run': '/run',
    'sys': '/sys/kernel', 'mounted-disks': '/etc/fstab', 'ssh-keys': '/etc/ssh',
    'machine-id': '/etc/machine-id', 'boot': '/boot',
    'kernel-memory': '/dev/mem', 'kernel-log': '/dev/kmsg', 'control-groups': '/sys/fs/cgroup',
    'proc-kcore': '/proc/kcore', 'proc-kmsg': '/proc/kmsg', 'proc-pages': '/proc/kpageflags',
    'proc-page-counts': '/proc/kpagecount', 'proc-slabs': '/proc/slabinfo',
    'proc-timers': '/proc/timer_list', 'proc-vmalloc': '/proc/vmallocinfo',
    'proc-root-of-first': '/proc/1/root/etc/shadow', 'proc-own-root': '/proc/self/root/etc/shadow',
    'proc-cwd-of-first': '/proc/1/cwd/etc/shadow', 'proc-keys': '/proc/keys',
    'proc-page-types': '/proc/pagetypeinfo', 'proc-page-groups': '/proc/kpagecgroup',
    'dots': '../' * 40 + 'etc/shadow', 'dots-of-app': '/app/../manifest.json',
}.items():
    attempt(f'read {name}', lambda outside, path=path: look(path))

for name in ['secret', 'tasks', 'other_task', 'state', 'sockets', 'home', 'build']:
    attempt(f'read {name}', lambda outside, name=name: look(outside[name]))


@attempt('read by symbolic link')
def _(outside):
    os.symlink(outside['secret'], new_name())
    return read(new_name())


@attempt('read by link through /proc')
def _(outside):
    os.symlink('/proc/1/root' + outside['secret'], new_name())
    return read(new_name())


@attempt('read by handle')
def _(outside):
    return call('open_by_handle_at', -100, 0, 0)


@attempt('make a handle')
def _(outside):
    return call('name_to_handle_at', -100, b'/usr', b'\0' * 160, b'\0' * 8, 0)


@attempt('folders of home')
def _(outside):
    return ' '.join(os.listdir('/home'))


@attempt('devices')
def _(outside):
    usual = {'console', 'core', 'fd', 'full', 'null', 'ptmx', 'pts', 'random', 'shm', 'stderr',
             'stdin', 'stdout', 'tty', 'urandom', 'zero'}
    others = sorted(set(os.listdir('/dev')) - usual)
    return 'usual' if not others else f'passed: {others}'


# What can be changed.

for name, path in {
    'root': '/', 'usr': '/usr/bin/', 'etc': '/etc/', 'dev': '/dev/', 'proc': '/proc/',
    'home': '/home/', 'parent': '/app/../',
}.items():
    attempt(f'new file in {name}', lambda outside, path=path: os.close(
        os.open(path + new_name(), os.O_WRONLY | os.O_CREAT | os.O_EXCL)))

for name, path in {
    'program': '/usr/bin/env', 'users': '/etc/passwd', 'core-pattern': '/proc/sys/kernel/core_pattern',
    'host-name': '/proc/sys/kernel/hostname', 'forwarding': '/proc/sys/net/ipv4/ip_forward',
    'sysrq': '/proc/sysrq-trigger', 'own-program': '/proc/self/exe', 'first-program': '/proc/1/exe',
    'user-map': '/proc/self/uid_map', 'groups': '/proc/self/setgroups',
    'oom-score': '/proc/self/oom_score_adj', 'oom-score-of-first': '/proc/1/oom_score_adj',
    'memory-of-first': '/proc/1/mem', 'drop-caches': '/proc/sys/vm/drop_caches',
    'next-pid': '/proc/sys/kernel/ns_last_pid', 'irq': '/proc/irq/default_smp_affinity',
}.items():
    attempt(f'write {name}', lambda outside, path=path: open_to_write(path))

attempt('write secret', lambda outside: open_to_write(outside['secret']))
attempt('mode of a program', lambda outside: os.chmod('/usr/bin/env', 0o4755))
attempt('owner of a program', lambda outside: os.chown('/usr/bin/env', 1000, 1000))
attempt('remove a program', lambda outside: os.remove('/usr/bin/env'))
attempt('cut a program', lambda outside: os.truncate('/usr/bin/env', 0))
attempt('replace the app folder', lambda outside: os.rename('/app', '/app-2'))
attempt('link a program', lambda outside: os.link('/usr/bin/env', '/app/' + new_name()))
attempt('map a program to write', lambda outside: mmap.mmap(
    os.open('/usr/bin/env', os.O_RDONLY), 4096, mmap.MAP_SHARED, mmap.PROT_WRITE))
attempt('block device', lambda outside: os.mknod(new_name(), 0o60600, os.makedev(254, 0)))
attempt('character device', lambda outside: os.mknod(new_name(), 0o20600, os.makedev(1, 1)))
attempt('device in /tmp', lambda outside: os.mknod('/tmp/' + new_name(), 0o20600, os.makedev(1, 1)))
attempt('owner of an own file', lambda outside: os.chown(new_file(), 0, 0))
attempt('capability of a file', lambda outside: os.setxattr(
    new_file(), 'security.capability', struct.pack('<5I', 0x02000001, 0xffffffff, 0, 0, 0)))


@attempt('file that can not be removed')
def _(outside):
    import fcntl
    with open(new_file(), 'rb') as file:
        # FS_IOC_SETFLAGS with FS_IMMUTABLE_FL.
        fcntl.ioctl(file, 0x40086602, struct.pack('<q', 0x10))


# A file that another user of the machine could run as this one.

def is_special(path):
    return bool(os.stat(path).st_mode & 0o6000)


def special_by_chmod(bits):
    path = new_file()
    os.chmod(path, bits | 0o755)
    return is_special(path)


def special_by_open(flags):
    path = new_name()
    file = os.open('.' if flags & os.O_DIRECTORY else path, os.O_WRONLY | flags, 0o4755)
    return bool(os.fstat(file).st_mode & 0o6000)


@attempt('set-user-id by fchmodat2')
def _(outside):
    call('fchmodat2', -100, new_file().encode(), 0o4755, 0)
    return is_special(new_name())


@attempt('set-user-id by openat2')
def _(outside):
    how = struct.pack('<3Q', os.O_WRONLY | os.O_CREAT, 0o4755, 0)
    file = call('openat2', -100, new_name().encode(), how, len(how))
    return bool(os.fstat(file).st_mode & 0o6000)


@attempt('set-user-id by fchmod')
def _(outside):
    file = os.open(new_file(), os.O_RDONLY)
    os.fchmod(file, 0o4755)
    return is_special(file)


@attempt('set-user-id by mknod')
def _(outside):
    os.mknod(new_name(), 0o104755)
    return is_special(new_name())


attempt('set-user-id by chmod', lambda outside: special_by_chmod(0o4000))
attempt('set-group-id by chmod', lambda outside: special_by_chmod(0o2000))
attempt('set-user-id by open', lambda outside: special_by_open(os.O_CREAT | os.O_EXCL))
attempt('set-user-id by temporary file', lambda outside: special_by_open(os.O_TMPFILE))


@attempt('a sandbox in the sandbox')
def _(outside):
    command = ['/usr/bin/bwrap', '--unshare-all', '--ro-bind', '/', '/', '--', '/bin/true']
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return 'refused' if ended.returncode else 'passed: made'


@attempt('own rights')
def _(outside):
    status = open('/proc/self/status').read().split('\n')
    wanted = ('Cap', 'NoNewPrivs', 'Seccomp:')
    seen = {line.split(':')[0]: line.split()[1] for line in status if line.startswith(wanted)}
    empty = all(int(value, 16) == 0 for name, value in seen.items() if name.startswith('Cap'))
    is_usual = empty and seen['NoNewPrivs'] == '1' and seen['Seccomp'] == '2'
    return 'none' if is_usual else f'passed: {seen}'


# Networks.

def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(5)
        connection.connect(address)
        connection.sendall(b'x')
    return 'connected'


def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        sender.settimeout(0.2)
        sender.connect(address)
        sender.send(b'x')
        # Fails without a listener, or times out where it was delivered.
        sender.recv(1)


def through_pair(kind, outside, address):
    """Sends to an address from one of two connected sockets."""
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    one.sendto(b'x', address)
    other.settimeout(0.2)
    try:
        other.recv(1)
        return 'sent to the pair'
    except TimeoutError:
        return 'passed: sent elsewhere'


attempt('tcp to the machine', lambda outside: connect(socket.AF_INET, ('127.0.0.1', outside['tcp'])))
attempt('tcp to any address', lambda outside: connect(socket.AF_INET, ('0.0.0.0', outside['tcp'])))
attempt('tcp to the machine, mapped', lambda outside: connect(
    socket.AF_INET6, ('::ffff:127.0.0.1', outside['tcp'])))
attempt('tcp to the machine, version 6', lambda outside: connect(
    socket.AF_INET6, ('::1', outside['tcp6'])))
attempt('udp to the machine', lambda outside: send(socket.AF_INET, ('127.0.0.1', outside['udp'])))
attempt('tcp to the internet', lambda outside: connect(socket.AF_INET, ('192.0.2.1', 80)))
attempt('udp to the internet', lambda outside: send(socket.AF_INET, ('192.0.2.1', 53)))
attempt('tcp to the internet, version 6', lambda outside: connect(
    socket.AF_INET6, ('2001:db8::1', 80)))
attempt('other interfaces', lambda outside: ' '.join(name for _, name in socket.if_nameindex()))
attempt('unix socket of a task', lambda outside: connect(socket.AF_UNIX, outside['socket']))
attempt('unix socket in the app folder', lambda outside: connect(
    socket.AF_UNIX, outside['stream_in_app']))
attempt('abstract unix socket', lambda outside: connect(socket.AF_UNIX, '\0' + outside['abstract']))
attempt('datagram to the app folder', lambda outside: through_pair(
    socket.SOCK_DGRAM, outside, outside['datagram_in_app']))
attempt('datagram to the app folder, raw', lambda outside: through_pair(
    socket.SOCK_RAW, outside, outside['datagram_in_app']))
attempt('datagram to an abstract name', lambda outside: through_pair(
    socket.SOCK_DGRAM, outside, '\0' + outside['abstract_datagram']))
attempt('stream pair to the app folder', lambda outside: through_pair(
    socket.SOCK_STREAM, outside, outside['stream_in_app']))
attempt('packet pair to the app folder', lambda outside: through_pair(
    socket.SOCK_SEQPACKET, outside, outside['stream_in_app']))

for name, family, kind, protocol in [
    ('netlink', 16, socket.SOCK_RAW, 0), ('packet', 17, socket.SOCK_RAW, 0),
    ('vsock', 40, socket.SOCK_STREAM, 0), ('crypto', 38, socket.SOCK_SEQPACKET, 0),
    ('bluetooth', 31, socket.SOCK_RAW, 0), ('can', 29, socket.SOCK_RAW, 1),
    ('key', 15, socket.SOCK_RAW, 2), ('xdp', 44, socket.SOCK_RAW, 0),
    ('tipc', 30, socket.SOCK_RDM, 0), ('rds', 21, socket.SOCK_SEQPACKET, 0),
    ('smc', 43, socket.SOCK_STREAM, 0), ('qrtr', 42, socket.SOCK_DGRAM, 0),
    ('raw', 2, socket.SOCK_RAW, 1), ('raw, version 6', 10, socket.SOCK_RAW, 58),
    ('raw ip', 2, socket.SOCK_RAW, 255),
]:
    attempt(f'{name} socket', lambda outside, arguments=(family, kind, protocol):
            socket.socket(*arguments).fileno())


@attempt('sockets of every other family')
def _(outside):
    made = []
    for family in set(range(64)) - {socket.AF_INET, socket.AF_INET6}:
        for kind in [1, 2, 3, 5]:
            try:
                socket.socket(family, kind).close()
                made.append(family)
            except OSError:
                pass
    return 'none' if not made else f'passed: {made}'


@attempt('change an interface')
def _(outside):
    import fcntl
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        # SIOCSIFADDR with an address of version 4.
        address = struct.pack('<16sHH4s8x', b'lo', socket.AF_INET, 0, bytes([192, 0, 2, 9]))
        fcntl.ioctl(control, 0x8916, address)


@attempt('bind to a device')
def _(outside):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, 25, b'eth0\0')


# Processes outside.

attempt('signal to the supervisor', lambda outside: os.kill(outside['supervisor'], 0))
attempt('signal to a group', lambda outside: os.killpg(outside['victim'], 0))
attempt('signal to all', lambda outside: os.kill(-1, 0))
OF_THE_APP.add('signal to all')
attempt('handle of a process', lambda outside: call('pidfd_open', outside['victim'], 0))
attempt('handle by /proc', lambda outside: os.open(f'/proc/{outside["victim"]}', os.O_RDONLY))
attempt('environment of a process', lambda outside: read(f'/proc/{outside["victim"]}/environ'))
attempt('command line of a process', lambda outside: read(f'/proc/{outside["supervisor"]}/cmdline'))
attempt('trace', lambda outside: call('ptrace', 0, 0, 0, 0))
attempt('trace a process', lambda outside: call('ptrace', 0x4206, outside['victim'], 0, 0))
attempt('trace the first process', lambda outside: call('ptrace', 0x4206, 1, 0, 0))
attempt('read memory', lambda outside: call('process_vm_readv', outside['victim'], 0, 0, 0, 0, 0))
attempt('read memory of the first', lambda outside: call('process_vm_readv', 1, 0, 0, 0, 0, 0))
attempt('write memory', lambda outside: call('process_vm_writev', outside['victim'], 0, 0, 0, 0, 0))
attempt('take a descriptor', lambda outside: call('pidfd_getfd', -1, 0, 0))
attempt('compare processes', lambda outside: call('kcmp', os.getpid(), os.getpid(), 0, 0, 0))
attempt('move pages', lambda outside: call('move_pages', outside['victim'], 0, 0, 0, 0, 0))
attempt('advise on memory', lambda outside: call('process_madvise', -1, 0, 0, 0, 0))
attempt('limits of a process', lambda outside: resource.prlimit(
    outside['victim'], resource.RLIMIT_CORE))
attempt('affinity of a process', lambda outside: os.sched_getaffinity(outside['victim']))
attempt('priority of a process', lambda outside: os.getpriority(os.PRIO_PROCESS, outside['victim']))
attempt('session of a process', lambda outside: os.getsid(outside['victim']))
attempt('shared memory of a process', lambda outside: call('shmget', outside['shared_memory'], 0, 0))
# The last one: it ends the process.
attempt('signal to a process', lambda outside: os.kill(outside['victim'], signal.SIGUSR1))


@attempt('processes in /proc')
def _(outside):
    # The first one, the app, and the one that looks.
    seen = [int(name) for name in os.listdir('/proc') if name.isdigit()]
    return 'own' if set(seen) <= {1, os.getppid(), os.getpid()} else f'passed: {seen}'


@attempt('processes by signal')
def _(outside):
    reached = []
    for process in range(1, 1 << 16):
        try:
            os.kill(process, 0)
            reached.append(process)
        except OSError:
            pass
    return 'own' if set(reached) <= {1, os.getppid(), os.getpid()} else f'passed: {reached[:20]}'


@attempt('files of the first process')
def _(outside):
    # The pipes of the app, and what has no name.
    targets = {os.readlink(f'/proc/1/fd/{name}') for name in os.listdir('/proc/1/fd')}
    named = [target for target in targets if not target.startswith(('pipe:', 'anon_inode:'))]
    return 'without names' if not named else f'passed: {named}'


@attempt('memory of the first process')
def _(outside):
    found = []
    with open('/proc/1/mem', 'rb', 0) as memory:
        for line in open('/proc/1/maps'):
            words = line.split()
            if 'r' in words[1] and '[v' not in line:
                begin, end = (int(word, 16) for word in words[0].split('-'))
                memory.seek(begin)
                if outside['value'].encode() in memory.read(min(end - begin, 64 * MIB)):
                    found.append(line)
    return 'no value of the host' if not found else f'passed: {found}'


@attempt('environments in /proc')
def _(outside):
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/environ', 'rb') as file:
                if outside['value'].encode() in file.read():
                    return f'passed: {name}'
        except OSError:
            pass
    return 'no value of the host'


@attempt('environment')
def _(outside):
    # Python adds another variable.
    return ' '.join(sorted(set(os.environ) - {'LC_CTYPE'}))


@attempt('inherited descriptors')
def _(outside):
    is_pipe = all(target.startswith('pipe:') for target in DESCRIPTORS.values())
    names = ' '.join(sorted(DESCRIPTORS))
    return names if is_pipe else f'passed: {DESCRIPTORS}'


for name in ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts']:
    attempt(f'{name} namespace', lambda outside, name=name:
            'other' if os.readlink(f'/proc/self/ns/{name}') != outside['namespaces'][name]
            else 'passed: that of the machine')

attempt('terminal', lambda outside: os.open('/dev/tty', os.O_RDWR))


# Calls to the kernel.

def clone_into(flags):
    child = call('clone', flags | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return child


for name, flag in {'user': 0x10000000, 'mnt': 0x20000, 'net': 0x40000000, 'pid': 0x20000000,
                   'ipc': 0x8000000, 'uts': 0x4000000, 'cgroup': 0x2000000}.items():
    attempt(f'unshare {name}', lambda outside, flag=flag: call('unshare', flag))
    attempt(f'clone into {name}', lambda outside, flag=flag: clone_into(flag))

for name, arguments in {
    'io_uring_setup': (0, 0), 'userfaultfd': (0xffffffff,), 'bpf': (0xffff, 0, 0),
    'perf_event_open': (0, 0, -1, -1, 0), 'keyctl': (0, -3, 0, 0, 0), 'add_key': (0, 0, 0, 0, 0),
    'request_key': (0, 0, 0, 0), 'fanotify_init': (0xffffffff, 0), 'clone3': (0, 0),
    'mount': (0, 0, 0, 0, 0), 'umount2': (b'/no/such', 0), 'pivot_root': (b'/no/such', b'/no/such'),
    'chroot': (b'.',), 'open_tree': (-100, b'/', 0), 'move_mount': (-1, b'', -1, b'', 0),
    'fsopen': (b'tmpfs', 0), 'mount_setattr': (-1, 0, 0, 0, 0), 'migrate_pages': (-1, 0, 0, 0),
    'swapon': (b'/no/such', 0), 'swapoff': (b'/no/such',), 'reboot': (0, 0, 0, 0),
    'init_module': (0, 0, 0), 'finit_module': (-1, b'', 0xffffffff), 'delete_module': (0, 0),
    'kexec_load': (0, 17, 0, 0xfff0), 'kexec_file_load': (-1, -1, 0, 0, 0xffff),
    'settimeofday': (struct.pack('<2q', 0, 2_000_000), 0), 'clock_settime': (0x7fff, 0),
    'adjtimex': (b'\0' * 256,), 'sethostname': (0, -1), 'setdomainname': (0, -1), 'iopl': (99,),
    'ioperm': (-1, 1, 0), 'modify_ldt': (0, 0, 0), 'quotactl': (0xffffffff, 0, 0, 0),
    'acct': (b'/no/such',), 'syslog': (10, 0, 0), 'x32': (), 'future': (0,),
}.items():
    if NUMBERS[name][0 if IS_X86 else 1] is not None:
        attempt(name, lambda outside, name=name, arguments=arguments: call(name, *arguments))


@attempt('setns')
def _(outside):
    return call('setns', os.open('/proc/self/ns/net', os.O_RDONLY), 0)


@attempt('type into a terminal')
def _(outside):
    import fcntl
    import termios
    fcntl.ioctl(0, termios.TIOCSTI, b'x')


if IS_X86:
    @attempt('call of a 32-bit program')
    def _(outside):
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        # mov eax, 20 (getpid); int 0x80; ret
        code.write(b'\xb8\x14\0\0\0\xcd\x80\xc3')
        address = ctypes.addressof(ctypes.c_char.from_buffer(code))
        return ctypes.CFUNCTYPE(ctypes.c_int)(address)()


# Rights.

attempt('become root', lambda outside: os.setuid(0))
attempt('become another user', lambda outside: os.setresuid(1001, 1001, 1001))
attempt('join the group of root', lambda outside: os.setgid(0))
attempt('change the groups', lambda outside: os.setgroups([0]))
attempt('raise capabilities', lambda outside: call(
    'capset', struct.pack('<2I', 0x20080522, 0), struct.pack('<6I', 1, 1, 0, 0, 0, 0)))
attempt('higher priority', lambda outside: os.nice(-5))
attempt('real-time priority', lambda outside: os.sched_setscheduler(
    0, os.SCHED_FIFO, os.sched_param(10)))


attempt('real-time input and output', lambda outside: call('ioprio_set', 1, 0, 1 << 13))


def raise_limit(which, wanted):
    _, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY:
        return 'passed: there is none'
    try:
        resource.setrlimit(which, (wanted, wanted))
    except ValueError:
        return 'EPERM'
    return resource.getrlimit(which)


attempt('raise the limit of files', lambda outside: raise_limit(resource.RLIMIT_NOFILE, 5000))
attempt('raise the limit of size', lambda outside: raise_limit(resource.RLIMIT_FSIZE, 2 * FILE_LIMIT))
attempt('raise the limit of core dumps', lambda outside: raise_limit(resource.RLIMIT_CORE, 1))


# Resources. What would end the app is in other tests.

def past_the_limit(act):
    file = os.open(new_name(), os.O_RDWR | os.O_CREAT)
    try:
        act(file, FILE_LIMIT)
    finally:
        os.ftruncate(file, 0)


attempt('large file by write', lambda outside: past_the_limit(
    lambda file, size: os.pwrite(file, b'x', size)))
attempt('large file by truncate', lambda outside: past_the_limit(
    lambda file, size: os.ftruncate(file, size + 1)))
attempt('large file by allocation', lambda outside: past_the_limit(
    lambda file, size: os.posix_fallocate(file, size, 1)))


def fill(folder):
    """Returns whether a folder takes no more than it may."""
    block = b'x' * MIB
    files, written = [], 0
    try:
        while written < MOST:
            if written % (64 * MIB) == 0:
                files.append(f'{folder}/{new_name()}-{len(files)}')
            with open(files[-1], 'ab', buffering=0) as file:
                written += file.write(block)
    except OSError as error:
        seen = errno.errorcode[error.errno]
        return seen if written <= FILE_LIMIT else f'passed: {written} bytes'
    finally:
        for path in files:
            os.remove(path)
    return f'passed: {written} bytes'


attempt('fill /tmp', lambda outside: fill('/tmp'))
attempt('fill /dev/shm', lambda outside: fill('/dev/shm'))
attempt('fill the home', lambda outside: fill(os.environ['HOME']))


@attempt('open files')
def _(outside):
    opened = []
    try:
        while len(opened) < 10_000:
            opened.append(os.open('/dev/null', os.O_RDONLY))
    except OSError as error:
        return errno.errorcode[error.errno] if len(opened) <= 4096 else f'passed: {len(opened)}'
    return f'passed: {len(opened)}'


@attempt('core dump')
def _(outside):
    before = set(os.listdir('.'))
    child = os.fork()
    if child == 0:
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        os.abort()
    status = os.waitpid(child, 0)[1]
    new = set(os.listdir('.')) - before
    return 'none' if not os.WCOREDUMP(status) and not new else f'passed: {new}'


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        outside = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(200)
        self.end_headers()
        for name in ATTEMPTS:
            report(self.wfile, name, outside)

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'alive')

    def log_message(self, *_):
        pass


def report(file, name, outside):
    begin = time.monotonic()
    seen = make(name, outside)
    line = {'name': name, 'seen': seen, 'ms': round((time.monotonic() - begin) * 1000)}
    file.write(json.dumps(line).encode() + b'\n')
    file.flush()


if __name__ == '__main__':
    # Ignored, a file that is too large is an error instead of an end.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if sys.argv[1:] == ['outside']:
        given = json.load(sys.stdin)
        for name in given['names']:
            report(sys.stdout.buffer, name, given['outside'])
    else:
        http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
