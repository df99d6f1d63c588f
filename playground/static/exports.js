// The funnels and the matrix as files, made of the text of `agents.resolution.json`.
//
// A file is the same for the same text, and shows names as they are but for characters that can't be seen. A picture
// has its own styles, and says in words what it shows.

/** Maximum number of rows in the picture of a matrix. The table has all. */
const ROWS = 200;

/** Maximum number of candidates whose losses a funnel names. */
const NAMED = 6;

const LINE = 20;
const MARGIN = 12;

/** The width of the longest bar of a funnel, and where the words beside the bars begin. */
const BAR = 100;
const WORDS = MARGIN + BAR + 70;

/** The width of a character of a monospaced font of 12 pixels. */
const CHARACTER = 7.3;

/** Maximum number of characters of a name in a picture. */
const LONGEST = 44;

const FILES = { "funnels.svg": funnels, "matrix.svg": matrixPicture, "matrix.csv": matrixTable };

/**
 * @param {keyof typeof FILES} name of the file
 * @param {string} resolution the text of `agents.resolution.json`
 * @param {string} checks the codes of all checks in their order, separated by spaces
 * @returns {string} its text
 */
export function write(name, resolution, checks) {
  return FILES[name](read(JSON.parse(resolution)), checks.split(" "));
}

/** @typedef {{ code: string, missing?: string[], offered?: string | string[], required?: string }} Reason */
/**
 * A server or a tool. A server without tools is one of the matrix, but no tool of a funnel.
 * @typedef {{ id: string, version: string, tool: string, verdict: string, reasons: Reason[], counts: boolean }} Candidate
 */
/** @typedef {{ name: string, candidates: Candidate[] }} Requirement */

/** @returns {{ agent: string, requirements: Requirement[] }} what the file says, with candidates in one list */
function read({ agent, requirements }) {
  const named = ({ category, capability }) => category ?? `${capability.verb}:${capability.resource}`;
  return {
    agent: visible(`${agent.name} ${agent.version}`),
    requirements: requirements.map((each) => {
      const of = (verdict, found) => [found ?? []].flat().map((it) => ({
        id: visible(it.id),
        version: visible(it.version),
        tool: visible(it.tool ?? ""),
        verdict,
        reasons: it.reasons ?? [],
        counts: it.tool !== null,
      }));
      const candidates = [...of("selected", each.selected), ...of("eligible", each.eligible), ...of("rejected", each.rejected)];
      return { name: visible(named(each)), candidates };
    }),
  };
}

/** Replaces characters that can't be seen by their code points. */
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => `<U+${found.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
}

// ── The matrix ──

/**
 * @param {Requirement[]} requirements
 * @returns a row for each server or tool, in the order of their names, with a candidate or nothing for each requirement
 */
function rowsOf(requirements) {
  const rows = new Map();
  requirements.forEach(({ candidates }, column) => {
    for (const candidate of candidates) {
      const key = [candidate.id, candidate.version, candidate.tool];
      const row = rows.get(key.join("\0")) ?? { key, cells: [] };
      row.cells[column] = candidate;
      rows.set(key.join("\0"), row);
    }
  });
  return [...rows.values()].sort((one, other) => compare(one.key, other.key));
}

function nameOf([id, version, tool]) {
  return `${id} ${version}${tool && ` / ${tool}`}`;
}

/** Compares lists of texts by code points. */
function compare(one, other) {
  const at = one.findIndex((text, each) => text !== other[each]);
  if (at < 0) return 0;
  const [a, b] = [[...one[at]], [...other[at]]];
  const first = a.findIndex((character, each) => character !== b[each]);
  if (first < 0) return a.length - b.length;
  return b[first] === undefined ? 1 : a[first].codePointAt(0) - b[first].codePointAt(0);
}

/** @param {Candidate | undefined} candidate */
function words(candidate) {
  if (candidate?.verdict !== "rejected") return candidate?.verdict ?? "";
  return `rejected: ${candidate.reasons.map(({ code }) => code).join(", ")}`;
}

function matrixTable({ requirements }) {
  const head = ["server", "version", "tool", ...requirements.map(({ name }) => name)];
  const rows = rowsOf(requirements).map(({ key, cells }) => [...key, ...requirements.map((_, column) => words(cells[column]))]);
  return [head, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

/** A field of a table (RFC 4180). No spreadsheet takes it for a formula. */
function field(text) {
  const harmless = /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text;
  return /[",;\s]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function matrixPicture({ agent, requirements }) {
  const all = rowsOf(requirements);
  const rows = all.slice(0, ROWS);
  const names = rows.map(({ key }) => nameOf(key));
  const signs = rows.map(({ cells }) => requirements.map((_, column) => sign(cells[column])));
  const begin = MARGIN + width(["server", ...names]) + MARGIN;
  const columns = requirements.map(({ name }, column) => width([name, ...signs.map((row) => row[column])]) + MARGIN);
  const at = columns.map((_, column) => begin + columns.slice(0, column).reduce((sum, each) => sum + each, 0));
  const top = (row) => MARGIN + (row + 1) * LINE;
  const parts = requirements.map(({ name }, column) => label(at[column] + 4, MARGIN, cut(name), "head"));
  rows.forEach(({ cells }, row) => {
    parts.push(label(MARGIN, top(row), cut(names[row]), "", names[row]));
    requirements.forEach(({ name }, column) => {
      const candidate = cells[column];
      if (!candidate) return;
      const place = `x="${at[column]}" y="${top(row)}" width="${columns[column] - 2}" height="${LINE - 2}"`;
      const said = `${names[row]}, ${name}: ${words(candidate)}`;
      parts.push(`<g class="${candidate.verdict}"><title>${escaped(said)}</title><rect ${place} rx="3"/>${label(at[column] + 4, top(row), signs[row][column])}</g>`);
    });
  });
  const left = all.length - rows.length;
  const more = left > 0 ? [`and ${left} more rows`] : [];
  parts.push(...more.map((text) => label(MARGIN, top(rows.length), text, "quiet")));
  const sentences = rows.flatMap(({ cells }, row) => requirements.flatMap(({ name }, column) => (cells[column] ? `${names[row]}, ${name}: ${words(cells[column])}.` : [])));
  const right = columns.reduce((sum, each) => sum + each, begin) + MARGIN;
  return picture(`Matrix of ${agent}`, [...sentences, ...more].join(" "), right, top(rows.length + more.length) + MARGIN, parts);
}

/** @param {Candidate | undefined} candidate */
function sign(candidate) {
  if (!candidate) return "";
  if (candidate.verdict !== "rejected") return candidate.verdict === "selected" ? "✓ selected" : "○ eligible";
  const [first, ...others] = candidate.reasons;
  return `✗ ${first.code}${others.length > 0 ? ` +${others.length}` : ""}`;
}

// ── The funnels ──

function funnels({ agent, requirements }, checks) {
  const parts = [];
  const sentences = [];
  const texts = [];
  let y = MARGIN;
  const line = (text, kind = "") => {
    parts.push(label(WORDS, y, text, kind));
    texts.push(text);
    y += LINE;
  };
  const row = (number, all, text, kind) => {
    // Logarithmic: the last three of 10,000 are seen.
    const bar = Math.round((BAR * Math.log1p(number)) / Math.log1p(Math.max(all, 1)));
    parts.push(`<rect class="bar" x="${MARGIN}" y="${y}" width="${bar}" height="${LINE - 4}" rx="2"/>`);
    parts.push(label(MARGIN + BAR + MARGIN, y, String(number)));
    line(text, kind);
  };
  for (const requirement of requirements) {
    const { name } = requirement;
    const candidates = requirement.candidates.filter(({ counts }) => counts);
    const all = candidates.length;
    parts.push(label(MARGIN, y, cut(name), "head", name));
    y += LINE;
    row(all, all, "all");
    let left = all;
    const steps = [];
    for (const check of checks) {
      const lost = candidates.filter(({ reasons }) => reasons[0]?.code === check);
      if (lost.length === 0) continue;
      left -= lost.length;
      const step = `${check} −${lost.length}`;
      const named = all > NAMED ? [] : lost.map((each) => nameOf([each.id, each.version, each.tool]) + because(each.reasons[0]));
      row(left, all, named.length === 1 ? `${step} ${named[0]}` : step, "no");
      if (named.length > 1) for (const each of named) line(`  ${each}`);
      steps.push(`${[step, named.join("; ")].filter(Boolean).join(" ")}, ${left} left`);
    }
    const selected = candidates.filter(({ verdict }) => verdict === "selected");
    row(selected.length, all, "selected", selected.length > 0 ? "yes" : "no");
    sentences.push(`${name}: ${[`all ${all}`, ...steps, `${selected.length} selected`].join("; ")}.`);
    y += MARGIN;
  }
  return picture(`Funnels of ${agent}`, sentences.join(" "), WORDS + width(texts, Infinity) + MARGIN, y, parts);
}

/** @param {Reason} reason @returns its values in words */
function because({ missing, offered, required }) {
  const listed = (values) => visible([values].flat().join(", "));
  if (missing) return `: no ${listed(missing)}`;
  if (required !== undefined && offered !== undefined) return `: ${listed(offered)}, not ${listed(required)}`;
  return offered?.length > 0 ? `: only ${listed(offered)}` : "";
}

// ── Pictures ──

function picture(title, description, width, height, parts) {
  const size = `${Math.ceil(width)} ${Math.ceil(height)}`;
  const [x, y] = size.split(" ");
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description" viewBox="0 0 ${size}" width="${x}" height="${y}">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>
svg { background: #fff; color: #1b1f24; font: 12px/1 ui-monospace, monospace; }
text { fill: currentcolor; dominant-baseline: central; white-space: pre; }
.head { font-weight: 700; }
.bar { fill: #b6c9d1; }
.yes text, text.yes { fill: #14633a; }
.no text, text.no { fill: #a11d18; }
.quiet { fill: #57606a; }
.selected rect { fill: #bfe6cf; }
.eligible rect { fill: #e6f4eb; }
.rejected rect { fill: #f3e3e2; }
@media (prefers-color-scheme: dark) {
  svg { background: #14181d; color: #e6e9ec; }
  .bar { fill: #34505c; }
  .yes text, text.yes { fill: #7ddba6; }
  .no text, text.no { fill: #ff9c94; }
  .quiet { fill: #9aa4ae; }
  .selected rect { fill: #1d5c3b; }
  .eligible rect { fill: #1b3427; }
  .rejected rect { fill: #43272a; }
}
</style>
${parts.join("\n")}
</svg>
`;
}

/** A line of text. The whole of a text that was cut is its title. */
function label(x, y, text, kind = "", whole = text) {
  const title = whole === text ? "" : `<title>${escaped(whole)}</title>`;
  return `<text${kind && ` class="${kind}"`} x="${x}" y="${y + LINE / 2 - 1}">${title}${escaped(text)}</text>`;
}

function cut(text, longest = LONGEST) {
  const characters = [...text];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : text;
}

/** The width of the longest text. Characters beyond Latin may take two places. */
function width(texts, longest = LONGEST) {
  const lengths = texts.map((text) => [...cut(text, longest)].reduce((sum, it) => sum + (it.codePointAt(0) < 0x1100 ? 1 : 2), 0));
  return Math.ceil(Math.max(4, ...lengths) * CHARACTER) + 8;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
