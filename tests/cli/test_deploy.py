"""The deployment files name settings, commands and files that exist; Temporal's set-up runs."""

import asyncio
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from cli.app import app
from runtime.embedded.nats import beside_python
from runtime.embedded.temporal import SEARCH_ATTRIBUTES
from runtime.settings import PREFIX, Settings
from tests.support.servers import TemporalPlace

DEPLOY = Path(__file__).parents[2] / "deploy"


def texts() -> dict[str, str]:
    """Every file of the deployment."""
    return {path.name: path.read_text() for path in sorted(DEPLOY.rglob("*")) if path.is_file()}


def compose() -> dict[str, Any]:
    """The services of compose.yaml."""
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return services


def test_every_setting_named_in_the_deployment_exists() -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields} | {"GITRING_URL", "GITRING_TOKEN"}
    for name, text in texts().items():
        assert set(re.findall(r"GITRING_[A-Z_]+", text)) <= known, name


def test_every_gitring_command_of_the_deployment_exists() -> None:
    commands = {each.name or getattr(each.callback, "__name__", "") for each in app.registered_commands}
    ours = [each["command"][0] for each in compose().values() if each.get("image") == "gitring"]
    units = [re.search(r"^ExecStart=\S+/gitring (\S+)$", text, re.M) for text in texts().values()]
    named = {*ours, *(found[1] for found in units if found)}
    assert {"gateway", "worker", "relay", "migrate", "up"} <= named <= commands


def test_every_file_that_compose_mounts_is_there() -> None:
    for name, service in compose().items():
        for volume in service.get("volumes", []):
            source = str(volume).partition(":")[0]
            assert not source.startswith("./") or (DEPLOY / source).is_file(), (name, source)


def test_every_variable_compose_asks_for_is_in_the_example() -> None:
    asked = set(re.findall(r"\$\{([A-Z_]+):\?", (DEPLOY / "compose.yaml").read_text()))
    offered = set(re.findall(r"^([A-Z_]+)=", (DEPLOY / "env.example").read_text(), re.M))
    assert asked <= offered


async def test_temporal_setup_makes_the_namespace_and_the_search_attributes_and_may_be_repeated(
    temporal: TemporalPlace,
) -> None:
    folder = beside_python("temporal").parent
    environment = {
        "PATH": f"{folder}:/usr/bin:/bin",
        "TEMPORAL_ADDRESS": temporal.address,
        "TEMPORAL_NAMESPACE": "deployed",
    }
    for _ in range(2):
        done = await asyncio.to_thread(
            subprocess.run,
            ["/bin/sh", str(DEPLOY / "temporal-setup.sh")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done
    listed = await asyncio.to_thread(
        subprocess.run,
        [str(beside_python("temporal")), "operator", "search-attribute", "list", "--namespace", "deployed"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert all(name in listed.stdout for name in SEARCH_ATTRIBUTES)
