"""The printed git lines, in the document's form."""

import subprocess

from rules.git_commands import GitAddress, intent_ref

INTENT = "int_01JBQ8M4ZK7V3XW9N2D5HT6RYE"
PLAIN = GitAddress("https://gitring.example.com", "prj_01JBQ7XK2M9T4V6W8Y0A3C5E7G")


def test_the_push_line_hands_the_token_to_git_in_its_environment_only() -> None:
    assert PLAIN.push(intent_ref(INTENT)) == (
        "GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= GCM_INTERACTIVE=never GIT_CONFIG_COUNT=1 "
        "GIT_CONFIG_KEY_0=http.https://gitring.example.com/.extraHeader "
        'GIT_CONFIG_VALUE_0="Authorization: Bearer ${GITRING_GIT_TOKEN:?GITRING_GIT_TOKEN is not set: export the token '
        'gitring_clone returned, on its own line, then run this line}" git -c core.askPass= -c '
        "credential.interactive=false push https://gitring.example.com/git/prj_01JBQ7XK2M9T4V6W8Y0A3C5E7G.git "
        f"HEAD:refs/intents/{INTENT}"
    )


def test_with_a_credential_helper_the_line_holds_no_token() -> None:
    line = GitAddress("https://g.example", "prj_1", helper=True).push(intent_ref(INTENT))
    assert line == (
        "GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= GCM_INTERACTIVE=never git -c core.askPass= -c "
        f"credential.interactive=false push https://g.example/git/prj_1.git HEAD:refs/intents/{INTENT}"
    )


def test_without_the_variable_the_line_fails_before_git_runs_and_says_what_to_do() -> None:
    run = subprocess.run(
        ["/bin/sh", "-c", PLAIN.push("refs/x")], capture_output=True, text=True, env={"PATH": "/nowhere"}
    )
    assert run.returncode != 0
    assert "GITRING_GIT_TOKEN is not set: export the token gitring_clone returned" in run.stderr


def test_the_powershell_line_restores_every_variable_it_sets() -> None:
    line = PLAIN.push_powershell(intent_ref(INTENT))
    body, restored = line.split("} finally {")
    set_here = {
        part.split("=")[0].split(" ")[0] for part in body.split("$env:")[1:] if "=" in part.split(";")[0]
    }
    for name in set_here - {"GITRING_GIT_TOKEN"}:
        assert f"$env:{name} = $gr" in restored
