// Drawing of the map: points, labels, and the chosen words, on a canvas.

const CELL = 6; // pixels, of the grid by which labels keep apart
const MAX_CANDIDATES = 6000; // most frequent visible words that may get a label
const LABEL_LENGTH = 28;
const MARGIN = 28;
const QUICK_POINTS = 15_000; // drawn while the map moves
const COLOURS = 12;

/** The points with the part that is visible: centre (x, y) in the unit square, pixels per unit. */
export class WordMap {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.words = [];
    this.x = new Float32Array();
    this.y = new Float32Array();
    this.groups = [];
    this.group = null; // the only one in colour
    this.chosen = null;
    this.near = [];
    this.pointed = null;
    this.hasCrosshair = false;
    this.reset();
  }

  setPoints(points, scale) {
    this.x = Float32Array.from({ length: points.length / 2 }, (_, row) => points[2 * row] / scale);
    this.y = Float32Array.from({ length: points.length / 2 }, (_, row) => points[2 * row + 1] / scale);
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    Object.assign(this, { width, height, ratio });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  get whole() {
    return Math.max(1, Math.min(this.width ?? 1, this.height ?? 1) - 2 * MARGIN);
  }

  get scale() {
    return this.whole * this.zoom;
  }

  reset() {
    Object.assign(this, { centreX: 0.5, centreY: 0.5, zoom: 1 });
  }

  /** Zoom by a factor; the point at (left, top) stays where it is. */
  zoomBy(factor, left = this.width / 2, top = this.height / 2) {
    const zoom = Math.min(400, Math.max(0.5, this.zoom * factor));
    const before = this.scale;
    this.zoom = zoom;
    const shift = 1 / before - 1 / this.scale;
    this.centreX += (left - this.width / 2) * shift;
    this.centreY += (top - this.height / 2) * shift;
    this.limit();
  }

  moveBy(pixelsX, pixelsY) {
    this.centreX -= pixelsX / this.scale;
    this.centreY -= pixelsY / this.scale;
    this.limit();
  }

  limit() {
    this.centreX = Math.min(1, Math.max(0, this.centreX));
    this.centreY = Math.min(1, Math.max(0, this.centreY));
  }

  left(row) {
    return (this.x[row] - this.centreX) * this.scale + this.width / 2;
  }

  top(row) {
    return (this.y[row] - this.centreY) * this.scale + this.height / 2;
  }

  isVisible(row) {
    const left = this.left(row);
    const top = this.top(row);
    return left >= 0 && top >= 0 && left <= this.width && top <= this.height;
  }

  /** The visible rows, the most frequent first. */
  visible(most = Infinity) {
    const rows = [];
    for (let row = 0; row < this.x.length && rows.length < most; row += 1) {
      if (this.isShown(row) && this.isVisible(row)) rows.push(row);
    }
    return rows;
  }

  isShown(row) {
    return this.group === null || this.groups[row] === this.group;
  }

  /** The row nearest to a place, at most `distance` pixels away; null if there is none. */
  nearest(left, top, distance = Infinity) {
    let best = null;
    let least = distance ** 2;
    for (let row = 0; row < this.x.length; row += 1) {
      const square = (this.left(row) - left) ** 2 + (this.top(row) - top) ** 2;
      if (square < least && this.isShown(row)) [best, least] = [row, square];
    }
    return best;
  }

  draw(isQuick = false) {
    this.resize();
    const style = getComputedStyle(this.canvas);
    const read = (name) => style.getPropertyValue(name).trim();
    this.ink = read("--ink");
    this.paper = read("--map");
    this.accent = read("--accent");
    this.colours = Array.from({ length: COLOURS }, (_, number) => read(`--group-${number}`));
    this.muted = read("--muted-point");
    this.font = `12px ${style.fontFamily}`;
    const { context } = this;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.drawPoints(isQuick ? QUICK_POINTS : Infinity);
    this.drawChosen();
    this.drawLabels();
    if (this.hasCrosshair) this.drawCrosshair();
  }

  drawPoints(most) {
    const { context } = this;
    const density = Math.sqrt((this.width * this.height) / Math.max(1, this.x.length));
    const radius = Math.min(4, Math.max(0.8, 0.14 * density * this.zoom ** 0.4));
    const batches = new Map();
    const end = Math.min(this.x.length, most);
    for (let row = 0; row < end; row += 1) {
      if (!this.isVisible(row)) continue;
      const group = this.groups[row] ?? -1;
      const colour = group < 0 || !this.isShown(row) ? this.muted : this.colours[group % COLOURS];
      if (!batches.has(colour)) batches.set(colour, []);
      batches.get(colour).push(row);
    }
    for (const [colour, rows] of [...batches].sort(([one]) => (one === this.muted ? -1 : 1))) {
      context.fillStyle = colour;
      context.beginPath();
      for (const row of rows) {
        const [left, top] = [this.left(row), this.top(row)];
        if (radius < 1.6) {
          context.rect(left - radius, top - radius, 2 * radius, 2 * radius);
        } else {
          context.moveTo(left + radius, top);
          context.arc(left, top, radius, 0, 2 * Math.PI);
        }
      }
      context.fill();
    }
  }

  /** Lines from the chosen word to the words near it. */
  drawChosen() {
    const { context } = this;
    if (this.chosen === null) return;
    context.strokeStyle = this.accent;
    context.globalAlpha = 0.45;
    context.lineWidth = 1.25;
    context.beginPath();
    for (const row of this.near) {
      context.moveTo(this.left(this.chosen), this.top(this.chosen));
      context.lineTo(this.left(row), this.top(row));
    }
    context.stroke();
    context.globalAlpha = 1;
    for (const [row, radius] of [[this.chosen, 7], ...this.near.map((one) => [one, 4.5])]) {
      context.beginPath();
      context.arc(this.left(row), this.top(row), radius, 0, 2 * Math.PI);
      context.fillStyle = row === this.chosen ? this.accent : this.paper;
      context.fill();
      context.lineWidth = 2;
      context.stroke();
    }
  }

  /** Labels: first of the words that matter now, then of the most frequent, where there is room. */
  drawLabels() {
    const { context } = this;
    const taken = new Set();
    context.textBaseline = "middle";
    context.lineJoin = "round";
    for (const row of [this.pointed, this.chosen, ...this.near]) {
      if (row !== null && this.isVisible(row)) this.drawLabel(row, taken, true);
    }
    let room = Math.round((this.width * this.height) / 7000);
    for (const row of this.visible(MAX_CANDIDATES)) {
      if (room <= 0) break;
      if (this.drawLabel(row, taken, false)) room -= 1;
    }
  }

  drawLabel(row, taken, isImportant) {
    const { context } = this;
    const text = this.words[row].length > LABEL_LENGTH ? `${this.words[row].slice(0, LABEL_LENGTH)}…` : this.words[row];
    context.font = isImportant ? `600 ${this.font}` : this.font;
    const [left, top, width] = [this.left(row) + 8, this.top(row), context.measureText(text).width];
    const cells = [];
    for (let column = Math.floor((left - 4) / CELL); column <= (left + width + 4) / CELL; column += 1) {
      for (let line = Math.floor((top - 9) / CELL); line <= (top + 9) / CELL; line += 1) cells.push(column * 100_000 + line);
    }
    if ((row !== this.pointed && cells.some((cell) => taken.has(cell))) || (!isImportant && (left + width > this.width || top < 9 || top > this.height - 9))) return false;
    cells.forEach((cell) => taken.add(cell));
    context.lineWidth = 3.5;
    context.strokeStyle = this.paper;
    context.strokeText(text, left, top);
    context.fillStyle = this.ink;
    context.fillText(text, left, top);
    return true;
  }

  drawCrosshair() {
    const { context } = this;
    const [x, y] = [this.width / 2, this.height / 2];
    context.strokeStyle = this.accent;
    context.lineWidth = 2;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(x + 6 * dx, y + 6 * dy);
      context.lineTo(x + 14 * dx, y + 14 * dy);
    }
    context.stroke();
  }
}
