/** The recorded description of the schema equals the schema that the migrations create. */
import { compareSchema, describeSchema } from '../../src/database/schemaobjects';
import expected from '../../src/database/schemaobjects.json';
import { createDatabase, open } from '../setup/databases';

test('describes the schema that the migrations create; npm run describe:database updates it', async () => {
  const { connection, drop } = await createDatabase('tables');
  const database = open(connection);
  try {
    expect(expected).toEqual(await describeSchema(database.pool));
    expect(await compareSchema(database.pool)).toEqual({ defects: [], isSchemaIncomplete: false, unknownObjects: [] });
  } finally {
    await database.close();
    await drop();
  }
});
