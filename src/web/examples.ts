/**
 * Example requests on the landing page, with live responses. They run with the permissions of the
 * visitor.
 */
import { print, parse } from 'graphql';
import { buildListResponse } from '../rest/drf/pagination';
import type { PrepareOperation } from '../rest/endpoints';
import { API_BASE_PATH } from '../rest/routes';

export interface RequestExample {
  command: string;

  /** Response body of the example. Absent if its request failed. */
  response?: string;
}

export interface RequestExamples {
  rest: RequestExample;
  graphql: RequestExample & { query: string };

  /** An exercise whose muscles are highlighted in a drawing of the body. */
  muscleFigure?: {
    exerciseName: string;
    mainMuscleIds: readonly string[];
    secondaryMuscleIds: readonly string[];
  };
}

const EXAMPLE_ROW_COUNT = 2;
const CATEGORY_LIST_PATH = `${API_BASE_PATH}/exercisecategory/`;
const CATEGORIES_QUERY = `{ page: exerciseCategories(first: ${EXAMPLE_ROW_COUNT}) { totalCount nodes { id name } } }`;

const EXERCISES_QUERY = `{ exercises(first: ${EXAMPLE_ROW_COUNT}) { totalCount nodes { name category { name } } } }`;
const TRAINED_MUSCLES_QUERY =
  '{ exercises(first: 1, orderBy: [{ name: ASC }]) { nodes { name muscleIds musclesSecondaryIds } } }';

const formatJson = (value: unknown) => JSON.stringify(value, null, 2);

interface CategoryPage {
  totalCount: number;
  nodes: { id: number; name: string }[];
}

export function createExampleLoader(
  prepareOperation: PrepareOperation,
): (context: object, baseUrl: string) => Promise<RequestExamples> {
  const operations = [CATEGORIES_QUERY, EXERCISES_QUERY, TRAINED_MUSCLES_QUERY].map(
    prepareOperation,
  );

  return async (context, baseUrl) => {
    // Omits an example that fails, because the landing page must load even if the database is down.
    const results = await Promise.all(operations.map((run) => run(context).catch(() => undefined)));
    const [categoriesResult, exercisesResult, figureResult] = results;
    const { totalCount, nodes } = (categoriesResult?.data?.page ?? {}) as Partial<CategoryPage>;
    const query = new URLSearchParams({ limit: String(EXAMPLE_ROW_COUNT) });
    const body =
      nodes &&
      buildListResponse(
        `${baseUrl}${CATEGORY_LIST_PATH}`,
        query,
        { limit: EXAMPLE_ROW_COUNT, offset: 0 },
        totalCount!,
        nodes,
      );
    const exercise = figureResult?.data?.exercises?.nodes[0] as
      { name: string; muscleIds: string[]; musclesSecondaryIds: string[] } | undefined;

    return {
      rest: {
        command: `curl '${baseUrl}${CATEGORY_LIST_PATH}?${query.toString()}'`,
        ...(body && { response: formatJson(body) }),
      },
      graphql: {
        query: print(parse(EXERCISES_QUERY)),
        command: `curl ${baseUrl}/graphql -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ query: EXERCISES_QUERY })}'`,
        ...(exercisesResult?.data && { response: formatJson({ data: exercisesResult.data }) }),
      },
      ...(exercise && {
        muscleFigure: {
          exerciseName: exercise.name,
          mainMuscleIds: exercise.muscleIds,
          secondaryMuscleIds: exercise.musclesSecondaryIds,
        },
      }),
    };
  };
}
