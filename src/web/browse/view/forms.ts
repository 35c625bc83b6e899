/** Builds the write forms of a page, including the choices for relations. */
import { DateTime } from 'luxon';
import { permitsMethod } from '../../../rest/authorization';
import type { PrepareOperation, ResourceEndpoint } from '../../../rest/endpoints';
import type { FormTextValues, RenderInput, RestRequest } from '../../../rest/request';
import { versionInETag } from '../../../rest/preconditions';
import type { Route } from '../../../rest/routes';
import { writeFormControlsOf, type RelationOptions, type RelationOptionsLookup } from './controls';
import { NUMERIC_ID_PATTERN, type createRowSearchLookup } from './row-names';
import { detailPath, listPath, type PageRoutes } from './page-routes';
import { formatControlValue, hasConflict } from './stored-values';
import type { FormControl, HtmlView, WriteForm } from './view-model';

/** A relation with more rows gets a search field instead of a select element. */
const MAX_CHOICES = 60;
const LOGIN_CONTROLS: readonly FormControl[] = [
  { key: 'username', label: 'User name', kind: 'string', isSingleLine: true, required: true },
  { key: 'password', label: 'Password', kind: 'password', required: true },
];

const SAFE_HTTP_METHODS = ['GET', 'HEAD'];

type JsonRow = Record<string, unknown>;
type FormProperties = Partial<
  Pick<HtmlView, 'form' | 'canDelete' | 'historyCounts' | 'methodsRequiringSignIn' | 'rowVersion'>
>;

export class FormBuilder {
  constructor(
    private readonly pageRoutes: PageRoutes,
    private readonly rowSearchOf: ReturnType<typeof createRowSearchLookup>,
    private readonly prepareOperation: PrepareOperation,
  ) {}

  private async readRelationOptions(
    typeName: string,
    { context, isSignedIn }: RestRequest,
  ): Promise<RelationOptions> {
    const endpointName = this.pageRoutes.endpointNameOf(typeName);
    const rowSearch = this.rowSearchOf(typeName);

    // Anonymous clients cannot read owned rows.
    if (!rowSearch || (rowSearch.isOwned && !isSignedIn)) return { endpointName };
    const choices = await rowSearch.readFirstRows(context, {}, MAX_CHOICES + 1);

    if (choices && choices.length <= MAX_CHOICES) return { endpointName, choices };

    return { endpointName, ...(rowSearch.findByName && { searchedTypeName: typeName }) };
  }

  /**
   * Adds search results to inputs that search rows by name: the rows with a matching name or, if an
   * id was typed, the name of its row.
   */
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

        if (!NUMERIC_ID_PATTERN.test(searchText)) {
          return { ...control, matches: await findByName!(context, searchText) };
        }

        const [row] = (await readFirstRows(context, { id: { eq: searchText } }, 1)) ?? [];

        return { ...control, ...(row && { chosenRowName: String(row.label) }) };
      }),
    );
  }

  /**
   * Finds the stored values that differ from the posted ones, with readable labels such as row
   * names.
   */
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

  async loadRelationOptions(
    { fields, view }: ResourceEndpoint,
    request: RestRequest,
  ): Promise<RelationOptionsLookup> {
    const filterFieldNames = new Set(view.filters.map(({ field }) => field));
    const types = fields
      .filter(
        (field) => field.relation && (!field.restReadOnly || filterFieldNames.has(field.name)),
      )
      .map((field) => field.relation!.typeName);
    const optionsByType = new Map<string, RelationOptions>();

    await Promise.all(
      [...new Set(types)].map(async (type) =>
        optionsByType.set(type, await this.readRelationOptions(type, request)),
      ),
    );

    return (type) =>
      optionsByType.get(type) ?? { endpointName: this.pageRoutes.endpointNameOf(type) };
  }

  /** Reads the row that fills the form, and its version. */
  private async readCurrentRow(
    endpoint: ResourceEndpoint,
    id: string,
    input: RenderInput,
  ): Promise<{ row: JsonRow; version?: string } | undefined> {
    const restRow = await this.readRestRow(endpoint, id, input);
    const pageFields = endpoint.fields.filter((field) => field.restReadOnly && !field.pageReadOnly);

    if (!restRow || pageFields.length === 0) return restRow;
    const selection = pageFields.map(({ restKey, name }) => `${restKey}: ${name}`).join(' ');
    const document = `query ($id: ID!) { row: ${endpoint.resource.rowQueryName}(id: $id) { ${selection} } }`;
    const { data } = await this.prepareOperation(document)(input.request.context, { id });

    return { ...restRow, row: { ...restRow.row, ...(data?.row as JsonRow | null) } };
  }

  /** Reads the fields of a row that REST has, as JSON, and its version. */
  private async readRestRow(
    endpoint: ResourceEndpoint,
    id: string,
    { request, restResponse }: RenderInput,
  ): Promise<{ row: JsonRow; version?: string } | undefined> {
    if (restResponse.status < 300 && request.method !== 'OPTIONS') {
      return { row: restResponse.body as JsonRow, version: versionInETag(restResponse) };
    }

    if (SAFE_HTTP_METHODS.includes(request.method)) return undefined;
    const { data } = await endpoint.detail(request.context, { id });
    const { versionFieldName } = endpoint.resource;

    if (!data?.row) return undefined;

    return { row: data.row, version: versionFieldName && data.row[versionFieldName] };
  }

  async buildFormProperties(
    pageRoute: Route,
    result: RenderInput,
    relationOptionsOf: RelationOptionsLookup,
  ): Promise<FormProperties> {
    const { request } = result;

    const buildCreateForm = async (endpointName: string, controls: readonly FormControl[]) => ({
      form: await this.buildWriteForm(listPath(endpointName), 'POST', controls, undefined, result),
    });

    if (pageRoute.kind === 'login') return buildCreateForm('login', LOGIN_CONTROLS);

    if (pageRoute.kind !== 'list' && pageRoute.kind !== 'detail') return {};
    const { endpoint } = pageRoute;
    const { create, update, remove } = endpoint;
    const operations = { POST: create && pageRoute.kind === 'list', PATCH: update, DELETE: remove };
    const methods = Object.entries(operations).flatMap(([method, operation]) =>
      operation && permitsMethod(pageRoute, method) ? [method] : [],
    );

    // A form that was submitted after the session ended is shown again, so that its values are not
    // lost.
    if (!request.isSignedIn && !request.form) return { methodsRequiringSignIn: methods };
    const endpointName = endpoint.view.restName;
    const controls = writeFormControlsOf(endpoint.fields, relationOptionsOf).map((control) =>
      nameTimeZone(control, request.context.timeZone),
    );

    if (pageRoute.kind === 'list') {
      return methods.includes('POST') ? buildCreateForm(endpointName, controls) : {};
    }

    if (methods.length === 0) return {};
    const storedRow = await this.readCurrentRow(endpoint, pageRoute.id, result);
    // Without a session, the row may be unreadable, but the submitted values are still shown.
    const currentRow = storedRow ?? (request.isSignedIn ? undefined : { row: {} });

    const { status } = result.restResponse;

    if (!currentRow) {
      // The values of a row that was deleted meanwhile are offered as a new row. The update fails
      // with 404, or with 403 if the parent row was deleted too.
      const isRowDeleted =
        request.form && [403, 404].includes(status) && request.method === 'PATCH' && create;

      return isRowDeleted ? { form: deletedRowForm(listPath(endpointName), controls, result) } : {};
    }

    const { row, version } = currentRow;
    const path = detailPath(endpointName, pageRoute.id);
    const form = methods.includes('PATCH')
      ? await this.buildWriteForm(path, 'PATCH', controls, row, result)
      : undefined;
    // Keeps the row version on which the values of the form are based, except after a conflict.
    const baseVersion = request.form?.rowVersion ?? version;
    const rowVersion = status === PRECONDITION_FAILED_STATUS ? version : baseVersion;

    const canDelete = methods.includes('DELETE');
    const historyCounts = canDelete
      ? await this.countHistory(endpoint, pageRoute.id, result)
      : undefined;

    return { form, canDelete, historyCounts, rowVersion };
  }

  private async countHistory(
    { resource: { historyFieldNames, rowQueryName } }: ResourceEndpoint,
    id: string,
    { request: { context } }: RenderInput,
  ): Promise<HtmlView['historyCounts']> {
    if (!historyFieldNames) return undefined;
    const selection = historyFieldNames.map((name) => `${name} { totalCount }`).join(' ');
    const document = `query ($id: ID!) { row: ${rowQueryName}(id: $id) { ${selection} } }`;
    const { data } = await this.prepareOperation(document)(context, { id });
    const row = data?.row as Record<string, { totalCount: number }> | null | undefined;
    const counts = Object.entries(row ?? {}).map(([name, { totalCount }]) => [name, totalCount]);

    return Object.fromEntries(counts) as HtmlView['historyCounts'];
  }

  /**
   * Builds a write form. A rejected form keeps the typed values; other forms show the values of the
   * row.
   */
  private async buildWriteForm(
    action: string,
    method: WriteForm['method'],
    controls: readonly FormControl[],
    row: JsonRow | undefined,
    { request, restResponse }: RenderInput,
  ): Promise<WriteForm> {
    const rowTexts = controls.map(
      (control) =>
        [control.key, inputTextsOf(row?.[control.key], control, request.context.timeZone)] as const,
    );
    // On a list page, the form for a new row starts with the values of the filters.
    const filterTexts = controls
      .map(({ key }) => [key, request.query.getAll(key)] as const)
      .filter(([, texts]) => texts.length > 0);
    const values: FormTextValues = Object.fromEntries(row ? rowTexts : filterTexts);
    const form = { action, method, controls, values };
    const { form: postedForm } = request;

    if (!postedForm || restResponse.status < 400 || request.method !== method) return form;
    const rejectedForm = { ...form, values: postedForm.values, isRejected: true };

    if (restResponse.status !== PRECONDITION_FAILED_STATUS) return rejectedForm;

    return {
      ...rejectedForm,
      conflict: 'changed',
      storedValues: await this.findConflictingStoredValues(
        controls,
        postedForm.values,
        values,
        request,
      ),
    };
  }
}

function nameTimeZone(control: FormControl, timeZone: string): FormControl {
  if (control.kind !== 'datetime') return control;
  const sentences = [control.helpText, `In the time zone ${timeZone}.`];

  return { ...control, helpText: sentences.filter(Boolean).join(' ') };
}

/** HTTP status for an outdated row version (RFC 9110, section 15.5.13). */
const PRECONDITION_FAILED_STATUS = 412;

/** UTC offset with seconds, as those of local mean times before standard time. */
const OFFSET_WITH_SECONDS_PATTERN = /:\d\d:\d\d$/;

/**
 * Formats a timestamp as local time for a form field. Keeps the UTC offset if the local time is
 * ambiguous (clocks go back), or its offset is no whole number of minutes.
 */
function formatLocalDateTime(text: string, timeZone: string): string {
  const localTime = DateTime.fromISO(text, { zone: timeZone });
  const { value: offset } = localTime
    .setLocale('en')
    .toLocaleParts({ timeZoneName: 'longOffset' })
    .find(({ type }) => type === 'timeZoneName')!;
  const isAmbiguous =
    localTime.getPossibleOffsets().length > 1 || OFFSET_WITH_SECONDS_PATTERN.test(offset);

  return isAmbiguous ? text : localTime.toFormat("yyyy-MM-dd'T'HH:mm:ss");
}

function inputTextsOf(value: unknown, { kind }: FormControl, timeZone: string): string[] {
  const texts = value == null ? [] : [value].flat().map(String);

  return kind === 'datetime' ? texts.map((text) => formatLocalDateTime(text, timeZone)) : texts;
}

/** Offers the values of an edit form as a new row, because the row has been deleted meanwhile. */
const deletedRowForm = (
  action: string,
  controls: readonly FormControl[],
  { request: { form } }: RenderInput,
): WriteForm => ({
  action,
  method: 'POST',
  controls,
  values: form!.values,
  isRejected: true,
  conflict: 'deleted',
});
