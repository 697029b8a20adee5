// @ts-check
// Suggestions of `strop serve-edits`, as VS Code's own inline completions. Accepting one runs the server's command.
const { InlineCompletionItem, languages, workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

/** @type {LanguageClient} */
let client;
const files = [{ scheme: 'file' }, { scheme: 'untitled' }];

/** @type {import('vscode').InlineCompletionItemProvider} */
const provider = {
  async provideInlineCompletionItems(document, position, context, token) {
    const params = {
      ...client.code2ProtocolConverter.asTextDocumentPositionParams(document, position),
      context: { triggerKind: context.triggerKind === 0 ? 1 : 2 }, // VS Code counts from 0, LSP from 1
    };
    const { items } = await client.sendRequest('textDocument/inlineCompletion', params, token);
    return items.map((/** @type {any} */ { insertText, range, command }) =>
      new InlineCompletionItem(insertText, client.protocol2CodeConverter.asRange(range), command));
  },
};

/** @param {import('vscode').ExtensionContext} context */
exports.activate = async (context) => {
  const [command, ...args] = workspace.getConfiguration('strop').get('command', ['strop']);
  client = new LanguageClient('strop', 'Strop', { command, args }, { documentSelector: files });
  context.subscriptions.push(client, languages.registerInlineCompletionItemProvider(files, provider));
  await client.start();
};
