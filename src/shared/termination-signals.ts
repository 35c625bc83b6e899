/** Termination signals. SIGHUP: the terminal was closed. SIGUSR2: nodemon restarts the process. */
export const TERMINATION_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const;
