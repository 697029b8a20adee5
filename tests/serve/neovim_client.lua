-- Shows a suggestion at the end of line 2 and takes it, with Neovim's own LSP client. Neovim 0.12 shows and takes by
-- itself (vim.lsp.inline_completion); older ones have the protocol alone, and the rest is done here.
local function wait(what, met)
  assert(vim.wait(280000, met, 20), 'it never happened: ' .. what)
end

local function session()
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo[buffer].filetype = 'python'
  local started
  local id = vim.lsp.start_client({
    name = 'strop',
    cmd = vim.fn.readfile('command.txt'),
    root_dir = vim.fn.getcwd(),
    on_init = function(client)
      started = client
    end,
  })
  wait('the server starts', function()
    return started ~= nil
  end)
  vim.lsp.buf_attach_client(buffer, id)
  vim.o.virtualedit = 'onemore'
  vim.api.nvim_win_set_cursor(0, { 2, 4 })

  local function shown(namespace)
    local marks = vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })
    return marks[1] and marks[1][4].virt_text[1][1]
  end

  local text
  if vim.lsp.inline_completion then
    vim.lsp.inline_completion.enable(true, { bufnr = buffer })
    vim.lsp.inline_completion.get({ bufnr = buffer })
    local namespace = vim.api.nvim_create_namespace('nvim.lsp.inline_completion')
    wait('it is shown', function()
      text = shown(namespace)
      return text
    end)
    vim.lsp.inline_completion.get({ bufnr = buffer })
  else
    local params = vim.lsp.util.make_position_params(0, started.offset_encoding or 'utf-16')
    params.context = { triggerKind = 1 }
    local namespace, item = vim.api.nvim_create_namespace('suggested')
    local function got(failed, result)
      assert(not failed, vim.inspect(failed))
      item = result.items[1]
      local place = item.range.start
      vim.api.nvim_buf_set_extmark(buffer, namespace, place.line, place.character, {
        virt_text = { { item.insertText, 'Comment' } },
        virt_text_pos = 'overlay',
      })
    end
    vim.lsp.buf_request(buffer, 'textDocument/inlineCompletion', params, got)
    wait('it is shown', function()
      text = shown(namespace)
      return text
    end)
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
    local from, to = item.range.start, item.range['end']
    vim.api.nvim_buf_set_text(buffer, from.line, from.character, to.line, to.character, vim.split(item.insertText, '\n'))
    vim.lsp.buf_request_sync(buffer, 'workspace/executeCommand', item.command, 280000)
  end
  vim.fn.writefile({ text }, 'shown.txt', 'b')
  vim.cmd('silent write')
  vim.lsp.stop_client(id)
  wait('the server ends', function()
    return vim.lsp.client_is_stopped(id)
  end)
end

local well, why = xpcall(session, debug.traceback)
if not well then
  vim.api.nvim_err_writeln(why)
  vim.cmd('cquit 1')
end
vim.cmd('quitall!')
