/** All REST endpoints, derived from the schema, so that attacks also cover new resources. */
import { deriveEndpoints, type ResourceEndpoint } from '../../src/rest/endpoints';
import { buildRestSchema } from '../../src/graphql/schema';

const { resources, standaloneEndpoints } = deriveEndpoints(
  buildRestSchema(),
  () => () => Promise.reject(new Error('endpoints are not executable here')),
);

export const endpoints: readonly ResourceEndpoint[] = [...resources.values()];

/** Search paths: those with a `term` parameter. */
export const searches: readonly string[] = [...standaloneEndpoints].flatMap(([path, { field }]) =>
  field.args.some(({ name }) => name === 'term') ? [path] : [],
);

/** Endpoints with writes. */
export const writable = endpoints.filter(
  ({ create, update, view, resource }) =>
    (create ?? update) && view === resource.views[0] && view.routes === 'all',
);

/** Writable fields that accept any text. */
export const textKeys = ({ fields }: ResourceEndpoint) =>
  fields.filter(({ kind, restReadOnly }) => (kind === 'string' || kind === 'url') && !restReadOnly);

export const filterKeys = ({ view, fields }: ResourceEndpoint): string[] =>
  view.filters.map(
    ({ parameterName, field }) =>
      parameterName ?? fields.find(({ name }) => name === field)!.restKey,
  );
