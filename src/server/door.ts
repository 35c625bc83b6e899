/**
 * Who is let in. A request is begun at once or when its turn comes, or it is refused, because there is no time for it: counted, and one line of
 * the log each.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { overloaded } from '../core/model/errors';
import type { Origin } from '../exchange/origin';
import { corsOf } from '../platform/cors';
import type { Failures } from './failures';
import { Gate } from './gate';
import { Pressure } from './pressure';
import { closeSocket, noteTurnedAway } from './turnedaway';

type Why = 'pressure' | 'late' | 'leaving';

/** With no more requests open than this, nobody is refused: a late process has other reasons then, and refusing would not make it faster. */
const ALWAYS_ADMITTED = 16;

export class Door {
  readonly turnedAway: Record<Why, number> = { pressure: 0, late: 0, leaving: 0 };

  private readonly gate = new Gate();
  private readonly pressure: Pressure;
  private leaving = false;
  /** How many requests have been admitted and have not ended yet. */
  private open = 0;

  /** `maxLag` as `Pressure` has it. */
  constructor(
    maxLag: number,
    private readonly origin: Origin,
    private readonly log: Logger,
    private readonly failures: Failures,
  ) {
    this.pressure = new Pressure(maxLag, () => this.lateness);
  }

  /** As the gate has it. */
  get lateness(): number {
    return this.gate.lateness;
  }

  readonly connected = this.gate.connected;

  /** Whether there is no time for anything new of a stranger, or of somebody signed in. */
  readonly refuses = (isStranger: boolean): boolean => this.leaving || this.isOverloaded(isStranger);

  admit(request: IncomingMessage, response: ServerResponse, begin: RequestListener): void {
    const { authorization, cookie } = request.headers;
    // Whether they are any good costs more to say than to refuse.
    if (this.isOverloaded(authorization === undefined && cookie === undefined)) return this.turnAway(request, response, 'pressure');
    this.open += 1;
    response.once('close', () => (this.open -= 1));
    this.gate.pass(
      () => this.origin.network(request),
      (waitedMs) => {
        if (response.destroyed) return;
        if (this.open <= ALWAYS_ADMITTED || !this.pressure.isTooLate(waitedMs)) return begin(request, response);
        this.turnAway(request, response, 'late');
      },
    );
  }

  admitSocket(request: IncomingMessage, socket: Duplex, begin: () => void): void {
    if (this.leaving) return this.close(request, socket, 'leaving');
    if (this.isOverloaded(true)) return this.close(request, socket, 'pressure');
    this.gate.pass(
      () => this.origin.network(request),
      (waitedMs) => {
        if (socket.destroyed) return;
        if (!this.pressure.isTooLate(waitedMs)) return begin();
        this.close(request, socket, 'late');
      },
    );
  }

  /** From now on no WebSocket is let in, and nothing new is followed. */
  leave(): void {
    this.leaving = true;
  }

  stop(): void {
    this.pressure.stop();
  }

  private isOverloaded(isStranger: boolean): boolean {
    return this.open >= ALWAYS_ADMITTED && this.pressure.refuses(isStranger);
  }

  private turnAway(request: IncomingMessage, response: ServerResponse, why: Why): void {
    this.count(request, why);
    this.failures.turnAway(request, response, overloaded(), corsOf(request));
  }

  private close(request: IncomingMessage, socket: Duplex, why: Why): void {
    this.count(request, why);
    closeSocket(request, socket);
  }

  private count(request: IncomingMessage, why: Why): void {
    this.turnedAway[why] += 1;
    noteTurnedAway(request, why, this.origin, this.log);
  }
}
