/** Drawings of muscles: absolute URLs in GraphQL, paths in REST. */
import { fitgraphForThisFile } from '../../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

test('has absolute URLs in GraphQL, which lead to drawings, and paths in REST', async () => {
  const { muscles } = await fitgraph.anonymous.ask(
    '{ muscles { id imageUrlMain imageUrlSecondary } }',
  );

  expect(muscles.length).toBeGreaterThan(1);

  for (const { id, imageUrlMain, imageUrlSecondary } of muscles) {
    const { body } = await fitgraph.anonymous.get(`/muscle/${id}/`);

    expect([imageUrlMain, imageUrlSecondary]).toEqual([
      fitgraph.url + body.image_url_main,
      fitgraph.url + body.image_url_secondary,
    ]);
  }

  const { status, headers } = await fetch(muscles[0].imageUrlMain);

  expect([status, headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('image/svg+xml'),
  ]);
});
