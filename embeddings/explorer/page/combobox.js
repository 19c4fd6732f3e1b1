// A text box with completions, by the combobox pattern of the ARIA Authoring Practices Guide.

import { debounce, latest } from "/requests.js";
import { count, element, word as bidi } from "/results.js";

/**
 * Connect an input.
 * choose(word): a word was chosen or entered. type(word): the text has changed. announce(text): for screen readers.
 */
export function connectCombobox(input, { choose, type, announce, fail }) {
  const list = element("ul", { role: "listbox", id: `${input.id}-list`, hidden: true, "aria-label": "Completions" });
  const find = latest("complete");
  let active = -1;
  let isTyping = false;
  input.after(list);
  for (const [name, value] of Object.entries({
    type: "text", role: "combobox", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "1000",
    "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id,
  })) input.setAttribute(name, value);

  const close = () => {
    isTyping = false;
    list.replaceChildren();
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    active = -1;
  };
  const mark = (index) => {
    const options = [...list.children];
    active = index;
    options.forEach((option, number) => option.setAttribute("aria-selected", String(number === index)));
    if (index < 0) {
      input.removeAttribute("aria-activedescendant");
    } else {
      input.setAttribute("aria-activedescendant", options[index].id);
      options[index].scrollIntoView({ block: "nearest" });
    }
  };
  const commit = (text) => {
    close();
    input.value = text;
    choose(text);
  };
  const show = (words) => {
    list.replaceChildren(...words.map((text, number) => {
      const option = element("li", { role: "option", id: `${list.id}-${number}`, "aria-selected": "false" }, bidi(text));
      option.addEventListener("pointerdown", (event) => {
        event.preventDefault(); // the focus stays in the text box
        commit(text);
      });
      option.dataset.word = text;
      return option;
    }));
    list.hidden = !words.length;
    input.setAttribute("aria-expanded", String(words.length > 0));
    mark(-1);
  };
  const complete = debounce(async () => {
    if (!isTyping) return;
    const text = input.value;
    try {
      const answer = await find({ prefix: text, limit: 8 });
      if (!answer || !isTyping || input.value !== text) return;
      show(answer.words.filter((one) => one !== text));
      announce(answer.words.length ? count(answer.words.length, "completion") : "No completions", "completions");
    } catch (error) {
      fail(error);
    }
  }, 60);

  input.addEventListener("input", () => {
    isTyping = true;
    complete();
    type?.(input.value);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const shown = list.hidden ? 0 : list.children.length;
    if (event.isComposing) return;
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && shown) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      mark(active < 0 && step < 0 ? shown - 1 : active + step >= shown ? -1 : Math.max(-1, active + step));
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      isTyping = true;
      complete();
    } else if (event.key === "Enter" && (active >= 0 || !input.form)) {
      event.preventDefault();
      if (active >= 0) commit(list.children[active].dataset.word);
      else if (input.value.trim()) commit(input.value);
    } else if (event.key === "Enter") {
      close();
    } else if (event.key === "Escape") {
      if (shown) close();
      else input.value = "";
    }
  });
}
