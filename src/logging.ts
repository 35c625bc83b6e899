/** The log: readable on a terminal, JSON lines otherwise. */
import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';

export function createLog(level: string): Logger {
  const options = { level, base: undefined, redact: ['*.password', '*.token', '*.authorization', 'req.headers'] };
  return process.stdout.isTTY ? pino(options, pretty({ colorize: true, ignore: 'pid,hostname', sync: true })) : pino(options);
}
