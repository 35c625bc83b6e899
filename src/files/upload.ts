/**
 * Validation of uploaded images, with the messages of Django REST framework, and metadata stripping
 * by re-encoding.
 */
import { existsSync } from 'node:fs';
import { ClientDisconnected } from '../database/errors';
import { FileStorageError } from '../shared/file-storage-error';
import { OverloadedError } from '../shared/limiter';
import { UploadedFile } from '../shared/multipart';
import { IMAGE_EXTENSIONS, formatOfExtension, storedFormatFor } from './formats';
import { ImageTaskFailure, imageWorkerPool } from './image-worker-pool';
import { sanitizeFileName, extensionOf, clientFileName, urlToStoredPath } from './paths';
import type { ReencodeResult } from './image-processing';

/**
 * Cached results of validating uploaded files. They are needed to check a write and again to store
 * its file.
 */
const validationResults = new WeakMap<UploadedFile, Promise<string[]>>();

/**
 * Validates an image and returns error messages. Overwrites a valid file with the re-encoded image.
 */
export function validateImage(file: UploadedFile): Promise<string[]> {
  let validation = validationResults.get(file);

  if (!validation) validationResults.set(file, (validation = validateImageUncached(file)));

  return validation;
}

function collectUploadedFiles(value: unknown): UploadedFile[] {
  if (value instanceof UploadedFile) return [value];
  if (value === null || typeof value !== 'object') return [];

  return [...(value instanceof Map ? value.values() : Object.values(value))].flatMap(
    collectUploadedFiles,
  );
}

/**
 * Validates the files of a signed-in user's request before it opens a transaction, because queueing
 * and decoding may take longer than PostgreSQL lets a transaction be idle. The image fields report
 * errors later, from the cached results.
 */
export async function validateUploads(body: unknown): Promise<void> {
  const files = collectUploadedFiles(body).filter(
    ({ size, senderUserId }) => size > 0 && senderUserId !== undefined,
  );

  await Promise.allSettled(files.map(validateImage));
}

export const imageFieldOptions = (maxLength: number) => ({
  max: maxLength,
  check: (value: unknown) => fileProblems(value, maxLength),
  checkAsync: (value: unknown) => validateImage(value as UploadedFile),
  toStoredText: urlToStoredPath,
});

/** Sanitized name under which an image is stored. `a.avif` becomes `a.webp`, like its content. */
export function storedFileName(filename: string): ReturnType<typeof sanitizeFileName> {
  const name = sanitizeFileName(filename);

  const isAvif = formatOfExtension(extensionOf(clientFileName(filename))) === 'avif';

  return isAvif ? { ...name, dottedExtension: '.webp' } : name;
}

function fileProblems(file: unknown, maxLength: number): string[] {
  if (!(file instanceof UploadedFile)) {
    return ['The submitted data was not a file. Check the encoding type on the form.'];
  }

  const name = clientFileName(file.filename);

  // For an empty file input, browsers send a part without a file name.
  if (name === '') return ['No file was submitted.'];
  if (file.size === 0) return ['The submitted file is empty.'];
  const length = [...name].length;

  if (length <= maxLength) return [];

  return [`Ensure this filename has at most ${maxLength} characters (it has ${length}).`];
}

const INVALID_IMAGE_MESSAGE =
  'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';
const HEIC_MESSAGE = 'HEIC photos are not supported. Save this photo as JPEG and upload it again.';
const SLOW_IMAGE_MESSAGE =
  'This image takes too long to process. Save it again in a smaller size or in another format.';

/**
 * Replaces the error of reading an uploaded file by ClientDisconnected if the file is gone: uploads
 * are deleted when the client disconnects.
 */
export const toUploadError = (path: string, error: unknown): unknown =>
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

    if (!(error instanceof ImageTaskFailure)) {
      throw toUploadError(path, new FileStorageError(error));
    }

    return [error.reason === 'slow' ? SLOW_IMAGE_MESSAGE : INVALID_IMAGE_MESSAGE];
  }

  if (result === 'no image') return [INVALID_IMAGE_MESSAGE];
  if (result === 'HEIC') return [HEIC_MESSAGE];

  if (result !== 'image') {
    return [
      `Ensure this image has at most ${result.maxMegapixels} megapixels (it has ${result.excessiveMegapixels}).`,
    ];
  }

  if (!format) {
    return [
      `File extension “${extension}” is not allowed. Allowed extensions are: ${IMAGE_EXTENSIONS.join(', ')}.`,
    ];
  }

  return [];
}
