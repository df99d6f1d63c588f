// A part of the page inside of another page, such as one of the book: `?embed=verdict&example=desk-assistant`.
//
// It shows an answer, and changes and keeps nothing. `browser.js` has no storage then.

/** The parts, each with its area and its tab. */
const PARTS = {
  verdict: { area: "", tab: "verdict" },
  funnel: { area: "", tab: "verdict" },
  matrix: { area: "", tab: "matrix" },
  session: { area: "#session" },
};

/** Prepares the page for a part, before its module starts. @param {string} name */
export function embed(name) {
  const address = new URL(location.href);
  const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  if (!part) {
    const parts = Object.keys(PARTS).join(", ");
    return refuse(`\`embed=${name}\` is no part of the playground: the parts are ${parts}.`);
  }
  const whole = new URL(address);
  whole.searchParams.delete("embed");
  if (part.tab) address.searchParams.set("tab", part.tab);
  if (address.hash === "") address.hash = whole.hash = part.area;
  history.replaceState(null, "", address);
  document.documentElement.dataset.embed = name;
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = "./embed.css";
  document.head.append(style);
  document.body.append(link(whole));
}

/** The way to the whole page, where the same inputs can be changed. @param {URL} address */
function link(address) {
  const line = document.createElement("p");
  line.className = "whole";
  const link = document.createElement("a");
  link.href = address.href;
  link.target = "_blank";
  link.rel = "noopener";
  link.textContent = "Change the inputs in the playground";
  line.append(link);
  return line;
}

/** @param {string} reason */
function refuse(reason) {
  const told = document.createElement("p");
  told.className = "failure";
  told.setAttribute("role", "alert");
  told.textContent = reason;
  document.body.prepend(told);
}
