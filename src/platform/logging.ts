/** The log: readable on a terminal, JSON lines otherwise. */
import pino, { type DestinationStream, type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';

/** The message of the line that each request has. */
export const REQUEST = 'request';
/** And of that of one which was refused before it was begun. */
export const TURNED_AWAY = 'turned away';

export function createLog(level: string, stream?: DestinationStream): Logger {
  const options = {
    level,
    base: undefined,
    redact: ['*.password', '*.token', '*.authorization', 'req.headers'],
    serializers: { err: described },
  };
  if (stream) return pino(options, stream);
  return process.stdout.isTTY
    ? pino(
        options,
        terminal((text) => void process.stdout.write(text)),
      )
    : pino(options, standardOutput());
}

/** Bytes of lines that are kept while standard output takes none; later ones are dropped. */
const MAX_UNWRITTEN = 1024 * 1024;

/** Standard output, whose reader may go away or whose disk may be full: the log is lost then, and the server goes on. */
const standardOutput = () => pino.destination({ fd: 1, maxLength: MAX_UNWRITTEN }).on('error', () => undefined);

const pretty = prettyFactory({ colorize: true, singleLine: true });
/** All that is worth a glance stands in the message. */
const prettyRequest = prettyFactory({
  colorize: true,
  hideObject: true,
  messageFormat: (line) => {
    const { method, path, status, operation, ms, statements, user, address } = line as Record<string, string | number | null>;
    const asked = [method, path, operation].filter(Boolean).join(' ');
    return `${status} ${asked}  ${ms} ms, ${statements} statements, ${user === null ? 'nobody' : `user ${user}`} at ${address}`;
  },
});

/** Where people read: a request is one short line. */
export const terminal = (write: (text: string) => void): DestinationStream => ({
  write: (line) => write((line.includes(`"msg":"${REQUEST}"`) ? prettyRequest : pretty)(line)),
});

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
