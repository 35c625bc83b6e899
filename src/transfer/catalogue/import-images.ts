/** Fetches images of imported exercises that have none. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { DatabaseSession } from '../../database/session';
import { ACCEPTED_STATUS } from '../../fitness/catalogue/review-status';
import { IMAGE_FOLDER, MAX_IMAGE_PATH_LENGTH } from '../../fitness/catalogue/exercise-image';
import type { Media } from '../../files/media';
import { createPathTakenCheck } from '../../files/removal';
import { UploadedFile } from '../../shared/multipart';
import { fetchDocument } from './fetch';
import type { SourceExercise } from './exercise';
import type { ImportedExercise } from './import-exercises';
import { CREATE_LICENSES_SQL } from './licenses';

const MAX_IMAGE_MEGABYTES = 20;
const MAX_IMAGES_PER_EXERCISE = 20;

/** Images are processed in turns of their senders; the operator's have none. */
const OPERATOR_ID = 0;

interface ImageStore {
  session: DatabaseSession;
  media: Media;
}

export interface ImageImportReport {
  stored: number;

  /** Messages about images that could not be fetched or stored. */
  problems: string[];
}

/** Name of an image for messages; that of an export is its content. */
const nameOf = (url: string): string => (url.startsWith('data:') ? 'an image of the export' : url);

const filenameOf = (url: string): string => {
  const [, type] = /^data:image\/(\w+)/.exec(url) ?? [];

  return type ? `image.${type}` : decodeURIComponent(path.basename(new URL(url).pathname));
};

export async function importExerciseImages(
  exercises: readonly ImportedExercise[],
  { session, media }: ImageStore,
  reportProgress: (doneCount: number, totalCount: number) => void,
): Promise<ImageImportReport> {
  const report: ImageImportReport = { stored: 0, problems: [] };
  const rows = await session.query(
    `SELECT DISTINCT "exercise_base_id" AS "id" FROM "exercise_image" WHERE "exercise_base_id" = ANY($1::int[])`,
    [exercises.map(({ id }) => id)],
  );
  const illustrated = new Set(rows.map(({ id }) => id as number));

  for (const [index, { exercise, id }] of exercises.entries()) {
    if (!illustrated.has(id)) {
      for (const url of exercise.images.slice(0, MAX_IMAGES_PER_EXERCISE)) {
        try {
          // The first one that can be stored is the main image.
          await addImage(id, exercise, url, { session, media }, !illustrated.has(id));
          illustrated.add(id);
          report.stored += 1;
        } catch (error) {
          const { cause, message } = error as Error;

          report.problems.push(`${nameOf(url)}: ${String(cause ?? message)}`);
        }
      }
    }

    reportProgress(index + 1, exercises.length);
  }

  return report;
}

async function addImage(
  id: number,
  { license, author }: SourceExercise,
  url: string,
  { session, media }: ImageStore,
  isMain: boolean,
): Promise<void> {
  const bytes = await fetchDocument(url, MAX_IMAGE_MEGABYTES);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'fitgraph-image-'));

  try {
    const localPath = path.join(folder, 'image');

    await writeFile(localPath, bytes);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const file = new UploadedFile(filenameOf(url), localPath, bytes.length, digest, OPERATOR_ID);

    await session.transaction(async (transaction) => {
      await transaction.query(CREATE_LICENSES_SQL, [JSON.stringify([license])]);
      const storedPath = await media.store(
        `${IMAGE_FOLDER}/${id}`,
        file,
        MAX_IMAGE_PATH_LENGTH,
        createPathTakenCheck(transaction),
      );

      await transaction.query(
        `INSERT INTO "exercise_image" ("uuid", "exercise_base_id", "image", "is_main", "status", "license_id", "license_author")
          VALUES (gen_random_uuid(), $1, $2, $3, '${ACCEPTED_STATUS}', (SELECT min("id") FROM "license" WHERE "short_name" = $4), $5::varchar(50))`,
        [id, storedPath, isMain, license.shortName, author],
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
