/** The files with which systemd and launchd run the proxy. */
import { SvcError } from '../../engine/error.ts';

export interface UnitFacts {
  readonly node: string;
  readonly entry: string;
  readonly home: string;
  readonly kind: ServiceKind;
}

export const serviceKinds = ['systemd', 'launchd'] as const;
export type ServiceKind = (typeof serviceKinds)[number];

/** Location of the file, below the user's home. */
export const servicePaths: Readonly<Record<ServiceKind, string>> = {
  systemd: '.config/systemd/user/svc.service',
  launchd: 'Library/LaunchAgents/svc.proxy.plist',
};

/** The command that enables it. */
export const serviceStarts: Readonly<Record<ServiceKind, string>> = {
  systemd: 'systemctl --user enable --now svc',
  launchd: 'launchctl load -w ~/Library/LaunchAgents/svc.proxy.plist',
};

/** Returns the text of the file. It contains no keys: they belong in the config file. */
export function unitText(facts: UnitFacts): string {
  return facts.kind === 'systemd' ? systemdUnit(facts) : launchdList(facts);
}

function systemdUnit({ node, entry, home }: UnitFacts): string {
  return `[Unit]
Description=svc, a local proxy for language models
After=network-online.target

[Service]
ExecStart=${[node, entry, 'serve'].map((word) => systemdWord(word)).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
Environment=${systemdWord(`SVC_HOME=${home}`, 'value')}
Restart=on-failure
RestartSec=2
# Running requests may end: svc drains for at most 30 s.
TimeoutStopSec=40
UMask=0077
NoNewPrivileges=true

[Install]
WantedBy=default.target
`;
}

/**
 * Quotes a word (systemd.syntax(7), "Quoting"): a line break in it would begin another setting.
 * Only a command line has variables, so only there a dollar sign is doubled.
 */
function systemdWord(text: string, of: 'command' | 'value' = 'command'): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)
    .replaceAll('%', '%%')
    .replaceAll(CONTROLS, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `"${of === 'command' ? escaped.replaceAll('$', '$$$$') : escaped}"`;
}

// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\0-\x1f\x7f]/g;

function launchdList({ node, entry, home }: UnitFacts): string {
  const words = [node, entry, 'serve'].map((word) => `    <string>${xml(word)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>svc.proxy</string>
  <key>ProgramArguments</key>
  <array>
${words.join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>SVC_HOME</key>
    <string>${xml(home)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>40</integer>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`;
}

/**
 * Escapes text for XML 1.0, which cannot represent most control characters. Throws `usage` for one
 * of those.
 */
function xml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(CONTROLS, (control) => {
      if (!'\t\n\r'.includes(control))
        throw new SvcError(
          'usage',
          'A path with control characters cannot stand in a launchd file',
          {
            cure: 'Choose another SVC_HOME.',
          },
        );
      return `&#${control.charCodeAt(0)};`;
    });
}
