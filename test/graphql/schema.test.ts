/** Rules for the whole GraphQL schema and for the REST documents derived from it. */
import fs from 'node:fs';
import path from 'node:path';
import {
  getNamedType,
  isLeafType,
  validateSchema,
  type GraphQLInterfaceType,
  type GraphQLInputObjectType,
  type GraphQLOutputType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  type GraphQLNamedType,
  type GraphQLObjectType,
} from 'graphql';
import { Executor } from '../../src/engine/execution/executor';
import { PreparedOperation } from '../../src/engine/execution/prepared-operation';
import { deriveEndpoints } from '../../src/rest/endpoints';
import { buildGraphQLSchema, buildRestSchema, printSortedSchema } from '../../src/graphql/schema';
import { edgesToOwn, formulasOfOwn, groupsOfOwn, isEdgeToOwn } from '../setup/viewer-connections';

const root = path.join(__dirname, '../..');
const schema = buildGraphQLSchema();
const restSchema = buildRestSchema();
const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);
const resources = types.filter(isObjectType).filter((type) => type.extensions.resource);

test('is printed in at most 360 KB, so that tools load it quickly', () => {
  expect(Buffer.byteLength(printSortedSchema(schema))).toBeLessThanOrEqual(360 * 1024);
});

test('nodes of all edges except accounts and security events implement Node', () => {
  const edges = types.filter(isObjectType).filter(({ name }) => name.endsWith('Edge'));
  const nodes = edges.map((edge) => getNamedType(edge.getFields().node!.type) as GraphQLObjectType);

  expect(nodes.length).toBeGreaterThan(10);
  expect(
    nodes
      .filter((node) => !node.getInterfaces().some(({ name }) => name === 'Node'))
      .map(({ name }) => name),
  ).toEqual(['SecurityEvent', 'Account']);
});

/**
 * Returns the part of a type that must be equal for selections to merge: nullability, lists, and
 * the name of a leaf type.
 */
const shapeOf = (type: GraphQLOutputType) =>
  String(type).replace(getNamedType(type).name, (name) =>
    isLeafType(getNamedType(type)) ? name : '{}',
  );

/**
 * Returns field names with several shapes in types that implement `Node`, each with one example per
 * shape.
 */
function unlikeFields(): Map<string, string[]> {
  const shapes = new Map<string, Map<string, string>>();

  for (const type of schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType)) {
    for (const field of Object.values(type.getFields())) {
      const examples = shapes.get(field.name) ?? new Map<string, string>();

      shapes.set(field.name, examples);
      const shape = shapeOf(field.type);

      if (!examples.has(shape)) {
        examples.set(shape, `${type.name}.${field.name}: ${String(field.type)}`);
      }
    }
  }

  return new Map(
    [...shapes]
      .filter(([, examples]) => examples.size > 1)
      .map(([name, examples]) => [name, [...examples.values()]]),
  );
}

test('fields of one name have one type in all types that implement Node', () => {
  expect([...unlikeFields().values()].map((examples) => examples.join(', but '))).toEqual([]);
});

test('every REST field has a label', () => {
  for (const type of resources) {
    for (const { extensions } of Object.values(type.getFields())) {
      if (extensions.field) expect(extensions.field.label).toMatch(/\S/);
    }
  }
});

test('every resource class is a type with a REST endpoint or a field of another type', () => {
  const noun = /@Resource\(.*?\bclass (\w+)/s;
  const folder = path.join(root, 'src');
  const files = (fs.readdirSync(folder, { recursive: true }) as string[]).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const described = files
    .map((file) => noun.exec(fs.readFileSync(path.join(folder, file), 'utf8'))?.[1])
    .filter(Boolean);
  const all = Object.values(restSchema.getTypeMap()).filter(
    (type) => isObjectType(type) && type.extensions.resource,
  ) as GraphQLObjectType[];

  expect(all.map(({ name }) => name).sort()).toEqual(described.sort());
  expect(resources.map(({ name }) => name)).toEqual(
    expect.arrayContaining(
      all.filter(({ extensions }) => !extensions.resource!.exclusiveTo).map(({ name }) => name),
    ),
  );
  const { resources: endpoints } = deriveEndpoints(
    restSchema,
    () => () => Promise.reject(new Error('endpoints are not executable here')),
  );
  const isFieldOfType = (name: string) =>
    types.filter(isObjectType).some((type) => {
      const fields = Object.values(type.getFields());

      return fields.some(
        (field) =>
          getNamedType(field.type).name === name && !/(?:Edge|Connection|Payload)$/.test(type.name),
      );
    });

  for (const { name, extensions } of all) {
    const { views } = extensions.resource!;

    for (const { restName } of views) expect(endpoints.has(restName)).toBe(true);
    expect([name, views.length > 0 || isFieldOfType(name)]).toEqual([name, true]);
  }
});

test('orders and group keys follow at most three references, without cycles', () => {
  const longestPath = (
    type: GraphQLInputObjectType,
    passed: readonly GraphQLInputObjectType[],
  ): number => {
    expect(passed).not.toContain(type);
    const further = Object.values(type.getFields())
      .map((field) => getNamedType(field.type))
      .filter(isInputObjectType);

    return Math.max(0, ...further.map((next) => 1 + longestPath(next, [...passed, type])));
  };

  const orders = types
    .filter(isInputObjectType)
    .filter(({ name }) => /(?<!Group)Order$|GroupBy$/.test(name));

  expect(orders.length).toBeGreaterThan(20);

  for (const order of orders) {
    expect([order.name, longestPath(order, []) <= 3]).toEqual([order.name, true]);
  }
});

test('REST-only fields are absent from GraphQL types, inputs, filters and orders', () => {
  const flagged = Object.values(restSchema.getTypeMap())
    .filter((type) => isObjectType(type) || isInputObjectType(type))
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
    .filter(
      ({ field: { extensions } }) =>
        (extensions.exclusiveTo ?? extensions.field?.exclusiveTo) === 'rest',
    )
    .map(({ type, field }): [string, string] => [type.name, field.name]);

  expect(flagged).toEqual(
    expect.arrayContaining([
      ['Query', 'referenceableIds'],
      ['Query', 'exerciseSuggestions'],
      ['Query', 'ingredientSuggestions'],
      ['Query', 'version'],
      ['Workout', 'logData'],
      ['Ingredient', 'formValues'],
      ['NutritionPlan', 'logSummary'],
      ['UserProfile', 'roAccess'],
      ['UserProfilePatch', 'roAccess'],
      ['UserProfileWhere', 'roAccess'],
      ['UserProfileOrder', 'roAccess'],
    ]),
  );

  const fieldsIn = (name: string) => {
    const type = schema.getType(name);

    return isObjectType(type) || isInputObjectType(type) ? Object.keys(type.getFields()) : [];
  };

  expect(flagged.filter(([type, field]) => fieldsIn(type).includes(field))).toEqual([]);
});

/**
 * Returns all types reachable from fields of a type, except by connections to rows of the viewer.
 */
function reachable(start: GraphQLNamedType): Set<GraphQLNamedType> {
  const seen = new Set<GraphQLNamedType>([start]);

  for (const type of seen) {
    if (isUnionType(type) || isInterfaceType(type)) {
      for (const possible of schema.getPossibleTypes(type)) seen.add(possible);
    }

    if (isObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        if (!isEdgeToOwn(type, field)) seen.add(getNamedType(field.type));
      }
    }
  }

  return seen;
}

const owned = resources.filter((type) => type.extensions.resource!.isOwned);
const isPublic = (type: GraphQLObjectType) => !type.extensions.resource!.isOwned;
const ownedConnections = edgesToOwn(schema);

test('only listed connections lead from public rows to rows of the viewer', () => {
  expect(
    ownedConnections.map(({ type, field }) => `${type.name}.${field.name}: ${String(field.type)}`),
  ).toEqual([
    'Exercise.logs: WorkoutLogConnection',
    'Ingredient.diaryEntries: DiaryEntryConnection',
  ]);
});

test('each connection to rows of the viewer has a field for groups', () => {
  expect(
    groupsOfOwn(schema).map(
      ({ type, field }) => `${type.name}.${field.name}: ${String(field.type)}`,
    ),
  ).toEqual([
    'Exercise.logsGrouped: [WorkoutLogGroup!]',
    'Ingredient.diaryEntriesGrouped: [DiaryEntryGroup!]',
  ]);
});

test('only listed formulas lead from public rows to rows of the viewer', () => {
  expect(formulasOfOwn(schema)).toEqual([
    'Exercise.bestOneRepMaxes',
    'Exercise.personalRecords',
    'Exercise.trainingVolume',
  ]);
});

const GROUPED = [
  'DiaryEntry',
  'Exercise',
  'ExerciseTranslation',
  'Ingredient',
  'Measurement',
  'PlannedSet',
  'WeightEntry',
  'WorkoutLog',
  'WorkoutSession',
];

test('exactly the lists of groupable resources have a field for groups', () => {
  const holders = types
    .filter(isObjectType)
    .map((type) => ({ type, fields: Object.values(type.getFields()) }));
  const fieldsEndingWith = (ending: RegExp) =>
    holders.flatMap(({ type, fields }) =>
      fields.flatMap((field) => {
        const of = ending.exec(getNamedType(field.type).name)?.[1];

        return GROUPED.includes(of!)
          ? [`${type.name}.${field.name.replace(/Grouped$/, '')}: ${of}`]
          : [];
      }),
    );
  // Excludes SetGroup, which is a resource.
  const statistics = holders.filter(({ type }) => !type.getInterfaces().length);

  expect(statistics.flatMap(({ type }) => /^(.+)Group$/.exec(type.name)?.[1] ?? []).sort()).toEqual(
    GROUPED,
  );
  expect(fieldsEndingWith(/^(.+)Group$/).sort()).toEqual(
    fieldsEndingWith(/^(.+)Connection$/).sort(),
  );
  expect(fieldsEndingWith(/^(.+)Group$/).length).toBeGreaterThan(10);
});

test.each(resources.filter(isPublic).map((type): [string, GraphQLObjectType] => [type.name, type]))(
  'fields of the public %s reach owned types by connections of the viewer only',
  (_name, type) => {
    expect(owned.filter((other) => reachable(type).has(other)).map(({ name }) => name)).toEqual([]);
  },
);

/**
 * Returns all input types reachable from an input type, except by filters on connections to rows of
 * the viewer.
 */
function inputsWithin(start: GraphQLNamedType): Set<GraphQLNamedType> {
  const seen = new Set<GraphQLNamedType>([start]);
  const filtersOwnedRows = (input: GraphQLNamedType, name: string, type: GraphQLNamedType) =>
    ownedConnections.some(
      (edge) =>
        input.name === `${edge.type.name}Where` &&
        edge.field.name === name &&
        type.name === `${edge.target}ListFilter`,
    );

  for (const type of seen) {
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        const named = getNamedType(field.type);

        if (!filtersOwnedRows(type, field.name, named)) seen.add(named);
      }
    }
  }

  return seen;
}

/** Each case has a minimum number of reachable types, so that the test cannot pass vacuously. */
test.each([
  ['Where', 50],
  ['Order', 15],
  ['ListFilter', 50],
  ['GroupBy', 15],
  ['Having', 5],
  ['GroupOrder', 1],
])(
  'the %s input of public types reaches owned types by connections of the viewer only',
  (kind, least) => {
    const inputs = (of: GraphQLObjectType[]) =>
      of.flatMap((type) => schema.getType(`${type.name}${kind}`) ?? []);
    const usedInputs = inputs(resources.filter(isPublic)).flatMap((type) => [
      ...inputsWithin(type),
    ]);

    expect(usedInputs.length).toBeGreaterThan(least);
    const ofOwned = owned.flatMap(({ name }) =>
      ['Where', 'Order', 'ListFilter', 'GroupBy', 'Having', 'GroupOrder'].flatMap(
        (suffix) => schema.getType(name + suffix) ?? [],
      ),
    );

    expect(ofOwned.filter((type) => usedInputs.includes(type))).toEqual([]);
  },
);

test('only owned types, the viewer and user payloads have fields of type User', () => {
  const user = schema.getType('User')!;
  const leading = types
    .filter(isObjectType)
    .filter((type) => !owned.includes(type))
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
    .filter(({ field }) => getNamedType(field.type) === user)
    .map(({ type, field }) => `${type.name}.${field.name}`);

  expect(leading).toEqual(['Query.viewer', 'UserPayload.user']);
});

test('only listed fields have names that refer to passwords, tokens or secrets', () => {
  const telling = types
    .filter(isObjectType)
    .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`))
    .filter((name) => /password|token|secret|digest|sealed/i.test(name));

  expect(telling).toEqual([
    // These describe access tokens without their secret.
    'User.accessTokens',
    ...['id', 'name', 'scopes', 'createdAt', 'expiresAt', 'isExpired', 'lastUsedAt'].map(
      (field) => `AccessToken.${field}`,
    ),
    'Account.accessTokens',
    'AccountUsage.accessTokenCount',
    'Mutation.revokeUserAccessToken',
    // For superusers, who give the link to the user.
    'Mutation.createPasswordLink',
    'Mutation.changePassword',
    'Mutation.replaceToken',
    'Mutation.createAccessToken',
    'Mutation.revokeAccessToken',
    'Mutation.revokeAccessTokens',
    'PasswordLink.url',
    'PasswordLink.expiresAt',
    'LoginPayload.token',
    'ChangePasswordPayload.token',
    'ChangePasswordPayload.errors',
    'ReplaceTokenPayload.token',
    'CreateAccessTokenPayload.token',
    'CreateAccessTokenPayload.accessToken',
    'CreateAccessTokenPayload.errors',
    'RevokeAccessTokenPayload.revokedId',
    'RevokeAccessTokenPayload.errors',
    'RevokeAccessTokensPayload.count',
  ]);
});

test('every GraphQL document of a REST endpoint is valid and compiles', () => {
  const executor = new Executor(restSchema);
  const documents: string[] = [];
  const endpoints = deriveEndpoints(restSchema, (document) => {
    documents.push(document);
    return executor.prepareInternalOperation(document) as never;
  });

  // At least a list, a detail and a lookup per endpoint.
  expect(documents.length).toBeGreaterThanOrEqual(3 * endpoints.resources.size);

  for (const document of documents) {
    expect(PreparedOperation.getOrCreate(restSchema, document).compiledOperation).toBeInstanceOf(
      Function,
    );
  }
});

test.each([
  ['GraphQL', schema],
  ['REST', restSchema],
])('the schema behind %s is valid', (_name, built) => {
  expect(validateSchema(built)).toEqual([]);
});

test('the API root lists the documented endpoints in their order', () => {
  const executor = new Executor(restSchema);
  const { apiRootResourceNames: apiRootResourceNames, resources: named } = deriveEndpoints(
    restSchema,
    (document) => executor.prepareInternalOperation(document) as never,
  );
  const documented =
    'workout workoutsession schedulestep schedule day set setting workoutlog userprofile language daysofweek license setting-repetitionunit setting-weightunit exerciseinfo exercise equipment exercisecategory exerciseimage exercisecomment muscle ingredient weightunit ingredientweightunit nutritionplan meal mealitem weightentry';

  expect(apiRootResourceNames.slice(0, 28)).toEqual(documented.split(' '));
  expect(named.has('ingredienttoweightunit')).toBe(true);
  expect(apiRootResourceNames).not.toContain('ingredienttoweightunit');
});
