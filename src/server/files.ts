/** Files and folders that the configuration names. */
import { checkDataDir } from '../database/datadir';
import { Origin } from '../exchange/origin';
import type { Config } from '../platform/config';
import { readTls, type TlsFiles } from './tls';

/** Throws where one cannot be used, before anything is started. */
export function checkFiles(config: Config): { origin: Origin; tls?: TlsFiles } {
  checkDataDir(config.dataDir);
  return { origin: new Origin(config), tls: config.tls && readTls(config.tls) };
}
