/** Whether a document asks for the schema itself. */
import { BREAK, SchemaMetaFieldDef, TypeMetaFieldDef, visit, type DocumentNode } from 'graphql';

const META = [SchemaMetaFieldDef.name, TypeMetaFieldDef.name];

export function introspects(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Field({ name }) {
      if (!META.includes(name.value)) return undefined;
      found = true;
      return BREAK;
    },
  });
  return found;
}
