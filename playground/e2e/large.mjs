// An index of 10,000 servers, and a manifest of 20 requirements that it satisfies.

export const SERVERS = 10_000;
export const REQUIREMENTS = 20;
const CATEGORIES = 40;

const RESIDENCIES = ["any", "us-only", "eu-only", ["eu-only", "us-only"]];
const SENSITIVITIES = ["public", "internal", "confidential", "pii.low", "pii.moderate", "pii.high"];

const servers = Array.from({ length: SERVERS }, (_, number) => {
  const category = number % CATEGORIES;
  // Unlike the remainders above, so that every combination occurs.
  const mixed = Math.floor(number / CATEGORIES) + category;
  return {
    id: `server-${String(number).padStart(5, "0")}`,
    version: `1.${mixed % 7}.0`,
    endpoint: `https://server-${number}.example/mcp`,
    categories: [`category-${category}`, `category-${(category + 7) % CATEGORIES}`],
    scopes: [`read:${category}`, `write:${category}`, "list", "search"].slice(mixed % 5 === 0 ? 1 : 0),
    data: { residency: RESIDENCIES[mixed % RESIDENCIES.length], maxSensitivity: SENSITIVITIES[mixed % SENSITIVITIES.length] },
    trust: { signed: mixed % 3 !== 0, publisher: `Publisher ${number % 100}` },
  };
});

export const INDEX = `${JSON.stringify({ servers }, null, 2)}\n`;

export const MANIFEST = `---
name: large-agent
version: 1.0.0
requires:
  mcp:
${Array.from({ length: REQUIREMENTS }, (_, number) => `    - category: category-${number}
      permissions: [read:${number}, write:${number}]
`).join("")}constraints:
  data:
    sensitivity: internal
    residency: us-only
---

# An agent that needs a lot
`;
