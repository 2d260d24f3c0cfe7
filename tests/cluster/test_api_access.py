from kubesched.cluster import Access
from kubesched.cluster.credentials import ConfiguredCredentials


def test_nothing_shows_what_is_secret() -> None:
    access = Access("test", "https://h", ConfiguredCredentials(authorization="s3cret"), proxy="http://u:s3cret@p")
    assert repr(access) == "Access('https://h')"
