/**
 * Error of the file storage (media folder, S3 bucket or upload folder): unavailable or out of
 * space.
 */
export class FileStorageError extends Error {
  constructor(override readonly cause: unknown) {
    super(
      `files cannot be stored or read: ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`,
    );
  }
}
