import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../database/transaction';
import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { Model } from 'sequelize-typescript';
import type { Context } from '../../engine/context';
import { createCrudResolver } from '../../engine/schema/crud';
import { notFoundError } from '../../engine/declare/errors';
import {
  ChoiceField,
  BooleanField,
  Id,
  ImageField,
  TextField,
  UuidField,
  type RowFields,
} from '../../engine/declare/fields';
import { Ref, Resource } from '../../engine/declare/resource';
import { RequiresFields } from '../../engine/read/query-plan';
import type { FieldValues } from '../../engine/declare/registry';
import type { UploadedFile } from '../../shared/multipart';
import { mediaUrl } from '../../files/paths';
import { checkQuota, storedFileBytes, recordFileBytes, type NewFile } from '../../files/quota';
import { createPathTakenCheck } from '../../files/removal';
import {
  THUMBNAILS_SELECTION,
  ThumbnailArgs,
  Thumbnails,
  thumbnailsOf,
  thumbnailPathOf,
} from '../../files/thumbnails';
import { imageFieldOptions } from '../../files/upload';
import { Exercise } from './exercise';
import { License, LICENSE_AUTHOR_FIELD_OPTIONS } from './license';
import { ACCEPTED_STATUS, PENDING_STATUS, REVIEW_STATUS_FIELD_OPTIONS } from './review-status';

/** Folder of the images in the file store, with a folder for each exercise. */
export const IMAGE_FOLDER = 'exercise-images';
export const MAX_IMAGE_PATH_LENGTH = 100;
const MAX_AUTHOR_LENGTH = 50;

@Resource({
  restName: 'exerciseimage',
  inReference: { apiRootPosition: 19 },
  dumpModelName: 'exercises.exerciseimage',
  description: 'An image of an exercise, pending ones included.',
  ordering: ['-isMain', 'id'],
  uniqueFlag: { flagFieldName: 'isMain', parentFieldName: 'exerciseId' },
  routes: 'all',
  scopeGroup: 'catalogue',
  pendingColumnValues: { status: PENDING_STATUS },
  permittedMethods: ['POST'],
  filters: ['isMain', 'status', 'exerciseId', 'licenseId', 'licenseAuthor'],
})
export class ExerciseImage extends Model<ExerciseImage> {
  @Id() declare id: number;
  @UuidField({
    description: 'Identifies the image across servers: copies have the same UUID.',
    readOnly: true,
    default: () => randomUUID(),
  })
  declare uuid: string;
  @Ref(() => Exercise, { label: 'Exercise', column: 'exercise_base_id', restKey: 'exercise' })
  declare exerciseId: number;
  @ImageField({
    label: 'Image',
    helpText: 'Only PNG and JPEG formats are supported.',
    description: 'URL of the image; as input, the file.',
    ...imageFieldOptions(MAX_IMAGE_PATH_LENGTH),
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
    readOnly: 'rest',
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
    ...LICENSE_AUTHOR_FIELD_OPTIONS,
    indexedForSorting: false,
    hiddenInRest: true,
  })
  declare licenseAuthor: string | null;
}

/** Placeholder id of a row that is not inserted yet. No stored row has the id 0. */
const NEW_ROW_ID = 0;

const loadExerciseId = async (id: number, transaction: Transaction): Promise<number> => {
  const row = await transaction
    .model(ExerciseImage)
    .findOne({ where: { id }, attributes: ['exerciseId'], raw: true });

  if (!row) throw notFoundError();

  return row.exerciseId;
};

const hasAcceptedMainImage = async (
  exerciseId: number,
  transaction: Transaction,
): Promise<boolean> => {
  const where = { exerciseId, isMain: true, status: ACCEPTED_STATUS };

  return (await transaction.model(ExerciseImage).count({ where })) > 0;
};

const CONTRIBUTOR_TABLE = 'exercise_image_contributor';

/**
 * Sizes of uploaded files in bytes, kept until the image rows are inserted, because a size is
 * recorded under the id of its row.
 */
const fileBytesByRow = new WeakMap<FieldValues, number>();

const ExerciseImageCrudResolver = createCrudResolver(ExerciseImage, {
  /**
   * Locks the exercises, so that concurrent writes cannot both set the main image of one.
   * Checks the upload quota.
   */
  async onTransactionStart(rows, context, transaction) {
    const {
      viewer,
      services: { media },
    } = context;
    // Raw SQL, because Sequelize cannot select rows by a reference from another table.
    const lockExercisesSql = `SELECT 1 FROM "exercise_base" WHERE "id" = ANY($1::int[]) OR "id" IN
      (SELECT "exercise_base_id" FROM "exercise_image" WHERE "id" = ANY($2::int[])) ORDER BY "id"
        FOR NO KEY UPDATE`;
    const bind = [
      rows.flatMap(({ input }) => input?.exerciseId ?? []),
      rows.flatMap(({ id }) => id ?? []),
    ];

    await transaction.query(lockExercisesSql, bind);
    const uploads = rows.flatMap(({ id, input, path }): NewFile[] => {
      if (!input?.image) return [];
      const file = input.image as UploadedFile;

      return [{ replacedRowId: id, file, inputPath: [...path!, 'image'] }];
    });

    // Superusers have no upload quota.
    if (uploads.length && !viewer!.isSuperuser && media.quotaBytes !== Infinity) {
      await checkQuota(CONTRIBUTOR_TABLE, viewer!.id, uploads, media.quotaBytes, transaction);
    }
  },
  async beforeRowWrite(values, context, transaction, id = NEW_ROW_ID) {
    const isCurator = context.viewer!.isCurator;

    // Only curators decide on the review.
    if (!isCurator && id === NEW_ROW_ID) values.status = PENDING_STATUS;
    else if (!isCurator) delete values.status;

    if (id === NEW_ROW_ID && isCurator) {
      values.status = ACCEPTED_STATUS;
      values.licenseAuthor ??= new URL(context.request.baseUrl).hostname.slice(
        0,
        MAX_AUTHOR_LENGTH,
      );
    }

    // A new image becomes the main image as long as none has been accepted. The database demotes
    // the previous main image.
    if (id === NEW_ROW_ID && !values.isMain) {
      values.isMain = !(await hasAcceptedMainImage(Number(values.exerciseId), transaction));
    }

    if (values.image === undefined) return;
    const exerciseId = values.exerciseId ?? (await loadExerciseId(id, transaction));
    const isPathTaken = createPathTakenCheck(transaction);
    const folder = `${IMAGE_FOLDER}/${Number(exerciseId)}`;
    const file = values.image as UploadedFile;

    values.image = await context.services.media.store(
      folder,
      file,
      MAX_IMAGE_PATH_LENGTH,
      isPathTaken,
    );
    fileBytesByRow.set(values, await storedFileBytes(file));
  },
  async afterRowsWritten(writtenRows, _context, transaction) {
    const newFiles = writtenRows.flatMap(({ id, values }) => {
      const bytes = fileBytesByRow.get(values);

      return bytes === undefined ? [] : [{ id, bytes }];
    });

    if (newFiles.length) await recordFileBytes(CONTRIBUTOR_TABLE, newFiles, transaction);
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
    return mediaUrl(baseUrl, row.image);
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
    const isPng = await media.hasPngThumbnails(row.image);

    return mediaUrl(baseUrl, thumbnailPathOf(row.image, args, isPng));
  }

  @FieldExtensions({
    exclusiveTo: 'rest',
    cost: { weight: 20 },
    action: { name: 'thumbnails', graphqlSelection: THUMBNAILS_SELECTION, hiddenOnPages: true },
  })
  @FieldResolver(() => Thumbnails, {
    description: 'Thumbnails of the image, generated on first request.',
  })
  @RequiresFields(() => ExerciseImage, 'image')
  async thumbnails(
    @Root() row: RowFields<ExerciseImage, 'image'>,
    @Ctx() { request: { basePath }, services: { media } }: Context,
  ): Promise<Thumbnails> {
    return thumbnailsOf(row.image, await media.createThumbnails(row.image), basePath);
  }
}
