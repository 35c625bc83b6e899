import type { BodyFact } from '../../contract/facts';
/** Selections as JSON schemas: a selection set is the body of an answer, so its schema follows from the types of its fields. */
import {
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLNullableType,
  type GraphQLObjectType,
  type SelectionSetNode,
} from 'graphql';
import { setOf } from '../dialect/options';
import { fragmentName, selectionOf, type Endpoint, type Endpoints } from '../endpoints';
import { ANY, component, described, orNull, shownValue, type Schema } from './schemas';

type Field = GraphQLField<unknown, unknown>;

/** A type that is not null: the schema of what it names, in as many lists as there are around it. */
function listsOf(type: GraphQLNullableType, inner: (named: GraphQLNamedType) => Schema): Schema {
  if (!isListType(type)) return inner(getNamedType(type));
  const items = listsOf(getNullableType(type.ofType), inner);
  return { type: 'array', items: isNonNullType(type.ofType) ? items : orNull(items) };
}

function withMaps(value: Schema, maps: readonly string[]): Schema {
  const shown = { ...(value.properties as Record<string, Schema>) };
  for (const name of maps) {
    const { properties } = shown[name]!.items as { properties: { value: Schema } };
    shown[name] = { type: 'object', additionalProperties: properties.value };
  }
  return maps.length ? { ...value, properties: shown } : value;
}

export class Answers {
  /** Views by the names of their fragments. */
  private readonly views: ReadonlyMap<string, Endpoint>;

  constructor({ resources }: Endpoints) {
    this.views = new Map([...resources].map(([name, endpoint]) => [fragmentName(name), endpoint]));
  }

  row({ type, selection }: Endpoint): Schema {
    return described(this.object(type, setOf(selection)), type.description);
  }

  /** The answer of an action or of a free endpoint: the value of its field, as its fact shows it. */
  value({ field, fact: { selection, key, maps = [] } }: { field: Field; fact: BodyFact }): Schema {
    const value = withMaps(this.present(field, selection === undefined ? undefined : setOf(selection)), maps);
    const required = isNonNullType(field.type);
    if (key === undefined) return required ? value : orNull(value);
    // Null is shown as an object without the key.
    return { type: 'object', properties: { [key]: value }, ...(required && { required: [key] }) };
  }

  /** The value of a field with this selection; without one, all of it is shown. */
  selected(field: Field, set: SelectionSetNode | undefined): Schema {
    const value = this.present(field, set);
    return isNonNullType(field.type) || field.extensions.neverNullInRest ? value : orNull(value);
  }

  /** A value that is not null. */
  private present({ type, extensions }: Field, set: SelectionSetNode | undefined): Schema {
    return listsOf(getNullableType(type), (named) => {
      if (isLeafType(named)) return shownValue(extensions.field, named);
      return isObjectType(named) ? this.object(named, set ?? setOf(selectionOf(named))) : ANY;
    });
  }

  private object(type: GraphQLObjectType, set: SelectionSetNode): Schema {
    const [first, ...others] = set.selections;
    // What is shown just as a view shows it is named after the view.
    if (first?.kind === 'FragmentSpread' && !others.length) return component(this.views.get(first.name.value)!.view.rest);
    const properties = this.properties(type, set);
    return { type: 'object', properties, required: Object.keys(properties) };
  }

  private properties(type: GraphQLObjectType, { selections }: SelectionSetNode): Record<string, Schema> {
    const found: Record<string, Schema> = {};
    for (const node of selections) {
      if (node.kind === 'InlineFragment') Object.assign(found, this.properties(type, node.selectionSet));
      else if (node.kind === 'FragmentSpread')
        Object.assign(found, this.properties(type, setOf(this.views.get(node.name.value)!.selection)));
      else {
        const field = type.getFields()[node.name.value]!;
        const key = node.alias?.value ?? node.name.value;
        found[key] = described(this.selected(field, node.selectionSet), field.extensions.field?.description ?? field.description);
      }
    }
    return found;
  }
}
