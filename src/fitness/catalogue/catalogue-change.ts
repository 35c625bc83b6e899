/** The history of the catalogue: who has changed which row, and how to undo a change. */
import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { Model } from 'sequelize-typescript';
import { requireCurator } from '../../engine/access/access';
import type { Context } from '../../engine/context';
import { registerChoices } from '../../engine/declare/choices';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import {
  ChoiceField,
  ComputedField,
  DateTimeField,
  Id,
  IntegerField,
  TextField,
} from '../../engine/declare/fields';
import { Resource } from '../../engine/declare/resource';
import { createCrudResolver } from '../../engine/schema/crud';
import { createPayloadType, runWrite } from '../../engine/schema/payload';
import { readRowById } from '../../engine/read/rows';
import { undoChange } from '../../engine/write/undo';
import { MAX_INTEGER } from '../../shared/bounds';

/** PostgreSQL's limit of identifiers. */
const MAX_TABLE_NAME_LENGTH = 63;

@Resource({
  writeOperations: [],
  description:
    'A change of a row of the catalogue by a user, or of a link, such as a muscle of an exercise. Curators see all, others their own.',
  ordering: ['id'],
  isForCurators: true,
})
export class CatalogueChange extends Model<CatalogueChange> {
  @Id() declare id: number;
  @TextField({
    label: 'Table',
    description: 'The table, such as `ingredient`, `exercise_base` or `exercise_base_muscle`.',
    max: MAX_TABLE_NAME_LENGTH,
  })
  declare table: string;
  @IntegerField({
    label: 'Row',
    description: 'The `id` of the row, or of the exercise to which the link belongs.',
    min: 1,
    max: MAX_INTEGER,
  })
  declare rowId: number;
  @ChoiceField({
    label: 'Operation',
    description: 'What happened to the row.',
    max: 6,
    choices: registerChoices('CatalogueOperation', 'What a user did to a row of the catalogue.', [
      ['CREATED', 'INSERT', 'Created', 'The row was created.'],
      ['UPDATED', 'UPDATE', 'Updated', 'The row was changed.'],
      ['DELETED', 'DELETE', 'Deleted', 'The row was deleted.'],
    ]),
  })
  declare operation: string;
  @DateTimeField({ label: 'Time', description: 'When it happened.', columnAndRestKey: 'at' })
  declare occurredAt: string;
  @ComputedField<string>(() => String, {
    label: 'User',
    description: 'The name of the user; empty if the account is deleted.',
    sql: (alias) =>
      `coalesce((SELECT a."username" FROM "account" a WHERE a."id" = ${alias}."user_id"), '')`,
  })
  declare username: string;
  @ComputedField<string | null>(() => String, {
    label: 'Before',
    description: 'The columns of the row before the change, as JSON; null if it was created.',
    allowNull: true,
    sql: (alias) => `${alias}."before"::text`,
  })
  declare before: string | null;
  @ComputedField<string | null>(() => String, {
    label: 'After',
    description: 'The columns of the row after the change, as JSON; null if it was deleted.',
    allowNull: true,
    sql: (alias) => `${alias}."after"::text`,
  })
  declare after: string | null;
}

const CatalogueChangePayload = createPayloadType<number>({
  isBulk: false,
  name: 'CatalogueChangePayload',
  description: 'The change that undoes another one, or the errors.',
  rowsFieldName: 'catalogueChange',
  rowsFieldType: () => CatalogueChange,
  readRows: (id, context, info) => readRowById(CatalogueChange, id, context, info) as never,
});

@Resolver(() => CatalogueChange)
export default class CatalogueChangeResolver extends createCrudResolver(CatalogueChange) {
  @Mutation(() => CatalogueChangePayload, {
    nullable: true,
    description:
      'Undoes a change of the catalogue. Fails with CONFLICT if the row has changed since. Merges, acceptances and changes of image files cannot be undone. Only for curators.',
  })
  @FieldExtensions({ onlyWritesRows: true })
  undoCatalogueChange(
    @Arg('id', () => ID, { description: 'The `id` of the change.' }) id: string,
    @Ctx() context: Context,
  ): Promise<object> {
    requireCurator(CatalogueChange, context);
    return runWrite(() => undoChange(CatalogueChange, id, context));
  }
}
