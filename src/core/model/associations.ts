/**
 * What Sequelize knows of models beside their columns, of the same facts: `@Ref` is a `belongsTo`, `@Links` a `belongsToMany` over the model of
 * its link table, `@Children` the other side of either. So rows can be read together with those around them:
 * `Workout.findAll({ include: [{ model: TrainingDay, include: [SetGroup] }] })`.
 *
 * A reference that is worked out is no association, because Sequelize joins by one column: an exercise has its category by way of its base,
 * `include: [{ model: ExerciseBase, include: [ExerciseCategory] }]`, and a log its session by three columns.
 */
import { BelongsTo, BelongsToMany, Column, DataType, HasMany, Model, Table, type ModelCtor } from 'sequelize-typescript';
import { OWNER } from './registry';
import { childrenOf, fieldOf, fieldsOf, type Entity, type FieldMeta, type Link } from './fields';
import { camel } from '../../contract/casing';
import { upperFirst } from './inflection';
import { resourceOf } from './registry';

type Models = Map<string, ModelCtor>;

/** Declares the associations of all these; answers the models of the link tables. When all are loaded, because they refer to each other. */
export function associate(entities: readonly Entity[]): ModelCtor[] {
  const models: Models = new Map();
  for (const entity of entities)
    for (const { link } of fieldsOf(entity)) if (link && !link.via) models.set(link.table, linkModel(entity, link, models.get(link.table)));
  for (const entity of entities) {
    for (const field of fieldsOf(entity)) if (field.target) refer(entity, field, models);
    for (const { name, target, by, key } of childrenOf(entity)) {
      const field = fieldOf(target(), by);
      if (field.stored)
        HasMany(target as () => ModelCtor, { as: name, foreignKey: by, sourceKey: key, constraints: false })(entity.prototype, name);
      else if (field.link) linkTo(entity, target, name, reversed(keysOf(target(), field.link)), field.link, models);
    }
  }
  return [...models.values()];
}

/** The key of a link table is all that tells one link from another. */
function linkModel(entity: Entity, { table, own, other, fixed = {} }: Link, made = named(table)): ModelCtor {
  const add = (column: string, options: object) => Column({ allowNull: false, field: column, ...options })(made.prototype, camel(column));
  if (resourceOf(entity)!.owned) add(OWNER.column, { type: DataType.INTEGER });
  add(own, { type: DataType.INTEGER, primaryKey: true });
  for (const column of Object.keys(fixed)) add(column, { type: DataType.BOOLEAN, primaryKey: true, defaultValue: false });
  add(other, { type: DataType.INTEGER, primaryKey: true });
  Table({ tableName: table, timestamps: false, indexes: [{ fields: [other] }] })(made);
  return made;
}

export const modelNamed = (table: string): string => upperFirst(camel(table));

const named = (table: string) => ({ [modelNamed(table)]: class extends Model {} })[modelNamed(table)] as ModelCtor;

/** What the database does when the row goes that is named. That it gets another id does not happen. */
const following = ({ null: optional }: Pick<FieldMeta, 'null'>) => ({ onDelete: optional ? 'SET NULL' : 'CASCADE', onUpdate: 'NO ACTION' });

function refer(entity: Entity, field: FieldMeta, models: Models): void {
  const { target, object, link, stored } = field;
  if (link) linkTo(entity, target!, field.relation!.object, keysOf(entity, link), link, models);
  else if (stored)
    BelongsTo(target as () => ModelCtor, {
      as: object,
      foreignKey: field.name,
      ...(field.name === OWNER.field && hangsBelow(entity) ? { constraints: false } : following(field)),
    })(entity.prototype, object);
}

/** Whose the row is says the key that it shares with its parent: that the owner exists need not be looked up once more. */
const hangsBelow = (entity: Entity): boolean =>
  fieldsOf(entity).some(
    ({ name, stored, target, null: optional }) => stored && !optional && name !== OWNER.field && target && resourceOf(target())!.owned,
  );

/** The columns of a link table, and the fields whose values stand there, of the side that a link belongs to and of the other one. */
interface Keys {
  foreignKey: string;
  sourceKey: string;
  otherKey: string;
  targetKey: string;
}

const keysOf = (entity: Entity, { own, other, via = 'id' }: Link): Keys => ({
  foreignKey: camel(own),
  sourceKey: fieldsOf(entity).find(({ column }) => column === via)!.name,
  otherKey: camel(other),
  targetKey: 'id',
});

const reversed = ({ foreignKey, sourceKey, otherKey, targetKey }: Keys): Keys => ({
  foreignKey: otherKey,
  sourceKey: targetKey,
  otherKey: foreignKey,
  targetKey: sourceKey,
});

function linkTo(entity: Entity, target: () => Entity, as: string, keys: Keys, { table, fixed = {} }: Link, models: Models): void {
  const scope = Object.fromEntries(Object.entries(fixed).map(([column, value]) => [camel(column), value]));
  BelongsToMany(target as () => ModelCtor, {
    as,
    ...keys,
    // One table may hold links of several kinds, so that its two ids alone are no key.
    through: { model: () => models.get(table)!, unique: false, ...(Object.keys(scope).length && { scope }) },
    // Only ids are keys of the tables that a link names.
    ...(keys.sourceKey === 'id' && keys.targetKey === 'id' ? following({ null: false }) : { constraints: false }),
  })(entity.prototype, as);
}
