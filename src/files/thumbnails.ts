/** The thumbnails of an image: one by its size, as GraphQL shows them, and all of them, as REST does. */
import { ArgsType, Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { croppedAlias, mediaUrl, SIZES, THUMBNAILS, thumbnailName, USUAL_QUALITY } from './paths';

const SIZE = Object.fromEntries(Object.keys(SIZES).map((alias) => [alias.toUpperCase(), alias]));
registerEnumType(SIZE, {
  name: 'ImageSize',
  description: 'The square that a smaller version of an image fits into; none is larger than the image.',
  valuesConfig: Object.fromEntries(
    Object.entries(SIZES).map(([alias, size]) => [alias.toUpperCase(), { description: `${size} x ${size} pixels.` }]),
  ),
});

@ArgsType()
export class ThumbnailArgs {
  @Field(() => SIZE, { defaultValue: 'medium', description: 'How large it is.' })
  declare size: keyof typeof SIZES;
  @Field(() => Boolean, { defaultValue: false, description: 'Whether it fills the square, cropped to what draws attention.' })
  declare crop: boolean;
}

/** Its URL without scheme and host. `png`: of an image that has transparency or is a GIF. */
export const thumbnailUrl = (path: string, { size, crop }: ThumbnailArgs, png: boolean): string =>
  mediaUrl(thumbnailName(path, crop ? croppedAlias(size) : size, png));

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

/** `micro_cropped` → `microCropped`. */
const fieldOf = (alias: string) => alias.replace(/_c/, 'C');

for (const [alias, { size, cropped }] of THUMBNAILS)
  Field(() => Thumbnail, { description: `${cropped ? 'Fills' : 'Fits into'} ${size} x ${size} pixels.` })(
    Thumbnails.prototype,
    fieldOf(alias) as 'original',
  );

/** The keys of REST, which shows a setting only where it is not the usual one. */
export const SELECTION = [
  ...[...THUMBNAILS].map(([alias, { cropped, quality }]) => {
    const settings = ['size', cropped && 'crop', quality !== USUAL_QUALITY && 'quality'].filter(Boolean).join(' ');
    return `${alias}: ${fieldOf(alias)} { url settings { ${settings} } }`;
  }),
  'original',
].join(' ');

/** `png`: of an image that has transparency or is a GIF. */
export function thumbnailsOf(path: string, png: boolean): Thumbnails {
  const made = [...THUMBNAILS].map(([alias, { size, cropped, quality }]): [string, Thumbnail] => [
    fieldOf(alias),
    { url: mediaUrl(thumbnailName(path, alias, png)), settings: { size: [size, size], crop: cropped ? 'smart' : null, quality } },
  ]);
  return { ...Object.fromEntries(made), original: mediaUrl(path) };
}
