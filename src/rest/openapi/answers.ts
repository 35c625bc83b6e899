/** Selections as JSON schemas: a selection set is the body of an answer, so its schema follows from the types of its fields. */
import {
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { selectionOf, type Action, type Endpoint, type Endpoints, type FreeEndpoint } from '../endpoints';
import { ANY, component, described, orNull, shownValue, type Schema } from './schemas';

const setOf = (selection: string): SelectionSetNode => (parse(`{ ${selection} }`).definitions[0] as OperationDefinitionNode).selectionSet;

export class Answers {
  /** Views by the names of their fragments. */
  private readonly views: ReadonlyMap<string, Endpoint>;

  constructor({ resources }: Endpoints) {
    this.views = new Map([...resources].map(([name, endpoint]) => [name.replaceAll('-', '_'), endpoint]));
  }

  /** A row as a view shows it. */
  row({ type, selection }: Endpoint): Schema {
    return described(this.object(type, setOf(selection)), type.description);
  }

  /** The answer of an action or of a free endpoint: the value of its field. */
  value({ field, fact }: Action | FreeEndpoint): Schema {
    return this.selected(field, fact.selection === undefined ? undefined : setOf(fact.selection));
  }

  /** The value of a field with this selection; without one, all of it is shown. */
  selected({ type, extensions }: GraphQLField<unknown, unknown>, set: SelectionSetNode | undefined): Schema {
    return this.ofType(type, (named) => {
      if (isLeafType(named)) return shownValue(extensions.field, named);
      return isObjectType(named) ? this.object(named, set ?? setOf(selectionOf(named))) : ANY;
    });
  }

  private ofType(type: GraphQLOutputType, inner: (named: GraphQLOutputType) => Schema): Schema {
    if (!isNonNullType(type)) return orNull(this.present(type, inner));
    return this.present(type.ofType, inner);
  }

  private present(type: GraphQLOutputType, inner: (named: GraphQLOutputType) => Schema): Schema {
    return isListType(type) ? { type: 'array', items: this.ofType(type.ofType, inner) } : inner(getNamedType(type));
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
