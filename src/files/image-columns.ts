/** Columns that contain paths of images. */
import { fieldsOf, type Entity } from '../engine/declare/fields';
import { allEntities, resourceOf } from '../engine/declare/registry';

export const imageColumns = (
  entities: readonly Entity[] = allEntities(),
): { table: string; column: string }[] =>
  entities.flatMap((entity) =>
    fieldsOf(entity)
      .filter(({ kind }) => kind === 'image')
      .map(({ column }) => ({ table: resourceOf(entity)!.table, column: column! })),
  );
