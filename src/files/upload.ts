/** Validation of uploaded images, with the messages of Django REST framework, and metadata stripping by re-encoding. */
import { existsSync } from 'node:fs';
import { ClientDisconnected } from '../database/errors';
import { FileStorageError } from '../platform/filestorageerror';
import { OverloadedError } from '../platform/limiter';
import { UploadedFile } from '../platform/multipart';
import { IMAGE_EXTENSIONS, formatOfExtension, storedFormatFor } from './formats';
import { ImageFailure, imageWorkerPool } from './imageworkerpool';
import { sanitizeFileName, extensionOf, clientFileName, convertUrlToStoredPath } from './paths';
import { MAX_MEGAPIXELS, type ReencodeResult } from './imageprocessing';

/** Caches validation results by file: they are needed to check a write and again to store its file. */
const validationResults = new WeakMap<UploadedFile, Promise<string[]>>();

/** Validates an image and returns error messages. Replaces the content of a valid file with the re-encoded image. */
export function validateImage(file: UploadedFile): Promise<string[]> {
  let validation = validationResults.get(file);
  if (!validation) validationResults.set(file, (validation = validateImageUncached(file)));
  return validation;
}

function uploadedFilesIn(value: unknown): UploadedFile[] {
  if (value instanceof UploadedFile) return [value];
  if (value === null || typeof value !== 'object') return [];
  return [...(value instanceof Map ? value.values() : Object.values(value))].flatMap(
    uploadedFilesIn,
  );
}

/**
 * Validates the files of a signed-in user's request before the request opens a transaction, because queueing and decoding may take longer than
 * PostgreSQL lets a transaction be idle. Errors are not reported here but by the image fields, which use the cached results. The multipart parser
 * limits the number of files, and a user occupies one image process at a time.
 */
export async function validateUploads(body: unknown): Promise<void> {
  const files = uploadedFilesIn(body).filter(
    ({ size, senderUserId }) => size > 0 && senderUserId !== undefined,
  );
  await Promise.allSettled(files.map(validateImage));
}

/** Returns the options of an image field whose file names have at most `maxLength` characters. */
export const imageFieldOptions = (maxLength: number) => ({
  max: maxLength,
  check: (value: unknown) => findFileProblems(value, maxLength),
  checkAsync: (value: unknown) => validateImage(value as UploadedFile),
  toStoredText: convertUrlToStoredPath,
});

/** Returns the sanitized name under which a validated image is stored. `a.avif` becomes `a.webp`, like its content. */
export function storedNameParts(filename: string): ReturnType<typeof sanitizeFileName> {
  const name = sanitizeFileName(filename);
  return formatOfExtension(extensionOf(clientFileName(filename))) === 'avif'
    ? { ...name, dottedExtension: '.webp' }
    : name;
}

function findFileProblems(file: unknown, maxLength: number): string[] {
  if (!(file instanceof UploadedFile))
    return ['The submitted data was not a file. Check the encoding type on the form.'];
  const name = clientFileName(file.filename);
  // For an empty file input, browsers send a part without a file name.
  if (name === '') return ['No file was submitted.'];
  if (file.size === 0) return ['The submitted file is empty.'];
  const length = [...name].length;
  return length > maxLength
    ? [`Ensure this filename has at most ${maxLength} characters (it has ${length}).`]
    : [];
}

const INVALID_IMAGE_MESSAGE =
  'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';
const SLOW_IMAGE_MESSAGE =
  'This image takes too long to process. Save it again in a smaller size or in another format.';

/** Returns `error`, with which the use of an uploaded file has failed, or ClientDisconnected if the file is gone: it is deleted when the client disconnects. */
export const causeOfUploadFailure = (path: string, error: unknown): unknown =>
  existsSync(path) ? error : new ClientDisconnected();

async function validateImageUncached({
  filename,
  path,
  senderUserId,
}: UploadedFile): Promise<string[]> {
  const extension = extensionOf(clientFileName(filename));
  const format = formatOfExtension(extension);
  let result: ReencodeResult;
  try {
    result = await imageWorkerPool.reencode(
      `of ${senderUserId}`,
      path,
      format && storedFormatFor(format),
    );
  } catch (error) {
    if (error instanceof OverloadedError) throw error;
    if (!(error instanceof ImageFailure))
      throw causeOfUploadFailure(path, new FileStorageError(error));
    return [error.reason === 'slow' ? SLOW_IMAGE_MESSAGE : INVALID_IMAGE_MESSAGE];
  }
  if (result === 'no image') return [INVALID_IMAGE_MESSAGE];
  if (result !== 'image')
    return [
      `Ensure this image has at most ${MAX_MEGAPIXELS} megapixels (it has ${Math.ceil(result.excessiveMegapixels)}).`,
    ];
  return format
    ? []
    : [
        `File extension “${extension}” is not allowed. Allowed extensions are: ${IMAGE_EXTENSIONS.join(', ')}.`,
      ];
}
