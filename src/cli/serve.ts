/** `fitgraph serve`: starts the server. */
import { Command } from 'commander';
import { main } from '..';

export const createServeCommand = () =>
  new Command('serve').description('Starts the server, as `npm start` does.').action(main);
