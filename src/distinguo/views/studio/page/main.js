// The page: panes, lists and the form, around one socket to the studio.

import { compare } from "./comparison.js";
import { LearnForm } from "./form.js";
import { Link } from "./link.js";
import { Pane } from "./pane.js";
import { RunList } from "./runs.js";
import { showTips } from "./tips.js";

const NARROW = matchMedia("(max-width: 900px)");
const main = document.querySelector("#panes");
const panes = [];
const wanted = [null, null]; // what each pane shows: {run} or {session} or {task, seed, …} that is being begun
let lists = { runs: [], sessions: [], folder: "" };
let isFirst = true;

// ---- words for the reader -------------------------------------------------------------------------------------------

const said = document.querySelector("#said");
let saidAt = -Infinity;

/** Tell a screen reader something; what is said often waits for its turn. */
function say(words, every = 0) {
  if (performance.now() - saidAt < every) return;
  saidAt = performance.now();
  said.textContent = words;
}

const trouble = document.querySelector("#trouble");
let troubleTimer = 0;

function complain(words) {
  trouble.querySelector("p").textContent = words;
  trouble.hidden = false;
  clearTimeout(troubleTimer);
  troubleTimer = setTimeout(() => { trouble.hidden = true; }, 12000);
}
trouble.querySelector("button").addEventListener("click", () => { trouble.hidden = true; });

// ---- the studio -----------------------------------------------------------------------------------------------------

const link = new Link({
  onMessage: (message) => heed[message.about]?.(message),
  onChange: (isOpen, reason) => {
    const words = document.querySelector("#link");
    words.textContent = isOpen ? "connected" : reason || "the studio is gone; trying again …";
    words.classList.toggle("is-lost", !isOpen);
    if (isOpen) wanted.forEach((what, pane) => what && ask(what, pane));
  },
});

const heed = {
  lists(message) {
    lists = message;
    refreshLists();
    if (isFirst && !wanted.some(Boolean)) openNewest();
    isFirst = false;
  },
  show(news) {
    const pane = panes[news.pane];
    if (!pane || !wanted[news.pane]) return;
    if (news.head.session) remember(news.pane, { session: news.head.session });
    pane.show(news);
    showComparison();
  },
  trail: (piece) => panes[piece.pane]?.player.take(piece),
  reason: (answer) => panes[answer.pane]?.reasonCame(answer),
  word: ({ text }) => say(text),
  file: save,
  deleted({ run, text }) {
    wanted.forEach((what, pane) => what?.run === run && close(pane));
    say(text);
  },
  trouble({ text, pane }) {
    panes[pane]?.tell(text);
    if (pane !== null && !panes[pane]?.isShown) forget(pane);
    complain(text);
  },
};

function send(message) {
  const sent = link.send(message);
  if (!sent) complain("The studio is not there; start it again with: distinguo studio");
  return sent;
}

/** Give the reader a file that the studio made. */
function save({ name, kind, text }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  say(`Saved ${name}.`);
}

/** Ask for what a pane is to show. */
function ask(what, pane) {
  if (what.run) link.send({ do: "open", pane, run: what.run });
  else if (what.session) link.send({ do: "join", pane, session: what.session });
  else link.send({ do: "learn", pane, ...what });
}

function open(what, pane) {
  paneAt(pane).reset();
  remember(pane, what);
  ask(what, pane);
  if (NARROW.matches) for (const box of document.querySelectorAll("aside details")) box.open = false;
  if (NARROW.matches) panes[pane].element.scrollIntoView({ block: "start" });
}

function openNewest() {
  const newest = lists.runs.find((one) => !one.trouble && one.solved !== undefined);
  if (newest) {
    remember(0, { run: newest.id });
    ask({ run: newest.id }, 0);
  }
}

// ---- panes ----------------------------------------------------------------------------------------------------------

function paneAt(number) {
  while (panes.length <= number) {
    const next = panes.length;
    const pane = new Pane(next, { send, say, onClose: () => close(next), onRestart: () => restart(next) });
    panes.push(pane);
    main.append(pane.element);
  }
  main.classList.toggle("is-two", panes.length > 1);
  return panes[number];
}

/** Two runs that are shown are compared below them. */
function showComparison() {
  const box = document.querySelector("#compared");
  box.hidden = !(panes.length === 2 && panes.every((pane) => pane.isShown));
  if (!box.hidden) compare(box.querySelector("table"), panes);
}

function close(number) {
  link.send({ do: "close", pane: number });
  forget(number);
  if (number === 1) {
    panes.pop().element.remove();
    main.classList.remove("is-two");
  } else panes[0].reset();
  showComparison();
}

function restart(number) {
  const { head } = panes[number];
  const wish = { task: head.task, seed: head.seed, speed: head.speed, ...form.settings };
  open(head.session ? { ...wish, instead: head.session } : wish, number);
  settingsMoved(false);
}

/** What the panes show is in the address, so that a reload shows it again. */
function remember(pane, what) {
  wanted[pane] = what;
  const parts = wanted.map((one) => (one?.run ? `run-${one.run}` : one?.session ? `session-${one.session}` : ""));
  history.replaceState(null, "", parts.some(Boolean) ? `/#${parts.join(",")}` : "/");
  refreshLists();
}

function forget(pane) {
  remember(pane, null);
}

function fromAddress() {
  location.hash.slice(1).split(",").slice(0, 2).forEach((part, pane) => {
    const [, kind, id] = part.match(/^(run|session)-([0-9a-f]{16})$/) ?? [];
    if (!kind) return;
    paneAt(pane);
    wanted[pane] = { [kind]: id };
  });
}

const runList = new RunList({
  onOpen: open,
  onFetch: (run, what) => send({ do: "fetch", run, what }) && say("Making the file …"),
  onDelete: (run) => send({ do: "delete", run }),
});

function refreshLists() {
  runList.show(lists, wanted.filter(Boolean).map((one) => one.run ?? one.session));
}

// ---- the reader -----------------------------------------------------------------------------------------------------

function settingsMoved(isDue) {
  for (const pane of panes) {
    pane.element.querySelector(".restart").classList.toggle("is-due", isDue && Boolean(pane.head?.session));
  }
}

const form = new LearnForm(document.querySelector("#learn"), {
  onLearn: (wish, pane) => {
    const { session, state } = panes[pane]?.head ?? {};
    open(session && state !== "finished" ? { ...wish, instead: session } : wish, pane);
  },
  onTouch: () => settingsMoved(true),
  say,
});

document.addEventListener("keydown", (event) => {
  if (event.key !== " " || event.target.closest("button, input, select, summary, textarea")) return;
  const learning = panes.find((pane) => pane.head?.session && pane.element.contains(event.target))
    ?? panes.find((pane) => pane.head?.session);
  if (!learning) return;
  event.preventDefault();
  event.stopPropagation();
  learning.transport.toggle();
}, { capture: true });

const root = document.documentElement;
root.dataset.theme = localStorage.getItem("distinguo-theme") ?? "";
document.querySelector("#theme").addEventListener("click", () => {
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem("distinguo-theme", root.dataset.theme);
  for (const pane of panes) pane.redraw();
});

// ---- every frame ----------------------------------------------------------------------------------------------------

let before = performance.now();

function frame(now) {
  const seconds = Math.min(0.1, (now - before) / 1000);
  before = now;
  for (const pane of panes) pane.frame(seconds);
  requestAnimationFrame(frame);
}

if (location.search) history.replaceState(null, "", `/${location.hash}`); // the token is in a cookie now
showTips();
paneAt(0);
fromAddress();
requestAnimationFrame(frame);
