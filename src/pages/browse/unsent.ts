/**
 * Browsers send a file once and forget it, so that a form which comes back with an error would have lost it. It is kept for an hour or two:
 * - for its sender alone, and one at a time: a form gets a sealed handle that names who sent it and what was in it, and nobody else's is taken;
 * - only once it is known to be a picture, and after what no picture needs was taken out of it;
 * - unseen, where the files of rows are, because the form may come back to another process; some megabytes altogether (`KEPT_UPLOADS`).
 */
import { createHash } from 'node:crypto';
import { copyFile, readFile, rm } from 'node:fs/promises';
import type { TokenVault } from '../../auth/tokens';
import type { Media } from '../../files/media';
import { lastPart } from '../../files/paths';
import { examine } from '../../files/upload';
import type { Config } from '../../platform/config';
import { placeForUpload, UploadedFile } from '../../platform/multipart';
import type { Shown } from '../../rest/page';
import type { PostedForm } from '../../rest/dialect/forms';
import type { Request } from '../../rest/request';

/** Before the name of a field: in place of a file that was sent before, its handle. */
export const UNSENT = '_unsent_';

/** Hidden: it is not served. Its hour follows; files in it are called by their sender and their size. */
const FOLDER = '.unsent-';
const NAME = /^(\d+)-(\d+)$/;
const HOUR_MS = 60 * 60 * 1000;
const MAX_HANDLE = 2000;
const PURPOSE = 'unsent file';

interface Handle {
  purpose: string;
  sender: number;
  /** Of the form. */
  key: string;
  path: string;
  filename: string;
  digest: string;
}

interface Kept {
  path: string;
  sender: number;
  size: number;
}

const hourNow = () => Math.floor(Date.now() / HOUR_MS);
/** All but this hour's and the one before it. */
const isOver = (folder: string, hour = hourNow()) => !(Number(folder.slice(FOLDER.length)) >= hour - 1);

const digestAt = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');

const isFile = (value: unknown): value is UploadedFile => value instanceof UploadedFile && value.filename !== '';

export class UnsentFiles {
  /** Of forms that named a file which was kept. */
  private readonly taken = new WeakMap<PostedForm, string>();

  constructor(
    private readonly media: Media,
    private readonly vault: TokenVault,
    private readonly config: Pick<Config, 'dataDir' | 'keptUploads'>,
  ) {
    // Whoever was to take them away may have died.
    void this.sweep().catch(() => undefined);
  }

  /** Before a form is answered: puts what was kept where no other file was chosen. */
  async resume({ form, exchange, afterwards }: Request): Promise<void> {
    if (!form?.body.form || exchange.sender === undefined) return;
    const data = new Map(form.body.data);
    for (const name of [...data.keys()].filter((one) => one.startsWith(UNSENT))) {
      const key = name.slice(UNSENT.length);
      const handle = this.opened(data.get(name)!.at(-1), key, exchange.sender);
      data.delete(name);
      if (!handle || data.get(key)?.some(isFile)) continue;
      const file = await this.copyOf(handle, afterwards);
      if (!file) continue;
      data.set(key, [file]);
      this.taken.set(form, handle.path);
    }
    form.body = { form: true, data };
  }

  /** After a form was answered: keeps its file if it has to be sent again, and lets go of one that is not needed any more. */
  async settle({ request, answer }: Shown): Promise<void> {
    const { form, exchange, signedIn } = request;
    if (!form?.body.form || !signedIn || exchange.sender === undefined) return;
    const taken = this.taken.get(form);
    if (answer.status < 300 && taken !== undefined) return this.media.files.remove(taken, []);
    if (answer.status !== 400) return;
    const [key, values] = [...form.body.data].find(([, some]) => some.some(isFile)) ?? [];
    // What is wrong with the file itself is no better the next time.
    if (key === undefined || key in ((answer.body ?? {}) as object)) return;
    const file = values!.findLast(isFile)!;
    if ((await examine(file)).length) return;
    const handle = await this.keep(file, key, exchange.sender);
    if (handle !== undefined) form.kept = { ...form.kept, [key]: { name: lastPart(file.filename), handle } };
  }

  private async keep(file: UploadedFile, key: string, sender: number): Promise<string | undefined> {
    await this.sweep();
    const kept = await this.all();
    const others = kept.filter((one) => one.sender !== sender);
    // Who comes when there is no room chooses their file again.
    if (others.reduce((sum, { size }) => sum + size, file.size) > this.config.keptUploads) return undefined;
    const path = `${FOLDER}${hourNow()}/${sender}-${file.size}`;
    await this.media.files.write(path, (place) => copyFile(file.path, place));
    for (const former of kept) if (former.sender === sender && former.path !== path) await this.media.files.remove(former.path, []);
    setTimeout(() => void this.sweep().catch(() => undefined), 2 * HOUR_MS).unref();
    const digest = await digestAt(file.path);
    const handle: Handle = { purpose: PURPOSE, sender, key, path, filename: lastPart(file.filename), digest };
    return this.vault.seal(JSON.stringify(handle)).toString('base64url');
  }

  private opened(text: unknown, key: string, sender: number): Handle | undefined {
    if (typeof text !== 'string' || text.length > MAX_HANDLE) return undefined;
    const opened = this.vault.open(Buffer.from(text, 'base64url'));
    if (opened === undefined) return undefined;
    const handle = JSON.parse(opened) as Handle;
    return handle.purpose === PURPOSE && handle.sender === sender && handle.key === key && !isOver(handle.path.split('/')[0]!)
      ? handle
      : undefined;
  }

  /** As if it had just been sent. Another form of the same sender may have put its own file there. */
  private async copyOf({ path, filename, digest, sender }: Handle, afterwards: Request['afterwards']): Promise<UploadedFile | undefined> {
    const place = await placeForUpload(this.config.dataDir);
    afterwards(() => rm(place, { force: true }));
    const found = await this.media.files.lend(path, async (from) => {
      const bytes = await readFile(from);
      await copyFile(from, place);
      return bytes.length;
    });
    if (found === undefined || (await digestAt(place)) !== digest) return undefined;
    return new UploadedFile(filename, place, found, digest, sender);
  }

  private async all(): Promise<Kept[]> {
    const { files } = this.media;
    const folders = await files.folders(FOLDER);
    const names = await Promise.all(folders.map(async (folder) => (await files.list(folder)).map((name) => ({ folder, name }))));
    return names.flat().flatMap(({ folder, name }) => {
      const [, sender, size] = NAME.exec(name) ?? [];
      return sender === undefined ? [] : [{ path: `${folder}/${name}`, sender: Number(sender), size: Number(size) }];
    });
  }

  private async sweep(): Promise<void> {
    for (const folder of await this.media.files.folders(FOLDER)) if (isOver(folder)) await this.media.files.discard(folder);
  }
}
