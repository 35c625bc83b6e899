/** Missing in the type declarations of pg. */
declare module 'pg/lib/utils' {
  /** A value as it is sent to PostgreSQL. Throws where there is none for it. */
  export function prepareValue(value: unknown): string | Buffer | null;
}
