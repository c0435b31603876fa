// The list of runs: those of the folder and those that are learned here, to be searched, sorted, opened and deleted.

const ORDERS = {
  newest: (a, b) => (b.changed ?? 0) - (a.changed ?? 0),
  name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }),
  task: (a, b) => (a.task ?? "").localeCompare(b.task ?? "") || a.name.localeCompare(b.name, "en", { numeric: true }),
  regions: (a, b) => (a.regions ?? Infinity) - (b.regions ?? Infinity),
};
const FILES = [
  ["report", "Report", "Save a report as one HTML file"],
  ["c", "C", "Save the controller as a C header"],
  ["json", "JSON", "Save the controller as JSON"],
];

export class RunList {
  /** Handlers: onOpen({run} or {session}, pane), onFetch(id, what), onDelete(id). */
  constructor(handlers) {
    this.handlers = handlers;
    this.unfolded = null; // the id of the entry whose buttons are shown
    this.doomed = null; // the id of the run that is deleted at the next click
    [this.filter, this.order] = [document.querySelector("#filter"), document.querySelector("#order")];
    this.lists = { runs: [], sessions: [], folder: "" };
    this.current = [];
    for (const knob of [this.filter, this.order]) knob.addEventListener("input", () => this.refresh());
  }

  /** Show what there is to choose from, and what is shown in the panes. */
  show(lists, current) {
    [this.lists, this.current] = [lists, current];
    this.refresh();
  }

  refresh() {
    const { runs, sessions, folder } = this.lists;
    const found = runs.filter((one) => this.isWanted(one)).sort(ORDERS[this.order.value]);
    document.querySelector("#folder").textContent = folder;
    document.querySelector("#sought").hidden = runs.length < 2;
    const words = document.querySelector("#no-runs");
    words.hidden = found.length > 0;
    words.textContent = runs.length
      ? `None of the ${runs.length} runs matches “${this.filter.value.trim()}”.`
      : `No runs in ${folder} yet. Learn something here and keep it, or in a terminal: distinguo learn puck`;
    fill(document.querySelector("#sessions"), sessions.map((one) =>
      this.entry({ session: one.id }, one.name, `learned here · ${one.state}`, one.state === "finished")));
    fill(document.querySelector("#runs"), found.map((one) =>
      this.entry({ run: one.id }, one.name, one.trouble ?? wordsOf(one), one.solved !== undefined, Boolean(one.trouble))));
  }

  /** Whether a run has all words of the filter, in its name or in what is said of it. */
  isWanted(one) {
    const text = `${one.name} ${one.trouble ?? wordsOf(one)}`.toLowerCase();
    return this.filter.value.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  }

  entry(what, name, words, isFinished, isTrouble = false) {
    const item = document.createElement("li");
    item.classList.toggle("is-trouble", isTrouble);
    const id = what.run ?? what.session;
    const open = button("open", `${id}-0`, "", () => this.handlers.onOpen(what, 0));
    const [bold, small] = [document.createElement("b"), document.createElement("small")];
    [bold.textContent, small.textContent] = [name, words];
    open.append(bold, small);
    open.setAttribute("aria-current", String(this.current.includes(id)));
    const next = button("next quiet", `${id}-1`, "⇥", () => this.handlers.onOpen(what, 1), "Show beside");
    next.setAttribute("aria-label", `Show ${name} beside`);
    const more = button("more quiet", `${id}-2`, "⋯", () => this.unfold(id), "Report, export, delete");
    more.setAttribute("aria-label", `More for ${name}`);
    more.setAttribute("aria-expanded", String(this.unfolded === id));
    item.append(open, next, more);
    if (this.unfolded === id) item.append(this.buttonsOf(what, id, name, isFinished));
    return item;
  }

  buttonsOf(what, id, name, isFinished) {
    const row = document.createElement("div");
    row.className = "acts";
    FILES.forEach(([kind, word, tip]) => {
      const made = button(kind, `${id}-${kind}`, word, () => this.handlers.onFetch(id, kind), tip);
      made.disabled = !isFinished;
      row.append(made);
    });
    if (what.run) {
      const isSure = this.doomed === id;
      const word = isSure ? "Delete for good?" : "Delete";
      const tip = isSure ? "Click again: the files of this run are deleted and cannot be restored" : "Delete the folder of this run";
      row.append(button(isSure ? "delete is-sure" : "delete", `${id}-delete`, word, () => this.doom(id), tip));
      if (isSure) row.append(button("spare quiet", `${id}-spare`, `Keep ${name}`, () => this.unfold(id), "Do not delete it"));
    }
    return row;
  }

  unfold(id) {
    this.doomed = null;
    this.unfolded = this.unfolded === id ? null : id;
    this.refresh();
    document.querySelector("#runs .acts")?.scrollIntoView({ block: "nearest" });
  }

  /** The first click asks, the second deletes. */
  doom(id) {
    if (this.doomed === id) this.handlers.onDelete(id);
    this.doomed = this.doomed === id ? null : id;
    this.refresh();
  }
}

function fill(list, items) {
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  list.replaceChildren(...items);
  if (focused) list.querySelector(`[data-key="${focused}"]`)?.focus();
}

function wordsOf({ task, learner, seed, solved, answer, regions, changed }) {
  const result = solved === undefined ? "not finished" : `${solved ? "solved" : answer === "undecided" ? answer : "not solved"}, ${regions} region${regions === 1 ? "" : "s"}`;
  return `${task}, ${learner}, seed ${seed} · ${result} · ${dateOf(changed)}`;
}

/** A date as everybody reads it: 2026-11-18 09:30. */
function dateOf(seconds) {
  const date = new Date(1000 * seconds);
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function button(kind, key, words, onClick, tip = "") {
  const made = document.createElement("button");
  made.type = "button";
  made.className = kind;
  made.dataset.key = key;
  made.textContent = words;
  if (tip) made.title = tip;
  made.addEventListener("click", onClick);
  return made;
}
