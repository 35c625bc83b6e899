/**
 * AVIF without anything that is no part of the picture. Its encoding takes longer than anybody may keep the server, so a picture stays as it
 * was sent, and all bytes beside it become zeros: place, camera, comments. (ISO/IEC 14496-12, 23008-12)
 */

/** What may stand in a file, whether or not it is read; whatever else there is may hold anything. */
const KNOWN = {
  file: ['ftyp', 'meta', 'mdat', 'free', 'skip'],
  meta: ['hdlr', 'pitm', 'iloc', 'iinf', 'iref', 'iprp', 'idat', 'free'],
  iprp: ['ipco', 'ipma'],
  ipco: 'ispe pixi av1C colr irot imir clap pasp auxC a1op a1lx lsel clli mdcv cclv amve'.split(' '),
};
/** Items that are pictures, or say how others form one; and those that are left out of it. */
const PICTURES = ['av01', 'grid'];
const OTHERS = ['Exif', 'mime'];

class Unknown extends Error {}

interface Box {
  type: string;
  /** Where its content begins and ends in the file. */
  start: number;
  end: number;
}

function boxesIn(bytes: Buffer, start: number, end: number, known: readonly string[]): Box[] {
  const boxes: Box[] = [];
  for (let at = start; at < end;) {
    if (at + 8 > end) throw new Unknown();
    const size = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    // 0 and 1 mean sizes that are told elsewhere, which no file of this size needs; a last `mdat` alone may end with the file.
    const length = size === 0 && type === 'mdat' ? end - at : size;
    if (length < 8 || at + length > end || !known.includes(type)) throw new Unknown();
    boxes.push({ type, start: at + 8, end: at + length });
    at += length;
  }
  return boxes;
}

/** Reads one number after the other. */
class Reader {
  constructor(
    private readonly bytes: Buffer,
    private at: number,
    private readonly end: number,
  ) {}

  number(size: number): number {
    if (size === 0) return 0;
    if (this.at + size > this.end) throw new Unknown();
    const high = size === 8 ? this.bytes.readUInt32BE(this.at) : 0;
    if (high) throw new Unknown();
    const value = size === 8 ? this.bytes.readUInt32BE(this.at + 4) : this.bytes.readUIntBE(this.at, size);
    this.at += size;
    return value;
  }

  get place(): number {
    return this.at;
  }
}

function one(boxes: readonly Box[], type: string): Box {
  const found = boxes.filter((box) => box.type === type);
  if (found.length !== 1) throw new Unknown();
  return found[0]!;
}

function itemTypes(bytes: Buffer, { start, end }: Box): Map<number, string> {
  const reader = new Reader(bytes, start, end);
  const version = reader.number(4) >>> 24;
  reader.number(version === 0 ? 2 : 4);
  const types = new Map<number, string>();
  for (const { start: from, end: to } of boxesIn(bytes, reader.place, end, ['infe'])) {
    const item = new Reader(bytes, from, to);
    const itemVersion = item.number(4) >>> 24;
    if (itemVersion !== 2 && itemVersion !== 3) throw new Unknown();
    const id = item.number(itemVersion === 2 ? 2 : 4);
    item.number(2);
    const type = bytes.toString('latin1', item.place, item.place + 4);
    if (!PICTURES.includes(type) && !OTHERS.includes(type)) throw new Unknown();
    types.set(id, type);
  }
  return types;
}

/** Where in the file the data of the items are that `wanted` names. */
function extents(bytes: Buffer, { start, end }: Box, wanted: (id: number) => boolean, idat: Box | undefined): [number, number][] {
  const reader = new Reader(bytes, start, end);
  const version = reader.number(4) >>> 24;
  const sizes = reader.number(2);
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15] as const;
  const indexSize = version === 0 ? 0 : sizes & 15;
  const found: [number, number][] = [];
  for (let left = reader.number(version === 2 ? 4 : 2); left > 0; left -= 1) {
    const id = reader.number(version === 2 ? 4 : 2);
    const method = version === 0 ? 0 : reader.number(2) & 15;
    const elsewhere = reader.number(2);
    const base = reader.number(baseSize);
    for (let count = reader.number(2); count > 0; count -= 1) {
      reader.number(indexSize);
      const from = base + reader.number(offsetSize) + (method === 1 ? (idat?.start ?? Infinity) : 0);
      const length = reader.number(lengthSize);
      if (elsewhere !== 0 || method > 1 || length === 0 || from + length > bytes.length) throw new Unknown();
      if (wanted(id)) found.push([from, from + length]);
    }
  }
  return found;
}

/** The same picture with zeros for all that is beside it; undefined where it cannot be told what is. */
export function blankedAvif(bytes: Buffer): Buffer | undefined {
  try {
    const boxes = boxesIn(bytes, 0, bytes.length, KNOWN.file);
    const meta = one(boxes, 'meta');
    // After its version and flags.
    const inside = boxesIn(bytes, meta.start + 4, meta.end, KNOWN.meta);
    const properties = one(inside, 'iprp');
    for (const { type, start, end } of boxesIn(bytes, properties.start, properties.end, KNOWN.iprp))
      if (type === 'ipco') boxesIn(bytes, start, end, KNOWN.ipco);
    const types = itemTypes(bytes, one(inside, 'iinf'));
    const idat = inside.find(({ type }) => type === 'idat');
    const isPicture = (id: number) => PICTURES.includes(types.get(id) ?? '');
    const pictures = extents(bytes, one(inside, 'iloc'), isPicture, idat);
    const blanked = Buffer.from(bytes);
    const loose = [...boxes, ...inside].filter(({ type }) => ['mdat', 'free', 'skip', 'idat'].includes(type));
    for (const { start, end } of loose) blanked.fill(0, start, end);
    for (const [start, end] of pictures) bytes.copy(blanked, start, start, end);
    return blanked;
  } catch (error) {
    if (error instanceof Unknown) return undefined;
    throw error;
  }
}
