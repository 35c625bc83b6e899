/** Validates the rows of a write: field limits, required values, references to existing rows, unique constraints and rules across fields. */
import {
  atMostMessage,
  NOT_EMPTY_MESSAGE,
  NOT_NULL_MESSAGE,
  REQUIRED_MESSAGE,
} from '../../contract/messages';
import { isRequired } from '../../contract/metadata';
import { foreignKeysEnforceAccess, referenceableRowConditions } from '../access/access';
import { columnIsOneOf } from '../access/conditions';
import type { Context } from '../context';
import type { RowDraft } from './drafts';
import { InvalidInput, rowNotFoundIssue } from '../model/errors';
import { acceptsNull, fieldsOf, type Entity, type EntityField } from '../model/fields';
import { parseRowId } from '../model/ids';
import { nodeTypeMismatchMessage } from '../model/node';
import {
  invalidValueIssue,
  validationIssue,
  IssueCode,
  type InputIssue,
  type ValidationIssue,
} from '../model/validationissues';
import { columnSet, buildSelectRowsStatement } from '../sql/select';
import { resourceOf, type CrossFieldRule } from '../model/registry';
import { findRuleViolations, rulesOf } from './rules';
import { findDuplicates, uniqueFields, duplicateMessage } from './uniqueness';

/** Returns the ids that the viewer may reference: those of own rows of an owned resource, or of visible rows of a public resource. */
export async function findReferenceableIds(
  entity: Entity,
  ids: readonly unknown[],
  context: Context,
): Promise<number[]> {
  const rowIds = [...new Set(ids.map(parseRowId).filter((id): id is number => id !== undefined))];
  // Without ids, no rows are read, so the access token needs no read scope. Anonymous clients are rejected by `referenceableRowConditions`.
  if (rowIds.length === 0 && context.viewer) return [];
  const conditions = referenceableRowConditions(entity, context);
  if (rowIds.length === 0) return [];
  if (resourceOf(entity)!.isCachedInMemory)
    return rowIds.filter((id) => context.services.catalogue.get(entity, id) !== null);
  const columns = columnSet(entity, [], context.policies.textOrder);
  const rows = await context.session.query(
    ...buildSelectRowsStatement(columns, [columnIsOneOf('id', rowIds), ...conditions]),
  );
  return rows.map((row) => row.id as number);
}

type IssuesByField = Record<string, ValidationIssue[]>;

/** Key of validation issues that concern the whole row instead of a field. */
const ROW_ISSUES_KEY = '';

interface Reference {
  referringDraft: RowDraft;
  field: EntityField;
  ids: unknown[];
}

/**
 * Whether the check of a reference can be left to a foreign key. False for references to in-memory tables, which are checked without a query, and for
 * fields of rules, which may read the referenced row.
 */
const isEnforcedByForeignKey = (
  { referringDraft: { entity }, field, ids }: Reference,
  context: Context,
): boolean =>
  field.isColumn &&
  !resourceOf(field.target!())!.isCachedInMemory &&
  ids.every((id) => parseRowId(id) !== undefined) &&
  !rulesOf(entity, context).some(({ fields }) => fields.includes(field.name)) &&
  foreignKeysEnforceAccess(field.target!(), context);

/**
 * Throws an `InvalidInput` error with all issues of the rows. With `shouldTrustConstraints`, what foreign keys and unique constraints enforce is
 * checked only if there are other issues. If such a constraint is then violated, the write must be validated again without
 * `shouldTrustConstraints`.
 */
export const validateDrafts = (
  drafts: readonly RowDraft[],
  context: Context,
  shouldTrustConstraints = false,
): Promise<void> => new Validation(drafts, context, shouldTrustConstraints).run();

/** One run of the validation: collects the issues of all rows, and the lookups in the database that the checks need. */
class Validation {
  private readonly issues = new Map<RowDraft, IssuesByField>();
  /** Ids of the stored rows that conflict with the rows to be written. */
  private readonly conflictingIds = new Set<number>();
  private readonly references = new Map<Entity, Reference[]>();
  /** Lookups in the database that always run. They have already started. */
  private readonly runningLookups: Promise<void>[] = [];
  /** Database lookups for checks that foreign keys and unique constraints make anyway. They run only if other checks have found issues. */
  private readonly deferredLookups: (() => Promise<void>)[] = [];

  constructor(
    private readonly drafts: readonly RowDraft[],
    private readonly context: Context,
    private readonly shouldTrustConstraints: boolean,
  ) {}

  async run(): Promise<void> {
    const { drafts, context, shouldTrustConstraints, issues, deferredLookups } = this;
    for (const draft of drafts) this.checkValues(draft);
    for (const [target, references] of this.references)
      this.scheduleLookup(
        shouldTrustConstraints &&
          references.every((reference) => isEnforcedByForeignKey(reference, context)),
        () => this.checkReferences(target, references),
      );
    for (const entity of new Set(drafts.map((draft) => draft.entity))) this.checkUniqueness(entity);
    await Promise.all(this.runningLookups);

    const hasIssues = (draft: RowDraft, { fields }: CrossFieldRule) =>
      fields.some((name) => issues.get(draft)?.[name]);
    for (const { draft, fieldName, message } of await findRuleViolations(
      drafts,
      context,
      hasIssues,
    ))
      this.addIssues(draft, fieldName, invalidValueIssue(message));

    if (issues.size === 0) return;
    await Promise.all(deferredLookups.map((lookup) => lookup()));
    throw new InvalidInput(sortIssues(drafts, issues), [...this.conflictingIds]);
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
        if (draft.id === undefined && isRequired(field))
          addIssues(validationIssue(IssueCode.REQUIRED, REQUIRED_MESSAGE));
      } else if (value === null) {
        if (!acceptsNull(field)) addIssues(validationIssue(IssueCode.NULL, NOT_NULL_MESSAGE));
      } else if (field.relation) {
        const ids = Array.isArray(value) ? (value as unknown[]) : [value];
        if (ids.length === 0) addIssues(validationIssue(IssueCode.EMPTY, NOT_EMPTY_MESSAGE));
        const target = field.target!();
        const typeMessages = ids.flatMap((id) => nodeTypeMismatchMessage(target.name, id) ?? []);
        addIssues(...typeMessages.map(invalidValueIssue));
        if (!typeMessages.length)
          references.set(target, [
            ...(references.get(target) ?? []),
            { referringDraft: draft, field, ids },
          ]);
      } else {
        const valueIssues = field.findIssues(value, this.context.services.timeZone);
        addIssues(...valueIssues);
        if (!valueIssues.length) addIssues(...this.plausibilityIssues(field, value));
        if (!valueIssues.length && field.checkAsync)
          runningLookups.push(
            field
              .checkAsync(value)
              .then((messages) => addIssues(...messages.map(invalidValueIssue))),
          );
      }
    }
  }

  private plausibilityIssues(
    { plausibleMax = Infinity }: EntityField,
    value: unknown,
  ): ValidationIssue[] {
    return this.context.policies.enforcesRules && Number(value) > plausibleMax
      ? [validationIssue(IssueCode.TOO_LARGE, atMostMessage(plausibleMax))]
      : [];
  }

  private async checkReferences(target: Entity, references: readonly Reference[]): Promise<void> {
    const ids = references.flatMap((reference) => reference.ids);
    const referenceableIds = new Set(await findReferenceableIds(target, ids, this.context));
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
    this.scheduleLookup(this.shouldTrustConstraints, async () => {
      for (const [draft, id] of await findDuplicates(entity, validDrafts, context)) {
        this.addIssues(
          draft,
          ROW_ISSUES_KEY,
          validationIssue(IssueCode.NOT_UNIQUE, duplicateMessage(entity, context.api)),
        );
        if (id !== undefined && !draft.parent) this.conflictingIds.add(id);
      }
    });
  }
}

/** Checks the cross-field rules again for rows that a concurrent write has changed in the meantime. */
export async function revalidateRules(
  drafts: readonly RowDraft[],
  context: Context,
): Promise<void> {
  const issues = new Map<RowDraft, IssuesByField>();
  for (const { draft, fieldName, message } of await findRuleViolations(drafts, context))
    issues.set(draft, { ...issues.get(draft), [fieldName]: [invalidValueIssue(message)] });
  if (issues.size) throw new InvalidInput(sortIssues(drafts, issues));
}

/** Sorts issues by the order of rows in the input and of fields in the entity. Issues of the whole row come last. */
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
