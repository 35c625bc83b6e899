/** What of a list can be drawn over time: one line for each thing that was measured, one drawing for each unit. */
import { getNamedType, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { FieldFact } from '../../../contract/facts';
import { factsOf, type Endpoint, type Prepare, type Run } from '../../../rest/endpoints';
import { momentText, shownFacts, type Row } from './cells';
import { labelOf } from './wording';
import { callingOf } from './naming';

export type Point = [moment: string, number: number];

export interface Line {
  /** Where there may be several. */
  name?: string;
  points: Point[];
}

/** Numbers of one kind: they may stand beside each other. */
export interface Series {
  label: string;
  unit?: string;
  lines: readonly Line[];
  /** Lines that there is no room for. */
  left: number;
}

export interface Drawn {
  series: readonly Series[];
  /** Days back from the newest one; 0 for all. */
  days: number;
}

/** How far back can be asked for; the first one is usual. */
export const PERIODS = [90, 365, 0] as const;
export const PERIOD_KEY = 'days';

/** More lines than these are not told apart. */
const MAX_LINES = 5;
const MAX_POINTS = 5000;
/** Who logs more of them in a day sees fewer days. */
const ROWS_A_DAY = 12;
const DAY_MS = 86_400_000;
const DAY = 10;
const UNIT = /Unit$/;

interface Spec {
  day: FieldFact;
  value: FieldFact;
  /** What was measured. */
  by?: FieldFact;
  unit?: FieldFact;
  /** A number without a unit is one in that of the profile. */
  preferred: boolean;
}

/** The first day that people set against their first decimal, if its unit is known. */
function specOf(type: GraphQLObjectType, schema: GraphQLSchema): Spec | undefined {
  const facts = shownFacts(type).filter(({ restReadOnly }) => !restReadOnly);
  const day = facts.find(({ kind }) => kind === 'date');
  const value = facts.find(({ kind }) => kind === 'decimal');
  if (!type.extensions.resource!.owned || !day || !value) return undefined;
  const units = facts.filter(({ relation }) => relation && UNIT.test(relation.type));
  const own = factsOf(type).find(({ kind, name }) => kind === 'choice' && name === 'unit');
  const unit = units.find(({ relation }) => relation!.object.startsWith(value.name)) ?? own;
  if (units.length > 0 && !unit) return undefined;
  const by =
    facts.find(({ relation }) => relation && !relation.owned && !relation.many && !UNIT.test(relation.type)) ??
    facts.find(({ kind, null: may }) => kind === 'choice' && !may);
  const preferred = own !== undefined && schema.getQueryType()?.getFields().viewer !== undefined;
  return { day, value, preferred, ...(by && { by }), ...(unit && { unit }) };
}

/** Of a type whose rows are drawn: what is written in the unit that their owner prefers. */
export function preferredFact(type: GraphQLObjectType, schema: GraphQLSchema): FieldFact | undefined {
  const spec = specOf(type, schema);
  return spec?.preferred ? spec.value : undefined;
}

const ofSpec = (type: GraphQLObjectType, { day, value, by, unit }: Spec): string =>
  [by, unit]
    .flatMap((fact) => (fact ? [named(type, fact)] : []))
    .concat('id', day.name, value.name)
    .join(' ');

const targetOf = (type: GraphQLObjectType, fact: FieldFact) =>
  getNamedType(type.getFields()[fact.relation!.object]!.type) as GraphQLObjectType;

function named(type: GraphQLObjectType, fact: FieldFact): string {
  if (!fact.relation) return fact.name;
  const target = targetOf(type, fact);
  return `${fact.name} ${fact.relation.object} { id ${callingOf(target, target.extensions.resource!).selection} }`;
}

function nameIn(type: GraphQLObjectType, fact: FieldFact, row: Row): string {
  const id = String(row[fact.name] as string | number);
  if (!fact.relation) return String(fact.choices?.find(({ value }) => value === id)?.label ?? id);
  const target = targetOf(type, fact);
  const one = row[fact.relation.object] as Row | null;
  return (one && callingOf(target, target.extensions.resource!).nameOf(one)) ?? id;
}

/** Of several values of one day the largest. */
function linesOf(type: GraphQLObjectType, { day, value, by }: Spec, rows: readonly Row[]): Line[] {
  const lines = new Map<string, Map<string, number>>();
  for (const row of rows) {
    const name = by ? nameIn(type, by, row) : '';
    const moment = momentText(String(row[day.name]), day.kind).slice(0, DAY);
    const points = lines.get(name) ?? new Map<string, number>();
    points.set(moment, Math.max(points.get(moment) ?? -Infinity, Number(row[value.name])));
    lines.set(name, points);
  }
  const drawn = [...lines].map(([name, points]) => ({ ...(by && { name }), points: [...points].sort(([a], [b]) => (a < b ? -1 : 1)) }));
  return drawn.sort((a, b) => b.points.length - a.points.length);
}

/** One point is no line, and nothing but zeros is no news. */
const tells = ({ points }: Line): boolean => points.length > 1 && points.some(([, number]) => number !== 0);

export function seriesOf(schema: GraphQLSchema, prepare: Prepare) {
  const known = new Map<string, { spec?: Spec; run?: Run }>();

  /** `where` is what the list is narrowed to. */
  return async ({ type, resource }: Endpoint, where: object, days: number, context: object): Promise<Drawn | undefined> => {
    if (!known.has(type.name)) known.set(type.name, { spec: specOf(type, schema) });
    const entry = known.get(type.name)!;
    const { spec } = entry;
    if (!spec) return undefined;
    entry.run ??= prepare(
      `query ($where: ${type.name}Where, $first: Int) {
        page: ${resource.many}(where: $where, first: $first, orderBy: [{ ${spec.day.name}: DESC }]) { nodes { ${ofSpec(type, spec)} } }
      }`,
    );
    const { data } = await entry.run(context, { where, first: days ? days * ROWS_A_DAY : MAX_POINTS });
    const all = (data?.page.nodes ?? []) as Row[];
    const last = all.length ? Date.parse(String(all[0]![spec.day.name]).slice(0, DAY)) : 0;
    const rows = days ? all.filter((row) => last - Date.parse(String(row[spec.day.name]).slice(0, DAY)) < days * DAY_MS) : all;
    const units = new Map<string, Row[]>();
    for (const row of rows) {
      const unit = spec.unit ? nameIn(type, spec.unit, row) : '';
      units.set(unit, [...(units.get(unit) ?? []), row]);
    }
    const series = [...units].map(([name, some]) => {
      const lines = linesOf(type, spec, some);
      return {
        label: labelOf(spec.value),
        ...(name && { unit: name }),
        lines: lines.slice(0, MAX_LINES),
        left: Math.max(0, lines.length - MAX_LINES),
      };
    });
    return { series: series.filter(({ lines }) => lines.some(tells)), days };
  };
}
