"""The one list of settings. Each is an environment variable: `GITRING_` and the field's name in capitals.

Only `runtime` reads it; everything below gets plain values. `docs/operate.md` shows this list.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "GITRING_"
DEFAULT_PORT = 8470

HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,62}$")]


def default_data_dir() -> Path:
    """`gitring` in the user's data folder."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "gitring"


class Settings(BaseSettings):
    """How one process is set up. Secrets show as stars when printed."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    data_dir: Path = Field(
        default_factory=default_data_dir,
        description="Folder of the repositories and, under `gitring up`, of the embedded servers.",
    )
    host: str = Field(default="127.0.0.1", description="Address on which the gateway listens.")
    port: int = Field(
        default=DEFAULT_PORT,
        ge=0,
        le=65535,
        description="Port of the gateway. 0 makes `gitring up` pick free ports for everything.",
    )
    public_url: str | None = Field(
        default=None,
        description="Where people and agents reach the gateway, when that is not http://host:port (a proxy).",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="postgresql:// address of the record. Unset: `gitring up` brings its own Postgres.",
    )
    nats_url: SecretStr | None = Field(
        default=None, description="nats:// address. Unset: `gitring up` brings its own NATS."
    )
    temporal_address: str | None = Field(
        default=None, description="host:port of Temporal. Unset: `gitring up` brings its own."
    )
    temporal_namespace: str = Field(default="gitring", description="Temporal namespace of the workflows.")
    temporal_ui_url: str | None = Field(
        default=None, description="Address of Temporal's pages, for links; an embedded Temporal sets it."
    )
    mediation: Literal["hold", "narrow"] = Field(
        default="hold",
        description="What happens to the later of two overlapping intents: it waits (hold), or it yields the places"
        " that meet and goes on with the rest (narrow). A project may choose for itself.",
    )
    push_verification: bool = Field(
        default=False,
        description="Compute base status, signature notices, code conflicts and claims at each push and merge.",
    )
    host_name: HostName = Field(
        default="local",
        description="This machine's name in the task queues git-<name> and checks-<name>; projects remember it.",
    )
    check_slots: int = Field(
        default_factory=lambda: max(4, os.cpu_count() or 1),
        ge=1,
        le=1024,
        description="How many checks this machine runs at once; one may take several of them.",
    )
    check_environment: str | None = Field(
        default=None,
        max_length=200,
        description="A word for what this machine's checks run in, such as an image's tag: after another word, no"
        " result of before is reused.",
    )
    check_user: str | None = Field(
        default=None,
        description="System account that checks run as when root starts gitring; unset: a user number of its own for each"
        " run, where the folders on the way to it are open.",
    )
    import_private: bool = Field(
        default=False,
        description="Let owners import from addresses of this machine and of private networks too, by URL.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least important messages that are logged."
    )
    log_format: Literal["console", "json"] = Field(
        default="console", description="Lines for people, or one JSON object a line."
    )
    postgres_account: str | None = Field(
        default=None,
        description="System account of the embedded Postgres when root starts it; unset: postgres or nobody.",
    )
    ready_fd: int | None = Field(
        default=None,
        ge=0,
        description='Open file to which the worker writes "ready" and a line end; set by `gitring up`.',
    )

    @field_validator("public_url", "temporal_ui_url")
    @classmethod
    def _plain_http(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", value):
            raise ValueError("give it as http://host or https://host, with a port or a path where needed")
        return value.rstrip("/") if value else value

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @property
    def url(self) -> str:
        """Where the gateway is reached: `public_url`, or its own address (loopback for "every address")."""
        if self.public_url:
            return self.public_url
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def with_values(self, **values: object) -> Self:
        """The same settings with `values` in place, checked like any others."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**(given | values))

    def environment(self) -> dict[str, str]:
        """These settings as variables, secrets in plain text: what a child process is started with."""
        return {PREFIX + name.upper(): text for name, text in self._texts().items()}

    def _texts(self) -> Mapping[str, str]:
        values = {name: getattr(self, name) for name in self.model_fields_set}
        return {
            name: value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            for name, value in values.items()
            if value is not None
        }
