/** Ids of the parts of the playground to which its skip links lead. */
export const QUERY_ID = 'query-editor';
export const ANSWER_ID = 'answer';
