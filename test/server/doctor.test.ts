/** `fitgraph doctor` names each of more than twenty deliberate faults in the schema and in the settings of an installation. */
import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { asSuperuser, createDatabase, SECRET_KEY } from '../setup/databases';
import { build, Installation, run } from './running';
import { until } from '../setup/waits';

let testDatabase: Awaited<ReturnType<typeof createDatabase>>;
let installation: Installation;

beforeAll(async () => {
  build();
  testDatabase = await createDatabase('catalogue');
  installation = new Installation({ DATABASE_URL: testDatabase.url, SECRET_KEY });
});
afterAll(async () => {
  await installation.remove();
  await testDatabase.drop();
});

const doctor = (own: Record<string, string> = {}, ...args: string[]) =>
  run('command', { DATA_DIR: installation.dataDir, DATABASE_URL: testDatabase.url, SECRET_KEY, ...own }, ['doctor', ...args]);

const FAULTS: [statement: string, finding: string][] = [
  ['ALTER TABLE "workout_log" DISABLE TRIGGER "workout_log_insert_logged"', 'trigger workout_log.workout_log_insert_logged is disabled'],
  ['ALTER TABLE "workout" ENABLE REPLICA TRIGGER "workout_insert_logged"', 'trigger workout.workout_insert_logged is disabled'],
  ['DROP TRIGGER "append_only" ON "security_event"', 'trigger security_event.append_only is missing'],
  ['ALTER TABLE "workout" DISABLE ROW LEVEL SECURITY', 'row security workout is missing'],
  ['DROP POLICY "own_rows" ON "workout_set"', 'policy workout_set.own_rows is missing'],
  ['ALTER POLICY "own_rows" ON "workout_session" USING (true)', 'policy workout_session.own_rows is "'],
  ['CREATE POLICY "all_rows" ON "workout" USING (true)', 'policy workout.all_rows applies to requests although no migration created it'],
  ['ALTER TABLE "meal" OWNER TO CURRENT_USER', 'table meal is owned by another role'],
  [
    'ALTER TABLE "workout_log" DROP CONSTRAINT "workout_log_exercise_id_fkey"',
    'constraint workout_log.workout_log_exercise_id_fkey is missing',
  ],
  [
    'ALTER TABLE "workout_log" DROP CONSTRAINT "workout_log_weight_unit_id_fkey", ADD CONSTRAINT "workout_log_weight_unit_id_fkey" FOREIGN KEY ("weight_unit_id") REFERENCES "weight_unit" ON DELETE CASCADE NOT VALID',
    'constraint workout_log.workout_log_weight_unit_id_fkey is not validated',
  ],
  ['ALTER TABLE "weight_entry" DISABLE TRIGGER ALL', 'constraint weight_entry.weight_entry_user_id_fkey is disabled'],
  [
    'ALTER TABLE "weight_entry" DROP CONSTRAINT "weight_entry_user_id_date_key"',
    'constraint weight_entry.weight_entry_user_id_date_key is missing',
  ],
  ['DROP INDEX "workout_log_volume"', 'index workout_log.workout_log_volume is missing'],
  [
    `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'workout_log_user_id_reps_idx'::regclass`,
    'index workout_log.workout_log_user_id_reps_idx is invalid',
  ],
  [
    'DROP INDEX "security_event_at_idx"; CREATE INDEX "security_event_at_idx" ON "security_event" ("kind")',
    'index security_event.security_event_at_idx is "CREATE INDEX security_event_at_idx ON security_event USING btree (kind)" instead of "',
  ],
  ['ALTER TABLE "security_event" DROP COLUMN "detail"', 'column security_event.detail is missing'],
  [
    'ALTER TABLE "security_event" ALTER "operator" TYPE varchar(9)',
    'column security_event.operator is "character varying(9)" instead of "text COLLATE C"',
  ],
  ['ALTER TABLE "workout_log" ALTER "reps" DROP NOT NULL', 'column workout_log.reps is "integer" instead of "integer NOT NULL"'],
  ['ALTER TABLE "workout_log" ALTER "version" DROP DEFAULT', 'column workout_log.version is "uuid NOT NULL" instead of "'],
  ['DROP TABLE "former_change_log"', 'table former_change_log is missing'],
  [
    'CREATE OR REPLACE FUNCTION "fitgraph_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    'function fitgraph_append_only() is "',
  ],
];

test('doctor does not compare the objects of a newer version that supports this one', async () => {
  const client = new Client(testDatabase.connection);
  await client.connect();
  try {
    await client.query(`INSERT INTO "migration" ("name", "version", "oldest_version") VALUES ('9999-from-tomorrow', '99.1.0', '0.3.0');
      DROP TRIGGER "append_only" ON "security_event"`);
    const { stdout } = await doctor();
    expect(stdout).toContain(
      'ok    Schema: of a newer version that this one supports (9999-from-tomorrow); its objects are not compared\n',
    );
    expect(stdout).not.toContain('append_only');
  } finally {
    await client.query(`DELETE FROM "migration" WHERE "name" = '9999-from-tomorrow';
      CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "security_event" FOR EACH ROW EXECUTE FUNCTION "fitgraph_append_only"()`);
    await client.end();
  }
});

test('doctor names faulty settings, and a start warns about unknown variables', async () => {
  const misspelt = { WEB_CONCURENCY: '2', DATABSE_POOL: '5', DATABASE_TIMEOUT: '1s', DATABASE_PORT_5432_TCP: 'tcp://10.0.0.1:5432' };
  const missingFile = path.join(installation.folder, 'nothing.pem');
  const { status, stdout } = await doctor({
    ...misspelt,
    PUBLIC_URL: 'https://fit.example.com',
    TLS_CERT: missingFile,
    TLS_KEY: missingFile,
    WEB_CONCURRENCY: '50',
  });
  expect(status).toBe(1);
  for (const finding of [
    'WARN  Configuration: the environment variable WEB_CONCURENCY is unknown: did you mean WEB_CONCURRENCY?',
    'WARN  Configuration: the environment variable DATABSE_POOL is unknown: did you mean DATABASE_POOL?',
    'WARN  Configuration: the environment variable DATABASE_TIMEOUT is unknown\n',
    `FAIL  TLS: TLS_CERT: ENOENT: no such file or directory, open '${missingFile}'`,
  ])
    expect(stdout).toContain(finding);
  expect(stdout).toMatch(/^WARN {2}Connections: \d+ available, up to \d{4} needed$/m);
  expect(stdout).not.toContain('DATABASE_PORT_5432_TCP');

  const HTTPS = path.join(__dirname, '../setup/https');
  const files = { TLS_CERT: path.join(HTTPS, 'cert.pem'), TLS_KEY: path.join(HTTPS, 'key.pem') };
  const url = (own: Record<string, string>) => doctor(own).then((ended) => ended.stdout);
  expect(await url({ ...files, PUBLIC_URL: 'http://elsewhere.example.com' })).toMatch(
    /^FAIL {2}TLS: the certificate does not cover elsewhere\.example\.com\n[^]*^WARN {2}Public URL: http:\/\/elsewhere\.example\.com is HTTP, but TLS_CERT/m,
  );
  expect(await url({ PUBLIC_URL: 'https://fit.example.com' })).toMatch(
    /^WARN {2}Public URL: https:\/\/fit\.example\.com is HTTPS, but .*TRUSTED_PROXIES/m,
  );

  const byAddress = { TLS_CERT: path.join(HTTPS, 'address-cert.pem'), TLS_KEY: path.join(HTTPS, 'key.pem') };
  for (const host of ['192.0.2.1', '[2001:db8::1]'])
    expect(await url({ ...byAddress, PUBLIC_URL: `https://${host}` })).not.toContain('does not cover');
  expect(await url({ ...byAddress, PUBLIC_URL: 'https://192.0.2.2' })).toContain('the certificate does not cover 192.0.2.2');

  const server = await installation.start({ ...misspelt, WEB_CONCURRENCY: '2', ROW_SECURITY: 'off' });
  await until('the server has logged the warning', () => server.stdout.includes('DATABSE_POOL is unknown: did you mean DATABASE_POOL?'));
  await until('both workers use the database', () => installation.workers.length === 2);
  const environment = path.join(installation.folder, 'fitgraph.env');
  fs.writeFileSync(environment, 'WEB_CONCURRENCY=2\nDATABASE_POOL=20\n');
  const warning = /WARN {2}Connections: 2 workers use the database, but WEB_CONCURRENCY is 1 here/;
  await until('doctor counts both workers', async () => warning.test((await doctor()).stdout));
  const informed = (await doctor({}, '--environment', environment)).stdout;
  expect(informed).not.toMatch(warning);
  expect((await doctor({}, '--environment', missingFile)).stdout).toContain('FAIL  Configuration: --environment: ENOENT');
  server.process.kill('SIGTERM');
  await server.ended;
});

test('doctor finds a server that listens on one address only', async () => {
  const address = { HOST: '127.0.0.2' };
  const server = await installation.start(address);
  try {
    const { port } = new URL(server.url);
    expect((await doctor({ ...address, PORT: port })).stdout).toContain(`ok    Port: a server is running on ${port} and is ready`);
  } finally {
    server.process.kill('SIGTERM');
    await server.ended;
  }
});

test('doctor names each deliberate fault of the schema, and objects that no migration created', async () => {
  expect((await doctor()).stdout).toMatch(/^ok {4}Schema: up to date/m);
  const client = new Client(asSuperuser(testDatabase.connection));
  await client.connect();
  for (const [statement] of FAULTS) await client.query(statement);
  await client.query(
    'ALTER TABLE "workout_log" ADD COLUMN "mood" text; CREATE POLICY "of_reports" ON "workout_log" TO CURRENT_USER USING (true)',
  );
  await client.end();
  const { status, stdout, stderr } = await doctor();
  expect([status, stderr]).toEqual([1, '']);
  for (const [, finding] of FAULTS) expect(stdout).toContain(`FAIL  Schema: ${finding}`);
  expect(stdout).toContain('WARN  Schema: column workout_log.mood: created by no migration');
  // Policies for other roles are not reported, because administrators may create them.
  expect(stdout).not.toContain('of_reports');
  // A missing table is reported without its columns and indexes.
  expect(stdout).not.toMatch(/Schema: \w+ former_change_log\./);
});
