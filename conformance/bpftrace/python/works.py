"""What is done while a published tool runs, and what it must have printed then.

PLACE is "here" or "guest" (kprobes, or symbols of the kernel's data); WORK a script for bash in an
empty directory on a file system with a block device; SEEN regular expressions, each found in a line
(MULTILINE); NEEDS commands that must be there.
"""

from collections import namedtuple

Work = namedtuple("Work", "place work seen needs arguments", defaults=((), ()))

CLOCK = r"\d\d:\d\d:\d\d"
BUCKET = r"^\[\d+[KMG]?(, \d+[KMG]?\))? +[1-9]\d* \|@"
DIRECT = "dd if=/dev/zero of=block bs=64k count=32 oflag=direct; dd if=block of=/dev/null bs=64k iflag=direct"
# A server, a client, a line each way.
TALK = """python3 -c '
import socket, threading
server = socket.create_server(("127.0.0.1", 7123))
def serve():
    peer = server.accept()[0]
    peer.sendall(peer.recv(9000))
    peer.close()
thread = threading.Thread(target=serve)
thread.start()
client = socket.create_connection(("127.0.0.1", 7123))
client.sendall(b"x" * 8192)
client.recv(9000)
client.close()
thread.join()
'
"""
# A queue that is full drops SYNs, which are sent again after a second.
CROWD = """timeout 20 python3 -c '
import socket, time
server = socket.create_server(("127.0.0.1", 7124), backlog=0)
many = []
for _ in range(4):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(("127.0.0.1", 7124))
    many.append(one)
time.sleep(3)
'
"""
SECRET = """openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -subj /CN=x -days 1
openssl s_server -accept 7125 -key k -cert c -quiet & sleep 1
(echo hello; sleep 1) | timeout 10 openssl s_client -connect 127.0.0.1:7125 -quiet
kill %1; true
"""
# In a group with little memory: what is more goes to swap, or is killed for it.
GROUP = """echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/little && echo 24M >/sys/fs/cgroup/little/memory.max
little() { bash -c 'echo $$ >/sys/fs/cgroup/little/cgroup.procs; exec "$@"' - "$@"; }
"""
SWAP = (
    GROUP
    + """echo max >/sys/fs/cgroup/little/memory.swap.max
fallocate -l 200M swap && chmod 600 swap && mkswap swap && device=$(losetup --show -f swap)
swapon $device
little python3 -c 'x = [bytearray(1 << 20) for _ in range(60)]; sum(y[0] for y in x)'
swapoff $device; losetup -d $device
"""
)
XFS = """truncate -s 400M disk && mkfs.xfs -q disk && mkdir -p on && mount -o loop disk on
echo text >on/file; cat on/file; sync on/file; umount on
"""
MD = """truncate -s 40M a b; A=$(losetup --show -f a); B=$(losetup --show -f b); modprobe raid1
mdadm --create /dev/md9 --run --level=1 --metadata=1.2 -n2 $A $B
mkfs.ext4 -q /dev/md9; mkdir -p on; mount /dev/md9 on; echo text >on/file; sync on/file
umount on; mdadm --stop /dev/md9; losetup -d $A $B
"""
TERMINAL = "printf 'echo sonde-was-here\\nexit\\n' | script -qc 'bash --norc -i' /dev/null"
SPIN = "timeout 3 bash -c 'while :; do :; done' & timeout 3 bash -c 'while :; do :; done'; wait"

WORKS = {
    "bashreadline": Work("here", TERMINAL, [CLOCK + r" +\d+ +echo sonde-was-here"], ("script",)),
    # The functions were renamed and inlined; where they are gone, only its first line is printed.
    "biolatency-kp": Work("guest", DIRECT, ["^Tracing block device I/O"]),
    "biolatency": Work("here", DIRECT, ["^@usecs:", BUCKET]),
    "biosnoop": Work("here", DIRECT, [r"^\d+ +\d+ +\d+ +dd +\d+ +\d+"]),
    "biostacks": Work("here", DIRECT, [r"^@usecs\[", r"^ +\w*submit_bio\w*\+\d+", BUCKET]),
    "bitesize": Work("here", DIRECT, [r"^@\[dd\]:", r"^\[64K, 128K\) +[1-9]\d* \|"]),
    "capable": Work("guest", "chroot / true", [CLOCK + r" +0 +\d+ +chroot +18 +CAP_SYS_CHROOT"]),
    "cpuwalk": Work("here", SPIN, ["^@cpu:", r"^\[\d+\] +\d+ \|@"]),
    "dcsnoop": Work("guest", "cat /etc/hostname", [r"^\d+ +\d+ +cat +[RM] .*hostname"]),
    "execsnoop": Work("here", "/bin/echo sonde-exec", [r"^\S+ +\d+ +\d+ +/bin/echo sonde-exec"]),
    "gethostlatency": Work(
        "here", "getent ahosts localhost", [CLOCK + r" +\d+ +getent +\d+ localhost"]
    ),
    "killsnoop": Work(
        "here", "sleep 9 & kill -TERM $!", [r"^[\d:.]+ +\d+ bash +SIGTERM +\d+ +0$"]
    ),
    "loads": Work("guest", "", [CLOCK + r" load averages: \d+\.\d{3} \d+\.\d{3} \d+\.\d{3}"]),
    "mdflush": Work("guest", MD, [CLOCK + r" +\d+ +\S+ +md9"], ("mdadm",)),
    "naptime": Work(
        "here", "sleep 0.25; true", [CLOCK + r" +\d+ +bash +\d+ +sleep +0\.250"], ("sleep",)
    ),
    "oomkill": Work(
        "guest",
        GROUP + "echo 0 >/sys/fs/cgroup/little/memory.swap.max\nlittle tail /dev/zero; true",
        [
            CLOCK + r' Triggered by PID \d+ \("tail"\), CGROUP \d+ \(".*little"\), '
            r'OOM kill of PID \d+ \("tail"\), \d+ pages, loadavg: \d+\.\d\d'
        ],
    ),
    "opensnoop": Work("here", "cat /etc/hostname", [r"^\d+ +cat +\d+ +0 +/etc/hostname"]),
    "pidpersec": Work(
        "here", "for i in 1 2 3; do /bin/true; done", [CLOCK + r" PIDs/sec: @: [1-9]\d*"]
    ),
    "runqlat": Work("here", SPIN, ["^@usecs:", BUCKET]),
    "runqlen": Work("here", SPIN, ["^@runqlen:", r"^\[\d+\] +\d+ \|@"]),
    "setuids": Work(
        "here",
        "setpriv --reuid=65534 --clear-groups true",
        [CLOCK + r" +\d+ +setpriv +0 +setresuid +ruid=65534 euid=65534 suid=\S+ \(0\)"],
        ("setpriv",),
    ),
    "ssllatency": Work(
        "here",
        SECRET,
        [r"^@hist\[SSL_do_handshake\]:|^@histF\[SSL_\w+\]:|^@hist\[SSL_\w+\]:", r"^@stat"],
        ("openssl",),
    ),
    "sslsnoop": Work("here", SECRET, [r"^\d+ +\d+ +openssl +\d+ +-?\d+ SSL_\w+"], ("openssl",)),
    "statsnoop": Work("here", "stat /etc/hostname", [r"^\d+ +stat +0 /etc/hostname"]),
    "swapin": Work("guest", SWAP, [r"^@\[python3, \d+\]: [1-9]\d*"], ("mkswap",)),
    "syncsnoop": Work(
        "here", "sync", [CLOCK + r" +\d+ +sync +tracepoint:syscalls:sys_enter_sync$"]
    ),
    "syscount": Work(
        "here",
        DIRECT,
        [r"^Top 10 syscalls IDs:", r"^@syscall\[\d+\]: \d+", r"^@process\[\S+\]: \d+"],
    ),
    "tcpaccept": Work(
        "guest", TALK, [CLOCK + r" +\d+ +python3 +127\.0\.0\.1 +\d+ +127\.0\.0\.1 +7123 +\d+/\d+"]
    ),
    "tcpconnect": Work(
        "guest", TALK, [CLOCK + r" +\d+ +python3 +127\.0\.0\.1 +\d+ +127\.0\.0\.1 +7123"]
    ),
    "tcpdrop": Work("here", CROWD + TALK, [r"^Tracing tcp drops", r"^TIME +PID +COMM"]),
    "tcplife": Work("guest", TALK, [r"^\d+ +python3 +127\.0\.0\.1 +7123 +127\.0\.0\.1 +\d+ +8 +8 "]),
    "tcpretrans": Work(
        "guest", CROWD, [CLOCK + r" +\d+ +127\.0\.0\.1:\d+ +127\.0\.0\.1:7124 +SYN_SENT"]
    ),
    "tcpsynbl": Work("guest", TALK, [r"^@backlog\[\d+\]:", r"^\[\d+.* \|@"]),
    "threadsnoop": Work(
        "here",
        "python3 -c 'import threading; t = threading.Thread(target=print); t.start(); t.join()'",
        [r"^[\d:.]+ +\d+ python3 +\S+"],
    ),
    "undump": Work(
        "guest",
        "python3 -c 'import socket; a, b = socket.socketpair(); a.send(b\"sonde\"); b.recv(9)'",
        [CLOCK + r" +python3 +\d+ +5 +sonde"],
    ),
    "vfscount": Work("guest", "cat /etc/hostname", [r"^@\[vfs_read\]: \d+", r"^@\[vfs_open\]: \d+"]),
    "vfsstat": Work("guest", "cat /etc/hostname", [r"^@\[vfs_read\]: \d+", r"^@\[vfs_open\]: \d+"]),
    "writeback": Work(
        "here",
        "dd if=/dev/zero of=late bs=64k count=32; sync",
        [CLOCK + r" +\S+ +\d+ +(sync|background|periodic) +\d+\.\d{3}"],
    ),
    "xfsdist": Work("guest", XFS, [r"^@us\[xfs_file_write_iter\]:", BUCKET], ("mkfs.xfs",)),
}
