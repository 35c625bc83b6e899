/**
 * Thumbnail types of the APIs: GraphQL returns the URL of one size, REST all thumbnails of an
 * image.
 */
import { ArgsType, Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import {
  croppedThumbnailName,
  mediaUrl,
  THUMBNAIL_SIZES,
  THUMBNAIL_SPECS,
  thumbnailPath,
  DEFAULT_THUMBNAIL_QUALITY,
} from './paths';

const IMAGE_SIZES = Object.fromEntries(
  Object.keys(THUMBNAIL_SIZES).map((alias) => [alias.toUpperCase(), alias]),
);

registerEnumType(IMAGE_SIZES, {
  name: 'ImageSize',
  description:
    'The square into which a thumbnail fits. Thumbnails are never larger than the image.',
  valuesConfig: Object.fromEntries(
    Object.entries(THUMBNAIL_SIZES).map(([alias, size]) => [
      alias.toUpperCase(),
      { description: `${size} x ${size} pixels.` },
    ]),
  ),
});

@ArgsType()
export class ThumbnailArgs {
  @Field(() => IMAGE_SIZES, { defaultValue: 'medium', description: 'The size of the square.' })
  declare size: keyof typeof THUMBNAIL_SIZES;
  @Field(() => Boolean, {
    defaultValue: false,
    description:
      'Whether the thumbnail fills the square, cropped to the most prominent part of the image.',
  })
  declare crop: boolean;
}

export const thumbnailPathOf = (
  path: string,
  { size, crop }: ThumbnailArgs,
  isPng: boolean,
): string => thumbnailPath(path, crop ? croppedThumbnailName(size) : size, isPng);

@ObjectType({ description: 'The settings of a thumbnail.' })
class ThumbnailSettings {
  @Field(() => [Int], {
    description:
      'Width and height of the square that the thumbnail fits into or, if cropped, fills. It is never enlarged.',
  })
  size!: number[];
  @Field(() => String, {
    nullable: true,
    description: '`smart`: cropped to the most prominent part of the image. Null: not cropped.',
  })
  crop!: string | null;
  @Field(() => Int, { description: 'Quality of a JPEG, up to 100.' })
  quality!: number;
}

@ObjectType({ description: 'A thumbnail of an image.' })
class Thumbnail {
  @Field(() => String, { description: 'URL without scheme and host.' })
  url!: string;
  @Field(() => ThumbnailSettings, { description: 'The settings of the thumbnail.' })
  settings!: ThumbnailSettings;
}

@ObjectType({
  description:
    'The thumbnails of an image: PNG if the image has transparency or is a GIF, otherwise JPEG.',
})
export class Thumbnails {
  @Field(() => String, { description: 'URL of the image itself, without scheme and host.' })
  original!: string;
  [field: string]: unknown;
}

/** Name of the GraphQL field: `micro_cropped` becomes `microCropped`. */
const fieldName = (alias: string) => alias.replace(/_c/, 'C');

for (const [alias, { size, isCropped }] of THUMBNAIL_SPECS) {
  Field(() => Thumbnail, {
    description: `${isCropped ? 'Fills' : 'Fits into'} ${size} x ${size} pixels.`,
  })(Thumbnails.prototype, fieldName(alias) as 'original');
}

/**
 * Selection set for the REST representation of thumbnails, which omits settings with default
 * values.
 */
export const THUMBNAILS_SELECTION = [
  ...[...THUMBNAIL_SPECS].map(([alias, { isCropped, quality }]) => {
    const settings = [
      'size',
      isCropped && 'crop',
      quality !== DEFAULT_THUMBNAIL_QUALITY && 'quality',
    ]
      .filter(Boolean)
      .join(' ');

    return `${alias}: ${fieldName(alias)} { url settings { ${settings} } }`;
  }),
  'original',
].join(' ');

/** `basePath`: path of PUBLIC_URL, which precedes the paths of URLs. */
export function thumbnailsOf(path: string, isPng: boolean, basePath: string): Thumbnails {
  const entries = [...THUMBNAIL_SPECS].map(
    ([alias, { size, isCropped, quality }]): [string, Thumbnail] => [
      fieldName(alias),
      {
        url: mediaUrl(basePath, thumbnailPath(path, alias, isPng)),
        settings: { size: [size, size], crop: isCropped ? 'smart' : null, quality },
      },
    ],
  );

  return { ...Object.fromEntries(entries), original: mediaUrl(basePath, path) };
}
