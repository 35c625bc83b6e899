/**
 * Routes of the catalogue: users contribute foods and exercises, curators write all types. The
 * pages run the GraphQL operations that programs use, and work without JavaScript.
 */
import type { RequestHandler, Router } from 'express';
import { contributorTableOf } from '../../engine/access/access';
import { notFoundError } from '../../engine/declare/errors';
import type { Entity } from '../../engine/declare/fields';
import { withArticle } from '../../engine/declare/inflection';
import { resourceOf } from '../../engine/declare/registry';
import { Field, NextLink } from '../account/fields';
import type { Answer, ForUsers, UserHandler, UserPage } from '../account/user-pages';
import { listPath } from '../browse/view/page-routes';
import { textOf, textParameters, type FormValues } from '../html-response';
import {
  hasField,
  hasImage,
  labelFieldOf,
  mutationInputOf,
  readFormTexts,
  rowFormOf,
  splitIssues,
  type FormTexts,
  type RowIssue,
} from './forms';
import { CatalogueOperations } from './operations';
import { EditForm, History, inputKeysOf, PENDING_NOTE, Problems, RowTable } from './pages';
import {
  CATALOGUE_PATH,
  CATALOGUE_START,
  catalogueEntities,
  cataloguePath,
  CHANGES_PATH,
  contributedEntities,
  entityOf,
  listCrumbOf,
  listTitleOf,
  rowNounOf,
  type CatalogueRequest,
} from './request';
import { changeRow, renderRowPage } from './row-page';

const QUEUE_EMPTY_TEXT = 'Nothing awaits a decision.';

/** Notices by the action that has led to a page, in the parameter `done`. */
const NOTICES: Readonly<Record<string, string>> = {
  create: 'Added.',
  save: 'Saved.',
  accept: 'Accepted. Everyone sees it now.',
  refuse: 'Refused. Its author can read the reason.',
  merge: 'Merged. The rows that referred to the other one refer to this one now.',
  retire: 'Retired.',
  restore: 'It is in use again.',
  delete: 'Deleted.',
  undo: 'The change was undone.',
};

const addLabelOf = (entity: Entity) => `Add ${withArticle(rowNounOf(entity))}`;

/** Link to the form of a new row. Images are uploaded on the page of their REST endpoint. */
function AddLink({ entity }: { entity: Entity }) {
  const path = hasImage(entity)
    ? listPath(resourceOf(entity)!.metadata.views[0]!.restName)
    : cataloguePath(entity, 'new');

  return (
    <a class="button" href={path}>
      {addLabelOf(entity)}
    </a>
  );
}

/** Rows that the user has added, with their present states, the latest first. */
async function renderContributions({ operations, query }: CatalogueRequest) {
  const entities = contributedEntities();
  const after = textOf(query, 'after') || undefined;
  const { rows: changes, nextCursor } = await operations.findChanges(
    {
      operation: { eq: 'CREATED' },
      table: { in: entities.map((entity) => resourceOf(entity)!.table) },
    },
    after,
  );
  const contributions = entities.map(async (entity) => {
    const ownChanges = changes.filter(({ table }) => table === resourceOf(entity)!.table);
    const ids = ownChanges.map(({ rowId }) => rowId);
    const { rows } = await operations.list(entity, { id: { in: ids } });

    return rows.map((row) => ({
      entity,
      row,
      addedAt: ownChanges.find(({ rowId }) => String(rowId) === row.id)!.occurredAt,
    }));
  });

  const rows = (await Promise.all(contributions)).flat();

  return (
    <>
      <h2>Your contributions</h2>
      <RowTable
        label="Your contributions"
        rows={rows.sort((a, b) => b.addedAt.localeCompare(a.addedAt))}
        emptyText={
          after || nextCursor ? 'None of these exist any more.' : 'You have added nothing yet.'
        }
        hasTimes
      />
      <NextLink label="Next" query={{ after: nextCursor }} />
    </>
  );
}

/** The rows that await a decision, and links to all types and to the history. */
async function renderCuration({ operations }: CatalogueRequest) {
  const queues = await Promise.all(
    catalogueEntities()
      .filter(contributorTableOf)
      .map(async (entity) => ({
        entity,
        ...(await operations.list(entity, { status: { eq: 'PENDING' } })),
      })),
  );

  return (
    <>
      <h2>Queue</h2>
      <RowTable
        label="Queue"
        rows={queues.flatMap(({ entity, rows }) => rows.map((row) => ({ entity, row })))}
        emptyText={QUEUE_EMPTY_TEXT}
      />
      {queues
        .filter(({ nextCursor }) => nextCursor)
        .map(({ entity }) => (
          <p>
            <a href={`${cataloguePath(entity)}?pending=yes`}>
              {listTitleOf(entity)}: all that await a decision
            </a>
          </p>
        ))}
      <h2>All types</h2>
      <ul class="found">
        {catalogueEntities().map((entity) => (
          <li>
            <a href={cataloguePath(entity)}>{listTitleOf(entity)}</a>
          </li>
        ))}
      </ul>
      <h2>History</h2>
      <p>
        <a href={CHANGES_PATH}>Latest changes of all types</a>
      </p>
    </>
  );
}

async function renderStart(request: CatalogueRequest): Promise<UserPage> {
  const { isCurator } = request.operations;

  return {
    title: CATALOGUE_START.label,
    hasTimes: !isCurator,
    content: (
      <>
        <ul class="cards">
          {contributedEntities().map((entity) => (
            <li>
              <h2>
                <a href={cataloguePath(entity)}>{listTitleOf(entity)}</a>
              </h2>
              <p>Search, and add what is missing.</p>
              <p>
                <AddLink entity={entity} />
              </p>
            </li>
          ))}
        </ul>
        {await (isCurator ? renderCuration(request) : renderContributions(request))}
      </>
    ),
  };
}

async function renderList(request: CatalogueRequest): Promise<UserPage> {
  const { operations, query } = request;
  const entity = entityOf(request);
  const [search, pending, after] = ['search', 'pending', 'after'].map(
    (name) => textOf(query, name) || undefined,
  );
  const isSearchable = labelFieldOf(entity) && resourceOf(entity)!.lookupTableSize === undefined;
  const { rows, nextCursor } = await operations.list(entity, {
    ...(isSearchable && { search }),
    ...(pending && hasField(entity, 'status') && { status: { eq: 'PENDING' } }),
    after,
  });

  return {
    title: listTitleOf(entity),
    content: (
      <>
        {isSearchable && (
          <form class="fields filters">
            <Field name="search" label="Search" value={search} />
            <div>
              <button class="plain">Search</button>
            </div>
          </form>
        )}
        <RowTable
          label={listTitleOf(entity)}
          rows={rows.map((row) => ({ entity, row }))}
          emptyText={pending ? QUEUE_EMPTY_TEXT : 'Nothing was found.'}
        />
        <NextLink label="Next" query={{ search, pending, after: nextCursor }} />
        <p>
          <AddLink entity={entity} />
        </p>
      </>
    ),
  };
}

function renderNew(
  request: CatalogueRequest,
  { texts, issues }: { texts: FormTexts; issues?: readonly RowIssue[] },
): UserPage {
  const { context, operations, visitor } = request;
  const entity = entityOf(request);
  const form = rowFormOf(entity, context);
  const { fieldErrors, rowErrors } = splitIssues(issues ?? [], inputKeysOf(form, texts));

  return {
    title: addLabelOf(entity),
    crumbs: [listCrumbOf(entity)],
    isRejection: issues !== undefined,
    content: (
      <>
        {!operations.isCurator && <p>{PENDING_NOTE}</p>}
        {issues && <Problems errors={rowErrors} />}
        <EditForm
          action={cataloguePath(entity, 'new')}
          visitor={visitor}
          form={form}
          texts={texts}
          errors={fieldErrors}
          actions={{ create: 'Add' }}
        />
      </>
    ),
  };
}

/** Texts of the query string, with which programs fill in the form of a new row. */
const textsOfQuery = (query: FormValues): FormTexts =>
  Object.fromEntries(Object.keys(query ?? {}).map((name) => [name, textParameters(query, name)]));

async function createRow(request: CatalogueRequest): Promise<Answer> {
  const { context, operations, body } = request;
  const entity = entityOf(request);
  const form = rowFormOf(entity, context);
  const texts = readFormTexts(body, form);
  const { errors, row } = await operations.create(entity, mutationInputOf(form, texts, true));

  if (errors.length) return renderNew(request, { texts, issues: errors });

  return `${cataloguePath(entity, row!.id)}?done=create`;
}

async function renderChanges(
  request: CatalogueRequest,
  issues?: readonly RowIssue[],
): Promise<UserPage> {
  const after = textOf(request.query, 'after') || undefined;
  const { rows, nextCursor } = await request.operations.findChanges({}, after);

  return {
    title: 'Latest changes',
    hasTimes: true,
    isRejection: issues !== undefined,
    content: (
      <>
        {issues && <Problems errors={issues.map(({ message }) => message)} />}
        <History path={CHANGES_PATH} request={request} changes={rows} />
        <NextLink label="Next" query={{ after: nextCursor }} />
      </>
    ),
  };
}

async function undoChange(request: CatalogueRequest): Promise<Answer> {
  const { errors } = await request.operations.undo(textOf(request.body, 'change'));

  return errors.length ? renderChanges(request, errors) : `${CHANGES_PATH}?done=undo`;
}

export function addCatalogueRoutes(
  router: Router,
  parseForm: RequestHandler,
  forUsers: ForUsers,
): void {
  const forContributors = (handle: UserHandler<CatalogueRequest>) =>
    forUsers(async (request) => {
      const operations = new CatalogueOperations(request);
      const page = await handle({ ...request, operations });
      const done = textOf(request.query, 'done');

      if (typeof page === 'string' || page.isRejection || !Object.hasOwn(NOTICES, done)) {
        return page;
      }

      return { ...page, notice: NOTICES[done] };
    });

  const forCurators = (handle: UserHandler<CatalogueRequest>) =>
    forContributors((request) => {
      if (!request.operations.isCurator) throw notFoundError();

      return handle(request);
    });
  const newPath = `${CATALOGUE_PATH}/:type/new`;
  const rowPath = `${CATALOGUE_PATH}/:type/:id`;

  router.get(CATALOGUE_PATH, forContributors(renderStart));
  router.get(CHANGES_PATH, forCurators(renderChanges));
  router.post(CHANGES_PATH, parseForm, forCurators(undoChange));
  router.get(`${CATALOGUE_PATH}/:type`, forContributors(renderList));
  router.get(
    newPath,
    forContributors((request) => renderNew(request, { texts: textsOfQuery(request.query) })),
  );
  router.post(newPath, parseForm, forContributors(createRow));
  router.get(rowPath, forContributors(renderRowPage));
  router.post(rowPath, parseForm, forContributors(changeRow));
}
