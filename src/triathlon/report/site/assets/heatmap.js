"use strict";
// Cases by candidates. Letters tell verdicts as well as colours; a row's link leads to the case.
TRIATHLON.ready((data) => {
  const T = TRIATHLON, el = T.el, content = T.content();
  const names = (key) => [...new Set(data.cases.flatMap((c) => c[key]))].sort();
  const choose = (label, options) => {
    const select = el("select", {}, el("option", { value: "" }, "all"), options.map((o) => el("option", {}, o)));
    return [select, el("label", {}, label, select)];
  };
  const [category, categoryLabel] = choose("category", names("category"));
  const [kind, kindLabel] = choose("kind", names("kind"));
  const [clause, clauseLabel] = choose("clause", names("clauses"));
  const family = el("input", { type: "search" });
  const controls = el("input", { type: "checkbox", checked: true });
  const mixed = el("input", { type: "checkbox" });
  const form = el("form", { class: "filters" }, categoryLabel, kindLabel, clauseLabel,
    el("label", {}, "family", family), el("label", { class: "tick" }, controls, "controls"),
    el("label", { class: "tick" }, mixed, "only cases that tell candidates apart"));
  form.addEventListener("submit", (event) => event.preventDefault());
  const count = el("p", { role: "status" });
  const key = el("p", { class: "soft" }, Object.keys(T.words).map((w) => T.signs[w] + " " + T.words[w]).join(", "));
  const head = el("tr", {}, el("th", { scope: "col" }, "case"),
    data.candidates.map((c) => el("th", { scope: "col" }, el("a", { href: "candidate.html#" + c.slug }, c.name))));
  const body = el("tbody");
  const table = el("table", { class: "heat" }, el("caption", {}, "Verdicts"), el("thead", {}, head), body);
  content.append(form, count, key,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Verdicts" }, table));

  const row = (item) => el("tr", { class: item.kind === "control" ? "control" : null },
    el("th", { scope: "row" }, el("a", { href: "case.html#" + item.id }, item.id),
      item.kind === "control" ? " (control)" : null),
    [...item.verdicts].map((v, at) => el("td", { class: v === "-" ? "n" : v,
      title: data.candidates[at].name + ": " + T.words[v] }, T.signs[v])));
  const draw = () => {
    const fits = (c) => (!category.value || c.category === category.value) &&
      (!clause.value || c.clauses.includes(clause.value)) && c.family.includes(family.value.trim());
    const cases = data.cases.filter((c) => fits(c) && (!kind.value || c.kind === kind.value) &&
      (!mixed.checked || new Set(c.verdicts.replace(/g/g, "f")).size > 1));
    const gating = new Set(cases.flatMap((c) => c.controls));
    const shown = controls.checked ? data.controls.filter((c) => gating.has(c.id)) : [];
    const order = new Map();
    [...shown, ...cases].forEach((c) => order.set(c.family, [...(order.get(c.family) || []), c]));
    body.replaceChildren(...[...order.values()].flat().map(row));
    count.textContent = cases.length + " of " + data.cases.length + " cases, " + shown.length + " controls";
  };
  form.addEventListener("input", draw);
  draw();
});
