"use strict";
// Makes a page handier that can be read without it: folds, values of marks, tables to copy, pictures to save.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const element = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const button = (text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => act(made));
    return made;
  };
  const tools = (...buttons) => {
    const made = document.createElement("div");
    made.className = "tools";
    made.append(...buttons);
    return made;
  };

  // --- Folds: links unfold what they lead to, one button unfolds all, and paper shows all.
  const parts = all("details.part");
  const reveal = (hash) => {
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    for (let each = target; each; each = each.parentElement) if (each.localName === "details") each.open = true;
    return target;
  };
  const startFolds = () => {
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#']");
      if (link) reveal(link.hash);
    });
    addEventListener("hashchange", () => reveal(location.hash));
    const target = reveal(location.hash);
    if (target) target.scrollIntoView();

    let unfolded = [];
    addEventListener("beforeprint", () => {
      unfolded = parts.filter((part) => !part.open);
      for (const part of unfolded) part.open = true;
    });
    addEventListener("afterprint", () => {
      for (const part of unfolded) part.open = false;
    });
    // Browsers that cannot show the contents of a folded list at the side get it unfolded.
    const contents = document.querySelector(".contents details");
    if (contents && matchMedia("(min-width: 68.75rem)").matches) contents.open = true;

    if (parts.length < 2) return;
    const toggle = button("", () => {
      const open = parts.some((part) => !part.open);
      for (const part of parts) part.open = open;
    });
    const name = () => {
      toggle.textContent = parts.some((part) => !part.open) ? "Unfold all" : "Fold all";
    };
    for (const part of parts) part.addEventListener("toggle", name);
    name();
    document.querySelector(".rest").prepend(tools(toggle));
  };

  // --- Values: of the mark below the pointer, and of one after the other by the arrow keys.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  let byKeys = false;
  const show = ({ text, x, y }, keys = false) => {
    byKeys = keys;
    if (tip.textContent !== text) tip.textContent = text;
    tip.classList.add("shown");
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x - width / 2, document.documentElement.clientWidth - width - 4))}px`;
    tip.style.top = `${y - height - 14 < 4 ? y + 18 : y - height - 14}px`;
  };
  const hide = () => tip.classList.remove("shown");

  const middle = (each, text) => {
    const box = each.getBoundingClientRect();
    return { text, x: box.x + box.width / 2, y: box.y + box.height / 2, each };
  };
  // A line holds what is said of each of its points, in the order in which it is drawn.
  const pointsOf = (line) => {
    const toScreen = line.getScreenCTM();
    const places = [...line.getAttribute("d").matchAll(/(-?[\d.]+) (-?[\d.]+)/g)];
    return line.dataset.said.split("|").slice(0, places.length).map((said, at) => {
      const place = new DOMPoint(Number(places[at][1]), Number(places[at][2])).matrixTransform(toScreen);
      return { text: `${line.dataset.value}: ${said}`, x: place.x, y: place.y };
    });
  };
  const cellsOf = (cells) => {
    const field = cells.querySelector(".field");
    const box = cells.getBoundingClientRect();
    const top = box.y + Number(field.getAttribute("y"));
    const rows = cells.dataset.cells.split(";").map((row) => row.split(","));
    const names = all(".names li", cells.parentElement).map((name) => name.textContent.trim());
    const columns = cells.dataset.columns.split("|");
    const [wide, high] = [box.width / columns.length, field.getAttribute("height") / rows.length];
    return rows.flatMap((row, down) =>
      row.map((value, across) => ({
        text: `${names[down]}, ${columns[across]}: ${value || "undefined"}`,
        x: box.x + (across + 0.5) * wide,
        y: top + (down + 0.5) * high,
      })),
    );
  };
  const marksOf = (chart) => [
    ...all("[data-value]:not([data-said])", chart)
      .filter((each) => each.getAttribute("visibility") !== "hidden")
      .map((each) => middle(each, each.dataset.value)),
    ...all("[data-said]", chart).filter((line) => line.getAttribute("d")).flatMap(pointsOf),
    ...all("[data-cells]", chart).flatMap(cellsOf),
  ];

  const startValues = (chart) => {
    for (const title of all("svg title", chart.parentElement)) {
      const mark = title.parentElement;
      if (mark.localName === "svg") continue;
      // The browser would show the same text a second time.
      mark.dataset.value ??= title.textContent;
      title.remove();
    }
    if (marksOf(chart).length === 0) return;
    let at = -1;
    chart.tabIndex = 0;
    chart.addEventListener("pointermove", (event) => {
      const hit = event.target.closest("[data-value]:not([data-said])");
      if (hit) return show({ text: hit.dataset.value, x: event.clientX, y: event.clientY });
      const far = (mark) => Math.hypot(mark.x - event.clientX, mark.y - event.clientY);
      const cells = chart.querySelector("[data-cells]");
      const near = marksOf(chart).reduce((a, b) => (a && far(a) <= far(b) ? a : b), null);
      return near && far(near) <= (cells ? 40 : 24) ? show(near) : hide();
    });
    // The keys may scroll a chart away from under a pointer that rests.
    chart.addEventListener("pointerleave", () => byKeys || hide());
    chart.addEventListener("blur", () => {
      at = -1;
      hide();
    });
    chart.addEventListener("keydown", (event) => {
      const columns = chart.querySelector("[data-columns]");
      const row = columns ? columns.dataset.columns.split("|").length : 1;
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row }[event.key];
      if (step === undefined || event.target !== chart) return hide();
      event.preventDefault();
      const marks = marksOf(chart);
      at = Math.max(0, Math.min(at + (at < 0 ? 1 : step), marks.length - 1));
      if (marks[at].each) marks[at] = middle(marks[at].each, marks[at].text);
      return show(marks[at], true);
    });
  };

  // --- Tables: copied as CSV, in which no cell is a formula for a spreadsheet.
  const cellText = (cell) => {
    const row = cell.querySelector("svg[aria-label]");
    const text = (row ? row.getAttribute("aria-label") : cell.innerText).replace(/\s+/g, " ").trim();
    const formula = /^'*\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(text);
    const number = /^'*\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(text);
    const safe = formula && !number ? `'${text}` : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const copy = (text) => {
    // Also where a page in a frame may not use the clipboard in the newer way.
    const put = (event) => {
      event.clipboardData.setData("text/plain", text);
      event.preventDefault();
    };
    document.addEventListener("copy", put, { once: true });
    const done = document.execCommand("copy");
    document.removeEventListener("copy", put);
    return done;
  };
  const copier = (table) =>
    button("Copy as CSV", (made) => {
      const rows = all("thead tr, tbody tr", table).map((row) => [...row.cells].map(cellText).join(","));
      made.textContent = copy(`${rows.join("\r\n")}\r\n`) ? "Copied" : "Copying is not allowed here";
      setTimeout(() => {
        made.textContent = "Copy as CSV";
      }, 2000);
    });

  // --- Pictures: a figure as one SVG, with the texts and the legend that stand beside it.
  const LOOK = [
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "paint-order",
    "font-family", "font-size", "font-weight", "text-anchor", "writing-mode", "shape-rendering", "visibility", "overflow",
  ];
  const plain = (value) =>
    value.replace(/color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)[^)]*\)/g, (_, ...parts) =>
      `rgb(${parts.slice(0, 3).map((part) => Math.round(255 * part)).join(", ")})`);
  const dressed = (original) => {
    const style = getComputedStyle(original);
    if (style.display === "none") return null;
    const made = original.cloneNode(false);
    for (const name of ["class", "tabindex", "role"]) made.removeAttribute(name);
    for (const name of LOOK) made.setAttribute(name, plain(style.getPropertyValue(name)));
    for (const child of original.childNodes) {
      const dress = child.nodeType === Node.ELEMENT_NODE ? dressed(child) : child.cloneNode();
      if (dress) made.append(dress);
    }
    return made;
  };
  const linesOf = (node) => {
    const range = document.createRange();
    const lines = [];
    for (const word of node.data.matchAll(/\S+/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const box = range.getBoundingClientRect();
      const last = lines[lines.length - 1];
      if (last && Math.abs(last.box.top - box.top) < 2) last.words.push(word[0]);
      else if (box.width) lines.push({ words: [word[0]], box });
      if (lines.length) lines[lines.length - 1].right = box.right;
    }
    return lines;
  };
  const pictureOf = (figure) => {
    const measure = document.createElement("canvas").getContext("2d");
    const frame = figure.getBoundingClientRect();
    const pieces = [];
    let [right, bottom] = [frame.width, frame.height];
    const reach = (box) => {
      right = Math.max(right, box.right - frame.left);
      bottom = Math.max(bottom, box.bottom - frame.top);
    };
    const walk = (node) => {
      if (node.localName === "svg") {
        const box = node.getBoundingClientRect();
        const made = box.width && dressed(node);
        if (!made) return;
        for (const [key, value] of Object.entries({ x: box.left - frame.left, y: box.top - frame.top, width: box.width, height: box.height })) made.setAttribute(key, value.toFixed(2));
        pieces.push(made);
        reach(box);
      } else if (node.nodeType === Node.TEXT_NODE) {
        const style = getComputedStyle(node.parentElement);
        measure.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = measure.measureText("x");
        for (const { words, box } of linesOf(node)) {
          const y = box.top - frame.top + (box.height * above) / (above + below);
          const look = { "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight, fill: plain(style.color) };
          pieces.push(element("text", { x: (box.left - frame.left).toFixed(2), y: y.toFixed(2), ...look }, words.join(" ")));
          reach(box);
        }
      } else if (node.nodeType === Node.ELEMENT_NODE && !node.matches(".tools, details, .preview")) node.childNodes.forEach(walk);
    };
    walk(figure);
    const [width, height] = [Math.ceil(right) + 16, Math.ceil(bottom) + 16];
    const picture = element("svg", { xmlns: SVG, width, height, viewBox: `-8 -8 ${width} ${height}` });
    picture.append(element("rect", { x: -8, y: -8, width, height, fill: getComputedStyle(document.body).backgroundColor }), ...pieces);
    return { text: new XMLSerializer().serializeToString(picture), width, height };
  };
  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const saver = (figure, kind) =>
    button(`Save as ${kind.toUpperCase()}`, () => {
      const title = figure.querySelector("figcaption strong");
      const name = `${(title ? title.textContent : "picture").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60)}.${kind}`;
      const { text, width, height } = pictureOf(figure);
      if (kind === "svg") return save(new Blob([text], { type: "image/svg+xml" }), name);
      const image = new Image();
      image.addEventListener("load", () => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [2 * width, 2 * height];
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => save(blob, name), "image/png");
      });
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
      return undefined;
    });

  // --- Preview of another threshold: moves the line, and states pass, fail or inconclusive for each risk.
  const startPreview = (figure) => {
    const preview = figure.querySelector(".preview");
    if (!preview) return;
    const [input, output] = [preview.querySelector("input"), preview.querySelector("output")];
    const rows = all("tbody tr[data-low]", figure);
    const lineOf = (svg) => svg.querySelector(".risk-threshold") || svg.querySelector("g").appendChild(element("line", { class: "risk-threshold", y1: 0, y2: 34 }));
    preview.hidden = false;
    input.addEventListener("input", () => {
      const threshold = Number(input.value) / 100;
      const counts = { pass: 0, fail: 0, inconclusive: 0 };
      for (const row of rows) {
        const [low, high] = [Number(row.dataset.low), Number(row.dataset.high)];
        const state = low > threshold && "significant" in row.dataset ? "fail" : high <= threshold ? "pass" : "inconclusive";
        counts[state] += 1;
        row.querySelector(".of-level").dataset.preview = state;
        const line = lineOf(row.querySelector(".wider svg"));
        for (const end of ["x1", "x2"]) line.setAttribute(end, `${(100 * (threshold + 0.1)) / 1.1}%`);
      }
      output.textContent = `${input.value} points: ${Object.entries(counts).filter(([, number]) => number).map(([state, number]) => `${number} ${state}`).join(", ")}`;
    });
  };

  startFolds();
  document.body.append(tip);
  for (const moved of ["wheel", "touchmove"]) addEventListener(moved, hide, { passive: true });
  for (const chart of all(".picture > svg, table.box-rows, table.risk-rows, .heat")) startValues(chart);
  for (const table of all(".wide > table")) table.after(tools(copier(table)));
  all("figure.risks").forEach(startPreview);
  for (const figure of all("figure")) {
    const boxes = figure.querySelector("table.box-rows, table.risk-rows");
    const caption = figure.querySelector("figcaption");
    if (!caption || !figure.querySelector("svg")) continue;
    caption.append(tools(saver(figure, "svg"), saver(figure, "png"), ...(boxes ? [copier(boxes)] : [])));
  }
})();
