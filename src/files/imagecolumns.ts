/** Returns the columns of all tables that contain paths of images. */
import { fieldsOf } from '../core/model/fields';
import { allEntities, resourceOf } from '../core/model/registry';

export const imageColumns = (): { table: string; column: string }[] =>
  allEntities().flatMap((entity) =>
    fieldsOf(entity)
      .filter(({ kind }) => kind === 'image')
      .map(({ column }) => ({ table: resourceOf(entity)!.table, column: column! })),
  );
