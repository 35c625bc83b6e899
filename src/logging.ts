/** The log: readable on a terminal, JSON lines otherwise. */
import pino, { type DestinationStream, type Logger } from 'pino';
import pretty from 'pino-pretty';

export function createLog(level: string, stream?: DestinationStream): Logger {
  const options = {
    level,
    base: undefined,
    redact: ['*.password', '*.token', '*.authorization', 'req.headers'],
    serializers: { err: described },
  };
  if (stream) return pino(options, stream);
  return process.stdout.isTTY ? pino(options, pretty({ colorize: true, ignore: 'pid,hostname', sync: true })) : pino(options);
}

/** PostgreSQL repeats values that it could not read in its messages, between quotation marks. */
const BAD_VALUE = /^22/;

/**
 * What the log tells of an error: what and where, and nothing else that it carries, because errors of PostgreSQL and Sequelize carry the
 * statement's parameters and the failing row, which are the users'.
 */
function described(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, constraint, table } = { ...((error as { parent?: object }).parent ?? error) } as Record<string, unknown>;
  const message = BAD_VALUE.test(String(code)) ? error.message.replace(/"[^"]*"/g, '"…"') : error.message;
  const stack = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    message,
    code,
    constraint,
    table,
    stack: stack.join('\n'),
    ...(error.cause ? { cause: described(error.cause) } : {}),
  };
}
