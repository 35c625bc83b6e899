/** The REST adapter over an in-memory schema of fruit, to show that it works for any schema. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import {
  buildSchema,
  execute,
  GraphQLError,
  parse,
  validate,
  type GraphQLObjectType,
} from 'graphql';
import { limitViolationMessages } from '../../src/engine/declare/field-validation';
import type { FieldMetadata, RestViewMetadata } from '../../src/shared/metadata';
import { ViewBuilder } from '../../src/web/browse/view/view-builder';
import type { PrepareOperation } from '../../src/rest/endpoints';
import { createRestHandler } from '../../src/rest/router';
import { Person } from '../setup/person';

const schema = buildSchema(`
  type Query {
    fruit(id: ID!): Fruit
    fruits(where: FruitWhere, orderBy: [FruitOrder!], first: Int, offset: Int): Page!
    referenceableIds(type: String!, ids: [ID!]!): [Int!]!
    ripest(colour: String, atMost: String): [String!]!
  }
  type Mutation {
    createFruit(input: FruitInput!): FruitPayload!
    updateFruit(id: ID!, input: FruitPatch!): FruitPayload!
    deleteFruit(id: ID!): DeletePayload
    login(username: String!, password: String!): Login!
  }
  type FruitPayload { fruit: Fruit errors: [InputError!]! }
  type DeletePayload { errors: [InputError!]! }
  type InputError { path: [String!]! code: String! message: String! }
  type Login { token: String errors: [InputError!]! }
  type Page { totalCount: Int! nodes: [Fruit!]! }
  type Fruit { id: Int! fullName: String! pieces: Int peeled: Boolean! juice(glasses: String): Juice }
  type Juice { inMillilitres: Int! }
  input Ids { eq: ID in: [ID!] }
  input Text { eq: String }
  input Number { eq: Int }
  input Truth { eq: Boolean }
  input FruitWhere { id: Ids fullName: Text pieces: Number peeled: Truth }
  enum Direction { ASC DESC }
  input FruitOrder { id: Direction fullName: Direction pieces: Direction }
  input FruitInput { fullName: String! pieces: Int peeled: Boolean }
  input FruitPatch { fullName: String pieces: Int peeled: Boolean }
`);

interface Fruit {
  id: number;
  fullName: string;
  pieces: number | null;
  peeled: boolean;
}

function fieldMetadata(
  name: string,
  rest: string,
  kind: FieldMetadata['kind'],
  more: Partial<FieldMetadata> = {},
): FieldMetadata {
  const made: FieldMetadata = {
    name,
    restKey: rest,
    kind,
    label: name,
    description: `${name}.`,
    allowNull: false,
    allowBlank: false,
    hasDefault: false,
    hiddenInRest: false,
    hiddenOnPages: false,
    readOnly: false,
    restReadOnly: false,
    pageReadOnly: false,
    restIgnoredOnCreate: false,
    isColumn: true,
    isSortable: true,
    ...more,
    check: (value) => limitViolationMessages(value, made),
  };

  return made;
}

const view = (rest: string, more: Partial<RestViewMetadata>): RestViewMetadata => ({
  restName: rest,
  title: 'Fruit',
  description: 'Fruit.',
  filters: [],
  routes: 'read',
  ...more,
});

const fruit = schema.getType('Fruit') as GraphQLObjectType;

fruit.extensions = {
  resource: {
    isOwned: false,
    ordering: ['id'],
    rowQueryName: 'fruit',
    listQueryName: 'fruits',
    createMutationName: 'createFruit',
    updateMutationName: 'updateFruit',
    deleteMutationName: 'deleteFruit',
    views: [
      view('fruit', {
        inReference: { apiRootPosition: 1 },
        routes: 'all',
        filters: ['fullName', 'pieces', 'peeled'].map((field) => ({ field })),
      }),
      view('fruit-label', {
        inReference: { apiRootPosition: 2 },
        graphqlSelection: 'label: fullName',
      }),
      view('fruit-guarded', { inReference: {}, routes: 'all', permittedMethods: ['POST'] }),
    ],
  },
};
fruit.getFields().id!.extensions = {
  field: fieldMetadata('id', 'id', 'integer', {
    readOnly: true,
    restReadOnly: true,
    pageReadOnly: true,
  }),
};
fruit.getFields().fullName!.extensions = {
  field: fieldMetadata('fullName', 'full_name', 'string', { maxLength: 10 }),
};
fruit.getFields().pieces!.extensions = {
  field: fieldMetadata('pieces', 'pieces', 'integer', { allowNull: true, min: 0, max: 9 }),
};
fruit.getFields().peeled!.extensions = {
  field: fieldMetadata('peeled', 'peeled', 'boolean', { hasDefault: true }),
};
fruit.getFields().juice!.extensions = { action: { name: 'squeezed_juice' } };
schema.getQueryType()!.getFields().ripest!.extensions = {
  endpoint: { paths: ['fruit/ripest'], title: 'Ripest' },
};

const notFoundError = () => new GraphQLError('Not found.', { extensions: { code: 'NOT_FOUND' } });

const UNKNOWN = { path: ['id'], code: 'NOT_FOUND', message: 'There is no such fruit.' };

export class Orchard {
  fruits: Fruit[] = [];
  private server?: Server;
  url = '';

  private find = (id: string): Fruit => {
    const found = this.fruits.find((one) => one.id === Number(id));

    if (!found) throw notFoundError();

    return {
      ...found,
      juice: ({ glasses = '1' }) => ({ inMillilitres: 200 * Number(glasses) }),
    } as Fruit;
  };

  private has = (id: string): boolean => this.fruits.some((one) => one.id === Number(id));

  private readonly root = {
    fruit: ({ id }: { id: string }) => this.find(id),
    fruits: ({ where, orderBy, first, offset }: any) => {
      const matches = (one: Fruit) =>
        Object.entries(where).every(([name, { eq }]: any) => one[name as keyof Fruit] === eq);
      const found = this.fruits.filter(matches);

      if (orderBy?.[0]?.fullName) {
        found.sort(
          (a, b) => (a.fullName < b.fullName ? -1 : 1) * (orderBy[0].fullName === 'DESC' ? -1 : 1),
        );
      }

      return { totalCount: found.length, nodes: found.slice(offset, offset + first) };
    },
    referenceableIds: ({ ids }: { ids: string[] }) =>
      this.fruits.filter(({ id }) => ids.includes(String(id))).map(({ id }) => id),
    ripest: (args: object) => Object.entries(args).map(([name, value]) => `${name} ${value}`),
    createFruit: ({ input }: any) => {
      // Simulates an error that only the mutation can detect.
      if (this.fruits.some(({ fullName }) => fullName === input.fullName)) {
        return {
          errors: [
            {
              path: ['input', 'fullName'],
              code: 'NOT_UNIQUE',
              message: 'There is one of this name.',
            },
          ],
        };
      }

      return {
        fruit: this.find(
          String(
            this.fruits.push({ id: this.fruits.length + 1, pieces: null, peeled: false, ...input }),
          ),
        ),
        errors: [],
      };
    },
    updateFruit: ({ id, input }: any) => {
      if (!this.has(id)) return { errors: [UNKNOWN] };
      Object.assign(
        this.fruits.find((one) => one.id === Number(id))!,
        input,
      );

      return { fruit: this.find(id), errors: [] };
    },
    deleteFruit: ({ id }: any) => {
      if (!this.has(id)) return { errors: [UNKNOWN] };
      this.fruits = this.fruits.filter((one) => one.id !== Number(id));
      return { errors: [] };
    },
    login: ({ password }: any) => {
      if (password === 'right') return { token: 'the token', errors: [] };

      return {
        errors: [{ path: [], code: 'WRONG_CREDENTIALS', message: 'Username or password unknown' }],
      };
    },
  };

  private readonly prepareOperation: PrepareOperation = (text) => {
    const document = parse(text);
    const errors = validate(schema, document);

    if (errors.length) throw new Error(`${errors.join('\n')}\n${text}`);

    return async (_context, variableValues) =>
      execute({ schema, document, rootValue: this.root, variableValues });
  };

  private readonly handler = createRestHandler({
    schema,
    prepareOperation: this.prepareOperation,
    contextOf: (request) => ({
      request: { baseUrl: 'https://fruit.example.com', basePath: '', languages: [] },
      timeZone: 'Europe/Berlin',
      usePreferences: () => undefined,
      authentication: {
        authenticate: async () => request.headers.authorization === 'Token known',
        pageVisitor: () => ({ returnUrl: '/', basePath: '' }),
        missingScopeError: () => undefined,
      },
      idempotentExecution: { runOnce: (_body, handle) => handle() },
      awaitTurn: async () => undefined,
      chargeResponseBytes: () => undefined,
      chargeMilliseconds: () => undefined,
      responseHeaders: () => ({ 'X-Toy': 'yes' }),
    }),
    createHtmlRenderer: (api) => {
      const views = new ViewBuilder({
        ...api,
        schema,
        publicSchema: schema,
        prepareOperation: this.prepareOperation,
        permitsExports: true,
      });

      return {
        interpretTypedText: () => Promise.resolve(),
        redirectHeaders: () => undefined,
        renderError: () => ({ htmlText: '<h1>Failed</h1>', headers: {} }),
        render: async (page) => ({
          htmlText: `<h1>${(await views.buildView(page)).name}</h1>`,
          headers: {},
        }),
      };
    },
    limitRendering: (_message, work) => work(),
    maxResponseBytes: 1_000_000,
    multipartLimits: {
      maxBody: 1000,
      maxUpload: 1000,
      maxAnonymousBody: 256_000,
      dataDir: tmpdir(),
    },
  });

  async open(): Promise<void> {
    this.server = createServer((request, response) => void this.handler(request, response));
    await new Promise<void>((resolve) => this.server!.listen(0, 'localhost', resolve));
    this.url = `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server!.closeAllConnections();
    await new Promise((resolve) => this.server!.close(resolve));
  }

  get anonymous(): Person {
    return new Person(this.url);
  }
}
