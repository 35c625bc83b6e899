/**
 * Forms of rows of the catalogue and their parts, such as the translations of an exercise, derived
 * from the declared fields.
 */
import type { Context } from '../../engine/context';
import type { InputIssue } from '../../engine/declare/errors';
import { fieldsOf, partFields, type Entity, type EntityField } from '../../engine/declare/fields';
import { findEntity, resourceOf } from '../../engine/declare/registry';
import type { ResultData } from '../../rest/endpoints';
import { writeFormControlsOf } from '../browse/view/controls';
import type { FieldErrors, FormControl } from '../browse/view/view-model';
import { textParameters, type FormValues } from '../html-response';

/** Fields that have actions of their own. */
const DECISION_FIELDS = ['status', 'isRetired', 'refusalReason'];
const MAX_CHOICES = 1_000;

/** Longer texts, such as descriptions, have several lines. */
const MAX_SINGLE_LINE_CHARACTERS = 200;

/** Texts of the inputs of a form, by key. Keys of parts are such as `translations.0.name`. */
export type FormTexts = Record<string, readonly string[]>;

interface RowControl extends FormControl {
  allowNull: boolean;
}

interface PartForm {
  /** Name of the field with the parts. */
  name: string;
  entity: Entity;
  controls: readonly RowControl[];
}

export interface RowForm {
  controls: readonly RowControl[];
  parts: readonly PartForm[];

  /** Whether the row has no name of its own, but that of its first part. */
  isNamedByPart: boolean;
}

export const hasField = (entity: Entity, name: string): boolean =>
  fieldsOf(entity).some((field) => field.name === name);

/** Whether rows contain a file, which these forms do not upload. */
export const hasImage = (entity: Entity): boolean =>
  fieldsOf(entity).some(({ kind }) => kind === 'image');

/** Field by whose value rows are named and found. Undefined if rows have only ids. */
export const labelFieldOf = (entity: Entity): string | undefined =>
  ['name', 'fullName', 'comment'].find((name) => hasField(entity, name));

/** Rows of a small type as choices, or a link to the list in which users find the id. */
function relationOptionsOf(typeName: string, { services: { catalogue } }: Context) {
  const entity = findEntity(typeName)!;
  const { isCachedInMemory, metadata } = resourceOf(entity)!;
  const label = labelFieldOf(entity);
  const rows = isCachedInMemory ? (catalogue.rowsOf(entity) as ResultData[]) : [];

  if (!label || !rows.length || rows.length > MAX_CHOICES) {
    return { endpointName: metadata.views[0]?.restName };
  }

  return { choices: rows.map((row) => ({ value: String(row.id), label: String(row[label]) })) };
}

function controlsOf(entity: Entity, context: Context, parentFieldName?: string): RowControl[] {
  const isEditable = ({ name, kind, readOnly, exclusiveTo }: EntityField) =>
    !readOnly &&
    exclusiveTo !== 'rest' &&
    kind !== 'image' &&
    name !== parentFieldName &&
    !DECISION_FIELDS.includes(name);
  const fields = fieldsOf(entity).filter(isEditable);
  const controls = writeFormControlsOf(
    fields.map((field) => ({ ...field, restKey: field.name, pageReadOnly: false })),
    (typeName) => relationOptionsOf(typeName, context),
  );

  return controls.map((control, index) => ({
    ...control,
    allowNull: fields[index]!.allowNull,
    isSingleLine: control.maxLength! <= MAX_SINGLE_LINE_CHARACTERS,
  }));
}

export const rowFormOf = (entity: Entity, context: Context): RowForm => ({
  controls: controlsOf(entity, context),
  parts: partFields(entity)
    .filter(({ target }) => !hasImage(target()))
    .map(({ name, target, referenceFieldName }) => ({
      name,
      entity: target(),
      controls: controlsOf(target(), context, referenceFieldName),
    })),
  isNamedByPart: fieldsOf(entity).some(({ name, readOnly }) => name === 'name' && readOnly),
});

/** Key prefixes of the parts in the texts: `translations.0.`. */
export const partPrefixesOf = (texts: object, { name }: PartForm): string[] => [
  ...new Set(
    Object.keys(texts)
      .filter((key) => key.startsWith(`${name}.`))
      .map((key) => `${key.split('.', 2).join('.')}.`),
  ),
];

/** Reads a submitted form. Parts that are empty or to be removed are left out. */
export function readFormTexts(values: FormValues, { controls, parts }: RowForm): FormTexts {
  const textsAt = (key: string) =>
    textParameters(values, key).map((text) => text.trim().replaceAll('\r\n', '\n'));
  const texts: FormTexts = Object.fromEntries(controls.map(({ key }) => [key, textsAt(key)]));

  for (const part of parts) {
    const keys = ['id', ...part.controls.map(({ key }) => key)];
    const keptPrefixes = partPrefixesOf(values ?? {}, part).filter(
      (prefix) =>
        textParameters(values, `${prefix}remove`).length === 0 &&
        keys.some((key) => textsAt(prefix + key).some(Boolean)),
    );

    for (const [index, prefix] of keptPrefixes.entries()) {
      for (const key of keys) texts[`${part.name}.${index}.${key}`] = textsAt(prefix + key);
    }
  }

  return texts;
}

const textsOfValue = (value: unknown): string[] => [value ?? []].flat().map(String);

/** Texts of a stored row with its parts. */
export function storedTextsOf(row: ResultData, { controls, parts }: RowForm): FormTexts {
  const texts: FormTexts = {};

  for (const { key } of controls) texts[key] = textsOfValue(row[key]);

  for (const { name, controls: partControls } of parts) {
    for (const [index, partRow] of (row[name] as ResultData[]).entries()) {
      for (const key of ['id', ...partControls.map((control) => control.key)]) {
        texts[`${name}.${index}.${key}`] = textsOfValue(partRow[key]);
      }
    }
  }

  return texts;
}

function valueOf({ kind, multiple, allowNull }: RowControl, texts: readonly string[]): unknown {
  const text = texts.at(-1) ?? '';

  if (multiple) return texts.filter(Boolean);
  if (kind === 'boolean') return text === 'true';
  if (text === '') return kind === 'string' && !allowNull ? '' : null;

  return kind === 'integer' && /^[+-]?\d+$/.test(text) ? Number(text) : text;
}

/** The input of a mutation. Empty inputs of a new row or part are left to the default values. */
export function mutationInputOf(
  { controls, parts, isNamedByPart }: RowForm,
  texts: FormTexts,
  isNew: boolean,
): Record<string, unknown> {
  const valuesAt = (prefix: string, rowControls: readonly RowControl[], omitsEmpty: boolean) =>
    Object.fromEntries(
      rowControls
        .filter(({ key }) => !omitsEmpty || texts[prefix + key]?.some(Boolean))
        .map((control) => [control.key, valueOf(control, texts[prefix + control.key] ?? [])]),
    );
  const input: Record<string, unknown> = valuesAt('', controls, isNew);

  for (const part of parts) {
    const partInputs: object[] = partPrefixesOf(texts, part).map((prefix) => {
      const [id] = texts[`${prefix}id`] ?? [];

      return { ...(id && { id }), ...valuesAt(prefix, part.controls, !id) };
    });

    input[part.name] = isNamedByPart && !partInputs.length ? [{}] : partInputs;
  }

  return input;
}

export type RowIssue = Pick<InputIssue, 'path' | 'code' | 'message'>;

/** Splits errors into those of inputs, by key, and those of the row as a whole. */
export function splitIssues(
  issues: readonly RowIssue[],
  keys: readonly string[],
): { fieldErrors: FieldErrors; rowErrors: string[] } {
  const fieldErrors: Record<string, string[]> = {};
  const rowErrors: string[] = [];

  for (const { path, message } of issues) {
    const fieldPath = path.slice(path[0] === 'input' ? 1 : 0).join('.');
    const key = keys.find((name) => fieldPath === name || fieldPath.startsWith(`${name}.`));

    if (key === undefined) rowErrors.push(message);
    else (fieldErrors[key] ??= []).push(message);
  }

  return { fieldErrors, rowErrors };
}
