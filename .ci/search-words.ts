/**
 * Search terms by page name, for readers who use other words than the page itself: synonyms, and
 * tasks. The search weights them like words of the title.
 */
export const SEARCH_WORDS: ReadonlyMap<string, string> = new Map([
  [
    'readme',
    'install installation setup getting started begin quick start requirements node version overview what is it first steps money saved windows linux macos operating system stop offline without internet account',
  ],
  [
    'troubleshooting',
    'error problem fix broken does not work connect connection refused timeout slow uninstall remove svc port 401 unauthorized invalid key 429 too many requests certificate latency first token change port help faq worse answers quality model misses something degraded health status slow claude answers cut off middle stops',
  ],
  ['compared', 'alternatives versus vs difference competitors openrouter litellm helicone'],
  [
    'clients',
    'claude code codex cursor vscode visual studio copilot langchain llamaindex base url connect point editor agent ide subscription pro max login anthropic_base_url openai_base_url configure client',
  ],
  ['mcp', 'mcp server agent tools usage model context protocol'],
  [
    'forward-mode',
    'https_proxy man in the middle mitm certificate ca tls intercept subscription remote control',
  ],
  [
    'adapters',
    'python javascript typescript sdk client library program script code call api from my own langchain',
  ],
  ['websocket', 'ws socket streaming browser realtime'],
  [
    'compression',
    'shrink smaller reduce tokens shorten removed left out tool result output what changes prompts lossless quality see what was removed original',
  ],
  [
    'switching',
    'turn off disable enable pause resume stop using one request bypass uninstall leave 400 thinking signature signed refused cannot be modified',
  ],
  [
    'cache-misses',
    'prompt cache caching works still miss why cached hit rate expired cache_control',
  ],
  ['recipes', 'rules own filter output command pytest npm git docker shorten log custom'],
  [
    'vault',
    'rag search my files code documents index context embed knowledge retrieval semantic project notes docs documentation',
  ],
  [
    'providers',
    'add provider openai gemini google anthropic openrouter ollama llama vllm lm studio local model azure bedrock retry down outage failover fallback routing cheaper model lower cost load balancing multiple keys 429 rate limit',
  ],
  ['dashboard', 'web ui interface browser phone watch live monitor view requests screen page'],
  ['statusline', 'status bar line tmux prompt shell claude code'],
  [
    'figures',
    'metrics statistics numbers prometheus opentelemetry otel traces logs log level price cost money saved percent meaning definition billing report monthly invoice export csv',
  ],
  ['alerts', 'notification notify slack discord email webhook when it fails alarm'],
  ['replay', 'record capture requests debug regression test har compare'],
  ['certify', 'verify prove proof trust promises check safe quality lossless'],
  ['benchmarks', 'performance speed latency overhead slow first token memory cpu fast throughput'],
  ['first-recipe', 'write tutorial make own recipe rule shorten command output'],
  ['first-stage', 'write tutorial make own plugin stage middleware'],
  ['plugins', 'extend own code provider stage hook middleware write custom redact secrets hide'],
  ['macros', 'sequence automation combine recipes variables'],
  ['templates', 'prompt template library reuse variables system prompt'],
  [
    'examples',
    'sample code redact hide secrets mask personal data grafana continuous integration ci stage recipe provider',
  ],
  [
    'deploy',
    'server production team docker compose container image kubernetes helm systemd launchd service boot autostart start at login background grafana prometheus https',
  ],
  ['reverse-proxy', 'nginx haproxy caddy https tls domain certificate ssl public internet'],
  [
    'fleet',
    'several machines multiple servers cluster shared database postgres ledger team aggregate',
  ],
  ['redis', 'shared state limits cache cluster several proxies high availability'],
  [
    'security',
    'safe access authentication authorization keys token password team member user limit per person monthly privacy rotate revoke audit encrypt remote host allow network block forbid deny model budget each person intern colleague',
  ],
  [
    'settings',
    'configuration config file yaml environment variables env options default port host change json schema where data stored folder location path log level retention delete budget',
  ],
  [
    'commands',
    'command line cli reference options flags exit codes usage help update upgrade new version uninstall',
  ],
  [
    'promises',
    'privacy data leave send prompts anywhere telemetry phone home tracking security vulnerability report trust safe',
  ],
  [
    'changelog',
    'upgrade upgrading update migrate migration old new version 0.5 0.6 release notes what changed breaking',
  ],
  ['architecture', 'how it works internals code design source'],
  ['decisions', 'why design rationale adr'],
  ['contributing', 'develop build from source pull request patch commit message test'],
  ['bench', 'measure method benchmark reproduce'],
  ['fixtures', 'fake provider tests'],
  ['decision-web-streams', 'why web streams'],
  ['release', 'release procedure publish'],
  ['api', 'api rest http interface endpoints openapi swagger documentation reference curl'],
]);
