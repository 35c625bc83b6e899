/** What OPTIONS says, from the facts of the fields; forms and documentation read the same. */
import {
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  parse,
  type FieldNode,
  type GraphQLObjectType,
  type SelectionSetNode,
} from 'graphql';
import { isRequired, type ActionFact, type FieldFact } from '../../contract/facts';
import type { Endpoint } from '../endpoints';
import { MEDIA_TYPES } from './body';
import { MEDIA } from './negotiate';

export type Description = Record<string, unknown>;

const RENDERS = Object.values(MEDIA);

const TYPES: Partial<Record<FieldFact['kind'], string>> = {
  integer: 'integer',
  boolean: 'boolean',
  decimal: 'decimal',
  date: 'date',
  time: 'time',
  datetime: 'datetime',
  choice: 'choice',
  url: 'url',
  image: 'image upload',
  relation: 'field',
  computed: 'field',
};

/** The entry of a field, as Django REST framework's metadata has it. */
function entry(field: FieldFact, help: string | undefined): Description {
  const readOnly = field.restReadOnly;
  const required = !readOnly && isRequired(field);
  const type = readOnly && field.kind === 'choice' ? 'string' : (TYPES[field.kind] ?? 'string');
  const info: Description = { type, required, read_only: readOnly, label: field.label };
  if (help) info.help_text = help;
  if (readOnly) return info;
  if (field.minLength !== undefined) info.min_length = field.minLength;
  if (field.maxLength !== undefined) info.max_length = field.maxLength;
  if (field.min !== undefined) info.min_value = field.min;
  if (field.max !== undefined) info.max_value = field.max;
  if (field.choices) info.choices = field.choices.map(({ value, label }) => ({ value, display_name: label }));
  return info;
}

export const accepted = ({ fields }: Endpoint): Description =>
  Object.fromEntries(fields.filter((field) => !field.hidden).map((field) => [field.rest, entry(field, field.help)]));

/** What an answer shows, nested objects included. */
export function shown({ type, selection, view, resource, fields }: Endpoint, selections: ReadonlyMap<string, string>): Description {
  if (view === resource.views[0])
    return Object.fromEntries(fields.filter((field) => !field.hidden).map((field) => [field.rest, entry(field, field.description)]));
  return ofSelection(type, setOf(selection), selections);
}

export const setOf = (selection: string): SelectionSetNode =>
  (parse(`{ ${selection} }`).definitions[0] as { selectionSet: SelectionSetNode }).selectionSet;

function ofSelection(
  type: GraphQLObjectType,
  { selections: nodes }: SelectionSetNode,
  selections: ReadonlyMap<string, string>,
): Description {
  const described: Description = {};
  for (const node of nodes) {
    if (node.kind === 'FragmentSpread') Object.assign(described, ofSelection(type, setOf(selections.get(node.name.value)!), selections));
    else if (node.kind === 'Field') described[node.alias?.value ?? node.name.value] = ofNode(type, node, selections);
  }
  return described;
}

function ofNode(type: GraphQLObjectType, node: FieldNode, selections: ReadonlyMap<string, string>): Description {
  const field = type.getFields()[node.name.value]!;
  const fact = field.extensions.field;
  if (fact) return entry({ ...fact, restReadOnly: true, check: fact.check }, fact.description);
  const named = getNamedType(field.type);
  const key = node.alias?.value ?? node.name.value;
  const label = `${key[0]!.toUpperCase()}${key.slice(1).replaceAll('_', ' ')}`;
  const info: Description = { type: 'field', required: false, read_only: true, label, help_text: field.description };
  if (!isObjectType(named) || !node.selectionSet) return info;
  const children = ofSelection(named, node.selectionSet, selections);
  if (isListType(getNullableType(field.type)))
    return { ...info, child: { type: 'nested object', required: false, read_only: true, children } };
  return { ...info, type: 'nested object', children };
}

/** What an action is called: the words of its name, where it says nothing else. */
export const titleOf = ({ title, name }: ActionFact): string =>
  title ?? name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** The answer to OPTIONS; `actions` names the method that the caller may use and what it accepts. */
export function describe(name: string, description: string, actions?: Description, fields?: Description): Description {
  return { name, description, renders: RENDERS, parses: MEDIA_TYPES, ...(actions && { actions }), ...(fields && { fields }) };
}
