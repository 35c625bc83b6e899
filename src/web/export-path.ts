/**
 * Endpoint that exports a list as a file. The file extension selects the format:
 * `/graphql/export.csv`.
 */
export const EXPORT_PATH = '/graphql/export';
