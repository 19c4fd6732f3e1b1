// The page: connects the queries, the map and the tabs.

import { connectCombobox } from "/combobox.js";
import { connectMap } from "/map_view.js";
import { connectQueries } from "/queries.js";
import { ask, debounce } from "/requests.js";
import { count, element, integer, note } from "/results.js";
import { connectTabs } from "/tabs.js";

const get = (id) => document.getElementById(id);
const messages = new Map(); // of each part of the page, the last
const speak = debounce(() => {
  get("status").textContent = [...messages.values()].join(". ");
  messages.clear();
}, 400);

/** Tell screen readers, once nothing more has happened for a moment. */
function announce(text, part = "results") {
  messages.set(part, text);
  speak();
}

function fail(error) {
  get("problem").textContent = error.message;
  get("problem").hidden = false;
}

async function start() {
  let info;
  try {
    info = await ask("info");
  } catch (error) {
    return fail(error);
  }
  info.title = info.unit === "word" ? "Word" : "Document";
  describe(info);
  get("tab-search").hidden = !info.texts;
  const selectTab = connectTabs(document.querySelector("[role=tablist]"));
  const page = { info, announce, fail, go, showPair, highlight: () => {} };
  const queries = connectQueries(page);

  function go(text) {
    selectTab("tab-neighbours");
    get("word").value = text;
    choose(text);
  }

  function showPair(a, b) {
    selectTab("tab-compare");
    get("compare-a").value = a;
    get("compare-b").value = b;
    queries.compare();
    get("compare-b").focus();
  }

  const type = debounce((text) => { if (text.trim()) queries.neighbours(text, true); }, 120);
  const choose = (text) => {
    type.cancel(); // its answer would replace this one
    queries.neighbours(text);
  };
  connectCombobox(get("word"), { choose, type, announce, fail });
  for (const [form, names, run] of [["analogy-form", ["a", "b", "c"], queries.analogy], ["compare-form", ["a", "b"], queries.compare]]) {
    const inputs = names.map((name) => get(`${form.split("-")[0]}-${name}`));
    const next = (index) => inputs.slice(index + 1).find((input) => !input.value);
    inputs.forEach((input, index) => connectCombobox(input, {
      choose: () => (inputs.every((one) => one.value) ? run() : next(index)?.focus()), announce, fail,
    }));
    get(form).addEventListener("submit", (event) => {
      event.preventDefault();
      run();
    });
  }
  get("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    queries.search();
  });
  connectMap(page);
  get("word").value = info.example;
  choose(info.example);
  get("word").focus();
  get("word").select();
}

/** Show what is explored. */
function describe(info) {
  document.title = `${info.name} – embeddings explore`;
  get("name").textContent = info.name;
  get("facts").textContent = [count(info.words, info.unit), `${integer(info.dim)} dimensions`,
    info.composes ? "composes unseen words" : "", info.confidence ? `${info.confidence} resamples` : ""].filter(Boolean).join(" · ");
  for (const node of document.querySelectorAll("[data-unit]")) node.textContent = info.title;
  for (const node of document.querySelectorAll("[data-unit-small]")) node.textContent = info.unit;
  const hint = note(`Type a ${info.unit} to see what is near it.`);
  if (info.composes) hint.append(" Press Enter for a word that is not in the vocabulary.");
  get("neighbours").replaceChildren(hint);
  if (!info.corpus) get("compare").append(element("p", { class: "note" }, "Start with --corpus to see lines of the text as evidence."));
}

start();
