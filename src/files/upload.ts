/** What is wrong with an uploaded image, in Django REST framework's words, and what is kept of a good one. */
import type { UploadedFile } from '../extensions';
import { EXTENSIONS, formatOfContent, formatOfExtension } from './formats';
import { extensionOf, lastPart } from './names';
import { purified } from './picture';

type Examined = { content: Buffer } | { messages: string[] };

/** A file is examined when its request is checked and again when it is stored; the work is done once. */
const examined = new WeakMap<UploadedFile, Promise<Examined>>();

export function examine(file: UploadedFile): Promise<Examined> {
  let found = examined.get(file);
  if (!found) examined.set(file, (found = look(file)));
  return found;
}

/** The facts of an image field whose file's name has at most `max` characters. */
export const uploadedImage = (max: number) => ({
  max,
  check: (value: unknown) => problems(value as UploadedFile, max),
  async inspect(value: unknown): Promise<string[]> {
    const found = await examine(value as UploadedFile);
    return 'messages' in found ? found.messages : [];
  },
});

function problems({ filename, content }: Partial<UploadedFile>, max: number): string[] {
  if (filename === undefined || !Buffer.isBuffer(content))
    return ['The submitted data was not a file. Check the encoding type on the form.'];
  const name = lastPart(filename);
  // Browsers send a part without a name for an input that was left empty.
  if (name === '') return ['No file was submitted.'];
  if (content.length === 0) return ['The submitted file is empty.'];
  const length = [...name].length;
  return length > max ? [`Ensure this filename has at most ${max} characters (it has ${length}).`] : [];
}

async function look({ filename, content }: UploadedFile): Promise<Examined> {
  const extension = extensionOf(lastPart(filename));
  const format = formatOfContent(content);
  const wanted = formatOfExtension(extension);
  const pure = format && (await purified(content, format, wanted ?? format).catch(() => undefined));
  if (!pure) return { messages: ['Upload a valid image. The file you uploaded was either not an image or a corrupted image.'] };
  if (!wanted) return { messages: [`File extension “${extension}” is not allowed. Allowed extensions are: ${EXTENSIONS.join(', ')}.`] };
  return { content: pure };
}
