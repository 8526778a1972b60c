"""Files of environment variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.config.load import read_env_file, secrets_among

TEXT = r"""
# a comment
A=1
  export B = two words  # and a comment
C='single $A # "quoted"' # after
D="line\n\"end\" \$A \\"
E=
F=a#b
A=3
"""


def test_the_forms_of_a_variable(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(TEXT)
    assert read_env_file(file) == {
        "A": "3",
        "B": "two words",
        "C": 'single $A # "quoted"',
        "D": 'line\n"end" $A \\',
        "E": "",
        "F": "a#b",
    }


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("=secret-value", "1:1: expected the name of a variable"),
        ("1A=secret-value", "1:1: expected the name of a variable"),
        ("A secret-value", "1:3: expected `=` after the name"),
        ("A", "1:2: expected `=` after the name"),
        ('\n\nA="secret-value', "3:3: the closing quote is missing"),
        ("A='secret-value", "1:3: the closing quote is missing"),
        ("A='secret-value' secret-value", "1:17: expected nothing more after the value"),
        ("A=secret-value\0", "1:3: a value cannot hold NUL"),
    ],
)
def test_an_invalid_variable_is_reported_with_its_place_and_without_its_value(
    tmp_path: Path, line: str, where: str
) -> None:
    file = tmp_path / ".env"
    file.write_text(line)
    with pytest.raises(UsageError) as raised:
        read_env_file(file)
    assert str(raised.value) == f"{file}:{where}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_env_file(tmp_path / "nope")
    (tmp_path / ".env").write_bytes(b"A=\xff")
    with pytest.raises(UsageError, match="is not UTF-8: byte 3"):
        read_env_file(tmp_path / ".env")


def test_secrets_by_their_names() -> None:
    names = ("OPENAI_API_KEY", "CHAT_TOKEN", "db_password", "KEY", "APIKEY", "SECRET_SAUCE", "KEYBOARD", "MODE")
    variables = dict.fromkeys(names, "long-enough") | {"SHORT_KEY": "1"}
    assert secrets_among(variables) == names[:6]
