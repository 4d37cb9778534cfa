"""The one list of settings."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from runtime.settings import Settings


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the caller's."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"GITRING_{name.upper()}", raising=False)


def test_each_setting_says_what_it_is_for() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_a_variable_sets_and_an_argument_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITRING_PORT", "9000")
    monkeypatch.setenv("GITRING_MEDIATION", "narrow")
    assert (Settings().port, Settings().mediation) == (9000, "narrow")
    assert Settings(port=9001).port == 9001


def test_an_empty_variable_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITRING_NATS_URL", "")
    assert Settings().nats_url is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "70000"),
        ("HOST_NAME", "a b"),
        ("MEDIATION", "both"),
        ("PUBLIC_URL", "example.com"),
        ("CHECK_SLOTS", "0"),
    ],
)
def test_a_value_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"GITRING_{name}", value)
    with pytest.raises(ValidationError, match=name.lower()):
        Settings()


def test_secrets_do_not_show() -> None:
    settings = Settings(
        database_url=SecretStr("postgresql://u:hidden@h/d"), nats_url=SecretStr("nats://u:hidden@h")
    )
    assert "hidden" not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_settings_go_to_a_child_through_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(
        data_dir=tmp_path, port=1234, database_url=SecretStr("postgresql://u:p@h/d"), push_verification=True
    )
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    child = Settings()
    assert {name: getattr(child, name) for name in Settings.model_fields} == {
        name: getattr(settings, name) for name in Settings.model_fields
    }


def test_changed_values_are_checked_and_the_rest_stays() -> None:
    settings = Settings(port=1234, host="0.0.0.0").with_values(port=1235)
    assert (settings.port, settings.host) == (1235, "0.0.0.0")
    with pytest.raises(ValidationError):
        settings.with_values(port=-1)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({}, "http://127.0.0.1:8470"),
        ({"host": "0.0.0.0", "port": 80}, "http://127.0.0.1:80"),
        ({"host": "::"}, "http://[::1]:8470"),
        ({"host": "gitring.example.com"}, "http://gitring.example.com:8470"),
        ({"public_url": "https://gitring.example.com/"}, "https://gitring.example.com"),
    ],
)
def test_the_url_is_one_that_can_be_opened(given: dict[str, Any], url: str) -> None:
    assert Settings(**given).url == url
