/** Content of the editor at the first visit: an example query with instructions as comments. */
import { csrfToken } from './fetcher';

const ownDataHint =
  csrfToken === undefined
    ? `# to everyone. For your own data sign in, or
# put an access token into the "Headers" pane
# below:
#
#   {"Authorization": "Bearer <token>"}
#
# It is not stored: this page forgets it when
# you leave.`
    : `# to everyone. You are signed in: lists such
# as "workoutLogs" show your own data.`;

export const WELCOME = `# Fitgraph: fitness and nutrition data.
#
# Exercises, ingredients and the like are open
${ownDataHint} Ctrl-Enter runs the query, and
# the worked questions are there to be changed.

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

export const isWelcome = (query: string): boolean => query.trim() === '' || query === WELCOME;
