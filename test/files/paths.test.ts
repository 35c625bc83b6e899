import {
  sanitizeFileName,
  extensionOf,
  imageAndThumbnailPaths,
  truncatedPath,
  clientFileName,
  isThumbnailPath,
  mediaUrl,
  thumbnailPath,
  parseThumbnailPath,
} from '../../src/files/paths';

const storedName = (filename: string) => {
  const { stem, dottedExtension } = sanitizeFileName(filename);

  return stem + dottedExtension;
};

describe('the file name of an upload', () => {
  it.each([
    ['up.png', 'up.png'],
    ['Up.PNG', 'Up.PNG'],
    ['up x ü.jpg', 'up_x_ü.jpg'],
    ['u\u0308.jpg', 'ü.jpg'],
    ['../../evil.png', 'evil.png'],
    ['C:\\Users\\ann\\evil.png', 'evil.png'],
    ['/etc/passwd.png', 'passwd.png'],
    ['a<script>"b".png', 'ascriptb.png'],
    ['.hidden.png', 'hidden.png'],
    ['...png', 'image.png'],
    ['???.png', 'image.png'],
    ['a\0b\r\n.png', 'ab.png'],
    ['漢字.webp', '漢字.webp'],
    ['two.parts.jpg', 'two.parts.jpg'],
  ])('%j is stored as %j', (filename, name) => expect(storedName(filename)).toBe(name));

  it.each(['..', '.', '../..', 'folder/', 'a\\..', ''])(
    '%j is empty after sanitizing',
    (filename) => expect(clientFileName(filename)).toBe(''),
  );

  it('is cut to 255 characters and keeps its extension', () => {
    const name = clientFileName(`${'n'.repeat(400)}.png`);

    expect(name).toHaveLength(255);
    expect(name.endsWith('n.png')).toBe(true);
  });

  it.each([
    ['a.PNG', 'png'],
    ['a.tar.gz', 'gz'],
    ['png', ''],
    ['.png', ''],
    ['a.', ''],
  ])('%j has the extension %j', (name, extension) => expect(extensionOf(name)).toBe(extension));
});

describe('a media path', () => {
  const folder = 'exercise-images/2147483647';

  it('is cut to the length of its column but keeps suffix and extension', () => {
    const path = truncatedPath(
      folder,
      { stem: 'n'.repeat(96), dottedExtension: '.png' },
      '_abcdefg',
      100,
    );

    expect(path).toHaveLength(100);
    expect(path.endsWith('n_abcdefg.png')).toBe(true);
  });

  it('leaves room for the names of thumbnails within 255 bytes', () => {
    const path = truncatedPath(folder, { stem: '𠀀'.repeat(90), dottedExtension: '.png' }, '', 100);
    const [longest] = imageAndThumbnailPaths(path.slice(folder.length + 1))
      .map((name) => Buffer.byteLength(name))
      .sort((a, b) => b - a);

    expect(longest).toBeLessThanOrEqual(255);
  });

  it('is percent-encoded in a URL', () =>
    expect(mediaUrl('', 'a b/ü?.png')).toBe('/media/a%20b/%C3%BC%3F.png'));
});

describe('the path of a thumbnail', () => {
  it.each([
    ['micro', false, 'a/b.png.30x30_q85.jpg'],
    ['micro_cropped', false, 'a/b.png.30x30_q85_crop-smart.jpg'],
    ['small', true, 'a/b.png.200x200_q85.png'],
    ['large', false, 'a/b.png.800x800_q90.jpg'],
    ['large_cropped', true, 'a/b.png.800x800_q90_crop-smart.png'],
  ])('with alias %s and png %s is %s, and is parsed back', (alias, png, name) => {
    expect(thumbnailPath('a/b.png', alias, png)).toBe(name);
    expect(parseThumbnailPath(name)).toEqual({ imagePath: 'a/b.png', alias, isPng: png });
    expect(isThumbnailPath(name)).toBe(true);
  });

  it.each(['a/b.png', 'a/b.png.31x31_q85.jpg', 'a/b.png.30x30_q90.jpg', 'a/b.png.30x30_q85.gif'])(
    'does not match %s',
    (name) => expect(parseThumbnailPath(name)).toBeUndefined(),
  );
});
