import os
import ssl

import pytest

from kubesched.errors import InputError
from kubesched.serving import Certificates, TlsFiles, pair_in_memory, self_signed_pair
from tests.full_disk import with_full_disk


def test_the_key_is_for_this_user_alone_even_where_a_half_of_a_pair_was(tmp_path):
    (tmp_path / "x.key").touch(mode=0o644)
    certificate, key = self_signed_pair(tmp_path, "x")
    assert key.stat().st_mode & 0o777 == 0o600
    assert "BEGIN PRIVATE KEY" in key.read_text()
    assert "BEGIN CERTIFICATE" in certificate.read_text()


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: the server's certificate cannot be written"):
        self_signed_pair(tmp_path / "file", "x")


def test_a_pair_in_memory_can_be_used_and_is_in_no_folder():
    with pair_in_memory("x") as (certificate, key):
        Certificates(TlsFiles(certificate=certificate, key=key))
        assert [path.stat().st_nlink for path in (certificate, key)] == [0, 0]
        assert key.stat().st_mode & 0o777 == 0o600
    assert not key.exists()


def test_a_system_without_files_in_memory_gets_a_folder_until_the_end(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pair_in_memory("x") as (certificate, key):
        Certificates(TlsFiles(certificate=certificate, key=key))
        assert key.parent.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_folder_that_cannot_be_written_is_an_error(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(InputError, match=r"no folder for the server's certificate .*; give --tls-cert-file"):
        pair_in_memory("x").__enter__()


@pytest.mark.parametrize("at", [0, 100, 300])
def test_a_full_disk_leaves_no_half_pair_for_the_next_start(at, tmp_path, forks):
    program = "from kubesched.serving.self_signed import Path, self_signed_pair; self_signed_pair(Path('.'), 'x')"
    ended = with_full_disk(forks, at, tmp_path, "python", "-c", program)
    assert "the server's certificate cannot be written" in ended.stderr
    certificate, key = self_signed_pair(tmp_path, "x")
    ssl.create_default_context().load_cert_chain(certificate, key)
