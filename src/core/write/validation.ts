/** What must hold before a write: limits of every value, parents that are the viewer's, references that exist, no doubles. */
import { NOT_EMPTY, NOT_NULL, REQUIRED } from '../../contract/messages';
import { isRequired } from '../../contract/facts';
import { keysReach, reachable } from '../access/access';
import { anyOf, binder, conditionOf } from '../access/conditions';
import type { Context } from '../context';
import type { Draft } from './drafts';
import { InvalidInput, noSuch } from '../model/errors';
import { acceptsNull, fieldsOf, type Entity, type FieldMeta } from '../model/fields';
import { parseId } from '../model/ids';
import { wrongType } from '../model/node';
import { invalidValue, mistake, MistakeCode, type InputMistake, type Mistake } from '../model/mistakes';
import { columnsOf, select } from '../sql/select';
import { resourceOf } from '../model/registry';
import { breaches, rulesOf } from './rules';
import type { Rule } from '../model/registry';
import { clashing, uniqueFields, uniqueMessage } from './unique';

/** Of these ids, those that a row of the viewer may refer to: those of a public resource that they are shown, one's own of an owned one. */
export async function knownIds(entity: Entity, ids: readonly unknown[], context: Context): Promise<number[]> {
  const numbers = [...new Set(ids.map(parseId).filter((id): id is number => id !== undefined))];
  // Nothing is read, so that it takes no leave to read.
  if (numbers.length === 0 && context.viewer) return [];
  const conditions = reachable(entity, context);
  if (numbers.length === 0) return [];
  if (resourceOf(entity)!.inMemory) return numbers.filter((id) => context.reference.get(entity, id) !== null);
  const { bind, values } = binder();
  const where = conditionOf([anyOf('id', numbers), ...conditions], 't', bind);
  const rows = await context.session.query(select({ columns: columnsOf(entity, [], context.api), where }), values);
  return rows.map((row) => row.id as number);
}

/** By the names of fields. */
type Mistakes = Record<string, Mistake[]>;

/** Stands for the row as a whole among the names of its fields. */
const WHOLE = '';

interface Reference {
  draft: Draft;
  field: FieldMeta;
  ids: unknown[];
}

/** Whether a key refuses the reference if it is wrong. What is in memory costs no statement, and a rule may read the row. */
const isKeyed = ({ draft: { entity }, field, ids }: Reference, context: Context): boolean =>
  field.stored &&
  !resourceOf(field.target!())!.inMemory &&
  ids.every((id) => parseId(id) !== undefined) &&
  !rulesOf(entity, context).some(({ fields }) => fields.includes(field.name)) &&
  keysReach(field.target!(), context);

/**
 * Throws all that is wrong with the rows of a write. What they refer to is looked up in one statement for each type. `trusting`: what PostgreSQL refuses
 * by its keys is looked up only to be told with other mistakes; if it does refuse, all is to be validated again.
 */
export const validate = (drafts: readonly Draft[], context: Context, trusting = false): Promise<void> =>
  new Validation(drafts, context, trusting).run();

class Validation {
  private readonly found = new Map<Draft, Mistakes>();
  /** Ids of stored rows that rows of the input would be doubles of. */
  private readonly doubled = new Set<number>();
  private readonly references = new Map<Entity, Reference[]>();
  /** What is looked up in any case. */
  private readonly lookups: Promise<void>[] = [];
  /** What keys refuse too. */
  private readonly keyed: (() => Promise<void>)[] = [];

  constructor(
    private readonly drafts: readonly Draft[],
    private readonly context: Context,
    private readonly trusting: boolean,
  ) {}

  async run(): Promise<void> {
    const { drafts, context, trusting, found, keyed } = this;
    for (const draft of drafts) this.look(draft);
    for (const [target, named] of this.references)
      this.settle(trusting && named.every((reference) => isKeyed(reference, context)), () => this.lookUp(target, named));
    for (const entity of new Set(drafts.map((draft) => draft.entity))) this.lookForDoubles(entity);
    await Promise.all(this.lookups);

    const wrong = (draft: Draft, { fields }: Rule) => fields.some((name) => found.get(draft)?.[name]);
    for (const { draft, field, message } of await breaches(drafts, context, wrong)) this.add(draft, field, invalidValue(message));

    if (found.size === 0) return;
    await Promise.all(keyed.map((look) => look()));
    throw new InvalidInput(inOrder(drafts, found), [...this.doubled]);
  }

  private add(draft: Draft, name: string, ...mistakes: Mistake[]): void {
    if (!mistakes.length) return;
    const errors = this.found.get(draft) ?? {};
    this.found.set(draft, { ...errors, [name]: [...(errors[name] ?? []), ...mistakes] });
  }

  private settle(isKeyed: boolean, look: () => Promise<void>): void {
    if (isKeyed) this.keyed.push(look);
    else this.lookups.push(look());
  }

  /** At the values themselves. */
  private look(draft: Draft): void {
    const { references, lookups } = this;
    for (const field of fieldsOf(draft.entity)) {
      if (field.readOnly || field.name === draft.above?.by) continue;
      const value = draft.input[field.name];
      const refuse = (...mistakes: Mistake[]) => this.add(draft, field.name, ...mistakes);
      if (value === undefined) {
        if (draft.id === undefined && isRequired(field)) refuse(mistake(MistakeCode.REQUIRED, REQUIRED));
      } else if (value === null) {
        if (!acceptsNull(field)) refuse(mistake(MistakeCode.NULL, NOT_NULL));
      } else if (field.relation) {
        const ids = Array.isArray(value) ? (value as unknown[]) : [value];
        if (ids.length === 0) refuse(mistake(MistakeCode.EMPTY, NOT_EMPTY));
        const target = field.target!();
        const wrong = ids.flatMap((id) => wrongType(target.name, id) ?? []);
        refuse(...wrong.map(invalidValue));
        if (!wrong.length) references.set(target, [...(references.get(target) ?? []), { draft, field, ids }]);
      } else {
        const mistakes = field.mistakes(value, this.context.timeZone);
        refuse(...mistakes);
        if (!mistakes.length && field.inspect) lookups.push(field.inspect(value).then((messages) => refuse(...messages.map(invalidValue))));
      }
    }
  }

  private async lookUp(target: Entity, named: readonly Reference[]): Promise<void> {
    const ids = named.flatMap((reference) => reference.ids);
    const known = new Set(await knownIds(target, ids, this.context));
    for (const reference of named) {
      const missing = reference.ids.find((id) => !known.has(Number(id)));
      if (missing === undefined) continue;
      this.add(reference.draft, reference.field.name, noSuch(target.name, missing));
    }
  }

  private lookForDoubles(entity: Entity): void {
    const { drafts, context, found } = this;
    const names = uniqueFields(entity).map(({ name }) => name);
    if (names.length === 0) return;
    const good = drafts.filter((draft) => draft.entity === entity && !names.some((name) => found.get(draft)?.[name]));
    this.settle(this.trusting, async () => {
      for (const [draft, id] of await clashing(entity, good, context)) {
        this.add(draft, WHOLE, mistake(MistakeCode.NOT_UNIQUE, uniqueMessage(entity, context.api)));
        if (id !== undefined && !draft.above) this.doubled.add(id);
      }
    });
  }
}

/** Throws if rows that another write has changed meanwhile would break a rule now. */
export async function validateAgain(drafts: readonly Draft[], context: Context): Promise<void> {
  const found = new Map<Draft, Mistakes>();
  for (const { draft, field, message } of await breaches(drafts, context))
    found.set(draft, { ...found.get(draft), [field]: [invalidValue(message)] });
  if (found.size) throw new InvalidInput(inOrder(drafts, found));
}

/** As the rows come in the input and the fields in their type; what is said of a row as a whole comes last. */
const inOrder = (drafts: readonly Draft[], found: ReadonlyMap<Draft, Mistakes>): InputMistake[] =>
  drafts.flatMap((draft) => {
    const mistakes = found.get(draft) ?? {};
    const names = [...fieldsOf(draft.entity).map(({ name }) => name), WHOLE];
    return names.flatMap((name) => {
      const path = name === WHOLE ? draft.path : [...draft.path, name];
      return (mistakes[name] ?? []).map((one) => ({ path, ...one }));
    });
  });
