/** Code snippets of the playground and of the landing page, run unchanged. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SNIPPET_BUILDERS } from '../../../../src/web/playground/answer/snippets';
import { fitgraphForThisFile } from '../../../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const run = promisify(execFile);

/** Characters with a special meaning in shells, template strings and strings of other languages. */
const NAME = `it's "$HOME" \`date\` \${x} \\n é`;
const request = {
  query: `query Find($name: String!) {\n  # "quoted" '$HOME' \`date\` \${x} \\\n  viewer { username }\n  exercises(where: { name: { eq: $name } }) { totalCount }\n}`,
  variables: { name: NAME },
};
const answer = { viewer: { username: 'ann' }, exercises: { totalCount: 0 } };

async function outputOf(command: string, args: string[]): Promise<unknown> {
  const { token } = await fitgraph.user('ann');
  // FITGRAPH_TOKEN can be an API key, because that is accepted with both authorization schemes,
  // Token and Bearer.
  const { stdout } = await run(command, args, { env: { ...process.env, FITGRAPH_TOKEN: token } });

  return JSON.parse(stdout);
}

test('runs the first GraphQL example of the landing page, which has English names', async () => {
  await fitgraph.sql(`INSERT INTO "exercise" ("exercise_base_id", "name", "description", "language_id", "uuid", "creation_date", "status", "license_id")
    SELECT "exercise_base_id", 'Aufwärmen', '', 1, gen_random_uuid(), '2020-01-01', '2', "license_id" FROM "exercise" WHERE "id" = 1`);
  const { text } = await fitgraph.anonymous.withHeaders({ Accept: 'text/html' }).send('GET', '/');
  const command = /curl \S+\/graphql [^<]*/
    .exec(text)![0]
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&#39;', "'");
  const { data } = (await outputOf('sh', ['-c', command])) as any;

  expect(data.exercises.nodes).toHaveLength(2);
  expect(JSON.stringify(data)).not.toContain('Aufwärmen');
});

test('runs the curl snippet with special characters intact', async () => {
  expect(
    await outputOf('sh', ['-c', SNIPPET_BUILDERS.curl!(`${fitgraph.url}/graphql`, request)]),
  ).toEqual({ data: answer });
});

test('runs the fetch snippet with special characters intact', async () => {
  const program = `${SNIPPET_BUILDERS.fetch!(`${fitgraph.url}/graphql`, request)}console.log(JSON.stringify({ data, errors }));`;

  expect(await outputOf(process.execPath, ['--input-type=module', '-e', program])).toEqual({
    data: answer,
  });
});

test.each(['Python', 'R'])(
  'contains the query, variables, URL and token in the %s snippet',
  (name) => {
    const program = SNIPPET_BUILDERS[name]!(`${fitgraph.url}/graphql`, {
      query: '{ a(name: "b") }',
      variables: { n: 1 },
    });

    for (const part of [
      '{ a(name: "b") }',
      '{"n":1}',
      `"${fitgraph.url}/graphql"`,
      'FITGRAPH_TOKEN',
    ]) {
      expect(program).toContain(part);
    }
  },
);
