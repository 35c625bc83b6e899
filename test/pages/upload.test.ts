/** Uploads by form that are too large. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { Visitor, type Page } from './visitor';

const fitgraph = fitgraphForThisFile({ environment: { MAX_UPLOAD: '20KB', MAX_BODY: '10KB' } });
const LIST = '/api/v2/exerciseimage/';
const KILOBYTE = 1024;

async function uploaded(size: number, after: Record<string, string> = {}, csrfToken?: string): Promise<Page> {
  await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });
  await visitor.signIn('ann');
  const form = new FormData();
  form.append('csrfToken', csrfToken ?? (await visitor.csrfToken()));
  form.append('exercise', '3');
  form.append('image', new Blob([new Uint8Array(size)], { type: 'image/png' }), 'large.png');
  for (const [name, value] of Object.entries(after)) form.append(name, value);
  return visitor.send('POST', LIST, form);
}

it('a file over the limit is said at its field, and what was typed before and after it stays', async () => {
  const { status, text } = await uploaded(200 * KILOBYTE, { is_main: 'true' });
  expect(status).toBe(400);
  expect(text).toContain('id="wpost-image-error">The submitted file is larger than 20480 bytes.');
  expect(text).toMatch(/<option value="3" selected>Plank<\/option>/);
  expect(text).toMatch(/<input type="checkbox" id="wpost-is_main" name="is_main" value="true" checked/);
  expect(text).toContain('Sign out');
});

it('so it is where the rest of the form is what is too large', async () => {
  const { status, text } = await uploaded(KILOBYTE, { is_main: 'x'.repeat(40 * KILOBYTE) });
  expect(status).toBe(413);
  expect(text).toContain('Request body too large.');
  expect(text).toMatch(/<option value="3" selected>Plank<\/option>/);
});

it('nothing is looked at without the token of the form', async () => {
  expect((await uploaded(200 * KILOBYTE, {}, 'not the token')).status).toBe(403);
});
