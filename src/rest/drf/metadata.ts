/**
 * Endpoint metadata for OPTIONS, HTML forms and the OpenAPI document, derived from the field
 * metadata of the schema.
 */
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
import { isRequired, type ActionMetadata, type FieldMetadata } from '../../shared/metadata';
import type { ResourceEndpoint } from '../endpoints';
import { BODY_MEDIA_TYPES } from './body';
import { MEDIA_TYPE_BY_FORMAT } from './negotiation';

export type HttpOptionsMetadata = Record<string, unknown>;

const RESPONSE_MEDIA_TYPES = Object.values(MEDIA_TYPE_BY_FORMAT);

const METADATA_TYPE_BY_FIELD_KIND: Partial<Record<FieldMetadata['kind'], string>> = {
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
function simpleMetadata(field: FieldMetadata, helpText: string | undefined): HttpOptionsMetadata {
  const readOnly = field.restReadOnly;
  const required = !readOnly && isRequired(field);
  let type = METADATA_TYPE_BY_FIELD_KIND[field.kind] ?? 'string';

  if (readOnly && field.kind === 'choice') type = 'string';

  const optionsMetadata: HttpOptionsMetadata = {
    type,
    required,
    read_only: readOnly,
    label: field.label,
  };

  if (helpText) optionsMetadata.help_text = helpText;
  if (readOnly) return optionsMetadata;
  if (field.minLength !== undefined) optionsMetadata.min_length = field.minLength;
  if (field.maxLength !== undefined) optionsMetadata.max_length = field.maxLength;
  if (field.min !== undefined) optionsMetadata.min_value = field.min;
  if (field.max !== undefined) optionsMetadata.max_value = field.max;

  if (field.choices) {
    optionsMetadata.choices = field.choices.map(({ value, label }) => ({
      value,
      display_name: label,
    }));
  }

  return optionsMetadata;
}

export const requestFieldsMetadata = ({ fields }: ResourceEndpoint): HttpOptionsMetadata =>
  Object.fromEntries(
    fields
      .filter((field) => !field.hiddenInRest)
      .map((field) => [field.restKey, simpleMetadata(field, field.helpText)]),
  );

export function responseFieldsMetadata(
  { type, selection, view, resource, fields }: ResourceEndpoint,
  selectionByFragmentName: ReadonlyMap<string, string>,
): HttpOptionsMetadata {
  if (view === resource.views[0]) {
    return Object.fromEntries(
      fields
        .filter((field) => !field.hiddenInRest)
        .map((field) => [field.restKey, simpleMetadata(field, field.description)]),
    );
  }

  return describeSelection(type, parseSelectionSet(selection), selectionByFragmentName);
}

export const parseSelectionSet = (selection: string): SelectionSetNode =>
  (parse(`{ ${selection} }`).definitions[0] as { selectionSet: SelectionSetNode }).selectionSet;

function describeSelection(
  type: GraphQLObjectType,
  { selections: nodes }: SelectionSetNode,
  selectionByFragmentName: ReadonlyMap<string, string>,
): HttpOptionsMetadata {
  const fieldsMetadata: HttpOptionsMetadata = {};

  for (const node of nodes) {
    if (node.kind === 'FragmentSpread') {
      Object.assign(
        fieldsMetadata,
        describeSelection(
          type,
          parseSelectionSet(selectionByFragmentName.get(node.name.value)!),
          selectionByFragmentName,
        ),
      );
    } else if (node.kind === 'Field') {
      fieldsMetadata[node.alias?.value ?? node.name.value] = describeField(
        type,
        node,
        selectionByFragmentName,
      );
    }
  }

  return fieldsMetadata;
}

function describeField(
  type: GraphQLObjectType,
  node: FieldNode,
  selectionByFragmentName: ReadonlyMap<string, string>,
): HttpOptionsMetadata {
  const field = type.getFields()[node.name.value]!;
  const metadata = field.extensions.field;

  if (metadata) {
    return simpleMetadata(
      { ...metadata, restReadOnly: true, check: metadata.check },
      metadata.description,
    );
  }

  const namedType = getNamedType(field.type);
  const responseKey = node.alias?.value ?? node.name.value;
  const label = `${responseKey[0]!.toUpperCase()}${responseKey.slice(1).replaceAll('_', ' ')}`;
  const optionsMetadata: HttpOptionsMetadata = {
    type: 'field',
    required: false,
    read_only: true,
    label,
    help_text: field.extensions.restDescription ?? field.description,
  };

  if (!isObjectType(namedType) || !node.selectionSet) return optionsMetadata;
  const children = describeSelection(namedType, node.selectionSet, selectionByFragmentName);

  if (isListType(getNullableType(field.type))) {
    return {
      ...optionsMetadata,
      child: { type: 'nested object', required: false, read_only: true, children },
    };
  }

  return { ...optionsMetadata, type: 'nested object', children };
}

/** Title of an action, by default derived from its name (`some_action` → `Some action`). */
export const actionTitle = ({ title, name }: ActionMetadata): string =>
  title ?? name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

/**
 * Builds the body of an OPTIONS response. `actions` lists the accepted fields under the write
 * method that the client may use.
 */
export function endpointMetadata(
  name: string,
  description: string,
  actions?: HttpOptionsMetadata,
  fields?: HttpOptionsMetadata,
): HttpOptionsMetadata {
  return {
    name,
    description,
    renders: RESPONSE_MEDIA_TYPES,
    parses: BODY_MEDIA_TYPES,
    ...(actions && { actions }),
    ...(fields && { fields }),
  };
}
