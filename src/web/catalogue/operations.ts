/** The GraphQL operations of the pages of the catalogue. */
import type { GraphQLError } from 'graphql';
import { isCurator } from '../../engine/access/access';
import { notFoundError, type ArgumentError } from '../../engine/declare/errors';
import { partFields, type Entity } from '../../engine/declare/fields';
import { upperFirst } from '../../engine/declare/inflection';
import { resourceOf } from '../../engine/declare/registry';
import { hasWritableFields } from '../../engine/schema/inputs';
import type { ResultData } from '../../rest/endpoints';
import type { UserRequest } from '../account/user-pages';
import { hasField, hasImage, labelFieldOf, rowFormOf, type RowForm, type RowIssue } from './forms';

const PAGE_SIZE = 50;

export interface CatalogueChange {
  id: string;
  table: string;
  rowId: number;
  operation: 'CREATED' | 'UPDATED' | 'DELETED';
  occurredAt: string;
  username: string;

  /** The columns of the row as JSON. */
  before: string | null;
  after: string | null;
}

export interface ListedRow {
  id: string;
  label: string;
  status?: string;
  isRetired?: boolean;
  refusalReason?: string | null;
}

/** A page of a list, with the cursor of the next one. */
interface RowPage<Row> {
  rows: Row[];
  nextCursor?: string;
}

export interface LoadedRow {
  row: ResultData & ListedRow;
  form: RowForm;
}

export interface Outcome {
  errors: readonly RowIssue[];
  row?: { id: string };
}

const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';
const DECISION_SELECTION = ['status', 'isRetired', 'refusalReason'];

const listSelectionOf = (entity: Entity): string =>
  [
    'id',
    `label: ${labelFieldOf(entity) ?? 'id'}`,
    ...DECISION_SELECTION.filter((name) => hasField(entity, name)),
  ].join(' ');

const toRowPage = <Row>({ nodes, pageInfo }: ResultData): RowPage<Row> => ({
  rows: nodes,
  nextCursor: pageInfo.hasNextPage ? pageInfo.endCursor : undefined,
});

/** Errors that a form shows: invalid values, and limits of the user. Others are thrown. */
function issuesOf(errors: readonly GraphQLError[]): RowIssue[] {
  return errors.flatMap((error): RowIssue[] => {
    const { code, inputErrors } = error.extensions;

    if (code === 'TOO_MANY_REQUESTS') {
      return [{ path: [], code: 'INVALID', message: error.message }];
    }

    if (!inputErrors) throw error;

    return (inputErrors as ArgumentError[]).map((issue) => ({ ...issue, code: 'INVALID' }));
  });
}

export class CatalogueOperations {
  constructor(private readonly request: UserRequest) {}

  get isCurator(): boolean {
    return isCurator(this.request.context, 'write');
  }

  private async query(text: string, variables?: Record<string, unknown>): Promise<ResultData> {
    const { data, errors } = await this.request.execute(text, variables);

    if (errors) throw errors[0]!;

    return data as ResultData;
  }

  /** Executes a mutation field. `declarations` are those of the variables. */
  private async mutate(
    field: string,
    declarations: string,
    variables: Record<string, unknown>,
    selection = '',
  ): Promise<Outcome> {
    const { data, errors } = await this.request.execute(
      `mutation ${declarations} { outcome: ${field} { ${selection} errors { path code message } } }`,
      variables,
    );

    return errors ? { errors: issuesOf(errors) } : (data as ResultData).outcome;
  }

  async list(
    entity: Entity,
    { search, after, ...conditions }: Record<string, unknown>,
    first = PAGE_SIZE,
  ): Promise<RowPage<ListedRow>> {
    const { pluralName, lookupTableSize } = resourceOf(entity)!;
    const selection = listSelectionOf(entity);

    if (lookupTableSize !== undefined) {
      return { rows: (await this.query(`{ rows: ${pluralName} { ${selection} } }`)).rows };
    }

    const where = {
      ...conditions,
      ...(Boolean(search) && { [labelFieldOf(entity)!]: { search } }),
    };
    const { page } = await this.query(
      `query ($first: Int, $after: String, $where: ${entity.name}Where) { page: ${pluralName}(first: $first, after: $after, where: $where) { nodes { ${selection} } ${PAGE_INFO} } }`,
      { first, after, where },
    );

    return toRowPage(page);
  }

  /** Accepted rows with similar names, into which a row may be merged. */
  async findSimilar(entity: Entity, { id, label }: ListedRow): Promise<ListedRow[]> {
    if (!label) return [];
    const conditions = { search: label, status: { eq: 'ACCEPTED' }, isRetired: { eq: false } };
    const { rows } = await this.list(entity, conditions, 6);

    return rows.filter((row) => row.id !== id);
  }

  /** Reads a row with its parts. Throws NOT_FOUND if the viewer cannot see it. */
  async load(entity: Entity, id: string): Promise<LoadedRow> {
    const form = rowFormOf(entity, this.request.context);
    const keysOf = (controls: RowForm['controls']) => controls.map(({ key }) => key).join(' ');
    const images = partFields(entity).filter(({ target }) => hasImage(target()));
    const partSelections = [
      ...form.parts.map(({ name, controls }) => `${name} { id ${keysOf(controls)} }`),
      ...images.map(({ name }) => `${name} { id image }`),
    ];
    const imageSelection = hasImage(entity) ? 'image' : '';
    const { row } = await this.query(
      `query ($id: ID!) { row: ${resourceOf(entity)!.singularName}(id: $id) { version ${imageSelection} ${listSelectionOf(entity)} ${keysOf(form.controls)} ${partSelections.join(' ')} } }`,
      { id },
    );

    if (!row) throw notFoundError();

    return { row, form };
  }

  /** Changes of the catalogue, the latest first: of all users for curators, otherwise one's own. */
  async findChanges(where: object, after?: string): Promise<RowPage<CatalogueChange>> {
    const { page } = await this.query(
      `query ($first: Int, $after: String, $where: CatalogueChangeWhere) { page: catalogueChanges(first: $first, after: $after, where: $where, orderBy: [{ id: DESC }]) { nodes { id table rowId operation occurredAt username before after } ${PAGE_INFO} } }`,
      { first: PAGE_SIZE, after, where },
    );

    return toRowPage(page);
  }

  create(entity: Entity, input: object): Promise<Outcome> {
    const { metadata, singularName } = resourceOf(entity)!;
    const hasInput = hasWritableFields(entity);

    return this.mutate(
      `${metadata.createMutationName}${hasInput ? '(input: $input)' : ''}`,
      hasInput ? `($input: ${entity.name}Input!)` : '',
      { input },
      `row: ${singularName} { id }`,
    );
  }

  update(entity: Entity, id: string, input: object, ifVersion: string): Promise<Outcome> {
    return this.mutate(
      `${resourceOf(entity)!.metadata.updateMutationName}(id: $id, input: $input, ifVersion: $ifVersion)`,
      `($id: ID!, $input: ${entity.name}Patch!, $ifVersion: String)`,
      { id, input, ifVersion },
    );
  }

  delete(entity: Entity, id: string, ifVersion: string): Promise<Outcome> {
    return this.mutate(
      `${resourceOf(entity)!.metadata.deleteMutationName}(id: $id, ifVersion: $ifVersion)`,
      '($id: ID!, $ifVersion: String)',
      { id, ifVersion },
    );
  }

  merge(entity: Entity, from: string, into: string): Promise<Outcome> {
    return this.mutate(
      `merge${upperFirst(resourceOf(entity)!.pluralName)}(from: $from, into: $into)`,
      '($from: ID!, $into: ID!)',
      { from, into },
    );
  }

  undo(id: string): Promise<Outcome> {
    return this.mutate('undoCatalogueChange(id: $id)', '($id: ID!)', { id });
  }
}
