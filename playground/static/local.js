// The page inside of `agent playground`: it gets the documents of a folder once, and opens them like a link.

import { compress } from "./browser.js";

/** While the page is open, the program serves its further modules. */
const SIGN_OF_LIFE = 60_000;

/** Opens the documents of the program that serves the page. @param {string} token that it put into the address */
export async function open(token) {
  // Neither the history nor a reload has the token.
  history.replaceState(null, "", location.pathname);
  setInterval(() => fetch("./icon.svg").catch(() => {}), SIGN_OF_LIFE);
  try {
    const response = await fetch("./documents.json", { headers: { authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(await response.text());
    const inputs = await response.json();
    const area = inputs.area ? `${inputs.area}.` : "";
    history.replaceState(null, "", `#${area}1.${await compress(JSON.stringify(inputs))}`);
  } catch (error) {
    const reason = document.createElement("p");
    reason.className = "failure";
    reason.setAttribute("role", "alert");
    reason.textContent = `The files can't be opened: ${error.message}. Run the command again.`;
    document.body.prepend(reason);
  }
}
