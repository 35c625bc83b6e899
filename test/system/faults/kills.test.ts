/**
 * Kills servers and databases under load. Environment variables set the numbers of kills:
 * `FAULT_KILLS=1000 FAULT_DATABASE_KILLS=100 npm run faults -- -t 'kills of the server'`
 */
import path from 'node:path';
import { isRunning, serverPidIfAny } from '../../database/processes';
import { build, Installation } from '../../setup/server-process';
import { checkVerdict } from './server-behind-proxy';
import { Traffic } from './traffic';
import { LONG_TIMEOUT_MS, until } from '../../setup/waits';

const KILLS = Number(process.env.FAULT_KILLS ?? 3);
const DATABASE_KILLS = Number(process.env.FAULT_DATABASE_KILLS ?? 1);

jest.setTimeout(LONG_TIMEOUT_MS + (KILLS + DATABASE_KILLS) * 60_000);

test(`loses no acknowledged write in ${KILLS} kills of the server and ${DATABASE_KILLS} of PostgreSQL`, async () => {
  build();
  const installation = await Installation.started({
    BUDGET: 'off',
    LOG_LEVEL: 'warn',
  });

  try {
    const server = await installation.start();
    const { token } = server.demo;
    const traffic = new Traffic(server, token).read(3).write(4);

    const worksAgain = async () => {
      const before = traffic.acknowledgedSoFar;

      await until('writes are acknowledged', () => traffic.acknowledgedSoFar >= before + 5);
    };

    await worksAgain();

    for (let kill = 1; kill <= KILLS + DATABASE_KILLS; kill += 1) {
      // Spreads the kills of PostgreSQL evenly.
      const ofDatabase =
        Math.floor((kill * DATABASE_KILLS) / (KILLS + DATABASE_KILLS)) >
        Math.floor(((kill - 1) * DATABASE_KILLS) / (KILLS + DATABASE_KILLS));

      await until('a worker runs', () => server.workers.length > 0);
      const victim = ofDatabase
        ? serverPidIfAny(path.join(installation.dataDir, 'postgres'))
        : server.workers[0];

      if (victim === undefined) throw new Error('PostgreSQL does not run');
      process.kill(victim, 'SIGKILL');
      await until('the killed process has ended', () => !isRunning(victim));
      await worksAgain();

      if (kill % 50 === 0) {
        process.stdout.write(`${kill} kills, ${traffic.acknowledgedSoFar} acknowledged writes\n`);
      }
    }

    const stored = async () => {
      const rows: { comment: string }[] = [];

      for (let offset = 0; ; offset += 10_000) {
        const { body } = await server
          .signedIn(token)
          .get(`/workout/?limit=10000&offset=${offset}&ordering=id`);

        rows.push(...(body.results as { comment: string }[]));
        if (!body.next) return rows.map(({ comment }) => comment);
      }
    };

    checkVerdict(
      `${KILLS} kills of the server, ${DATABASE_KILLS} of PostgreSQL`,
      await traffic.end(stored),
    );
  } finally {
    await installation.remove();
  }
});
