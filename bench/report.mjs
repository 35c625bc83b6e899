/** Output of the benchmark: a table, a JSON file, and a picture of the ratios. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { NAMES } from './servers.mjs';

const COLUMNS = [
  ['row', 41],
  ['server', 13],
  ['req/s', -7],
  ['p50 ms', -7],
  ['p99 ms', -7],
  ['SQL', -4],
  ['bytes', -8],
  ['CPU ms', -7],
  ['DB ms', -7],
  ['ratio', -6],
  ['wanted', -8],
  ['', 12],
];

/** Pads to the width; numbers, with a negative width, at the start. */
const pad = (text, width) => (width < 0 ? text.padStart(-width) : text.padEnd(width));
const lineOf = (cells) =>
  COLUMNS.map(([, width], index) => pad(String(cells[index] ?? ''), width))
    .join(' ')
    .trimEnd();
const fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : '');

export const tableHead = () => lineOf(COLUMNS.map(([title]) => title));

/** One line for each server of a row; those of the others have the ratio of Fitgraph to them. */
export const tableLines = ({ name, results, ratios, wanted }) =>
  Object.entries(results).flatMap(([who, result]) => {
    const ratio = ratios[who];
    const isReached = ratio >= wanted?.[who];
    const verdict = isReached ? 'reached' : 'not reached';
    const line = lineOf([
      who === 'fitgraph' ? name : '',
      NAMES[who],
      fixed(result.rate, result.rate < 100 ? 1 : 0),
      fixed(result.p50, 1),
      fixed(result.p99, 1),
      result.statements,
      result.bytes,
      fixed(result.cpuMs, 2),
      fixed(result.databaseCpuMs, 2),
      fixed(ratio, 2),
      wanted?.[who],
      wanted?.[who] === undefined ? '' : verdict,
    ]);
    const { atRate } = result;

    if (!atRate) return [line];
    const percentiles = [atRate.p50, atRate.p99, atRate.p999].map((value) => fixed(value, 1));

    return [
      line,
      `  ${NAMES[who]} at ${fixed(atRate.rate, 0)} req/s: p50, p99, p99.9 ${percentiles.join(', ')} ms${atRate.rejected ? `, ${atRate.rejected} rejected` : ''}`,
    ];
  });

const BAR = { left: 260, width: 560, height: 14, gap: 4, top: 40 };
const COLORS = { handWritten: '#4477aa', postgraphile: '#cc8844' };
const SCALE = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20];

/** Position of a ratio on a logarithmic scale. */
const positionOf = (ratio) => {
  const [lowest, highest] = [SCALE[0], SCALE.at(-1)];
  const share = Math.log(ratio / lowest) / Math.log(highest / lowest);

  return BAR.left + BAR.width * Math.min(1, Math.max(0, share));
};

const text = (x, y, content, attributes = '') =>
  `<text x="${x}" y="${y}" ${attributes}>${content}</text>`;
const verticalLine = (x, top, bottom, color) =>
  `<line x1="${x}" x2="${x}" y1="${top}" y2="${bottom}" stroke="${color}"/>`;

/** Bars of the ratios of Fitgraph to the other servers, with marks at the wanted ratios. */
function pictureOf(rows) {
  const bars = rows.flatMap(({ name, ratios, wanted }) =>
    Object.entries(ratios).map(([who, ratio]) => ({ name, who, ratio, wanted: wanted?.[who] })),
  );
  const height = BAR.top + bars.length * (BAR.height + BAR.gap) + 10;
  const grid = SCALE.flatMap((value) => [
    verticalLine(positionOf(value), BAR.top - 6, height, value === 1 ? '#888' : '#ddd'),
    text(positionOf(value), BAR.top - 10, value, 'text-anchor="middle"'),
  ]);
  const drawn = bars.flatMap(({ name, who, ratio, wanted }, index) => {
    const y = BAR.top + index * (BAR.height + BAR.gap);
    const end = positionOf(ratio);
    const base = y + BAR.height - 3;

    return [
      text(BAR.left - 8, base, name, 'text-anchor="end"'),
      `<rect x="${BAR.left}" y="${y}" width="${end - BAR.left}" height="${BAR.height}" fill="${COLORS[who]}"/>`,
      text(end + 5, base, ratio.toFixed(2)),
      wanted === undefined ? '' : verticalLine(positionOf(wanted), y, y + BAR.height, '#d00'),
    ];
  });
  const legend = Object.entries(COLORS).map(([who, color], index) =>
    text(8 + index * 130, 14, `to ${NAMES[who]}`, `fill="${color}"`),
  );

  return `<svg xmlns="http://www.w3.org/2000/svg" width="${BAR.left + BAR.width + 60}" height="${height}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#fff"/>
${text(280, 14, 'requests/s of Fitgraph as a multiple; red: wanted')}
${[...legend, ...grid, ...drawn].join('\n')}
</svg>
`;
}

/** Writes results.json and ratios.svg into the folder. */
export function writeResults(folder, options, rows, memoryMb) {
  const [{ model }] = cpus();
  const machine = {
    processor: model,
    processors: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };

  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'results.json'),
    `${JSON.stringify({ finishedAt: new Date(), machine, options, memoryMb, rows }, null, 2)}\n`,
  );
  writeFileSync(join(folder, 'ratios.svg'), pictureOf(rows));
}
