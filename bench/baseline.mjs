/** The committed ratios of quick runs to the hand-written server, by name of row. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('baseline.json', import.meta.url));

/** The share of a ratio in the baseline below which it counts as fallen. */
const MIN_SHARE = 0.75;

export const hasBaseline = () => existsSync(FILE);

export const readBaseline = () => JSON.parse(readFileSync(FILE, 'utf8')).ratios;

/** Whether the ratio of a row is much lower than in the baseline. A row that it lacks is not. */
export const hasFallen = ({ name, ratios }, baseline) =>
  ratios.handWritten < baseline[name] * MIN_SHARE;

/** Writes the ratios to the hand-written server, with three significant digits. */
export function saveBaseline(results) {
  const ratios = Object.fromEntries(
    results
      .filter(({ ratios }) => ratios.handWritten)
      .map(({ name, ratios }) => [name, Number(ratios.handWritten.toPrecision(3))]),
  );

  writeFileSync(FILE, `${JSON.stringify({ node: process.version, ratios }, null, 2)}\n`);
}
