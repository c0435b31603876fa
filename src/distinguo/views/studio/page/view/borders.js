// Which edges of the cells of a partition are borders of regions: where two cells of one region meet there is none.
//
// Voronoi cells share whole edges; boxes may share a part of one, but their edges are parallel to the axes.

const GRAIN = 1e7; // ends that are nearer than this share of the frame are one

/**
 * The borders between regions as segments [[x, y], [x, y]], and the number of the area of every cell: cells of one
 * region that touch are one area.
 */
export function bordersOf(picture) {
  const { cells } = picture;
  const key = keyIn(picture);
  const edges = new Map();
  cells.forEach((cell, index) => {
    cell.outline.forEach((from, i) => {
      const to = cell.outline[(i + 1) % cell.outline.length];
      const [one, other] = [key(from), key(to)].sort();
      if (one === other) return;
      const name = `${one}|${other}`;
      const edge = edges.get(name) ?? { from, to, cells: [] };
      edge.cells.push(index);
      edges.set(name, edge);
    });
  });
  const areas = new Areas(cells.length);
  const segments = [];
  const loose = [];
  for (const edge of edges.values()) {
    if (edge.cells.length === 1) loose.push(edge);
    else if (sameRegion(cells, edge.cells)) areas.join(...edge.cells);
    else segments.push([edge.from, edge.to]);
  }
  segments.push(...bordersAmong(loose, cells, areas, key));
  return { segments, areas: cells.map((_, index) => areas.find(index)) };
}

function keyIn({ low, high }) {
  return ([x, y]) => {
    const u = Math.round(((x - low[0]) / (high[0] - low[0])) * GRAIN);
    const v = Math.round(((y - low[1]) / (high[1] - low[1])) * GRAIN);
    return `${u},${v}`;
  };
}

function sameRegion(cells, indices) {
  return indices.every((index) => cells[index].region === cells[indices[0]].region);
}

/** Edges that no other edge equals: on the frame, or shared in part by boxes, on a line parallel to an axis. */
function bordersAmong(loose, cells, areas, key) {
  const lines = new Map();
  for (const edge of loose) {
    const [a, b] = [key(edge.from).split(","), key(edge.to).split(",")];
    const axis = a[0] === b[0] ? 0 : a[1] === b[1] ? 1 : -1;
    if (axis < 0) continue;
    const name = `${axis}:${a[axis]}`;
    const along = [edge.from[1 - axis], edge.to[1 - axis]].sort((p, q) => p - q);
    const line = lines.get(name) ?? { axis, at: edge.from[axis], parts: [] };
    line.parts.push({ low: along[0], high: along[1], cell: edge.cells[0] });
    lines.set(name, line);
  }
  return [...lines.values()].flatMap((line) => bordersOnLine(line, cells, areas));
}

function bordersOnLine({ axis, at, parts }, cells, areas) {
  const stops = [...new Set(parts.flatMap((part) => [part.low, part.high]))].sort((p, q) => p - q);
  const point = (along) => (axis === 0 ? [at, along] : [along, at]);
  const found = [];
  for (let i = 0; i + 1 < stops.length; i += 1) {
    const [low, high] = [stops[i], stops[i + 1]];
    const here = parts.filter((part) => part.low <= low && part.high >= high).map((part) => part.cell);
    if (here.length < 2) continue; // on the frame
    if (sameRegion(cells, here)) areas.join(...here);
    else found.push([point(low), point(high)]);
  }
  return found;
}

/** Which cells hang together. */
class Areas {
  constructor(count) {
    this.parent = Array.from({ length: count }, (_, index) => index);
  }

  find(index) {
    let root = index;
    while (this.parent[root] !== root) root = this.parent[root];
    this.parent[index] = root;
    return root;
  }

  join(...indices) {
    for (const index of indices) this.parent[this.find(index)] = this.find(indices[0]);
  }
}

/** Twice the area of an outline (with its sign), and its centre. */
export function centreOf(outline) {
  let [area, x, y] = [0, 0, 0];
  const [ox, oy] = outline[0];
  outline.forEach(([px, py], i) => {
    const [qx, qy] = outline[(i + 1) % outline.length];
    const cross = (px - ox) * (qy - oy) - (qx - ox) * (py - oy);
    area += cross;
    x += (px + qx - 2 * ox) * cross;
    y += (py + qy - 2 * oy) * cross;
  });
  return { area, centre: area ? [ox + x / (3 * area), oy + y / (3 * area)] : outline[0] };
}

/** Whether a point is within an outline. */
export function isInside(outline, [x, y]) {
  let inside = false;
  outline.forEach(([px, py], i) => {
    const [qx, qy] = outline[(i + 1) % outline.length];
    if (py > y !== qy > y && x < px + ((y - py) / (qy - py)) * (qx - px)) inside = !inside;
  });
  return inside;
}
