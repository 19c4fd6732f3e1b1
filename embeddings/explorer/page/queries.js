// The three queries: neighbours, analogy, comparison. Each fills its part of the page.

import { latest } from "/requests.js";
import {
  concordanceTable, cosineBar, count, element, integer, note, number, table, word, wordButton,
} from "/results.js";

const LINES = 12;
const get = (id) => document.getElementById(id);

/**
 * The functions neighbours(word, isTyping), analogy(), compare() and search().
 * page: { info, announce, go, showPair, highlight }.
 */
export function connectQueries(page) {
  const ask = Object.fromEntries(
    ["neighbours", "lines", "analogy", "compare", "evidence", "search"].map((name) => [name, latest(name)]));

  async function neighbours(text, isTyping = false) {
    const place = get("neighbours");
    try {
      const answer = await ask.neighbours({ word: text, top: 20 });
      if (!answer || (isTyping && answer.row === null)) return;
      place.replaceChildren(heading(answer, page.info), neighbourTable(answer, page));
      const nearest = answer.neighbours[0]?.word;
      page.announce(`${answer.neighbours.length} neighbours of ${answer.word}${nearest ? `, the nearest is ${nearest}` : ""}`);
      page.highlight(answer, answer.neighbours);
      if (page.info.corpus) await addLines(answer.word);
    } catch (error) {
      if (!isTyping) place.replaceChildren(note(error.message, "error"));
      if (!isTyping) page.announce(error.message);
    }
  }

  async function addLines(text) {
    const section = element("section", { class: "results" }, element("h2", {}, "In the text"));
    try {
      const answer = await ask.lines({ word: text, lines: LINES });
      if (!answer) return;
      const shown = answer.lines.length < answer.total ? `${answer.lines.length} of ` : "";
      section.append(concordanceTable(`${shown}${count(answer.total, "occurrence")}`, answer.lines));
    } catch (error) {
      section.append(note(error.message));
    }
    get("lines").replaceChildren(section);
  }

  async function analogy() {
    const place = get("analogy");
    const [a, b, c] = ["a", "b", "c"].map((name) => get(`analogy-${name}`).value);
    if (![a, b, c].every((text) => text.trim())) return place.replaceChildren(note("Fill in three words."));
    try {
      const answer = await ask.analogy({ a, b, c, method: get("analogy-method").value });
      if (!answer) return;
      const words = answer.terms.map((term) => word(term.word));
      const title = element("div", { class: "title" }, element("h2", {}, words[0], " : ", words[1], " = ", words[2], " : ",
        answer.answers.length ? word(answer.answers[0].word) : "?"));
      const rows = answer.answers.map((row, index) => [integer(index + 1), wordButton(row.word, page.go), number(row.score)]);
      place.replaceChildren(title, table("Answers, the best first", [["Rank", "number"], page.info.title, ["Score", "number"]], rows));
      page.announce(answer.answers.length ? `The best answer is ${answer.answers[0].word}` : "No answer");
      page.highlight(answer.terms[2], answer.answers);
    } catch (error) {
      place.replaceChildren(note(error.message, "error"));
      page.announce(error.message);
    }
  }

  async function compare() {
    const place = get("compare");
    const [a, b] = ["a", "b"].map((name) => get(`compare-${name}`).value);
    if (![a, b].every((text) => text.trim())) return place.replaceChildren(note("Fill in two words."));
    try {
      const answer = await ask.compare({ a, b });
      if (!answer) return;
      place.replaceChildren(...comparison(answer, page));
      page.announce(`The cosine is ${number(answer.cosine)}; ${answer.shared.length} shared neighbours`);
      page.highlight(answer.a, [answer.b, ...answer.shared]);
      if (page.info.corpus) await addEvidence(place, answer.a.word, answer.b.word);
    } catch (error) {
      place.replaceChildren(note(error.message, "error"));
      page.announce(error.message);
    }
  }

  async function search() {
    const place = get("search");
    const query = get("query").value;
    if (!query.trim()) return place.replaceChildren(note("Fill in a query."));
    try {
      const answer = await ask.search({ query });
      if (!answer) return;
      const rows = answer.hits.map((hit) => [number(hit.score), element("bdi", {}, ...hit.parts.map(([part, isFound]) =>
        (isFound ? element("mark", {}, part) : part))), word(hit.id)]);
      place.replaceChildren(rows.length ? table("Texts, the best first", [["Score", "number"], "Text", "Id"], rows) : note("No text was found."));
      page.announce(`${count(rows.length, "text")} found`);
    } catch (error) {
      place.replaceChildren(note(error.message, "error"));
      page.announce(error.message);
    }
  }

  async function addEvidence(place, a, b) {
    const section = element("section", {}, element("h3", {}, "Evidence in the text"));
    place.append(section);
    try {
      const answer = await ask.evidence({ a, b });
      if (!answer) return section.remove();
      section.append(...evidence(answer, page));
    } catch (error) {
      section.append(note(error.message));
    }
  }

  return { neighbours, analogy, compare, search };
}

/** The word that was found, and what is known of it. */
function heading(answer, info) {
  const facts = [];
  if (answer.row === null) facts.push(`not in the vocabulary: composed from its parts`);
  else if (info.unit === "word") facts.push(`number ${integer(answer.row + 1)} of ${integer(info.words)}`);
  if (answer.count !== null) facts.push(count(answer.count, "occurrence"));
  return element("div", { class: "title" }, element("h2", {}, word(answer.word)), element("p", {}, facts.join(" · ")));
}

function neighbourTable(answer, page) {
  const { info } = page;
  const hidden = (text) => element("span", { class: "hidden-visually" }, text);
  const headings = [["Rank", "number rank"], info.title, ["Cosine", "number"]];
  headings.push(info.confidence ? "95 % interval" : hidden("As a bar"));
  if (info.confidence) headings.push(["Returns", "number"]);
  headings.push(hidden("Compare"));
  const rows = answer.neighbours.map((row, index) => {
    const isSure = row.low !== undefined;
    const interval = isSure ? `${number(row.low, 2)} to ${number(row.high, 2)}` : "";
    const bar = element("span", { title: interval || null }, cosineBar(row.cosine, row.low, row.high), hidden(interval));
    const cells = [integer(index + 1), wordButton(row.word, page.go), number(row.cosine), bar];
    if (info.confidence) cells.push(isSure ? `${Math.round(100 * row.in_top)} %` : "–");
    cells.push(element("button", {
      type: "button", class: "quiet", "aria-label": `Compare ${answer.word} and ${row.word}`,
      click: () => page.showPair(answer.word, row.word),
    }, "compare"));
    return cells;
  });
  const caption = info.confidence
    ? `Nearest ${info.unit}s. “Returns” is the share of ${info.confidence} resamples with the ${info.unit} among the nearest ${rows.length}; intervals allow for the selection among all ${info.unit}s`
    : `Nearest ${info.unit}s`;
  return table(caption, headings, rows);
}

function comparison(answer, page) {
  const { a, b, interval } = answer;
  const facts = [["Cosine", number(answer.cosine)]];
  if (interval) facts.push(["95 % interval", `${number(interval.low)} to ${number(interval.high)}`]);
  if (answer.rank_of_b !== null) {
    facts.push([element("span", {}, "Rank of ", word(b.word), " near ", word(a.word)), integer(answer.rank_of_b)]);
    facts.push([element("span", {}, "Rank of ", word(a.word), " near ", word(b.word)), integer(answer.rank_of_a)]);
  }
  const list = element("dl", {}, ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  const rows = answer.shared.map((row) => [wordButton(row.word, page.go), number(row.a), number(row.b)]);
  const shared = rows.length
    ? table(`Among the ${answer.top} nearest of both`, [page.info.title, [word(a.word), "number"], [word(b.word), "number"]], rows)
    : note(`None is among the ${answer.top} nearest of both.`);
  return [element("div", { class: "title" }, element("h2", {}, word(a.word), " and ", word(b.word))), list,
    element("h3", {}, "Shared neighbours"), shared];
}

function evidence(answer, page) {
  const rows = answer.contexts.map((one) => [wordButton(one.context, page.go), `${number(100 * one.share, 1)} %`,
    `${integer(one.count)} / ${integer(one.other_count)}`, `${number(one.pmi, 1)} / ${number(one.other_pmi, 1)}`]);
  const lines = answer.contexts.flatMap((one) => one.lines);
  const parts = [note(`The contexts of the two have a cosine of ${number(answer.context_cosine)}; they share ${count(answer.n_contexts, "context")} `
    + `within ${count(answer.window, "word")} on each side, and occur near each other ${count(answer.joint_count, "time")}.`)];
  if (answer.same_corpus === false) parts.push(note("The vectors were trained on another text, whose contexts may differ."));
  if (rows.length) {
    const headings = ["Context", ["Share", "number"], ["Counts", "number"], ["PMI", "number"]];
    parts.push(table("Contexts that make the two similar", headings, rows));
  }
  if (lines.length) parts.push(concordanceTable("Lines with these contexts", lines));
  return parts;
}
