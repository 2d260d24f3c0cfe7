import pytest

from kubesched.errors import InputError
from kubesched.serving import self_signed_pair


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
