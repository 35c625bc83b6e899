/** `fitgraph schema`: prints the GraphQL schema. */
import { buildGraphQLSchema, printed } from '../graphql/schema';

export const schema = (): void => void process.stdout.write(printed(buildGraphQLSchema()));
