// Tabs: one is in the tab order, the arrow keys, Home and End choose another.

export function connectTabs(list) {
  const tabs = [...list.querySelectorAll("[role=tab]:not([hidden])")];
  const select = (tab, focus = true) => {
    for (const one of tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = one !== tab;
    }
    if (focus) tab.focus();
  };
  list.addEventListener("keydown", (event) => {
    const index = tabs.indexOf(document.activeElement);
    const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    select(tabs[(next + tabs.length) % tabs.length]);
  });
  for (const tab of tabs) tab.addEventListener("click", () => select(tab));
  return (id) => select(document.getElementById(id), false);
}
