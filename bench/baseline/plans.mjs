// Plans checked by ajv. The argument `bytes` or `strings` selects the measured input.

import Ajv from "ajv/dist/2020.js";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [from, folder, warm, timed] = process.argv.slice(2);
const read = (name) => readFileSync(join(folder, name));

// `format` is an annotation, as for the others.
const ajv = new Ajv({ allErrors: true, validateFormats: false });
ajv.addSchema(JSON.parse(read("step.schema.json")));
const validate = ajv.compile(JSON.parse(read("plan.schema.json")));

const lines = read("plans.jsonl").toString().split(/(?<=\n)/).map((line) => Buffer.from(line));
const plans = from === "bytes" ? lines : lines.map(String);

const count = (plan) => {
  // It needs a string.
  validate(JSON.parse(plan));
  return validate.errors?.length ?? 0;
};

const nanoseconds = [];
for (let pass = 0; pass < Number(warm) + Number(timed); pass++) {
  const start = process.hrtime.bigint();
  for (const plan of plans) count(plan);
  if (pass >= Number(warm)) nanoseconds.push(Number(process.hrtime.bigint() - start));
}
console.log(JSON.stringify({ errors: plans.map(count), nanoseconds }));
