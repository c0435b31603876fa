// What is said about the moment: the counts, a sentence, and the colours of the task's actions.

import { glyphOf, hueOf, inkOn, shaded } from "../../src/distinguo/views/studio/page/view/colours.js";
import { BETWEEN, CONFIRMING } from "../learning/stage.js";
import { FREE, HELD, LEARNING, PAUSED } from "./player.js";
import { placeOf } from "./reasons.js";
import { WORDS } from "./words.js";

const byId = (id) => document.getElementById(id);

/** Show where a player is; isNew says that a region has just been born. */
export function showStatus(player, isNew) {
  byId("play").textContent = player.mode === LEARNING ? "Pause" : playWord(player);
  byId("play").setAttribute("aria-pressed", String(player.mode === LEARNING));
  for (const id of ["step", "trial"]) byId(id).disabled = player.isOver;
  const { stage } = player;
  const { trials, length } = stage.learner.counts;
  byId("count-trials").textContent = String(trials);
  byId("count-length").textContent = (stage.phase === CONFIRMING ? stage.held : length).toLocaleString("en");
  byId("count-regions").textContent = String(stage.regions);
  byId("count-prototypes").textContent = String(stage.memory.size);
  const words = player.free ? freeWords(player) : learningWords(player, isNew);
  if (byId("status").textContent !== words) byId("status").textContent = words;
}

function playWord({ isOver, stage }) {
  if (isOver) return "Again";
  return stage.learner.counts.trials ? "Go on" : "Start";
}

function freeWords({ mode, free, isOver, stage: { task } }) {
  const words = WORDS[task.key];
  if (mode === HELD) return `In your hand at ${placeOf(free.s, task)}. Let go!`;
  if (mode === FREE) return "You let go: it follows what was learned so far.";
  const isUnfinished = free.fell && !isOver && !words.isGood(free);
  return words.free(free) + (isUnfinished ? " The learner is not finished yet." : "");
}

function learningWords({ mode, isOver, stage }, isNew) {
  const words = WORDS[stage.task.key];
  if (stage.solved) return words.solved(stage);
  if (isOver) return words.failed(stage);
  if (stage.phase === CONFIRMING) return words.confirming;
  if (stage.phase === BETWEEN && !stage.trials.length) return words.nothing;
  if (stage.phase === BETWEEN) return words.ended(stage.trials.at(-1)) + (isNew ? ", and a new region was born." : ".");
  if (stage.learner.counts.length > 1000) return "It does not fall any more: fast-forward.";
  return mode === PAUSED ? "Paused in the middle of a trial." : words.learning;
}

/** The colours of the actions, to read the map by. */
export function hues(task) {
  const list = document.createElement("ul");
  [list.id, list.className] = ["hues", "legend"];
  const item = (sign, action, text) => {
    const made = document.createElement("li");
    const colour = shaded(hueOf(action, task.actions), 1);
    const mark = Object.assign(document.createElement("span"), { className: "hue", textContent: sign });
    Object.assign(mark.style, { background: colour, color: inkOn(colour) });
    made.append(mark, text);
    return made;
  };
  list.setAttribute("aria-label", "The colours of the actions");
  list.append(...WORDS[task.key].acts.map((act, a) => item(glyphOf(task.actions[a]), a, act)), item("=", -1, "tied"));
  return list;
}
