/** The forms of a page: what can be written of what it is about, with the rows that relations are chosen from. */
import { may } from '../../../rest/admission';
import type { Endpoint } from '../../../rest/endpoints';
import type { TypedTexts } from '../../../rest/dialect/forms';
import type { Shown } from '../../../rest/page';
import type { Request } from '../../../rest/request';
import { BASE, type Route } from '../../../rest/routes';
import { writeControls, type Related, type RelatedOf } from './controls';
import type { namings } from './naming';
import { detailPath, type Places } from './places';
import type { Control, HtmlView, WriteForm } from './view';

/** A relation is chosen from up to this many rows; of more they are searched. */
const MAX_CHOICES = 60;
const ID = /^\d+$/;
const LOGIN: readonly Control[] = [
  { key: 'username', label: 'User name', kind: 'string', line: true, required: true },
  { key: 'password', label: 'Password', kind: 'password', required: true },
];

const READING = ['GET', 'HEAD'];

export class Forms {
  constructor(
    private readonly places: Places,
    private readonly namingOf: ReturnType<typeof namings>,
  ) {}

  private async relatedRows(type: string, { exchange, signedIn }: Request): Promise<Related> {
    const target = this.places.nameOf(type);
    const naming = this.namingOf(type);
    // Other people's rows are no choice.
    if (!naming || (naming.owned && !signedIn)) return { target };
    const choices = await naming.rows(exchange.context, {}, MAX_CHOICES + 1);
    if (choices && choices.length <= MAX_CHOICES) return { target, choices };
    return { target, ...(naming.find && { searched: type }) };
  }

  /** What is in search fields is looked up: a name finds rows, an id tells the name of its row. */
  lookedUp(controls: readonly Control[], textOf: (key: string) => string | undefined, { exchange }: Request): Promise<Control[]> {
    return Promise.all(
      controls.map(async (control) => {
        const text = textOf(control.key)?.trim();
        if (!control.searched || !text) return control;
        const { find, rows } = this.namingOf(control.searched)!;
        if (!ID.test(text)) return { ...control, found: await find!(exchange.context, text) };
        const [row] = (await rows(exchange.context, { id: { eq: text } }, 1)) ?? [];
        return { ...control, ...(row && { chosen: String(row.label) }) };
      }),
    );
  }

  async relatedOf({ fields, view }: Endpoint, request: Request): Promise<RelatedOf> {
    const filtered = new Set(view.filters.map(({ field }) => field));
    const types = fields
      .filter((field) => field.relation && (!field.restReadOnly || filtered.has(field.name)))
      .map((field) => field.relation!.type);
    const found = new Map<string, Related>();
    await Promise.all([...new Set(types)].map(async (type) => found.set(type, await this.relatedRows(type, request))));
    return (type) => found.get(type) ?? { target: this.places.nameOf(type) };
  }

  /** The row that a form starts from; nothing if the answer is not about one. */
  private async rowOf(endpoint: Endpoint, id: string, { request, answer }: Shown): Promise<Record<string, unknown> | undefined> {
    if (answer.status < 300 && request.method !== 'OPTIONS') return answer.body as Record<string, unknown>;
    if (READING.includes(request.method)) return undefined;
    const { data } = await endpoint.detail(request.exchange.context, { id });
    return data?.row ?? undefined;
  }

  async formsOf(place: Route, shown: Shown, related: RelatedOf): Promise<Pick<HtmlView, 'forms' | 'removable' | 'locked'>> {
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
    const row = methods.length ? ((await this.rowOf(endpoint, place.id, shown)) ?? (request.signedIn ? undefined : {})) : undefined;
    if (!row) return none;
    const changing = methods.filter((method) => method !== 'DELETE');
    const forms = changing.length ? [formOf(detailPath(endpoint, place.id), changing, controls, row, shown)] : [];
    return { forms, removable: methods.includes('DELETE'), locked: [] };
  }
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
  return { ...form, values: posted.values, failed: 'fields' };
}
