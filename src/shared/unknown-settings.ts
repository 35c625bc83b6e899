/**
 * Detection of misspelt settings: environment variables whose names look like settings of Fitgraph.
 * Other programs have variables, too, so a name must be similar to a setting or begin with a word
 * with which several settings begin.
 */
import leven from 'leven';
import { SETTINGS, type EnvironmentVariables } from './settings';

export interface UnknownSetting {
  name: string;

  /** Name of the most similar setting, if any. */
  suggestion?: string;
}

const MAX_EDIT_DISTANCE = 2;

/**
 * Minimum length of names that are compared. Shorter ones, such as PORT, resemble too many others.
 */
const MIN_COMPARED_LENGTH = 6;

/**
 * Variables of OpenTelemetry are not reported, because the standard defines many that are not
 * settings of Fitgraph
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 */
const OPENTELEMETRY_PREFIX = 'OTEL';

/**
 * Environment variables that Kubernetes and Docker create for services. They are not reported,
 * although the variables of a service called "database" look like settings.
 */
const SERVICE_VARIABLE_PATTERN = /_SERVICE_(?:HOST|PORT)|_PORT(?:_|$)/;

const SETTING_NAMES = Object.values(SETTINGS).map(({ name }) => name);
const firstWord = (name: string) => name.split('_', 1)[0]!;
const SHARED_FIRST_WORDS = new Set(
  SETTING_NAMES.map(firstWord).filter(
    (word, index, words) => word !== OPENTELEMETRY_PREFIX && words.indexOf(word) !== index,
  ),
);

function findSimilarSetting(name: string): string | undefined {
  const settingsByDistance = SETTING_NAMES.filter(
    ({ length }) => Math.min(length, name.length) >= MIN_COMPARED_LENGTH,
  )
    .map((setting) => ({ setting, distance: leven(name.toUpperCase(), setting) }))
    .sort((a, b) => a.distance - b.distance);
  const [mostSimilar] = settingsByDistance;

  return mostSimilar && mostSimilar.distance <= MAX_EDIT_DISTANCE ? mostSimilar.setting : undefined;
}

export function findUnknownSettings(variables: EnvironmentVariables): UnknownSetting[] {
  return Object.keys(variables)
    .filter((name) => !SETTING_NAMES.includes(name) && !SERVICE_VARIABLE_PATTERN.test(name))
    .map((name) => ({ name, suggestion: findSimilarSetting(name) }))
    .filter(
      ({ name, suggestion }) =>
        suggestion !== undefined || (name.includes('_') && SHARED_FIRST_WORDS.has(firstWord(name))),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export const describeUnknownSetting = ({ name, suggestion }: UnknownSetting): string =>
  `the environment variable ${name} is unknown${suggestion === undefined ? '' : `: did you mean ${suggestion}?`}`;
