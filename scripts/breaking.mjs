/**
 * Compares schema.graphql with the schema of the last release: that of the latest tag or, without a
 * tag, the newest file in `released/`, where each release stores its schema under its version.
 * Fails if a change that breaks clients is not listed with a reason in schema.breaking.json, or if
 * a listed change does not exist (any more). If the version in package.json permits breaking
 * changes (a new major version, or a new minor version before 1.0.0), they are only counted;
 * CHANGELOG.md describes them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema, isInputObjectType, isIntrospectionType, isRequiredArgument } from 'graphql';

const LISTING = 'schema.breaking.json';

/** Returns the output of a git command, or undefined if it fails. */
function git(...words) {
  try {
    return execFileSync('git', words, {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 ** 2,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

const RELEASED_SCHEMAS = 'released';

/** Returns the newest schema in `released/`. */
function newestReleasedSchema() {
  const files = existsSync(RELEASED_SCHEMAS)
    ? readdirSync(RELEASED_SCHEMAS).filter((file) => file.endsWith('.graphql'))
    : [];
  const [file] = files.sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));

  return (
    file && {
      name: file.replace('.graphql', ''),
      text: readFileSync(`${RELEASED_SCHEMAS}/${file}`, 'utf8'),
    }
  );
}

const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*');
const tagged = tag && git('show', `${tag}:schema.graphql`);
const release = tagged ? { name: tag, text: tagged } : newestReleasedSchema();
const listed = existsSync(LISTING) ? JSON.parse(readFileSync(LISTING, 'utf8')) : {};

/** Returns arguments and input fields by path, e.g. `Query.exercises.first`. */
function inputsOf(schema) {
  const inputs = new Map();

  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue;

    for (const field of Object.values(type.getFields?.() ?? {})) {
      if (isInputObjectType(type)) inputs.set(`${type.name}.${field.name}`, field);

      for (const argument of field.args ?? []) {
        inputs.set(`${type.name}.${field.name}.${argument.name}`, argument);
      }
    }
  }

  return inputs;
}

/**
 * Returns messages for inputs that became required because they lost their default value.
 * graphql-inspector does not report them as breaking.
 */
function newlyRequired(before, after) {
  const released = inputsOf(before);

  return [...inputsOf(after)]
    .filter(
      ([path, input]) =>
        isRequiredArgument(input) && released.get(path)?.defaultValue !== undefined,
    )
    .filter(([path, input]) => String(released.get(path).type) === String(input.type))
    .map(([path]) => `'${path}' became required, as it has no default value any more`);
}

const [before, after] = release
  ? [release.text, readFileSync('schema.graphql', 'utf8')].map((text) => buildSchema(text))
  : [];

/** Changes other than those of descriptions. */
const changes = release
  ? (await diff(before, after)).filter(({ type }) => !type.includes('DESCRIPTION'))
  : [];
const breaking = [
  ...changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ message }) => message),
  ...(release ? newlyRequired(before, after) : []),
];

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Returns the part of a version number that compatible versions share. */
const compatibility = (name) => {
  const [major, minor] = name.replace(/^v/, '').split('.');

  return major === '0' ? `0.${minor}` : major;
};

const mayBreak = release !== undefined && compatibility(version) !== compatibility(release.name);

const unlisted = breaking.filter((message) => !listed[message]?.trim());
const stale = Object.keys(listed).filter((message) => !breaking.includes(message));

if (!mayBreak) {
  for (const message of unlisted) console.error(`breaks clients of ${release.name}: ${message}`);
}

for (const message of stale) {
  console.error(`${LISTING} lists what is no breaking change: ${message}`);
}

if (!mayBreak && unlisted.length) {
  console.error(`Undo it, or list it in ${LISTING} as { "<message>": "<why it has to be>" }.`);
}

if (!release) {
  console.log('schema: there is no release tag (v…) and no file in released/ to compare with');
} else {
  console.log(
    `schema: ${changes.length} changes since ${release.name}, ${breaking.length} of them breaking${mayBreak ? `, as ${version} may` : ''}`,
  );
}

process.exitCode = (mayBreak ? 0 : unlisted.length) + stale.length ? 1 : 0;
