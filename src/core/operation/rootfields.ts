/** The root fields of an operation, and its name. */
import { Kind, type DocumentNode, type FieldNode, type OperationDefinitionNode } from 'graphql';
import { selectedFieldNodesByName } from '../read/queryplan';
import { responseKeyOf } from './cost';

const MAX_NAME_CHARACTERS = 200;

/** Returns the root field nodes of an operation, including those of fragments. */
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

/** Returns the response key of the first root field, at which errors of a whole operation are reported. */
export function firstResponseKey(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): string {
  return responseKeyOf(rootFields(document, operation)[0]!);
}

/** Returns the name of an operation for traces; of an anonymous operation, the name of its first field. */
export function operationNameOf({ name, selectionSet }: OperationDefinitionNode): string {
  const [firstSelection] = selectionSet.selections;
  return (
    name?.value ?? (firstSelection?.kind === Kind.FIELD ? firstSelection.name.value : '')
  ).slice(0, MAX_NAME_CHARACTERS);
}
