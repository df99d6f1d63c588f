// The sentences of the engine.

/**
 * @param {string} text a sentence of the engine
 * @returns {(string | HTMLElement)[]} the same, with what stands in backquotes as code
 */
export function prose(text) {
  return text.split("`").map((piece, at) => {
    if (at % 2 === 0) return piece;
    const code = document.createElement("code");
    code.textContent = piece;
    return code;
  });
}
