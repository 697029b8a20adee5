-- Suggestions of `strop serve-edits` in Neovim 0.7 and later. Tab accepts the suggestion.
--   :lua vim.g.strop_command = { 'strop', 'serve-edits', '--model', 'runs/mine' }
--   :luafile strop.lua
local command = vim.g.strop_command or { 'strop', 'serve-edits', '--model', 'smollm2-135m' }

local function tab()
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('<Tab>', true, true, true), 'n', false)
end

if vim.lsp.inline_completion then -- 0.12 shows and takes suggestions by itself
  vim.lsp.config('strop', { cmd = command })
  vim.lsp.enable('strop')
  vim.lsp.inline_completion.enable()
  vim.keymap.set('i', '<Tab>', function()
    if not vim.lsp.inline_completion.get() then
      tab()
    end
  end)
  return
end

local space = vim.api.nvim_create_namespace('strop')
local timer, client, pending, shown = vim.loop.new_timer(), nil, nil, nil

local function hide()
  timer:stop()
  if pending then
    client.cancel_request(pending)
  end
  if shown then
    vim.api.nvim_buf_clear_namespace(shown.buffer, space, 0, -1)
  end
  pending, shown = nil, nil
end

local function byte(buffer, place) -- columns are UTF-16 units
  local line = vim.api.nvim_buf_get_lines(buffer, place.line, place.line + 1, false)[1] or ''
  local last = select(2, vim.str_utfindex(line))
  return vim.str_byteindex(line, math.min(place.character, last), true), line
end

local function show(buffer, item)
  local from, to = item.range.start, item.range['end']
  local start = byte(buffer, from)
  local stop, line = byte(buffer, to)
  local lines, ghost = vim.split(item.insertText, '\n', { plain = true }), {}
  for number, text in ipairs(lines) do
    ghost[number] = { { text, 'Comment' } }
  end
  table.insert(ghost[#ghost], { line:sub(stop + 1) }) -- what stands behind it
  vim.api.nvim_buf_set_extmark(buffer, space, from.line, start, {
    virt_text = table.remove(ghost, 1),
    virt_text_pos = 'overlay',
    virt_lines = #ghost > 0 and ghost or nil,
  })
  shown = { buffer = buffer, item = item, lines = lines, place = { from.line, start, to.line, stop } }
end

local function ask()
  local buffer = vim.api.nvim_get_current_buf()
  if not client or not vim.lsp.buf_is_attached(buffer, client.id) then
    return
  end
  local params, tick = vim.lsp.util.make_position_params(0, 'utf-16'), vim.b.changedtick
  params.context = { triggerKind = 2 }
  local _, id = client.request('textDocument/inlineCompletion', params, function(_, result)
    pending = nil
    local item = result and result.items[1]
    if item and vim.fn.mode() == 'i' and vim.api.nvim_get_current_buf() == buffer and vim.b.changedtick == tick then
      show(buffer, item)
    end
  end, buffer)
  pending = id
end

local function take()
  local one = shown
  if not one then
    return tab()
  end
  hide()
  local row, column = one.place[1], one.place[2]
  vim.api.nvim_buf_set_text(one.buffer, row, column, one.place[3], one.place[4], one.lines)
  local length = #one.lines[#one.lines]
  vim.api.nvim_win_set_cursor(0, { row + #one.lines, #one.lines == 1 and column + length or length })
  client.request('workspace/executeCommand', one.item.command, function() end, one.buffer)
end

local id = vim.lsp.start_client({
  name = 'strop',
  cmd = command,
  root_dir = vim.fn.getcwd(),
  on_init = function(ready)
    client = ready
  end,
})
local group = vim.api.nvim_create_augroup('strop', {})
local function on(events, act)
  vim.api.nvim_create_autocmd(events, { group = group, callback = act })
end
local function attach()
  if vim.bo.buftype == '' and vim.bo.filetype ~= '' then
    vim.lsp.buf_attach_client(0, id)
  end
end
on('FileType', attach)
on({ 'InsertEnter', 'TextChangedI', 'CursorMovedI' }, function()
  hide()
  timer:start(150, 0, vim.schedule_wrap(ask))
end)
on('InsertLeave', hide)
vim.keymap.set('i', '<Tab>', take)
attach()
