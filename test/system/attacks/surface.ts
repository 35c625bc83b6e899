/** Everything that REST has, from the schema alone, so that an attack meets every resource there is or will be. */
import { deriveEndpoints, type Endpoint } from '../../../src/rest/endpoints';
import { buildRestSchema } from '../../../src/graphql/schema';

const { resources, free } = deriveEndpoints(buildRestSchema(), () => () => Promise.reject(new Error('nothing runs here')));

export const endpoints: readonly Endpoint[] = [...resources.values()];
/** Paths that take a term. */
export const searches: readonly string[] = [...free].flatMap(([path, { field }]) =>
  field.args.some(({ name }) => name === 'term') ? [path] : [],
);

/** Those that somebody can write to. */
export const writable = endpoints.filter(({ create, update, view, resource }) => (create ?? update) && view === resource.views[0]);

/** Keys of the fields that take any text. */
export const textKeys = ({ fields }: Endpoint) =>
  fields.filter(({ kind, restReadOnly }) => (kind === 'string' || kind === 'url') && !restReadOnly);

export const filterKeys = ({ view, fields }: Endpoint): string[] =>
  view.filters.map(({ key, field }) => key ?? fields.find(({ name }) => name === field)!.rest);
