/**
 * Generates random values of input types: as literals, which may contain variables, and as the
 * values of variables.
 */
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from 'graphql';
import type { Random } from '../../../setup/random';

const TEXTS = [
  'Squat',
  'a',
  'press',
  '',
  'zzz',
  'Oats',
  'ab%_c',
  'Mind',
  '1',
  '2',
  '0.5',
  'kg',
  'ä',
];
const IDS = ['1', '2', '3', '4', '999', '0', 'x', ''];

/** Generators of JSON values by scalar. */
const SCALARS: Record<string, (random: Random) => unknown> = {
  ID: (random) => random.pick(IDS),
  Int: (random) => random.pick([0, 1, 2, 3, 5, 12, -1]),
  String: (random) => random.pick(TEXTS),
  Boolean: (random) => random.chance(0.5),
  Decimal: (random) => random.pick<unknown>(['80.5', '1', '0', 75, '1e1', '100.00']),
  Date: (random) => random.pick(['2021-01-01', '2021-03-10', '2020-02-29', '1999-12-31']),
  Time: (random) => random.pick(['08:00', '18:30:00', '23:59:59.5']),
  DateTime: (random) => random.pick(['2021-03-10T08:00:00+01:00', '2021-01-01T00:00:00Z']),
};

const WRONG = [true, 'wrong', -1.5, {}, [], { wrong: 1 }, [[1]], '2021-13-45'];

const asLiteral = (value: unknown): string => JSON.stringify(value);

/** A variable, used in a document as `$name`. */
export interface Variable {
  name: string;

  /** The definition, with its default if any. */
  declared: string;

  /** Absent if the request omits the variable. */
  value?: unknown;
}

export const hasValue = (type: GraphQLInputType): boolean => {
  const nullable = getNullableType(type);

  return isListType(nullable)
    ? hasValue(nullable.ofType)
    : isInputObjectType(nullable) || isEnumType(nullable) || nullable.name in SCALARS;
};

const MAX_DEPTH = 4;

export class Values {
  readonly variables: Variable[] = [];

  constructor(private readonly random: Random) {}

  /** Generates a literal; adds the variables in it to `used`. */
  literal(type: GraphQLInputType, used: Set<string>, depth = 0, inVariable = false): string {
    const { random } = this;

    if (!inVariable && random.chance(depth === 0 ? 0.35 : 0.2)) return this.variable(type, used);
    if (!isNonNullType(type) && random.chance(0.06)) return 'null';
    const nullable = getNullableType(type);
    const inner = (one: GraphQLInputType) => this.literal(one, used, depth + 1, inVariable);

    if (isListType(nullable)) {
      if (random.chance(0.15)) return inner(nullable.ofType);

      return `[${Array.from({ length: random.below(3) }, () => inner(nullable.ofType)).join(', ')}]`;
    }

    if (isInputObjectType(nullable)) {
      return `{ ${this.fieldsOf(nullable, depth)
        .map(
          (field) =>
            `${field.name}: ${nullable.isOneOf ? this.present(field.type, used, depth + 1, inVariable) : inner(field.type)}`,
        )
        .join(', ')} }`;
    }

    if (isEnumType(nullable)) return random.pick(nullable.getValues()).name;

    return asLiteral(SCALARS[nullable.name]!(random));
  }

  /**
   * Generates a literal for the field of a oneOf input: neither null nor a variable, because that
   * might be null.
   */
  private present(
    type: GraphQLInputType,
    used: Set<string>,
    depth: number,
    inVariable: boolean,
  ): string {
    for (;;) {
      const tried = new Set<string>();
      const text = this.literal(type, tried, depth, inVariable);

      if (text === 'null' || /^\$/.test(text)) continue;
      for (const name of tried) used.add(name);

      return text;
    }
  }

  private fieldsOf(type: GraphQLInputObjectType, depth: number) {
    const { random } = this;
    const fields = Object.values(type.getFields()).filter((field) => hasValue(field.type));
    const leafFields = fields.filter((field) => !isInputObjectType(getNamedType(field.type)));
    const offered = depth >= MAX_DEPTH ? leafFields : fields;

    if (type.isOneOf) return [random.pick(offered.length ? offered : fields)];
    const required = fields.filter(isRequiredInputField);
    const optional = offered.filter((field) => !isRequiredInputField(field));

    return [
      ...required,
      ...(optional.length && random.chance(0.8) ? random.some(optional, depth === 0 ? 3 : 2) : []),
    ];
  }

  /** Adds a variable that is allowed where this type is expected. */
  private variable(type: GraphQLInputType, used: Set<string>): string {
    const { random } = this;
    const name = `v${this.variables.length}`;

    used.add(name);
    const nullable = String(getNullableType(type));
    // A nullable variable is allowed in a non-null position only with a default.
    const withDefault = random.chance(0.25);
    const strict = withDefault ? random.chance(0.5) : isNonNullType(type) || random.chance(0.2);
    const fallback = withDefault ? ` = ${this.literalOfPresent(type)}` : '';

    this.variables.push({
      name,
      declared: `$${name}: ${nullable}${strict ? '!' : ''}${fallback}`,
      ...this.randomVariableValue(type, withDefault || !strict),
    });

    return `$${name}`;
  }

  private literalOfPresent(type: GraphQLInputType): string {
    return this.present(type, new Set(), 1, true);
  }

  private randomVariableValue(type: GraphQLInputType, optional: boolean): { value?: unknown } {
    const { random } = this;

    if (random.chance(optional ? 0.3 : 0.01)) return {};
    if (random.chance(optional ? 0.1 : 0.01)) return { value: null };
    if (random.chance(0.015)) return { value: random.pick(WRONG) };

    return { value: this.json(type) };
  }

  private json(type: GraphQLInputType, depth = 0): unknown {
    const { random } = this;

    if (!isNonNullType(type) && depth > 0 && random.chance(0.06)) return null;
    const nullable = getNullableType(type);

    if (isListType(nullable)) {
      return Array.from({ length: random.below(3) }, () => this.json(nullable.ofType, depth + 1));
    }

    if (isInputObjectType(nullable)) {
      return Object.fromEntries(
        this.fieldsOf(nullable, depth).map((field) => [
          field.name,
          this.json(field.type, depth + 1),
        ]),
      );
    }

    if (isEnumType(nullable)) return random.pick(nullable.getValues()).name;

    return SCALARS[nullable.name]!(random);
  }
}
