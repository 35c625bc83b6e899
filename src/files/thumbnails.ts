/** Thumbnail types of the APIs: GraphQL returns the URL of one size, REST all thumbnails of an image. */
import { ArgsType, Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { croppedThumbnailName, mediaUrl, THUMBNAIL_SIZES, THUMBNAIL_SPECS, thumbnailPath, DEFAULT_QUALITY } from './paths';

const IMAGE_SIZES = Object.fromEntries(Object.keys(THUMBNAIL_SIZES).map((alias) => [alias.toUpperCase(), alias]));
registerEnumType(IMAGE_SIZES, {
  name: 'ImageSize',
  description: 'The square that a smaller version of an image fits into; none is larger than the image.',
  valuesConfig: Object.fromEntries(
    Object.entries(THUMBNAIL_SIZES).map(([alias, size]) => [alias.toUpperCase(), { description: `${size} x ${size} pixels.` }]),
  ),
});

@ArgsType()
export class ThumbnailArgs {
  @Field(() => IMAGE_SIZES, { defaultValue: 'medium', description: 'How large it is.' })
  declare size: keyof typeof THUMBNAIL_SIZES;
  @Field(() => Boolean, { defaultValue: false, description: 'Whether it fills the square, cropped to what draws attention.' })
  declare crop: boolean;
}

/** Returns the URL of a thumbnail without scheme and host. `png`: whether the thumbnail is a PNG, as for GIFs and images with transparency. */
export const thumbnailUrl = (path: string, { size, crop }: ThumbnailArgs, png: boolean): string =>
  mediaUrl(thumbnailPath(path, crop ? croppedThumbnailName(size) : size, png));

@ObjectType({ description: 'How a thumbnail was made.' })
class ThumbnailSettings {
  @Field(() => [Int], { description: 'Width and height of the square that it fits into or, cropped, fills; it is never enlarged.' })
  size!: number[];
  @Field(() => String, { nullable: true, description: '`smart`: cropped to what draws attention. Null: not cropped.' })
  crop!: string | null;
  @Field(() => Int, { description: 'Quality of a JPEG, up to 100.' })
  quality!: number;
}

@ObjectType({ description: 'A smaller version of an image.' })
class Thumbnail {
  @Field(() => String, { description: 'URL without scheme and host.' })
  url!: string;
  @Field(() => ThumbnailSettings, { description: 'How it was made.' })
  settings!: ThumbnailSettings;
}

@ObjectType({ description: 'The smaller versions of an image. PNG where the image has transparency or is a GIF, JPEG elsewhere.' })
export class Thumbnails {
  @Field(() => String, { description: 'URL of the image itself, without scheme and host.' })
  original!: string;
  [field: string]: unknown;
}

/** Converts an alias to a field name: `micro_cropped` → `microCropped`. */
const fieldName = (alias: string) => alias.replace(/_c/, 'C');

for (const [alias, { size, isCropped }] of THUMBNAIL_SPECS)
  Field(() => Thumbnail, { description: `${isCropped ? 'Fills' : 'Fits into'} ${size} x ${size} pixels.` })(
    Thumbnails.prototype,
    fieldName(alias) as 'original',
  );

/** Selection set of the REST representation, which omits settings with default values. */
export const THUMBNAILS_SELECTION = [
  ...[...THUMBNAIL_SPECS].map(([alias, { isCropped, quality }]) => {
    const settings = ['size', isCropped && 'crop', quality !== DEFAULT_QUALITY && 'quality'].filter(Boolean).join(' ');
    return `${alias}: ${fieldName(alias)} { url settings { ${settings} } }`;
  }),
  'original',
].join(' ');

/** Returns all thumbnails of an image. `png`: whether they are PNG, as for GIFs and images with transparency. */
export function thumbnailsOf(path: string, png: boolean): Thumbnails {
  const entries = [...THUMBNAIL_SPECS].map(([alias, { size, isCropped, quality }]): [string, Thumbnail] => [
    fieldName(alias),
    { url: mediaUrl(thumbnailPath(path, alias, png)), settings: { size: [size, size], crop: isCropped ? 'smart' : null, quality } },
  ]);
  return { ...Object.fromEntries(entries), original: mediaUrl(path) };
}
