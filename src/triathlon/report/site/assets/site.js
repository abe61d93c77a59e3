"use strict";
// What all pages share: the theme, tables that sort, and small helpers. Text from candidates only ever becomes text
// nodes here, never markup.
(function () {
  const listeners = [];
  const T = (window.TRIATHLON = {
    data: null,
    site(data) { T.data = data; listeners.splice(0).forEach((f) => f(data)); },
    ready(f) { if (T.data) f(T.data); else listeners.push(f); },
    words: { p: "passed", f: "failed", g: "taken by a control", "-": "no verdict" },
    signs: { p: "✓", f: "✗", g: "c", "-": "·" },
    // Bytes that were no UTF-8 come as lone surrogates: they are shown as \xNN, other lone ones as \uNNNN.
    shown(text) {
      return text.replace(/[\ud800-\udfff]/gu, (c) => {
        const code = c.charCodeAt(0);
        return code >= 0xdc80 && code <= 0xdcff ? "\\x" + (code - 0xdc00).toString(16) : "\\u" + code.toString(16);
      });
    },
    el(name, attributes, ...children) {
      const made = document.createElement(name);
      for (const [key, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (key === "class") made.className = value;
        else made.setAttribute(key, value === true ? "" : String(value));
      }
      made.append(...children.flat().filter((c) => c !== null && c !== undefined)
        .map((c) => (typeof c === "string" ? T.shown(c) : c)));
      return made;
    },
    load(path) {
      return new Promise((done, failed) => {
        const made = T.el("script", { src: path });
        made.onload = () => { made.remove(); done(); };
        made.onerror = () => failed(new Error("cannot load " + path));
        document.head.append(made);
      });
    },
    content() { const it = document.getElementById("content"); it.replaceChildren(); return it; },
    title(words) {
      document.querySelector("h1").textContent = words;
      document.title = words + " · Doc2Harness";
    },
    percent(value) { return value === null || value === undefined ? "undefined" : (100 * value).toFixed(1) + " %"; },
    badge(letter) {
      return T.el("span", { class: "badge " + (letter === "-" ? "n" : letter) }, T.signs[letter] + " " + T.words[letter]);
    },
    sortable(table) {
      const heads = [...table.tHead.rows[0].cells];
      heads.forEach((head, at) => {
        const button = T.el("button", { type: "button" }, ...head.childNodes);
        head.replaceChildren(button);
        button.addEventListener("click", () => {
          const down = head.getAttribute("aria-sort") !== "descending";
          heads.forEach((other) => other.removeAttribute("aria-sort"));
          head.setAttribute("aria-sort", down ? "descending" : "ascending");
          const value = (row) => {
            const cell = row.cells[at];
            const given = cell.dataset.sort !== undefined ? cell.dataset.sort : cell.textContent.trim();
            const number = Number(given);
            return given === "" || given === "undefined" ? null : Number.isNaN(number) ? given : number;
          };
          const rows = [...table.tBodies[0].rows];
          rows.sort((a, b) => {
            const x = value(a), y = value(b);
            if (x === null || y === null) return (x === null) - (y === null);
            const by = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
            return down ? -by : by;
          });
          table.tBodies[0].append(...rows);
        });
      });
    },
  });

  const keep = {
    get() { try { return localStorage.getItem("triathlon-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("triathlon-theme", value); } catch { /* a folder may have no storage */ } },
  };
  const asked = keep.get();
  if (asked) document.documentElement.dataset.theme = asked;
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keep.set(root.dataset.theme);
  });
  document.querySelectorAll("table.sortable").forEach(T.sortable);
})();
