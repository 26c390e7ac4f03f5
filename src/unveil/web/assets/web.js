"use strict";
// What the pages of the local server share, and what they do in addition to forms (form.js): follow jobs, show results, search.
// Texts from files only ever become text: nothing here writes HTML.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
// Where our pages lie: below a path that other servers of this machine cannot know.
const ROOT = document.documentElement.dataset.root;
const LOST = "The app does not answer. Check that it still runs, then load this page again.";

async function ask(method, address, body) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(address, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    return { failed: true, error: LOST };
  }
  const reply = await answer.json().catch(() => ({}));
  return answer.ok ? reply : { failed: true, status: answer.status, error: LOST, ...reply };
}

// Errors

// The sentences of the library stand after the name of the program in a terminal, and alone here.
const alone = (sentence) => sentence.replace(/^(the|an?|there|no|none|column) /u, (word) => word[0].toUpperCase() + word.slice(1)).replace(/([^.!?…])$/u, "$1.");

function complain(field, sentence) {
  const place = document.getElementById(`f-${field}-error`);
  if (!place) return null;
  place.textContent = alone(sentence);
  place.hidden = !sentence;
  delete place.dataset.refused;
  const control = document.getElementById(`f-${field}`) || $("input, select", place.parentElement);
  if (sentence) {
    for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (control.matches("input, select, textarea")) control.setAttribute("aria-invalid", "true");
  } else control.removeAttribute("aria-invalid");
  return control;
}

function complainAll(errors, sentence) {
  let first;
  // That a file was refused stays true whatever else is said.
  for (const place of $$(".field .error:not([data-refused])")) complain(place.id.slice(2, -6), "");
  for (const [field, text] of Object.entries(errors)) {
    const control = complain(field, text);
    if (control) first ||= control;
    else sentence = text;
  }
  const summary = $("#errors");
  summary.hidden = !sentence;
  summary.textContent = alone(sentence);
  if (first) first.focus();
  else if (sentence) summary.focus();
}

// A question

async function submit(question, files, values, button, leave = () => {}) {
  button.disabled = true;
  const reply = await ask("POST", `${ROOT}/jobs`, { question, files, settings: values });
  if (reply.id) {
    // The button stays as it is: one click, one question.
    leave(reply.id);
    location.assign(`${ROOT}/jobs/${reply.id}`);
    return;
  }
  button.disabled = false;
  complainAll(reply.errors || {}, Object.keys(reply.errors || {}).length ? "Some fields have errors." : reply.error);
}

// A job

async function follow(place) {
  const bar = $("[data-bar]", place);
  const step = $("[data-step]", place);
  for (;;) {
    const reply = await ask("GET", `${ROOT}/jobs/${place.dataset.job}/state`);
    if (!reply.failed && !["waiting", "running"].includes(reply.state)) break;
    const share = Math.round(100 * (reply.share || 0));
    bar.setAttribute("aria-valuenow", String(share));
    $(".done", bar).style.width = `${share}%`;
    const running = reply.step ? `${reply.step[0].toUpperCase()}${reply.step.slice(1)} …` : "Starting …";
    const waiting = reply.place > 1 ? `Waiting: ${reply.place} runs come first.` : "Waiting: another run comes first.";
    const words = reply.failed ? reply.error : reply.state === "waiting" ? waiting : running;
    // Said aloud only when it changes.
    if (step.textContent !== words) step.textContent = words;
    $("[data-seconds]", place).textContent = reply.seconds >= 1 ? `It has been running for ${Math.floor(reply.seconds)} s.` : "";
    if (reply.status === 404 || reply.status === 403) return;
    await new Promise((later) => setTimeout(later, reply.failed ? 3000 : 400));
  }
  sessionStorage.setItem("ended", place.dataset.job);
  location.reload();
}

async function press(button, method, address, then) {
  button.disabled = true;
  const reply = await ask(method, address);
  button.disabled = false;
  if (reply.failed) complainAll({}, reply.error);
  else then();
}

// The results

async function watch() {
  while ($("[data-pending]")) {
    await new Promise((later) => setTimeout(later, 1500));
    const answer = await fetch(`${ROOT}/`).catch(() => null);
    if (!answer?.ok) return;
    const now = $("[data-results]", new DOMParser().parseFromString(await answer.text(), "text/html"));
    // Only where something changed: whoever is on a link stays there.
    if (!now.isEqualNode($("[data-results]"))) $("[data-results]").replaceWith(now);
  }
}

// The list

function startSearch(place) {
  place.hidden = false;
  const things = $$("[data-words]");
  $("input", place).addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/u).filter(Boolean);
    let shown = 0;
    for (const thing of things) {
      thing.hidden = !words.every((word) => thing.dataset.words.includes(word));
      shown += thing.hidden ? 0 : 1;
    }
    for (const part of $$("[data-part]")) part.hidden = !$("[data-words]:not([hidden])", part);
    $("#found").textContent = shown === 1 ? "1 shown." : `${shown} shown.`;
  });
}

if ($("[data-job]")) follow($("[data-job]"));
if ($("[data-search]")) startSearch($("[data-search]"));
for (const button of $$(".card [data-sample]")) {
  button.addEventListener("click", () => submit(button.dataset.sample, {}, { sample: true }, button));
}
watch();
$("[data-cancel]")?.addEventListener("click", ({ target }) => press(target, "DELETE", target.dataset.cancel, () => {}));
for (const button of $$("[data-remove]")) {
  button.addEventListener("click", () => press(button, "DELETE", button.dataset.remove, () => location.assign(`${ROOT}/`)));
}
// A page that the browser kept as it was shows what is no longer so.
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
if ($("[data-ended]") && sessionStorage.getItem("ended")) {
  // Announces where the answer is.
  sessionStorage.removeItem("ended");
  $("#headline").focus();
}
