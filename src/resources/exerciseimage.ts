import { randomUUID } from 'node:crypto';
import { Op, type Transaction } from 'sequelize';
import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../core/model/fieldextensions';
import { Model } from 'sequelize-typescript';
import type { Context } from '../core/context';
import { createCrudResolver } from '../core/schema/crud';
import { notFoundError } from '../core/model/errors';
import {
  ChoiceField,
  BooleanField,
  Id,
  ImageField,
  TextField,
  UuidField,
  type RowFields,
} from '../core/model/fields';
import { Ref } from '../core/model/relationfields';
import { RequiresFields } from '../core/read/queryplan';
import { Resource } from '../core/model/resource';
import type { FieldValues } from '../core/model/hooks';
import type { UploadedFile } from '../platform/multipart';
import { mediaUrl } from '../files/paths';
import { checkQuota, storedFileBytes, recordFileBytes, type NewFile } from '../files/quota';
import { createPathUsageCheck } from '../files/removal';
import {
  THUMBNAILS_SELECTION,
  ThumbnailArgs,
  Thumbnails,
  thumbnailsOf,
  thumbnailUrl,
} from '../files/thumbnails';
import { imageFieldOptions } from '../files/upload';
import { ExerciseBase } from './exercisebase';
import { License } from './license';
import { ACCEPTED_STATUS, PENDING_STATUS, REVIEW_STATUS_FIELD_OPTIONS } from './reviewstatus';

const MAX_PATH_LENGTH = 100;
const MAX_AUTHOR_LENGTH = 50;

@Resource({
  restName: 'exerciseimage',
  apiRootPosition: 19,
  dumpModelName: 'exercises.exerciseimage',
  description: 'An image of an exercise, pending ones included.',
  ordering: ['-isMain', 'id'],
  uniqueFlag: {
    flagFieldName: 'isMain',
    parentFieldName: 'exerciseBaseId',
    rowFilter: { status: ACCEPTED_STATUS },
  },
  routes: 'all',
  writeOperations: ['create', 'update', 'remove'],
  scopeGroup: 'catalogue',
  pendingColumnValues: { status: PENDING_STATUS },
  permittedMethods: ['POST'],
  filters: ['isMain', 'status', 'exerciseBaseId', 'licenseId', 'licenseAuthor'],
})
export class ExerciseImage extends Model<ExerciseImage> {
  @Id() declare id: number;
  @UuidField({
    description: 'Identifies the image across servers: copies have the same UUID.',
    readOnly: true,
    default: () => randomUUID(),
  })
  declare uuid: string;
  @Ref(() => ExerciseBase, { label: 'Exercise', restKey: 'exercise' })
  declare exerciseBaseId: number;
  @ImageField({
    label: 'Image',
    helpText: 'Only PNG and JPEG formats are supported.',
    description: 'URL of the image; as input, the file.',
    ...imageFieldOptions(MAX_PATH_LENGTH),
  })
  declare image: string;
  @BooleanField({
    label: 'Main picture',
    helpText: 'Whether this is the main image of the exercise.',
    default: false,
  })
  declare isMain: boolean;
  @ChoiceField({
    ...REVIEW_STATUS_FIELD_OPTIONS,
    description: 'Only accepted images are visible to everyone.',
    readOnly: true,
  })
  declare status: string;
  @Ref(() => License, {
    label: 'License',
    default: 2,
    defaultDescription: 'CC-BY-SA 4',
    hiddenInRest: true,
  })
  declare licenseId: number;
  @TextField({
    label: 'Author',
    description: 'The author to be credited under the licence.',
    max: MAX_AUTHOR_LENGTH,
    allowNull: true,
    allowBlank: true,
    hiddenInRest: true,
  })
  declare licenseAuthor: string | null;
}

/** Placeholder for the id of a row that is not inserted yet. No stored row has the id 0. */
const NEW_ROW_ID = 0;

const loadImageRow = async (
  id: number,
  { session }: Context,
  transaction: Transaction,
): Promise<FieldValues> => {
  const attributes = ['exerciseBaseId', 'isMain', 'status'];
  const row = await ExerciseImage.findByPk(id, {
    attributes,
    raw: true,
    transaction,
    ...session.sequelizeOptions,
  });
  if (!row) throw notFoundError();
  return row as unknown as FieldValues;
};

/**
 * Returns whether the written image becomes a main image of its exercise base. If the client requests that, the other images of the base cease to be main
 * images, but a pending image never replaces an accepted main image. If the client does not request it, a new image still becomes a main image while the
 * base has no accepted one, and existing main images remain main images.
 */
async function updateMainImage(
  { exerciseBaseId, isMain, status }: FieldValues,
  id: number,
  { session }: Context,
  transaction: Transaction,
) {
  const options = { transaction, ...session.sequelizeOptions };
  const otherMainImagesWhere = {
    exerciseBaseId: exerciseBaseId as number,
    id: { [Op.ne]: id },
    isMain: true,
  };
  const acceptedMainImage = await ExerciseImage.findOne({
    where: { ...otherMainImagesWhere, status: ACCEPTED_STATUS },
    attributes: ['id'],
    raw: true,
    ...options,
  });
  if (!isMain) return !acceptedMainImage && id === NEW_ROW_ID;
  if (acceptedMainImage && status !== ACCEPTED_STATUS) return false;
  await ExerciseImage.update({ isMain: false }, { where: otherMainImagesWhere, ...options });
  return true;
}

const CONTRIBUTOR_TABLE = 'exercise_image_contributor';

/**
 * Sizes in bytes of uploaded files, by the field values of the image row. Kept until the row is inserted, because a size is recorded under the row's id.
 */
const uploadedFileBytesByRowValues = new WeakMap<FieldValues, number>();

const ExerciseImageCrudResolver = createCrudResolver(ExerciseImage, {
  /** Locks the exercise bases of the images, so that concurrent writes cannot both set the main image of a base. Checks the upload quota. */
  async onTransactionStart(rows, context, transaction) {
    const {
      viewer,
      session,
      services: { media },
    } = context;
    // Raw SQL, because Sequelize has no condition for rows to which another table refers.
    const lockBasesSql = `SELECT 1 FROM "exercise_base" WHERE "id" = ANY($1::int[]) OR "id" IN
      (SELECT "exercise_base_id" FROM "exercise_image" WHERE "id" = ANY($2::int[])) ORDER BY "id" FOR NO KEY UPDATE`;
    const bind = [
      rows.flatMap(({ input }) => input?.exerciseBaseId ?? []),
      rows.flatMap(({ id }) => id ?? []),
    ];
    await session.database.sequelize.query(lockBasesSql, {
      bind,
      transaction,
      ...session.sequelizeOptions,
    });
    const uploads = rows.flatMap(({ id, input, path }): NewFile[] =>
      input?.image
        ? [{ replacedRowId: id, file: input.image as UploadedFile, inputPath: [...path!, 'image'] }]
        : [],
    );
    // Superusers have no upload quota.
    if (uploads.length && !viewer!.isSuperuser && media.quotaBytes !== Infinity)
      await checkQuota(
        CONTRIBUTOR_TABLE,
        viewer!.id,
        uploads,
        media.quotaBytes,
        session.database.sequelize,
        {
          transaction,
          ...session.sequelizeOptions,
        },
      );
  },
  async beforeRowWrite(values, context, transaction, id = NEW_ROW_ID) {
    if (id === NEW_ROW_ID && context.viewer!.isSuperuser) {
      values.status = ACCEPTED_STATUS;
      values.licenseAuthor ??= new URL(context.request.baseUrl).hostname.slice(
        0,
        MAX_AUTHOR_LENGTH,
      );
    }
    const row =
      id === NEW_ROW_ID ? values : { ...(await loadImageRow(id, context, transaction)), ...values };
    if (values.isMain !== undefined || values.exerciseBaseId !== undefined)
      values.isMain = await updateMainImage(row, id, context, transaction);
    if (values.image === undefined) return;
    const { database, sequelizeOptions } = context.session;
    const isPathTaken = createPathUsageCheck(database.sequelize, {
      transaction,
      ...sequelizeOptions,
    });
    const folder = `exercise-images/${Number(row.exerciseBaseId)}`;
    const file = values.image as UploadedFile;
    values.image = await context.services.media.store(folder, file, MAX_PATH_LENGTH, isPathTaken);
    uploadedFileBytesByRowValues.set(values, await storedFileBytes(file));
  },
  async afterRowsWritten(writtenRows, { session }, transaction) {
    const newFiles = writtenRows.flatMap(({ id, values }) =>
      uploadedFileBytesByRowValues.has(values)
        ? [{ id, bytes: uploadedFileBytesByRowValues.get(values)! }]
        : [],
    );
    if (newFiles.length)
      await recordFileBytes(CONTRIBUTOR_TABLE, newFiles, session.database.sequelize, {
        transaction,
        ...session.sequelizeOptions,
      });
  },
  async undoSideEffects({ image }, { services: { media } }) {
    if (typeof image === 'string') await media.remove([image]);
  },
});

@Resolver(() => ExerciseImage)
export default class ExerciseImageResolver extends ExerciseImageCrudResolver {
  @FieldResolver(() => String, { description: 'URL of the image.' })
  @RequiresFields(() => ExerciseImage, 'image')
  image(
    @Root() row: RowFields<ExerciseImage, 'image'>,
    @Ctx() { request: { baseUrl } }: Context,
  ): string {
    return baseUrl + mediaUrl(row.image);
  }

  @FieldExtensions({ cost: { weight: 2 } })
  @FieldResolver(() => String, {
    description:
      'URL of a thumbnail, which is generated when it is first requested: PNG if the image has transparency or is a GIF, otherwise JPEG.',
  })
  @RequiresFields(() => ExerciseImage, 'image')
  async thumbnailUrl(
    @Root() row: RowFields<ExerciseImage, 'image'>,
    @Args(() => ThumbnailArgs) args: ThumbnailArgs,
    @Ctx() { request: { baseUrl }, services: { media } }: Context,
  ): Promise<string> {
    return baseUrl + thumbnailUrl(row.image, args, await media.hasPngThumbnails(row.image));
  }

  @FieldExtensions({
    exclusiveTo: 'rest',
    cost: { weight: 20 },
    action: { name: 'thumbnails', graphqlSelection: THUMBNAILS_SELECTION },
  })
  @FieldResolver(() => Thumbnails, {
    description: 'Thumbnails of the image, generated on first request.',
  })
  @RequiresFields(() => ExerciseImage, 'image')
  async thumbnails(
    @Root() row: RowFields<ExerciseImage, 'image'>,
    @Ctx() { services: { media } }: Context,
  ): Promise<Thumbnails> {
    return thumbnailsOf(row.image, await media.createThumbnails(row.image));
  }
}
