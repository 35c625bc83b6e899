/** Endpoint metadata for OPTIONS, HTML forms and the OpenAPI document, derived from the field metadata of the schema. */
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
import { isRequired, type ActionMetadata, type FieldMetadata } from '../../contract/metadata';
import type { Endpoint } from '../endpoints';
import { BODY_MEDIA_TYPES } from './body';
import { MEDIA_TYPE_BY_FORMAT } from './negotiation';

export type OptionsMetadata = Record<string, unknown>;

const RESPONSE_MEDIA_TYPES = Object.values(MEDIA_TYPE_BY_FORMAT);

const METADATA_TYPES: Partial<Record<FieldMetadata['kind'], string>> = {
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

/** Describes one field in the format of Django REST framework's `SimpleMetadata`. */
function fieldOptionsMetadata(field: FieldMetadata, helpText: string | undefined): OptionsMetadata {
  const readOnly = field.restReadOnly;
  const required = !readOnly && isRequired(field);
  const type = readOnly && field.kind === 'choice' ? 'string' : (METADATA_TYPES[field.kind] ?? 'string');
  const info: OptionsMetadata = { type, required, read_only: readOnly, label: field.label };
  if (helpText) info.help_text = helpText;
  if (readOnly) return info;
  if (field.minLength !== undefined) info.min_length = field.minLength;
  if (field.maxLength !== undefined) info.max_length = field.maxLength;
  if (field.min !== undefined) info.min_value = field.min;
  if (field.max !== undefined) info.max_value = field.max;
  if (field.choices) info.choices = field.choices.map(({ value, label }) => ({ value, display_name: label }));
  return info;
}

export const requestFieldsMetadata = ({ fields }: Endpoint): OptionsMetadata =>
  Object.fromEntries(
    fields.filter((field) => !field.hiddenInRest).map((field) => [field.restKey, fieldOptionsMetadata(field, field.helpText)]),
  );

export function responseFieldsMetadata(
  { type, selection, view, resource, fields }: Endpoint,
  selections: ReadonlyMap<string, string>,
): OptionsMetadata {
  if (view === resource.views[0])
    return Object.fromEntries(
      fields.filter((field) => !field.hiddenInRest).map((field) => [field.restKey, fieldOptionsMetadata(field, field.description)]),
    );
  return describeSelection(type, parseSelectionSet(selection), selections);
}

export const parseSelectionSet = (selection: string): SelectionSetNode =>
  (parse(`{ ${selection} }`).definitions[0] as { selectionSet: SelectionSetNode }).selectionSet;

function describeSelection(
  type: GraphQLObjectType,
  { selections: nodes }: SelectionSetNode,
  selections: ReadonlyMap<string, string>,
): OptionsMetadata {
  const descriptions: OptionsMetadata = {};
  for (const node of nodes) {
    if (node.kind === 'FragmentSpread')
      Object.assign(descriptions, describeSelection(type, parseSelectionSet(selections.get(node.name.value)!), selections));
    else if (node.kind === 'Field') descriptions[node.alias?.value ?? node.name.value] = describeField(type, node, selections);
  }
  return descriptions;
}

function describeField(type: GraphQLObjectType, node: FieldNode, selections: ReadonlyMap<string, string>): OptionsMetadata {
  const field = type.getFields()[node.name.value]!;
  const metadata = field.extensions.field;
  if (metadata) return fieldOptionsMetadata({ ...metadata, restReadOnly: true, check: metadata.check }, metadata.description);
  const namedType = getNamedType(field.type);
  const key = node.alias?.value ?? node.name.value;
  const label = `${key[0]!.toUpperCase()}${key.slice(1).replaceAll('_', ' ')}`;
  const info: OptionsMetadata = { type: 'field', required: false, read_only: true, label, help_text: field.description };
  if (!isObjectType(namedType) || !node.selectionSet) return info;
  const children = describeSelection(namedType, node.selectionSet, selections);
  if (isListType(getNullableType(field.type)))
    return { ...info, child: { type: 'nested object', required: false, read_only: true, children } };
  return { ...info, type: 'nested object', children };
}

/** Returns the title of an action, by default derived from its name (`some_action` → `Some action`). */
export const actionTitle = ({ title, name }: ActionMetadata): string =>
  title ?? name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** Builds the body of an OPTIONS response. `actions` maps the write method that the client may use to the fields that it accepts. */
export function endpointMetadata(name: string, description: string, actions?: OptionsMetadata, fields?: OptionsMetadata): OptionsMetadata {
  return {
    name,
    description,
    renders: RESPONSE_MEDIA_TYPES,
    parses: BODY_MEDIA_TYPES,
    ...(actions && { actions }),
    ...(fields && { fields }),
  };
}
