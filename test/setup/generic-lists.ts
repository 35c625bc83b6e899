/**
 * Lists, reads and changes rows of any type over GraphQL. Only listed types have pages and filters;
 * a profile is read and updated as the viewer's.
 */
import type { Entity } from '../../src/engine/declare/fields';
import { resourceOf } from '../../src/engine/declare/registry';
import { nodeIdOf } from '../../src/engine/declare/node';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import type { Person } from './person';

const listOf = (entity: Entity) =>
  buildGraphQLSchema().getQueryType()!.getFields()[resourceOf(entity)!.pluralName];

export const isListed = (entity: Entity): boolean => listOf(entity) !== undefined;

export const hasPages = (entity: Entity): boolean =>
  listOf(entity)?.args.some(({ name }) => name === 'where') ?? false;

/** Reads a row of any type. */
export async function readRow(
  person: Person,
  entity: Entity,
  id: number,
  selection: string,
): Promise<any> {
  const document = `query ($id: ID!) { row: node(nodeId: $id) { ... on ${entity.name} { ${selection} } } }`;

  return (await person.ask(document, { id: nodeIdOf(entity.name, id) })).row;
}

/**
 * Returns the mutation that updates a row, with `$id`, `$input` and `$ifVersion`. Types with one
 * row per user take no id.
 */
export function updateOf(entity: Entity, payload: string): string {
  const { viewerMutationName: viewerMutationName, metadata } = resourceOf(entity)!;
  const [idVariable, idArgument, name] = viewerMutationName
    ? ['', '', viewerMutationName]
    : ['$id: ID!, ', 'id: $id, ', metadata.updateMutationName];

  return `mutation (${idVariable}$input: ${entity.name}Patch!, $ifVersion: String) { made: ${name}(${idArgument}input: $input, ifVersion: $ifVersion) ${payload} }`;
}
