// Requests to the server. The token comes in the fragment of the address, which is removed from the history.

const fragment = location.hash.slice(1);
if (/^[\w-]{20,}$/.test(fragment)) {
  sessionStorage.setItem("token", fragment);
  history.replaceState(null, "", location.pathname);
}
const token = sessionStorage.getItem("token") ?? "";

/** The answer to a question, as an object; throws an Error with a message for the reader. */
export async function ask(question, parameters = {}, signal = undefined) {
  const values = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(values).toString();
  let response;
  try {
    response = await fetch(`/api/${question}${query ? `?${query}` : ""}`, {
      headers: { Authorization: `Bearer ${token}` },
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server has ended. Start embeddings explore again, and open the address that it prints.");
  }
  const answer = await response.json();
  if (answer.error && question !== "map") throw new Error(sentence(answer.error));
  if (!response.ok) throw new Error(sentence(answer.error ?? response.statusText));
  return answer;
}

/** A message as a sentence. */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".");
}

/** A function that asks the same kind of question again and again; only the last answer counts. */
export function latest(question) {
  let controller = new AbortController();
  return async (parameters) => {
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
    try {
      const answer = await ask(question, parameters, signal);
      return signal.aborted ? null : answer;
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return null;
      throw error;
    }
  };
}

/** A function that runs when it has not been called for some milliseconds; its method cancel() prevents that. */
export function debounce(run, milliseconds) {
  let timer;
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}
