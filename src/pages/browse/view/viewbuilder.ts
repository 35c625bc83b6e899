/** Builds the view model of a browsable page from a REST request and its response. It is not used for JSON responses. */
import type { GraphQLSchema } from 'graphql';
import { argumentControlsOf, filterControlsOf } from './controls';
import type { ResourceEndpoint, RestOperation, PrepareOperation } from '../../../rest/endpoints';
import type { ApiDescription, RenderInput } from '../../../rest/htmlrenderer';
import { publicSchemaOperationTranslator } from './graphqlexample';
import { FormBuilder } from './forms';
import { idLinkTreeOf, EMPTY_ID_LINK_TREE, type IdLinkTree } from './idlinktree';
import type { HttpOptionsMetadata } from '../../../rest/dialect/metadata';
import type { Row } from './cells';
import { createRowNameSearchLookup } from './rownames';
import { pagePathOf, PageRoutes, pageResourceOf } from './pageroutes';
import {
  PERIOD_PARAMETER,
  PERIOD_CHOICES_DAYS,
  fieldInPreferredUnit,
  timeSeriesReader,
} from './timeseries';
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
  publicSchema: GraphQLSchema;
  prepareOperation: PrepareOperation;
  /** Whether lists can be exported as files: not if `/graphql` accepts trusted documents only. */
  permitsExports: boolean;
}

/** Route of a page that shows a list of rows, a row or an action of a row. */
type RowRoute = Extract<Route, { endpoint: ResourceEndpoint }>;

const SEARCH_PATH_PATTERN = new RegExp(`^${API_BASE_PATH}/(\\w+)/search/$`);

export class ViewBuilder {
  private readonly pageRoutes: PageRoutes;
  private readonly formBuilder: FormBuilder;
  private readonly rowReader: RowReader;
  private readonly readTimeSeries: ReturnType<typeof timeSeriesReader>;
  private readonly toPublicSchemaOperation: ReturnType<typeof publicSchemaOperationTranslator>;
  /** Id links by GraphQL document. They are cached, because deriving them for each page would take up to a tenth of the CPU time of the page. */
  private readonly idLinkTreeByDocument = new Map<string, IdLinkTree>();

  constructor(private readonly dependencies: ViewDependencies) {
    const { schema, publicSchema, endpoints, prepareOperation, timeZone } = dependencies;
    this.pageRoutes = new PageRoutes(endpoints);
    this.formBuilder = new FormBuilder(
      this.pageRoutes,
      createRowNameSearchLookup(schema, prepareOperation),
      timeZone,
    );
    this.rowReader = new RowReader(prepareOperation, this.pageRoutes);
    this.readTimeSeries = timeSeriesReader(schema, prepareOperation);
    this.toPublicSchemaOperation = publicSchemaOperationTranslator(publicSchema);
  }

  async buildView(result: RenderInput): Promise<HtmlView> {
    const { request } = result;
    const { route } = request;
    const view = buildCommonView(result);
    if (!route) return view;
    const pageRoute = this.pageRoutes.pageRouteOf(route, result);
    const options = (
      await this.dependencies.describeEndpoint(pageRoute, request).catch(() => undefined)
    )?.body as HttpOptionsMetadata | undefined;
    Object.assign(view, {
      kind: pageRoute.kind,
      name: endpointTitle(String(options?.name ?? '')),
      description: String(options?.description ?? ''),
      options,
      idLinkTree: this.idLinkTreeFor(route, pageRoute, result),
      graphqlOperation: this.equivalentOperationOf(route, result),
      permitsExports: this.dependencies.permitsExports,
      path: pagePathOf(pageRoute, request.path),
      ...this.viewPropertiesOfKind(pageRoute, request.path),
    });
    if (pageRoute.endpoint)
      return Object.assign(view, await this.buildRowViewProperties(pageRoute, result));
    return Object.assign(
      view,
      await this.formBuilder.buildFormProperties(pageRoute, result, () => ({})),
    );
  }

  /** Returns the view properties that only the API root, actions, and endpoints that belong to no row (such as searches) have. */
  private viewPropertiesOfKind(pageRoute: Route, path: string): Partial<HtmlView> {
    if (pageRoute.kind === 'root')
      return {
        resources: this.pageRoutes.listedResources(),
        name: 'All data',
        description:
          'Lists open as tables and rows as pages. Programs get JSON from the same URLs.',
      };
    if (pageRoute.kind === 'standalone') {
      const match = SEARCH_PATH_PATTERN.exec(path);
      const resource =
        match && this.pageRoutes.listedResources().find(({ name }) => name === match[1]);
      return {
        filters: argumentControlsOf(pageRoute.graphqlFieldEndpoint.field.args),
        ...(resource && { name: `Search ${resource.pluralLabel.toLowerCase()}` }),
      };
    }
    if (pageRoute.kind === 'action')
      return {
        filters: argumentControlsOf(pageRoute.graphqlFieldEndpoint.field.args),
        actionName: pageRoute.graphqlFieldEndpoint.metadata.name,
      };
    return {};
  }

  /** Returns a function that adds the preferred unit of the viewer to the input for a mass; undefined if the type has no field for a mass. */
  private async createUnitAdder(
    { type }: ResourceEndpoint,
    context: object,
  ): Promise<((control: FormControl) => FormControl) | undefined> {
    const { schema, prepareOperation } = this.dependencies;
    const field = fieldInPreferredUnit(type, schema);
    if (!field) return undefined;
    const { data } = await prepareOperation('{ viewer { profile { unitSystem } } }')(context);
    const unit = prefersPounds((data?.viewer?.profile ?? {}) as Row) ? 'lb' : 'kg';
    return (control) => (control.key === field.restKey ? { ...control, unit } : control);
  }

  private async buildRowViewProperties(
    pageRoute: RowRoute,
    result: RenderInput,
  ): Promise<Partial<HtmlView>> {
    const { request } = result;
    const { endpoint, kind } = pageRoute;
    const { fields, view, type } = endpoint;
    const relationChoicesOf = await this.formBuilder.loadRelationChoices(endpoint, request);
    const { forms, ...formProperties } = await this.formBuilder.buildFormProperties(
      pageRoute,
      result,
      relationChoicesOf,
    );
    const data = await this.readRowData(pageRoute, result);
    const addUnit = forms.length
      ? await this.createUnitAdder(endpoint, request.context.resolverContext)
      : undefined;
    const filledFormPromises = forms.map(async (form) => {
      const controls = await this.formBuilder.addSearchResults(
        form.controls,
        (key) => form.values[key]?.at(-1),
        request,
      );
      return { ...form, controls: addUnit ? controls.map(addUnit) : controls };
    });
    const rowView = {
      ...formProperties,
      ...data,
      forms: await Promise.all(filledFormPromises),
      endpoint,
      resource: pageResourceOf(endpoint),
    };
    if (kind === 'action') return { ...rowView, rowId: pageRoute.id };
    if (kind === 'detail')
      return {
        ...rowView,
        rowId: pageRoute.id,
        name: data.detailRow?.name ?? singularLabelOf(type),
      };
    const filterControls = filterControlsOf(view.filters, fields, relationChoicesOf);
    return {
      ...rowView,
      name: pluralLabelOf(type),
      filters: await this.formBuilder.addSearchResults(
        filterControls,
        (key) => request.query.getAll(key).at(-1),
        request,
      ),
      pageWindow: parsePageWindow(request.query, request.maxLimit),
    };
  }

  private equivalentOperationOf(
    route: Route,
    { request }: RenderInput,
  ): HtmlView['graphqlOperation'] {
    const { lastOperation } = request;
    const isLogin = route.kind === 'login';
    const endpoint = route.kind === 'list' || route.kind === 'detail' ? route.endpoint : undefined;
    if (lastOperation && !isLogin && lastOperation.operation !== endpoint?.referenceableIdsQuery)
      return this.toPublicSchemaOperation(lastOperation.operation, lastOperation.variables);
    if (isLogin)
      return this.toPublicSchemaOperation(this.dependencies.endpoints.login, {
        username: '',
        password: '',
      });
    if (!endpoint) return undefined;
    if (route.kind === 'detail')
      return this.toPublicSchemaOperation(endpoint.detail, { id: route.id });
    const { limit, offset } = parsePageWindow(request.query, request.maxLimit);
    return this.toPublicSchemaOperation(endpoint.list, { first: limit, offset });
  }

  private idLinkTreeFor(
    route: Route,
    pageRoute: Route,
    { request, restResponse }: RenderInput,
  ): IdLinkTree {
    if (restResponse.status >= 300 || request.method === 'OPTIONS') return EMPTY_ID_LINK_TREE;
    if (route.kind === 'standalone')
      return this.idLinkTreeOfOperation(route.graphqlFieldEndpoint.operation, 'result');
    if (route.kind === 'action')
      return this.idLinkTreeOfOperation(route.graphqlFieldEndpoint.operation, 'row', 'action');
    if (pageRoute.kind === 'list')
      return {
        childrenByKey: {
          results: this.idLinkTreeOfOperation(pageRoute.endpoint.list, 'page', 'nodes'),
        },
      };
    return pageRoute.kind === 'detail'
      ? this.idLinkTreeOfOperation(pageRoute.endpoint.detail, 'row')
      : EMPTY_ID_LINK_TREE;
  }

  private idLinkTreeOfOperation({ document }: RestOperation, ...bodyPath: string[]): IdLinkTree {
    let links = this.idLinkTreeByDocument.get(document);
    if (!links)
      this.idLinkTreeByDocument.set(
        document,
        (links = idLinkTreeOf(
          this.dependencies.schema,
          document,
          bodyPath,
          this.pageRoutes.endpointNameOf,
        )),
      );
    return links;
  }

  /** Reads the data in readable form: the table and chart of a list, or the row of a detail page or action. */
  private async readRowData(
    pageRoute: RowRoute,
    { request, restResponse }: RenderInput,
  ): Promise<Pick<HtmlView, 'table' | 'detailRow' | 'timeSeries'>> {
    const { endpoint } = pageRoute;
    const { resolverContext: context } = request.context;
    if (pageRoute.kind !== 'list') {
      if (![200, 201, 400, 412].includes(restResponse.status)) return {};
      return {
        detailRow: await this.rowReader.readDetailRow(
          endpoint,
          pageRoute.id,
          context,
          request.isSignedIn,
        ),
      };
    }
    if (restResponse.status !== 200 || request.method !== 'GET') return {};
    const ids = (restResponse.body as { results: { id: number }[] }).results.map(({ id }) =>
      String(id),
    );
    const where = (request.lastOperation?.variables.where ?? {}) as object;
    const requestedDays = Number(request.query.get(PERIOD_PARAMETER) ?? NaN);
    const days =
      PERIOD_CHOICES_DAYS.find((period) => period === requestedDays) ?? PERIOD_CHOICES_DAYS[0];
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
    idLinkTree: EMPTY_ID_LINK_TREE,
    errors: errorsOf(restResponse),
    resources: [],
    filters: [],
    forms: [],
    canDelete: false,
    notice:
      method === 'GET' && restResponse.status === 200
        ? noticeOf(request.message.headers)
        : undefined,
    methodsRequiringSignIn: [],
    isSignedIn,
    visitor: context.authentication.pageVisitor(),
  };
}

/** Returns the validation messages of a 400 response by field; empty for responses with other content. */
function errorsOf({ status, body }: RestResponse): FieldErrors {
  if (status !== 400 || body === null || typeof body !== 'object') return {};
  return Object.values(body).every(Array.isArray) ? (body as FieldErrors) : {};
}
