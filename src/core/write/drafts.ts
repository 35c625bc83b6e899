/** Drafts: the rows of a mutation before they are written, each with its path in the input. Trees are flattened, parents before children. */
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { badArgument } from '../model/errors';
import { childrenOf, fieldOf, fieldsOf, type ChildMeta, type Entity, type FieldMeta } from '../model/fields';
import { MAX_ROWS } from '../model/limits';
import type { Path } from '../model/mistakes';
import { rowIdOf } from '../model/node';
import { resourceOf } from '../model/registry';
import type { Values } from '../model/hooks';

export interface Draft {
  readonly entity: Entity;
  readonly path: Path;
  readonly input: Values;
  /** Id of an existing row; absent for a new one. */
  id?: number;
  /** Complete input of the row, with its child rows and, for an existing part, its `id`. */
  readonly whole?: Values;
  /** Draft of the parent row, if it is written by the same mutation, and the field that references it. */
  readonly above?: { readonly draft: Draft; readonly by: string };
  readonly depth: number;
  /** Current values of an existing row, in the fields that the write compares. */
  held?: Row;
}

/** Child relations whose rows can be created together with their parent row: owned child rows that reference it. */
export const creatableBelow = (entity: Entity): readonly ChildMeta[] =>
  childrenOf(entity).filter(({ target, by, key, readOnly }) => {
    const { owned, fact } = resourceOf(target())!;
    return owned && !readOnly && fact.create !== undefined && key === 'id' && !fieldOf(target(), by).readOnly;
  });

/** Replaces node ids in a reference with numeric ids. Invalid ids stay unchanged, and validation reports them. */
function resolveIds({ target }: FieldMeta, value: unknown): unknown {
  if (!target || value == null) return value;
  const resolveId = (id: unknown) => String(rowIdOf(target().name, id) ?? id);
  return Array.isArray(value) ? value.map(resolveId) : resolveId(value);
}

const writableValues = (entity: Entity, input: Values): Values =>
  Object.fromEntries(
    fieldsOf(entity).flatMap((field) =>
      field.readOnly || input[field.name] === undefined ? [] : [[field.name, resolveIds(field, input[field.name])]],
    ),
  );

const childInputs = (input: Values, { name }: ChildMeta) => (input[name] ?? []) as Values[];

export const rowsIn = (entity: Entity, input: Values): number =>
  creatableBelow(entity).reduce(
    (count, child) => childInputs(input, child).reduce((sum, below) => sum + rowsIn(child.target(), below), count),
    1,
  );

export function draftsOf(entity: Entity, input: Values, path: Path, above?: Draft['above']): Draft[] {
  const draft: Draft = {
    entity,
    path,
    input: writableValues(entity, input),
    whole: input,
    above,
    depth: above ? above.draft.depth + 1 : 0,
  };
  const childDrafts = creatableBelow(entity).flatMap((child) =>
    childInputs(input, child).flatMap((values, index) =>
      draftsOf(child.target(), values, [...path, child.name, String(index)], { draft, by: child.by }),
    ),
  );
  return [draft, ...childDrafts];
}

export const changeOf = (entity: Entity, id: number, input: Values, path: Path): Draft => ({
  entity,
  path,
  input: writableValues(entity, input),
  id,
  depth: 0,
});

export function limitRows(count: number, argument: string): void {
  if (count > MAX_ROWS) throw badArgument(argument, `A mutation writes ${MAX_ROWS} rows at most; these are ${count}.`);
}

/** Groups drafts that one statement can write: those of one entity at the same depth, parents first. */
export function levelsOf(drafts: readonly Draft[]): Draft[][] {
  const levels = new Map<string, Draft[]>();
  for (const draft of drafts) {
    const key = `${draft.depth} ${draft.entity.name}`;
    levels.set(key, [...(levels.get(key) ?? []), draft]);
  }
  return [...levels.values()].sort(([a], [b]) => a!.depth - b!.depth);
}

export function withDefaults(entity: Entity, input: Values, { timeZone, api }: Pick<Context, 'timeZone' | 'api'>): Values {
  const values: Values = { ...input };
  for (const field of fieldsOf(entity))
    if (field.hasDefault && values[field.name] === undefined)
      if (field.byTriggerInGraphQL && api === 'graphql') values[field.name] = null;
      else values[field.name] = typeof field.default === 'function' ? field.default(timeZone) : field.default;
    else if (field.blank && !field.null && values[field.name] === undefined) values[field.name] = '';
  return values;
}
