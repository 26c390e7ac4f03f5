"use strict";
// Moves alpha and beta along a precomputed grid. Nothing is measured here: every figure is looked up.
(() => {
  const SVG = "http://www.w3.org/2000/svg";

  const fill = (template, values) =>
    template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
  const percent = (share, places) => `${(share * 100).toFixed(places)}%`;
  const pixel = (value) => value.toFixed(1);
  const element = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const start = (box) => {
    const data = JSON.parse(box.querySelector("script[type='application/json']").textContent);
    const svg = box.querySelector("figure svg[data-box]");
    const [left, top, width, height] = svg.dataset.box.split(" ").map(Number);
    const mostMarks = Number(svg.dataset.marks);
    const sliders = { alpha: box.querySelector("[data-slider=alpha]"), beta: box.querySelector("[data-slider=beta]") };
    const vectors = svg.querySelectorAll("[data-vector]");
    const threshold = svg.querySelector(".threshold");
    const thresholdName = svg.querySelector(".threshold-name");
    let shownAxis = null;

    const down = (y) => top + (1 - y) * height;
    const across = (x) => left + (x / shownAxis.high) * width;

    const at = (x, y) =>
      `${(y * 100).toLocaleString("en", { maximumFractionDigits: 2 })}% at ${x.toLocaleString("en", { maximumFractionDigits: 3 })}`;

    const drawAxis = (axis) => {
      if (axis === shownAxis) return;
      shownAxis = axis;
      svg.dataset.x = `0 ${axis.high}`;
      svg.querySelector(".columns").replaceChildren(
        ...axis.ticks.flatMap(([at, text]) => {
          const x = pixel(across(at));
          return [
            element("line", { class: "grid", x1: x, y1: top, x2: x, y2: top + height }),
            element("text", { class: "tick middle", x, y: top + height, dy: "1.35em" }, text),
          ];
        }),
      );
    };

    const drawCurve = (number, [xs, ys]) => {
      const points = xs.map((x, i) => `${pixel(across(x))} ${pixel(down(ys[i]))}`);
      const line = svg.querySelector(`[data-line="${number}"]`);
      line.setAttribute("d", points.length ? `M${points.join("L")}` : "");
      line.dataset.said = xs.map((x, i) => at(x, ys[i])).join("|");
      const marks = points.length <= mostMarks ? points.map((point) => `M${point}h.01`).join("") : "";
      svg.querySelector(`[data-marks-of="${number}"]`).setAttribute("d", marks);
    };

    const drawVector = (number, x, y, seen) => {
      vectors[number].setAttribute("visibility", seen ? "visible" : "hidden");
      if (!seen) return;
      const [name] = vectors[number].dataset.value.split(": to ");
      vectors[number].dataset.value = `${name}: to ${at(x, y)}`;
      vectors[number].setAttribute("x2", pixel(across(x)));
      vectors[number].setAttribute("y2", pixel(down(y)));
    };

    const update = () => {
      const a = Number(sliders.alpha.value);
      const b = Number(sliders.beta.value);
      const slope = data.risk_slope[a][b];
      const reached = data.mergings[a][b];
      const defined = slope !== null;
      const values = {
        alpha: data.alpha_texts[a],
        beta: data.beta_texts[b],
        breached: data.breached_subjects[a][b].toLocaleString("en"),
        subjects: data.subjects.toLocaleString("en"),
        slope: defined ? percent(slope, 2) : data.texts.already_breached,
        mergings: data.mergings_shown[a][b].toLocaleString("en", { maximumFractionDigits: 2 }),
      };

      drawAxis(data.axes.find((axis) => axis.high >= (reached || 0)) || data.axes[data.axes.length - 1]);
      drawCurve(0, data.linked[a]);
      drawCurve(1, data.mixed[a]);
      drawVector(0, reached, data.betas[b], defined);
      drawVector(1, reached, data.mixed_at[a][b], defined);
      const y = pixel(down(data.betas[b]));
      threshold.setAttribute("y1", y);
      threshold.setAttribute("y2", y);
      thresholdName.setAttribute("y", y);
      thresholdName.textContent = fill(data.texts.threshold, values);

      for (const name of ["alpha", "beta"]) {
        sliders[name].setAttribute("aria-valuetext", values[name]);
        box.querySelector(`[data-setting=${name}]`).textContent = values[name];
      }
      for (const output of box.querySelectorAll("[data-output]")) {
        output.textContent = fill(data.texts[output.dataset.output], values);
      }
      const sentence = fill(defined ? data.texts.sentence : data.texts.sentence_breached, values);
      box.querySelector("[data-sentence]").textContent = sentence;
      svg.querySelector("desc").textContent = sentence;
    };

    sliders.alpha.addEventListener("input", update);
    sliders.beta.addEventListener("input", update);
    box.querySelector(".controls").hidden = false;
    box.querySelector(".without-script").remove();
    update();
  };

  document.querySelectorAll("[data-playground=partition]").forEach(start);
})();
