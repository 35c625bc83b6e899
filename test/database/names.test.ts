/** Which statements are prepared by name. */
import { Fitgraph } from '../setup/fitgraph';

test('what is asked for again and again is prepared, what is asked for once is not', async () => {
  const fitgraph = await Fitgraph.start();
  try {
    const { database, anyone } = fitgraph;
    const list = (field: string) => anyone.ask(`{ muscles(where: { name: { ${field}: "Biceps" } }) { nodes { id } } }`);
    const named = () => (database as unknown as { names: Map<string, string> }).names.size;
    for (const field of ['eq', 'ne', 'contains']) await list(field);
    expect(named()).toBe(0);
    for (let n = 0; n < 3; n += 1) await list('eq');
    expect(named()).toBe(1);
    for (let n = 0; n < 3; n += 1) await anyone.get('/muscle/');
    expect(named()).toBe(2);
  } finally {
    await fitgraph.stop();
  }
});
