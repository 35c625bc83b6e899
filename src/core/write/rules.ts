/** Rules between the fields of one row, such as that a session does not end before it starts. */
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { withDefaults, type Draft } from './drafts';
import type { Entity } from '../model/fields';
import { resourceOf, type Rule } from '../model/registry';
import type { Values } from '../model/hooks';

/** A rule that a row to be breaks, at the last of its fields that the write gives a value for. */
export interface Breach {
  draft: Draft;
  field: string;
  message: string;
}

/** The rules that GraphQL holds to; REST stores what its recorded contract stores. */
export const rulesOf = (entity: Entity, { api }: Pick<Context, 'api'>): readonly Rule[] =>
  api === 'rest' ? [] : (resourceOf(entity)!.rules ?? []);

/** The fields of all rules that a write of these rows of one type could break. */
export const ruledFields = (entity: Entity, drafts: readonly Draft[], context: Context): string[] => [
  ...new Set(
    rulesOf(entity, context)
      .filter(({ fields }) => drafts.some(({ input }) => fields.some((name) => name in input)))
      .flatMap(({ fields }) => fields),
  ),
];

/** What the rows break that are written; those are left out that `skipped` says. */
export async function breaches(
  drafts: readonly Draft[],
  context: Context,
  skipped: (draft: Draft, rule: Rule) => boolean = () => false,
): Promise<Breach[]> {
  const found: Breach[] = [];
  for (const entity of new Set(drafts.map((draft) => draft.entity)))
    for (const rule of rulesOf(entity, context)) {
      const rows = drafts
        .filter((draft) => draft.entity === entity && rule.fields.some((name) => name in draft.input) && !skipped(draft, rule))
        .map((draft) => ({ draft, values: valuesOf(draft, context) }))
        .filter(({ values }) => rule.fields.every((name) => values[name] != null));
      if (rows.length === 0) continue;
      const broken = await rule.broken(
        rows.map(({ values }) => values),
        context,
      );
      for (const [index, { draft }] of rows.entries())
        if (broken[index]) found.push({ draft, field: rule.fields.findLast((name) => name in draft.input)!, message: rule.message });
    }
  return found;
}

/** Id of a row above that is made together with this one: no row has it. */
const NEW = 0;

const valuesOf = ({ entity, id, held, input, above }: Draft, context: Context): Values =>
  id === undefined
    ? { ...withDefaults(entity, input, context), ...(above && { [above.by]: above.draft.id ?? NEW }) }
    : { ...held, ...input };

/** Of rows that are locked now: those that hold something else than when they were looked at. They hold it from here on. */
export function overtaken(drafts: readonly Draft[], rows: readonly Row[], fields: readonly string[]): Draft[] {
  const locked = new Map(rows.map((row) => [row.id as number, row]));
  return drafts.filter((draft) => {
    const row = locked.get(draft.id!);
    if (!row || fields.every((name) => row[name] === draft.held![name])) return false;
    draft.held = { ...draft.held, ...row };
    return true;
  });
}
