"use strict";
// A page listens on one stream. Each event says only that something happened; the part of the page that
// follows the news (`hx-trigger="gitring:news from:body"`) then asks the server for itself again.
(() => {
  const address = document.body.dataset.stream;
  const pulse = document.getElementById("pulse");
  const PAUSE_MS = 400;
  // What a form said once grows stale as the page goes on; a reload does not say it again either.
  const NOTICE_MS = 10000;
  let waiting = null;
  let missed = false;

  function say(text) {
    if (!pulse) return;
    pulse.hidden = false;
    pulse.textContent = text;
    pulse.classList.toggle("lost", text !== "live");
  }

  function tell() {
    waiting = null;
    if (document.hidden) { missed = true; return; }
    missed = false;
    if (performance.now() > NOTICE_MS) document.querySelector(".notice.ok")?.remove();
    document.body.dispatchEvent(new CustomEvent("gitring:news"));
  }

  function news() {
    if (waiting === null) waiting = setTimeout(tell, PAUSE_MS);
  }

  function listen() {
    const source = new EventSource(address);
    let opened = false;
    source.addEventListener("open", () => {
      say("live");
      if (opened) news();
      opened = true;
    });
    source.addEventListener("news", news);
    source.addEventListener("error", () => {
      say(source.readyState === EventSource.CLOSED ? "not live: reload the page" : "connecting…");
    });
  }

  // Blocks of running checks: each has a stream of its own and asks for itself when the check printed something.
  const outputs = new Map();
  function followOutputs() {
    const wanted = new Set();
    for (const block of document.querySelectorAll("[data-output]")) {
      const from = block.dataset.output;
      wanted.add(from);
      if (outputs.has(from)) continue;
      const source = new EventSource(from);
      let soon = null;
      const more = () => {
        soon = null;
        const shown = document.querySelector(`[data-output="${CSS.escape(from)}"]`);
        if (shown && !document.hidden) shown.dispatchEvent(new CustomEvent("gitring:output"));
      };
      const heard = () => { if (soon === null) soon = setTimeout(more, PAUSE_MS); };
      source.addEventListener("output", heard);
      source.addEventListener("ended", () => { source.close(); heard(); news(); });
      outputs.set(from, source);
    }
    for (const [from, source] of outputs) {
      if (!wanted.has(from)) { source.close(); outputs.delete(from); }
    }
  }

  const UNITS = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [5184000, 86400, "d"]];
  function refreshTimes() {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const seconds = Math.max(0, (Date.now() - Date.parse(time.dateTime)) / 1000);
      const unit = UNITS.find(([limit]) => seconds < limit);
      if (unit) time.textContent = `${Math.floor(seconds / unit[1])} ${unit[2]}`;
    }
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden && missed) news(); });
  setInterval(refreshTimes, 15000);
  const here = new URL(location.href);
  if (here.searchParams.has("done")) {
    here.searchParams.delete("done");
    history.replaceState(null, "", here);
  }
  if (address) listen();
  followOutputs();
  new MutationObserver(followOutputs).observe(document.getElementById("main"), { childList: true, subtree: true, attributeFilter: ["data-output"] });
})();
