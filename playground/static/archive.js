// Texts as one archive: `ustar` of POSIX.1-1988, which every system unpacks. Loaded when it is first asked for.

const BLOCK = 512;

/**
 * @param {[string, string][]} texts each behind the name of its file, of at most 100 characters of ASCII
 * @returns {Blob}
 */
export function archive(texts) {
  const parts = texts.flatMap(([name, text]) => {
    const content = new TextEncoder().encode(text);
    return [header(name, content.length), content, new Uint8Array(-content.length & (BLOCK - 1))];
  });
  // Two empty blocks are the end.
  return new Blob([...parts, new Uint8Array(2 * BLOCK)]);
}

/** Without a time and an owner: the same texts are the same bytes. */
function header(name, length) {
  const block = new Uint8Array(BLOCK);
  const put = (at, text) => block.set(new TextEncoder().encode(text), at);
  const octal = (number, digits) => number.toString(8).padStart(digits, "0");
  put(0, name);
  put(100, "0000644\0" + "0000000\0" + "0000000\0" + octal(length, 11) + "\0" + octal(0, 11) + "\0");
  // The sum of the block, with spaces for the sum.
  put(148, "        0");
  put(257, "ustar\0" + "00");
  put(148, octal(block.reduce((sum, byte) => sum + byte, 0), 6) + "\0 ");
  return block;
}
