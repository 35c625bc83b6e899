/**
 * Compares schema.graphql with that of the last release: of its tag, or where there is none the newest file of `released/`, to which a release
 * copies the schema under its version. A change that breaks clients fails unless schema.breaking.json lists it with its reason; so does a
 * listing of a change that is none (any more). Where the version of package.json may break clients of that release, as a major version may, or
 * a minor one before 1.0.0, breaking changes are only counted; CHANGELOG.md tells them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema, isInputObjectType, isIntrospectionType, isRequiredArgument } from 'graphql';

const LISTING = 'schema.breaking.json';

/** The answer of git, undefined where it has none. */
function git(...words) {
  try {
    return execFileSync('git', words, { encoding: 'utf8', maxBuffer: 64 * 1024 ** 2, stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

const KEPT = 'released';

/** The newest of the kept files. */
function kept() {
  const files = existsSync(KEPT) ? readdirSync(KEPT).filter((file) => file.endsWith('.graphql')) : [];
  const [file] = files.sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  return file && { name: file.replace('.graphql', ''), text: readFileSync(`${KEPT}/${file}`, 'utf8') };
}

const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*');
const tagged = tag && git('show', `${tag}:schema.graphql`);
const release = tagged ? { name: tag, text: tagged } : kept();
const listed = existsSync(LISTING) ? JSON.parse(readFileSync(LISTING, 'utf8')) : {};

/** Arguments and input fields by path, e.g. `Query.exercises.first`. */
function inputsOf(schema) {
  const inputs = new Map();
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields?.() ?? {})) {
      if (isInputObjectType(type)) inputs.set(`${type.name}.${field.name}`, field);
      for (const argument of field.args ?? []) inputs.set(`${type.name}.${field.name}.${argument.name}`, argument);
    }
  }
  return inputs;
}

/** Messages for inputs that lost their default and so became required, which graphql-inspector takes for a change that breaks no client. */
function newlyRequired(before, after) {
  const released = inputsOf(before);
  return [...inputsOf(after)]
    .filter(([path, input]) => isRequiredArgument(input) && released.get(path)?.defaultValue !== undefined)
    .filter(([path, input]) => String(released.get(path).type) === String(input.type))
    .map(([path]) => `'${path}' became required, as it has no default value any more`);
}

const [before, after] = release ? [release.text, readFileSync('schema.graphql', 'utf8')].map((text) => buildSchema(text)) : [];
const changes = release ? await diff(before, after) : [];
const breaking = [
  ...changes.filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking).map(({ message }) => message),
  ...(release ? newlyRequired(before, after) : []),
];

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
/** Versions with the same one are compatible. */
const compatibility = (name) => {
  const [major, minor] = name.replace(/^v/, '').split('.');
  return major === '0' ? `0.${minor}` : major;
};
const mayBreak = release !== undefined && compatibility(version) !== compatibility(release.name);

const unlisted = breaking.filter((message) => !listed[message]?.trim());
const stale = Object.keys(listed).filter((message) => !breaking.includes(message));
if (!mayBreak) for (const message of unlisted) console.error(`breaks clients of ${release.name}: ${message}`);
for (const message of stale) console.error(`${LISTING} lists what is no breaking change: ${message}`);
if (!mayBreak && unlisted.length) console.error(`Undo it, or list it in ${LISTING} as { "<message>": "<why it has to be>" }.`);

if (!release) console.log('schema: there is no release tag (v…) and no file in released/ to compare with');
else
  console.log(
    `schema: ${changes.length} changes since ${release.name}, ${breaking.length} of them breaking${mayBreak ? `, as ${version} may` : ''}`,
  );
process.exitCode = (mayBreak ? 0 : unlisted.length) + stale.length ? 1 : 0;
