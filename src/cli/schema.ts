/** `fitgraph schema`: prints the GraphQL schema. */
import { buildGraphQLSchema, printSchemaSorted } from '../graphql/schema';

export const schema = (): void => void process.stdout.write(printSchemaSorted(buildGraphQLSchema()));
