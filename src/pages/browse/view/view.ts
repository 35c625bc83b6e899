/** What a page is made of: all that is known of a request and its answer, in terms that no page has to look up. */
import type { TypedTexts } from '../../../rest/dialect/forms';
import type { Choice, Kind } from '../../../contract/facts';
import type { Links } from './links';
import type { Drawn } from './series';
import type { Description } from '../../../rest/dialect/options';
import type { Route } from '../../../rest/routes';

export interface Control {
  key: string;
  label: string;
  kind: Kind | 'password';
  required: boolean;
  /** Never more than one line, however long it may be. */
  line?: boolean;
  help?: string;
  minLength?: number;
  maxLength?: number;
  min?: number;
  max?: number;
  /** Of the number, such as `kg`. */
  unit?: string;
  /** Digits after the point. */
  places?: number;
  choices?: readonly Choice[];
  /** Several values under the same key. */
  many?: boolean;
  /** One text of several ids. */
  commas?: boolean;
  /** Name of the endpoint whose rows an id names. */
  target?: string;
  /** Type of rows that are found by a part of their name. */
  searched?: string;
  /** What the typed name found. */
  found?: readonly Choice[];
  /** Name of the row whose id is in the field. */
  chosen?: string;
}

export type FieldErrors = Readonly<Record<string, readonly string[]>>;

export interface WriteForm {
  action: string;
  /** The first one is what the form is for. */
  methods: readonly string[];
  controls: readonly Control[];
  values: TypedTexts;
  /** The same as JSON. */
  raw: string;
  failed?: 'fields' | 'raw';
}

export interface RowLink {
  label: string;
  id: string;
  /** Absent where there is no page of it. */
  href?: string;
}

/** A value: rows that it names, an image by its address, or else a text. */
export interface Cell {
  text?: string;
  links?: readonly RowLink[];
  picture?: string;
}

export interface Column {
  /** REST's; empty where no single field is shown. */
  key: string;
  label: string;
  sortable: boolean;
  /** How its values are set: numbers to the right, days in one piece. */
  as?: 'number' | 'day';
}

export interface SheetRow {
  id: string;
  name: string;
  href?: string;
  picture?: string;
  /** Of the columns but the first, which has the name. */
  cells: readonly Cell[];
}

/** Rows as a table; the first column has their names. */
export interface Sheet {
  title: string;
  columns: readonly Column[];
  rows: readonly SheetRow[];
}

/** Rows that hang below a row, the newest or the first of them. */
export interface Below {
  label: string;
  total: number;
  sheet: Sheet;
  /** The list of all of them, and its form for another one. */
  all?: string;
  add?: string;
}

/** A workout as it is trained. */
export interface Training {
  days: readonly {
    link: RowLink;
    weekdays: string;
    sets: readonly { link: RowLink; exercises: readonly { link: RowLink; text: string }[] }[];
  }[];
  /** Ids of the muscles that it trains. */
  main: readonly string[];
  secondary: readonly string[];
}

export interface Fact {
  label: string;
  key: string;
  cell: Cell;
}

/** A row as people know it. */
export interface Thing {
  name: string;
  training?: Training;
  /** Of sums of what is eaten. */
  massUnit: 'g' | 'oz';
  /** Energy a day in kcal, where it is compared with one. */
  goal?: number;
  facts: readonly Fact[];
  below: readonly Below[];
}

export interface Resource {
  name: string;
  /** One of its rows, and several. */
  singular: string;
  plural: string;
  description: string;
  owned: boolean;
}

export interface HtmlView {
  kind: Route['kind'] | 'none';
  /** As people call it. */
  name: string;
  /** As OPTIONS says it. */
  description: string;
  method: string;
  /** Path and query as they were asked for. */
  url: string;
  /** The path of the page without a suffix. */
  path: string;
  query: URLSearchParams;
  /** Path that all endpoints are below. */
  base: string;
  /** Scheme and host. */
  baseUrl: string;
  status: number;
  body: unknown;
  headers: Readonly<Record<string, string>>;
  allow: readonly string[];
  options?: Description;
  links: Links;
  /** Of the body's messages: by field, where they belong to fields. */
  errors: FieldErrors;
  resource?: Resource;
  id?: string;
  action?: string;
  /** Kinds of the shown fields by their keys. */
  kinds: Readonly<Record<string, Kind>>;
  /** Keys that a writer sets, of those shown. */
  writable: readonly string[];
  labels: Readonly<Record<string, string>>;
  /** Further views of the same rows. */
  siblings: readonly string[];
  /** The rows of a list. */
  sheet?: Sheet;
  /** What of a list can be drawn. */
  drawn?: Drawn;
  /** The row of a detail, also of an action of it. */
  thing?: Thing;
  /** What can be asked of one row. */
  actions: readonly { name: string; description: string }[];
  /** Of the root. */
  resources: readonly Resource[];
  filters: readonly Control[];
  orderable: readonly string[];
  window?: { limit: number; offset: number };
  graphql?: { document: string; variables: Record<string, unknown> };
  forms: readonly WriteForm[];
  removable: boolean;
  /** Methods that somebody who is signed in could use. */
  locked: readonly string[];
  signedIn: boolean;
  visitor: { username?: string; csrfToken?: string };
}
