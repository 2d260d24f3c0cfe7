"""Tar archives are read like folders, within limits, and nothing of them is written."""

import gzip
import io
import json
import tarfile
import tracemalloc

import pytest

from kubesched.api import Pod
from kubesched.errors import InputError
from kubesched.snapshot import archives, load_snapshot, packing
from kubesched.snapshot.packing import packed_writer
from tests.snapshot.builders import listed, node, pod, workload


def archive(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def zstd(content: bytes) -> bytes:
    file = io.BytesIO()
    with packed_writer(file, ".zst") as append:
        append(content)
    return file.getvalue()


def text(document: object) -> bytes:
    return json.dumps(document).encode()


def names(data: bytes) -> list[str]:
    return [known.name for known in load_snapshot(io.BytesIO(data))]


def refusal(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        load_snapshot(io.BytesIO(data))
    return str(caught.value)


VELERO = archive(
    {
        "metadata/version": b"1.1.0",
        "resources/nodes/cluster/n1.json": text(node("n1")),
        "resources/nodes/v1-preferredversion/cluster/n1.json": text(node("n1")),
        "resources/pods/namespaces/shop/p1.json": text(pod("p1")),
    }
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_an_archive_is_read_whatever_it_is_packed_with(pack):
    assert names(pack(VELERO)) == ["n1", "p1"]


def test_the_second_copy_of_an_object_in_a_velero_backup_is_left_out():
    deployment = workload("Deployment", replicas=1)
    backup = archive(
        {
            "resources/deployments.apps/namespaces/shop/web.json": text(deployment),
            "resources/deployments.apps/v1-preferredversion/namespaces/shop/web.json": text(deployment),
            "resources/pods/v1-preferredversion/namespaces/shop/p1.json": text(pod("p1")),
            "resources/pods/namespaces/shop/p1.json": text(pod("p1")),
        }
    )
    assert load_snapshot(io.BytesIO(backup)).kinds == {"Deployment": 1, "Pod": 1}
    added = load_snapshot(manifests=[io.BytesIO(backup)])
    assert len(added.of(Pod)) == 2


def test_a_must_gather_is_read_without_its_logs(tmp_path):
    path = tmp_path / "must-gather.tgz"
    members = {
        "./namespaces/shop/core/pods.yaml": b"apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: p}\n",
        "./namespaces/shop/pods/p/logs/current.log": b"\0" * 4096,
        "./.hidden/old.json": text(node("old")),
        "./cluster-scoped-resources/nodes.json.gz": gzip.compress(text(listed(node("n")))),
        "./host/facts.json": b'{"cpus": 4}',
    }
    path.write_bytes(gzip.compress(archive(members)))
    loaded = load_snapshot(path)
    assert [known.name for known in loaded] == ["p", "n"]
    assert loaded.notes == (f"left out 1 file without Kubernetes objects: {path}: host/facts.json",)


def test_a_fault_names_the_member():
    bad = text({**pod(), "spec": {"containers": 3}})
    assert refusal(archive({"a/pods.json": bad})).startswith("<stream>: a/pods.json (Pod shop/p1): spec.containers:")


def test_links_and_folders_are_skipped():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, kind in (("etc.json", tarfile.SYMTYPE), ("d.json", tarfile.DIRTYPE), ("f.json", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/hosts"
            tar.addfile(info)
        info = tarfile.TarInfo("n.json")
        info.size = len(text(node("n")))
        tar.addfile(info, io.BytesIO(text(node("n"))))
    assert names(file.getvalue()) == ["n"]


def test_odd_paths_lead_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert names(archive({"../../up.json": text(node("a")), "/etc/passwd.json": text(node("b"))})) == ["a", "b"]
    assert not list(tmp_path.iterdir())
    sentence = refusal(archive({"\x1b[2J" + "x" * 500 + ".json": b'{"apiVersion": nope}'}))
    assert "\x1b" not in sentence
    assert len(sentence) < 1000


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gzip.compress(VELERO)[:-30], "<stream>: the archive is damaged or cut, after "),
        (VELERO[:2000], "<stream>: the archive is damaged or cut, after "),
        (archive({"a.txt": b"x"}), "<stream>: no file in this archive has a known suffix; expected .json, "),
        (archive({}), "<stream>: this archive has no files"),
        (
            archive({"a.tgz": VELERO}),
            "<stream>: this archive has an archive, which is not opened; extract a.tgz and name it",
        ),
    ],
)
def test_a_bad_archive_is_one_sentence(data, words):
    sentence = refusal(data)
    assert sentence.startswith(words)
    assert "\n" not in sentence


def with_header(**fields: str) -> bytes:
    """An archive of one file with an extended header."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("a.json")
        info.pax_headers = {name.replace("_", "."): value for name, value in fields.items()}
        info.size = 1024
        tar.addfile(info, io.BytesIO(b"1\n0\n0\n".ljust(1024, b"\0")))
    return file.getvalue()


def test_a_sparse_member_is_refused():
    sparse = with_header(GNU_sparse_map="0,1", GNU_sparse_size="1")
    assert refusal(sparse) == "<stream>: a.json is sparse; expected an archive without sparse files"


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_header_that_is_read_into_the_memory_has_a_bound(kind):
    """Three of 2 GiB take 100 kB of a packed file."""
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 2**22
    member = archive({"n.json": text(node("n"))})
    data = gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + b"9" * 2**22 + member)
    tracemalloc.start()
    try:
        assert refusal(data).startswith("<stream>: the archive is damaged or cut, after its beginning")
        assert tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()


def test_long_names_and_large_members_between_are_read():
    """The bound is on what is between the contents of two members."""
    large = listed(*(node(f"n{i}", annotations={"a": "x" * 5000}) for i in range(500)))
    members = {"a" * 5000 + ".json": text(large), "logs.txt": b"x" * 2**21, "b" * 5000 + ".json": text(node("last"))}
    assert len(names(archive(members))) == 501


def test_an_archive_has_a_bound_for_its_files(monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    assert names(archive({f"{i}.log": b"" for i in range(2)} | {"n.json": text(node("n"))})) == ["n"]
    assert refusal(archive({f"{i}.log": b"" for i in range(4)})) == "<stream>: has more than 3 files; expected less"


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_data_that_was_packed_beyond_belief_is_refused(pack, monkeypatch):
    monkeypatch.setattr(packing, "_UNSUSPICIOUS", 2**20)
    spaces = b" " * 2**22
    assert refusal(pack(b"[" + spaces + b"]")).startswith("<stream>: has more than 0.00")
    assert "when it is unpacked, at logs.txt" in refusal(pack(archive({"logs.txt": spaces})))
    assert names(pack(text(listed(node("n"))) + b" " * 2**19)) == ["n"]


@pytest.mark.parametrize("header", [{"GNU_sparse_map": "x"}, {"GNU_sparse_map": "1,2,x", "GNU_sparse_size": "8"}])
def test_a_header_that_is_not_valid_is_one_sentence(header):
    assert refusal(with_header(**header)).startswith("<stream>: the archive is damaged or cut, after its beginning")


def test_a_bomb_is_refused(monkeypatch):
    monkeypatch.setattr(packing, "MAX_UNPACKED", 2**16)
    monkeypatch.setattr(archives, "MAX_UNPACKED", 2**16)
    zeros = b"[" + b" " * 2**17 + b"]"
    for pack in (gzip.compress, zstd):
        assert "<stream>: has more than 6.10352e-05 GiB when it is unpacked" in refusal(pack(zeros))
    assert "<stream>: big.json has more than" in refusal(archive({"big.json": zeros}))
    assert "<stream>: a.json.gz: has more than" in refusal(archive({"a.json.gz": gzip.compress(zeros)}))
    monkeypatch.setattr(archives, "MAX_ARCHIVE", 2**16)
    assert "when it is unpacked, at logs.txt" in refusal(gzip.compress(archive({"logs.txt": zeros})))


def test_an_archive_without_known_files_is_refused_with_those_that_it_has():
    assert refusal(archive({f"n{i}": b"x" for i in range(4)})).endswith("; found n0, n1, n2, n3")
