// The map with mouse, touch and keys, its groups, and its words as a table.

import { WordMap } from "/map.js";
import { ask, debounce } from "/requests.js";
import { count, element, integer, note, table, word, wordButton } from "/results.js";

const POLL = 700; // milliseconds between questions while the map is computed
const TABLE_WORDS = 50;
const LEGEND_GROUPS = 12;
const STEP = 60; // pixels of an arrow key
const get = (id) => document.getElementById(id);

export function connectMap(page) {
  const canvas = get("map");
  const map = new WordMap(canvas);
  const rest = debounce(() => { map.draw(); describe(); }, 140);
  let isWaiting = false;
  let last = null; // what was highlighted, perhaps before there was a map

  /** Draw soon: quickly while the map moves, then in full. */
  function redraw() {
    if (!isWaiting) {
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        map.draw(true);
      });
    }
    rest();
  }

  function describe() {
    const isWhole = map.zoom <= 1 && map.visible(map.x.length).length === map.x.length;
    canvas.setAttribute("aria-label", `Map of ${count(map.x.length, page.info.unit)}${isWhole ? "" : `, ${Math.round(map.zoom * 10) / 10} times enlarged`}`);
    canvas.dataset.zoom = map.zoom.toFixed(3);
    if (map.hasCrosshair) {
      const row = map.nearest(map.width / 2, map.height / 2);
      if (row !== null && row !== map.pointed) {
        map.pointed = row;
        map.draw();
        page.announce(`In the centre: ${map.words[row]}`, "map");
      }
    }
    if (get("table-details").open) showTable();
  }

  function showTable() {
    const rows = map.visible(TABLE_WORDS).map((row) => [wordButton(map.words[row], page.go),
      word(map.names[map.groups[row]]), integer(row + 1)]);
    get("map-table").replaceChildren(rows.length
      ? table(`The first ${count(rows.length, page.info.unit)} in view`, [page.info.title, "Group", ["Number", "number"]], rows)
      : note("Nothing is in view."));
  }

  page.highlight = (chosen, others) => {
    last = [chosen, others];
    const isOnMap = (row) => row !== null && row !== undefined && row < map.x.length;
    map.chosen = isOnMap(chosen.row) ? chosen.row : null;
    map.near = map.chosen === null ? [] : others.map((one) => one.row).filter(isOnMap);
    if (map.chosen !== null && !map.isVisible(map.chosen)) {
      Object.assign(map, { centreX: map.x[map.chosen], centreY: map.y[map.chosen] });
    }
    redraw();
  };

  function showLegend(names, sizes) {
    const button = (name, index) => element("button", {
      type: "button", "aria-pressed": "false", "data-group": index, click: (event) => choose(event.currentTarget, index),
    }, element("span", { class: `swatch group-${index % 12}`, "aria-hidden": "true" }), word(name),
    element("span", { class: "size" }, integer(sizes[index])));
    const choose = (target, index) => {
      map.group = map.group === index ? null : index;
      for (const one of get("legend").querySelectorAll("button")) {
        one.setAttribute("aria-pressed", String(one === target && map.group !== null));
      }
      page.announce(map.group === null ? "All groups are shown" : `Only the group ${names[index]} is shown`, "map");
      redraw();
    };
    const buttons = names.map(button);
    get("legend").replaceChildren(...buttons.slice(0, LEGEND_GROUPS));
    if (buttons.length > LEGEND_GROUPS) {
      const others = element("details", {}, element("summary", {}, `${buttons.length - LEGEND_GROUPS} more groups`), ...buttons.slice(LEGEND_GROUPS));
      get("legend").append(others);
    }
  }

  /** Zoom around the chosen word, or else the centre. */
  function zoom(factor) {
    const isChosen = map.chosen !== null && map.isVisible(map.chosen);
    map.zoomBy(factor, ...(isChosen ? [map.left(map.chosen), map.top(map.chosen)] : []));
  }

  connectPointers(canvas, map, redraw, page);
  connectKeys(canvas, map, redraw, page);
  for (const [id, run] of [["zoom-in", () => zoom(1.6)], ["zoom-out", () => zoom(1 / 1.6)], ["zoom-reset", () => map.reset()]]) {
    get(id).addEventListener("click", () => { run(); redraw(); });
  }
  get("table-details").addEventListener("toggle", showTable);
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  load(map, page, showLegend, () => (last ? page.highlight(...last) : redraw()));
}

/** Ask for the map until it is complete; it is shown as it grows. */
async function load(map, page, showLegend, redraw) {
  let version = 0;
  for (;;) {
    let state;
    try {
      state = await ask("map", { version });
    } catch (error) {
      return page.fail(error);
    }
    if (state.points) {
      if (state.words) {
        Object.assign(map, { words: state.words, groups: state.groups, names: state.names });
        showLegend(state.names, state.sizes);
      }
      map.setPoints(state.points, state.scale);
      version = state.version;
      redraw();
    }
    const isReady = (state.done === 1 && version === state.version) || state.error !== null;
    get("map-progress").hidden = isReady;
    if (state.done) get("map-progress").value = state.done; // until then it shows that something is done
    get("map-state").textContent = state.error ?? (isReady ? facts(page.info) : progress(version, state.done));
    get("map").dataset.state = isReady ? "ready" : "working";
    if (isReady) return page.announce(state.error ?? "The map is complete", "map");
    await new Promise((resolve) => { setTimeout(resolve, POLL); });
  }
}

function progress(version, done) {
  if (version < 2) return "grouping";
  return done ? `arranging ${Math.round(100 * done)} %` : "arranging: searching for neighbours";
}

function facts(info) {
  const first = info.map_words < info.words ? `the first ${integer(info.map_words)} of ${integer(info.words)}` : `all ${integer(info.words)}`;
  return `${first} ${info.unit}s, ${info.projection === "pca" ? "by their principal components" : "by t-SNE"}`;
}

function connectPointers(canvas, map, redraw, page) {
  const pointers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    if (pointers.size === 1) moved = 0;
    map.hasCrosshair = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    const place = [event.offsetX, event.offsetY];
    const before = pointers.get(event.pointerId);
    if (before === undefined) {
      const row = map.nearest(...place, 14);
      if (row === map.pointed) return;
      map.pointed = row;
      canvas.classList.toggle("on-word", row !== null);
      redraw();
      return;
    }
    moved += Math.abs(place[0] - before[0]) + Math.abs(place[1] - before[1]);
    if (pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, value]) => value);
      const distance = ([left, top]) => Math.hypot(left - other[0], top - other[1]);
      map.zoomBy(distance(place) / Math.max(1, distance(before)), ...other);
    } else {
      map.moveBy(place[0] - before[0], place[1] - before[1]);
    }
    pointers.set(event.pointerId, place);
    redraw();
  });
  const release = (event) => {
    const wasAlone = pointers.size === 1;
    pointers.delete(event.pointerId);
    if (event.type !== "pointerup" || !wasAlone || moved > 5) return;
    const row = map.nearest(event.offsetX, event.offsetY, 18);
    if (row !== null) page.go(map.words[row]);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    map.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
    redraw();
  }, { passive: false });
}

function connectKeys(canvas, map, redraw, page) {
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      ArrowLeft: () => map.moveBy(STEP, 0), ArrowRight: () => map.moveBy(-STEP, 0),
      ArrowUp: () => map.moveBy(0, STEP), ArrowDown: () => map.moveBy(0, -STEP),
      "+": () => map.zoomBy(1.4), "=": () => map.zoomBy(1.4), "-": () => map.zoomBy(1 / 1.4), 0: () => map.reset(),
      Enter: () => {
        const row = map.nearest(map.width / 2, map.height / 2);
        if (row !== null) page.go(map.words[row]);
      },
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    map.hasCrosshair = true;
    actions[event.key]();
    redraw();
  });
  canvas.addEventListener("blur", () => {
    map.hasCrosshair = false;
    map.pointed = null;
    redraw();
  });
}
