import struct

import pytest

from strop_verify.sandbox import kernel, seccomp
from strop_verify.sandbox.syscalls import AUDIT_ARCH, table

LINUX_EPERM, ENOSYS, ALLOW, KILL = 0x50001, 0x50026, 0x7FFF0000, 0x80000000


def decide(program: bytes, number: int, *args: int, arch: int | None = None) -> int:
    """A small interpreter of the five BPF instructions that the filters use."""
    words = [number, AUDIT_ARCH[kernel.MACHINE] if arch is None else arch, 0, 0]
    for arg in (*args, *(0,) * (6 - len(args))):
        words += [arg & 0xFFFFFFFF, arg >> 32]
    code = list(struct.iter_unpack("=HBBI", program))
    at = value = 0
    while True:
        op, yes, no, k = code[at]
        if op == 0x06:
            return int(k)
        if op == 0x20:
            value, at = words[k // 4], at + 1
            continue
        true = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[op]
        at += 1 + (yes if true else no)


@pytest.fixture(params=["x86_64", "aarch64"])
def calls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    monkeypatch.setattr(kernel, "MACHINE", request.param)
    return table(request.param)


def test_base(calls: dict[str, int]) -> None:
    run = seccomp.base(allow_exec=False, allow_metadata=False)
    build = seccomp.base(allow_exec=True, allow_metadata=True)
    for program in (run, build):
        for name in (
            "socket",
            "ptrace",
            "bpf",
            "unshare",
            "io_uring_setup",
            "keyctl",
            "shmget",
            "userfaultfd",
        ):
            assert decide(program, calls[name]) == LINUX_EPERM, name
        assert decide(program, calls["clone3"]) == ENOSYS
        assert decide(program, calls["clone"], 17) == ALLOW
        assert decide(program, calls["clone"], 0x10000000 | 17) == LINUX_EPERM
        assert decide(program, calls["socket"], arch=0x40000003) == KILL
        assert decide(program, 0x40000000 + 41) == KILL
    assert decide(run, calls["execve"]) == LINUX_EPERM and decide(build, calls["execve"]) == ALLOW
    assert decide(run, calls["fchmodat"]) == LINUX_EPERM and decide(build, calls["fchmodat"]) == ALLOW


def test_no_file_sends_signals(calls: dict[str, int]) -> None:
    program = seccomp.base(allow_exec=True, allow_metadata=True)
    for command in (8, 10, 15, 1024, 1026):  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY
        assert decide(program, calls["fcntl"], 1, command) == LINUX_EPERM
        assert decide(program, calls["fcntl"], 1, command | 1 << 32) == LINUX_EPERM
    assert decide(program, calls["fcntl"], 1, 4, 0x2800) == LINUX_EPERM  # F_SETFL with O_ASYNC
    for command, flags in ((4, 0x800), (1, 0), (3, 0), (1030, 0), (1033, 0x2000)):
        assert decide(program, calls["fcntl"], 1, command, flags) == ALLOW
    for command in (0x8901, 0x8902, 0x5452, 0x5412):  # FIOSETOWN, SIOCSPGRP, FIOASYNC, TIOCSTI
        assert decide(program, calls["ioctl"], 1, command) == LINUX_EPERM
    assert decide(program, calls["ioctl"], 1, 0x5401) == ALLOW  # TCGETS


def test_leaf(calls: dict[str, int]) -> None:
    leaf = seccomp.leaf(4242)
    assert decide(leaf, calls["clone"], 17) == LINUX_EPERM
    assert decide(leaf, calls["clone"], 0x3D0F00) == ALLOW
    for name in ("kill", "tgkill"):
        assert decide(leaf, calls[name], 4242) == ALLOW
        assert decide(leaf, calls[name], 4241) == LINUX_EPERM
        assert decide(leaf, calls[name], (1 << 64) - 1) == LINUX_EPERM
    assert decide(leaf, calls["prlimit64"], 0, 0, 0, 1 << 33) == ALLOW
    assert decide(leaf, calls["prlimit64"], 0, 0, 1 << 33) == LINUX_EPERM
    assert decide(leaf, calls["prlimit64"], 0, 0, 8) == LINUX_EPERM
    for name in ("prctl", "setrlimit", "seccomp", "execve"):
        assert decide(leaf, calls[name]) == LINUX_EPERM, name


def test_tables_have_no_number_twice() -> None:
    for machine in AUDIT_ARCH:
        numbers = list(table(machine).values())
        assert len(numbers) == len(set(numbers))
    assert table("riscv64") == {}


def test_accounts_of_the_user_and_waits_in_the_kernel_are_out_of_reach(calls: dict[str, int]) -> None:
    for name in ("io_setup", "sync", "syncfs"):
        assert decide(seccomp.base(allow_exec=True, allow_metadata=True), calls[name]) == LINUX_EPERM, name
    for name in {"sendmsg", "sendmmsg", "inotify_init", "inotify_init1"} & set(calls):
        assert decide(seccomp.leaf(7), calls[name]) == LINUX_EPERM, name
