/** Builds the view model of a browsable page from a REST request and its response. */
import type { GraphQLSchema } from 'graphql';
import { argumentControlsOf, filterControlsOf } from './controls';
import type { ResourceEndpoint, RestOperation, PrepareOperation } from '../../../rest/endpoints';
import type { ApiDescription, RenderInput, RestResponse } from '../../../rest/request';
import { csvDocumentOf } from './csv-columns';
import { createOperationTranslator } from './graphql-example';
import { FormBuilder } from './forms';
import { idLinkTreeOf, EMPTY_ID_LINK_TREE, type IdLinkTree } from './id-link-tree';
import type { HttpOptionsMetadata } from '../../../rest/drf/metadata';
import { createRowSearchLookup } from './row-names';
import { pagePathOf, PageRoutes, pageResourceOf } from './page-routes';
import {
  PERIOD_PARAMETER,
  PERIODS_IN_DAYS,
  massFieldsOf,
  PREFERRED_UNIT_SELECTION,
  preferredMassUnitOf,
  createTimeSeriesReader,
  type MassUnit,
} from './time-series';
import { RowReader } from './row-reader';
import { endpointTitle, pluralLabelOf, singularLabelOf } from './labels';
import { parsePageWindow } from '../../../rest/drf/pagination';
import { API_BASE_PATH, type Route } from '../../../rest/routes';
import type { FieldErrors, FormControl, HtmlView, WriteForm } from './view-model';
import { readNotice } from '../post-redirect';

export interface ViewDependencies extends ApiDescription {
  schema: GraphQLSchema;

  /**
   * Schema that `/graphql` serves. Pages show an operation of this schema that is equivalent to
   * their REST request.
   */
  publicSchema: GraphQLSchema;
  prepareOperation: PrepareOperation;

  /** Whether lists can be exported as files. False if `/graphql` accepts only trusted documents. */
  permitsExports: boolean;
}

/** Route of a list, a row or an action of a row. */
type RowRoute = Extract<Route, { endpoint: ResourceEndpoint }>;

const SEARCH_PATH_PATTERN = new RegExp(`^${API_BASE_PATH}/(\\w+)/search/$`);

export class ViewBuilder {
  private readonly pageRoutes: PageRoutes;
  private readonly formBuilder: FormBuilder;
  private readonly rowReader: RowReader;
  private readonly readTimeSeries: ReturnType<typeof createTimeSeriesReader>;
  private readonly toPublicSchemaOperation: ReturnType<typeof createOperationTranslator>;

  /**
   * Id links by GraphQL document. They are cached, because deriving them takes up to a tenth of the
   * CPU time of a page.
   */
  private readonly idLinkTreeByDocument = new Map<string, IdLinkTree>();

  constructor(private readonly dependencies: ViewDependencies) {
    const { schema, publicSchema, endpoints, prepareOperation } = dependencies;

    this.pageRoutes = new PageRoutes(endpoints);
    this.formBuilder = new FormBuilder(
      this.pageRoutes,
      createRowSearchLookup(schema, prepareOperation),
      prepareOperation,
    );
    this.rowReader = new RowReader(prepareOperation, this.pageRoutes);
    this.readTimeSeries = createTimeSeriesReader(prepareOperation);
    this.toPublicSchemaOperation = createOperationTranslator(schema, publicSchema);
  }

  async buildView(result: RenderInput): Promise<HtmlView> {
    const { request } = result;
    const { route } = request;
    const view = buildDefaultView(result);

    if (!route) return view;
    const pageRoute = this.pageRoutes.pageRouteOf(route, result);
    const optionsResponse = await this.dependencies
      .describeEndpoint(pageRoute, request)
      .catch(() => undefined);
    const options = optionsResponse?.body as HttpOptionsMetadata | undefined;

    Object.assign(view, {
      kind: pageRoute.kind,
      name: endpointTitle(String(options?.name ?? '')),
      description: String(options?.description ?? ''),
      options,
      idLinkTree: this.idLinkTreeFor(route, pageRoute, result),
      graphqlOperation: this.equivalentGraphqlOperation(route, result),
      csvOperation: this.csvOperation(route, result),
      path: pagePathOf(pageRoute, request.path),
      ...this.viewPropertiesOfKind(pageRoute, request.path),
    });

    if (pageRoute.endpoint) {
      return Object.assign(view, await this.buildRowViewProperties(pageRoute, result));
    }

    return Object.assign(
      view,
      await this.formBuilder.buildFormProperties(pageRoute, result, () => ({})),
    );
  }

  /** View properties of the API root, of actions and of standalone endpoints such as searches. */
  private viewPropertiesOfKind(pageRoute: Route, path: string): Partial<HtmlView> {
    if (pageRoute.kind === 'root') {
      return {
        resources: this.pageRoutes.listedResources(),
        name: 'All data',
        description:
          'Lists open as tables and rows as pages. Programs get JSON from the same URLs.',
      };
    }

    if (pageRoute.kind === 'standalone') {
      const match = SEARCH_PATH_PATTERN.exec(path);
      const resource =
        match && this.pageRoutes.listedResources().find(({ name }) => name === match[1]);

      return {
        filters: argumentControlsOf(pageRoute.graphqlFieldEndpoint.field.args),
        ...(resource && { name: `Search ${resource.pluralLabel.toLowerCase()}` }),
      };
    }

    if (pageRoute.kind === 'action') {
      return {
        filters: argumentControlsOf(pageRoute.graphqlFieldEndpoint.field.args),
        actionName: pageRoute.graphqlFieldEndpoint.metadata.name,
      };
    }

    return {};
  }

  private async readPreferredUnit(context: object): Promise<MassUnit> {
    const { prepareOperation } = this.dependencies;
    const { data } = await prepareOperation(`{ ${PREFERRED_UNIT_SELECTION} }`)(context);

    return preferredMassUnitOf(data);
  }

  /** Names the unit of a mass: that of the row or, for a new row, the one that the viewer prefers. */
  private async addMassUnit(
    form: WriteForm,
    { type }: ResourceEndpoint,
    context: object,
  ): Promise<WriteForm> {
    const { valueField, unitField } = massFieldsOf(type) ?? {};

    if (!valueField || !unitField) return form;
    const unitKey = unitField.restKey;
    const unit = form.values[unitKey]?.find(Boolean) ?? (await this.readPreferredUnit(context));
    const addUnit = (control: FormControl) =>
      control.key === valueField.restKey ? { ...control, unit } : control;

    return {
      ...form,
      controls: form.controls.map(addUnit),
      values: { ...form.values, [unitKey]: [unit] },
    };
  }

  private async buildRowViewProperties(
    pageRoute: RowRoute,
    result: RenderInput,
  ): Promise<Partial<HtmlView>> {
    const { request } = result;
    const { endpoint, kind } = pageRoute;
    const { fields, view, type } = endpoint;
    const relationOptionsOf = await this.formBuilder.loadRelationOptions(endpoint, request);
    const { form, ...formProperties } = await this.formBuilder.buildFormProperties(
      pageRoute,
      result,
      relationOptionsOf,
    );
    const data = await this.readRowData(pageRoute, result);
    const controls =
      form &&
      (await this.formBuilder.addSearchResults(
        form.controls,
        (key) => form.values[key]?.at(-1),
        request,
      ));
    const rowView = {
      ...formProperties,
      ...data,
      form:
        form &&
        (await this.addMassUnit({ ...form, controls: controls! }, endpoint, request.context)),
      endpoint,
      resource: pageResourceOf(endpoint),
    };

    if (kind === 'action') return { ...rowView, rowId: pageRoute.id };

    if (kind === 'detail') {
      return {
        ...rowView,
        rowId: pageRoute.id,
        name: data.detailRow?.name ?? singularLabelOf(type),
      };
    }

    const filterControls = filterControlsOf(view.filters, fields, relationOptionsOf);

    return {
      ...rowView,
      name: pluralLabelOf(type),
      filters: await this.formBuilder.addSearchResults(
        filterControls,
        (key) => request.query.getAll(key).at(-1),
        request,
      ),
      isTextSearch: Boolean(request.searchConditions?.size),
      pageWindow: parsePageWindow(request.query, request.maxLimit),
    };
  }

  private equivalentGraphqlOperation(
    route: Route,
    { request }: RenderInput,
  ): HtmlView['graphqlOperation'] {
    const { lastOperation } = request;
    const isLogin = route.kind === 'login';
    const endpoint = route.kind === 'list' || route.kind === 'detail' ? route.endpoint : undefined;

    if (lastOperation && !isLogin) {
      return this.toPublicSchemaOperation(lastOperation.operation, lastOperation.variables);
    }

    if (isLogin) {
      return this.toPublicSchemaOperation(this.dependencies.endpoints.login, {
        username: '',
        password: '',
      });
    }

    if (!endpoint) return undefined;

    if (route.kind === 'detail') {
      return this.toPublicSchemaOperation(endpoint.detail, { id: route.id });
    }

    const { limit, offset } = parsePageWindow(request.query, request.maxLimit);

    return this.toPublicSchemaOperation(endpoint.list, { first: limit, offset });
  }

  private csvOperation(route: Route, { request }: RenderInput): HtmlView['csvOperation'] {
    if (!this.dependencies.permitsExports || route.kind !== 'list') return undefined;
    const { first: _first, offset: _offset, ...variables } = request.lastOperation?.variables ?? {};

    return this.toPublicSchemaOperation({ document: csvDocumentOf(route.endpoint) }, variables);
  }

  private idLinkTreeFor(
    route: Route,
    pageRoute: Route,
    { request, restResponse }: RenderInput,
  ): IdLinkTree {
    if (restResponse.status >= 300 || request.method === 'OPTIONS') return EMPTY_ID_LINK_TREE;

    if (route.kind === 'standalone') {
      return this.idLinkTreeOfOperation(route.graphqlFieldEndpoint.operation, 'result');
    }

    if (route.kind === 'action') {
      return this.idLinkTreeOfOperation(route.graphqlFieldEndpoint.operation, 'row', 'action');
    }

    if (pageRoute.kind === 'list') {
      return {
        childrenByKey: {
          results: this.idLinkTreeOfOperation(pageRoute.endpoint.list, 'page', 'nodes'),
        },
      };
    }

    if (pageRoute.kind !== 'detail') return EMPTY_ID_LINK_TREE;

    return this.idLinkTreeOfOperation(pageRoute.endpoint.detail, 'row');
  }

  private idLinkTreeOfOperation({ document }: RestOperation, ...bodyPath: string[]): IdLinkTree {
    const cachedTree = this.idLinkTreeByDocument.get(document);

    if (cachedTree) return cachedTree;
    const { schema } = this.dependencies;
    const linkTree = idLinkTreeOf(schema, document, bodyPath, this.pageRoutes.endpointNameOf);

    this.idLinkTreeByDocument.set(document, linkTree);
    return linkTree;
  }

  /** Reads the table and the time series of a list, or the row of a detail page or action. */
  private async readRowData(
    pageRoute: RowRoute,
    { request, restResponse }: RenderInput,
  ): Promise<Pick<HtmlView, 'table' | 'detailRow' | 'timeSeries'>> {
    const { endpoint } = pageRoute;
    const { context } = request;

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
    const { results, count } = restResponse.body as { results: { id: number }[]; count: number };
    const ids = results.map(({ id }) => String(id));
    const where = (request.lastOperation?.variables.where ?? {}) as object;
    const requestedDays = Number(request.query.get(PERIOD_PARAMETER) ?? NaN);
    const days = PERIODS_IN_DAYS.find((period) => period === requestedDays) ?? PERIODS_IN_DAYS[0];
    const [table, timeSeries] = await Promise.all([
      this.rowReader.readTable(endpoint, ids, context),
      ids.length
        ? this.readTimeSeries(endpoint, { where, rowCount: count }, days, context)
        : undefined,
    ]);

    return { table, timeSeries };
  }
}

/** Default view model: a 404 page. Callers override what differs. */
function buildDefaultView({ request, restResponse, headers }: RenderInput): HtmlView {
  const { context, method, query, isSignedIn, path, route } = request;
  const showsNotice = method === 'GET' && restResponse.status === 200;

  return {
    kind: 'none',
    name: 'Page not found',
    description: '',
    method,
    url: request.message.url!,
    path,
    query,
    baseUrl: context.request.baseUrl,
    timeZone: context.timeZone,
    status: restResponse.status,
    body: restResponse.body,
    headers,
    allowedMethods: route?.allowedMethods ?? [],
    idLinkTree: EMPTY_ID_LINK_TREE,
    errors: validationErrorsOf(restResponse),
    resources: [],
    filters: [],
    canDelete: false,
    notice: showsNotice ? readNotice(request.message.headers) : undefined,
    methodsRequiringSignIn: [],
    isSignedIn,
    visitor: context.authentication.pageVisitor(),
  };
}

/** Validation messages of a 400 response by field. */
function validationErrorsOf({ status, body }: RestResponse): FieldErrors {
  if (status !== 400 || body === null || typeof body !== 'object') return {};

  return Object.values(body).every(Array.isArray) ? (body as FieldErrors) : {};
}
