/** Where a list is to be had as a file: the name ends with the format. */
export const EXPORT_PATH = '/graphql/export';
