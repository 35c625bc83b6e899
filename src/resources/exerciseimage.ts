import { randomUUID } from 'node:crypto';
import { Op, type Transaction } from 'sequelize';
import { Args, Ctx, Extensions, FieldResolver, Resolver, Root } from 'type-graphql';
import { Model } from 'sequelize-typescript';
import type { Context } from '../core/context';
import { crud } from '../core/schema/crud';
import { notFound } from '../core/model/errors';
import { Choose, Flag, Id, Image, Text, Uuid, type PartOf } from '../core/model/fields';
import { Ref } from '../core/model/relationfields';
import { Needs } from '../core/read/plan';
import { Resource } from '../core/model/resource';
import type { Values } from '../core/model/hooks';
import type { UploadedFile } from '../platform/multipart';
import { mediaUrl } from '../files/paths';
import { demandRoom, keptBytes, noteBytes, type Sent } from '../files/quota';
import { hadFile } from '../files/removal';
import { SELECTION, ThumbnailArgs, Thumbnails, thumbnailsOf, thumbnailUrl } from '../files/thumbnails';
import { uploadedImage } from '../files/upload';
import { ExerciseBase } from './exercisebase';
import { License } from './license';
import { ACCEPTED, PENDING, STATUS } from './status';

const MAX_PATH = 100;
const MAX_AUTHOR = 50;

@Resource({
  rest: 'exerciseimage',
  position: 19,
  dump: 'exercises.exerciseimage',
  description: 'An image of an exercise, pending ones included.',
  ordering: ['-isMain', 'id'],
  single: { flag: 'isMain', of: 'exerciseBaseId', among: { status: ACCEPTED } },
  routes: 'all',
  writes: ['create', 'update', 'remove'],
  group: 'catalogue',
  contributed: { status: PENDING },
  permits: ['POST'],
  filters: ['isMain', 'status', 'exerciseBaseId', 'licenseId', 'licenseAuthor'],
})
export class ExerciseImage extends Model<ExerciseImage> {
  @Id() declare id: number;
  @Uuid({ note: 'Stays the same wherever the image is copied to.', readOnly: true, default: () => randomUUID() }) declare uuid: string;
  @Ref(() => ExerciseBase, { label: 'Exercise', rest: 'exercise' }) declare exerciseBaseId: number;
  @Image({
    label: 'Image',
    help: 'Only PNG and JPEG formats are supported.',
    note: 'URL of the image; on input the file.',
    ...uploadedImage(MAX_PATH),
  })
  declare image: string;
  @Flag({ label: 'Main picture', help: 'Whether this is the main image of the exercise.', default: false }) declare isMain: boolean;
  @Choose({
    label: 'Status',
    note: 'Only accepted images are shown to everybody.',
    choices: STATUS,
    default: PENDING,
    readOnly: true,
    max: 2,
  })
  declare status: string;
  @Ref(() => License, { label: 'License', default: 2, absent: 'CC-BY-SA 4', hidden: true }) declare licenseId: number;
  @Text({ label: 'Author', note: 'Whom the license wants to be named.', max: MAX_AUTHOR, null: true, blank: true, hidden: true })
  declare licenseAuthor: string | null;
}

/** No row has it. */
const NEW = 0;

const heldBy = async (id: number, { session }: Context, transaction: Transaction): Promise<Values> => {
  const attributes = ['exerciseBaseId', 'isMain', 'status'];
  const row = await ExerciseImage.findByPk(id, { attributes, raw: true, transaction, ...session.counted });
  if (!row) throw notFound();
  return row as unknown as Values;
};

/**
 * A main image takes the place of the base's others, but a pending one never that of an accepted one. While a base has no accepted main image,
 * every new one is a main image.
 */
async function settleMain({ exerciseBaseId, isMain, status }: Values, id: number, { session }: Context, transaction: Transaction) {
  const options = { transaction, ...session.counted };
  const others = { exerciseBaseId: exerciseBaseId as number, id: { [Op.ne]: id }, isMain: true };
  const accepted = await ExerciseImage.findOne({ where: { ...others, status: ACCEPTED }, attributes: ['id'], raw: true, ...options });
  if (!isMain) return !accepted && id === NEW;
  if (accepted && status !== ACCEPTED) return false;
  await ExerciseImage.update({ isMain: false }, { where: others, ...options });
  return true;
}

const CONTRIBUTORS = 'exercise_image_contributor';

/** Of what a write is about to store: kept until it is noted. */
const sizes = new WeakMap<Values, number>();

const base = crud(ExerciseImage, {
  /** Writes of images of the same base wait for each other, so that two cannot both find the place free. */
  async begin(rows, context, transaction) {
    const { viewer, media, session } = context;
    // A model has no word for rows that other rows name.
    const bases = `SELECT 1 FROM "exercise_base" WHERE "id" = ANY($1::int[]) OR "id" IN
      (SELECT "exercise_base_id" FROM "exercise_image" WHERE "id" = ANY($2::int[])) ORDER BY "id" FOR NO KEY UPDATE`;
    const bind = [rows.flatMap(({ input }) => input?.exerciseBaseId ?? []), rows.flatMap(({ id }) => id ?? [])];
    await session.database.sequelize.query(bases, { bind, transaction, ...session.counted });
    const sent = rows.flatMap(({ id, input, path }): Sent[] =>
      input?.image ? [{ id, file: input.image as UploadedFile, path: [...path!, 'image'] }] : [],
    );
    // Who runs the service adds as much as they like.
    if (sent.length && !viewer!.isSuperuser && media.quota !== Infinity)
      await demandRoom(CONTRIBUTORS, viewer!.id, sent, media.quota, session.database.sequelize, { transaction, ...session.counted });
  },
  async before(values, context, transaction, id = NEW) {
    if (id === NEW && context.viewer!.isSuperuser) {
      values.status = ACCEPTED;
      values.licenseAuthor ??= new URL(context.baseUrl).hostname.slice(0, MAX_AUTHOR);
    }
    const row = id === NEW ? values : { ...(await heldBy(id, context, transaction)), ...values };
    if (values.isMain !== undefined || values.exerciseBaseId !== undefined) values.isMain = await settleMain(row, id, context, transaction);
    if (values.image === undefined) return;
    const { database, counted } = context.session;
    const wasTaken = hadFile(database.sequelize, { transaction, ...counted });
    const folder = `exercise-images/${Number(row.exerciseBaseId)}`;
    const file = values.image as UploadedFile;
    values.image = await context.media.store(folder, file, MAX_PATH, wasTaken);
    sizes.set(values, await keptBytes(file));
  },
  async after(written, { session }, transaction) {
    const kept = written.flatMap(({ id, values }) => (sizes.has(values) ? [{ id, bytes: sizes.get(values)! }] : []));
    if (kept.length) await noteBytes(CONTRIBUTORS, kept, session.database.sequelize, { transaction, ...session.counted });
  },
  async undo({ image }, { media }) {
    if (typeof image === 'string') await media.remove([image]);
  },
});

@Resolver(() => ExerciseImage)
export default class ExerciseImageResolver extends base {
  @FieldResolver(() => String, { description: 'URL of the image.' })
  @Needs(() => ExerciseImage, 'image')
  image(@Root() row: PartOf<ExerciseImage, 'image'>, @Ctx() { baseUrl }: Context): string {
    return baseUrl + mediaUrl(row.image);
  }

  @Extensions({ cost: { weight: 2 } })
  @FieldResolver(() => String, {
    description:
      'URL of a smaller version, which is made when it is first asked for: PNG if the image has transparency or is a GIF, else JPEG.',
  })
  @Needs(() => ExerciseImage, 'image')
  async thumbnailUrl(
    @Root() row: PartOf<ExerciseImage, 'image'>,
    @Args(() => ThumbnailArgs) args: ThumbnailArgs,
    @Ctx() { baseUrl, media }: Context,
  ): Promise<string> {
    return baseUrl + thumbnailUrl(row.image, args, await media.hasPngThumbnails(row.image));
  }

  @Extensions({ only: 'rest', cost: { weight: 20 }, action: { name: 'thumbnails', selection: SELECTION } })
  @FieldResolver(() => Thumbnails, { description: 'Smaller versions of the image, made when they are first asked for.' })
  @Needs(() => ExerciseImage, 'image')
  async thumbnails(@Root() row: PartOf<ExerciseImage, 'image'>, @Ctx() { media }: Context): Promise<Thumbnails> {
    return thumbnailsOf(row.image, await media.thumbnails(row.image));
  }
}
