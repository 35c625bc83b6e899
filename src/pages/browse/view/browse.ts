/** A request and its answer → what a page shows of them. Nothing here runs for JSON clients. */
import { may } from '../../../rest/admission';
import { argumentControls, filterControls, writeControls, type Related, type RelatedOf } from './controls';
import type { Endpoint, Operation } from '../../../rest/endpoints';
import type { Shown, Sources } from '../../../rest/page';
import { explanations } from './explained';
import { linksOf, NO_LINKS, type Links } from './links';
import type { Description } from '../../../rest/dialect/options';
import { labelOf, plural, singular } from './cells';
import { namings } from './naming';
import { PERIOD_KEY, PERIODS, seriesOf } from './series';
import { sheetsOf } from './sheets';
import type { TypedTexts } from '../../../rest/dialect/forms';
import { windowOf } from '../../../rest/dialect/pagination';
import type { Answer, Request } from '../../../rest/request';
import { BASE, findRoute, type Route } from '../../../rest/routes';
import type { Control, FieldErrors, HtmlView, Resource, WriteForm } from './view';

/** A relation is chosen from up to this many rows; of more they are searched. */
const MAX_CHOICES = 60;
const ID = /^\d+$/;
const LOGIN: readonly Control[] = [
  { key: 'username', label: 'User name', kind: 'string', line: true, required: true },
  { key: 'password', label: 'Password', kind: 'password', required: true },
];

const READING = ['GET', 'HEAD'];

export function viewsOf({ schema, publicSchema, endpoints, login, prepare, describe }: Sources): (shown: Shown) => Promise<HtmlView> {
  const byType = new Map<string, Endpoint>();
  for (const endpoint of endpoints.resources.values())
    if (endpoint.view === endpoint.resource.views[0]) byType.set(endpoint.type.name, endpoint);
  const endpointOf = (type: string) => byType.get(type)?.view.rest;
  const namingOf = namings(schema, prepare);
  const sheets = sheetsOf(prepare, (type) => byType.get(type));
  const series = seriesOf(schema, prepare);
  const explained = explanations(publicSchema);
  const known = new Map<string, Links>();
  const linked = ({ document }: Operation, ...at: string[]): Links => {
    if (!known.has(document)) known.set(document, linksOf(schema, document, at, endpointOf));
    return known.get(document)!;
  };

  const resourceOf = ({ view, resource, type }: Endpoint): Resource => ({
    name: view.rest,
    singular: singular(type),
    plural: plural(type),
    description: view.description,
    owned: resource.owned,
  });

  async function relatedRows(type: string, { exchange, signedIn }: Request): Promise<Related> {
    const target = endpointOf(type);
    const naming = namingOf(type);
    // Other people's rows are no choice.
    if (!naming || (naming.owned && !signedIn)) return { target };
    const choices = await naming.rows(exchange.context, {}, MAX_CHOICES + 1);
    if (choices && choices.length <= MAX_CHOICES) return { target, choices };
    return { target, ...(naming.find && { searched: type }) };
  }

  /** What is in search fields is looked up: a name finds rows, an id tells the name of its row. */
  function lookedUp(controls: readonly Control[], textOf: (key: string) => string | undefined, { exchange }: Request): Promise<Control[]> {
    return Promise.all(
      controls.map(async (control) => {
        const text = textOf(control.key)?.trim();
        if (!control.searched || !text) return control;
        const { find, rows } = namingOf(control.searched)!;
        if (!ID.test(text)) return { ...control, found: await find!(exchange.context, text) };
        const [row] = (await rows(exchange.context, { id: { eq: text } }, 1)) ?? [];
        return { ...control, ...(row && { chosen: String(row.label) }) };
      }),
    );
  }

  async function relatedOf({ fields, view }: Endpoint, request: Request): Promise<RelatedOf> {
    const filtered = new Set(view.filters.map(({ field }) => field));
    const types = fields
      .filter((field) => field.relation && (!field.restReadOnly || filtered.has(field.name)))
      .map((field) => field.relation!.type);
    const found = new Map<string, Related>();
    await Promise.all([...new Set(types)].map(async (type) => found.set(type, await relatedRows(type, request))));
    return (type) => found.get(type) ?? { target: endpointOf(type) };
  }

  /** The row that a form starts from; nothing if the answer is not about one. */
  async function rowOf(endpoint: Endpoint, id: string, { request, answer }: Shown): Promise<Record<string, unknown> | undefined> {
    if (answer.status < 300 && request.method !== 'OPTIONS') return answer.body as Record<string, unknown>;
    if (READING.includes(request.method)) return undefined;
    const { data } = await endpoint.detail(request.exchange.context, { id });
    return data?.row ?? undefined;
  }

  async function formsOf(place: Route, shown: Shown, related: RelatedOf): Promise<Pick<HtmlView, 'forms' | 'removable' | 'locked'>> {
    const { request } = shown;
    const none = { forms: [], removable: false, locked: [] };
    if (place.kind === 'login') return { ...none, forms: [formOf(`${BASE}/login/`, ['POST'], LOGIN, undefined, shown)] };
    if (place.kind !== 'list' && place.kind !== 'detail') return none;
    const { endpoint } = place;
    const { create, update, remove, view } = endpoint;
    const possible = { POST: create && place.kind === 'list', PUT: update, PATCH: update, DELETE: remove };
    const methods = Object.entries(possible).flatMap(([method, operation]) => (operation && may(place, method) ? [method] : []));
    // Who was signed out meanwhile must not lose what they typed.
    if (!request.signedIn && !request.form) return { ...none, locked: methods };
    const controls = writeControls(endpoint.fields, related);
    if (place.kind === 'list')
      return { ...none, forms: methods.includes('POST') ? [formOf(`${BASE}/${view.rest}/`, ['POST'], controls, undefined, shown)] : [] };
    const row = methods.length ? ((await rowOf(endpoint, place.id, shown)) ?? (request.signedIn ? undefined : {})) : undefined;
    if (!row) return none;
    const changing = methods.filter((method) => method !== 'DELETE');
    const forms = changing.length ? [formOf(detailPath(endpoint, place.id), changing, controls, row, shown)] : [];
    return { forms, removable: methods.includes('DELETE'), locked: [] };
  }

  function graphqlOf(route: Route, { request }: Shown): HtmlView['graphql'] {
    const { ran } = request;
    const secret = route.kind === 'login';
    const endpoint = route.kind === 'list' || route.kind === 'detail' ? route.endpoint : undefined;
    if (ran && !secret && ran.operation !== endpoint?.known) return explained(ran.operation, ran.variables);
    if (secret) return explained(login, { username: '', password: '' });
    if (!endpoint) return undefined;
    if (route.kind === 'detail') return explained(endpoint.detail, { id: route.id });
    const { limit, offset } = windowOf(request.query, request.most);
    return explained(endpoint.list, { first: limit, offset });
  }

  function linksIn(route: Route, place: Route, { request, answer }: Shown): Links {
    if (answer.status >= 300 || request.method === 'OPTIONS') return NO_LINKS;
    if (route.kind === 'free') return linked(route.endpoint.run, 'result');
    if (route.kind === 'action') return linked(route.action.run, 'row', 'action');
    if (place.kind === 'list') return { keys: { results: linked(place.endpoint.list, 'page', 'nodes') } };
    return place.kind === 'detail' ? linked(place.endpoint.detail, 'row') : NO_LINKS;
  }

  /** What the answer is about, with names; of an answer that has no rows nothing. */
  async function readable(
    place: Route,
    { request, answer }: Shown,
  ): Promise<Pick<HtmlView, 'name' | 'sheet' | 'thing' | 'drawn'> | undefined> {
    if (place.kind !== 'list' && place.kind !== 'detail' && place.kind !== 'action') return undefined;
    const { endpoint } = place;
    const { context } = request.exchange;
    if (place.kind === 'list') {
      const name = plural(endpoint.type);
      if (answer.status !== 200 || request.method !== 'GET') return { name };
      const { results } = answer.body as { results: { id: number }[] };
      const where = (request.ran?.variables.where ?? {}) as object;
      const wanted = Number(request.query.get(PERIOD_KEY));
      const days = request.query.has(PERIOD_KEY) ? (PERIODS.find((period) => period === wanted) ?? PERIODS[0]) : PERIODS[0];
      const ids = results.map(({ id }) => String(id));
      const [sheet, drawn] = await Promise.all([
        sheets.list(endpoint, ids, context),
        ids.length ? series(endpoint, where, days, context) : undefined,
      ]);
      return { name, sheet, drawn };
    }
    const thing = [200, 201, 400].includes(answer.status) ? await sheets.thing(endpoint, place.id, context, request.signedIn) : undefined;
    return place.kind === 'detail' ? { name: thing?.name ?? singular(endpoint.type), thing } : thing && { name: '', thing };
  }

  /** Where the page belongs: what was created has an address of its own. */
  function placeOf(route: Route, { answer, request }: Shown): Route {
    if (route.kind !== 'list' || answer.status !== 201 || request.method !== 'POST') return route;
    const found = findRoute(endpoints, detailPath(route.endpoint, (answer.body as { id: number }).id));
    return found && 'route' in found ? found.route : route;
  }

  return async (shown) => {
    const { route, request, answer, headers } = shown;
    const { exchange, method, query, signedIn, path } = request;
    const view: HtmlView = {
      kind: 'none',
      name: 'Page not found',
      description: '',
      method,
      url: request.message.url!,
      path,
      query,
      base: BASE,
      baseUrl: exchange.baseUrl,
      status: answer.status,
      body: answer.body,
      headers,
      allow: route?.allow ?? [],
      links: NO_LINKS,
      errors: errorsOf(answer),
      kinds: {},
      writable: [],
      labels: {},
      siblings: [],
      actions: [],
      resources: [],
      filters: [],
      orderable: [],
      forms: [],
      removable: false,
      locked: [],
      signedIn,
      visitor: exchange.visitor?.() ?? {},
    };
    if (!route) return view;
    const place = placeOf(route, shown);
    // A copy, because describing may run an operation too, which is not what the page is about.
    const options = (await describe(place, { ...request }).catch(() => undefined))?.body as Description | undefined;
    Object.assign(view, {
      kind: place.kind,
      name: String(options?.name ?? ''),
      description: String(options?.description ?? ''),
      options,
      links: linksIn(route, place, shown),
      graphql: graphqlOf(route, shown),
      path: pathOf(place, path),
    });
    // Other views of the same rows are a matter of programs.
    const usual = ({ view: one, resource }: Endpoint) => one === resource.views[0];
    if (place.kind === 'root') {
      view.resources = endpoints.listed.flatMap((name) => [endpoints.resources.get(name)!].filter(usual).map(resourceOf));
      view.name = 'All data';
      view.description = 'Every list opens as a table, every row as a page; programs get the same addresses as JSON.';
    }
    if (place.kind === 'free') view.filters = argumentControls(place.endpoint.field.args);
    if (place.kind === 'action') {
      view.filters = argumentControls(place.action.field.args);
      view.action = place.action.fact.name;
    }
    const endpoint = 'endpoint' in place && place.kind !== 'free' ? place.endpoint : undefined;
    if (!endpoint) return Object.assign(view, await formsOf(place, shown, () => ({})));
    const { fields, view: facts, resource, actions } = endpoint;
    const visible = fields.filter(({ hidden }) => !hidden);
    const related = await relatedOf(endpoint, request);
    const { forms, ...rest } = await formsOf(place, shown, related);
    const read = await readable(place, shown);
    Object.assign(view, rest, read, {
      name: read?.name || view.name,
      forms: await Promise.all(
        forms.map(async (form) => ({
          ...form,
          controls: await lookedUp(form.controls, (key) => form.values[key]?.at(-1), request),
        })),
      ),
      resource: resourceOf(endpoint),
      ...('id' in place && { id: place.id }),
      kinds: Object.fromEntries(visible.map(({ rest, kind }) => [rest, kind])),
      writable: visible.filter(({ restReadOnly }) => !restReadOnly).map(({ rest }) => rest),
      labels: Object.fromEntries(visible.map((fact) => [fact.rest, labelOf(fact)])),
      siblings: resource.views.map(({ rest }) => rest).filter((name) => name !== facts.rest),
      actions: [...actions.values()].map(({ fact, field }) => ({ name: fact.name, description: field.description ?? '' })),
    });
    if (place.kind === 'list') {
      view.filters = await lookedUp(filterControls(facts.filters, fields, related), (key) => query.getAll(key).at(-1), request);
      view.orderable = visible.filter(({ ordered }) => ordered).map(({ rest }) => rest);
      view.window = windowOf(query, request.most);
    }
    return view;
  };
}

const detailPath = ({ view }: Endpoint, id: string | number) => `${BASE}/${view.rest}/${encodeURIComponent(id)}/`;

function pathOf(place: Route, path: string): string {
  if (place.kind === 'root') return `${BASE}/`;
  if (place.kind === 'list') return `${BASE}/${place.endpoint.view.rest}/`;
  if (place.kind === 'detail') return detailPath(place.endpoint, place.id);
  if (place.kind === 'action') return `${detailPath(place.endpoint, place.id)}${place.action.fact.name}/`;
  return path;
}

/** The messages of a 400, if it has them by field. */
function errorsOf({ status, body }: Answer): FieldErrors {
  if (status !== 400 || body === null || typeof body !== 'object') return {};
  return Object.values(body).every(Array.isArray) ? (body as FieldErrors) : {};
}

/** A moment as the clock shows it where the server is; so is what is typed there. */
const LOCAL = 19;
const textsOf = (value: unknown, { kind }: Control): string[] =>
  (value == null ? [] : [value].flat().map(String)).map((text) => (kind === 'datetime' ? text.slice(0, LOCAL) : text));

const blankOf = ({ kind, many }: Control): unknown => (many ? [] : kind === 'boolean' ? false : kind === 'relation' ? null : '');

/** A form that failed has what was typed; any other one what the row holds. */
function formOf(
  action: string,
  methods: readonly string[],
  controls: readonly Control[],
  row: Record<string, unknown> | undefined,
  { request, answer }: Shown,
): WriteForm {
  const held = controls.map((control) => [control.key, row ? row[control.key] : blankOf(control)] as const);
  const shown = controls.map((control) => [control.key, textsOf(row?.[control.key], control)] as const);
  // What a list is narrowed to is meant of a new row too.
  const narrowed = controls.map(({ key }) => [key, request.query.getAll(key)] as const).filter(([, texts]) => texts.length > 0);
  const values: TypedTexts = Object.fromEntries(row ? shown : narrowed);
  const form = { action, methods, controls, values, raw: JSON.stringify(Object.fromEntries(held), null, 2) };
  const { form: posted } = request;
  if (!posted || answer.status < 400 || !methods.includes(request.method)) return form;
  if (posted.raw !== undefined) return { ...form, raw: posted.raw, failed: 'raw' };
  const kept = controls.map((control) => ({ ...control, kept: posted.kept?.[control.key] }));
  return { ...form, controls: posted.kept ? kept : controls, values: posted.values, failed: 'fields' };
}
