/** Sign-ins that are rejected because too many others are running do not count as failed ones. */
import { fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';

const SIGN_INS = 120;
const fitgraph = fitgraphForThisFile({
  environment: { LOGIN_RATE: '1000000/min', LOGIN_RATE_ADDRESS: `${SIGN_INS + 10}/10min` },
});

test('many people of one address may sign in at once, and try again', async () => {
  await fitgraph.user('ann');
  const signInAtOnce = async () => {
    const signIns = Array.from({ length: SIGN_INS }, () =>
      fitgraph.anonymous.post('/login/', { username: 'ann', password: PASSWORD }),
    );
    return (await Promise.all(signIns)).map(({ status }) => status);
  };
  const statuses = await signInAtOnce();
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(20);
  expect(new Set([...statuses, ...(await signInAtOnce())])).toEqual(new Set([200, 503]));
});
