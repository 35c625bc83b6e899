/**
 * Writes the reference tables of the guides, each between `<!-- table:NAME -->` and `<!-- /table
 * -->`, from the declarations in dist/src. With `--check` it changes nothing and fails if a guide
 * is out of date.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { createCommands } from '../dist/src/cli/commands.js';
import { createServeCommand } from '../dist/src/cli/serve.js';
import { ERROR_CODES } from '../dist/src/shared/error-codes.js';
import { DOCUMENT_LIMITS } from '../dist/src/graphql/document-limits.js';
import { SETTINGS } from '../dist/src/shared/settings.js';
import { ClusterMetrics } from '../dist/src/telemetry/cluster-metrics.js';
import { Metrics } from '../dist/src/telemetry/metrics.js';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const code = (text) => `\`${text}\``;

/** Returns a row for a command, or rows for its subcommands, as `name <argument> [--option]`. */
function commandRows(command, parents = []) {
  const names = [...parents, command.name()];

  if (command.commands.length) {
    return command.commands.flatMap((child) => commandRows(child, names));
  }

  const parameters = command.registeredArguments.map((argument) => `<${argument.name()}>`);

  return [
    [
      code(
        [...names, ...parameters, ...command.options.map(({ flags }) => `[${flags}]`)].join(' '),
      ),
      command.description(),
    ],
  ];
}

/**
 * Metrics read their values at scrapes only, so they can be listed without the services that
 * provide the values.
 */
const { metricsByDocsSection } = new Metrics(
  { database: { statementServices: {}, writeLimiters: {} } },
  {},
);
const metricsTable = (...registries) => [
  ['metric', 'kind', 'meaning'],
  ...registries.flatMap((registry) =>
    registry.getMetricsAsArray().map(({ name, type, help }) => [code(name), type, help]),
  ),
];

const TABLES = {
  commands: [
    ['command', 'what it does'],
    ...[createServeCommand(), ...createCommands()].flatMap((command) => commandRows(command)),
  ],
  'document-limits': [
    ['maximum', 'of'],
    ...DOCUMENT_LIMITS.map(([maximum, of]) => [maximum.toLocaleString('en'), of]),
  ],
  'error-codes': [
    ['code', 'HTTP status', 'meaning'],
    ...Object.entries(ERROR_CODES).map(([name, { status, meaning }]) => [
      code(name),
      status ?? '–',
      meaning,
    ]),
  ],
  'metrics-database': metricsTable(metricsByDocsSection.database.registry),
  'metrics-processes': metricsTable(
    metricsByDocsSection.processes.registry,
    new ClusterMetrics(() => 0).registry,
  ),
  'metrics-requests': metricsTable(metricsByDocsSection.requests.registry),
  'metrics-subscriptions': metricsTable(metricsByDocsSection.subscriptions.registry),
  settings: [
    ['variable', 'default', 'meaning'],
    ...Object.values(SETTINGS).map(({ name, shownDefault, meaning }) => [
      code(name),
      shownDefault || '–',
      meaning,
    ]),
  ],
};

/** The code refers to guides by path (`docs/rest.md#lists`), the guides to each other by links. */
const linkGuides = (text) => text.replace(/\bdocs\/(([\w-]+\.md)(?:#[\w-]+)?)/g, '[$2]($1)');
const rowText = (cells) =>
  `| ${cells.map((cell) => linkGuides(String(cell)).replaceAll('|', '\\|')).join(' | ')} |\n`;
const tableText = ([head, ...rows]) => [head, head.map(() => '-'), ...rows].map(rowText).join('');

const unused = new Set(Object.keys(TABLES));
let outdated = 0;

for (const guide of readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)) {
  const present = readFileSync(guide, 'utf8');
  const text = present.replace(
    /(<!-- table:([\w-]+) -->\n).*?(<!-- \/table -->)/gs,
    (_, start, name, end) => {
      if (!TABLES[name]) throw new Error(`${guide}: there is no table ${name}`);
      unused.delete(name);
      return `${start}\n${tableText(TABLES[name])}\n${end}`;
    },
  );

  if (text === present) continue;
  const formatted = await format(text, { ...(await resolveConfig(guide)), filepath: guide });

  if (formatted === present) continue;
  outdated += 1;
  if (process.argv.includes('--check')) console.error(`${guide} is out of date: run npm run docs`);
  else writeFileSync(guide, formatted);
}

if (unused.size > 0) throw new Error(`no guide contains ${[...unused].join(', ')}`);
if (process.argv.includes('--check') && outdated > 0) process.exitCode = 1;
