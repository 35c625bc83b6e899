/** Content of the editor at the first visit: an example query with instructions as comments. */
import { csrfToken } from './fetcher';

const ANONYMOUS_HINT = `# public. To query your own data, sign in or
# put an access token into the "Headers" pane
# below:
#
#   {"Authorization": "Bearer <token>"}
#
# It is not stored and is lost when you leave
# this page.`;
const SIGNED_IN_HINT = `# public. You are signed in: lists such as
# "workoutLogs" show your own data.`;

export const WELCOME_QUERY = `# Fitgraph: fitness and nutrition data.
#
# Exercises, ingredients and similar data are
${csrfToken === undefined ? ANONYMOUS_HINT : SIGNED_IN_HINT} Ctrl-Enter runs the query.
# You can edit the example questions.

{
  exercises(first: 5) {
    totalCount
    nodes {
      id
      name
    }
  }
}
`;

export const isEmptyOrWelcomeQuery = (query: string): boolean =>
  query.trim() === '' || query === WELCOME_QUERY;
