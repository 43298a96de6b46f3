"use strict";
// Every five seconds while somebody looks, the main part is asked for again, and each section that is another one is put in its
// place. What stands open stays open, and nothing moves under a finger or a reader that has not changed.
(() => {
  const every = 5000, main = document.getElementById("main"), now = document.getElementById("now"), lost = document.getElementById("lost");
  const known = new Map();
  let failed = 0;

  const put = (fresh) => {
    for (const section of fresh.querySelectorAll("section")) {
      const old = document.getElementById(section.id);
      if (!old || known.get(section.id) === section.innerHTML) continue;
      known.set(section.id, section.innerHTML);
      for (const d of section.querySelectorAll("details")) {
        const was = old.querySelector("#" + CSS.escape(d.id));
        if (was) d.open = was.open;
      }
      const held = old.contains(document.activeElement) ? document.activeElement.closest("details")?.id : null;
      const href = held === null ? null : document.activeElement.getAttribute("href");
      old.replaceChildren(...section.childNodes);
      const next = href ? old.querySelector(`[href="${CSS.escape(href)}"]`) : held ? old.querySelector("#" + CSS.escape(held) + " summary") : null;
      if (next) next.focus({ preventScroll: true });
    }
  };

  const look = async () => {
    if (document.visibilityState === "hidden") return;
    try {
      const answer = await fetch("/main", { cache: "no-store", signal: AbortSignal.timeout(10000) });
      if (!answer.ok) throw new Error(answer.statusText);
      put(new DOMParser().parseFromString(await answer.text(), "text/html"));
      now.textContent = answer.headers.get("Gauger-Time");
      failed = 0;
    } catch {
      failed++;
    }
    lost.hidden = failed < 2;
    document.body.classList.toggle("lost", failed >= 2);
  };

  for (const section of main.querySelectorAll("section")) known.set(section.id, section.innerHTML);
  setInterval(look, every);
  document.addEventListener("visibilitychange", look);
})();
