/** What is wrong with an uploaded image, in Django REST framework's words, and what is kept of a good one. */
import { existsSync } from 'node:fs';
import { overloaded } from '../core/model/errors';
import { ClientGone } from '../database/refusals';
import { UploadedFile } from '../platform/multipart';
import { TooBusy } from '../platform/turns';
import { EXTENSIONS, formatOfExtension } from './formats';
import { ImageFailure, imageProcesses } from './imageprocesses';
import { extensionOf, lastPart } from './paths';
import { MAX_MEGAPIXELS, type Finding } from './picture';

/** Storing demands what the check of a write has found; the work is done once. */
const examined = new WeakMap<UploadedFile, Promise<string[]>>();

/** What is wrong with the file. Of a good one only what is to be kept is left. */
export function examine(file: UploadedFile): Promise<string[]> {
  let found = examined.get(file);
  if (!found) examined.set(file, (found = look(file)));
  return found;
}

/** The facts of an image field whose file's name has at most `max` characters. */
export const uploadedImage = (max: number) => ({
  max,
  check: (value: unknown) => problems(value, max),
  inspect: (value: unknown) => examine(value as UploadedFile),
});

function problems(file: unknown, max: number): string[] {
  if (!(file instanceof UploadedFile)) return ['The submitted data was not a file. Check the encoding type on the form.'];
  const name = lastPart(file.filename);
  // Browsers send a part without a name for an input that was left empty.
  if (name === '') return ['No file was submitted.'];
  if (file.size === 0) return ['The submitted file is empty.'];
  const length = [...name].length;
  return length > max ? [`Ensure this filename has at most ${max} characters (it has ${length}).`] : [];
}

const NO_PICTURE = 'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';
const NO_PLAIN_AVIF = 'An AVIF file must hold one picture and nothing else. Save it as JPEG, PNG or WebP.';
const SLOW = 'This image takes too long to read. Save it anew, smaller or in another format.';

async function look({ filename, path, sender }: UploadedFile): Promise<string[]> {
  const extension = extensionOf(lastPart(filename));
  const wanted = formatOfExtension(extension);
  let finding: Finding;
  try {
    finding = await imageProcesses.purify(`of ${sender}`, path, wanted);
  } catch (error) {
    if (error instanceof TooBusy) throw overloaded();
    // The file goes once its sender has left.
    if (!(error instanceof ImageFailure)) throw existsSync(path) ? error : new ClientGone();
    return [error.reason === 'slow' ? SLOW : NO_PICTURE];
  }
  if (finding === 'no picture') return [NO_PICTURE];
  if (finding === 'no plain AVIF') return [NO_PLAIN_AVIF];
  if (finding !== 'kept') return [`Ensure this image has at most ${MAX_MEGAPIXELS} megapixels (it has ${Math.ceil(finding.megapixels)}).`];
  return wanted ? [] : [`File extension “${extension}” is not allowed. Allowed extensions are: ${EXTENSIONS.join(', ')}.`];
}
