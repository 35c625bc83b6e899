import { Kind, type DocumentNode, type FieldNode, type OperationDefinitionNode } from 'graphql';
import { selectedFieldNodesByName } from '../declare/selections';
import { responseKeyOf } from './cost';

const MAX_NAME_CHARACTERS = 200;

/** Root field nodes of an operation, including nodes in fragments. */
export function rootFields(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): FieldNode[] {
  const fragments = document.definitions.filter(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  const fragmentsByName = Object.fromEntries(
    fragments.map((fragment) => [fragment.name.value, fragment]),
  );

  return [...selectedFieldNodesByName([operation], fragmentsByName).values()].flat();
}

/** Response key of the first root field, at which errors of a whole operation are reported. */
export function firstResponseKey(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): string {
  return responseKeyOf(rootFields(document, operation)[0]!);
}

/**
 * Name of an operation in traces. An anonymous operation is named after its first selection, if
 * that is a field.
 */
export function operationNameOf({ name, selectionSet }: OperationDefinitionNode): string {
  const [firstSelection] = selectionSet.selections;

  const firstFieldName = firstSelection?.kind === Kind.FIELD ? firstSelection.name.value : '';

  return (name?.value ?? firstFieldName).slice(0, MAX_NAME_CHARACTERS);
}
