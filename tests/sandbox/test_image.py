"""Images as roots of jails: layers as the image specification has them, hostile ones refused, what programs find."""

import json
import os
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.needs import need
from tests.sandbox.image_files import Entry, Refused, layout, packed, programs, saved, stacked, tar_of

from strop_verify.core.cache import kept_dir
from strop_verify.core.errors import SandboxError, UserError
from strop_verify.sandbox import kernel, namespaces
from strop_verify.sandbox.box import open_box
from strop_verify.sandbox.image import LIMIT, open_image, stored
from strop_verify.sandbox.image_layer import LayerFault, unpack
from strop_verify.sandbox.image_root import ImageRoot
from strop_verify.sandbox.interpreter import interpreter
from strop_verify.sandbox.jails import jail_names

pytestmark = pytest.mark.skipif("namespaces" not in jail_names(), reason="needs namespaces")
OWN = {"proc", "dev", "sys", "tmp", "box"}
"""Folders that every root has."""
HOST = [
    Entry("usr", "folder", 0o755), Entry("usr/bin", "folder", 0o755), Entry("bin", "link", text="usr/bin"),
    Entry("etc", "folder", 0o755), Entry("root", "folder", 0o700), Entry("tmp", "folder", 0o1777),
]  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    interpreter()  # stays where it is
    monkeypatch.setenv("STROP_CACHE", str(tmp_path / "cache"))


def view(layers, user=0):
    """What a root of these unpacked layers shows, by a process in namespaces of its own: {path: Entry}.

    layers  their folders; of another user what unpacks them
    """
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if user:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
                kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # its files of /proc are its own, as after an exec
                layers = layers()
            namespaces.unshare(processes=True)
            if inner := os.fork():
                os.waitpid(inner, 0)
                os._exit(0)
            root = ImageRoot(layers, "/box", "/work", (), 0)
            root.enclose("size=16m,mode=700")
            os.write(tell, json.dumps(list(_entries(root.work))).encode())
        except BaseException as error:
            os.write(tell, json.dumps(repr(error)).encode())
        finally:
            os._exit(0)
    os.close(tell)
    with os.fdopen(told) as file:
        found = json.load(file)
    os.waitpid(child, 0)
    assert isinstance(found, list), found
    return {path: Entry("", *rest) for path, *rest in found}


def _entries(top, prefix="", read=True):
    for entry in os.scandir(f"{top}/{prefix}"):
        if not prefix and entry.name in OWN:
            continue
        path, status = f"{prefix}{entry.name}", entry.stat(follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode):
            yield path, "folder", mode, ""
            yield from _entries(top, f"{path}/", read)
        elif stat.S_ISLNK(status.st_mode):
            yield path, "link", 0, os.readlink(f"{top}/{path}")
        elif stat.S_ISREG(status.st_mode):
            yield path, "file", mode, Path(f"{top}/{path}").read_text(errors="replace") if read else ""
        else:
            yield path, "pipe" if stat.S_ISFIFO(status.st_mode) else "other", mode, ""


def unpacked(folder, layers):
    """Folders of these layers, uppermost first. Raises LayerFault."""
    folders = []
    for number, entries in enumerate(layers):
        place = folder / str(number)
        place.mkdir()
        packed_file = folder / f"{number}.tar"
        packed_file.write_bytes(tar_of(entries))
        with packed_file.open("rb") as stream:
            alone = unpack(stream, str(place), folders)
        folders = [str(place), *([] if alone else folders)]
    return folders


PARTS = st.sampled_from(
    ["a", "b", "c", "a", "b", ".wh.a", ".wh.b", ".wh..wh..opq", ".wh.", ".wh...", "..", "dev"]
)
NAMES = st.lists(PARTS, min_size=1, max_size=3).map("/".join).map(lambda name: name)
ENTRIES = st.builds(
    Entry,
    st.one_of(NAMES, NAMES.map("/{}".format), NAMES.map("./{}".format)),
    st.sampled_from(["file", "file", "folder", "folder", "link", "hard", "pipe", "device"]),
    st.sampled_from([0o644, 0o755, 0o600, 0o4755, 0o000, 0o1777]),
    st.sampled_from(["a", "b", "a/b", "../../../../etc", "/etc/passwd", "c"]),
)


@given(layers=st.lists(st.lists(ENTRIES, max_size=5), min_size=1, max_size=3))
def test_layers_make_what_the_specification_says(layers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("layers")
    inside = folder / "inside"
    inside.mkdir()
    try:
        wanted = stacked(layers)
    except Refused:
        with pytest.raises(LayerFault, match="entry '"):
            unpacked(inside, layers)
    else:
        found = view(unpacked(inside, layers))
        shown = {path: (e.kind, e.mode, e.text) for path, e in found.items()}
        texts = {path: e.text if e.kind in ("file", "link") else "" for path, e in wanted.items()}
        assert shown == {
            path: (e.kind, e.mode, texts[path]) for path, e in wanted.items() if path.split("/")[0] not in OWN
        }
    assert os.listdir(folder) == ["inside"]  # nothing left it


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
def test_an_ordinary_user_gets_the_same():
    below = [
        Entry("a/b/c", text="1"),
        Entry("d", "folder", 0o700),
        Entry("d/e", text="2"),
        Entry("f"),
        Entry("g/h"),
    ]
    above = [
        Entry("a/.wh.b"),
        Entry("d/.wh..wh..opq"),
        Entry("d/new"),
        Entry(".wh.g"),
        Entry("g", "folder", 0o711),
    ]
    with tempfile.TemporaryDirectory() as folder:  # pytest's own lie where nobody else looks
        os.chown(folder, 1234, 1234)
        found = view(lambda: unpacked(Path(folder), [below, above]), user=1234)
    assert {path: e.mode for path, e in found.items()} == {
        p: e.mode for p, e in stacked([below, above]).items()
    }
    assert set(found) == {"a", "d", "d/new", "f", "g"}


ORDINARY = """
import os, sys
from strop_verify.sandbox import kernel
kernel.make(kernel.becoming(1234, keep_reading=True))  # this Python may lie where only root looks
from strop_verify.sandbox.box import open_box
from strop_verify.sandbox.image import open_image
with open_box(jail="namespaces", image=open_image(sys.argv[1])) as box, box.work() as work:
    script = "id -u; cat /app/a; rm -r /app; mkdir /app; echo new > /app/a; rm /usr/bin/grep; cat /app/a; ls /app | cat"
    print(work.run(["sh", "-c", script], profile="build"))
with open_box(jail="namespaces", image=open_image(sys.argv[1])) as box, box.work() as work:
    print(work.run(["cat", "/app/a", "/proc/self/uid_map"]).stdout)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
def test_an_ordinary_user_needs_no_rights():
    with tempfile.TemporaryDirectory() as folder:
        place = layout(Path(folder) / "image", [tar_of([*programs(), Entry("app/a", text="old\n")])])
        cache = Path(folder) / "cache"
        cache.mkdir()
        for path in (folder, cache):
            os.chown(path, 1234, 1234)
        done = subprocess.run(
            [sys.executable, "-c", ORDINARY, f"oci:{place}"],
            env={**os.environ, "STROP_CACHE": str(cache), "HOME": folder},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert "stdout=b'1234\\nold\\nnew\\na\\n', stderr=b''" in done.stdout, done.stdout
    assert done.stdout.splitlines()[-1].split() == ["b'old\\n", "1234", "1234", "1\\n'"]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([Entry("../out")], "'../out': its name leaves the image"),
        ([Entry("a/../../out")], "leaves the image"),
        ([Entry("a", "link", text="/tmp"), Entry("a/out")], "passes through the link 'a'"),
        ([Entry("a", "link", text=".."), Entry("a/out", "folder")], "passes through the link 'a'"),
        ([Entry("a", "link", text="/etc"), Entry("b", "hard", text="a/passwd")], "links to 'a/passwd'"),
        ([Entry("b", "hard", text="../../etc/passwd")], "which this layer lacks"),
        ([Entry("b", "hard", text="/etc/passwd")], "which this layer lacks"),
        ([Entry("null", "device", 0o666)], "'null': it is a device"),
        ([Entry(".wh...")], "'.wh...': it would remove a folder above it"),
        ([Entry("a/.wh...")], "it would remove a folder above it"),
        ([Entry(".wh.a/b")], "below a mark of removal"),
        ([Entry("a", "link", text="/"), Entry("a/.wh.etc")], "passes through the link 'a'"),
        ([Entry("a", "link", text="/"), Entry("a/.wh..wh..opq")], "passes through the link 'a'"),
        ([Entry("a"), Entry("a/b")], "passes through the file 'a'"),
        ([Entry(".", "link", text="/")], "the root of an image is a folder"),
    ],
)
def test_hostile_layers_are_refused_by_name(entries, message, tmp_path):
    with pytest.raises(LayerFault) as fault:
        unpacked(tmp_path, [entries])
    assert message in str(fault.value) and "\n" not in str(fault.value)
    with pytest.raises(UserError) as refused:
        open_image(f"oci:{layout(tmp_path / 'image', [tar_of(entries)])}")
    assert message in str(refused.value) and "layer sha256:" in str(refused.value)
    left = tmp_path / "cache" / "layers"
    assert os.listdir(left) == [".lock"]  # no half of a layer stays


def test_attributes_and_set_user_ids_are_dropped(tmp_path):
    hostile = tar_of([Entry("a", "folder", 0o755)], **{"SCHILY.xattr.user.overlay.opaque": "y"})
    below = tar_of([Entry("a", "folder", 0o755), Entry("a/kept", mode=0o6755)])
    image = open_image(f"oci:{layout(tmp_path / 'image', [below, hostile])}")
    assert view(image.layers)["a/kept"].mode == 0o755


@pytest.mark.parametrize("spoilt", ["digest", "no tar", "cut off", "bomb"])
def test_a_layer_that_is_not_what_it_says_is_refused(spoilt, tmp_path):
    layer = tar_of([Entry("a", text="x" * 9999)])
    folder = layout(tmp_path / "image", [layer], how="gzip")
    index = json.loads((folder / "index.json").read_text())
    blobs = folder / "blobs/sha256"
    manifest = json.loads((blobs / index["manifests"][0]["digest"][7:]).read_text())
    blob = blobs / manifest["layers"][0]["digest"][7:]
    other = tar_of([Entry("a", text="y" * 9999)])
    blob.write_bytes(
        {
            "digest": packed(other, "gzip"),
            "no tar": packed(b"no tar" * 999, "gzip"),
            "cut off": blob.read_bytes()[:60],
            "bomb": tar_of([Entry("a")], comment="x" * (2 << 20)),
        }[spoilt]
    )
    with pytest.raises(UserError, match="layer sha256:") as refused:
        open_image(f"oci:{folder}")
    assert "\n" not in str(refused.value)


def test_all_ways_of_writing_an_image_give_the_same(tmp_path):
    layers = [tar_of([*HOST, Entry("a", text="1")]), tar_of([Entry(".wh.a"), Entry("b", "link", text="usr")])]
    given = {"environment": {"X": "1=2", "PATH": "/p"}, "workdir": "/srv"}
    places = [layout(tmp_path / how, layers, how=how, **given) for how in ("plain", "gzip")]
    places.append(layout(tmp_path / "zstd", layers, how="zstd", nested=True, **given))
    places.append(saved(tmp_path / "saved.tar", layers, **given))
    subprocess.run(["tar", "-C", tmp_path / "gzip", "-czf", tmp_path / "layout.tar.gz", "."], check=True)
    places.append(tmp_path / "layout.tar.gz")
    found = [open_image(f"oci:{place}") for place in places]
    assert len({(image.layers, image.environment, image.workdir) for image in found}) == 1
    assert found[0].variables["PATH"] == "/p" and found[0].variables["X"] == "1=2"
    assert set(view(found[0].layers)) == {"usr", "usr/bin", "bin", "etc", "root", "b"}
    assert len(os.listdir(tmp_path / "cache" / "layers")) == 3  # each layer once, and the lock


def test_umoci_unpacks_the_same(tmp_path):
    need("umoci")
    changed = [Entry("srv", "folder", 0o711), Entry("srv/.wh.a"), Entry("app/.wh..wh..opq")]
    below = [
        Entry("srv", "folder", 0o755),
        *(Entry(f"{name}/{file}") for name in ("srv", "app") for file in "ab"),
    ]
    linked = [Entry("app/x", text="x"), Entry("y", "hard", text="app/x"), Entry(".wh.etc")]
    layers = [tar_of([*programs(), *below]), tar_of(changed), tar_of(linked)]
    folder = layout(tmp_path / "image", layers)
    subprocess.run(
        ["umoci", "raw", "unpack", "--image", f"{folder}:latest", tmp_path / "root"], check=True, timeout=60
    )
    more = {"link": 0, "file": 0o600, "folder": 0o700}
    theirs = {
        path: (kind, mode | more[kind]) for path, kind, mode, _ in _entries(tmp_path / "root", read=False)
    }
    ours = {
        path: (entry.kind, entry.mode) for path, entry in view(open_image(f"oci:{folder}").layers).items()
    }
    assert ours == theirs


def test_many_at_once_unpack_a_layer_once_and_what_a_kill_left_goes(tmp_path):
    folder = layout(
        tmp_path / "image", [tar_of([Entry(f"a/{number}", text="x" * 99) for number in range(500)])]
    )
    left = tmp_path / "cache" / "layers" / ".part-killed"
    (left / "root").mkdir(parents=True)
    with ThreadPoolExecutor(8) as threads:
        found = {image.layers for image in threads.map(lambda _: open_image(f"oci:{folder}"), range(16))}
    assert len(found) == 1 and not left.exists()
    assert len(os.listdir(left.parent)) == 2
    assert len(os.listdir(Path(*found.pop()) / "a")) == 500


def test_a_tag_chooses_and_what_is_no_image_is_refused_by_name(tmp_path):
    folder = layout(tmp_path / "two", [tar_of([Entry("one")])], tag="1")
    layout(folder, [tar_of([Entry("two")])], tag="2")
    assert set(view(open_image(f"oci:{folder}:2").layers)) == {"two"}
    both = saved(tmp_path / "both.tar", [tar_of([Entry("one")])], tags=("a/b:1", "a/b:x"))
    assert set(view(open_image(f"oci:{both}:x").layers)) == {"one"}
    other = layout(tmp_path / "other", [tar_of([])], architecture="s390x")
    empty = tmp_path / "empty"
    empty.mkdir()
    for source, message in {
        f"oci:{folder}": "it has 2 images for this machine; name one by :TAG of 1, 2",
        f"oci:{folder}:3": "it has no image with the tag '3'",
        f"oci:{both}:3": "it has a/b:1, a/b:x",
        f"oci:{other}": "for this machine",
        f"oci:{empty}": "neither an OCI image layout",
        f"oci:{tmp_path}/none": "there is no such folder or file",
        "docker:debian": "is not an image; name one as oci:FOLDER",
        f"oci:{__file__}": "file could not be opened",
    }.items():
        with pytest.raises(UserError) as refused:
            open_image(source)
        assert message in str(refused.value) and "\n" not in str(refused.value), refused.value


def test_a_store_finds_images_by_name_and_says_how_to_fetch_others(tmp_path):
    layout(tmp_path / "python", [tar_of([Entry("a")])], tag="3.11-slim")
    layout(tmp_path / "ghcr.io+a+b", [tar_of([Entry("a")])], tag="latest")
    saved(tmp_path / "team+tool.tar", [tar_of([Entry("a")])], tags=("team/tool:2",))
    for name in ("python:3.11-slim", "docker.io/library/python:3.11-slim", "ghcr.io/a/b", "team/tool:2"):
        open_image(stored(tmp_path, name))
    lacking = {"python:3.12": "python:3.12", "swebench/sweb.eval.x:latest": "swebench+sweb.eval.x:latest"}
    for name, place in lacking.items():
        with pytest.raises(UserError) as refused:
            stored(tmp_path, name)
        assert str(refused.value).endswith(f"fetch it: skopeo copy docker://{name} oci:{tmp_path}/{place}")


def test_layers_go_when_they_are_too_many_and_no_process_uses_them(tmp_path, monkeypatch):
    monkeypatch.setenv(LIMIT, "0.00003")  # one layer of 20,480 bytes, not two
    sources = [
        f"oci:{layout(tmp_path / name, [tar_of([Entry('file', text=name * 9000)])])}" for name in "abcd"
    ]
    place = kept_dir() / "layers"
    chains = lambda: {one.name for one in place.iterdir() if not one.name.startswith(".")}  # noqa: E731
    used = open_image(sources[0])
    (mine,) = chains()
    code = "import sys; from strop_verify.sandbox.image import open_image; open_image(sys.argv[1])"
    for source in sources[1:]:  # each by a process that ends
        before = chains()
        subprocess.run([sys.executable, "-c", code, source], check=True)
        assert mine in chains() and len(chains()) == 2 and len(chains() - before) == 1
    del used
    last = open_image(sources[1])
    assert mine not in chains() and (Path(last.layers[0]) / "file").read_text() == "b" * 9000
    assert (Path(open_image(sources[0]).layers[0]) / "file").read_text() == "a" * 9000


# What programs find, in both kinds of jail that have a root of their own.


@pytest.fixture
def system(tmp_path):
    """A small system of this machine's programs, with a project in another layer."""
    project = [Entry("srv/project/a.txt", text="a\n"), Entry("srv/project/sub/b.txt", text="b\n")]
    layers = [tar_of(programs()), tar_of(project)]
    return open_image(f"oci:{layout(tmp_path / 'system', layers, environment={'GREET': 'hi'})}")


PROJECT = "/srv/project"
JAILS = [name for name in jail_names() if name in ("namespaces", "full")]


def said(work, script, **options):
    """What a script of the shell prints; it may write."""
    done = work.run(["sh", "-c", script], profile="build", **options)
    return (done.stdout + done.stderr).decode().strip()


@pytest.mark.parametrize("jail", JAILS)
def test_programs_have_the_image_as_their_root(jail, system):
    with open_box(jail=jail, image=system, home=PROJECT) as box, box.work({"new.txt": "new\n"}) as work:
        assert said(work, "pwd; cat a.txt sub/b.txt new.txt; echo $GREET $HOME $PATH") == (
            "/srv/project\na\nb\nnew\nhi /root /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        )
        names = "bin etc lib lib64 root usr tmp app srv proc dev sys . .."
        assert said(work, "ls -a / | cat").split() == sorted(names.split())
        names = "fd full null random shm stderr stdin stdout urandom zero"
        assert said(work, "ls /dev | cat") == names.replace(" ", "\n")
        assert said(work, "ls /sys | cat") == ""
        assert work.contents().files.keys() == {"a.txt", "new.txt", "sub/b.txt"}
        assert work.read("sub/b.txt") == b"b\n"
        with pytest.raises(FileNotFoundError):
            work.read("etc/passwd")


@pytest.mark.parametrize("jail", JAILS)
def test_a_play_may_write_everywhere_and_the_next_finds_nothing_of_it(jail, system):
    change = (
        "echo x >> a.txt; rm -r sub; mkdir sub; echo y > sub/c; rm /usr/bin/grep; mv /etc /etc2; mkdir /new"
    )
    change += "; touch /new/a; chmod 700 /app"
    with open_box(jail=jail, image=system, home=PROJECT) as box:
        with box.work() as work:
            before = said(
                work, "find / -path /proc -prune -o -path /dev -prune -o -print | cat; ls -la / | cat"
            )
            assert said(work, change) == ""
            assert (
                said(work, "cat a.txt sub/*; ls /etc2 /new sub | cat")
                == "a\nx\ny\n/etc2:\npasswd\n\n/new:\na\n\nsub:\nc"
            )
            work.remove(["sub", "a.txt"])
            assert work.contents().files == {}
        with box.work() as work:
            after = said(
                work, "find / -path /proc -prune -o -path /dev -prune -o -print | cat; ls -la / | cat"
            )
            assert said(work, "cat a.txt sub/b.txt") == "a\nb"
    assert [line for line in before.splitlines() if line.startswith("/")] == [
        line for line in after.splitlines() if line.startswith("/")
    ]
    layers = [Path(layer) for layer in system.layers]
    assert (layers[0] / "srv/project/a.txt").read_text() == "a\n" and (layers[1] / "usr/bin/grep").exists()


HOSTILE = {
    "a device of its own": "mknod /tmp/zero c 1 5 && head -c1 /tmp/zero",
    "a mark of removal": "mknod /usr/bin/zzz c 0 0",
    "another root": "chroot / true",
    "the outer root": "cd ../../../../../../..; ls layers upper",
    "the supervisor's root": "ls /proc/1/root/",
    "the supervisor's descriptors": "ls /proc/1/fd",
    "the kernel's memory": "head -c1 /proc/kcore || head -c1 /proc/kallsyms | grep [1-9]",
    "the supervisor's memory": "head -c1 /proc/1/mem",
    "its own id map": "echo 0 0 1 > /proc/self/uid_map",
    "settings of the kernel": "echo x > /proc/sys/kernel/core_pattern",
    "the layers by a link": "ln -s /layers /tmp/l; ls /tmp/l/",
}


@pytest.mark.parametrize("jail", JAILS)
@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE)
def test_programs_do_not_get_out_of_their_root(jail, script, system):
    with open_box(jail=jail, image=system, home=PROJECT) as box, box.work() as work:
        done = work.run(["sh", "-c", script], profile="build")
        assert done.status != 0 and not done.stdout, done


def test_links_that_programs_leave_lead_nowhere(system):
    """The supervisor writes, reads and lists for its parent, from outside of the root."""
    with open_box(image=system, home=PROJECT) as box, box.work() as work:
        assert said(work, "cd /; rm -r /srv/project; ln -s /layers /srv/project; ln -s / /srv/x") == ""
        work.put({"out.txt": "out"})
        assert said(work, "pwd; ls | cat") == "/srv/project\nout.txt"
        assert said(work, "ln -s /layers/0 link; ln -s /proc/1/environ env; rm out.txt") == ""
        assert work.contents().files == {}
        for name in ("env", "link/srv/project/a.txt"):
            with pytest.raises(ValueError, match="not a file of this folder"):
                work.read(name)
        work.put({"link/a": "a"})
        assert said(work, "cat link/a; stat -c %F link") == "adirectory"
    assert not any((Path(layer) / "a").exists() for layer in system.layers)


def test_what_is_written_is_bounded(system):
    from strop_verify.sandbox.limits import Limits

    limits = Limits(dir_bytes=4 << 20, file_bytes=64 << 20)
    with open_box(image=system, home=PROJECT) as box, box.work() as work:
        assert "No space left" in said(work, "dd if=/dev/zero of=/usr/lib/x bs=1M count=5", limits=limits)
        assert "No space left" in said(
            work, "rm /usr/lib/x; dd if=/dev/zero of=/dev/shm/x bs=1M count=5", limits=limits
        )


def test_paths_of_this_machine_can_be_shown_too(system, tmp_path):
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "file").write_text("text")
    with open_box(image=system, read=[str(tmp_path / "shown")]) as box, box.work() as work:
        assert said(work, f"cat {tmp_path}/shown/file; ls {tmp_path} | cat") == "textshown"
        assert "Read-only" in said(work, f"echo x > {tmp_path}/shown/file")


def test_folders_that_are_closed_stay_as_they_are(system):
    with open_box(image=system, home="/") as box, box.work() as work:
        work.make_folders(["tests", "srv/project"])
        work.close_folders(["usr", "etc", "srv", "bin", "lib", "lib64"], ["/srv/project"])
        places = ("/srv/project/a.txt", "/app/x", "/tests/x")
        script = "".join(f"echo x > {place}; cat {place};" for place in places)
        assert said(work, script) == "x\nx\nx"
        for closed in (
            "echo x > /usr/bin/cat", "rm /usr/bin/cat", "mv /usr/bin/cat /app/cat", "mkdir /b", "rm /bin", "mv /bin /b",
            "echo x > /etc/ld.so.preload", "ln -s /app /opt", "mv /srv /app/srv", "echo x > /srv/y", "mv /app /apps",
        ):  # fmt: skip
            done = work.run(["sh", "-c", closed], profile="build")
            assert done.status != 0, closed


def test_a_play_starts_in_an_empty_folder_of_its_own(system):
    with open_box(image=system) as box, box.work() as work:
        assert said(work, "pwd; ls -a | cat; cat /srv/project/a.txt") == "/box\n.\n..\na"


def test_where_an_image_cannot_be_the_root_it_is_said(system, tmp_path):
    with pytest.raises(SandboxError, match="jail minimal cannot have the image oci:"):
        open_box(jail="minimal", image=system)
    layers = [tar_of([*programs(), Entry("w", "link", text="/app")])]
    link = open_image(f"oci:{layout(tmp_path / 'l', layers)}")
    with (
        pytest.raises(SandboxError, match="where /w is a link"),
        open_box(image=link, home="/w/x") as box,
        box.work() as work,
    ):
        work.run(["true"])
