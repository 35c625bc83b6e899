/** The storage of files (a folder, a bucket, the disk for uploads) did not answer, or has no room. */
export class FilesUnavailable extends Error {
  constructor(override readonly cause: unknown) {
    super(`files cannot be kept or read: ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`);
  }
}
