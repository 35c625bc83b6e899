/** What a request may hold, from the same facts that OPTIONS tells. */
import type { FieldFact } from '../../contract/facts';
import { MEDIA_TYPES } from '../dialect/body';
import type { Endpoint } from '../endpoints';
import { accepted } from '../dialect/options';
import { described, takenValue, type Schema } from './schemas';

const FORM = 'multipart/form-data';

const writable = ({ fields }: Endpoint): FieldFact[] => fields.filter(({ restReadOnly }) => !restReadOnly);

/** `partial`: a change, which requires nothing. */
export function bodySchema(endpoint: Endpoint, partial: boolean): Schema {
  const entries = accepted(endpoint) as Record<string, { required: boolean; help_text?: string }>;
  const fields = writable(endpoint);
  const required = partial ? [] : fields.map(({ rest }) => rest).filter((key) => entries[key]!.required);
  const properties = fields.map((field) => {
    const ignored = field.restIgnoredOnCreate ? ' Not looked at when a row is made.' : '';
    return [field.rest, described(takenValue(field), `${field.description}${ignored}`)];
  });
  return { type: 'object', properties: Object.fromEntries(properties), ...(required.length && { required }) };
}

/** Every type of body that is read; a file comes in a multipart form only. */
export function body(schema: Schema, endpoint?: Endpoint) {
  const media = endpoint && writable(endpoint).some(({ kind }) => kind === 'image') ? [FORM] : MEDIA_TYPES;
  return { required: true, content: Object.fromEntries(media.map((type) => [type, { schema }])) };
}
