/** The page of a row of the catalogue: its values, the decisions about it, and its history. */
import { fieldsOf, partFields, type Entity } from '../../engine/declare/fields';
import { resourceOf } from '../../engine/declare/registry';
import { isMergeable } from '../../engine/write/references';
import { PostForm } from '../account/fields';
import type { Answer, UserPage } from '../account/user-pages';
import { FormField } from '../browse/form-field';
import { localImagePath, thumbnailSrcOf } from '../browse/images';
import type { FormControl } from '../browse/view/view-model';
import { textOf } from '../html-response';
import {
  hasField,
  hasImage,
  mutationInputOf,
  readFormTexts,
  splitIssues,
  storedTextsOf,
  type FormTexts,
  type RowIssue,
} from './forms';
import type { CatalogueOperations, ListedRow, LoadedRow, Outcome } from './operations';
import {
  EditForm,
  History,
  inputKeysOf,
  PENDING_NOTE,
  Problems,
  rowStateOf,
  rowTitleOf,
  ValueTable,
} from './pages';
import { cataloguePath, entityOf, listCrumbOf, rowNounOf, type CatalogueRequest } from './request';

const CONFLICT_ISSUE: RowIssue = {
  path: [],
  code: 'CONFLICT',
  message:
    'Somebody has changed this row since you opened it. Your entries are kept: choose a value for each field that differs, then save again.',
};
const UNAVAILABLE_ISSUE: RowIssue = {
  path: [],
  code: 'INVALID',
  message: 'This cannot be done, or not any more. You see the row as it is now.',
};

/** Actions that the user can take on a row in its present state. */
function availableActions(
  { isCurator }: CatalogueOperations,
  entity: Entity,
  { status, isRetired }: ListedRow,
): Set<string> {
  const { metadata } = resourceOf(entity)!;
  const isWritable = isCurator || status === 'PENDING';
  const isAvailable = {
    save: isWritable && metadata.updateMutationName !== undefined,
    accept: isCurator && status !== undefined && status !== 'ACCEPTED',
    refuse: isCurator && status === 'PENDING',
    merge: isCurator && isMergeable(entity),
    retire: isCurator && isRetired === false,
    restore: isCurator && isRetired === true,
    delete: isWritable && metadata.deleteMutationName !== undefined,
    undo: isCurator,
  };

  return new Set(Object.entries(isAvailable).flatMap(([name, value]) => (value ? [name] : [])));
}

/** What a request shows again after it was rejected. */
interface Rejection {
  issues: readonly RowIssue[];

  /** Texts of the form with the values of the row, if it was submitted. */
  texts?: FormTexts;
}

interface SectionProps {
  request: CatalogueRequest;
  entity: Entity;
  row: LoadedRow['row'];
  errors: ReturnType<typeof splitIssues>['fieldErrors'];
}

const REASON_CONTROL: FormControl = {
  key: 'refusalReason',
  label: 'Reason',
  kind: 'string',
  required: true,
  maxLength: 500,
  helpText: 'Its author reads it.',
};

function mergeControlOf(entity: Entity, similarRows: readonly ListedRow[]): FormControl {
  const matches = similarRows.map(({ id, label }) => ({ value: id, label: `${label} (${id})` }));

  return {
    key: 'into',
    label: `Id of the ${rowNounOf(entity)} that remains`,
    kind: 'integer',
    required: true,
    ...(matches.length && {
      matches,
      helpText: 'Enter an id, or choose a row with a similar name.',
    }),
  };
}

/** Actions with forms of their own, in the order in which the page shows them. */
const ACTION_SECTIONS: Readonly<Record<string, { title: string; text?: string; label: string }>> = {
  refuse: { title: 'Refuse', label: 'Refuse' },
  merge: {
    title: 'Merge',
    text: 'All that refers to this row will refer to the other one, and this one is retired.',
    label: 'Merge',
  },
  retire: {
    title: 'Retire',
    text: 'It disappears from lists and searches. Existing rows still show it.',
    label: 'Retire',
  },
  restore: { title: 'Retired', label: 'Use again' },
  delete: {
    title: 'Delete',
    text: 'A row to which others refer cannot be deleted.',
    label: 'Delete',
  },
};

/** A form with one button, and an input if the action needs one. */
function ActionSection(props: SectionProps & { action: string; control?: FormControl }) {
  const { request, entity, row, action, control, errors } = props;
  const { title, text, label } = ACTION_SECTIONS[action]!;
  const isDeletion = action === 'delete';
  const content = (
    <>
      {text && <p>{text}</p>}
      <PostForm
        action={cataloguePath(entity, row.id)}
        visitor={request.visitor}
        class="fields"
        noValidate
      >
        <input type="hidden" name="version" value={row.version} />
        {control && (
          <FormField
            control={control}
            idPrefix={action}
            values={[textOf(request.body, control.key)]}
            errors={errors[control.key]}
          />
        )}
        <div>
          <button class={isDeletion ? 'danger' : 'plain'} name="action" value={action}>
            {label}
          </button>
        </div>
      </PostForm>
    </>
  );

  return isDeletion ? (
    <details>
      <summary>{title}</summary>
      {content}
    </details>
  ) : (
    <>
      <h2>{title}</h2>
      {content}
    </>
  );
}

/** The image of the row, or links to the images that are its parts. */
function Images({ request: { context }, entity, row }: SectionProps) {
  const path = localImagePath(row.image ?? '', context.request.baseUrl);
  const parts = partFields(entity).filter(({ target }) => hasImage(target()));

  return (
    <>
      {path && <img src={thumbnailSrcOf(path, 'small')} alt={`Image ${row.id}`} class="figure" />}
      {parts.flatMap(({ name, target }) =>
        (row[name] as ListedRow[]).map(({ id }) => (
          <p>
            <a href={cataloguePath(target(), id)}>{rowTitleOf(target(), { id, label: '' })}</a>
          </p>
        )),
      )}
    </>
  );
}

const linkTablesOf = (entity: Entity) =>
  fieldsOf(entity).flatMap(({ link, readOnly }) => (link && !readOnly ? link.table : []));

/** Changes of the row, of its lists of ids and of its parts. */
const loadHistory = ({ operations }: CatalogueRequest, entity: Entity, row: LoadedRow['row']) =>
  operations.findChanges({
    or: [
      {
        table: { in: [resourceOf(entity)!.table, ...linkTablesOf(entity)] },
        rowId: { eq: Number(row.id) },
      },
      ...partFields(entity).map(({ name, target }) => ({
        table: { eq: resourceOf(target())!.table },
        rowId: { in: (row[name] as ListedRow[]).map(({ id }) => Number(id)) },
      })),
    ],
  });

export async function renderRowPage(
  request: CatalogueRequest,
  rejection?: Rejection,
): Promise<UserPage> {
  const { operations, visitor, params } = request;
  const entity = entityOf(request);
  const { row, form } = await operations.load(entity, params.id!);
  const path = cataloguePath(entity, row.id);
  const storedTexts = storedTextsOf(row, form);
  const texts = rejection?.texts ?? storedTexts;
  const keys = [...inputKeysOf(form, texts), REASON_CONTROL.key, 'into'];
  const { fieldErrors: errors, rowErrors } = splitIssues(rejection?.issues ?? [], keys);
  const actions = availableActions(operations, entity, row);
  const props = { request, entity, row, errors };
  const similarRows = actions.has('merge') ? await operations.findSimilar(entity, row) : [];
  const controls: Record<string, FormControl | undefined> = {
    refuse: hasField(entity, REASON_CONTROL.key) ? REASON_CONTROL : undefined,
    merge: mergeControlOf(entity, similarRows),
  };
  const isConflict = rejection?.issues.includes(CONFLICT_ISSUE);

  return {
    title: rowTitleOf(entity, row),
    crumbs: [listCrumbOf(entity)],
    hasTimes: actions.has('undo'),
    isRejection: rejection !== undefined,
    content: (
      <>
        {row.status && <p class="lead">{rowStateOf(row)}</p>}
        {row.status === 'PENDING' && !operations.isCurator && <p>{PENDING_NOTE}</p>}
        {rejection && <Problems errors={rowErrors} />}
        <Images {...props} />
        {actions.has('save') ? (
          <EditForm
            action={path}
            visitor={visitor}
            form={form}
            texts={texts}
            errors={errors}
            conflictingTexts={isConflict ? storedTexts : undefined}
            version={row.version}
            actions={{ save: 'Save', ...(actions.has('accept') && { accept: 'Save and accept' }) }}
          />
        ) : (
          <ValueTable form={form} texts={storedTexts} />
        )}
        {Object.keys(ACTION_SECTIONS)
          .filter((action) => actions.has(action))
          .map((action) => (
            <ActionSection {...props} action={action} control={controls[action]} />
          ))}
        {actions.has('undo') && (
          <>
            <h2>History</h2>
            <History
              path={path}
              request={request}
              changes={(await loadHistory(request, entity, row)).rows}
            />
          </>
        )}
      </>
    ),
  };
}

/** Takes an action on a row. Returns the page with the problems, or the path of the next page. */
export async function changeRow(request: CatalogueRequest): Promise<Answer> {
  const { operations, body, params } = request;
  const entity = entityOf(request);
  const loadedRow = await operations.load(entity, params.id!);
  const { row, form } = loadedRow;
  const action = textOf(body, 'action');
  const texts = ['save', 'accept'].includes(action) ? readFormTexts(body, form) : undefined;

  if (!availableActions(operations, entity, row).has(action)) {
    return renderRowPage(request, { issues: [UNAVAILABLE_ISSUE] });
  }

  if (![row.version, ''].includes(textOf(body, 'version'))) {
    return renderRowPage(request, { issues: [CONFLICT_ISSUE], texts });
  }

  const { errors } = await runAction(request, { entity, ...loadedRow, action, texts });
  const issues = errors.map((issue) => (issue.path[0] === 'ifVersion' ? CONFLICT_ISSUE : issue));

  if (issues.length) return renderRowPage(request, { issues, texts });
  if (action === 'delete') return `${cataloguePath(entity)}?done=delete`;
  const id = action === 'merge' ? encodeURIComponent(textOf(body, 'into')) : row.id;

  return `${cataloguePath(entity, id)}?done=${action}`;
}

async function runAction(
  { operations, body }: CatalogueRequest,
  options: LoadedRow & { entity: Entity; action: string; texts?: FormTexts },
): Promise<Outcome> {
  const { entity, row, form, action, texts = {} } = options;
  const { id } = row;
  const refusalReason = textOf(body, REASON_CONTROL.key);
  const update = (input: object) => operations.update(entity, id, input, row.version);

  switch (action) {
    case 'save':
      return update(mutationInputOf(form, texts, false));
    case 'accept':
      return update({ ...mutationInputOf(form, texts, false), status: 'ACCEPTED' });
    case 'refuse':
      if (!hasField(entity, REASON_CONTROL.key)) return update({ status: 'DECLINED' });
      if (refusalReason) return update({ status: 'DECLINED', refusalReason });

      return { errors: [{ path: [REASON_CONTROL.key], code: 'REQUIRED', message: '' }] };
    case 'merge':
      return operations.merge(entity, id, textOf(body, 'into'));
    case 'undo':
      return operations.undo(textOf(body, 'change'));
    case 'delete':
      return operations.delete(entity, id, row.version);
    default:
      return update({ isRetired: action === 'retire' });
  }
}
