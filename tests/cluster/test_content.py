from pathlib import Path

import pytest

from kubesched.cluster.content import Content, Token
from kubesched.errors import ConfigError
from tests.cluster.fake_timing import FakeTiming


def test_a_file_is_read_again_after_ten_seconds(tmp_path: Path) -> None:
    timing, file = FakeTiming(), tmp_path / "token"
    file.write_text("one")
    content = Content("token", timing, path=file)
    assert content.read() == b"one"
    file.write_text("two")
    assert content.read() == b"one"
    timing.seconds += 10
    assert content.read() == b"two"


def test_a_file_is_read_again_at_once_on_demand(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    content = Content("token", FakeTiming(), path=file)
    content.read()
    file.write_text("two")
    assert content.read(fresh=True) == b"two"


@pytest.mark.parametrize("spoil", [Path.unlink, lambda file: file.write_text(" \n")], ids=["gone", "empty"])
def test_what_a_file_held_before_stays_in_use(tmp_path: Path, spoil, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret")
    content = Content("users[0].user.tokenFile", FakeTiming(), path=file)
    content.read()
    spoil(file)
    assert content.read(fresh=True) == b"s3cret"
    assert "users[0].user.tokenFile" in caplog.text
    assert str(file) in caplog.text
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize("spoilt", ["one\ntwo", "a\x00b", "<html>\r\n<body>"])
def test_a_token_file_with_more_than_a_token_leaves_the_earlier_one_in_use(
    tmp_path: Path, spoilt: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    token = Token("tokenFile", FakeTiming(), path=file)
    assert token.read() == b"s3cret\n"
    file.write_text(spoilt)
    assert token.read(fresh=True) == b"s3cret\n"
    assert "has a line break or a control character; expected a token; its earlier content stays in use" in caplog.text


def test_a_token_in_the_configuration_is_checked_at_once() -> None:
    with pytest.raises(ConfigError, match=r"^users\[0\].user.token: the value has a line break or a control character"):
        Token("users[0].user.token", FakeTiming(), data=b"one\ntwo")


def test_a_file_that_never_was_there_is_an_error_with_both_places(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^users\[0\]: the file .*/token cannot be read: No such file or directory$"):
        Content("users[0]", FakeTiming(), path=tmp_path / "token").read()


def test_nothing_shows_the_bytes() -> None:
    assert "s3cret" not in repr(Content("token", FakeTiming(), data=b"s3cret"))
