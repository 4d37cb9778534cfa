"""Lines and series of numbers, made and stopped by their forms on the settings page."""

from tests.web.served import Pages
from tests.web.visitor import Visitor, words


async def test_a_line_is_made_paused_with_a_reason_and_resumed(pages: Pages, owner: Visitor) -> None:
    root = f"/p/{(await pages.engine.project()).slug}/settings"
    await owner.get(root)
    made = await owner.post(f"{root}/lines", **{"name": "release/2.x", "from": "main"})
    assert made.headers["location"] == f"{root}?done=line_made"
    paused = await owner.post(f"{root}/lines/pause", line="release/2.x", reason="Frozen <today>")
    assert paused.headers["location"] == f"{root}?done=paused"
    page = words(await owner.get(root))
    assert "release/2.x Paused" in page and "Frozen <today>" in page and "main the default" in page
    assert (await owner.post(f"{root}/lines/resume", line="release/2.x")).status_code == 303
    assert "Frozen" not in words(await owner.get(root))
    refused = await owner.post(f"{root}/lines", **{"name": "a line", "from": "main"})
    assert refused.status_code == 400 and 'role="alert"' in refused.text


async def test_a_series_is_made_and_hands_out_its_numbers(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project()
    root = f"/p/{project.slug}/settings"
    assert "None yet. A series hands out numbers" in words(await owner.get(root))
    made = await owner.post(f"{root}/series", prefix="D", next="560")
    assert made.headers["location"] == f"{root}?done=series_made"
    await project.declare("app/f1.py", claims=[{"series": "D"}])
    assert "D561" in words(await owner.get(root))
    refused = await owner.post(f"{root}/series", prefix="d", next="")
    assert (refused.status_code, "exists already" in words(refused)) == (409, True)


async def test_saving_the_rules_leaves_the_checks_alone_and_the_checks_the_rules(
    pages: Pages, owner: Visitor
) -> None:
    project = await pages.engine.project(test="true")
    root = f"/p/{project.slug}/settings"
    await owner.get(root)
    await owner.post(
        f"{root}/rules", max_places="3", plan_review="never", people_only="", shared_files="A.md"
    )
    await owner.post(f"{root}/checks", test="make test", timeout_sec="", environment="LANG")
    page = (await owner.get(root)).text
    for shown in (
        'value="make test"',
        ">LANG</textarea>",
        'value="3"',
        ">A.md</textarea>",
        'value="never" selected',
    ):
        assert shown in page, shown
    await owner.post(f"{root}/checks", test=" ")
    assert "no checks: a person decides about every merge" in words(await owner.get("/projects"))


async def test_named_checks_are_added_changed_and_removed_one_by_one(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project(test="true")
    root = f"/p/{project.slug}/settings"
    assert "Named checks None yet" in words(await owner.get(root))
    lint = {"was": "", "name": "lint", "command": "make <lint>", "paths": "src/\n*.md", "slots": "2"}
    assert (await owner.post(f"{root}/checks/save", **lint)).headers["location"] == f"{root}?done=saved"
    await owner.post(
        f"{root}/checks/save", was="", name="unit", command="make unit", needs="lint\ntest", retries="1"
    )
    page = words(await owner.get(root))
    assert (
        "lint make <lint> src/, *.md – 900 s 2 0" in page
        and "unit make unit everything lint, test 900 s 1 1" in page
    )
    circle = await owner.post(f"{root}/checks/save", **{**lint, "was": "lint", "needs": "unit"})
    assert circle.status_code == 400
    assert "Checks that need each other never begin: lint needs unit needs lint." in words(circle)
    assert ">unit</textarea>" in circle.text  # what was typed is there to be mended
    assert (await owner.post(f"{root}/checks/remove", was="lint")).status_code == 400  # unit needs it
    await owner.post(f"{root}/checks/remove", was="unit")
    await owner.post(f"{root}/checks", test=" ")
    assert "checks: lint" in words(await owner.get("/projects"))
    assert (await owner.post(f"{root}/checks/remove", was="gone")).status_code == 404
    await owner.post(f"{root}/checks/remove", was="lint")
    assert "None yet. Named checks" in words(await owner.get(root))
