/** Deletion of an account with all its rows, in one transaction. */
import { deleteUser } from '../../src/accounts/deletion';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

test('fails and keeps all rows of the account when the transaction cannot be committed', async () => {
  const ann = await fitgraph.user('ann');

  expect((await ann.post('/workout/', { comment: 'kept' })).status).toBe(201);
  await fitgraph.sql(`
    CREATE FUNCTION reject_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'rejected at COMMIT'; END $$;
    CREATE CONSTRAINT TRIGGER reject_commit AFTER DELETE ON "user_account" DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION reject_commit()`);
  await expect(deleteUser(ann.id, fitgraph.database, async () => undefined)).rejects.toThrow(
    'rejected at COMMIT',
  );
  expect((await ann.get('/workout/')).body.count).toBe(1);

  await fitgraph.sql('DROP TRIGGER reject_commit ON "user_account"');
  expect(
    (await deleteUser(ann.id, fitgraph.database, async () => undefined)).ownedRowCount,
  ).toBeGreaterThan(0);
  expect((await ann.get('/workout/')).body).toEqual({ detail: 'Invalid token.' });
});
