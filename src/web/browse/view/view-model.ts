/** View model of a browsable page: everything that the page shows of a request and its response. */
import type { FormTextValues } from '../../../rest/request';
import type { Choice, FieldKind, FieldMetadata } from '../../../shared/metadata';
import type { Visitor } from '../../layout';
import type { IdLinkTree } from './id-link-tree';
import type { HttpOptionsMetadata } from '../../../rest/drf/metadata';
import type { ResourceEndpoint } from '../../../rest/endpoints';
import type { Route } from '../../../rest/routes';

export interface NamedRow {
  id: string | number;
  name: string;
}

/** Days, exercises and trained muscles of a workout. */
export interface TrainingPlan {
  days: readonly {
    day: NamedRow;
    weekdays: { text: string };

    /** `exercise` is null if the viewer may not see it. */
    setGroups: readonly {
      setGroup: { id: string | number };
      exercises: readonly { summary: string; exercise: NamedRow | null }[];
    }[];
  }[];
  muscles: Readonly<
    Record<
      'front' | 'back' | 'frontSecondary' | 'backSecondary',
      readonly { id: string | number }[]
    >
  >;
}

/** A value at a local date or date and time. */
export type Point = [time: string, value: number];

export interface ChartLine {
  /** What the line measures, such as an exercise. */
  name?: string;
  points: Point[];
}

/** A chart over time. All its lines have the same unit. */
export interface TimeChart {
  label: string;
  unit?: string;
  lines: readonly ChartLine[];
  omittedLineCount: number;
}

export interface TimeSeries {
  charts: readonly TimeChart[];

  /** Number of days up to today. 0 means all rows. */
  periodDays: number;

  /** Number of rows in the period. */
  rowCount: number;

  /** Number of rows in the period that are too many to be drawn: the oldest. */
  omittedRowCount: number;

  /** Number of rows before the period. */
  earlierRowCount: number;

  /** Number of rows dated after today, which are drawn only without a period. */
  futureRowCount: number;
}

/** An input of a form or filter. */
export interface FormControl extends Pick<
  FieldMetadata,
  'helpText' | 'minLength' | 'maxLength' | 'min' | 'max' | 'decimalPlaces' | 'choices'
> {
  key: string;
  label: string;
  kind: FieldKind | 'password';
  required: boolean;

  /** Whether the input has a single line even if its value may be long. */
  isSingleLine?: boolean;

  /** Unit of a number input, such as `kg`. */
  unit?: string;

  /** Whether the input sends several values under its key. */
  multiple?: boolean;

  /** Whether the value of the input is a comma-separated list of ids. */
  isCommaSeparated?: boolean;

  /** REST endpoint of the row whose id is the value of the input. */
  endpointName?: string;

  /** GraphQL type of the rows that the input searches by name. */
  searchedTypeName?: string;

  /** Rows whose names match the typed name. */
  matches?: readonly Choice[];

  /** Name of the row whose id is the value of the input. */
  chosenRowName?: string;
}

export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** A stored value that another client has changed since the form was opened. */
export interface StoredValue {
  texts: readonly string[];

  /** The stored value in readable form, such as the name of a related row. */
  label: string;
}

export type WriteNotice = 'created' | 'saved' | 'deleted';

export interface WriteForm {
  action: string;
  method: 'POST' | 'PATCH';
  controls: readonly FormControl[];
  values: FormTextValues;
  isRejected?: boolean;

  /** What another client has done to the row since the form was opened. */
  conflict?: 'changed' | 'deleted';

  /** Stored values that differ from the values of the form. Present after a conflict. */
  storedValues?: Readonly<Record<string, StoredValue>>;
}

export interface RowLink {
  label: string;
  id: string;

  /** URL of the detail page of the row, if its type has one. */
  href?: string;
}

/** Content of a table cell: a string, links to rows, or the URL of an image. */
export interface Cell {
  text?: string;

  /** The moment that `text` shows, with its UTC offset. */
  time?: string;
  links?: readonly RowLink[];
  pictureUrl?: string;
}

export interface TableColumn {
  /** REST key of the field in the column. Empty if the column combines several fields. */
  key: string;
  label: string;
  isSortable: boolean;

  /** CSS class of the cells: numbers are aligned right, dates are not wrapped. */
  cellCssClass?: 'number' | 'day';
}

export interface TableRow {
  id: string;
  name: string;
  href?: string;
  pictureUrl?: string;

  /** Cells of all columns but the first, which shows the name of the row. */
  cells: readonly Cell[];
}

/** A table of rows. The first column shows their names. */
export interface TableModel {
  title: string;
  columns: readonly TableColumn[];
  rows: readonly TableRow[];
}

/** The first or the newest child rows, as shown on the detail page of their parent. */
export interface ChildRows {
  label: string;
  totalCount: number;
  table: TableModel;

  /** URL of the list of all child rows. Absent if that list cannot be filtered by the parent. */
  listUrl?: string;

  /** URL of the form for a new child row. Absent if the visitor cannot add rows. */
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

  /** Unit in which nutrients are shown. */
  massUnit: 'g' | 'oz';

  /** Daily energy goal of the user in kcal. Present if the row is compared with it. */
  energyGoal?: number;
  fields: readonly DetailField[];
  childLists: readonly ChildRows[];
}

/** A resource as pages name and describe it. */
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

  /** URL of the server, as the client sees it: its origin and the path of PUBLIC_URL. */
  baseUrl: string;

  /** Time zone of the times in forms and, without JavaScript, of all times. */
  timeZone: string;
  status: number;
  body: unknown;
  headers: Readonly<Record<string, string>>;
  allowedMethods: readonly string[];
  options?: HttpOptionsMetadata;
  idLinkTree: IdLinkTree;

  /** Validation messages by REST key. */
  errors: FieldErrors;

  /** Endpoint of the rows on the page. Absent on pages without rows. */
  endpoint?: ResourceEndpoint;
  resource?: PageResource;
  rowId?: string;

  /** Action of the row, such as `nutritional_values`. Absent on other pages. */
  actionName?: string;

  /** Rows of a list page. */
  table?: TableModel;

  /** Time series of a list page, shown as charts. */
  timeSeries?: TimeSeries;

  /** Row of a detail page or an action. */
  detailRow?: DetailRow;

  /** Resources on the page of the API root. */
  resources: readonly PageResource[];
  filters: readonly FormControl[];

  /** Whether the list is filtered by a text search, which only pages have. */
  isTextSearch?: boolean;

  /**
   * Pagination of a list page: the maximum number of rows, and the number of rows before the page.
   */
  pageWindow?: { limit: number; offset: number };

  /** GraphQL operation that is equivalent to the request. */
  graphqlOperation?: { document: string; variables: Record<string, unknown> };

  /** GraphQL operation that exports all rows of the list. Absent if exports are not permitted. */
  csvOperation?: { document: string; variables: Record<string, unknown> };
  form?: WriteForm;
  canDelete: boolean;

  /** Numbers of rows that record what the user has done and that a deletion removes, by name. */
  historyCounts?: Readonly<Record<string, number>>;
  rowVersion?: string;
  notice?: WriteNotice;
  methodsRequiringSignIn: readonly string[];
  isSignedIn: boolean;
  visitor: Visitor;
}
