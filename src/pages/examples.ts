/** First calls with their answers as they are now, asked like anybody would. */
import { print, parse } from 'graphql';
import { page } from '../rest/dialect/pagination';
import type { Prepare } from '../rest/endpoints';
import { BASE } from '../rest/routes';

export interface Example {
  command: string;
  /** Absent where it could not be had. */
  answer?: string;
}

export interface Examples {
  rest: Example;
  graphql: Example & { query: string };
  /** Of the exercise that the answer shows: what it trains. */
  figure?: { name: string; main: readonly string[]; secondary: readonly string[] };
}

const FEW = 2;
const LIST = `${BASE}/exercisecategory/`;
const CATEGORIES = `{ page: exerciseCategories(first: ${FEW}) { totalCount nodes { id name } } }`;
const EXERCISES = `{ exercises(first: ${FEW}) { totalCount nodes { name category { name } } } }`;
const FIGURE = '{ exercises(first: 1) { nodes { name muscleIds muscleSecondaryIds } } }';

const indented = (value: unknown) => JSON.stringify(value, null, 2);

interface Categories {
  totalCount: number;
  nodes: { id: number; name: string }[];
}

export function examples(prepare: Prepare): (context: object, baseUrl: string) => Promise<Examples> {
  const [categories, exercises, figure] = [CATEGORIES, EXERCISES, FIGURE].map(prepare);

  return async (context, baseUrl) => {
    // The front door is open, whatever is wrong behind it.
    const ask = (run: typeof categories) => run!(context).catch(() => undefined);
    const [listed, found, drawn] = await Promise.all([ask(categories), ask(exercises), ask(figure)]);
    const { totalCount, nodes } = (listed?.data?.page ?? {}) as Partial<Categories>;
    const query = new URLSearchParams({ limit: String(FEW) });
    const body = nodes && page(`${baseUrl}${LIST}`, query, { limit: FEW, offset: 0 }, totalCount!, nodes);
    const one = drawn?.data?.exercises?.nodes[0] as { name: string; muscleIds: string[]; muscleSecondaryIds: string[] } | undefined;
    return {
      rest: { command: `curl '${baseUrl}${LIST}?${query.toString()}'`, ...(body && { answer: indented(body) }) },
      graphql: {
        query: print(parse(EXERCISES)),
        command: `curl ${baseUrl}/graphql -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ query: EXERCISES })}'`,
        ...(found?.data && { answer: indented({ data: found.data }) }),
      },
      ...(one && { figure: { name: one.name, main: one.muscleIds, secondary: one.muscleSecondaryIds } }),
    };
  };
}
