/**
 * Validates the rows of a write: field limits, required values, references, unique constraints and
 * rules across fields.
 */
import {
  atMostMessage,
  NOT_EMPTY_MESSAGE,
  NOT_NULL_MESSAGE,
  REQUIRED_MESSAGE,
} from '../../shared/messages';
import {
  constraintsEnforceAccess,
  maySeeAllReferencedRows,
  referenceableRowConditions,
} from '../access/access';
import type { Context } from '../context';
import { type RowDraft, withDefaults } from './drafts';
import {
  InvalidInput,
  rowNotFoundIssue,
  invalidValueIssue,
  throwIfInvalid,
  validationIssue,
  IssueCode,
  type InputIssue,
  type ValidationIssue,
} from '../declare/errors';
import {
  acceptsNull,
  fieldsOf,
  isRequiredInGraphQL,
  type Entity,
  type EntityField,
} from '../declare/fields';
import { parseRowId, nodeTypeMismatchMessage } from '../declare/node';
import { resourceOf, type CrossFieldRule, type FieldValues } from '../declare/registry';
import { duplicateMessage, exposedUniqueFields, findDuplicates, uniqueFields } from './uniqueness';
import type { Row } from '../../database/rows';
import { idsOf, readRows } from './statements';

const rulesOf = (
  entity: Entity,
  { policies }: Pick<Context, 'policies'>,
): readonly CrossFieldRule[] =>
  policies.enforcesRules ? (resourceOf(entity)!.crossFieldRules ?? []) : [];

const canViolate = ({ input }: RowDraft, { fields, isCausedBy }: CrossFieldRule): boolean =>
  isCausedBy?.(input) ?? fields.some((name) => name in input);

/** Fields of references to rows that may have been retired, after which they cannot be chosen. */
export const retirableReferenceNames = (entity: Entity, context: Context): string[] =>
  fieldsOf(entity).flatMap(({ name, isColumn, target }) =>
    isColumn &&
    target &&
    resourceOf(target())!.publishedColumnValues &&
    !maySeeAllReferencedRows(target(), context)
      ? [name]
      : [],
  );

/** Fields of all cross-field rules that a write of these drafts (of one entity) could violate. */
export const affectedRuleFieldNames = (
  entity: Entity,
  drafts: readonly RowDraft[],
  context: Context,
): string[] => [
  ...new Set(
    rulesOf(entity, context)
      .filter(
        (rule) => !rule.isEnforcedByDatabase && drafts.some((draft) => canViolate(draft, rule)),
      )
      .flatMap(({ fields }) => fields),
  ),
];

/**
 * Id of a parent row that the same mutation creates, or of a row to be updated whose given id is
 * missing or invalid. No stored row has it.
 */
const PLACEHOLDER_ROW_ID = 0;

function valuesAfterWrite(
  { entity, id, currentValues, input, parent }: RowDraft,
  context: Context,
): FieldValues {
  if (id !== undefined) return { ...currentValues, ...input, id };
  const values = withDefaults(entity, input, context);

  if (parent) values[parent.referenceFieldName] = parent.draft.id ?? PLACEHOLDER_ROW_ID;

  return values;
}

/**
 * Finds the drafts whose rows another write has changed between reading and locking, and updates
 * their current values.
 */
export function refreshChangedDrafts(
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

/**
 * Adds the issues of missing rows and invalid values to an `InvalidInput` error about ids. Passes
 * other errors through.
 */
export async function addAllInputIssues(
  error: unknown,
  drafts: readonly RowDraft[],
  context: Context,
  findMissingRowIssues: () => Promise<InputIssue[]> = async () => [],
): Promise<unknown> {
  if (!(error instanceof InvalidInput) || !error.issues.every(({ path }) => path.at(-1) === 'id')) {
    return error;
  }

  const paths = new Set(error.issues.map(({ path }) => path.join()));
  const missingRowIssues = (await findMissingRowIssues()).filter(
    ({ path }) => !paths.has(path.join()),
  );

  // Without an id, a row to be updated would be validated as a new row, whose required fields must
  // have values.
  for (const draft of drafts) {
    if (!draft.parent || draft.inputWithChildRows?.id != null) draft.id ??= PLACEHOLDER_ROW_ID;
  }

  const issues = [...error.issues, ...missingRowIssues];

  await validateDrafts(drafts, context).catch((otherError: unknown) => {
    if (!(otherError instanceof InvalidInput)) throw otherError;
    // Uniqueness is not checked, because this requires the current values of rows that may not
    // exist.
    issues.push(...otherError.issues.filter(({ code }) => code !== IssueCode.NOT_UNIQUE));
  });

  return new InvalidInput(issues);
}

/**
 * Finds the ids that the viewer may reference: own rows of an owned resource, or visible rows of a
 * public one.
 */
export async function findReferenceableIds(
  entity: Entity,
  ids: readonly unknown[],
  context: Context,
  isReferredToByOwnedRow = true,
): Promise<number[]> {
  const rowIds = [...new Set(ids.map(parseRowId).filter((id): id is number => id !== undefined))];

  // Without ids, no rows are read, so an access token needs no read scope here. Anonymous clients
  // are rejected by `referenceableRowConditions` even without ids.
  if (rowIds.length === 0 && context.viewer) return [];
  const conditions = referenceableRowConditions(entity, context, isReferredToByOwnedRow);

  if (rowIds.length === 0) return [];

  const { catalogue } = context.services;

  // A row that does not exist in memory may be newer than the last notification.
  if (resourceOf(entity)!.isCachedInMemory && rowIds.every((id) => catalogue.get(entity, id))) {
    return rowIds;
  }

  return idsOf(await readRows(entity, rowIds, [], conditions, context));
}

type IssuesByField = Record<string, ValidationIssue[]>;

/** Key of issues that concern the whole row instead of a field. */
const ROW_ISSUES_KEY = '';

interface Reference {
  referringDraft: RowDraft;
  field: EntityField;
  ids: unknown[];
}

/**
 * Whether a foreign key can check a reference. False for in-memory tables, which are checked
 * without a query, and for fields of rules, which may read the referenced row.
 */
const isEnforcedByForeignKey = (
  { referringDraft: { entity }, field, ids }: Reference,
  context: Context,
): boolean =>
  field.isColumn &&
  !resourceOf(field.target!())!.isCachedInMemory &&
  ids.every((id) => parseRowId(id) !== undefined) &&
  !rulesOf(entity, context).some(({ fields }) => fields.includes(field.name)) &&
  constraintsEnforceAccess(field.target!(), context);

/**
 * Throws an `InvalidInput` error with all issues of the rows. `trustConstraints` leaves checks to
 * foreign keys, unique constraints and triggers unless there are other issues. If one is then
 * violated, validate again without it.
 */
export const validateDrafts = (
  drafts: readonly RowDraft[],
  context: Context,
  trustConstraints = false,
): Promise<void> => new Validation(drafts, context, trustConstraints).run();

/**
 * One run of the validation: collects the issues of all rows, and the database lookups for the
 * checks.
 */
class Validation {
  private readonly issues = new Map<RowDraft, IssuesByField>();

  private readonly references = new Map<Entity, Reference[]>();

  /** Lookups that run in any case and have already started. */
  private readonly runningLookups: Promise<void>[] = [];

  /**
   * Lookups that foreign keys and unique constraints make redundant. They run only if other checks
   * have found issues.
   */
  private readonly deferredLookups: (() => Promise<void>)[] = [];

  constructor(
    private readonly drafts: readonly RowDraft[],
    private readonly context: Context,
    private readonly trustConstraints: boolean,
  ) {}

  async run(): Promise<void> {
    const { drafts, context, trustConstraints, issues, deferredLookups } = this;

    for (const draft of drafts) this.checkValues(draft);

    for (const [target, references] of this.references) {
      this.scheduleLookup(
        trustConstraints &&
          references.every((reference) => isEnforcedByForeignKey(reference, context)),
        () => this.checkReferences(target, references),
      );
    }

    for (const entity of new Set(drafts.map((draft) => draft.entity))) this.checkUniqueness(entity);
    await Promise.all(this.runningLookups);

    await this.checkRules();
    if (issues.size) await Promise.all(deferredLookups.map((lookup) => lookup()));
    this.throwIssues();
  }

  async checkRules(): Promise<void> {
    const { drafts, context } = this;
    const fieldIssues = new Map(this.issues);
    const hasValidFields = (draft: RowDraft, { fields }: CrossFieldRule) =>
      !fields.some((name) => fieldIssues.get(draft)?.[name]);

    for (const entity of new Set(drafts.map((draft) => draft.entity))) {
      for (const rule of rulesOf(entity, context)) {
        await this.checkRule(
          rule,
          drafts.filter((draft) => draft.entity === entity && hasValidFields(draft, rule)),
        );
      }
    }
  }

  /** Reports a violation at the last field of the rule that the write sets. */
  private async checkRule(rule: CrossFieldRule, drafts: readonly RowDraft[]): Promise<void> {
    const { context, trustConstraints } = this;

    if (trustConstraints && rule.isEnforcedByDatabase) return;
    const rows = drafts
      .filter((draft) => canViolate(draft, rule))
      .map((draft) => ({ draft, values: valuesAfterWrite(draft, context) }))
      .filter(({ values }) => rule.fields.every((name) => values[name] != null));

    if (rows.length === 0) return;
    const isBrokenByRow = await rule.violatedBy(
      rows.map(({ values }) => values),
      context,
    );
    const issue = validationIssue(rule.code ?? IssueCode.INVALID, rule.message);

    for (const [index, { draft }] of rows.entries()) {
      const fieldName = rule.fields.findLast((name) => name in draft.input)!;

      if (isBrokenByRow[index]) this.addIssues(draft, fieldName, issue);
    }
  }

  throwIssues(): void {
    throwIfInvalid(sortIssues(this.drafts, this.issues));
  }

  private addIssues(draft: RowDraft, name: string, ...newIssues: ValidationIssue[]): void {
    if (!newIssues.length) return;
    const issuesByField = this.issues.get(draft) ?? {};

    this.issues.set(draft, {
      ...issuesByField,
      [name]: [...(issuesByField[name] ?? []), ...newIssues],
    });
  }

  private scheduleLookup(isDeferrable: boolean, lookup: () => Promise<void>): void {
    if (isDeferrable) this.deferredLookups.push(lookup);
    else this.runningLookups.push(lookup());
  }

  /** Validates the values of a row and collects its references. */
  private checkValues(draft: RowDraft): void {
    const { references, runningLookups } = this;

    for (const field of fieldsOf(draft.entity)) {
      if (field.readOnly || field.name === draft.parent?.referenceFieldName) continue;
      const value = draft.input[field.name];
      const addIssues = (...newIssues: ValidationIssue[]) =>
        this.addIssues(draft, field.name, ...newIssues);

      if (value === undefined) {
        if (
          draft.id === undefined &&
          isRequiredInGraphQL(field) &&
          field.setByTriggerIn !== this.context.api
        ) {
          addIssues(validationIssue(IssueCode.REQUIRED, REQUIRED_MESSAGE));
        }
      } else if (value === null) {
        if (!acceptsNull(field)) addIssues(validationIssue(IssueCode.NULL, NOT_NULL_MESSAGE));
      } else if (field.relation) {
        const ids = Array.isArray(value) ? (value as unknown[]) : [value];

        // A row keeps its reference to a row that has been retired since.
        const currentId = draft.currentValues?.[field.name];

        if (currentId !== undefined && parseRowId(value) === currentId) continue;

        if (ids.length === 0 && !field.graphqlAllowBlank) {
          addIssues(validationIssue(IssueCode.EMPTY, NOT_EMPTY_MESSAGE));
        }

        const target = field.target!();
        const typeMessages = ids.flatMap((id) => nodeTypeMismatchMessage(target.name, id) ?? []);

        addIssues(...typeMessages.map(invalidValueIssue));

        if (!typeMessages.length) {
          references.set(target, [
            ...(references.get(target) ?? []),
            { referringDraft: draft, field, ids },
          ]);
        }
      } else {
        const valueIssues = field.findIssues(value, this.context.timeZone);

        addIssues(...valueIssues);
        if (!valueIssues.length) addIssues(...this.plausibilityIssues(field, value));

        if (!valueIssues.length && field.checkAsync) {
          runningLookups.push(
            field
              .checkAsync(value)
              .then((messages) => addIssues(...messages.map(invalidValueIssue))),
          );
        }
      }
    }
  }

  private plausibilityIssues(
    { plausibleMax = Infinity }: EntityField,
    value: unknown,
  ): ValidationIssue[] {
    if (!this.context.policies.enforcesRules || !(Number(value) > plausibleMax)) return [];

    return [validationIssue(IssueCode.TOO_LARGE, atMostMessage(plausibleMax))];
  }

  private async checkReferences(target: Entity, references: readonly Reference[]): Promise<void> {
    const ids = references.flatMap((reference) => reference.ids);
    const isReferredToByOwnedRow = references.some(
      ({ referringDraft }) => resourceOf(referringDraft.entity)!.isOwned,
    );
    const referenceableIds = new Set(
      await findReferenceableIds(target, ids, this.context, isReferredToByOwnedRow),
    );

    for (const reference of references) {
      const unknownId = reference.ids.find((id) => !referenceableIds.has(parseRowId(id) ?? NaN));

      if (unknownId === undefined) continue;
      this.addIssues(
        reference.referringDraft,
        reference.field.name,
        rowNotFoundIssue(target.name, unknownId),
      );
    }
  }

  private checkUniqueness(entity: Entity): void {
    const { drafts, context, issues } = this;
    const names = uniqueFields(entity).map(({ name }) => name);

    if (names.length === 0) return;
    const validDrafts = drafts.filter(
      (draft) => draft.entity === entity && !names.some((name) => issues.get(draft)?.[name]),
    );

    this.scheduleLookup(this.trustConstraints, async () => {
      const [field, ...otherFields] = exposedUniqueFields(entity, context.api);
      const namesOneField = context.policies.namesUniqueField && otherFields.length === 0;
      const issue = validationIssue(IssueCode.NOT_UNIQUE, duplicateMessage(entity, context.api));

      for (const [draft, id] of await findDuplicates(entity, validDrafts, context)) {
        this.addIssues(draft, namesOneField ? field!.name : ROW_ISSUES_KEY, {
          ...issue,
          ...(id !== undefined && { conflict: { typeName: entity.name, id } }),
        });
      }
    });
  }
}

/** Checks the cross-field rules again for rows that a concurrent write has changed. */
export async function revalidateRules(
  drafts: readonly RowDraft[],
  context: Context,
): Promise<void> {
  const validation = new Validation(drafts, context, false);

  await validation.checkRules();
  validation.throwIssues();
}

/**
 * Sorts issues by rows in the input and fields in the entity. Issues of the whole row come last.
 */
const sortIssues = (
  drafts: readonly RowDraft[],
  issues: ReadonlyMap<RowDraft, IssuesByField>,
): InputIssue[] =>
  drafts.flatMap((draft) => {
    const issuesByField = issues.get(draft) ?? {};
    const issueKeys = [...fieldsOf(draft.entity).map(({ name }) => name), ROW_ISSUES_KEY];

    return issueKeys.flatMap((name) => {
      const path = name === ROW_ISSUES_KEY ? draft.path : [...draft.path, name];

      return (issuesByField[name] ?? []).map((issue) => ({ path, ...issue }));
    });
  });
