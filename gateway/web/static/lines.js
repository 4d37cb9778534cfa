"use strict";
// Lines of a patch are chosen at their numbers: a click takes a first line, the next one (or a drag, or Shift) the last.
// By keyboard a patch is one stop: arrows walk, Enter or Space takes a line, Shift with an arrow takes more, Escape none.
// The two number fields of the file's form hold the choice, so that it outlives whatever the page does, and so that the
// form works without this script.
(() => {
  const cell = (row) => (row.cells.length === 4 && row.cells[1].textContent ? row.cells[1] : null);
  const number = (cell) => Number(cell.textContent);
  const formOf = (file) => file.querySelector("form.comment");
  const fields = (file) => {
    const form = formOf(file);
    return form ? [form.elements.start_line, form.elements.end_line] : null;
  };
  const cells = (file) => Array.from(file.querySelector("table.patch")?.rows ?? [], cell).filter(Boolean);
  const fileOf = (node) => node.closest?.("details.file");

  function chosen(file) {
    const [first, last] = fields(file).map((field) => Number(field.value) || 0);
    return first ? [first, Math.max(first, last)] : null;
  }

  function choose(file, range, open = true) {
    const [first, last] = fields(file);
    first.value = range ? range[0] : "";
    last.value = range ? range[1] : "";
    if (range && open) file.querySelector("details.ask").open = true;
    paint(file);
  }

  function paint(file) {
    const range = chosen(file);
    const summary = file.querySelector("details.ask > summary");
    for (const one of cells(file)) {
      const taken = range !== null && number(one) >= range[0] && number(one) <= range[1];
      one.setAttribute("aria-selected", String(taken));
      one.parentElement.classList.toggle("taken", taken);
    }
    const lines = range && (range[0] === range[1] ? `line ${range[0]}` : `lines ${range[0]}–${range[1]}`);
    summary.textContent = range ? `Comment on ${lines}` : "Comment on this file…";
    file.querySelector("[data-unpick]").hidden = range === null;
  }

  function take(file, at, extend) {
    const range = chosen(file);
    const single = range && range[0] === range[1];
    if (single && range[0] === at && !extend) return choose(file, null);
    if (range && (extend || single)) return choose(file, [Math.min(range[0], at), Math.max(range[1], at)]);
    return choose(file, [at, at]);
  }

  // One cell of a patch can be reached by Tab; the arrows move which.
  function focusable(file, wanted) {
    for (const one of cells(file)) one.tabIndex = one === wanted ? 0 : -1;
  }

  function prepare() {
    for (const file of document.querySelectorAll("details.file")) {
      const table = file.querySelector("table.patch");
      if (!table || !formOf(file)) continue;
      table.setAttribute("role", "grid");
      table.setAttribute("aria-multiselectable", "true");
      table.classList.add("picking");
      const all = cells(file);
      if (all.length && !all.some((one) => one.tabIndex === 0)) focusable(file, all[0]);
      paint(file);
    }
    for (const button of document.querySelectorAll("[data-files]")) button.hidden = false;
  }

  const pickable = (node) => {
    const one = node.closest?.("table.picking td.ln");
    return one && cell(one.parentElement);
  };

  let dragged = null;
  document.addEventListener("mousedown", (event) => {
    const one = event.button === 0 && pickable(event.target);
    if (!one) return;
    event.preventDefault();
    const file = fileOf(one);
    dragged = { file, from: number(one), moved: false, extend: event.shiftKey };
    focusable(file, one);
    one.focus({ preventScroll: true });
  });
  document.addEventListener("mouseover", (event) => {
    const one = dragged && event.buttons === 1 && pickable(event.target);
    if (!one || fileOf(one) !== dragged.file || (number(one) === dragged.from && !dragged.moved)) return;
    dragged.moved = true;
    choose(dragged.file, [dragged.from, number(one)].sort((a, b) => a - b), false);
  });
  document.addEventListener("mouseup", () => {
    if (!dragged) return;
    const { file, from, moved, extend } = dragged;
    dragged = null;
    if (moved) choose(file, chosen(file));
    else take(file, from, extend);
  });

  document.addEventListener("keydown", (event) => {
    const one = event.target.matches?.("table.picking td.ln") ? event.target : null;
    const file = fileOf(event.target);
    if (!one) return;
    if (event.key === "Escape") return choose(file, null);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      const all = cells(file);
      const next = all[all.indexOf(one) + step];
      if (next) {
        if (event.shiftKey && !chosen(file)) take(file, number(one), false);
        focusable(file, next);
        next.focus();
        if (event.shiftKey) take(file, number(next), true);
      }
    } else if (event.key === "Enter" || event.key === " ") take(file, number(one), event.shiftKey);
    else return;
    event.preventDefault();
  });

  document.addEventListener("input", (event) => {
    const file = fileOf(event.target);
    if (file && fields(file)?.includes(event.target)) paint(file);
  });

  document.addEventListener("click", (event) => {
    const cancel = event.target.closest("[data-unpick]");
    if (cancel) {
      choose(fileOf(cancel), null);
      cancel.closest("details.ask").open = false;
    }
    const all = event.target.closest("[data-files]");
    if (all) {
      const open = all.textContent === "Open all";
      for (const file of document.querySelectorAll("details.file")) file.open = open;
      all.textContent = open ? "Close all" : "Open all";
    }
  });

  // What a link leads to may lie in a closed part.
  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView();
  }

  // The server leaves the patch out of an answer to a page that has it: the patch on the page stays.
  window.htmx.registerExtension("keep-same", {
    htmx_before_morph_node: (there, detail) => !detail.newNode.hasAttribute?.("data-same"),
  });
  document.addEventListener("htmx:after:swap", prepare);
  window.addEventListener("hashchange", reveal);
  prepare();
  reveal();
})();
