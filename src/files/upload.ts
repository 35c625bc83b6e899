/** Validates uploaded images, with Django REST framework's messages, and encodes them anew for storage. */
import { existsSync } from 'node:fs';
import { ClientGone } from '../database/refusals';
import { UploadedFile } from '../platform/multipart';
import { EXTENSIONS, formatOfExtension, storedFormat } from './formats';
import { ImageFailure, imageProcesses } from './imageprocesses';
import { cleanName, extensionOf, lastPart } from './paths';
import { MAX_MEGAPIXELS, type Finding } from './picture';

/** Storing demands what the check of a write has found; the work is done once. */
const examined = new WeakMap<UploadedFile, Promise<string[]>>();

/** The validation messages for the file. The content of a valid one is replaced by its new encoding. */
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

/** The cleaned name under which an examined image is stored: `a.avif` becomes `a.webp`, as its content does. */
export function storedName(filename: string): ReturnType<typeof cleanName> {
  const name = cleanName(filename);
  return formatOfExtension(extensionOf(lastPart(filename))) === 'avif' ? { ...name, ending: '.webp' } : name;
}

function problems(file: unknown, max: number): string[] {
  if (!(file instanceof UploadedFile)) return ['The submitted data was not a file. Check the encoding type on the form.'];
  const name = lastPart(file.filename);
  // Browsers send a part without a name for an input that was left empty.
  if (name === '') return ['No file was submitted.'];
  if (file.size === 0) return ['The submitted file is empty.'];
  const length = [...name].length;
  return length > max ? [`Ensure this filename has at most ${max} characters (it has ${length}).`] : [];
}

const NO_IMAGE = 'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';
const SLOW = 'This image takes too long to read. Save it anew, smaller or in another format.';

async function look({ filename, path, sender }: UploadedFile): Promise<string[]> {
  const extension = extensionOf(lastPart(filename));
  const format = formatOfExtension(extension);
  let finding: Finding;
  try {
    finding = await imageProcesses.reencode(`of ${sender}`, path, format && storedFormat(format));
  } catch (error) {
    // The file goes once its sender has left.
    if (!(error instanceof ImageFailure)) throw existsSync(path) ? error : new ClientGone();
    return [error.reason === 'slow' ? SLOW : NO_IMAGE];
  }
  if (finding === 'no image') return [NO_IMAGE];
  if (finding !== 'image') return [`Ensure this image has at most ${MAX_MEGAPIXELS} megapixels (it has ${Math.ceil(finding.megapixels)}).`];
  return format ? [] : [`File extension “${extension}” is not allowed. Allowed extensions are: ${EXTENSIONS.join(', ')}.`];
}
