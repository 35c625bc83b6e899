/** Networks that fail between the server and its database: nobody waits long, nothing is lost or made twice, and it is over when they are mended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../database/processes';
import { Scene } from './scene';

let scene: Scene;

jest.setTimeout(120_000);
beforeAll(async () => {
  scene = await Scene.open();
}, 120_000);
afterAll(() => scene.close());

/** How long a network is broken. */
const BROKEN_MS = Number(process.env.FAULT_SECONDS ?? 5) * 1_000;

test.each([
  ['that freezes', () => scene.proxy.freeze()],
  ['that swallows everything', () => scene.proxy.blackHole()],
  ['that forgets the connections that there are', () => scene.proxy.blackHole('old')],
  ['that resets them', () => scene.proxy.cut()],
  ['that is not there', () => scene.proxy.cut(true)],
])('a network %s', async (name, fail) => {
  const traffic = scene.traffic().read(6).write(4);
  await until('all goes well', () => traffic.counted(201) > 5);
  fail();
  await sleep(BROKEN_MS);
  scene.proxy.heal();
  const healed = traffic.counted(200) + traffic.counted(201);
  await until('it goes on', () => traffic.counted(200) + traffic.counted(201) > healed + 20);
  await scene.judge(name, traffic);
});

test('a network that is silent: it is known within a second that nothing can be done, and told who listens that something was missed', async () => {
  const { anyone } = scene.server;
  const category = async () =>
    (await anyone.query('{ exercises(first: 1) { nodes { category { id name } } } }')).data?.exercises.nodes[0].category;
  const { id } = await category();
  scene.proxy.blackHole();
  for (let round = 0; round < 3; round += 1) {
    const asked = performance.now();
    expect((await anyone.send('GET', '/health/ready')).status).toBe(503);
    expect(performance.now() - asked).toBeLessThan(1_500);
  }
  await scene.database.pool.query(`UPDATE "exercise_category" SET "name" = 'Heard of later' WHERE "id" = $1`, [id]);
  scene.proxy.heal();
  await until('it is ready again', async () => (await anyone.send('GET', '/health/ready')).status === 200);
  await until('the change is known', async () => (await category())?.name === 'Heard of later');
});
