/** `svc certify`: checks whether the promises of svc hold for these sessions. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';

class Certify extends JsonCommand {
  static override paths = [['certify']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Judge svc’s promises on this machine’s sessions',
    details:
      'Sessions of Claude Code, Codex, Gemini CLI and OpenCode, and captures of a proxy, are compressed as a proxy here would compress them, and judged: can lines that the model repeated later still be read, does each request begin with the bytes of the one before, does none cost more, is every line kept that names a failure, and do svc’s figures agree with a recount? Exit code 1 if not. Nothing is sent.',
    examples: [
      ['The sessions on this machine', '$0 certify'],
      [
        'A folder of them, as a page to show',
        '$0 certify ~/.claude/projects --html certificate.html',
      ],
      ['Another mode', '$0 certify --mode aggressive'],
      ['What a proxy here captured', '$0 certify ~/.svc/captures'],
      ['Another tool, by the same judge', '$0 certify --pairs ./bodies'],
    ],
  });

  config = Option.String('--config', { description: 'Config file' });
  mode = Option.String('--mode', {
    description: 'Compression mode, in place of the configured one',
  });
  seconds = Option.String('--seconds', {
    description: 'Begin no further file after these seconds (120)',
  });
  pairs = Option.String('--pairs', {
    description: 'Bodies of another tool: *.before.json, *.after.json',
  });
  html = Option.String('--html', { description: 'Write the certificate as a page to this file' });
  folder = Option.String({ required: false, name: 'folder' });

  async execute() {
    const { folder, config, mode, seconds, pairs, html, json } = this;
    const { certifySessions } = await import('../certify/certify.ts');
    const holds = await certifySessions(
      { folder, config, mode, seconds, pairs, html, json },
      this.context,
    );
    return holds ? 0 : 1;
  }
}

export const commands = [Certify];
