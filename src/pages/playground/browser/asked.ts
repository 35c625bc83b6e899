/** What the address of the page asks for: a shared question, or a worked one by its name. */
import { getOperationAST, parse } from 'graphql';
import { sharedOf, type Shared } from '../answer/link';
import { QUESTIONS } from '../questions/all';
import { variablesTextOf } from './editing';

export interface Asked extends Shared {
  /** Whether it is to be run at once. Only what reads is, and only who shares a view has run it. */
  runs: boolean;
}

function reads(query: string): boolean {
  try {
    return getOperationAST(parse(query))?.operation === 'query';
  } catch {
    return false;
  }
}

export function askedOf(parameters: URLSearchParams): Asked | undefined {
  const question = QUESTIONS.find(({ slug }) => slug === parameters.get('question'));
  if (question) return { query: question.query, variables: variablesTextOf(question), view: 'chart', chart: question.chart, runs: true };
  const shared = sharedOf(parameters);
  return shared && { ...shared, runs: shared.view !== undefined && reads(shared.query) };
}
