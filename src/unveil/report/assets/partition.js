"use strict";
// Moves alpha and beta along a precomputed grid, or shows another subject. Nothing is measured here: every figure is
// looked up.
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

    const draw = ({ axis, linked, mixed, beta, reached, mixedAt, defined, values }) => {
      drawAxis(axis);
      drawCurve(0, linked);
      drawCurve(1, mixed);
      drawVector(0, reached, beta, defined);
      drawVector(1, reached, mixedAt, defined);
      const y = pixel(down(beta));
      threshold.setAttribute("y1", y);
      threshold.setAttribute("y2", y);
      thresholdName.setAttribute("y", y);
      thresholdName.textContent = fill(data.texts.threshold, values);
      for (const output of box.querySelectorAll("[data-output]")) {
        output.textContent = fill(data.texts[output.dataset.output], values);
      }
      const sentence = fill(defined ? data.texts.sentence : data.texts.sentence_breached, values);
      box.querySelector("[data-sentence]").textContent = sentence;
      svg.querySelector("desc").textContent = sentence;
    };

    const sliders = () => {
      const places = { alpha: box.querySelector("[data-slider=alpha]"), beta: box.querySelector("[data-slider=beta]") };
      const update = () => {
        const a = Number(places.alpha.value);
        const b = Number(places.beta.value);
        const slope = data.risk_slope[a][b];
        const reached = data.merges[a][b];
        const defined = slope !== null;
        const values = {
          alpha: data.alpha_texts[a],
          beta: data.beta_texts[b],
          breached: data.breached_subjects[a][b].toLocaleString("en"),
          subjects: data.subjects.toLocaleString("en"),
          slope: defined ? percent(slope, 2) : data.texts.already_breached,
          merges: data.merges_shown[a][b].toLocaleString("en", { maximumFractionDigits: 2 }),
        };
        for (const name of ["alpha", "beta"]) {
          places[name].setAttribute("aria-valuetext", values[name]);
          box.querySelector(`[data-setting=${name}]`).textContent = values[name];
        }
        const axis = data.axes.find((each) => each.high >= (reached || 0)) || data.axes[data.axes.length - 1];
        const curves = { linked: data.linked[a], mixed: data.mixed[a] };
        draw({ axis, ...curves, beta: data.betas[b], reached, mixedAt: data.mixed_at[a][b], defined, values });
      };
      places.alpha.addEventListener("input", update);
      places.beta.addEventListener("input", update);
      return update;
    };

    const chooser = () => {
      const list = box.querySelector("[data-chooser=subject]");
      const update = () => {
        const k = Number(list.value);
        const values = Object.fromEntries(Object.entries(data.values).map(([key, texts]) => [key, texts[k]]));
        draw({
          axis: data.axes.find((each) => each.high === data.highs[k]),
          linked: data.linked[k],
          mixed: data.mixed[k],
          beta: data.betas[k],
          reached: data.merges[k],
          mixedAt: data.mixed_at[k],
          defined: data.merges[k] !== null,
          values,
        });
      };
      list.addEventListener("input", update);
      return update;
    };

    const update = data.kind === "subjects" ? chooser() : sliders();
    box.querySelector(".controls").hidden = false;
    box.querySelector(".without-script").remove();
    update();
  };

  document.querySelectorAll("[data-playground=partition]").forEach(start);
})();
