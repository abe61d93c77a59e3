"use strict";
// One candidate: what it is, how it does by category, family and clause, and what failed and why.
(function () {
  const T = TRIATHLON, el = T.el, given = {};
  T.candidate = (slug, data) => { given[slug] = data; };

  function show(data) {
    const content = T.content(), slug = decodeURIComponent(location.hash.slice(1));
    const at = data.candidates.findIndex((c) => c.slug === slug);
    if (at < 0) {
      T.title("Candidates");
      content.append(el("ul", {}, data.candidates.map((c) =>
        el("li", {}, el("a", { href: "#" + c.slug }, c.name + " (" + c.model + ", build " + c.build + ")")))));
      return;
    }
    const one = data.candidates[at];
    T.title(one.name);
    T.load("evidence/candidates/" + slug + ".js").then(() => {
      const { facts, reasons } = given[slug];
      const measures = Object.entries(one.measures || {});
      content.append(el("dl", {}, [...Object.entries(facts), ...measures]
        .filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && !value.length))
        .map(([name, value]) => [el("dt", {}, name.replace(/_/g, " ")), el("dd", {}, String(value))])));
      content.append(part("By category", data.cases, at, (c) => [c.category]),
        part("By clause", data.cases, at, (c) => c.clauses), part("By family", data.cases, at, (c) => [c.family]));
      const failed = data.cases.filter((c) => "fg".includes(c.verdicts[at]));
      content.append(el("h2", {}, "Not passed: " + failed.length));
      failed.forEach((c) => content.append(el("details", {}, el("summary", {}, c.id + " ", T.badge(c.verdicts[at])),
        el("p", {}, el("a", { href: "case.html#" + c.id + "," + one.slug }, "the session as it was"), " · " +
          c.clauses.join(", ")), el("pre", {}, (reasons[c.id] || []).join("\n")))));
    }, (error) => content.append(el("p", { class: "warning" }, error.message)));
  }

  function part(title, cases, at, keys) {
    const groups = new Map();
    cases.forEach((c) => keys(c).forEach((key) => groups.set(key, [...(groups.get(key) || []), c.verdicts[at]])));
    const rows = [...groups].map(([key, letters]) => {
      const known = letters.filter((v) => v !== "-"), right = known.filter((v) => v === "p").length;
      const rate = known.length ? right / known.length : null;
      return el("tr", {}, el("th", { scope: "row" }, key), el("td", {}, String(known.length)), el("td", {}, String(right)),
        el("td", { "data-sort": rate === null ? "" : rate }, T.percent(rate)));
    });
    const table = el("table", {}, el("caption", {}, title), el("thead", {}, el("tr", {},
      ["", "cases", "passed", "rate"].map((name, i) => el("th", { scope: "col" }, name || title.slice(3))))),
      el("tbody", {}, rows));
    T.sortable(table);
    const box = el("details", { open: title === "By category" }, el("summary", {}, title),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, table));
    return box;
  }

  T.ready(show);
  window.addEventListener("hashchange", () => T.ready(show));
})();
