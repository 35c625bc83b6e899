/** Request in the URL of the playground: the request of a share link, or an example question by its slug. */
import { getOperationAST, parse } from 'graphql';
import { parseShareParameters, type SharedRequest } from '../answer/sharelink';
import { EXAMPLE_QUESTIONS } from '../questions/all';
import { initialVariablesOf, variablesJsonOf } from './runquery';

export interface PageUrlRequest extends SharedRequest {
  /**
   * Whether the GraphQL request in the page's URL is run when the playground is loaded: only if it is a query, and the URL selects the view of its result
   * (tree, table or chart).
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

export function parsePageUrlRequest(parameters: URLSearchParams): PageUrlRequest | undefined {
  const exampleQuestion = EXAMPLE_QUESTIONS.find(({ slug }) => slug === parameters.get('question'));
  if (exampleQuestion)
    return {
      query: exampleQuestion.query,
      variables: variablesJsonOf(initialVariablesOf(exampleQuestion)),
      view: 'chart',
      chart: exampleQuestion.chart,
      runsOnLoad: true,
    };
  const sharedRequest = parseShareParameters(parameters);
  return (
    sharedRequest && {
      ...sharedRequest,
      runsOnLoad: sharedRequest.view !== undefined && isQueryOperation(sharedRequest.query),
    }
  );
}
