/**
 * Sequelize associations (https://sequelize.org/docs/v6/core-concepts/assocs/), derived from the relation fields of resources: `@Ref` declares a
 * `belongsTo`, `@Links` a `belongsToMany` through the model of its link table, `@Children` the opposite side of either. They allow eager loading:
 * `Workout.findAll({ include: [{ model: TrainingDay, include: [SetGroup] }] })`.
 *
 * A computed reference gets no association, because Sequelize joins by a single column. For example, the category of an exercise is loaded through
 * its base (`include: [{ model: ExerciseBase, include: [ExerciseCategory] }]`); the session of a workout log is found by three columns.
 */
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  HasMany,
  Model,
  Table,
  type ModelCtor,
} from 'sequelize-typescript';
import { childRowsFieldsOf, fieldOf, fieldsOf, type Entity, type EntityField } from './fields';
import type { LinkTable } from './linktable';
import { toCamelCase } from '../../contract/casing';
import { upperFirst } from './inflection';
import { OWNER_FIELD, resourceOf } from './registry';

type LinkModels = Map<string, ModelCtor>;

/** Declares the associations of all resources, which must all be loaded, and returns the models of the link tables. */
export function declareAssociations(entities: readonly Entity[]): ModelCtor[] {
  const models: LinkModels = new Map();
  for (const entity of entities)
    for (const { link } of fieldsOf(entity))
      if (link && !link.keyColumn)
        models.set(link.table, defineLinkModel(entity, link, models.get(link.table)));
  for (const entity of entities) {
    for (const field of fieldsOf(entity))
      if (field.target) associateReference(entity, field, models);
    for (const { name, target, referenceFieldName, keyFieldName } of childRowsFieldsOf(entity)) {
      const field = fieldOf(target(), referenceFieldName);
      if (field.isColumn)
        HasMany(target as () => ModelCtor, {
          as: name,
          foreignKey: referenceFieldName,
          sourceKey: keyFieldName,
          constraints: false,
        })(entity.prototype, name);
      else if (field.link)
        associateLink(
          entity,
          target,
          name,
          reverseKeys(linkKeys(target(), field.link)),
          field.link,
          models,
        );
    }
  }
  return [...models.values()];
}

/** Defines the Sequelize model of a link table. Its primary key consists of both ids and the columns that distinguish kinds of links. */
function defineLinkModel(
  entity: Entity,
  { table, ownColumn, otherColumn, discriminators = {} }: LinkTable,
  model = createModelClass(table),
): ModelCtor {
  const addColumn = (column: string, options: object) =>
    Column({ allowNull: false, field: column, ...options })(model.prototype, toCamelCase(column));
  if (resourceOf(entity)!.isOwned) addColumn(OWNER_FIELD.column, { type: DataType.INTEGER });
  addColumn(ownColumn, { type: DataType.INTEGER, primaryKey: true });
  for (const column of Object.keys(discriminators))
    addColumn(column, { type: DataType.BOOLEAN, primaryKey: true, defaultValue: false });
  addColumn(otherColumn, { type: DataType.INTEGER, primaryKey: true });
  Table({ tableName: table, timestamps: false, indexes: [{ fields: [otherColumn] }] })(model);
  return model;
}

const linkModelName = (table: string): string => upperFirst(toCamelCase(table));

const createModelClass = (table: string) =>
  ({ [linkModelName(table)]: class extends Model {} })[linkModelName(table)] as ModelCtor;

/** Returns the foreign-key actions for the deletion of a referenced row. Ids are never updated. */
const referentialActions = ({ allowNull }: Pick<EntityField, 'allowNull'>) => ({
  onDelete: allowNull ? 'SET NULL' : 'CASCADE',
  onUpdate: 'NO ACTION',
});

function associateReference(entity: Entity, field: EntityField, models: LinkModels): void {
  const { target, objectFieldName, link, isColumn } = field;
  if (link)
    associateLink(
      entity,
      target!,
      field.relation!.objectFieldName,
      linkKeys(entity, link),
      link,
      models,
    );
  else if (isColumn)
    BelongsTo(target as () => ModelCtor, {
      as: objectFieldName,
      foreignKey: field.name,
      ...(field.name === OWNER_FIELD.field && hasOwnedParent(entity)
        ? { constraints: false }
        : referentialActions(field)),
    })(entity.prototype, objectFieldName);
}

/**
 * Whether an entity has a required reference to an owned parent row. The foreign key of such a reference includes the owner, so a separate foreign key
 * for the owner is redundant.
 */
const hasOwnedParent = (entity: Entity): boolean =>
  fieldsOf(entity).some(
    ({ name, isColumn, target, allowNull }) =>
      isColumn &&
      !allowNull &&
      name !== OWNER_FIELD.field &&
      target &&
      resourceOf(target())!.isOwned,
  );

/** Attributes of a many-to-many join: `foreignKey` and `otherKey` belong to the link table and refer to `sourceKey` and `targetKey`. */
interface LinkKeys {
  foreignKey: string;
  sourceKey: string;
  otherKey: string;
  targetKey: string;
}

const linkKeys = (
  entity: Entity,
  { ownColumn, otherColumn, keyColumn = 'id' }: LinkTable,
): LinkKeys => ({
  foreignKey: toCamelCase(ownColumn),
  sourceKey: fieldsOf(entity).find(({ column }) => column === keyColumn)!.name,
  otherKey: toCamelCase(otherColumn),
  targetKey: 'id',
});

const reverseKeys = ({ foreignKey, sourceKey, otherKey, targetKey }: LinkKeys): LinkKeys => ({
  foreignKey: otherKey,
  sourceKey: targetKey,
  otherKey: foreignKey,
  targetKey: sourceKey,
});

function associateLink(
  entity: Entity,
  target: () => Entity,
  as: string,
  keys: LinkKeys,
  { table, discriminators = {} }: LinkTable,
  models: LinkModels,
): void {
  const scope = Object.fromEntries(
    Object.entries(discriminators).map(([column, value]) => [toCamelCase(column), value]),
  );
  BelongsToMany(target as () => ModelCtor, {
    as,
    ...keys,
    // A link table may hold several kinds of links, so its two ids alone are not unique.
    through: {
      model: () => models.get(table)!,
      unique: false,
      ...(Object.keys(scope).length && { scope }),
    },
    // The link table has foreign keys only if both of its columns reference id columns.
    ...(keys.sourceKey === 'id' && keys.targetKey === 'id'
      ? referentialActions({ allowNull: false })
      : { constraints: false }),
  })(entity.prototype, as);
}
