"use strict";
// The way in, on the page that anybody may see: the token of the link is sent once, and leads to where our pages lie.

const show = (name) => ["wait", "refused"].forEach((each) => { document.getElementById(each).hidden = each !== name; });

// Whoever is in already, and opens the address again, goes on; the token is kept for another time.
async function known() {
  const root = localStorage.getItem("root");
  return root && (await fetch(`${root}/files`)).ok ? root : null;
}

async function spent(token) {
  const answer = await fetch("/enter", { method: "POST", headers: { "Unveil-Token": token } });
  return answer.ok ? (await answer.json()).root : null;
}

async function enter() {
  const token = location.hash.slice(1);
  // Out of the address bar, where it could be read, before anything else.
  history.replaceState(null, "", "/");
  show("wait");
  const root = (await known().catch(() => null)) || (token && (await spent(token).catch(() => null)));
  if (!root) return show("refused");
  localStorage.setItem("root", root);
  location.replace(`${root}/`);
  return null;
}

window.addEventListener("hashchange", enter);
enter();
