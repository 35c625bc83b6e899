/** Enforces validation rules across several fields of a row, such as that a session does not end before it starts. */
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { withDefaults, type RowDraft } from './drafts';
import type { Entity } from '../model/fields';
import { resourceOf, type CrossFieldRule } from '../model/registry';
import type { FieldValues } from '../model/hooks';

/** A violation of a rule, reported at the last of the rule's fields that the write sets. */
export interface RuleViolation {
  draft: RowDraft;
  fieldName: string;
  message: string;
}

export const rulesOf = (
  entity: Entity,
  { policies }: Pick<Context, 'policies'>,
): readonly CrossFieldRule[] =>
  policies.enforcesRules ? (resourceOf(entity)!.crossFieldRules ?? []) : [];

/** Returns the fields of the cross-field rules that a write of the given drafts (all of one entity) could violate. */
export const fieldNamesOfAffectedRules = (
  entity: Entity,
  drafts: readonly RowDraft[],
  context: Context,
): string[] => [
  ...new Set(
    rulesOf(entity, context)
      .filter(({ fields }) => drafts.some(({ input }) => fields.some((name) => name in input)))
      .flatMap(({ fields }) => fields),
  ),
];

/** Checks the cross-field rules of the rows to be written, except those that `isSkipped` excludes, and returns the violations. */
export async function findRuleViolations(
  drafts: readonly RowDraft[],
  context: Context,
  isSkipped: (draft: RowDraft, rule: CrossFieldRule) => boolean = () => false,
): Promise<RuleViolation[]> {
  const violations: RuleViolation[] = [];
  for (const entity of new Set(drafts.map((draft) => draft.entity)))
    for (const rule of rulesOf(entity, context)) {
      const rows = drafts
        .filter(
          (draft) =>
            draft.entity === entity &&
            rule.fields.some((name) => name in draft.input) &&
            !isSkipped(draft, rule),
        )
        .map((draft) => ({ draft, values: valuesAfterWrite(draft, context) }))
        .filter(({ values }) => rule.fields.every((name) => values[name] != null));
      if (rows.length === 0) continue;
      const isBrokenByRow = await rule.violatedBy(
        rows.map(({ values }) => values),
        context,
      );
      for (const [index, { draft }] of rows.entries())
        if (isBrokenByRow[index])
          violations.push({
            draft,
            fieldName: rule.fields.findLast((name) => name in draft.input)!,
            message: rule.message,
          });
    }
  return violations;
}

/** Placeholder for the id of a parent row that the same mutation creates. No stored row has this id. */
const UNSAVED_ROW_ID = 0;

const valuesAfterWrite = (
  { entity, id, currentValues, input, parent }: RowDraft,
  context: Context,
): FieldValues =>
  id === undefined
    ? {
        ...withDefaults(entity, input, context),
        ...(parent && { [parent.referenceFieldName]: parent.draft.id ?? UNSAVED_ROW_ID }),
      }
    : { ...currentValues, ...input };

/** Returns the drafts whose rows another write has changed between reading and locking, and updates their current values. */
export function refreshDraftsOfChangedRows(
  drafts: readonly RowDraft[],
  rows: readonly Row[],
  fieldNames: readonly string[],
): RowDraft[] {
  const lockedRowById = new Map(rows.map((row) => [row.id as number, row]));
  return drafts.filter((draft) => {
    const row = lockedRowById.get(draft.id!);
    if (!row || fieldNames.every((name) => row[name] === draft.currentValues![name])) return false;
    draft.currentValues = { ...draft.currentValues, ...row };
    return true;
  });
}
