"""A page taken apart as a browser does it: what of it would act."""

import re
from html.parser import HTMLParser


class Markup(HTMLParser):
    """A page as a browser takes it apart: what of it would act."""

    def __init__(self) -> None:
        super().__init__()
        self.acts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what our own templates never write."""
        given = dict(attrs)
        if tag not in TAGS or (tag == "script" and not str(given.get("src")).startswith("/static/")):
            self.acts.append(f"<{tag}>")
        for name, value in given.items():
            elsewhere = name == "formaction" and not re.match(r"/[^/\\]", value or "")
            if name.startswith("on") or name in ("style", "srcdoc") or elsewhere:
                self.acts.append(name)
            if name in ("href", "src", "action", "hx-get", "hx-post") and not _ours_or_outside(
                tag, str(value)
            ):
                self.acts.append(f"{name}={value}")


def _ours_or_outside(tag: str, address: str) -> bool:
    """A path of ours, a place on the page, or a plain link to an https page."""
    ours = (address.startswith(("/", "#", "?")) and not address.startswith(("//", "/\\"))) or address == ""
    return ours or (tag == "a" and address.startswith(("https://", "http://temporal.test")))


# What the templates are made of; a page with anything else in it is looked at by a person first.
TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "link",
        "script",
        "body",
        "a",
        "header",
        "nav",
        "main",
        "div",
        "section",
        "article",
        "aside",
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "code",
        "pre",
        "span",
        "strong",
        "em",
        "small",
        "blockquote",
        "form",
        "fieldset",
        "legend",
        "label",
        "input",
        "textarea",
        "select",
        "option",
        "button",
        "details",
        "summary",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "time",
        "br",
        "hr",
        "figure",
        "figcaption",
        "svg",
        "defs",
        "marker",
        "path",
        "circle",
        "rect",
        "text",
        "tspan",
        "g",
        "line",
        "output",
        "progress",
        "footer",
        "kbd",
        "i",
        "b",
        "mark",
        "template",
        "meter",
        "caption",
        "ins",
        "del",
        "datalist",
    ]
)


def check_markup(page: str, what: str) -> None:
    """Nothing that the policy would have to stop: no script, style or handler in the page itself."""
    markup = Markup()
    markup.feed(page)
    assert not markup.acts, (what, markup.acts)
