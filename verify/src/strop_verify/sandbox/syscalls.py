"""System calls and their numbers on x86-64 and aarch64 (-1: missing there), grouped by how the jail treats them."""

from functools import cache

_NUMBERS = {
    # denied to every jailed process
    "base": """
socket 41 198|connect 42 203|bind 49 200|listen 50 201|accept 43 202|accept4 288 242|ptrace 101 117
process_vm_readv 310 270|process_vm_writev 311 271|kcmp 312 272|process_madvise 440 440|process_mrelease 448 448
pidfd_getfd 438 438|pidfd_send_signal 424 424|rt_sigqueueinfo 129 138|rt_tgsigqueueinfo 297 240|tkill 200 130
shmget 29 194|shmat 30 196|shmctl 31 195|shmdt 67 197|semget 64 190|semop 65 193|semctl 66 191|semtimedop 220 192
msgget 68 186|msgsnd 69 189|msgrcv 70 188|msgctl 71 187|mq_open 240 180|mq_unlink 241 181|mount 165 40
umount2 166 39|pivot_root 155 41|chroot 161 51|unshare 272 97|setns 308 268|open_tree 428 428|move_mount 429 429
fsopen 430 430|fsconfig 431 431|fsmount 432 432|fspick 433 433|mount_setattr 442 442|io_uring_setup 425 425
io_uring_enter 426 426|io_uring_register 427 427|bpf 321 280|perf_event_open 298 241|userfaultfd 323 282
keyctl 250 219|add_key 248 217|request_key 249 218|memfd_secret 447 447|init_module 175 105|finit_module 313 273
delete_module 176 106|kexec_load 246 104|kexec_file_load 320 294|reboot 169 142|swapon 167 224|swapoff 168 225
acct 163 89|quotactl 179 60|quotactl_fd 443 443|syslog 103 116|settimeofday 164 170|clock_settime 227 112
adjtimex 159 171|clock_adjtime 305 266|sethostname 170 161|setdomainname 171 162|iopl 172 -1|ioperm 173 -1
modify_ldt 154 -1|uselib 134 -1|vhangup 153 58|personality 135 92|open_by_handle_at 304 265
name_to_handle_at 303 264|fanotify_init 300 262|migrate_pages 256 238|move_pages 279 239|sched_setscheduler 144 119
sched_setparam 142 118|sched_setattr 314 274|setpriority 141 140|ioprio_set 251 30|io_setup 206 0|sync 162 81
syncfs 306 267
""",
    # start programs
    "exec": """
execve 59 221|execveat 322 281
""",
    # change files in ways that Landlock does not cover: a process could do so to all files that it owns
    "metadata": """
chmod 90 -1|fchmod 91 52|fchmodat 268 53|fchmodat2 452 452|chown 92 -1|fchown 93 55|lchown 94 -1|fchownat 260 54
utime 132 -1|utimes 235 -1|utimensat 280 88|futimesat 261 -1|setxattr 188 5|lsetxattr 189 6|fsetxattr 190 7
removexattr 197 14|lremovexattr 198 15|fremovexattr 199 16|setxattrat 463 463|removexattrat 466 466
file_setattr 469 469|truncate 76 45|memfd_create 319 279
""",
    # denied to a process that runs a candidate
    "leaf": """
fork 57 -1|vfork 58 -1|prctl 157 167|seccomp 317 277|setrlimit 160 164|pidfd_open 434 434|sched_setaffinity 203 122
sendmsg 46 211|sendmmsg 307 269|inotify_init 253 -1|inotify_init1 294 26|landlock_create_ruleset 444 444
landlock_add_rule 445 445|landlock_restrict_self 446 446
""",
    # decided by their arguments, or made by the jail itself
    "other": """
clock_gettime 228 113|clone 56 220|clone3 435 435|fcntl 72 25|ioctl 16 29|kill 62 129|prlimit64 302 261
socketpair 53 199|tgkill 234 131
""",
}

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's number of each machine in seccomp filters."""


@cache
def table(machine: str, group: str = "") -> dict[str, int]:
    """Name to number for `os.uname().machine`, of one group or all; empty for an unsupported machine."""
    if machine not in AUDIT_ARCH:
        return {}
    column = 1 if machine == "x86_64" else 2
    text = _NUMBERS[group] if group else "".join(_NUMBERS.values())
    rows = [entry.split() for entry in text.replace("\n", "|").split("|") if entry]
    return {row[0]: int(row[column]) for row in rows if int(row[column]) >= 0}
