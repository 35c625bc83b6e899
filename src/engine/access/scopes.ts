/**
 * Scopes of personal access tokens: read or write access, to everything or to one group of
 * resources. Write access includes read access.
 */
export type AccessKind = 'read' | 'write';
export type Scope = AccessKind | `${AccessKind}:${string}`;

export const graphqlScopeName = (scope: Scope): string => scope.toUpperCase().replace(':', '_');

export const scopesInclude = (
  scopes: ReadonlySet<Scope>,
  access: AccessKind,
  group: string,
): boolean =>
  scopes.has('write') ||
  scopes.has(`write:${group}`) ||
  (access === 'read' && (scopes.has('read') || scopes.has(`read:${group}`)));
