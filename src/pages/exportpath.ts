/** Path of the export of a list as a file. The file extension is the format: `/graphql/export.csv`. */
export const EXPORT_PATH = '/graphql/export';
