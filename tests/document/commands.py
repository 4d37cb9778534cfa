"""The git lines of the document, written from its text alone: nothing here comes from the product."""

_UNSET = "GITRING_GIT_TOKEN is not set: export the token gitring_clone returned, on its own line, then run this line"


def environment(url: str) -> str:
    """What hands the token to git, from the document's push line up to `git` and its two settings."""
    return (
        f"GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= GCM_INTERACTIVE=never GIT_CONFIG_COUNT=1 "
        f"GIT_CONFIG_KEY_0=http.{url}/.extraHeader "
        f'GIT_CONFIG_VALUE_0="Authorization: Bearer ${{GITRING_GIT_TOKEN:?{_UNSET}}}" '
        "git -c core.askPass= -c credential.interactive=false"
    )


def remote(url: str, project_id: str) -> str:
    """The repository's address."""
    return f"{url}/git/{project_id}.git"


def push(url: str, project_id: str, intent: str) -> str:
    """The push line."""
    return f"{environment(url)} push {remote(url, project_id)} HEAD:refs/intents/{intent}"


def clone(url: str, project_id: str) -> str:
    """The clone line."""
    return f"{environment(url)} clone -c credential.interactive=false {remote(url, project_id)}"


def helper_push(url: str, project_id: str, intent: str) -> str:
    """The push line of an agent whose git asks a credential helper."""
    return (
        "GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= GCM_INTERACTIVE=never git -c core.askPass= -c credential.interactive=false "
        f"push {remote(url, project_id)} HEAD:refs/intents/{intent}"
    )


def powershell_push(url: str, project_id: str, intent: str) -> str:
    """The push line for PowerShell."""
    return (
        f'if (-not $env:GITRING_GIT_TOKEN) {{ throw "{_UNSET}" }}; $gr0 = $env:GIT_TERMINAL_PROMPT; '
        "$gr1 = $env:GIT_ASKPASS; $gr2 = $env:GCM_INTERACTIVE; $gr3 = $env:GIT_CONFIG_COUNT; "
        "$gr4 = $env:GIT_CONFIG_KEY_0; $gr5 = $env:GIT_CONFIG_VALUE_0; "
        'try { $env:GIT_TERMINAL_PROMPT="0"; $env:GIT_ASKPASS = $null; $env:GCM_INTERACTIVE="never"; '
        f'$env:GIT_CONFIG_COUNT="1"; $env:GIT_CONFIG_KEY_0="http.{url}/.extraHeader"; '
        '$env:GIT_CONFIG_VALUE_0="Authorization: Bearer $env:GITRING_GIT_TOKEN"; '
        "git -c core.askPass= -c credential.interactive=false "
        f"push {remote(url, project_id)} HEAD:refs/intents/{intent}; "
        'if ($LASTEXITCODE) { throw "git exited with $LASTEXITCODE" } } finally { '
        "$env:GIT_TERMINAL_PROMPT = $gr0; $env:GIT_ASKPASS = $gr1; $env:GCM_INTERACTIVE = $gr2; "
        "$env:GIT_CONFIG_COUNT = $gr3; $env:GIT_CONFIG_KEY_0 = $gr4; $env:GIT_CONFIG_VALUE_0 = $gr5 }"
    )
