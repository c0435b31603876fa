// The list of runs: those of the folder, and those that are learned here.

/** Show what there is to choose from; onOpen({run} or {session}, pane) opens one. */
export function showLists({ runs, sessions, folder }, current, onOpen) {
  document.querySelector("#folder").textContent = folder;
  const words = document.querySelector("#no-runs");
  words.hidden = runs.length > 0;
  words.textContent = `No runs in ${folder} yet. Learn something here and keep it, or in a terminal: distinguo learn puck`;
  fill(document.querySelector("#sessions"), sessions.map((one) =>
    entry({ session: one.id }, one.name, `learned here · ${one.state}`, false, current, onOpen)));
  fill(document.querySelector("#runs"), runs.map((one) =>
    entry({ run: one.id }, one.name, one.trouble ?? wordsOf(one), Boolean(one.trouble), current, onOpen)));
}

function fill(list, items) {
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  list.replaceChildren(...items);
  if (focused) list.querySelector(`[data-key="${focused}"]`)?.focus();
}

function wordsOf({ task, seed, solved, regions }) {
  if (solved === undefined) return `${task}, seed ${seed} · not finished`;
  return `${task}, seed ${seed} · ${solved ? "solved" : "not solved"}, ${regions} region${regions === 1 ? "" : "s"}`;
}

function entry(what, name, words, isTrouble, current, onOpen) {
  const item = document.createElement("li");
  item.classList.toggle("is-trouble", isTrouble);
  const key = what.run ?? what.session;
  const open = button("open", `${key}-0`, () => onOpen(what, 0));
  const [bold, small] = [document.createElement("b"), document.createElement("small")];
  [bold.textContent, small.textContent] = [name, words];
  open.append(bold, small);
  open.setAttribute("aria-current", String(current.includes(key)));
  const next = button("next quiet", `${key}-1`, () => onOpen(what, 1));
  next.textContent = "⇥";
  next.title = "Show beside";
  next.setAttribute("aria-label", `Show ${name} beside`);
  item.append(open, next);
  return item;
}

function button(kind, key, onClick) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = kind;
  made.dataset.key = key;
  made.addEventListener("click", onClick);
  return made;
}
