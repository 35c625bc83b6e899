/** Builds the write forms of a page, with the rows to choose from for each relation. */
import { DateTime } from 'luxon';
import { permitsMethod } from '../../../rest/authorization';
import type { ResourceEndpoint } from '../../../rest/endpoints';
import type { FormTextValues } from '../../../rest/dialect/methodoverride';
import type { RenderInput } from '../../../rest/htmlrenderer';
import { versionInETag } from '../../../rest/preconditions';
import type { RestRequest } from '../../../rest/request';
import type { Route } from '../../../rest/routes';
import { writeFormControlsOf, type RelationChoices, type RelationChoicesLookup } from './controls';
import type { createRowNameSearchLookup } from './rownames';
import { detailPath, listPath, type PageRoutes } from './pageroutes';
import { formatControlValue, hasConflict } from './storedvalues';
import type { FormControl, HtmlView, WriteForm } from './viewmodel';

/** Maximum number of choices of a relation. If there are more rows, the input is a search field. */
const MAX_CHOICES = 60;
const NUMERIC_ID_PATTERN = /^\d+$/;
const LOGIN_CONTROLS: readonly FormControl[] = [
  { key: 'username', label: 'User name', kind: 'string', isSingleLine: true, required: true },
  { key: 'password', label: 'Password', kind: 'password', required: true },
];

const SAFE_HTTP_METHODS = ['GET', 'HEAD'];

type JsonRow = Record<string, unknown>;
type FormProperties = Pick<
  HtmlView,
  'forms' | 'canDelete' | 'methodsRequiringSignIn' | 'rowVersion'
>;

export class FormBuilder {
  constructor(
    private readonly pageRoutes: PageRoutes,
    private readonly rowSearchOf: ReturnType<typeof createRowNameSearchLookup>,
    /** Time zone of the server. */
    private readonly timeZone: string,
  ) {}

  private async readChoicesOfType(
    typeName: string,
    { context, isSignedIn }: RestRequest,
  ): Promise<RelationChoices> {
    const target = this.pageRoutes.endpointNameOf(typeName);
    const rowSearch = this.rowSearchOf(typeName);
    // An anonymous client cannot read rows of users, so they are not offered as choices.
    if (!rowSearch || (rowSearch.isOwned && !isSignedIn)) return { endpointName: target };
    const choices = await rowSearch.readFirstRows(context.resolverContext, {}, MAX_CHOICES + 1);
    if (choices && choices.length <= MAX_CHOICES) return { endpointName: target, choices };
    return { endpointName: target, ...(rowSearch.findByName && { searchedTypeName: typeName }) };
  }

  /** Adds search results to inputs that search rows by name: the rows that match the typed name, or the name of the row if an id was typed. */
  addSearchResults(
    controls: readonly FormControl[],
    controlTextOf: (key: string) => string | undefined,
    { context }: RestRequest,
  ): Promise<FormControl[]> {
    return Promise.all(
      controls.map(async (control) => {
        const searchText = controlTextOf(control.key)?.trim();
        if (!control.searchedTypeName || !searchText) return control;
        const { findByName, readFirstRows } = this.rowSearchOf(control.searchedTypeName)!;
        if (!NUMERIC_ID_PATTERN.test(searchText))
          return { ...control, matches: await findByName!(context.resolverContext, searchText) };
        const [row] =
          (await readFirstRows(context.resolverContext, { id: { eq: searchText } }, 1)) ?? [];
        return { ...control, ...(row && { chosenRowName: String(row.label) }) };
      }),
    );
  }

  /** Returns the stored values that differ from the posted ones, with readable labels: the label of an id is the name of its row. */
  private async findConflictingStoredValues(
    controls: readonly FormControl[],
    postedTexts: FormTextValues,
    storedTexts: FormTextValues,
    request: RestRequest,
  ): Promise<WriteForm['storedValues']> {
    const differingControls = controls.filter((control) =>
      hasConflict(control, postedTexts[control.key], storedTexts[control.key]),
    );
    const controlsWithResults = await this.addSearchResults(
      differingControls,
      (key) => storedTexts[key]?.at(-1),
      request,
    );
    return Object.fromEntries(
      controlsWithResults.map((control) => {
        const texts = storedTexts[control.key] ?? [];
        return [control.key, { texts, label: formatControlValue(control, texts) }];
      }),
    );
  }

  async loadRelationChoices(
    { fields, view }: ResourceEndpoint,
    request: RestRequest,
  ): Promise<RelationChoicesLookup> {
    const filterFieldNames = new Set(view.filters.map(({ field }) => field));
    const types = fields
      .filter(
        (field) => field.relation && (!field.restReadOnly || filterFieldNames.has(field.name)),
      )
      .map((field) => field.relation!.typeName);
    const choicesByType = new Map<string, RelationChoices>();
    await Promise.all(
      [...new Set(types)].map(async (type) =>
        choicesByType.set(type, await this.readChoicesOfType(type, request)),
      ),
    );
    return (type) =>
      choicesByType.get(type) ?? { endpointName: this.pageRoutes.endpointNameOf(type) };
  }

  /** Returns the row that fills the form, as JSON of the REST API, and its version; undefined if it cannot be read. */
  private async readCurrentRow(
    endpoint: ResourceEndpoint,
    id: string,
    { request, restResponse }: RenderInput,
  ): Promise<{ row: JsonRow; version?: string } | undefined> {
    if (restResponse.status < 300 && request.method !== 'OPTIONS')
      return { row: restResponse.body as JsonRow, version: versionInETag(restResponse) };
    if (SAFE_HTTP_METHODS.includes(request.method)) return undefined;
    const { data } = await endpoint.detail(request.context.resolverContext, { id });
    const { versionFieldName } = endpoint.resource;
    return data?.row
      ? { row: data.row, version: versionFieldName && data.row[versionFieldName] }
      : undefined;
  }

  async buildFormProperties(
    pageRoute: Route,
    result: RenderInput,
    relationChoicesOf: RelationChoicesLookup,
  ): Promise<FormProperties> {
    const { request } = result;
    const noForms = { forms: [], canDelete: false, methodsRequiringSignIn: [] };
    if (pageRoute.kind === 'login')
      return {
        ...noForms,
        forms: [
          await this.buildWriteForm(listPath('login'), ['POST'], LOGIN_CONTROLS, undefined, result),
        ],
      };
    if (pageRoute.kind !== 'list' && pageRoute.kind !== 'detail') return noForms;
    const { endpoint } = pageRoute;
    const { create, update, remove } = endpoint;
    const operations = {
      POST: create && pageRoute.kind === 'list',
      PUT: update,
      PATCH: update,
      DELETE: remove,
    };
    const methods = Object.entries(operations).flatMap(([method, operation]) =>
      operation && permitsMethod(pageRoute, method) ? [method] : [],
    );
    // If the session ended before the form was submitted, the form is shown again, so that typed values are not lost.
    if (!request.isSignedIn && !request.form)
      return { ...noForms, methodsRequiringSignIn: methods };
    const controls = writeFormControlsOf(endpoint.fields, relationChoicesOf);
    if (pageRoute.kind === 'list')
      return {
        ...noForms,
        forms: methods.includes('POST')
          ? [
              await this.buildWriteForm(
                listPath(endpoint.view.restName),
                ['POST'],
                controls,
                undefined,
                result,
              ),
            ]
          : [],
      };
    if (methods.length === 0) return noForms;
    const writeMethods = methods.filter((method) => method !== 'DELETE');
    const currentRow =
      (await this.readCurrentRow(endpoint, pageRoute.id, result)) ??
      (request.isSignedIn ? undefined : { row: {} });
    if (!currentRow) {
      // If the row was deleted in the meantime, the form is shown again as one for a new row, so that typed values are not lost. The update failed
      // with 404, or with 403 if the parent row was deleted too.
      const rowWasDeleted =
        request.form &&
        [403, 404].includes(result.restResponse.status) &&
        writeMethods.includes(request.method) &&
        create;
      return rowWasDeleted
        ? {
            ...noForms,
            forms: [deletedRowForm(listPath(endpoint.view.restName), controls, result)],
          }
        : noForms;
    }
    const { row, version } = currentRow;
    const forms = writeMethods.length
      ? [
          await this.buildWriteForm(
            detailPath(endpoint.view.restName, pageRoute.id),
            writeMethods,
            controls,
            row,
            result,
          ),
        ]
      : [];
    // After a version conflict, the form gets the current version of the row. After any other error, it keeps the row version on which its values are
    // based.
    const formRowVersion =
      result.restResponse.status === PRECONDITION_FAILED_STATUS
        ? version
        : (request.form?.rowVersion ?? version);
    return {
      forms,
      canDelete: methods.includes('DELETE'),
      methodsRequiringSignIn: [],
      rowVersion: formRowVersion,
    };
  }

  /** Builds a write form. A rejected form keeps the typed values; other forms show the values of the row. */
  private async buildWriteForm(
    action: string,
    methods: readonly string[],
    controls: readonly FormControl[],
    row: JsonRow | undefined,
    { request, restResponse }: RenderInput,
  ): Promise<WriteForm> {
    const rowValues = controls.map(
      (control) => [control.key, row ? row[control.key] : emptyValueOf(control)] as const,
    );
    const rowTexts = controls.map(
      (control) => [control.key, inputTextsOf(row?.[control.key], control, this.timeZone)] as const,
    );
    // On a list page, the form for a new row is filled with the values of the list's filters.
    const filterTexts = controls
      .map(({ key }) => [key, request.query.getAll(key)] as const)
      .filter(([, texts]) => texts.length > 0);
    const values: FormTextValues = Object.fromEntries(row ? rowTexts : filterTexts);
    const form = {
      action,
      methods,
      controls,
      values,
      jsonText: JSON.stringify(Object.fromEntries(rowValues), null, 2),
    };
    const { form: postedForm } = request;
    if (!postedForm || restResponse.status < 400 || !methods.includes(request.method)) return form;
    const conflict =
      restResponse.status === PRECONDITION_FAILED_STATUS ? ('changed' as const) : undefined;
    if (postedForm.jsonText !== undefined)
      return { ...form, jsonText: postedForm.jsonText, rejectedPart: 'json', conflict };
    const storedValues =
      conflict &&
      (await this.findConflictingStoredValues(controls, postedForm.values, values, request));
    return { ...form, values: postedForm.values, rejectedPart: 'fields', conflict, storedValues };
  }
}

/** Status code of a version mismatch (RFC 9110, section 15.5.13). */
const PRECONDITION_FAILED_STATUS = 412;

/** Length of `YYYY-MM-DDThh:mm:ss`. */
const LOCAL_DATETIME_LENGTH = 19;

/**
 * Formats a timestamp for a form field as local time without a UTC offset. The offset is kept if the local time is ambiguous because clocks go back, or if it
 * differs from the offset of the time zone: a timestamp whose zone offset includes seconds is returned in UTC.
 */
function localDateTimeText(text: string, timeZone: string): string {
  const localText = text.slice(0, LOCAL_DATETIME_LENGTH);
  const localTime = DateTime.fromISO(localText, { zone: timeZone });
  const isLocalTimeUnambiguous =
    localTime.getPossibleOffsets().length === 1 &&
    localTime.offset === DateTime.fromISO(text, { setZone: true }).offset;
  return isLocalTimeUnambiguous ? localText : text;
}

const inputTextsOf = (value: unknown, { kind }: FormControl, timeZone: string): string[] =>
  (value == null ? [] : [value].flat().map(String)).map((text) =>
    kind === 'datetime' ? localDateTimeText(text, timeZone) : text,
  );

const emptyValueOf = ({ kind, multiple }: FormControl): unknown =>
  multiple ? [] : kind === 'boolean' ? false : kind === 'relation' ? null : '';

/** Builds a form that creates a row, filled with the submitted values of an edit form whose row has been deleted in the meantime. */
function deletedRowForm(
  action: string,
  controls: readonly FormControl[],
  { request: { form } }: RenderInput,
): WriteForm {
  const { jsonText, values } = form!;
  return {
    action,
    methods: ['POST'],
    controls,
    values,
    jsonText: jsonText ?? '{}',
    rejectedPart: jsonText === undefined ? 'fields' : 'json',
    conflict: 'deleted',
  };
}
