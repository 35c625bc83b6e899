/** A request and its answer → what a page shows of them. Nothing here runs for JSON clients. */
import type { GraphQLSchema } from 'graphql';
import { argumentControls, filterControls } from './controls';
import type { Endpoint, Operation, Prepare } from '../../../rest/endpoints';
import type { Described, Shown } from '../../../rest/page';
import { explanations } from './explained';
import { Forms } from './forms';
import { linksOf, NO_LINKS, type Links } from './links';
import type { Description } from '../../../rest/dialect/options';
import { plural, singular } from './cells';
import { namings } from './naming';
import { pathOf, Places, resourceOf } from './places';
import { PreferredUnits } from './preferred';
import { PERIOD_KEY, PERIODS, seriesOf } from './series';
import { Sheets } from './sheets';
import { labelOf, questionOf } from './wording';
import { windowOf } from '../../../rest/dialect/pagination';
import type { Answer } from '../../../rest/request';
import { BASE, type Route } from '../../../rest/routes';
import type { FieldErrors, HtmlView } from './view';

export interface Sources extends Described {
  schema: GraphQLSchema;
  /** What people may send to `/graphql`; pages show how they could have asked there. */
  publicSchema: GraphQLSchema;
  prepare: Prepare;
}

const SEARCH = new RegExp(`^${BASE}/(\\w+)/search/$`);

export class Views {
  private readonly places: Places;
  private readonly forms: Forms;
  private readonly sheets: Sheets;
  private readonly series: ReturnType<typeof seriesOf>;
  private readonly preferred: PreferredUnits;
  private readonly explained: ReturnType<typeof explanations>;
  /** By document. */
  private readonly links = new Map<string, Links>();

  constructor(private readonly sources: Sources) {
    const { schema, publicSchema, endpoints, prepare } = sources;
    this.places = new Places(endpoints);
    this.forms = new Forms(this.places, namings(schema, prepare));
    this.sheets = new Sheets(prepare, (type) => this.places.endpointOf(type));
    this.series = seriesOf(schema, prepare);
    this.preferred = new PreferredUnits(schema, prepare);
    this.explained = explanations(publicSchema);
  }

  async of(shown: Shown): Promise<HtmlView> {
    const { request } = shown;
    const { route } = request;
    const view = unknownPage(shown);
    if (!route) return view;
    const place = this.places.placeOf(route, shown);
    const options = (await this.sources.describe(place, request).catch(() => undefined))?.body as Description | undefined;
    Object.assign(view, {
      kind: place.kind,
      name: questionOf(String(options?.name ?? '')),
      description: String(options?.description ?? ''),
      options,
      links: this.linksIn(route, place, shown),
      graphql: this.graphqlOf(route, shown),
      path: pathOf(place, request.path),
      ...this.only(place, request.path),
    });
    if (place.endpoint) return Object.assign(view, await this.ofRows(place.endpoint, place, view.name, shown));
    return Object.assign(view, await this.forms.formsOf(place, shown, () => ({})));
  }

  /** What pages of one kind have. */
  private only(place: Route, path: string): Partial<HtmlView> {
    if (place.kind === 'root')
      return {
        resources: this.places.listed(),
        name: 'All data',
        description: 'Every list opens as a table, every row as a page; programs get the same addresses as JSON.',
      };
    if (place.kind === 'free') {
      const found = SEARCH.exec(path);
      const resource = found && this.places.listed().find(({ name }) => name === found[1]);
      return { filters: argumentControls(place.computed.field.args), ...(resource && { name: `Search ${resource.plural.toLowerCase()}` }) };
    }
    if (place.kind === 'action') return { filters: argumentControls(place.computed.field.args), action: place.computed.fact.name };
    return {};
  }

  private async ofRows(endpoint: Endpoint, place: Route, name: string, shown: Shown): Promise<Partial<HtmlView>> {
    const { request } = shown;
    const { fields, view: facts } = endpoint;
    const related = await this.forms.relatedOf(endpoint, request);
    const { forms, ...rest } = await this.forms.formsOf(place, shown, related);
    const read = await this.readable(place, shown);
    const inUnit = forms.length ? await this.preferred.of(endpoint, request.exchange.context) : undefined;
    const filled = forms.map(async (form) => {
      const controls = await this.forms.lookedUp(form.controls, (key) => form.values[key]?.at(-1), request);
      return { ...form, controls: inUnit ? controls.map(inUnit) : controls };
    });
    const about = {
      ...rest,
      ...read,
      name: read?.name || name,
      forms: await Promise.all(filled),
      ...('id' in place && { id: place.id }),
      ...factsOf(endpoint),
    };
    if (place.kind !== 'list') return about;
    const asked = (key: string) => request.query.getAll(key).at(-1);
    return {
      ...about,
      filters: await this.forms.lookedUp(filterControls(facts.filters, fields, related), asked, request),
      orderable: fields.filter(({ hidden, ordered }) => !hidden && ordered).map(({ rest: key }) => key),
      window: windowOf(request.query, request.most),
    };
  }

  private graphqlOf(route: Route, { request }: Shown): HtmlView['graphql'] {
    const { ran } = request;
    const secret = route.kind === 'login';
    const endpoint = route.kind === 'list' || route.kind === 'detail' ? route.endpoint : undefined;
    if (ran && !secret && ran.operation !== endpoint?.known) return this.explained(ran.operation, ran.variables);
    if (secret) return this.explained(this.sources.endpoints.login, { username: '', password: '' });
    if (!endpoint) return undefined;
    if (route.kind === 'detail') return this.explained(endpoint.detail, { id: route.id });
    const { limit, offset } = windowOf(request.query, request.most);
    return this.explained(endpoint.list, { first: limit, offset });
  }

  private linksIn(route: Route, place: Route, { request, answer }: Shown): Links {
    if (answer.status >= 300 || request.method === 'OPTIONS') return NO_LINKS;
    if (route.kind === 'free') return this.linked(route.computed.run, 'result');
    if (route.kind === 'action') return this.linked(route.computed.run, 'row', 'action');
    if (place.kind === 'list') return { keys: { results: this.linked(place.endpoint.list, 'page', 'nodes') } };
    return place.kind === 'detail' ? this.linked(place.endpoint.detail, 'row') : NO_LINKS;
  }

  private linked({ document }: Operation, ...at: string[]): Links {
    let links = this.links.get(document);
    if (!links) this.links.set(document, (links = linksOf(this.sources.schema, document, at, (type) => this.places.nameOf(type))));
    return links;
  }

  /** What the answer is about, with names; of an answer that has no rows nothing. */
  private async readable(
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
        this.sheets.list(endpoint, ids, context),
        ids.length ? this.series(endpoint, where, days, context) : undefined,
      ]);
      return { name, sheet, drawn };
    }
    const thing = [200, 201, 400].includes(answer.status)
      ? await this.sheets.thing(endpoint, place.id, context, request.signedIn)
      : undefined;
    return place.kind === 'detail' ? { name: thing?.name ?? singular(endpoint.type), thing } : thing && { name: '', thing };
  }
}

/** What every page has, as that of an address that leads nowhere. */
function unknownPage({ request, answer, headers }: Shown): HtmlView {
  const { exchange, method, query, signedIn, path, route } = request;
  return {
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
}

function factsOf(endpoint: Endpoint): Partial<HtmlView> {
  const { fields, view, resource, actions } = endpoint;
  const visible = fields.filter(({ hidden }) => !hidden);
  return {
    resource: resourceOf(endpoint),
    kinds: Object.fromEntries(visible.map(({ rest, kind }) => [rest, kind])),
    writable: visible.filter(({ restReadOnly }) => !restReadOnly).map(({ rest }) => rest),
    labels: Object.fromEntries(visible.map((fact) => [fact.rest, labelOf(fact)])),
    siblings: resource.views.map(({ rest }) => rest).filter((name) => name !== view.rest),
    actions: [...actions.values()].map(({ fact, field }) => ({ name: fact.name, description: field.description ?? '' })),
  };
}

/** The messages of a 400, if it has them by field. */
function errorsOf({ status, body }: Answer): FieldErrors {
  if (status !== 400 || body === null || typeof body !== 'object') return {};
  return Object.values(body).every(Array.isArray) ? (body as FieldErrors) : {};
}
