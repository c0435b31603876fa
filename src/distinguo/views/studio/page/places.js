// Between the plane of a map and the observations of a task.

/** The observation that a place of a picture means; null where there is none. */
export function observationAt(picture, [x, y]) {
  if (picture.squares) {
    const found = picture.squares.find(([a, b]) => Math.abs(a - x) <= 0.5 && Math.abs(b - y) <= 0.5);
    return found ? found[2] : null;
  }
  const state = [...picture.plane.at];
  [x, y].forEach((c, i) => {
    if (i < picture.plane.axes.length) state[picture.plane.axes[i]] = c;
  });
  return state;
}

/** Where an observation is seen in a picture; null where it is not. */
export function placeIn(picture, observation) {
  if (!observation) return null;
  if (picture.squares) {
    const found = picture.squares.find(([, , state]) => state.every((c, i) => c === observation[i]));
    return found ? [found[0], found[1]] : null;
  }
  const [across, up] = picture.plane.axes;
  const place = [observation[across], up === undefined ? 0.5 : observation[up]];
  return place.every(Number.isFinite) ? place : null;
}

/** A number in few digits. */
export function plain(number) {
  if (typeof number !== "number") return "–";
  if (Math.abs(number) < 1e-9) return "0";
  return (Math.abs(number) >= 1000 ? Math.round(number).toLocaleString("en") : String(Number(number.toPrecision(3))))
    .replace("-", "−");
}

/** An observation in words: "x 0.5 m, v −1 m/s". */
export function inWords(axes, observation) {
  return axes.map((axis, i) => {
    const [, name, unit] = axis.match(/^(.*?)(?: \((.*)\))?$/);
    return `${name} ${plain(observation[i])}${unit ? ` ${unit}` : ""}`;
  }).join(", ");
}
