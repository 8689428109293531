/** `svc serve`: the proxy in the foreground. */
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { toServeFlags } from '../parse/flags.ts';
import { runForeground } from '../process/foreground.ts';

/** Options of every command that starts a proxy. */
export abstract class ServeOptions extends SvcCommand {
  port = Option.String('--port', { description: 'Port to listen on (8766); 0 picks a free one' });
  config = Option.String('--config', {
    description: 'Config file, in place of ./proxy.yaml and ~/.svc/config.yaml',
  });
  envFile = Option.String('--env-file', { description: 'File of NAME=value lines to read' });
  workers = Option.String('--workers', {
    description: 'Maximum number of compression threads (2)',
  });
  debug = Option.Boolean('--debug', { description: 'Log every step, and reload what is saved' });
  telemetry = Option.Boolean('--telemetry', {
    description: 'Export traces and measurements by OpenTelemetry',
  });
  dashboard = Option.Boolean('--dashboard', { description: 'Open the dashboard in the browser' });
  ingest = Option.Boolean('--ingest', {
    description: 'Add ingested and indexed texts to requests, even if vault.enabled is off',
  });

  /** Returns the options in parsed form. Throws `usage`. */
  flags() {
    const { port, config, envFile, workers, debug, telemetry, dashboard, ingest } = this;
    const typed = { port, config, envFile, workers, debug, telemetry, dashboard, ingest };
    return toServeFlags(typed, this.context);
  }
}

class Serve extends ServeOptions {
  static override paths = [['serve']];
  static override usage = Command.Usage({
    category: 'Run',
    description: 'Run the proxy in the foreground',
    details:
      'Ctrl-C lets running requests finish, a second Ctrl-C does not. SIGHUP reloads the configuration.',
    examples: [
      ['Serve on port 8766', '$0 serve'],
      ['With a config file, on a free port', '$0 serve --config proxy.yaml --port 0'],
      ['With keys from a file', '$0 serve --env-file .env'],
    ],
  });

  execute() {
    return runForeground(this.context, this.flags());
  }
}

export const commands = [Serve];
