// Reads the case files: one JSON case per line, one file per phase. Phases have the order of the
// file names.

const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { parseSpelled } = require('./numbers');

/**
 * Returns [{ name, cases }]. Numbers in expectations keep their spelling. Throws if there are no
 * cases, if a file mixes phases or if an id occurs twice.
 */
function loadPhases(directory) {
  const files = readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();

  if (files.length === 0) throw new Error(`there are no cases in ${directory}`);
  const seen = new Set();

  return files.map((file) => {
    const cases = readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => ({ ...JSON.parse(line), expect: parseSpelled(line).expect }));
    const [{ phase: name }] = cases;

    for (const { id, phase } of cases) {
      if (phase !== name) {
        throw new Error(`${file}: case ${id} belongs to phase ${phase}, not ${name}`);
      }

      if (seen.has(id)) throw new Error(`${file}: case ${id} occurs twice`);
      seen.add(id);
    }

    return { name, cases };
  });
}

module.exports = { loadPhases };
