/**
 * Generates documents whose answers multiply: relations back and forth, lists in lists, pages of
 * pages. Documents that are drawn uniformly from the schema are nearly always cheap.
 */
import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  GraphQLNonNull,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { addDays } from '../../../../seeders/dates';
import { todayIn } from '../../../../src/engine/declare/clock';
import { nodeIdOf } from '../../../../src/engine/declare/node';
import type { Random } from '../../../setup/random';
import type { RowIds } from './rows';

type Composite = GraphQLObjectType | GraphQLInterfaceType;
type Field = GraphQLField<unknown, unknown>;

/** Fields that make the user or its token unusable. */
const EXCLUDED_FIELDS = [
  'login',
  'changePassword',
  'endSessions',
  'replaceToken',
  'createAccessToken',
  'revokeAccessToken',
  'revokeAccessTokens',
  'updateUser',
];

const MAX_DEPTH = 18;

/** Fields of one document, to stay below the limits of documents in most cases. */
const MAX_FIELDS = 400;
const MAX_INPUT_VALUES = 1_500;
const MAX_INPUT_DEPTH = 9;
const LIST_SIZES = [0, 1, 1, 2, 3, 8, 40, 400];
const PAGE_SIZES = [1, 5, 30, 100, 1_000];
const TEXTS = [
  'a',
  'e',
  'Squat',
  'chiken brest',
  '',
  '%',
  '_%_%_%',
  'ä',
  'a'.repeat(200),
  'x y '.repeat(60),
  '\\"',
  '1',
];
const TODAY = todayIn('UTC');
const DATES = [
  addDays(TODAY, -360),
  addDays(TODAY, -30),
  addDays(TODAY, -1),
  '2000-01-01',
  '2024-02-29',
  '9999-12-31',
];

const SCALARS: Record<string, (random: Random) => unknown> = {
  Int: (random) => random.pick([0, 1, 2, 8, 100, 1_000, 10_000, 2_147_483_647, -1]),
  String: (random) => random.pick(TEXTS),
  Boolean: (random) => random.chance(0.5),
  Decimal: (random) => random.pick(['80.5', '1', '0', '0.01', '1e3', '100']),
  Date: (random) => random.pick([...DATES, TODAY, TODAY]),
  Time: (random) => random.pick(['08:00', '18:30:00', '23:59:59.5']),
  DateTime: (random) =>
    random.pick(['2026-03-10T08:00:00+01:00', '2021-01-01T00:00:00Z', `${TODAY}T00:00:00Z`]),
};

/**
 * A document with numbers that can be scaled, so that its estimated cost is just below the maximum.
 */
export interface Draft {
  /** Returns the text with page sizes multiplied by the factor. */
  textFor(factor: number): string;
}

interface Shape {
  /** Probability that a selection set has another relation besides the first one. */
  branching: number;
  depth: number;

  /** Probability that a set selects all scalar fields. */
  width: number;

  /** Probability that a relation has an alias for each of several copies. */
  repetition: number;

  /** Probability that an optional argument is present. */
  argumentRate: number;
  pageSize: number;
}

export class Documents {
  private fieldCount = 0;
  private inputValueCount = 0;
  private aliasCount = 0;
  private shape!: Shape;
  private fragments: string[] = [];

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly random: Random,
    private readonly ids: RowIds,
  ) {}

  query(): Draft {
    return this.draft('query', this.schema.getQueryType()!);
  }

  subscription(cursor: string): Draft {
    this.begin();
    const { random, schema } = this;
    const field = schema.getSubscriptionType()!.getFields().changed!;
    const since = random.chance(0.7) ? `(since: ${JSON.stringify(cursor)})` : '';

    return this.scaled(
      `subscription { changed${since} ${this.selection(getNamedType(field.type) as Composite, 1)} }`,
    );
  }

  mutation(): Draft {
    return this.draft('mutation', this.schema.getMutationType()!);
  }

  /** Generates a query with one paginated list, as exports need it. */
  list(): Draft {
    this.begin();
    const fields = Object.values(this.schema.getQueryType()!.getFields()).filter(({ type }) =>
      /Connection!?$/.test(String(type)),
    );
    const field = this.random.pick(fields);
    const type = getNamedType(field.type) as GraphQLObjectType;
    const row = getNamedType(type.getFields().nodes!.type) as GraphQLObjectType;
    const paging = ['first', 'last', 'after', 'before', 'offset'];
    const optional = field.args.filter(({ name }) => !paging.includes(name));

    return this.scaled(
      `{ ${field.name}${this.argumentsOf(optional)} { nodes ${this.selection(row, 2)} } }`,
    );
  }

  /** Generates a document that is costly to parse and validate rather than to execute. */
  validation(): string {
    const { random } = this;
    const count = random.pick([20, 100, 190, 400, 900]);
    const types = ['Exercise', 'Workout', 'TrainingDay', 'NutritionPlan', 'Query', 'Node', 'Wrong'];
    const repeat = (text: (index: number) => string, times = count) =>
      Array.from({ length: times }, (_, index) => text(index)).join(' ');
    const type = random.pick(types);

    switch (random.below(9)) {
      case 0:
        return `{ ${repeat((index) => `...F${index}`)} } ${repeat((index) => `fragment F${index} on ${type} { ...F${(index + 1) % count} id }`)}`;
      case 1:
        return `{ exercise(id: 1) { ${repeat((index) => `...F${index}`)} } } ${repeat((index) => `fragment F${index} on Exercise { name ...F${index + 1} }`)} fragment F${count} on Exercise { id }`;
      case 2:
        return `{ exercise(id: 1) { ${repeat((index) => `${random.chance(0.5) ? 'name' : 'id'} @include(if: $v${index % 7}) ${random.chance(0.2) ? `a${index}: id` : ''}`)} } }`;
      case 3:
        return `query (${repeat((index) => `$v${index}: [[ExerciseWhere!]] = ${random.pick(['null', '[]', '{}', '[[{ id: { eq: 1 } }]]'])}`)}) { __typename }`;
      case 4:
        return `{ ${'exerciseTranslation(id: 1) { variations { '.repeat(Math.min(count, 60))} id ${'} } '.repeat(Math.min(count, 60))} }`;
      case 5:
        return `{ exercises(where: ${'{ and: ['.repeat(Math.min(count, 90))}${'] }'.repeat(Math.min(count, 90))}) { totalCount } }`;
      case 6:
        return `{ ${repeat((index) => `wrong${index}(wrong: ${random.pick(['1', '"a"', '[1, 2]', '{ a: 1 }', '$x'])})`)} }`;
      case 7:
        return `{ __schema { types { ${repeat((index) => `fields { name args { name type { name ofType { name ofType { name } } } } ${index % 3 ? 'type { name }' : ''} }`, Math.min(count, 60))} } } }`;
      default:
        return `{ exercise(id: 1) { ${repeat(() => `variation { exercises { nodes { translations { id } } } }`, Math.min(count, 60))} } } ${repeat((index) => `query Q${index} { __typename }`)}`;
    }
  }

  private begin(): void {
    const { random } = this;

    [this.fieldCount, this.inputValueCount, this.aliasCount] = [0, 0, 0];
    this.fragments = [];
    this.shape = {
      branching: random.pick([0, 0.05, 0.3, 0.6]),
      depth: random.int(2, MAX_DEPTH),
      width: random.pick([0, 0.1, 0.5, 1]),
      repetition: random.pick([0, 0, 0, 0.1, 0.5]),
      argumentRate: random.pick([0, 0.05, 0.3]),
      pageSize: random.pick(PAGE_SIZES),
    };
  }

  private draft(kind: string, root: GraphQLObjectType): Draft {
    this.begin();
    const { random } = this;
    const candidates = Object.values(root.getFields()).filter(
      ({ name, type }) =>
        !EXCLUDED_FIELDS.includes(name) && (kind === 'mutation' || !isLeafType(getNamedType(type))),
    );
    const count = random.pick([1, 1, 1, 2, 5]);
    const fields = Array.from({ length: count }, () => this.field(random.pick(candidates), 1)).join(
      ' ',
    );

    return this.scaled(`${kind} { ${fields} }`);
  }

  /** Page sizes are written as `#size#` at first. */
  private scaled(operation: string): Draft {
    const text = [operation, ...this.fragments].join(' ');

    return {
      textFor: (factor) =>
        text.replaceAll(/#(\d+)#/g, (_, size) =>
          String(Math.max(1, Math.floor(Number(size) * factor))),
        ),
    };
  }

  private selection(type: Composite, depth: number): string {
    const { random, shape } = this;
    const texts: string[] = [];

    if (isAbstractType(type)) {
      for (const possible of random.some(this.schema.getPossibleTypes(type), 4)) {
        texts.push(`... on ${possible.name} ${this.selection(possible, depth + 1)}`);
      }

      return `{ __typename ${texts.join(' ')} }`;
    }

    const fields = Object.values(type.getFields());
    const isLeaf = (field: Field) => isLeafType(getNamedType(field.type));
    const leaves = fields.filter((field) => isLeaf(field) && !field.args.some(isRequiredArgument));
    const relations = fields.filter((field) => !isLeaf(field));

    if (random.chance(shape.width)) {
      for (const field of leaves) texts.push(this.field(field, depth));
    } else texts.push(...random.some(leaves, 2).map((field) => this.field(field, depth)));

    if (depth < shape.depth && relations.length > 0) {
      do texts.push(...this.relation(this.pickRelation(relations), depth));
      while (random.chance(shape.branching) && this.fieldCount < MAX_FIELDS);
    }

    if (texts.length === 0) texts.push('__typename');
    const text = `{ ${texts.join(' ')} }`;

    // The same contents again through a fragment, which the executor must merge.
    if (depth > 2 && random.chance(0.02) && this.fragments.length < 20) {
      const name = `F${this.fragments.length}`;

      this.fragments.push(`fragment ${name} on ${type.name} ${text}`);
      return `{ ...${name} ...${name} ... on ${type.name} { __typename } }`;
    }

    return text;
  }

  private relation(field: Field, depth: number): string[] {
    const { random, shape } = this;
    const copies = random.chance(shape.repetition) ? random.pick([2, 4, 20]) : 1;

    if (copies === 1) return [this.field(field, depth)];

    return Array.from({ length: copies }, () =>
      this.fieldCount < MAX_FIELDS ? this.field(field, depth) : '__typename',
    );
  }

  /** Prefers lists without pages, whose length the estimated cost does not know, and then pages. */
  private pickRelation(fields: readonly Field[]): Field {
    const weightOf = ({ type, args }: Field): number => {
      if (args.some(isRequiredArgument)) return 1;
      if (isListType(getNullableType(type))) return args.length > 0 ? 1 : 8;

      return /Connection!?$/.test(String(type)) ? 3 : 2;
    };

    let place = this.random.next() * fields.reduce((sum, field) => sum + weightOf(field), 0);

    return fields.find((field) => (place -= weightOf(field)) < 0) ?? fields[0]!;
  }

  private field(field: Field, depth: number): string {
    const { random } = this;

    this.fieldCount += 1;
    const named = getNamedType(field.type);
    const args = this.argumentsOf(field.args, named.name);
    const needsAlias = depth === 1 || args !== '' || random.chance(this.shape.repetition);
    const alias = needsAlias && !isLeafType(named) ? `a${(this.aliasCount += 1)}: ` : '';
    const set = isLeafType(named) ? '' : ` ${this.innerSelection(named as Composite, depth)}`;

    return `${alias}${field.name}${args}${set}`;
  }

  /** Pages lead to their rows, because other parts of a page do not multiply. */
  private innerSelection(type: Composite, depth: number): string {
    const { random } = this;

    if (!isObjectType(type) || !type.name.endsWith('Connection')) {
      return this.selection(type, depth + 1);
    }

    const row = getNamedType(type.getFields().nodes!.type) as Composite;
    const rows = random.chance(0.8)
      ? `nodes ${this.selection(row, depth + 2)}`
      : `edges { cursor node ${this.selection(row, depth + 3)} }`;

    return `{ ${random.chance(0.15) ? 'totalCount ' : ''}${rows} }`;
  }

  private argumentsOf(args: readonly GraphQLArgument[], typeName = ''): string {
    const { random, shape } = this;
    const texts = args.flatMap((argument) => {
      const { name, type } = argument;
      const isPresent =
        isRequiredArgument(argument) || random.chance(name === 'first' ? 0.85 : shape.argumentRate);

      if (!isPresent || ((name === 'last' || name === 'before') && random.chance(0.9))) return [];

      if (name === 'first') {
        return [`first: #${random.chance(0.9) ? shape.pageSize : random.pick(PAGE_SIZES)}#`];
      }

      if (name === 'last' || name === 'limit') return [`${name}: #${random.pick(PAGE_SIZES)}#`];
      if (name === 'offset') return [`offset: ${random.pick([0, 1, 100, 4_000, 1_000_000])}`];
      if (name === 'from') return [`from: "${random.pick(DATES)}"`];
      if (name === 'until') return [`until: "${TODAY}"`];

      return [`${name}: ${this.literal(type, 0, `${typeName} ${name}`)}`];
    });

    return texts.length > 0 ? `(${texts.join(', ')})` : '';
  }

  private literal(type: GraphQLInputType, depth: number, place: string): string {
    const { random } = this;

    this.inputValueCount += 1;
    const nullable = getNullableType(type);

    if (!isNonNullType(type) && random.chance(0.02)) return 'null';

    if (isListType(nullable)) {
      const isFull = this.inputValueCount > MAX_INPUT_VALUES || depth > MAX_INPUT_DEPTH;
      const length = isFull ? 0 : random.pick(LIST_SIZES);
      const fits = () => this.inputValueCount < MAX_INPUT_VALUES;

      return `[${Array.from({ length }, () => (fits() ? this.literal(nullable.ofType, depth + 1, place) : '')).join(' ')}]`;
    }

    if (isInputObjectType(nullable)) return this.objectLiteral(nullable, depth, place);
    if (isEnumType(nullable)) return random.pick(nullable.getValues()).name;
    if (nullable.name === 'ID') return JSON.stringify(this.idFor(place));

    return JSON.stringify(SCALARS[nullable.name]?.(random) ?? 'x');
  }

  private objectLiteral(type: GraphQLInputObjectType, depth: number, place: string): string {
    const { random } = this;
    const fields = Object.values(type.getFields());
    const isFull = this.inputValueCount > MAX_INPUT_VALUES || depth > MAX_INPUT_DEPTH;
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
    const offered = isFull && leaves.length > 0 ? leaves : fields;
    const inner = ({ name, type: inputType }: (typeof fields)[number]) =>
      `${name}: ${this.literal(type.isOneOf || name === 'isNull' ? new GraphQLNonNull(getNullableType(inputType)) : inputType, depth + 1, `${place} ${type.name} ${name}`)}`;

    if (type.isOneOf) return `{ ${inner(random.pick(offered))} }`;
    const required = fields.filter(isRequiredInputField);
    const optional = offered.filter((field) => !isRequiredInputField(field));
    const chosen =
      optional.length > 0 && (!isFull || random.chance(0.3))
        ? random.some(optional, random.pick([1, 1, 2, 6]))
        : [];

    return `{ ${[...required, ...chosen].map(inner).join(', ')} }`;
  }

  /**
   * Returns an id of the type that the place is about: the last type that its words name. `node`
   * and `nodes` accept only global ids.
   */
  private idFor(place: string): string {
    const { random, ids } = this;

    if (random.chance(0.03)) return random.pick(['0', 'x', '2147483648', 'a'.repeat(100)]);

    const words = place.toLowerCase();
    const placeOf = (type: string) => words.lastIndexOf(type.toLowerCase());
    const [named] = [...ids.keys()]
      .filter((type) => placeOf(type) >= 0)
      .sort((one, other) => placeOf(other) - placeOf(one));
    const type = named ?? random.pick([...ids.keys()]);
    const id = random.pick(ids.get(type)!.length > 0 ? ids.get(type)! : ['1']);

    return named ? id : nodeIdOf(type, id);
  }
}
