/** Builds the view model of a browsable page from a REST request and its response. It is not used for JSON responses. */
import type { GraphQLSchema } from 'graphql';
import { argumentControlsOf, filterControlsOf } from './controls';
import type { Endpoint, RestOperation, PrepareOperation } from '../../../rest/endpoints';
import type { ApiDescription, RenderInput } from '../../../rest/htmlrenderer';
import { clientOperationTranslator } from './graphqlexample';
import { FormBuilder } from './forms';
import { idLinksOf, NO_ID_LINKS, type IdLinks } from './idlinks';
import type { OptionsMetadata } from '../../../rest/dialect/metadata';
import type { Row } from './cells';
import { createRowNameSearchLookup } from './rownames';
import { pagePathOf, PageRoutes, pageResourceOf } from './pageroutes';
import { PERIOD_PARAMETER, PERIOD_CHOICES_DAYS, fieldInPreferredUnit, timeSeriesReader } from './timeseries';
import { prefersPounds, RowReader } from './rowreader';
import { endpointTitle, pluralLabelOf, singularLabelOf } from './labels';
import { parsePageWindow } from '../../../rest/dialect/pagination';
import type { RestResponse } from '../../../rest/request';
import { API_BASE_PATH, type Route } from '../../../rest/routes';
import type { FieldErrors, FormControl, HtmlView } from './viewmodel';
import { noticeOf } from '../postredirect';

export interface ViewDependencies extends ApiDescription {
  schema: GraphQLSchema;
  /** Public schema, which `/graphql` serves. Pages show an operation of this schema that is equivalent to their REST request. */
  clientSchema: GraphQLSchema;
  prepareOperation: PrepareOperation;
  /** Whether lists can be exported as files: not if `/graphql` accepts trusted documents only. */
  permitsExports: boolean;
}

/** Route of a page that shows a list of rows, a row or an action of a row. */
type RowRoute = Extract<Route, { endpoint: Endpoint }>;

const SEARCH_PATH_PATTERN = new RegExp(`^${API_BASE_PATH}/(\\w+)/search/$`);

export class ViewBuilder {
  private readonly pageRoutes: PageRoutes;
  private readonly formBuilder: FormBuilder;
  private readonly rowReader: RowReader;
  private readonly readTimeSeries: ReturnType<typeof timeSeriesReader>;
  private readonly toClientOperation: ReturnType<typeof clientOperationTranslator>;
  /** Id links by GraphQL document. They are cached, because deriving them for each page would take up to a tenth of the CPU time of the page. */
  private readonly idLinksByDocument = new Map<string, IdLinks>();

  constructor(private readonly dependencies: ViewDependencies) {
    const { schema, clientSchema, endpoints, prepareOperation, timeZone } = dependencies;
    this.pageRoutes = new PageRoutes(endpoints);
    this.formBuilder = new FormBuilder(this.pageRoutes, createRowNameSearchLookup(schema, prepareOperation), timeZone);
    this.rowReader = new RowReader(prepareOperation, this.pageRoutes);
    this.readTimeSeries = timeSeriesReader(schema, prepareOperation);
    this.toClientOperation = clientOperationTranslator(clientSchema);
  }

  async buildView(result: RenderInput): Promise<HtmlView> {
    const { request } = result;
    const { route } = request;
    const view = buildCommonView(result);
    if (!route) return view;
    const pageRoute = this.pageRoutes.routeOfPage(route, result);
    const options = (await this.dependencies.describeEndpoint(pageRoute, request).catch(() => undefined))?.body as
      OptionsMetadata | undefined;
    Object.assign(view, {
      kind: pageRoute.kind,
      name: endpointTitle(String(options?.name ?? '')),
      description: String(options?.description ?? ''),
      options,
      idLinks: this.idLinksFor(route, pageRoute, result),
      graphql: this.equivalentOperationOf(route, result),
      permitsExports: this.dependencies.permitsExports,
      path: pagePathOf(pageRoute, request.path),
      ...this.viewOfKind(pageRoute, request.path),
    });
    if (pageRoute.endpoint) return Object.assign(view, await this.viewOfRows(pageRoute, result));
    return Object.assign(view, await this.formBuilder.formsOf(pageRoute, result, () => ({})));
  }

  /** Returns the view properties that only the API root, actions, and endpoints that belong to no row (such as searches) have. */
  private viewOfKind(pageRoute: Route, path: string): Partial<HtmlView> {
    if (pageRoute.kind === 'root')
      return {
        resources: this.pageRoutes.listedResources(),
        name: 'All data',
        description: 'Lists open as tables and rows as pages. Programs get JSON from the same URLs.',
      };
    if (pageRoute.kind === 'standalone') {
      const match = SEARCH_PATH_PATTERN.exec(path);
      const resource = match && this.pageRoutes.listedResources().find(({ name }) => name === match[1]);
      return {
        filters: argumentControlsOf(pageRoute.computedEndpoint.field.args),
        ...(resource && { name: `Search ${resource.pluralLabel.toLowerCase()}` }),
      };
    }
    if (pageRoute.kind === 'action')
      return { filters: argumentControlsOf(pageRoute.computedEndpoint.field.args), actionName: pageRoute.computedEndpoint.metadata.name };
    return {};
  }

  /** Returns a function that adds the preferred unit of the viewer to the input for a mass; undefined if the type has no field for a mass. */
  private async unitAdderFor({ type }: Endpoint, context: object): Promise<((control: FormControl) => FormControl) | undefined> {
    const { schema, prepareOperation } = this.dependencies;
    const field = fieldInPreferredUnit(type, schema);
    if (!field) return undefined;
    const { data } = await prepareOperation('{ viewer { profile { unitSystem } } }')(context);
    const unit = prefersPounds((data?.viewer?.profile ?? {}) as Row) ? 'lb' : 'kg';
    return (control) => (control.key === field.restKey ? { ...control, unit } : control);
  }

  private async viewOfRows(pageRoute: RowRoute, result: RenderInput): Promise<Partial<HtmlView>> {
    const { request } = result;
    const { endpoint, kind } = pageRoute;
    const { fields, view, type } = endpoint;
    const relationChoicesOf = await this.formBuilder.loadRelationChoices(endpoint, request);
    const { forms, ...formProperties } = await this.formBuilder.formsOf(pageRoute, result, relationChoicesOf);
    const data = await this.readData(pageRoute, result);
    const addUnit = forms.length ? await this.unitAdderFor(endpoint, request.context.resolverContext) : undefined;
    const filledForms = forms.map(async (form) => {
      const controls = await this.formBuilder.addSearchResults(form.controls, (key) => form.values[key]?.at(-1), request);
      return { ...form, controls: addUnit ? controls.map(addUnit) : controls };
    });
    const rowView = {
      ...formProperties,
      ...data,
      forms: await Promise.all(filledForms),
      endpoint,
      resource: pageResourceOf(endpoint),
    };
    if (kind === 'action') return { ...rowView, rowId: pageRoute.id };
    if (kind === 'detail') return { ...rowView, rowId: pageRoute.id, name: data.detailRow?.name ?? singularLabelOf(type) };
    const filterControls = filterControlsOf(view.filters, fields, relationChoicesOf);
    return {
      ...rowView,
      name: pluralLabelOf(type),
      filters: await this.formBuilder.addSearchResults(filterControls, (key) => request.query.getAll(key).at(-1), request),
      pageWindow: parsePageWindow(request.query, request.maxLimit),
    };
  }

  private equivalentOperationOf(route: Route, { request }: RenderInput): HtmlView['graphql'] {
    const { lastOperation } = request;
    const isLogin = route.kind === 'login';
    const endpoint = route.kind === 'list' || route.kind === 'detail' ? route.endpoint : undefined;
    if (lastOperation && !isLogin && lastOperation.operation !== endpoint?.referenceableIds)
      return this.toClientOperation(lastOperation.operation, lastOperation.variables);
    if (isLogin) return this.toClientOperation(this.dependencies.endpoints.login, { username: '', password: '' });
    if (!endpoint) return undefined;
    if (route.kind === 'detail') return this.toClientOperation(endpoint.detail, { id: route.id });
    const { limit, offset } = parsePageWindow(request.query, request.maxLimit);
    return this.toClientOperation(endpoint.list, { first: limit, offset });
  }

  private idLinksFor(route: Route, pageRoute: Route, { request, restResponse }: RenderInput): IdLinks {
    if (restResponse.status >= 300 || request.method === 'OPTIONS') return NO_ID_LINKS;
    if (route.kind === 'standalone') return this.idLinksOfOperation(route.computedEndpoint.operation, 'result');
    if (route.kind === 'action') return this.idLinksOfOperation(route.computedEndpoint.operation, 'row', 'action');
    if (pageRoute.kind === 'list') return { keys: { results: this.idLinksOfOperation(pageRoute.endpoint.list, 'page', 'nodes') } };
    return pageRoute.kind === 'detail' ? this.idLinksOfOperation(pageRoute.endpoint.detail, 'row') : NO_ID_LINKS;
  }

  private idLinksOfOperation({ document }: RestOperation, ...bodyPath: string[]): IdLinks {
    let links = this.idLinksByDocument.get(document);
    if (!links)
      this.idLinksByDocument.set(
        document,
        (links = idLinksOf(this.dependencies.schema, document, bodyPath, this.pageRoutes.endpointNameOf)),
      );
    return links;
  }

  /** Reads the data in readable form: the table and chart of a list, or the row of a detail page or action. */
  private async readData(
    pageRoute: RowRoute,
    { request, restResponse }: RenderInput,
  ): Promise<Pick<HtmlView, 'table' | 'detailRow' | 'timeSeries'>> {
    const { endpoint } = pageRoute;
    const { resolverContext: context } = request.context;
    if (pageRoute.kind !== 'list') {
      if (![200, 201, 400, 412].includes(restResponse.status)) return {};
      return { detailRow: await this.rowReader.readDetailRow(endpoint, pageRoute.id, context, request.isSignedIn) };
    }
    if (restResponse.status !== 200 || request.method !== 'GET') return {};
    const ids = (restResponse.body as { results: { id: number }[] }).results.map(({ id }) => String(id));
    const where = (request.lastOperation?.variables.where ?? {}) as object;
    const requestedDays = Number(request.query.get(PERIOD_PARAMETER) ?? NaN);
    const days = PERIOD_CHOICES_DAYS.find((period) => period === requestedDays) ?? PERIOD_CHOICES_DAYS[0];
    const [table, timeSeries] = await Promise.all([
      this.rowReader.readTable(endpoint, ids, context),
      ids.length ? this.readTimeSeries(endpoint, where, days, context) : undefined,
    ]);
    return { table, timeSeries };
  }
}

/** Returns the view model of the page for an unknown path (404). For other paths, callers override its properties. */
function buildCommonView({ request, restResponse, headers }: RenderInput): HtmlView {
  const { context, method, query, isSignedIn, path, route } = request;
  return {
    kind: 'none',
    name: 'Page not found',
    description: '',
    method,
    url: request.message.url!,
    path,
    query,
    baseUrl: context.requestInfo.baseUrl,
    status: restResponse.status,
    body: restResponse.body,
    headers,
    allowedMethods: route?.allowedMethods ?? [],
    idLinks: NO_ID_LINKS,
    errors: errorsOf(restResponse),
    resources: [],
    filters: [],
    forms: [],
    canDelete: false,
    notice: method === 'GET' && restResponse.status === 200 ? noticeOf(request.message.headers) : undefined,
    lockedMethods: [],
    isSignedIn,
    visitor: context.authentication.pageVisitor(),
  };
}

/** Returns the validation messages of a 400 response by field; empty for responses with other content. */
function errorsOf({ status, body }: RestResponse): FieldErrors {
  if (status !== 400 || body === null || typeof body !== 'object') return {};
  return Object.values(body).every(Array.isArray) ? (body as FieldErrors) : {};
}
