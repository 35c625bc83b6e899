// PostGraphile for the benchmark: Grafserv on node:http with the Amber preset, as its documentation
// recommends, as the owner of the tables. Started by ../servers.mjs.
import { createServer } from 'node:http';
import pg from 'pg';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

const [connection, port] = [JSON.parse(process.argv[2]), Number(process.argv[3])];
const serv = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ pool: new pg.Pool(connection), schemas: ['public'] })],
  grafserv: { graphiql: false, watch: false },
}).createServ(grafserv);
const server = createServer();

await serv.addTo(server);
await serv.ready();
server.listen(port, '127.0.0.1', () => console.log('ready'));
