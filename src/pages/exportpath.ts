/** Path for exporting a list as a file. A file extension that selects the format is appended: `/graphql/export.csv`. */
export const EXPORT_PATH = '/graphql/export';
