/** Describes the tables that Sequelize would create from the models. */
import { Client } from 'pg';
import { getOptions } from 'sequelize-typescript';
import { allEntities, resourceOf } from '../../src/core/model/registry';
import { models } from '../../src/graphql/schema';
import { createDatabase, open } from './databases';
import { declareIndexes } from './declaredindexes';
import { describeTables, type ModelledTable } from './tables';

// Must precede opening a database, which registers the models with their options.
declareIndexes(allEntities());

export const TABLES = models.map((model) => getOptions(model.prototype)!.tableName!).sort();

export async function describeModels(): Promise<Record<string, ModelledTable>> {
  const { connection, drop } = await createDatabase('nothing');
  const client = new Client(connection);
  await client.connect();
  try {
    await client.query('CREATE COLLATION "reader" FROM "C"');
    const database = open(connection);
    await database.sequelize.sync();
    await database.close();
    const found = Object.entries(await describeTables(client, TABLES));
    return Object.fromEntries(
      found.map(([name, { columns, constraints, indexes }]) => {
        const keys = constraints
          .map((constraint) => withOwner(constraint, isOwned(name) || 'user_id' in columns))
          .sort();
        return [name, { columns, constraints: keys, indexes }];
      }),
    );
  } finally {
    await client.end();
    await drop();
  }
}

const isOwned = (table: string | undefined): boolean =>
  allEntities().some(
    (entity) => resourceOf(entity)!.table === table && resourceOf(entity)!.isOwned,
  );

/** Adds the owner to a foreign key. Sequelize supports keys of one column only, but references between owned rows include the owner. */
function withOwner(constraint: string, belongs: boolean): string {
  const target = /REFERENCES (\w+)\(id\)/.exec(constraint)?.[1];
  if (!belongs || !isOwned(target) || target === 'user_account') return constraint;
  return constraint
    .replace('KEY (', 'KEY (user_id, ')
    .replace(`${target}(id)`, `${target}(user_id, id)`);
}
