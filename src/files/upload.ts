/** What is wrong with an uploaded image, in Django REST framework's words, and what is kept of a good one. */
import { readFile, writeFile } from 'node:fs/promises';
import { UploadedFile } from '../multipart';
import { EXTENSIONS, formatOfContent, formatOfExtension } from './formats';
import { extensionOf, lastPart } from './names';
import { inTurn, purified } from './picture';

/** A file is examined when its request is checked and again when it is stored; the work is done once. */
const examined = new WeakMap<UploadedFile, Promise<string[]>>();

/** What is wrong with the file. Of a good one only what is to be kept is left. */
export function examine(file: UploadedFile): Promise<string[]> {
  let found = examined.get(file);
  if (!found) examined.set(file, (found = inTurn(() => look(file))));
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

async function look({ filename, path }: UploadedFile): Promise<string[]> {
  const extension = extensionOf(lastPart(filename));
  const content = await readFile(path);
  const format = formatOfContent(content);
  const wanted = formatOfExtension(extension);
  const pure = format && (await purified(content, format, wanted ?? format).catch(() => undefined));
  if (!pure) return ['Upload a valid image. The file you uploaded was either not an image or a corrupted image.'];
  if (!wanted) return [`File extension “${extension}” is not allowed. Allowed extensions are: ${EXTENSIONS.join(', ')}.`];
  if (pure !== content) await writeFile(path, pure);
  return [];
}
