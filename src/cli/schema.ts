/** `fitgraph schema`: prints the GraphQL schema. */
import { buildGraphQLSchema, printSortedSchema } from '../graphql/schema';

export const printGraphQLSchema = (): void =>
  void process.stdout.write(printSortedSchema(buildGraphQLSchema()));
