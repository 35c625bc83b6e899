/**
 * Reads the request in the URL of the playground: a share link, or the slug of an example question.
 */
import { getOperationAST, parse } from 'graphql';
import { parseShareUrl, type SharedRequest } from '../answer/share-link';
import { EXAMPLE_QUESTIONS } from '../questions/all';
import { initialVariablesOf, variablesJsonOf } from './run-query';

export interface PageUrlRequest extends SharedRequest {
  /**
   * Whether the request is run on load: an example question, or a query (but no mutation) for whose
   * result the URL selects a view (tree, table or chart).
   */
  runsOnLoad: boolean;
}

function isQueryOperation(query: string): boolean {
  try {
    return getOperationAST(parse(query))?.operation === 'query';
  } catch {
    return false;
  }
}

export function parsePageUrlRequest(url: URL): PageUrlRequest | undefined {
  const questionSlug = url.searchParams.get('question');
  const exampleQuestion = EXAMPLE_QUESTIONS.find(({ slug }) => slug === questionSlug);

  if (exampleQuestion) {
    return {
      query: exampleQuestion.query,
      variables: variablesJsonOf(initialVariablesOf(exampleQuestion)),
      view: 'chart',
      chart: exampleQuestion.chart,
      runsOnLoad: true,
    };
  }

  const sharedRequest = parseShareUrl(url);

  if (!sharedRequest) return undefined;

  return {
    ...sharedRequest,
    runsOnLoad: sharedRequest.view !== undefined && isQueryOperation(sharedRequest.query),
  };
}
