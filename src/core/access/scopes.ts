/**
 * Scopes of personal access tokens: read or write access, to everything or to one group of resources. Write access includes read access. Resources
 * declare their group; `access.ts` enforces the scopes.
 */
import { registerChoices } from '../model/choices';
import type { ScopeGroup } from '../../contract/metadata';

const SCOPE_GROUP_DESCRIPTIONS: Readonly<Record<ScopeGroup, string>> = {
  account: 'the account itself: names, e-mail address, preferences',
  training: 'workouts, schedules, sessions and logs',
  nutrition: 'nutrition plans and the diary',
  body: 'body weight',
  catalogue: 'contributions to the catalogue of exercises, which everyone can read',
};

export type AccessKind = 'read' | 'write';
export type Scope = AccessKind | `${AccessKind}:${ScopeGroup}`;

const scopeGroupEntries = Object.entries(SCOPE_GROUP_DESCRIPTIONS) as [ScopeGroup, string][];

export const graphqlScopeName = (scope: Scope): string => scope.toUpperCase().replace(':', '_');

const scopeDescription = (access: AccessKind, subject: string) =>
  access === 'read' ? `Reading ${subject}.` : `Reading and writing ${subject}.`;

export const SCOPES: readonly [Scope, description: string][] = (['read', 'write'] as const).flatMap(
  (access): [Scope, string][] => [
    [access, scopeDescription(access, 'everything')],
    ...scopeGroupEntries.map(([group, subject]): [Scope, string] => [
      `${access}:${group}`,
      scopeDescription(access, subject),
    ]),
  ],
);

export const TokenScope = registerChoices(
  'TokenScope',
  'What an access token permits. Public data can be read without a token.',
  SCOPES.map(([scope, description]) => [graphqlScopeName(scope), scope, scope, description]),
);

export const isScope = (text: string): text is Scope => SCOPES.some(([scope]) => scope === text);

export const scopesInclude = (
  scopes: ReadonlySet<Scope>,
  access: AccessKind,
  group: ScopeGroup,
): boolean =>
  scopes.has('write') ||
  scopes.has(`write:${group}`) ||
  (access === 'read' && (scopes.has('read') || scopes.has(`read:${group}`)));
