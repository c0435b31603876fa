// The tasks of the playground, by the names that links have.
//
// A task has a key (its name in links), a name (the package's), actions, the ends low and high of its map, a threshold of
// its mean return (null for one to be held), a limit of steps, start, transition and reward; and where needed: rounds
// (observed with 32 bits), labels (observed as a label), stops, isEnd, and stateAt and pointOf between states and its map.

import { MOUNTAIN_CAR } from "./car.js";
import { LAKE } from "./lake.js";
import { PUCK } from "./puck.js";

export const TASKS = Object.freeze({ puck: PUCK, car: MOUNTAIN_CAR, lake: LAKE });
