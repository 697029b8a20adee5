// Runs the VS Code extension with stand-ins for VS Code and for its LSP client, against a real server: it asks for a
// suggestion, and runs its command as VS Code does when one is taken. Prints what the extension gives VS Code.
//   node vscode_client.js EXTENSION TEXT LINE CHARACTER COMMAND...
const { spawn } = require('child_process');
const [extension, text, line, character, ...command] = process.argv.slice(2);

class LanguageClient {
  constructor(id, name, { command, args }, options) {
    Object.assign(this, { command, args, options, number: 0, waiting: new Map(), data: Buffer.alloc(0) });
    this.code2ProtocolConverter = {
      asTextDocumentPositionParams: (document, position) => ({ textDocument: { uri: document.uri }, position }),
    };
    this.protocol2CodeConverter = { asRange: (range) => range };
  }
  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.server.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.server.stdin.write(body);
  }
  sendRequest(method, params) {
    const id = ++this.number;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
  sendNotification(method, params) {
    this.send({ method, params });
  }
  read(chunk) {
    this.data = Buffer.concat([this.data, chunk]);
    for (;;) {
      const head = this.data.indexOf('\r\n\r\n');
      if (head < 0) return;
      const end = head + 4 + Number(/Content-Length: (\d+)/.exec(this.data.toString('ascii', 0, head))[1]);
      if (this.data.length < end) return;
      const { id, result, error } = JSON.parse(this.data.toString('utf8', head + 4, end));
      this.data = this.data.subarray(end);
      const one = this.waiting.get(id);
      if (one) error ? one.reject(new Error(error.message)) : one.resolve(result);
    }
  }
  async start() {
    this.server = spawn(this.command, this.args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.server.stdout.on('data', (chunk) => this.read(chunk));
    this.began = await this.sendRequest('initialize', { processId: null, rootUri: null, capabilities: {} });
    this.sendNotification('initialized', {});
  }
  async dispose() {
    await this.sendRequest('shutdown');
    this.sendNotification('exit');
  }
}

class InlineCompletionItem {
  constructor(insertText, range, command) {
    Object.assign(this, { insertText, range, command });
  }
}
const registered = [];
const languages = {
  registerInlineCompletionItemProvider: (files, provider) => registered.push({ files, provider }),
};
const workspace = { getConfiguration: () => ({ get: () => command }) };
const Module = require('module');
const load = Module._load;
Module._load = (name, ...rest) =>
  name === 'vscode' ? { InlineCompletionItem, languages, workspace }
  : name === 'vscode-languageclient/node' ? { LanguageClient }
  : load(name, ...rest);

async function main() {
  const context = { subscriptions: [] };
  await require(extension).activate(context);
  const client = context.subscriptions[0];
  const document = { uri: 'file:///tmp/a%20b.py', languageId: 'python', version: 1, text };
  client.sendNotification('textDocument/didOpen', { textDocument: document });
  const position = { line: Number(line), character: Number(character) };
  const [item] = await registered[0].provider.provideInlineCompletionItems(document, position, { triggerKind: 1 }, {});
  const commands = client.began.capabilities.executeCommandProvider.commands;
  if (!commands.includes(item.command.command)) throw new Error('VS Code would not know the command');
  await client.sendRequest('workspace/executeCommand', item.command);
  await client.dispose();
  console.log(JSON.stringify(item));
}
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
