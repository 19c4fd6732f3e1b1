// Elements of the page. Words are set as text, never as HTML, and isolated from the direction of the text around them.

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** A word, in its own direction. */
export const word = (text) => element("bdi", {}, text);

/** A word that shows its neighbours when pressed. */
export const wordButton = (text, go) => element("button", { type: "button", class: "word", click: () => go(text) }, word(text));

export const number = (value, digits = 3) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−"));
export const integer = (value) => value.toLocaleString("en");
export const count = (value, unit) => `${integer(value)} ${unit}${value === 1 ? "" : "s"}`;

/** A cosine as a bar, with its interval as a line. */
export function cosineBar(value, low, high) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  const place = (value) => `${100 * Math.min(1, Math.max(0, value))}%`;
  const fill = element("span", { class: "fill" });
  fill.style.width = place(value);
  bar.append(fill);
  if (low !== undefined) {
    const interval = element("span", { class: "interval" });
    interval.style.left = place(low);
    interval.style.width = `calc(${place(high)} - ${place(low)})`;
    bar.append(interval);
  }
  return bar;
}

/** A table with a caption, headings and rows of cells; the heading of a column of numbers is [text, "number"]. */
export function table(caption, headings, rows) {
  const kinds = headings.map((heading) => (Array.isArray(heading) ? heading[1] : null));
  const titles = headings.map((heading) => (Array.isArray(heading) ? heading[0] : heading));
  const head = titles.map((title, column) => element("th", { scope: "col", class: kinds[column] }, title));
  const body = rows.map((cells) =>
    element("tr", {}, ...cells.map((cell, column) =>
      cell instanceof HTMLTableCellElement ? cell : element("td", { class: kinds[column] }, cell))));
  return element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...body));
}

/** Lines of a corpus around a word, which is in the middle; what does not fit is cut at both ends. */
export function concordanceTable(caption, lines) {
  const cell = (name, text, title = text) => element("td", { class: name, title }, word(text));
  const rows = lines.map((line) => {
    const place = `document ${line.document}, line ${integer(line.line)}`;
    const file = line.file.split(/[\\/]/).pop();
    return [cell("left", line.left), cell("keyword", line.keyword), cell("right", line.right),
      cell("source", [place, file].filter(Boolean).join(", "), `${place} ${line.file}`)];
  });
  const lineTable = table(caption, ["Before", "Word", "After", "Source"], rows);
  lineTable.className = "concordance";
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Lines of the text" }, lineTable);
}

/** A message in place of results. */
export const note = (text, kind = "note") => element("p", { class: kind }, text);
