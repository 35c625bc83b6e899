/**
 * What a token of one's own is for: reading or writing, everywhere or in one group of resources. Writing includes reading. Which group a
 * resource belongs to is said on the resource; who may do what is decided in `access.ts`.
 */
import { choices } from '../model/choices';
import type { Group } from '../../contract/facts';

export const GROUPS: Readonly<Record<Group, string>> = {
  account: 'the account itself: names, e-mail address, preferences',
  training: 'workouts, schedules, sessions and logs',
  nutrition: 'nutrition plans and the diary',
  body: 'body weight',
  catalogue: 'what one adds to the catalogue of exercises, which everybody reads',
};

export type Access = 'read' | 'write';
export type Scope = Access | `${Access}:${Group}`;

const groups = Object.entries(GROUPS) as [Group, string][];

/** As GraphQL calls it. */
export const nameOf = (scope: Scope): string => scope.toUpperCase().replace(':', '_');

const meaning = (access: Access, what: string) => (access === 'read' ? `Reading ${what}.` : `Reading and writing ${what}.`);

export const SCOPES: readonly [Scope, description: string][] = (['read', 'write'] as const).flatMap((access): [Scope, string][] => [
  [access, meaning(access, 'everything')],
  ...groups.map(([group, what]): [Scope, string] => [`${access}:${group}`, meaning(access, what)]),
]);

export const TokenScope = choices(
  'TokenScope',
  'What an access token is for. Everybody reads what is public, without any.',
  SCOPES.map(([scope, description]) => [nameOf(scope), scope, scope, description]),
);

export const isScope = (text: string): text is Scope => SCOPES.some(([scope]) => scope === text);

export const includes = (scopes: ReadonlySet<Scope>, access: Access, group: Group): boolean =>
  scopes.has('write') || scopes.has(`write:${group}`) || (access === 'read' && (scopes.has('read') || scopes.has(`read:${group}`)));
