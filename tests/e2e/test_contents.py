"""What a push may hold, told to an agent by its git: no secret in any commit, no planted repository in the head."""

from tests.support.agent import Owner, git

KEY = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA" + "q7Wm" * 10 + "\n"
PLANTED = {"fixtures/repo/HEAD": "ref: refs/heads/main\n", "fixtures/repo/config": "[core]\n\tbare = true\n"}


async def test_an_agent_cleans_its_commits_as_it_is_told_and_lands(owner: Owner) -> None:
    project = await owner.project({"app/a.py": "x = 1\n"}, "true")
    agent = await owner.agent(project)
    intent = await agent.declare("Deploy", ["app/config.txt", "app/a.py"])
    work = await agent.checkout(intent)

    await work.commit({"app/config.txt": f"host\nport\n{KEY}"})
    bad = await work.commit({"app/config.txt": "host\nport\n"}, "Remove the key")
    refused = await work.push()
    said = " ".join(refused.err.replace("remote: ", "").split())
    assert refused.code != 0
    assert "app/config.txt line 3 holds what looks like a private key. Remove it from every commit" in said
    assert "b3Blbn" not in refused.err
    assert (await agent.status(intent))["intent"]["head"] is None

    await git(work.at, "reset", "-q", "--soft", "HEAD~2")
    planted = await work.commit(PLANTED)
    refused = await work.push()
    assert refused.code != 0
    assert f"bare_repository_refused: fixtures/repo/ in {planted[:12]} is shaped like" in refused.err
    assert (await agent.status(intent))["intent"]["head"] is None

    await git(work.at, "rm", "-rqf", "fixtures")
    await git(work.at, "commit", "-q", "--amend", "-m", "Deploy")
    head = await work.pushed({"app/a.py": "x = 2\n"})
    assert head != bad
    await agent.submit(await agent.status(intent))
    merged = await agent.wait_until(intent, "merged")
    assert merged["intent"]["submittedHead"] == head
