// What each task is called, and how the page speaks of it.

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const regionsOf = (stage) => plural(stage.regions, "region");
const mean = (stage) => Math.abs(stage.score).toFixed(1);
const recent = (trials, n) => trials.slice(Math.max(0, n - 19), n + 1);

const puck = {
  label: "Puck on a hill",
  lead: "A puck wants to slide off a hill. The learner may push it left or right, fifty times a second, and knows nothing. "
    + "It begins by treating all situations alike, and tells two of them apart only when ignoring the difference costs "
    + "reward. Watch the regions being born, and ask why.",
  acts: ["push left", "push right"],
  doing: ["pushing left", "pushing right"],
  place: ([x, v], written) => `x = ${written(x)} m, v = ${written(v)} m/s`,
  axes: ["position x (m)", "velocity v (m/s)"],
  title: "What the puck's learner tells apart",
  scene: "The puck on the hill. Arrow keys move it, Enter lets it go.",
  speeds: ["real time", "5 × real time", "20 × real time", "200 × real time", "as fast as it can"],
  pace: 50, // steps per second at the lowest speed
  safer: "stronger: safer",
  lengths: { title: "How long it stays up", name: "steps until the fall", log: true, of: (trials) => trials.map((trial) => trial.length) },
  epsilon: [-3, 0], // orders of magnitude of the slider
  duel: [0.02, 0.5],
  presets: { default: "default: what serves best", fast: "fast: the paper's algorithm", paper: "paper: slow and patient" },
  starts: { scratch: "one region, knowing nothing", seeds: "the paper's two points" },
  guide: {
    fall: ["Press Start.", "The puck falls: at first, left and right look the same."],
    born: ["See a region being born.", "After a surprise the learner looks ahead from that state; if it wants another push than its region does, it gets a region of its own."],
    held: ["Wait until it holds.", "Some twenty trials, four regions or so, and the puck stays up for half a million steps."],
    drag: ["Take the puck.", "Drag it along the hill, or drag on the map to give it speed, too. Let go."],
    why: ["Click two places on the map.", "Why are they kept apart?"],
  },
  state: "is where the puck is and how fast it moves: one point of the map. There are infinitely many, and no learner meets them all.",
  reward: "Hitting a wall costs a reward of 1, nothing else costs anything;",
  nothing: "Nothing is known yet: the whole plane is one region. Press Start.",
  learning: "Learning: the puck is pushed left or right, fifty times a second.",
  confirming: "It holds! Now the same with learning switched off, to be sure.",
  ended: ({ length }) => `It hit the wall after ${plural(length, "step")}`,
  solved: (stage) => `Solved after ${plural(stage.trials.length, "trial")}: the puck stayed up for ${plural(stage.settings.cap, "step")}, and once more with learning off. ${regionsOf(stage)} were enough.`,
  failed: (stage) => `Not solved within ${plural(stage.trials.length, "trial")}. Another seed or another ε may do better.`,
  free: ({ steps, fell }) => (fell ? `It hit the wall ${(steps / 50).toFixed(1)} s after you let go.` : `Still up ${Math.round(steps / 50)} s after you let go.`),
  isHeld: (stage) => stage.solved, // what the third step of the guide waits for
  isGood: () => false, // how a puck that was let go can end
};

const car = {
  label: "Car in a valley",
  lead: "A car is too weak for the hill on its right. It has to swing back and forth to reach the flag, and nobody tells it "
    + "so: every step costs a reward of 1, up to two hundred. The learner begins with eight regions that are all alike, and "
    + "splits one where a difference matters. The paper's learner finds its way out, but seldom in the "
    + "110 steps that count as solved; distinguo's other learner does.",
  acts: ["drive left", "coast", "drive right"],
  doing: ["driving left", "coasting", "driving right"],
  place: ([x, v], written) => `x = ${written(x)}, v = ${written(v, 3)}`,
  axes: ["position x", "velocity v (per step)"],
  title: "What the car's learner tells apart",
  scene: "The car in the valley. Arrow keys move it, Enter lets it go.",
  speeds: ["30 steps/s", "150 steps/s", "600 steps/s", "6,000 steps/s", "as fast as it can"],
  pace: 30,
  safer: "stronger: nearer to the flag",
  lengths: { title: "How long it takes to the flag", name: "mean steps of 20 trials", of: (trials) => trials.map((_, n) => average(recent(trials, n), "length")) },
  epsilon: [-1, 2],
  duel: [2, 20],
  presets: { default: "default: what this task needs" },
  starts: { points: "eight points, knowing nothing", scratch: "one region: it never gets out" },
  guide: {
    fall: ["Press Start.", "The car stays in the valley: it does not know yet that it has to swing."],
    born: ["See a region being born.", "Where the next steps cost more than the region promised, the learner looks ahead, and splits it."],
    held: ["Wait for the end.", "A thousand trials, in several attempts: make it fast. The best map is kept, and tried with learning switched off."],
    drag: ["Take the car.", "Drag it along the valley, or drag on the map to give it speed, too. Let go."],
    why: ["Click two places on the map.", "Why are they kept apart?"],
  },
  state: "is where the car is and how fast it moves: one point of the map. There are infinitely many, and no learner meets them all.",
  reward: "Every step costs a reward of 1 until the flag is reached, so a state is worth about as many steps as are missing;",
  nothing: "Nothing is known yet: eight regions that are all alike. Press Start.",
  learning: "Learning: the car drives left, coasts or drives right.",
  confirming: "Is this map good enough? Trials with learning switched off will show.",
  ended: ({ length, ended }) => (ended === "terminal" ? `It reached the flag after ${plural(length, "step")}` : `It did not get out within ${plural(length, "step")}`),
  solved: (stage) => `Solved after ${plural(stage.trials.length, "trial")}: with learning off it takes ${mean(stage)} steps on average. ${regionsOf(stage)} were enough.`,
  failed: (stage) => `Not solved: the best map within ${plural(stage.trials.length, "trial")} takes ${mean(stage)} steps on average, and 110 are asked for. Another seed or another ε may do better.`,
  free: ({ steps, fell }) => (fell ? `It reached the flag ${plural(steps, "step")} after you let go.` : `Not out ${plural(steps, "step")} after you let go.`),
  isHeld: (stage) => stage.phase === "done",
  isGood: ({ fell }) => fell,
};

const lake = {
  label: "Frozen lake",
  lead: "Walk over a frozen lake to the goal, and fall into no hole. A field is only a label here: the learner does not know "
    + "which fields are neighbours. It begins by treating all sixteen alike, and tells two of them apart only when "
    + "ignoring the difference costs reward. Watch the regions being born, and ask why.",
  acts: ["go left", "go down", "go right", "go up"],
  doing: ["going left", "going down", "going right", "going up"],
  place: ([field]) => `field ${field}: row ${Math.floor(field / 4)}, column ${field % 4}`,
  axes: ["column", "row"],
  ticks: [["0", "1", "2", "3"], ["3", "2", "1", "0"]],
  title: "What the walker's learner tells apart",
  scene: "The lake, with the way that the learner prefers on every field. Arrow keys move the walker, Enter lets it go.",
  speeds: ["4 steps/s", "20 steps/s", "80 steps/s", "800 steps/s", "as fast as it can"],
  pace: 4,
  safer: "stronger: nearer to the goal",
  lengths: { title: "How often it reaches the goal", name: "share of 20 trials", of: (trials) => trials.map((_, n) => average(recent(trials, n), "gained")) },
  epsilon: [-3, 0],
  duel: [0.02, 0.5],
  presets: { default: "default: what this task needs" },
  starts: { scratch: "one region, knowing nothing" },
  guide: {
    fall: ["Press Start.", "The walker strays and falls: at first, all fields and all ways look the same."],
    born: ["See a region being born.", "It begins beside the goal: where one step brings the reward, the field gets a region of its own."],
    held: ["Wait until it arrives.", "A hundred trials or so, and seven or eight regions for sixteen fields."],
    drag: ["Take the walker.", "Drag it over the lake, or over the map. Let go."],
    why: ["Click two fields on the map.", "Why are they kept apart?"],
  },
  state: "is the field that the walker stands on. Sixteen could be learned one by one, but many differ in nothing that matters.",
  reward: "Reaching the goal brings a reward of 1, nothing else brings or costs anything;",
  nothing: "Nothing is known yet: the whole lake is one region. Press Start.",
  learning: "Learning: the walker strays over the lake.",
  confirming: "It arrived! Now the same with learning switched off, to be sure.",
  ended: ({ length, ended, gained }) => (gained ? `It reached the goal after ${plural(length, "step")}`
    : ended === "terminal" ? `It fell into a hole after ${plural(length, "step")}` : `It strayed for ${plural(length, "step")}`),
  solved: (stage) => `Solved after ${plural(stage.trials.length, "trial")}: with learning off it reaches the goal every time. ${regionsOf(stage)} were enough.`,
  failed: (stage) => `Not solved within ${plural(stage.trials.length, "trial")}: it reaches the goal in ${Math.round(100 * stage.score)} % of trials. Another seed or another ε may do better.`,
  free: ({ steps, fell, gained }) => (fell && !steps ? "Trials end on this field: put the walker on another." : gained ? `It reached the goal ${plural(steps, "step")} after you let go.`
    : fell ? `It fell into a hole ${plural(steps, "step")} after you let go.` : `Still on its way ${plural(steps, "step")} after you let go.`),
  isHeld: (stage) => stage.solved,
  isGood: ({ steps, gained }) => gained > 0 || !steps,
};

function average(trials, name) {
  return trials.reduce((sum, trial) => sum + trial[name], 0) / trials.length;
}

export const WORDS = Object.freeze({ puck, car, lake });
