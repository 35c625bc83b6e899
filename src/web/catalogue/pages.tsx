/** Components of the pages of the catalogue: forms of rows, lists and the history. */
import type { ComponentChildren } from 'preact';
import type { Context } from '../../engine/context';
import { fieldsOf, type Entity, type EntityField } from '../../engine/declare/fields';
import { upperFirst } from '../../engine/declare/inflection';
import { allEntities, resourceOf } from '../../engine/declare/registry';
import { Errors, PostForm, Time } from '../account/fields';
import { FormField } from '../browse/form-field';
import { fieldLabelOf } from '../browse/view/labels';
import { formatControlValue, hasConflict } from '../browse/view/stored-values';
import type { FieldErrors, FormControl } from '../browse/view/view-model';
import type { Visitor } from '../layout';
import { Table } from '../table';
import { labelFieldOf, partPrefixesOf, type FormTexts, type RowForm } from './forms';
import type { CatalogueChange, ListedRow } from './operations';
import { catalogueEntities, cataloguePath, rowNounOf, type CatalogueRequest } from './request';

export const rowTitleOf = (entity: Entity, { id, label }: Pick<ListedRow, 'id' | 'label'>) =>
  label && label !== id ? label : upperFirst(`${rowNounOf(entity)} ${id}`);

export function rowStateOf({ status, isRetired, refusalReason }: Partial<ListedRow>): string {
  const reason = refusalReason ? `: ${refusalReason}` : '';

  if (isRetired) return `Retired${reason}`;
  if (status === 'PENDING') return 'Pending';
  if (status === 'DECLINED') return `Refused${reason}`;

  return status === 'ACCEPTED' ? 'Accepted' : '';
}

/** For the author of a row that is not accepted yet. */
export const PENDING_NOTE = 'Only you see and use it until a curator accepts it.';

export const Problems = ({ errors }: { errors: readonly string[] }) => (
  <Errors title="Nothing was saved." messages={errors} />
);

/** Keys of all inputs of a form, those of a new part included. */
export const inputKeysOf = ({ controls, parts }: RowForm, texts: FormTexts): string[] => [
  ...controls.map(({ key }) => key),
  ...parts.flatMap((part) =>
    [...partPrefixesOf(texts, part), `${part.name}.0.`].flatMap((prefix) =>
      part.controls.map(({ key }) => prefix + key),
    ),
  ),
];

interface RowFormProps {
  action: string;
  visitor: Visitor;
  form: RowForm;
  texts: FormTexts;
  errors: FieldErrors;

  /** Stored texts, if the row was changed after the form was opened. */
  conflictingTexts?: FormTexts;

  /** Version of the row; undefined for a new one. */
  version?: string;

  /** Buttons: names and labels of actions. */
  actions: Readonly<Record<string, string>>;
}

function Fields(props: RowFormProps & { prefix: string; controls: readonly FormControl[] }) {
  const { prefix, texts, errors, conflictingTexts: stored } = props;
  const [firstErrorKey] = Object.keys(errors);
  const idKey = `${prefix}id`;
  // Another part may have taken the place of a removed one.
  const isSamePart = stored?.[idKey]?.[0] === texts[idKey]?.[0];

  return (
    <>
      {props.controls.map((control) => {
        const key = prefix + control.key;
        const storedTexts = stored?.[key] ?? [];
        const isConflict = stored && isSamePart && hasConflict(control, texts[key], storedTexts);

        return (
          <FormField
            control={{ ...control, key }}
            idPrefix="row"
            values={texts[key] ?? []}
            errors={errors[key]}
            hasFocus={key === firstErrorKey}
            storedValue={
              isConflict
                ? { texts: storedTexts, label: formatControlValue(control, storedTexts) }
                : undefined
            }
          />
        );
      })}
    </>
  );
}

/** Inputs of the existing parts, and of one more. */
function Parts({ part, ...props }: RowFormProps & { part: RowForm['parts'][number] }) {
  const prefixes = partPrefixesOf(props.texts, part);
  const title = upperFirst(rowNounOf(part.entity));
  const newPart = (
    <Fields {...props} prefix={`${part.name}.${prefixes.length}.`} controls={part.controls} />
  );

  return (
    <>
      {prefixes.map((prefix, index) => {
        const [id] = props.texts[`${prefix}id`] ?? [];
        const [name = index + 1] = props.texts[prefix + labelFieldOf(part.entity)!] ?? [];
        const hasError = Object.keys(props.errors).some((key) => key.startsWith(prefix));
        const isOpen = prefixes.length === 1 || hasError || props.conflictingTexts !== undefined;

        return (
          <details open={isOpen}>
            <summary>
              {title}: {name}
            </summary>
            <div class="fields">
              {id && <input type="hidden" name={`${prefix}id`} value={id} />}
              <Fields {...props} prefix={prefix} controls={part.controls} />
              <label>
                <input type="checkbox" name={`${prefix}remove`} /> Remove this {title.toLowerCase()}
              </label>
            </div>
          </details>
        );
      })}
      {prefixes.length || !props.form.isNamedByPart ? (
        <details>
          <summary>Add {title.toLowerCase()}</summary>
          <div class="fields">{newPart}</div>
        </details>
      ) : (
        <fieldset class="box fields">
          <legend>{title}</legend>
          {newPart}
        </fieldset>
      )}
    </>
  );
}

export function EditForm(props: RowFormProps) {
  const { form, version } = props;
  const parts = form.parts.map((part) => <Parts {...props} part={part} />);

  return (
    <PostForm action={props.action} visitor={props.visitor} class="fields" noValidate>
      {version !== undefined && <input type="hidden" name="version" value={version} />}
      {form.isNamedByPart && parts}
      <Fields {...props} prefix="" controls={form.controls} />
      {!form.isNamedByPart && parts}
      <div class="row">
        {Object.entries(props.actions).map(([action, label], index) => (
          <button class={index ? 'plain' : undefined} name="action" value={action}>
            {label}
          </button>
        ))}
      </div>
    </PostForm>
  );
}

/** The values of a row that the viewer may not change. */
export function ValueTable({ form, texts }: Pick<RowFormProps, 'form' | 'texts'>) {
  const sections = form.parts.flatMap((part) =>
    partPrefixesOf(texts, part).map((prefix) => ({ prefix, controls: part.controls })),
  );
  const values = [{ prefix: '', controls: form.controls }, ...sections].flatMap(
    ({ prefix, controls }) =>
      controls.map((control) => [
        control.label,
        formatControlValue(control, texts[prefix + control.key] ?? []),
      ]),
  );

  return (
    <Table
      label="Values"
      columns={['Field', 'Value']}
      rows={values.filter(([, value]) => value !== '–')}
    />
  );
}

type Columns = Readonly<Record<string, unknown>>;

/** Text of a stored value: names of choices and of rows in small tables instead of their ids. */
function storedValueText(field: EntityField, columns: Columns, { services }: Context): string {
  const { link, column } = field;
  const isLinked = Object.entries(link?.discriminators ?? {}).every(
    ([name, value]) => columns[name] === value,
  );
  const value = isLinked ? columns[link?.otherColumn ?? column!] : undefined;
  const target = field.target?.();
  const row = target && (services.catalogue.get(target, Number(value)) as Columns | null);
  const choice = field.choices?.find((candidate) => candidate.value === value);
  const text = row?.[labelFieldOf(target!)!] ?? choice?.label ?? value ?? '';

  return text === '' ? '–' : String(text as string);
}

/** The fields of a row, or the id in one of its lists, that a change has changed. */
function ChangedValues(props: { entity: Entity; change: CatalogueChange; context: Context }) {
  const { entity, change, context } = props;
  const [before, after] = [change.before, change.after].map(
    (json) => JSON.parse(json ?? '{}') as Columns,
  ) as [Columns, Columns];
  const isWritten = ({ column, link, readOnly, exclusiveTo }: EntityField) =>
    (column ?? link) && (!readOnly || exclusiveTo === 'rest');
  const values = fieldsOf(entity)
    .filter(isWritten)
    .map((field) => ({
      label: fieldLabelOf(field),
      former: storedValueText(field, before, context),
      current: storedValueText(field, after, context),
    }));

  return (
    <ul class="changes">
      {values
        .filter(({ former, current }) => former !== current)
        .map(({ label, former, current }) => (
          <li>
            {label}: {change.before && `${former} → `}
            {current}
          </li>
        ))}
    </ul>
  );
}

/** The type of a row, or the one to whose lists of ids the links in a table belong. */
const entityOfTable = (table: string): Entity => {
  const entities = allEntities().filter((entity) => !resourceOf(entity)!.isOwned);
  const hasLinks = (entity: Entity) => fieldsOf(entity).some(({ link }) => link?.table === table);

  return entities.find((entity) => resourceOf(entity)!.table === table) ?? entities.find(hasLinks)!;
};

/** Changes with a button that undoes the latest one of each row. */
export function History(props: {
  path: string;
  request: CatalogueRequest;
  changes: readonly CatalogueChange[];
}) {
  const { context, visitor } = props.request;
  const changedRows = new Set<string>();
  const rows = props.changes.map((change): ComponentChildren[] => {
    const entity = entityOfTable(change.table);
    const isLink = resourceOf(entity)!.table !== change.table;
    const title = upperFirst(`${rowNounOf(entity)} ${change.rowId}`);
    const key = isLink ? (change.after ?? change.before)! : title;
    const isLatest = !changedRows.has(key);

    changedRows.add(key);

    return [
      <Time time={change.occurredAt} />,
      change.username || 'deleted user',
      <>
        {catalogueEntities().includes(entity) ? (
          <a href={cataloguePath(entity, change.rowId)}>{title}</a>
        ) : (
          title
        )}{' '}
        {isLink ? 'updated' : change.operation.toLowerCase()}
        <ChangedValues entity={entity} change={change} context={context} />
      </>,
      isLatest && (isLink || change.operation !== 'CREATED') && (
        <PostForm action={props.path} visitor={visitor} class="inline">
          <input type="hidden" name="change" value={change.id} />
          <button
            class="plain"
            name="action"
            value="undo"
            aria-label={`Undo the change of ${title}`}
          >
            Undo
          </button>
        </PostForm>
      ),
    ];
  });

  return rows.length ? (
    <Table label="History" columns={['Time', 'User', 'Change', 'Undo']} rows={rows} />
  ) : (
    <p>No user has changed anything yet.</p>
  );
}

export function RowTable(props: {
  label: string;
  rows: readonly { entity: Entity; row: ListedRow; addedAt?: string }[];
  emptyText: string;
  hasTimes?: boolean;
}) {
  const { label, rows, emptyText, hasTimes } = props;

  if (!rows.length) return <p>{emptyText}</p>;

  return (
    <Table
      label={label}
      columns={['Name', 'State', ...(hasTimes ? ['Added'] : []), 'Type', 'Id']}
      rows={rows.map(({ entity, row, addedAt }) => [
        <a href={cataloguePath(entity, row.id)}>{rowTitleOf(entity, row)}</a>,
        rowStateOf(row),
        ...(hasTimes ? [<Time time={addedAt!} />] : []),
        upperFirst(rowNounOf(entity)),
        row.id,
      ])}
    />
  );
}
