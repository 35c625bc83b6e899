/**
 * Compares schema.graphql with the schema of the last release: that of the latest tag or, without a
 * tag, the newest file in `released/`, where each release stores its schema under its version.
 * Fails if a change that breaks clients is not listed with a reason in schema.breaking.json, or if
 * a listed change does not exist (any more). Changed costs and deprecations are only printed. If the
 * version in package.json permits breaking changes (a new major version, or a new minor version
 * before 1.0.0), they are only counted; CHANGELOG.md describes them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema, Kind, parse, print } from 'graphql';

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

/** Returns the definitions of a schema by schema coordinate, e.g. `Query.exercises(first:)`. */
function definitionsOf(text) {
  const definitions = new Map();

  const collectArguments = (coordinate, { arguments: argumentNodes = [] }) => {
    for (const node of argumentNodes) definitions.set(`${coordinate}(${node.name.value}:)`, node);
  };

  for (const node of parse(text).definitions) {
    const isDirective = node.kind === Kind.DIRECTIVE_DEFINITION;
    const name = `${isDirective ? '@' : ''}${node.name?.value}`;

    definitions.set(name, node);
    if (isDirective) collectArguments(name, node);

    for (const member of node.fields ?? node.values ?? []) {
      const coordinate = `${name}.${member.name.value}`;

      definitions.set(coordinate, member);
      collectArguments(coordinate, member);
    }
  }

  return definitions;
}

/** Applied directives that clients rely on. To remove or change one is a breaking change. */
const RELIABLE_DIRECTIVES = ['semanticNonNull', 'specifiedBy'];

/**
 * Returns messages for changed default values and applied directives, which graphql-inspector does
 * not report as breaking, or without naming the changed definition.
 */
function changedAnnotations(before, after) {
  const breaking = [];
  const harmless = [];
  const released = definitionsOf(before);

  for (const [coordinate, node] of definitionsOf(after)) {
    const releasedNode = released.get(coordinate);

    if (!releasedNode) continue;
    const [oldDefault, newDefault] = [releasedNode, node].map(({ defaultValue }) =>
      defaultValue ? print(defaultValue) : 'none',
    );

    if (oldDefault !== newDefault) {
      breaking.push(
        `The default value of '${coordinate}' changed from ${oldDefault} to ${newDefault}`,
      );
    }

    const [oldDirectives, newDirectives] = [releasedNode, node].map(
      ({ directives = [] }) =>
        new Map(directives.map((directive) => [directive.name.value, print(directive)])),
    );

    for (const name of new Set([...oldDirectives.keys(), ...newDirectives.keys()])) {
      const [oldText, newText] = [oldDirectives.get(name), newDirectives.get(name)];

      if (oldText === newText) continue;
      const isBreaking = oldText !== undefined && RELIABLE_DIRECTIVES.includes(name);

      (isBreaking ? breaking : harmless).push(
        `The directive of '${coordinate}' changed from ${oldText ?? 'none'} to ${newText ?? 'none'}`,
      );
    }
  }

  return { breaking, harmless };
}

const [before, after] = release ? [release.text, readFileSync('schema.graphql', 'utf8')] : [];

/** Changes other than those of descriptions. */
const changes = release
  ? (await diff(buildSchema(before), buildSchema(after))).filter(
      ({ type }) => !type.includes('DESCRIPTION'),
    )
  : [];
const annotations = release ? changedAnnotations(before, after) : { breaking: [], harmless: [] };
const breaking = [
  ...changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ message }) => message),
  ...annotations.breaking,
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
  for (const message of annotations.harmless) console.log(message);
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
