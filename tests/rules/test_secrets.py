"""Secrets in files: what is found and on which line, and what is let through.

No token stands here in one piece, so that this file may be pushed to a gitring as well.
"""

import base64
import json
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rules.secret_kinds import EXAMPLES
from rules.secrets import ALLOWED, Secret, secrets_in

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"


def of(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=most or least)


def token(what: str, *parts: str | st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, str]]:
    """Tokens of one kind, each with what it is called."""
    strategies = [st.just(part) if isinstance(part, str) else part for part in parts]
    return st.tuples(*strategies).map(lambda found: (what, "".join(found)))


def json_part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def web_token(algorithm: str, signature: str) -> str:
    return f"{json_part({'alg': algorithm})}.{json_part({'sub': 'u-7731', 'admin': True})}.{signature}"


def pem(kind: str, body: str) -> str:
    lines = [body[i : i + 64] for i in range(0, len(body), 64)]
    return "\n".join((f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"))


KEY_KINDS = (
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
)
TOKENS = st.one_of(
    token("a GitHub token", st.sampled_from(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]), of(ALNUM, 36, 80)),
    token("a GitHub token", "github_pat_", of(ALNUM, 22), "_", of(ALNUM, 59)),
    token("a GitLab token", st.sampled_from(["glpat-", "gldt-", "glptt-"]), of(URL_SAFE, 20, 40)),
    token("a Slack token", st.sampled_from(["xoxb-", "xoxp-"]), of("0123456789", 12), "-", of(ALNUM, 24)),
    token("a Stripe key", st.sampled_from(["sk_live_", "rk_live_", "sk_test_"]), of(ALNUM, 24, 99)),
    token("an AWS access key", st.sampled_from(["AKIA", "ASIA"]), of(string.ascii_uppercase + "234567", 16)),
    token("an AWS secret key", "aws_secret_access_key = ", of(BASE64, 40)),
    token("an AWS secret key", '"SecretKey": "aws', "SecretAccessKey=", of(BASE64, 40)),
    token("a Google API key", "AIza", of(URL_SAFE, 35)),
    token("an OpenAI key", "sk-", of(ALNUM, 20), "T3Blbk" + "FJ", of(ALNUM, 20)),
    token("an OpenAI key", "sk-proj-", of(URL_SAFE, 48, 150)),
    token("an Anthropic key", "sk-ant-", "api03-", of(URL_SAFE, 93), "AA"),
    token("an npm token", "npm_", of(ALNUM, 36)),
    token("a PyPI token", "pypi-", "AgEIcHlwaS5vcmc", of(URL_SAFE, 60, 160)),
    token(
        "a gitring token",
        "gitring_",
        st.sampled_from(["person_", "agent_", "git_", "mcp_"]),
        of(URL_SAFE, 43),
    ),
    st.builds(
        lambda kind, body: ("a private key", pem(kind, body)), st.sampled_from(KEY_KINDS), of(BASE64, 64, 200)
    ),
    of(URL_SAFE, 43).map(lambda signature: ("a signed JSON web token", web_token("HS256", signature))),
    of(URL_SAFE, 342).map(lambda signature: ("a signed JSON web token", web_token("RS256", signature))),
)
LINES = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=30), max_size=8
)


@given(TOKENS, LINES, LINES, st.sampled_from(["", "key = ", 'x: "', "\t", "url=https://example.com/?t="]))
def test_every_planted_token_is_found_on_its_line(
    planted: tuple[str, str], above: list[str], below: list[str], before: str
) -> None:
    what, secret = planted
    assume(not any(example in secret.encode() for example in EXAMPLES))
    assume("\0" not in "".join((*above, *below)))
    # A dash or an underscore at the edge may belong to the token or not.
    content = "\n".join((*above, before + secret, *below)).encode()
    assert Secret(len(above) + 1, what) in secrets_in(content, 9)


STUMPS = [
    "ghp_",
    "sk-",
    "sk-ant-",
    "AKIA",
    "AIza",
    "eyJ",
    "npm_",
    "glpat-",
    "xoxb-",
    "gitring_git_",
    "pypi-AgE",
]
HEADER = "-----BEGIN " + "PRIVATE KEY-----"
WORDS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from([*STUMPS, HEADER, "aws_secret_access_key=", "_authToken=${NPM_TOKEN}", "PRIVATE KEY"]),
    st.builds("{}{}".format, st.sampled_from(STUMPS), of(ALNUM, 0, 12)),
)


@given(st.lists(WORDS, max_size=40), st.sampled_from([" ", "\n", ", ", '"; "']))
def test_a_text_without_the_shape_of_a_token_is_never_refused(words: list[str], between: str) -> None:
    assert secrets_in(between.join(words).encode(), 9) == []


@given(st.binary(max_size=400))
def test_any_bytes_can_be_looked_through(content: bytes) -> None:
    assert secrets_in(content, 9) == []


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
KEY = pem("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA" + "q7Wm" * 30)


@pytest.mark.parametrize(
    "content",
    [
        "AKIAIOSFODNN7" + "EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
        "token: ghp_" + "x" * 36,
        "https://hooks.slack.com/services/T00000000/B00000000/" + "X" * 24,
        json_part({"alg": "HS256", "typ": "JWT"})
        + ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
        + ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        f"{SECRET}  # gitring:allow-secret: revoked years ago",
        f"# gitring:allow-secret\ntoken = {SECRET}",
        f"gitring:allow-secret, a key that only tests use\n{KEY}",
        HEADER,
        f'if text.startswith("{HEADER}"):\n    read_the_private_key_of_the_server(text)',
        pem("PRIVATE KEY", "..."),
        pem("CERTIFICATE", "MIIEpAIBAAKCAQEA" + "q7Wm" * 30),
        pem("PUBLIC KEY", "MIIEpAIBAAKCAQEA" + "q7Wm" * 30),
        web_token("none", "a" * 43),
        web_token("HS256", "a" * 40),
        web_token("[]", "a" * 43),
        "eyJhbGciOi" + "JIUzI1NiJ.eyJzdWIiOiIxIn0." + "a" * 43,
        "registry.example.com/:_authToken=${NPM_TOKEN}",
        "task-" + "a" * 48,
        "sha512-" + "q7Wm" * 20,
    ],
)
def test_examples_allowed_lines_and_look_alikes_are_let_through(content: str) -> None:
    assert secrets_in(content.encode(), 9) == []


def test_the_word_that_allows_counts_on_its_own_line_and_the_next_only() -> None:
    rows = (ALLOWED.decode(), SECRET, SECRET, SECRET)
    assert secrets_in("\n".join(rows).encode(), 9) == [
        Secret(3, "a GitHub token"),
        Secret(4, "a GitHub token"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"type": "service_account", "private_key": KEY}),
        "\n".join(f'    "{row}\\n" +' for row in KEY.split("\n")),
        KEY.replace("\n", "\r\n"),
        "\n".join(f"// {row}" for row in KEY.split("\n")),
        "\n".join(f"+{row}" for row in KEY.split("\n")),
        KEY.replace("\nMII", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\nMII"),
        KEY.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK").replace("\nMII", "\nVersion: 2\n\nMII"),
        KEY.replace("q7Wm" * 30, ""),
    ],
)
def test_a_private_key_is_found_however_it_is_written_down(content: str) -> None:
    assert secrets_in(content.encode(), 9) == [Secret(1, "a private key")]


def test_a_key_is_found_in_a_text_of_a_windows_shell() -> None:
    assert secrets_in(f"one\r\n{SECRET}\r\n".encode("utf-16"), 9) == [Secret(2, "a GitHub token")]


def test_a_binary_file_is_not_looked_through() -> None:
    assert secrets_in(b"\0" + SECRET.encode(), 9) == []
    assert secrets_in(b"x" * 8_000 + b"\0" + b"\n" + SECRET.encode(), 9) == [Secret(2, "a GitHub token")]


def test_the_first_few_are_named_and_a_line_once_for_each_kind() -> None:
    line = f"{SECRET} {SECRET} npm_{'q7Wm' * 9}"
    found = secrets_in("\n".join([line] * 9).encode(), 3)
    assert found == [Secret(1, "a GitHub token"), Secret(1, "an npm token"), Secret(2, "a GitHub token")]
