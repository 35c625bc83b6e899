/** View model of a browsable page: all data of a request and its response that the page shows. */
import type { FormTextValues } from '../../../rest/dialect/methodoverride';
import type { Choice, FieldKind, FieldMetadata } from '../../../contract/metadata';
import type { IdLinkTree } from './idlinktree';
import type { TrainingPlan } from './detaildata';
import type { TimeSeries } from './timeseries';
import type { HttpOptionsMetadata } from '../../../rest/dialect/metadata';
import type { ResourceEndpoint } from '../../../rest/endpoints';
import type { Route } from '../../../rest/routes';

export interface FormControl extends Pick<
  FieldMetadata,
  'helpText' | 'minLength' | 'maxLength' | 'min' | 'max' | 'decimalPlaces' | 'choices'
> {
  key: string;
  label: string;
  kind: FieldKind | 'password';
  required: boolean;
  /** Whether the input has a single line, regardless of its maximum length. */
  isSingleLine?: boolean;
  /** Unit of the number that is entered in the input, such as `kg`. */
  unit?: string;
  /** Whether the input sends several values under its key. */
  multiple?: boolean;
  /** Whether the value of the input is a string of several ids, separated by commas. */
  isCommaSeparated?: boolean;
  /** If the value of the input is an id: the name of the endpoint of the row with this id. */
  endpointName?: string;
  /** If the input searches rows by name: the GraphQL type of these rows. */
  searchedTypeName?: string;
  /** Rows whose names match the name that the user typed into the input. */
  matches?: readonly Choice[];
  /** Name of the row whose id is the value of the input. */
  chosenRowName?: string;
}

export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** The stored value of a field that another client has changed since the form was opened, and that the form would overwrite. */
export interface StoredValue {
  texts: readonly string[];
  /** The stored value in readable form, such as the name of a related row. */
  label: string;
}

export type WriteNotice = 'created' | 'saved' | 'deleted';

export interface WriteForm {
  action: string;
  /** HTTP methods that the form can send; the first one is the default. */
  methods: readonly string[];
  controls: readonly FormControl[];
  values: FormTextValues;
  jsonText: string;
  /** Which HTML form was rejected: the form with an input for each field, or the form with JSON. */
  rejectedPart?: 'fields' | 'json';
  /** Reason why a valid form was rejected: another client has changed or deleted the row since the form was opened. */
  conflict?: 'changed' | 'deleted';
  /** After a conflict: the stored values that differ from those of the form, by key. */
  storedValues?: Readonly<Record<string, StoredValue>>;
}

export interface RowLink {
  label: string;
  id: string;
  /** URL of the detail page of the linked row; absent if there is no such page. */
  href?: string;
}

/** Content of a table cell: a string, links to rows, or the URL of an image. */
export interface Cell {
  text?: string;
  links?: readonly RowLink[];
  pictureUrl?: string;
}

export interface Column {
  /** REST key of the field that the column shows; empty if the column shows no single field. */
  key: string;
  label: string;
  isSortable: boolean;
  /** CSS class of the cells of the column: numbers are aligned right, dates are not wrapped. */
  cellCssClass?: 'number' | 'day';
}

export interface TableRow {
  id: string;
  name: string;
  href?: string;
  pictureUrl?: string;
  /** Cells of the row in all columns except for the first one, which shows the name of the row. */
  cells: readonly Cell[];
}

/** Table of rows. The first column shows their names. */
export interface TableView {
  title: string;
  columns: readonly Column[];
  rows: readonly TableRow[];
}

/** Child rows of a row on its detail page: only the first or the newest ones. */
export interface ChildRows {
  label: string;
  totalCount: number;
  table: TableView;
  /** URL of the list of all child rows; absent if that list cannot be filtered by the parent. */
  listUrl?: string;
  /** URL of the form for a new child row; absent if the visitor cannot add rows. */
  addUrl?: string;
}

export interface DetailField {
  label: string;
  key: string;
  cell: Cell;
}

export interface DetailRow {
  name: string;
  trainingPlan?: TrainingPlan;
  /** Unit in which sums of nutrients are shown. */
  massUnit: 'g' | 'oz';
  /** Daily energy goal of the user in kcal, if the page compares the row with it. */
  energyGoal?: number;
  fields: readonly DetailField[];
  childLists: readonly ChildRows[];
}

export interface PageResource {
  name: string;
  singularLabel: string;
  pluralLabel: string;
  description: string;
  isOwned: boolean;
}

export interface HtmlView {
  kind: Route['kind'] | 'none';
  name: string;
  /** Description of the endpoint from the OPTIONS response. */
  description: string;
  method: string;
  /** Path and query string of the request. */
  url: string;
  /** Path of the page, without a format suffix. */
  path: string;
  query: URLSearchParams;
  /** Scheme and host of the server, as the client sees them. */
  baseUrl: string;
  status: number;
  body: unknown;
  headers: Readonly<Record<string, string>>;
  allowedMethods: readonly string[];
  options?: HttpOptionsMetadata;
  idLinkTree: IdLinkTree;
  /** Validation messages by REST key; empty if the response has none. */
  errors: FieldErrors;
  /** Endpoint of the rows on the page; absent on other pages. */
  endpoint?: ResourceEndpoint;
  resource?: PageResource;
  rowId?: string;
  /** Name of the action of a row that the page shows, such as `nutritional_values`; absent on other pages. */
  actionName?: string;
  /** Rows of a list page. */
  table?: TableView;
  /** Time series of a list page. */
  timeSeries?: TimeSeries;
  /** The row of a detail page or of an action. */
  detailRow?: DetailRow;
  /** Resources that the API root lists. */
  resources: readonly PageResource[];
  filters: readonly FormControl[];
  /** Maximum number of rows of a list page, and number of rows before it. */
  pageWindow?: { limit: number; offset: number };
  /** The GraphQL operation that is equivalent to the request; absent if there is none. */
  graphqlOperation?: { document: string; variables: Record<string, unknown> };
  permitsExports?: boolean;
  forms: readonly WriteForm[];
  canDelete: boolean;
  rowVersion?: string;
  notice?: WriteNotice;
  methodsRequiringSignIn: readonly string[];
  isSignedIn: boolean;
  visitor: { username?: string; csrfToken?: string };
}
