"use strict";
// What the page of a question does: take files, show their columns, send what was filled in. It builds on web.js.

const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
const given = new Map(); // The files of each field: {id, name, look, item}.
const taking = new Map(); // For each field the promise that all files dropped on it so far are taken or refused.
let unsaved = false; // Whether files were given that no question was asked with yet.
const UNREADABLE = "The file cannot be read: it is a folder, or it was moved or changed. Choose it again.";
const fieldOf = (name) => $(`[data-field="${name}"]`);

function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...content);
  return element;
}

// Says that a file was refused, which holds up the question once: nobody should ask without it unawares.
function refuse(name, sentence) {
  complain(name, sentence);
  document.getElementById(`f-${name}-error`).dataset.refused = "unseen";
}

// Files

function send(file, bar) {
  return new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open("PUT", `${ROOT}/files?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    request.addEventListener("loadend", async () => {
      const reply = request.response || {};
      if (request.status === 201) done(reply);
      else done({ failed: true, error: reply.error || ((await ask("GET", `${ROOT}/files`)).failed ? LOST : UNREADABLE) });
    });
    request.responseType = "json";
    request.send(file);
  });
}

// One after the other, so that a second file takes the place of the first, however fast each of them is copied.
function take(name, files) {
  const taken = (taking.get(name) || Promise.resolve()).then(() => takeAll(name, files));
  taking.set(name, taken);
  return taken;
}

async function takeAll(name, files) {
  const field = fieldOf(name);
  const several = field.dataset.kind === "tables";
  if (!files.length) return;
  complain(name, "");
  if (!several && files.length > 1) {
    refuse(name, `Only one file can be taken here, and ${files.length} were given. Choose one of them.`);
    return;
  }
  if (!several) for (const entry of [...(given.get(name) || [])]) await drop(name, entry);
  for (const file of files) await takeOne(field, name, file);
}

async function takeOne(field, name, file) {
  const bar = make("progress", { max: 1, value: 0, "aria-label": `Copying ${file.name}` });
  const words = make("span", { class: "words" }, "Copying …");
  const item = make("li", {}, make("bdi", { class: "name" }, file.name), " ", words, bar);
  $(".given", field).append(item);
  const reply = file.id ? file : await send(file, bar);
  bar.remove();
  if (reply.failed) return item.remove() || refuse(name, reply.error);
  unsaved ||= !file.id;
  const entry = { id: reply.id, name: reply.name, look: null, item };
  if (field.dataset.kind === "file") words.textContent = "Taken.";
  else if (!(await see(name, entry, words))) return null;
  given.set(name, [...(given.get(name) || []), entry]);
  const remove = make("button", { type: "button", class: "second" }, "Remove", make("span", { class: "unseen" }, ` ${reply.name}`));
  remove.addEventListener("click", () => drop(name, entry).then(() => document.getElementById(`f-${name}`).focus()));
  item.append(remove);
  const beside = $(":scope > template", field);
  if (beside) item.append(beside.content.cloneNode(true));
  return entry.look && showColumns(name, entry);
}

async function see(name, entry, words) {
  words.textContent = "Reading …";
  const seen = await ask("POST", `${ROOT}/files/${entry.id}/look`);
  const wrong = seen.error || seen.look?.error;
  if (wrong) {
    entry.item.remove();
    refuse(name, wrong);
    await ask("DELETE", `${ROOT}/files/${entry.id}`);
    return false;
  }
  entry.look = seen.look || seen;
  words.textContent = `${count(entry.look.rows, "row", "rows")}, ${count(entry.look.columns.length, "column", "columns")}.`;
  return true;
}

async function drop(name, entry) {
  given.set(name, given.get(name).filter((each) => each !== entry));
  entry.item.remove();
  await ask("DELETE", `${ROOT}/files/${entry.id}`);
  for (const field of $$(`[data-of="${name}"]`)) offer(field, []);
}

// Columns

function showColumns(name, entry) {
  const fields = $$(`[data-of="${name}"]`);
  for (const field of fields) offer(field, entry.look.columns);
  if (fields.some((field) => field.dataset.kind === "roles")) return;
  const rows = entry.look.columns.map((column) =>
    make("li", {}, make("bdi", {}, column.name), ` (${column.kind}${column.missing ? `, ${count(column.missing, "missing value", "missing values")}` : ""})`));
  entry.item.append(make("details", {}, make("summary", {}, "Columns"), make("ul", {}, ...rows)));
}

function offer(field, columns) {
  const kind = field.dataset.kind;
  if (kind === "column") {
    const select = $("select", field);
    select.replaceChildren(select.options[0], ...columns.map((column) => make("option", { value: column.name }, column.name)));
    return;
  }
  field.hidden = !columns.length;
  if (kind === "roles") $("tbody", field).replaceChildren(...columns.map(roleRow));
  if (kind === "scenarios") $(".entries", field).replaceChildren();
}

function chooser(template, label, value) {
  const select = document.getElementById(template).content.firstElementChild.cloneNode(true);
  select.setAttribute("aria-label", label);
  select.value = value;
  return select;
}

function roleRow(column) {
  const role = chooser("role", `Role of ${column.name}`, column.suggestion);
  const kind = chooser("kind", `Type of ${column.name}`, column.kind);
  const levels = make("input", { type: "text", placeholder: "low, middle, high", "aria-label": `Levels of ${column.name}, from the lowest to the highest, with commas between them`, hidden: true });
  // What the library takes for an identifier is left out of attacks anyway.
  if (column.suggestion === "identifier") $("[value=ignored]", role).remove();
  kind.addEventListener("change", () => { levels.hidden = kind.value !== "ordered"; });
  const notes = column.warning ? [make("p", { class: "warn" }, column.warning)] : [];
  const why = make("p", { class: column.uncertain ? "warn" : "why" }, column.uncertain ? `Uncertain. ${column.why}` : column.why);
  const row = make("tr", {},
    make("th", { scope: "row" }, make("bdi", {}, column.name), ...notes),
    make("td", { "data-label": "Role" }, role),
    make("td", { "data-label": "Type" }, kind, levels, why),
    make("td", { class: "right", "data-label": "Missing" }, column.missing.toLocaleString("en")),
    make("td", { class: "right", "data-label": "Distinct values" }, column.distinct.toLocaleString("en")));
  row.column = { ...column, controls: { role, kind, levels } };
  return row;
}

function addEntry(field) {
  const entry = $(":scope > template", field).content.cloneNode(true).firstElementChild;
  if (field.dataset.kind === "scenarios") {
    const rows = $$('[data-kind="roles"] tbody tr').map((row) => row.column);
    const columns = rows.filter((column) => column.controls.role.value === "known").map((column) => column.name);
    $(".checks", entry).append(...columns.map((name) => make("label", {}, make("input", { type: "checkbox", value: name }), " ", make("bdi", {}, name))));
  } else {
    const select = $("select", entry);
    entry.refresh = () => { $("[data-meaning]", entry).textContent = select.selectedOptions[0]?.title || ""; };
    select.addEventListener("change", entry.refresh);
  }
  $("[data-drop]", entry).addEventListener("click", () => entry.remove() || $("[data-add]", field).focus());
  $(".entries", field).append(entry);
  return entry;
}

// The question

function valueOf(field) {
  const parts = (entry) => Object.fromEntries($$("[data-part]", entry).map((each) => [each.dataset.part, each.value]));
  const checked = (root) => $$("input:checked", root).map((each) => each.value);
  switch (field.dataset.kind) {
    case "roles":
      return $$("tbody tr", field).map(({ column }) => ({
        name: column.name, role: column.controls.role.value, suggested: column.suggestion,
        kind: column.controls.kind.value, guessed: column.kind, levels: column.controls.levels.value,
      }));
    case "scenarios":
      return $$(".entry", field).map((entry) => ({ ...parts(entry), columns: checked(entry) }));
    case "limits":
      return $$(".entry", field).map(parts);
    case "several":
      return checked(field);
    case "switch":
      return $("input", field).checked;
    case "thing": {
      const name = $("select", field).value;
      const inside = $$(`[data-thing="${CSS.escape(name)}"] [data-setting]`, field);
      return { name, settings: Object.fromEntries(inside.map((each) => [each.dataset.setting, each.value])) };
    }
    default:
      return $("input, select, textarea", field).value;
  }
}

// The example has its own defaults: what nobody wrote is not sent with it.
const untouched = (field) => $$("input[type=text]", field).length === 1 && $("input", field).value === $("input", field).defaultValue;

function settings(form, sample) {
  const values = {};
  for (const field of $$(".field[data-kind]", form)) {
    const { kind, field: name, of } = field.dataset;
    if (["table", "tables", "file"].includes(kind)) {
      const beside = $(":scope > template", field);
      if (!beside || sample) continue;
      const each = (given.get(name) || []).map(({ item }) => $(".paired input, .paired select", item).value);
      values[beside.content.firstElementChild.dataset.field] = each;
    } else if (!(sample && (of || kind === "folder" || untouched(field)))) values[name] = valueOf(field);
  }
  return values;
}

function fill(field, value) {
  switch (field.dataset.kind) {
    case "roles":
      for (const { column } of $$("tbody tr", field)) {
        const old = value.find((each) => each.name === column.name) || {};
        for (const [part, control] of Object.entries(column.controls)) control.value = old[part] ?? control.value;
        column.controls.kind.dispatchEvent(new Event("change"));
      }
      break;
    case "scenarios":
    case "limits":
      for (const part of value) {
        const entry = addEntry(field);
        for (const each of $$("[data-part]", entry)) each.value = part[each.dataset.part] ?? "";
        entry.refresh?.();
        for (const box of $$("[type=checkbox]", entry)) box.checked = (part.columns || []).includes(box.value);
      }
      break;
    case "several":
      for (const box of $$("input", field)) box.checked = value.includes(box.value);
      break;
    case "switch":
      $("input", field).checked = value;
      break;
    case "thing":
      $("select", field).value = value.name;
      $("select", field).dispatchEvent(new Event("change"));
      for (const each of $$(`[data-thing="${CSS.escape(value.name)}"] [data-setting]`, field)) each.value = value.settings[each.dataset.setting] ?? each.value;
      break;
    default:
      $("input, select, textarea", field).value = value;
  }
}

async function fillAgain({ files, settings: values, error, field }) {
  for (const [name, each] of Object.entries(files)) {
    if (fieldOf(name)) await take(name, each);
  }
  for (const [name, value] of Object.entries(values)) {
    const place = fieldOf(name);
    const list = $$(".given > li").filter((item) => $(`.paired[data-field="${name}"]`, item));
    if (list.length) list.forEach((item, at) => { $(".paired input, .paired select", item).value = value[at] ?? ""; });
    else if (place?.matches(".field")) fill(place, value);
  }
  if (field) complainAll({ [field]: error }, "");
}

// Going back from the answer leads to the form as it was filled.
function leave(job) {
  unsaved = false;
  history.replaceState(null, "", `${location.pathname}?again=${job}`);
}

function startForm(form) {
  for (const field of $$(".field", form)) {
    const { kind, field: name } = field.dataset;
    const zone = $(".drop", field);
    if (zone) {
      const input = $("input", zone);
      input.addEventListener("change", () => {
        const chosen = [...input.files];
        input.value = "";
        take(name, chosen);
      });
      zone.addEventListener("dragover", () => zone.classList.add("over"));
      zone.addEventListener("dragleave", () => zone.classList.remove("over"));
      zone.addEventListener("drop", (event) => {
        zone.classList.remove("over");
        take(name, [...event.dataTransfer.files]);
      });
    }
    $("[data-add]", field)?.addEventListener("click", () => $("input, select", addEntry(field)).focus());
    if (kind === "thing") {
      $("select", field).addEventListener("change", (event) => {
        for (const thing of $$("[data-thing]", field)) thing.hidden = thing.dataset.thing !== event.target.value;
      });
    }
  }
  // No file may replace the page, also one that misses its field.
  for (const event of ["dragover", "drop"]) window.addEventListener(event, (missed) => missed.preventDefault());
  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = event.submitter || $("[type=submit]", form);
    button.disabled = true;
    await Promise.all(taking.values());
    const refused = $$('[data-refused="unseen"]');
    for (const place of refused) place.dataset.refused = "seen";
    if (refused.length) {
      button.disabled = false;
      complainAll({}, "A file was refused. Choose another one, or press the button again to continue without it.");
      document.getElementById(refused[0].id.slice(0, -6)).focus();
      return;
    }
    const files = Object.fromEntries([...given].filter(([, each]) => each.length).map(([name, each]) => [name, each.map(({ id }) => id)]));
    submit(form.dataset.question, files, settings(form, false), button, leave);
  });
  if ($("#again")) fillAgain(JSON.parse($("#again").textContent));
}

const form = $("#ask");
startForm(form);
for (const button of $$("[data-sample]")) {
  button.addEventListener("click", () => submit(button.dataset.sample, {}, { ...settings(form, true), sample: true }, button, leave));
}
