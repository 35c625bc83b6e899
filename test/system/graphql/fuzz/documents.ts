/**
 * Generates random documents for a schema, most of them valid: operations, fragments, aliases,
 * directives, variables and their values.
 */
import {
  getNamedType,
  isAbstractType,
  isLeafType,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import type { Random } from '../../../setup/random';
import { hasValue, Values } from './values';

export interface Request {
  text: string;
  kind: 'query' | 'mutation';
  operationName?: string;
  variables: Record<string, unknown>;
}

/** A part of a document with the fragments and variables that it uses. */
interface Part {
  text: string;
  spreads: Set<string>;
  used: Set<string>;
}

type Composite = GraphQLObjectType | GraphQLInterfaceType;

/**
 * Fields whose results differ each time, such as cursors of changes, or that are deliberately slow.
 */
const EXCLUDED_FIELDS = [
  'changes',
  'login',
  // These lock the account on a connection of their own, and would wait for the transaction of a
  // run that has locked it.
  ...['changePassword', 'replaceToken', 'createAccessToken'],
  ...['revokeAccessToken', 'revokeAccessTokens', 'endSessions'],
];
const MAX_DEPTH = 5;
const PAGE_ARGUMENTS = ['first', 'last', 'offset'];

export class Documents {
  private aliases = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly random: Random,
  ) {}

  next(): Request {
    const { random } = this;

    this.aliases = 0;
    const values = new Values(random);
    const fragments = new Map<string, Part & { type: GraphQLObjectType }>();
    const kind = random.chance(0.3) ? 'mutation' : 'query';
    const root = kind === 'query' ? this.schema.getQueryType()! : this.schema.getMutationType()!;
    const started: Composite[] = [];
    const count = random.chance(0.25) ? 2 : 1;
    const operations = Array.from({ length: count }, () =>
      this.selection(root, 0, values, fragments, started),
    );
    const names =
      count > 1 || random.chance(0.3) ? operations.map((_, index) => `O${index}`) : [''];
    const chosen = random.below(count);

    const allFragments = (part: Part, seen = new Set<string>()): Set<string> => {
      const used = new Set(part.used);

      for (const name of part.spreads) {
        if (seen.has(name)) continue;
        seen.add(name);
        for (const one of allFragments(fragments.get(name)!, seen)) used.add(one);
      }

      return used;
    };

    const texts = operations.map((operation, index) => {
      const used = allFragments(operation);
      const declared = values.variables
        .filter(({ name }) => used.has(name))
        .map((variable) => variable.declared);

      return `${kind} ${names[index] ?? ''}${declared.length ? `(${declared.join(', ')})` : ''} ${operation.text}`;
    });
    const passedVariables = values.variables.filter((variable) => 'value' in variable);

    return {
      kind,
      text: [
        ...texts,
        ...[...fragments].map(
          ([name, { type, text }]) => `fragment ${name} on ${type.name} ${text}`,
        ),
      ].join('\n'),
      ...(names[chosen] && { operationName: names[chosen] }),
      variables: Object.fromEntries(passedVariables.map(({ name, value }) => [name, value])),
    };
  }

  private selection(
    type: Composite,
    depth: number,
    values: Values,
    fragments: Map<string, Part & { type: GraphQLObjectType }>,

    /** Types whose fragments are being generated and must not be spread in themselves. */
    writing: Composite[],
  ): Part {
    const { random } = this;
    const part: Part = { text: '', spreads: new Set(), used: new Set() };

    const add = (inner: Part): string => {
      for (const name of inner.spreads) part.spreads.add(name);
      for (const name of inner.used) part.used.add(name);

      return inner.text;
    };

    const nestedSelection = (inner: Composite) =>
      add(this.selection(inner, depth + 1, values, fragments, writing));
    const fields = Object.values(type.getFields()).filter((field) => this.offers(field, depth));
    const most = depth === 0 ? 3 : 5;
    const texts = (fields.length ? random.some(fields, most) : []).map((field) =>
      this.field(field, type, part, values, nestedSelection),
    );

    if (random.chance(0.1)) texts.push(`__typename${this.directives(values, part)}`);

    if (depth === 0 && this.schema.getQueryType() === type && random.chance(0.03)) {
      texts.push('__type(name: "Exercise") { name kind }');
    }

    if (isAbstractType(type)) {
      for (const possible of random.some(this.schema.getPossibleTypes(type), 3)) {
        texts.push(
          `... on ${possible.name}${this.directives(values, part)} ${add(this.selection(possible, depth + 1, values, fragments, writing))}`,
        );
      }
    } else if (depth < MAX_DEPTH) {
      // Selects from the same type again, so that the executor has to merge selections.
      if (random.chance(0.12)) {
        texts.push(
          `...${random.chance(0.5) ? ` on ${type.name}` : ''}${this.directives(values, part)} ${nestedSelection(type)}`,
        );
      }

      if (random.chance(0.2) && !writing.includes(type)) {
        const name = `F${type.name}`;

        if (!fragments.has(name)) {
          const fragment = this.selection(type, Math.max(depth, 2), values, fragments, [
            ...writing,
            type,
          ]);

          // The recursive call may have added the same fragment.
          if (!fragments.has(name)) {
            fragments.set(name, { ...fragment, type: type as GraphQLObjectType });
          }
        }

        part.spreads.add(name);

        for (let times = 1 + random.below(2); times > 0; times -= 1) {
          texts.push(`...${name}${this.directives(values, part)}`);
        }
      }
    }

    if (!texts.length) texts.push('__typename');
    part.text = `{ ${texts.join(' ')} }`;
    return part;
  }

  private offers(field: GraphQLField<unknown, unknown>, depth: number): boolean {
    if (EXCLUDED_FIELDS.includes(field.name)) return false;

    if (
      !field.args.every(
        (argument) => hasValue(argument.type) || !String(argument.type).endsWith('!'),
      )
    ) {
      return false;
    }

    return depth < MAX_DEPTH || isLeafType(getNamedType(field.type));
  }

  private field(
    field: GraphQLField<unknown, unknown>,
    parent: Composite,
    part: Part,
    values: Values,
    nestedSelection: (type: Composite) => string,
  ): string {
    const { random } = this;
    const texts = field.args
      .filter(
        (argument) =>
          hasValue(argument.type) &&
          (/!$/.test(String(argument.type))
            ? argument.defaultValue === undefined || random.chance(0.3)
            : random.chance(0.3)),
      )
      .map((argument) => {
        const small = PAGE_ARGUMENTS.includes(argument.name) && random.chance(0.8);

        return `${argument.name}: ${small ? random.below(5) : values.literal(argument.type, part.used)}`;
      });
    const args = texts.length ? `(${texts.join(', ')})` : '';
    // Avoids conflicts: the alias of a field with arguments is unique, and an alias of one without
    // always refers to the same field.
    let alias = '';

    if (args) alias = `a${(this.aliases += 1)}: `;
    else if (random.chance(0.15)) alias = `x_${parent.name}_${field.name}: `;
    const named = getNamedType(field.type);
    const set = isLeafType(named) ? '' : ` ${nestedSelection(named as Composite)}`;

    return `${alias}${field.name}${args}${this.directives(values, part)}${set}`;
  }

  private directives(values: Values, part: Part): string {
    const { random } = this;

    if (!random.chance(0.09)) return '';
    const condition = this.schema.getDirective('skip')!.args[0]!.type;

    return ` @${random.pick(['skip', 'include'])}(if: ${values.literal(condition, part.used)})`;
  }
}
