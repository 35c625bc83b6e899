import { Command } from 'commander';
import { buildGraphQLSchema, printed } from '../graphql/schema';

export const schemaCommand = () =>
  new Command('schema').description('Print the GraphQL schema, as committed in schema.graphql.').action(() => {
    process.stdout.write(printed(buildGraphQLSchema()));
  });
