/** Builds the write forms of a page, with the rows to choose from for each relation. */
import { permitsMethod } from '../../../rest/authorization';
import type { Endpoint } from '../../../rest/endpoints';
import type { FormTexts } from '../../../rest/dialect/methodoverride';
import type { RenderInput } from '../../../rest/htmlrenderer';
import type { RestRequest } from '../../../rest/request';
import { API_BASE_PATH, type Route } from '../../../rest/routes';
import { writeControls, type RelationChoices, type RelationChoicesOf } from './controls';
import type { rowSearches } from './rownames';
import { detailPath, type PageRoutes } from './pageroutes';
import type { FormControl, HtmlView, WriteForm } from './viewmodel';

/** A relation to more rows has a search field instead of a list of choices. */
const MAX_CHOICES = 60;
const ID = /^\d+$/;
const LOGIN_CONTROLS: readonly FormControl[] = [
  { key: 'username', label: 'User name', kind: 'string', line: true, required: true },
  { key: 'password', label: 'Password', kind: 'password', required: true },
];

const SAFE_METHODS = ['GET', 'HEAD'];

export class FormBuilder {
  constructor(
    private readonly places: PageRoutes,
    private readonly namingOf: ReturnType<typeof rowSearches>,
  ) {}

  private async relatedRows(type: string, { context, signedIn }: RestRequest): Promise<RelationChoices> {
    const target = this.places.nameOf(type);
    const naming = this.namingOf(type);
    // Anonymous clients cannot see the rows of users.
    if (!naming || (naming.owned && !signedIn)) return { target };
    const choices = await naming.rows(context.resolverContext, {}, MAX_CHOICES + 1);
    if (choices && choices.length <= MAX_CHOICES) return { target, choices };
    return { target, ...(naming.find && { searched: type }) };
  }

  /** Resolves the contents of search fields: a name to the rows that match, an id to the name of its row. */
  lookedUp(
    controls: readonly FormControl[],
    textOf: (key: string) => string | undefined,
    { context }: RestRequest,
  ): Promise<FormControl[]> {
    return Promise.all(
      controls.map(async (control) => {
        const text = textOf(control.key)?.trim();
        if (!control.searched || !text) return control;
        const { find, rows } = this.namingOf(control.searched)!;
        if (!ID.test(text)) return { ...control, found: await find!(context.resolverContext, text) };
        const [row] = (await rows(context.resolverContext, { id: { eq: text } }, 1)) ?? [];
        return { ...control, ...(row && { chosen: String(row.label) }) };
      }),
    );
  }

  async relatedOf({ fields, view }: Endpoint, request: RestRequest): Promise<RelationChoicesOf> {
    const filterFields = new Set(view.filters.map(({ field }) => field));
    const types = fields
      .filter((field) => field.relation && (!field.restReadOnly || filterFields.has(field.name)))
      .map((field) => field.relation!.type);
    const relatedByType = new Map<string, RelationChoices>();
    await Promise.all([...new Set(types)].map(async (type) => relatedByType.set(type, await this.relatedRows(type, request))));
    return (type) => relatedByType.get(type) ?? { target: this.places.nameOf(type) };
  }

  /** Returns the row that fills the form; undefined if the response is not about a row. */
  private async rowOf(endpoint: Endpoint, id: string, { request, answer }: RenderInput): Promise<Record<string, unknown> | undefined> {
    if (answer.status < 300 && request.method !== 'OPTIONS') return answer.body as Record<string, unknown>;
    if (SAFE_METHODS.includes(request.method)) return undefined;
    const { data } = await endpoint.detail(request.context.resolverContext, { id });
    return data?.row ?? undefined;
  }

  async formsOf(
    pageRoute: Route,
    result: RenderInput,
    related: RelationChoicesOf,
  ): Promise<Pick<HtmlView, 'forms' | 'removable' | 'locked'>> {
    const { request } = result;
    const noForms = { forms: [], removable: false, locked: [] };
    if (pageRoute.kind === 'login')
      return { ...noForms, forms: [formOf(`${API_BASE_PATH}/login/`, ['POST'], LOGIN_CONTROLS, undefined, result)] };
    if (pageRoute.kind !== 'list' && pageRoute.kind !== 'detail') return noForms;
    const { endpoint } = pageRoute;
    const { create, update, remove, view } = endpoint;
    const operations = { POST: create && pageRoute.kind === 'list', PUT: update, PATCH: update, DELETE: remove };
    const methods = Object.entries(operations).flatMap(([method, operation]) =>
      operation && permitsMethod(pageRoute, method) ? [method] : [],
    );
    // The form is kept if the session ended meanwhile, so that typed values are not lost.
    if (!request.signedIn && !request.form) return { ...noForms, locked: methods };
    const controls = writeControls(endpoint.fields, related);
    if (pageRoute.kind === 'list')
      return {
        ...noForms,
        forms: methods.includes('POST') ? [formOf(`${API_BASE_PATH}/${view.rest}/`, ['POST'], controls, undefined, result)] : [],
      };
    const row = methods.length ? ((await this.rowOf(endpoint, pageRoute.id, result)) ?? (request.signedIn ? undefined : {})) : undefined;
    if (!row) return noForms;
    const writeMethods = methods.filter((method) => method !== 'DELETE');
    const forms = writeMethods.length ? [formOf(detailPath(endpoint, pageRoute.id), writeMethods, controls, row, result)] : [];
    return { forms, removable: methods.includes('DELETE'), locked: [] };
  }
}

/** Length of `YYYY-MM-DDThh:mm:ss`: forms show and accept local times of the server, without a zone offset. */
const LOCAL_DATETIME_LENGTH = 19;
const textsOf = (value: unknown, { kind }: FormControl): string[] =>
  (value == null ? [] : [value].flat().map(String)).map((text) => (kind === 'datetime' ? text.slice(0, LOCAL_DATETIME_LENGTH) : text));

const emptyValueOf = ({ kind, many }: FormControl): unknown => (many ? [] : kind === 'boolean' ? false : kind === 'relation' ? null : '');

/** A rejected form keeps the typed values. Any other form shows those of the row. */
function formOf(
  action: string,
  methods: readonly string[],
  controls: readonly FormControl[],
  row: Record<string, unknown> | undefined,
  { request, answer }: RenderInput,
): WriteForm {
  const rowValues = controls.map((control) => [control.key, row ? row[control.key] : emptyValueOf(control)] as const);
  const rowTexts = controls.map((control) => [control.key, textsOf(row?.[control.key], control)] as const);
  // The filters of a list are the initial values of a new row.
  const filterTexts = controls.map(({ key }) => [key, request.query.getAll(key)] as const).filter(([, texts]) => texts.length > 0);
  const values: FormTexts = Object.fromEntries(row ? rowTexts : filterTexts);
  const form = { action, methods, controls, values, raw: JSON.stringify(Object.fromEntries(rowValues), null, 2) };
  const { form: postedForm } = request;
  if (!postedForm || answer.status < 400 || !methods.includes(request.method)) return form;
  if (postedForm.raw !== undefined) return { ...form, raw: postedForm.raw, failed: 'raw' };
  return { ...form, values: postedForm.values, failed: 'fields' };
}
