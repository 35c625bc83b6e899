/** The request of a client screen. */
import { InMemoryCache } from '@apollo/client';
import { parse, print } from 'graphql';

export interface Screen {
  name: string;
  query: string;

  /**
   * `CURSOR` is a placeholder for the cursor of the account, which is known only after the account
   * has been created.
   */
  variables?: Record<string, unknown>;
}

export const CURSOR = 'cursor of the account';

const cache = new InMemoryCache();

/** Adds `__typename` to every selection set, as Apollo Client does before it sends a document. */
export const asApolloSends = (screen: Screen): Screen => ({
  ...screen,
  query: print(cache.transformDocument(parse(screen.query))),
});
