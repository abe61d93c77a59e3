"use strict";
// One case: its story, and per candidate the four channels as they were. Channels lie compressed in script files and
// are opened when asked for.
(function () {
  const T = TRIATHLON, el = T.el, given = new Map();
  T.case = (id, part, rows, head) => {
    const known = given.get(id) || { rows: [], head: null };
    known.rows.push(...rows);
    if (head) known.head = head;
    given.set(id, known);
  };

  async function open(packed) {
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  async function show(data) {
    const content = T.content(), [id, slug] = decodeURIComponent(location.hash.slice(1)).split(",");
    const item = [...data.cases, ...data.controls].find((c) => c.id === id);
    if (!item) {
      T.title("Cases");
      content.append(el("ul", {}, data.cases.map((c) => el("li", {}, el("a", { href: "#" + c.id }, c.id)))));
      return;
    }
    T.title(item.id);
    try {
      if (!given.has(id)) {
        await T.load("evidence/" + item.file + ".0.js");
        for (let n = 1; n < given.get(id).head.parts; n += 1) await T.load("evidence/" + item.file + "." + n + ".js");
      }
    } catch (error) {
      content.append(el("p", { class: "warning" }, error.message));
      return;
    }
    const { rows, head } = given.get(id);
    content.append(el("pre", { tabindex: "0", "aria-label": "The story of the case" }, head.story));
    if (head.controls.length) {
      content.append(el("p", {}, "Controls: ", head.controls.flatMap((name, i) =>
        [i ? ", " : "", el("a", { href: "#" + name }, name)])));
    }
    content.append(el("h2", {}, "Candidates"));
    data.candidates.forEach((candidate, at) => {
      const row = rows.find((r) => r.c === at);
      const box = el("details", { open: candidate.slug === slug }, el("summary", {}, candidate.name + " ",
        T.badge(item.verdicts[at])));
      if (row) {
        let begun = false;
        const fill = async () => {
          if (!box.open || begun) return;
          begun = true;
          box.append(await session(row, candidate));
        };
        box.addEventListener("toggle", fill);
        fill();
      } else box.append(el("p", {}, "It was not run."));
      content.append(box);
      if (candidate.slug === slug) box.scrollIntoView();
    });
  }

  async function session(row, candidate) {
    const box = el("div", {}, el("p", { class: "soft" }, row.seconds.toFixed(2) + " s, " + row.started + ", repetition " +
      row.repetition + ", ", el("a", { href: "candidate.html#" + candidate.slug }, "the candidate")));
    if (row.reasons.length) box.append(el("h3", {}, "Why it did not pass"), el("pre", {}, row.reasons.join("\n")));
    for (const [name, draw] of [["requests", requests], ["files", files], ["exit", exits], ["output", outputs]]) {
      box.append(el("h3", {}, name));
      if (!row.channels[name]) { box.append(el("p", {}, "nothing kept")); continue; }
      try {
        const channel = await open(row.channels[name]);
        const wrong = row.findings.filter((f) => f.channel === name);
        box.append(...draw(channel.items, wrong));
        if (!channel.items.length) box.append(el("p", {}, "nothing"));
        if (channel.cut) box.append(el("p", { class: "warning" }, channel.left_out + " more were too large to keep"));
      } catch (error) {
        box.append(el("p", { class: "warning" }, "cannot be shown: " + error.message));
      }
    }
    return box;
  }

  // What must not be there: the quoted words of expectations that say so.
  function unwanted(wrong) {
    return wrong.filter((f) => f.negative)
      .flatMap((f) => [...f.wanted.matchAll(/'((?:[^'\\]|\\.)+)'|"((?:[^"\\]|\\.)+)"/g)].map((m) => m[1] || m[2]));
  }

  function marked(text, words) {
    const parts = [];
    let rest = text;
    while (rest && words.length) {
      const first = words.map((w) => [rest.indexOf(w), w]).filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!first) break;
      parts.push(rest.slice(0, first[0]), el("mark", {}, first[1]));
      rest = rest.slice(first[0] + first[1].length);
    }
    return [...parts, rest];
  }

  function where(finding, count) {
    const at = /^requests\.(?:(first|last)|at\.(\d+))/.exec(finding.where);
    if (!at) return null;
    return at[1] === "first" ? 1 : at[1] === "last" ? count : Number(at[2]);
  }

  function requests(items, wrong) {
    const words = unwanted(wrong), before = new Map();
    return items.map((item, i) => {
      const here = wrong.filter((f) => where(f, items.length) === i + 1);
      const box = el("div", { class: "request" + (here.length ? " wrong" : "") },
        el("p", {}, el("strong", {}, "Request " + item.index), " " + item.method + " " + item.path + " → " + item.answered +
          (item.lane && item.lane !== "main" ? " (lane " + item.lane + ")" : "")));
      here.forEach((f) => box.append(el("p", {}, "Here: wanted " + f.wanted + "; saw " + f.saw)));
      let body = null;
      try { body = JSON.parse(item.raw); } catch { body = null; }
      if (!body || !Array.isArray(body.messages)) {
        box.append(el("pre", {}, ...marked(item.raw !== undefined ? item.raw : "(bytes) " + item.raw_base64, words)));
        return box;
      }
      const texts = body.messages.map((m) => JSON.stringify(m)), known = before.get(item.lane) || [];
      let same = 0;
      while (same < known.length && same < texts.length && known[same] === texts[same]) same += 1;
      before.set(item.lane, texts);
      if (same) {
        box.append(el("details", {}, el("summary", {}, same + " messages as in the request before"),
          ...body.messages.slice(0, same).map((m) => message(m, words))));
      }
      box.append(...body.messages.slice(same).map((m) => message(m, words)));
      const { messages, ...rest } = body;
      box.append(el("details", {}, el("summary", {}, "everything else of the request"),
        el("pre", {}, ...marked(JSON.stringify({ ...rest, headers: item.headers }, null, 1), words))));
      return box;
    });
  }

  function message(given, words) {
    const m = given && typeof given === "object" ? given : { content: String(given) };
    const role = String(m.role), known = ["user", "assistant", "tool"].includes(role) ? role : "";
    const box = el("div", { class: "message " + known }, el("p", { class: "who" }, role +
      (m.tool_call_id ? " " + m.tool_call_id : "")));
    const text = Array.isArray(m.content)
      ? m.content.map((p) => (p && typeof p.text === "string" ? p.text : JSON.stringify(p))).join("\n")
      : typeof m.content === "string" ? m.content : m.content ? JSON.stringify(m.content) : "";
    if (m.reasoning_content) box.append(el("pre", {}, "thinks: ", ...marked(String(m.reasoning_content), words)));
    if (text) box.append(el("pre", {}, ...marked(text, words)));
    (Array.isArray(m.tool_calls) ? m.tool_calls : []).forEach((c) => {
      const f = (c && c.function) || {};
      box.append(el("pre", {}, "calls " + f.name + " ", ...marked(String(f.arguments), words)));
    });
    return box;
  }

  function files(items, wrong) {
    const words = unwanted(wrong);
    const shown = items.filter((f) => f.state !== "same"), same = items.length - shown.length;
    const made = shown.map((f) => {
      const bad = wrong.some((w) => w.where.includes(f.name.replace(/^workspace\//, "")));
      const sign = { new: "+", changed: "±", gone: "−" }[f.state];
      const box = el("div", { class: "file diff" + (bad ? " wrong" : "") },
        el("p", {}, el("strong", {}, sign + " " + f.name), " " + f.state + (f.kind ? ", " + f.kind : "") +
          (f.mode ? ", " + f.mode.replace("0o", "") : "") + (f.target ? " → " + f.target : "")));
      if (f.text !== undefined) {
        const lines = f.text.replace(/\n$/, "").split("\n").map((l) => "+ " + l).join("\n");
        box.append(el("pre", {}, el("span", { class: "add" }, ...marked(lines, words)),
          f.text && !f.text.endsWith("\n") ? "\n(no newline at the end)" : null));
      } else if (f.base64 !== undefined) box.append(el("pre", {}, "(bytes) " + f.base64));
      return box;
    });
    if (same) made.push(el("p", { class: "soft" }, same + " entries are as they were laid out"));
    wrong.forEach((f) => made.push(el("p", {}, f.where + ": wanted " + f.wanted + "; saw " + f.saw)));
    return made;
  }

  function exits(items) {
    return items.map((x) => el("p", {}, x.problem !== undefined ? "problem: " + x.problem
      : x.of + ": " + (x.exit === null ? "still running at the end" : "exit code " + x.exit) + " after " + x.seconds + " s"));
  }

  function outputs(items, wrong) {
    const words = unwanted(wrong);
    return items.filter((o) => o.text !== "" || o.part === "http").map((o) => {
      const bad = wrong.some((w) => w.where.includes(o.part));
      const text = o.json !== undefined ? JSON.stringify(o.json, null, 1) : String(o.text === undefined ? "" : o.text);
      return el("div", { class: bad ? "wrong" : null }, el("p", {}, el("strong", {}, o.of + " " + o.part) ,
        o.status !== undefined ? " status " + o.status : ""), el("pre", {}, ...marked(text, words)));
    });
  }

  T.ready(show);
  window.addEventListener("hashchange", () => T.ready(show));
})();
