"""The git command lines an agent runs, with the token in git's environment and nowhere else.

The form of the environment entries is the gitring document's ("One push model"), to the letter.
"""

import shlex
from dataclasses import dataclass

QUIET = "GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= GCM_INTERACTIVE=never"
NO_ASKING = "-c core.askPass= -c credential.interactive=false"
_UNSET = "GITRING_GIT_TOKEN is not set: export the token gitring_clone returned, on its own line, then run this line"
_SAVED = (
    "GIT_TERMINAL_PROMPT",
    "GIT_ASKPASS",
    "GCM_INTERACTIVE",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_0",
    "GIT_CONFIG_VALUE_0",
)


@dataclass(frozen=True)
class GitAddress:
    """Where a project's repository answers, and whether git asks a credential helper for its token."""

    public_url: str
    project_id: str
    helper: bool = False

    @property
    def remote(self) -> str:
        """The repository's URL."""
        return f"{self.public_url}/git/{self.project_id}.git"

    @property
    def environment(self) -> str:
        """What stands before `git` on a POSIX line."""
        if self.helper:
            return QUIET
        return (
            f"{QUIET} GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.{self.public_url}/.extraHeader "
            f'GIT_CONFIG_VALUE_0="Authorization: Bearer ${{GITRING_GIT_TOKEN:?{_UNSET}}}"'
        )

    @property
    def git(self) -> str:
        """`git` itself with its environment and its prompts off."""
        return f"{self.environment} git {NO_ASKING}"

    def push(self, ref: str) -> str:
        """The whole push line for `ref`."""
        return f"{self.git} push {self.remote} HEAD:{ref}"

    def fetch(self, line: str) -> str:
        """The whole fetch line for a line of the project."""
        return f"{self.git} fetch {self.remote} {shlex.quote(line)}"

    @property
    def clone(self) -> str:
        """The whole clone line."""
        return f"{self.git} clone -c credential.interactive=false {self.remote}"

    def push_powershell(self, ref: str) -> str:
        """The push line for PowerShell; it sets the variables for this git alone and restores them."""
        keep = "; ".join(f"$gr{i} = $env:{name}" for i, name in enumerate(_SAVED))
        restore = "; ".join(f"$env:{name} = $gr{i}" for i, name in enumerate(_SAVED))
        quiet = '$env:GIT_TERMINAL_PROMPT="0"; $env:GIT_ASKPASS = $null; $env:GCM_INTERACTIVE="never"'
        header = (
            f'$env:GIT_CONFIG_COUNT="1"; $env:GIT_CONFIG_KEY_0="http.{self.public_url}/.extraHeader"; '
            '$env:GIT_CONFIG_VALUE_0="Authorization: Bearer $env:GITRING_GIT_TOKEN"'
        )
        guard = f'if (-not $env:GITRING_GIT_TOKEN) {{ throw "{_UNSET}" }}; '
        run = f'git {NO_ASKING} push {self.remote} HEAD:{ref}; if ($LASTEXITCODE) {{ throw "git exited with $LASTEXITCODE" }}'
        body = f"{quiet}; {run}" if self.helper else f"{quiet}; {header}; {run}"
        return f"{'' if self.helper else guard}{keep}; try {{ {body} }} finally {{ {restore} }}"


def intent_ref(intent_id: str) -> str:
    """The one ref an intent's work is pushed to."""
    return f"refs/intents/{intent_id}"
